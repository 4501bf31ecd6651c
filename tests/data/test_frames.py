"""Frames in and out: every backend, every kind of column, every sentence."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dataset import assert_same, datasets

from ordino import Dataset
from ordino.data.dataframes import BACKENDS, from_frame, to_frame
from ordino.data.frames import joint_categories, numbers_in, recode
from ordino.errors import DataError, MissingExtraError, ParameterError

COLUMNS = {"q": ["a", "b", "a"], "l": [1, 0, 2], "x": [1, None, 3], "b": [True, False, True], "f": [0.5, None, 1000.0]}


def converted(columns, **options):
    with np.errstate(invalid="ignore"):  # some versions of pandas try whether huge numbers are integers
        return pd.DataFrame(columns).convert_dtypes(**options)


FRAMES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "pandas nullable": converted,
    "pandas arrow": lambda columns: converted(columns, dtype_backend="pyarrow"),
    "polars": lambda columns: pl.DataFrame(columns),
    "pyarrow": lambda columns: pa.table(columns),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_every_kind_of_frame_gives_the_same(make: Any) -> None:
    data = from_frame(make(COLUMNS), label="l", qid="q", doc_id="q", weight="l")
    assert data.query_ids.tolist() == ["a", "b"]
    assert data.feature_names == ("x", "b", "f")
    assert np.array_equal(data.restore(data.X), [[1, 1, 0.5], [np.nan, 0, np.nan], [3, 1, 1000]], equal_nan=True)
    assert data.restore(data.y).tolist() == [1, 0, 2]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["a", "a", "b"]
    assert data.weights is not None
    assert data.weights.tolist() == [1, 2, 0]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_features_are_taken_in_the_order_asked_for(make: Any) -> None:
    data = Dataset.from_frame(make(COLUMNS), label="l", features=["b", "x"])
    assert data.feature_names == ("b", "x")
    assert data.n_queries == 1
    assert data.X[:, 0].tolist() == [1, 0, 1]


@settings(deadline=None)
@given(datasets(named=True), st.sampled_from(BACKENDS))
def test_there_and_back(data: Dataset, backend: str) -> None:
    if data.query_ids.dtype == object and backend != "pandas":
        return  # a column of mixed ids is pandas' own
    frame = to_frame(data, backend)
    again = from_frame(
        frame, label="label", qid="qid", doc_id=None if data.doc_ids is None else "doc_id",
        weight=None if data.weights is None else "weight",
    )  # fmt: skip
    assert_same(again, data)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_frame_has_the_callers_rows_and_owns_them(backend: str) -> None:
    data = Dataset([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 1, 2], qid=[7, 8, 7])
    frame = data.to_frame(backend)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == ["qid", "label", "f1", "f2"]
    assert np.asarray(frame["f2"]).tolist() == [2, 4, 6]
    assert np.asarray(frame["qid"]).tolist() == [7, 8, 7]
    assert not np.shares_memory(np.asarray(frame["f1"]), data.X)
    if backend == "pandas":
        frame.loc[0, "label"] = 9.0
        assert data.y[0] == 0


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"f": pl.Series([True, None, False])}, [1, np.nan, 0]),
        ({"f": pl.Series([Decimal("1.5"), None, Decimal(2)])}, [1.5, np.nan, 2]),
        ({"f": pl.Series([1, 2, 3], dtype=pl.UInt8)}, [1, 2, 3]),
        ({"q": pl.Series(["a", "a", "a"], dtype=pl.Categorical), "f": [1, 2, 3]}, [1, 2, 3]),
        ({"q": pl.Series(["a", "a", "a"], dtype=pl.Enum(["a"])), "f": [1, 2, 3]}, [1, 2, 3]),
    ],
)
def test_columns_of_other_kinds(columns: dict[str, Any], expected: list[float]) -> None:
    frame = pl.DataFrame({"q": ["a", "a", "a"], "l": [1, 2, 3]} | columns)
    data = from_frame(frame, label="l", qid="q")
    assert np.array_equal(data.X[:, 0], expected, equal_nan=True)
    assert data.query_ids.tolist() == ["a"]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"q": ["a", None, "b"]}, "column 'q' is null in row 1; fill it in or drop the row"),
        ({"l": [1, None, 2]}, "column 'l' is null in row 1; fill it in or drop the row"),
        ({"l": ["a", "b", "c"]}, "column 'l' is String; it must hold numbers"),
        (
            {"f": [1.0, 1e39, 2.0]},
            r"column 'f' has 1e\+39 in row 1, which float32 cannot hold; rescale it, or use null",
        ),
        (
            {"f": ["x", "y", "z"]},
            "column 'f' is text; name it in categories=, which LambdaMART can use .*, or choose others with features=",
        ),
    ],
)
def test_sentences(make: Any, columns: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{sentence}"):
        from_frame(make(COLUMNS | columns), label="l", qid="q")


def test_many_wrong_columns_are_not_all_listed() -> None:
    frame = pl.DataFrame({"l": [1]} | {f"t{i}": ["x"] for i in range(7)})
    with pytest.raises(DataError, match=r"'t4', \.\.\. are text; name them in categories="):
        from_frame(frame, label="l")


def test_a_column_that_is_not_there() -> None:
    frame = pl.DataFrame({"label": [1], "query": [1]})
    with pytest.raises(DataError, match=r"^label='lable': unknown column 'lable'; did you mean 'label'\?$"):
        from_frame(frame, label="lable")
    with pytest.raises(DataError, match=r"^features='x': unknown column 'x'; choose from: label, query$"):
        from_frame(frame, label="label", features=["x"])


def test_what_is_no_frame_or_not_yet_one() -> None:
    with pytest.raises(DataError, match=r"^a list is not a frame; give a pandas or polars frame or an Arrow table$"):
        from_frame([1, 2], label="l")
    with pytest.raises(DataError, match=r"^the frame is lazy; call its collect\(\) \(or compute\(\)\) first$"):
        from_frame(pl.LazyFrame({"l": [1]}), label="l")


def test_sentences_of_to_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset([[1.0], [2.0]], [0, 1], qid=[1, ("a", 2)], feature_names=["label"])
    with pytest.raises(ParameterError, match=r"^unknown backend 'panda'; did you mean 'pandas'\?$"):
        to_frame(data, "panda")
    with pytest.raises(DataError, match=r"^a feature is called 'label' like another column of the frame; rename the"):
        to_frame(data)
    with pytest.raises(DataError, match=r"^pyarrow cannot hold the ids in a column \(.*\); use numbers or strings$"):
        to_frame(Dataset([[1.0], [2.0]], [0, 1], qid=[1, ("a", 2)]), "pyarrow")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"^to_frame\(backend='pandas'\) needs pandas; install it with: pip in"):
        to_frame(data)


@pytest.mark.parametrize("names", [("hue", "size"), ("size", "color")])
def test_categories_go_with_their_column_whatever_it_is_called_as_a_feature(names: tuple[str, str]) -> None:
    frame = pd.DataFrame({"color": pd.Categorical(["red", "blue"]), "size": [7.0, 8.0]})
    data = Dataset(frame, [0, 1], feature_names=names)
    assert data.categories == {names[0]: ("blue", "red")}
    assert data.X.tolist() == [[1, 7], [0, 8]]
    back = to_frame(data, "pandas")
    assert back[names[0]].tolist() == ["red", "blue"]


def test_what_is_missing_stays_missing_when_categories_get_other_numbers():
    data = Dataset(
        [[0.0], [np.nan], [1.0], [2.0]], [0, 1, 0, 1], feature_names=["c"], categories={"c": ("a", "b", "z")}
    )
    np.testing.assert_array_equal(recode(data, {"c": ("b", "a")}).X.ravel(), [1, np.nan, 0, np.nan])


def test_features_that_take_the_place_of_others_bring_their_categories():
    data = Dataset(
        [[1.0, 0.0], [2.0, 1.0]], [0, 1], [1, 1], feature_names=("age", "kind"), categories={"kind": ("a", "b")}
    )
    found = data.replace(X=pd.DataFrame({"kind": pd.Categorical(["b", "a"]), "color": pd.Categorical(["red", "blue"])}))
    assert found.categories == {"kind": ("a", "b"), "color": ("blue", "red")}
    assert found.X.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert data.replace(X=data.X, feature_names=("age", "sort")).categories == {}


def test_a_column_of_numbers_called_judged_is_a_feature():
    frame = pd.DataFrame({"label": [0, 1], "judged": [3.0, 4.0], "age": [1, 2]})
    data = Dataset.from_frame(frame)
    assert (data.feature_names, data.judged) == (("judged", "age"), None)
    marked = Dataset.from_frame(frame.assign(judged=[True, False]))
    assert (marked.feature_names, marked.judged.tolist()) == (("age",), [True, False])


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_missing_category_is_missing_in_a_frame_too(backend):
    data = Dataset([[0.0], [np.nan], [1.0]], [0, 1, 2], feature_names=("kind",), categories={"kind": ("a", "b")})
    again = Dataset.from_frame(data.to_frame(backend))
    np.testing.assert_array_equal(again.X, data.X)
    assert again.categories == data.categories


def test_codes_below_zero_are_the_same_category_however_they_are_written():
    number = numbers_in(["-1", "0", "7"])
    assert [number(text) for text in ("-1", "-1.0", "0.0", "7.0")] == [0, 0, 1, 2]
    assert np.isnan(number("-1.5"))


def test_a_code_past_the_last_category_is_refused():
    with pytest.raises(DataError, match="column 'kind' has 2, but its 2 categories are numbered from 0"):
        Dataset([[2.0]], [0], feature_names=("kind",), categories={"kind": ("a", "b")})


def test_categories_of_parts_keep_the_order_of_a_part_that_has_them_all():
    parts = [{"size": ("small", "large")}, {"size": ("large",)}, {"size": ("small",)}]
    assert joint_categories(parts) == {"size": ("small", "large")}
    assert joint_categories(parts[1:]) == {"size": ("large", "small")}
