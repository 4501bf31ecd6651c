"""The Dataset: grouping and restoring, selections, splits, and every sentence."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino import Dataset
from ordino.data.scaling import make_scaler
from ordino.errors import DataError, ParameterError


@st.composite
def datasets(draw: st.DrawFn, *, named: bool = False) -> Dataset:
    """Small data sets with scattered queries, NaN features, and whatever is optional."""
    qid = draw(st.lists(st.integers(0, 4), max_size=12))
    n, m = len(qid), draw(st.integers(0, 3))
    number = st.one_of(st.floats(width=32, allow_infinity=False), st.just(0.0))
    X = draw(st.lists(st.lists(number, min_size=m, max_size=m), min_size=n, max_size=n))
    y = draw(st.lists(st.floats(-1e9, 1e9) | st.integers(0, 4), min_size=n, max_size=n))
    ids = draw(st.sampled_from([lambda i: i, lambda i: f"q{i}", lambda i: float(i), lambda i: i if i else "zero"]))
    return Dataset(
        np.array(X, np.float32).reshape(n, m),
        y,
        [ids(i) for i in qid],
        doc_ids=np.array([f"d{i}" for i in range(n)], "U9") if draw(st.booleans()) else None,
        feature_names=[f"name {j}" for j in range(m)] if named or draw(st.booleans()) else None,
        weights=draw(st.lists(st.floats(0, 9), min_size=n, max_size=n)) if draw(st.booleans()) else None,
    )


def assert_same(a: Dataset, b: Dataset) -> None:
    """Every field of the two data sets is equal, NaN for NaN."""
    for name in ("X", "y", "offsets", "query_ids", "order", "doc_ids", "weights"):
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.shape == right.shape, name
            assert left.tolist() == right.tolist() or np.array_equal(left, right, equal_nan=True), name
    assert a.feature_names == b.feature_names


@settings(deadline=None)
@given(datasets())
def test_restore_undoes_the_grouping(data: Dataset) -> None:
    rows = np.arange(data.n_docs) if data.order is None else data.order
    assert data.restore(rows).tolist() == list(range(data.n_docs))
    again = Dataset(
        data.restore(data.X), data.restore(data.y), data.restore(data.qid), feature_names=data.feature_names,
        doc_ids=None if data.doc_ids is None else data.restore(data.doc_ids),
        weights=None if data.weights is None else data.restore(data.weights),
    )  # fmt: skip
    assert_same(again, data)


@settings(deadline=None)
@given(datasets())
def test_iteration_covers_every_row_once(data: Dataset) -> None:
    queries = list(data)
    assert len(queries) == len(data) == data.n_queries
    assert sum(len(query.y) for query in queries) == data.n_docs
    assert [query.query_id for query in queries] == data.query_ids.tolist()
    if queries:
        assert np.array_equal(np.concatenate([query.X for query in queries]), data.X, equal_nan=True)
        assert data[-1].y.tolist() == queries[-1].y.tolist()


@settings(deadline=None)
@given(datasets(), st.randoms(use_true_random=False))
def test_selected_queries_are_the_queries(data: Dataset, random: object) -> None:
    numbers = list(range(data.n_queries))
    random.shuffle(numbers)  # type: ignore[attr-defined]
    chosen = numbers[: len(numbers) // 2 + 1]
    part = data.select_queries(chosen)
    assert part.n_queries == len(chosen)
    for got, q in zip(part, chosen, strict=True):
        for a, b in zip(got[1:], data[q][1:], strict=True):
            assert (a is None and b is None) or np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    mask = np.isin(np.arange(data.n_queries), chosen)
    assert_same(data.select_queries(mask), data.select_queries(sorted(chosen)))


@settings(deadline=None)
@given(datasets(), st.integers(0, 3))
def test_kept_documents_are_the_documents(data: Dataset, threshold: int) -> None:
    keep = data.y > threshold
    part = data.select_docs(keep)
    assert part.y.tolist() == data.y[keep].tolist()
    assert part.qid.tolist() == data.qid[keep].tolist()
    assert (part.counts > 0).all()


@settings(deadline=None)
@given(datasets(), st.integers(0, 5))
def test_split_parts_share_no_query_and_lose_none(data: Dataset, seed: int) -> None:
    parts = data.split(0.5, 0.25, seed=seed)
    assert len(parts) == 3
    ids = [query_id for part in parts for query_id in part.query_ids.tolist()]
    assert sorted(map(str, ids)) == sorted(map(str, data.query_ids.tolist()))
    for part, again in zip(parts, data.split(0.5, 0.25, seed=seed), strict=True):
        assert_same(part, again)


def test_split_sizes_and_whole_shares() -> None:
    data = Dataset(np.zeros((10, 1)), np.zeros(10), qid=range(10))
    assert [part.n_queries for part in data.split(0.6, 0.2, 0.2)] == [6, 2, 2]
    assert [part.n_queries for part in data.split(0.1)] == [1, 9]


def test_a_contiguous_selection_is_a_view() -> None:
    data = Dataset(np.zeros((4, 1), np.float32), np.zeros(4), qid=[1, 1, 2, 3])
    assert np.shares_memory(data.select_queries([1, 2]).X, data.X)
    assert not np.shares_memory(data.select_queries([2, 0]).X, data.X)


def test_arrays_of_the_right_form_are_shared_not_copied() -> None:
    X, y = np.zeros((2, 3), np.float32), np.zeros(2)
    data = Dataset(X, y, qid=[1, 2])
    assert np.shares_memory(data.X, X)
    assert np.shares_memory(data.y, y)


def test_everything_is_read_only() -> None:
    data = Dataset([[1.0]], [0], [5], doc_ids=["d"], weights=[1])
    for name in ("X", "y", "offsets", "query_ids", "doc_ids", "weights"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(data, name)[0] = 0
    with pytest.raises(AttributeError, match=r"^a Dataset is read-only; make a new one instead of setting 'y'$"):
        data.y = np.zeros(1)


def test_replace_keeps_the_queries() -> None:
    data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["a", "b", "a"], feature_names=["x"], doc_ids=["p", "q", "r"])
    other = data.replace(y=[5, 6, 7])
    assert other.y.tolist() == [5, 6, 7]
    assert (other.feature_names, other.order is data.order or other.order.tolist()) == (("x",), [0, 2, 1])
    wider = data.replace(X=np.ones((3, 2)), feature_names=["x", "z"])
    assert wider.feature_names == ("x", "z")
    assert data.replace(X=np.ones((3, 2))).feature_names is None
    assert data.replace(X=np.ones((3, 1))).feature_names == ("x",)
    with pytest.raises(DataError, match=r"^X has 2 rows but the data set has 3$"):
        data.replace(X=np.ones((2, 1)))


def test_frames_name_their_features_and_sparse_becomes_dense() -> None:
    frame = pd.DataFrame({"bm25": [1.0, 2.0], "length": [3, 4]})
    assert Dataset(frame, [0, 1]).feature_names == ("bm25", "length")
    assert Dataset(pd.DataFrame([[1.0], [2.0]]), [0, 1]).feature_names is None
    assert Dataset(scipy.sparse.csr_matrix([[0.0, 2.0]]), [0]).X.tolist() == [[0.0, 2.0]]
    assert Dataset([["1.5"]], ["2"]).X.tolist() == [[1.5]]


@pytest.mark.parametrize("data", [Dataset(np.zeros((0, 2)), []), Dataset(np.zeros((0, 0)), [], [])])
def test_nothing_is_a_data_set_too(data: Dataset) -> None:
    assert (data.n_docs, data.n_queries, list(data)) == (0, 0, [])
    assert data.select_queries([]).n_queries == 0
    assert data.select_docs(np.zeros(0, bool)).n_docs == 0


def test_words_for_one_and_many() -> None:
    assert repr(Dataset([[1.0]], [0])) == "Dataset(1 document, 1 query, 1 feature)"
    assert repr(Dataset(np.zeros((1200, 2)), np.zeros(1200), range(1200))) == (
        "Dataset(1,200 documents, 1,200 queries, 2 features)"
    )


@settings(deadline=None)
@given(datasets())
def test_copies_and_other_processes_get_the_same(data: Dataset) -> None:
    assert_same(copy.deepcopy(data), data)
    assert_same(pickle.loads(pickle.dumps(data)), data)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"X": [1.0, 2.0]}, r"X has shape \(2,\); give a matrix with one row for each document"),
        ({"X": [["a"], ["b"]]}, r"X cannot be read as numbers \(could not convert .*\); encode text columns first"),
        ({"X": [[1j], [2]]}, "Complex data not supported; give X as real numbers"),
        ({"X": [[1.0], [np.inf]]}, "X has inf in row 1, column 0, which float32 cannot hold; rescale it, or use NaN"),
        (
            {"X": [[1.0], [-1e39]]},
            r"X has -1e\+39 in row 1, column 0, which float32 cannot hold; rescale it, or use NaN",
        ),
        ({"y": [0]}, r"y has shape \(1,\) but X has 2 rows; give one label for each row"),
        ({"y": ["a", "b"]}, r"y cannot be read as numbers \(could not convert"),
        ({"y": [0, np.nan]}, "y has nan in row 1; every label must be a finite number"),
        ({"qid": [1]}, "qid has 1 entries but X has 2 rows; give one query id for each row"),
        ({"doc_ids": ["a"]}, r"doc_ids has shape \(1,\) but X has 2 rows; give one id for each row"),
        ({"weights": [1, -1]}, "weights has -1; weights must not be negative"),
        ({"weights": [1, np.inf]}, "weights has inf in row 1; every weight must be a finite number"),
        ({"feature_names": ["a", "b"]}, "feature_names has 2 names but X has 1 columns"),
    ],
)
def test_sentences(arguments: dict[str, object], sentence: str) -> None:
    given_arguments: dict[str, object] = {"X": [[1.0], [2.0]], "y": [0, 1]} | arguments
    with pytest.raises(DataError, match=f"^{sentence}"):
        Dataset(**given_arguments)  # type: ignore[arg-type]


def test_sentence_for_a_name_that_stands_twice() -> None:
    with pytest.raises(DataError, match=r"^feature_names has 'a' twice; every feature needs its own name$"):
        Dataset([[1.0, 2.0]], [0], feature_names=["a", "a"])


@pytest.mark.parametrize(
    ("which", "sentence"),
    [
        ([2], "there is no query number 2; the data set has 2 queries"),
        ([-3, 1], "there is no query number -3; the data set has 2 queries"),
        ([0, -2], "a query number is given twice; each query can be chosen once"),
        ([0.5], "queries are chosen by a list of whole numbers or by a mask of booleans"),
        (0, "queries are chosen by a list of whole numbers or by a mask of booleans"),
        ([True], r"a mask of shape \(1,\) cannot choose among 2 queries"),
    ],
)
def test_sentences_of_selections(which: object, sentence: str) -> None:
    data = Dataset([[1.0], [2.0]], [0, 1], qid=[1, 2])
    with pytest.raises(DataError, match=f"^{sentence}$"):
        data.select_queries(which)  # type: ignore[arg-type]


def test_sentences_of_documents_shares_and_numbers() -> None:
    data = Dataset([[1.0], [2.0]], [0, 1], qid=[1, 2])
    with pytest.raises(DataError, match=r"^keep must be 2 booleans, one for each document$"):
        data.select_docs(np.array([1, 0]))  # type: ignore[arg-type]
    for shares in [(), (0.0,), (0.7, 0.7)]:
        with pytest.raises(ParameterError, match=r"^split shares must be positive and sum to 1 at most, not "):
            data.split(*shares)
    with pytest.raises(IndexError, match=r"^query number 2 of 2$"):
        data[2]


def test_the_number_of_each_rows_query() -> None:
    data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["b", "a", "b"])
    assert data.query_number.tolist() == [0, 0, 1]
    assert data.query_ids[data.query_number].tolist() == data.qid.tolist()


def test_the_grouped_order_can_be_the_callers_order_without_a_copy() -> None:
    data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["b", "a", "b"], doc_ids=[7, 8, 9], weights=[1, 2, 3])
    grouped = data.as_grouped()
    assert grouped.order is None
    for name in ("X", "y", "offsets", "query_ids", "doc_ids", "weights"):
        assert np.shares_memory(getattr(grouped, name), getattr(data, name))
    assert grouped.restore(grouped.doc_ids).tolist() == [7, 9, 8]
    assert grouped.as_grouped() is grouped


def test_features_that_are_trusted_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["b", "a", "b"], feature_names=["bm25"], weights=[1, 2, 3])
    scaled = np.full((3, 1), 0.5, np.float32)
    monkeypatch.setattr("ordino.data.dataset.read_features", pytest.fail)
    replaced = data.replace_features(scaled, data.feature_names)
    assert np.shares_memory(replaced.X, scaled)
    assert (replaced.feature_names, replaced.restore(replaced.y).tolist()) == (("bm25",), [0, 1, 2])
    make_scaler("minmax").fit(data).transform(data)  # does not scan for infinity again


@pytest.mark.parametrize("change", ["with_weights", "replace", "replace_features"])
def test_a_changed_data_set_keeps_the_callers_order(change):
    data = Dataset([[1.0], [2.0], [3.0], [4.0]], [0, 1, 2, 3], qid=["b", "a", "b", "a"], weights=[1, 2, 3, 4])
    made = {
        "with_weights": lambda: data.with_weights(data.weights * 10),
        "replace": lambda: data.replace(y=data.y),
        "replace_features": lambda: data.replace_features(data.X, None),
    }[change]()
    assert made.restore(made.y).tolist() == [0, 1, 2, 3]
    assert made.restore(made.weights).tolist() == [
        one * (10 if change == "with_weights" else 1) for one in (1, 2, 3, 4)
    ]
