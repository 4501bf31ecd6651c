"""Query ids become groups: laws against a slow dictionary, and every sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino.data.columns import group_rows
from ordino.errors import DataError

SCALARS = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.text("ab\0", max_size=2),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.tuples(st.integers(0, 1), st.text("x", max_size=1)),
)


def slow_groups(ids: list[object]) -> dict[object, list[int]]:
    """Rows of each id, ids in the order of their first row."""
    rows: dict[object, list[int]] = {}
    for row, key in enumerate(ids):
        rows.setdefault(key, []).append(row)
    return rows


@settings(deadline=None)
@given(
    st.one_of(
        st.lists(st.integers(0, 3)), st.lists(st.integers()), st.lists(st.text("ab\0", max_size=2)), st.lists(SCALARS)
    )
)
def test_rows_are_grouped_as_a_dictionary_groups_them(ids: list[object]) -> None:
    groups = group_rows(ids, len(ids))
    expected = slow_groups(ids)
    order = np.arange(len(ids)) if groups.order is None else groups.order
    found = [order[a:b].tolist() for a, b in zip(groups.offsets[:-1], groups.offsets[1:], strict=True)]
    assert found == list(expected.values())
    assert groups.query_ids.tolist() == list(expected)
    assert groups.offsets.dtype == np.int64


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1), st.sampled_from(["int8", "uint64", "float32", "U3", "S3", "bool", "O"]))
def test_arrays_of_any_dtype_group_like_lists(ids: list[int], dtype: str) -> None:
    array = np.array(ids).astype(dtype)
    groups = group_rows(array, len(ids))
    assert groups.query_ids.tolist() == list(slow_groups(array.tolist()))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype=object),
        pd.Index(["b", "a", "b"]),
        iter(["b", "a", "b"]),
    ],
)
def test_columns_and_iterators_are_taken(column: object) -> None:
    groups = group_rows(column, 3)  # type: ignore[arg-type]
    assert groups.query_ids.tolist() == ["b", "a"]
    assert groups.order is not None
    assert groups.order.tolist() == [0, 2, 1]


def test_dates_are_ids_too() -> None:
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-01"], "datetime64[D]")
    assert group_rows(days, 3).offsets.tolist() == [0, 2, 3]


def test_integers_beyond_64_bits_stay_apart() -> None:
    assert group_rows([2**63, 2**63 + 1, -1], 3).query_ids.tolist() == [2**63, 2**63 + 1, -1]


def test_rows_that_stand_together_are_not_moved() -> None:
    assert group_rows([7, 7, 3], 3).order is None


def test_no_ids_make_one_query_and_no_rows_none() -> None:
    assert group_rows(None, 3).offsets.tolist() == [0, 3]
    assert group_rows(None, 0).offsets.tolist() == [0]
    assert group_rows([], 0).offsets.tolist() == [0]


@pytest.mark.parametrize(
    ("qid", "sentence"),
    [
        ([1, 2], "qid has 2 entries but X has 3 rows; give one query id for each row"),
        ("abc", "qid is the single string 'abc'; give one query id for each row"),
        (5, "qid is the single value 5; give one query id for each row"),
        (np.ones((3, 1)), r"qid has shape \(3, 1\); give one query id for each row"),
        (np.array([1.0, np.nan, 2.0]), "qid has NaN or inf; give every row the id of its query"),
        ([1.0, float("nan"), 2.0], r"qid has missing ids \(None or NaN\); give every row the id of its query"),
        (["a", None, "b"], r"qid has missing ids \(None or NaN\); give every row the id of its query"),
        (np.array([1, pd.NA, 2], object), r"qid has missing ids \(None or NaN\); give every row"),
        ([[1], [2], [3]], r"qid has ids that cannot be hashed \(such as lists\); use numbers, strings or tuples"),
    ],
)
def test_sentences(qid: object, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{sentence}"):
        group_rows(qid, 3)  # type: ignore[arg-type]
