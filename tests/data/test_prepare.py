"""Preparation of labels, documents and features: by hand, laws, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ordino.data import prepare
from ordino.data.dataset import Dataset
from ordino.data.prepare import (
    QuadraticFeatures,
    binarize_labels,
    drop_empty_queries,
    drop_features,
    quadratic_features,
)
from ordino.errors import DataError, ParameterError


def data_of(labels: list[float], qid: list[object] | None = None) -> Dataset:
    return Dataset(np.arange(len(labels), dtype=np.float32).reshape(-1, 1), labels, qid)


def test_binarize_labels():
    data = data_of([0, 1, 2, 3, 4], ["a", "b", "a", "b", "a"])
    assert data.restore(binarize_labels(data).y).tolist() == [0, 1, 1, 1, 1]
    binary = binarize_labels(data, threshold=2)
    assert binary.restore(binary.y).tolist() == [0, 0, 1, 1, 1]
    assert binary.restore(binary.X).ravel().tolist() == [0, 1, 2, 3, 4]


def test_drop_empty_queries():
    data = data_of([0, 1, 0, 0, 2, 0], ["a", "a", "b", "b", "c", "a"])
    assert drop_empty_queries(data).query_ids.tolist() == ["a", "c"]
    assert drop_empty_queries(data, relevant_from=2).X.ravel().tolist() == [4]
    with pytest.raises(
        DataError, match=r"no query has a label of 3 or more \(the largest label is 2\); lower relevant_from"
    ):
        drop_empty_queries(data, relevant_from=3)
    with pytest.raises(DataError, match="there are no documents"):
        drop_empty_queries(Dataset(np.zeros((0, 1)), []))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1))
def test_dropping_twice_is_dropping_once(rows):
    data = data_of([label for label, _ in rows], [query for _, query in rows])
    if max(data.y) < 1:
        return
    once = drop_empty_queries(data)
    assert drop_empty_queries(once).query_ids.tolist() == once.query_ids.tolist()
    assert sum(once.y) == sum(data.y)


def test_ranknets_quadratic_features():
    assert quadratic_features(np.ones((1, 569))).shape == (1, 569 + 569 * 570 // 2) == (1, 162_734)


def test_quadratic_features_by_hand():
    data = Dataset([[2, 3, 5]], [1], feature_names=["a", "b", "c"])
    wide = quadratic_features(data)
    assert wide.X.tolist() == [[2, 3, 5, 2 * 2, 2 * 3, 2 * 5, 3 * 3, 3 * 5, 5 * 5]]
    assert wide.feature_names == ("a", "b", "c", "a*a", "a*b", "a*c", "b*b", "b*c", "c*c")
    assert quadratic_features(Dataset([[2]], [1])).feature_names is None


def test_quadratic_features_too_large_are_refused_before_they_are_made():
    with pytest.raises(ParameterError, match=r"569 features make 162734 quadratic ones, 6\.1 GiB for 10000 documents"):
        quadratic_features(np.zeros((10_000, 569), np.float32))
    with pytest.raises(ParameterError, match="raise max_gib=1e-09"):
        QuadraticFeatures(max_gib=1e-9).fit_transform([[1.0]])


def test_quadratic_features_that_overflow_are_refused():
    with pytest.raises(DataError, match="which float32 cannot hold"):
        quadratic_features([[1e30]])


def test_quadratic_features_in_a_pipeline():
    step = clone(QuadraticFeatures(max_gib=1))
    with pytest.raises(NotFittedError):
        step.transform([[1.0]])
    assert step.fit([[1.0, 2.0]]).transform([[3.0, 4.0]]).tolist() == [[3, 4, 9, 12, 16]]
    assert step.fit_transform(Dataset([[2.0]], [1])).X.tolist() == [[2, 4]]
    with pytest.raises(DataError, match="the step was fitted with 1 features but the data has 2"):
        step.transform([[3.0, 4.0]])


def test_drop_features_by_name_and_number():
    named = Dataset([[1.0, 2.0, 3.0]], [0], feature_names=["bm25", "age", "length"])
    assert drop_features(named, ["length", "bm25"]).X.tolist() == [[2]]
    plain = drop_features(Dataset([[1.0, 2.0, 3.0]], [0]), ["2"])
    assert plain.X.tolist() == [[1, 3]]
    assert plain.feature_names == ("f1", "f3")  # their numbers in the data
    with pytest.raises(ParameterError, match="unknown feature 'agr'; did you mean 'age'"):
        drop_features(named, ["agr"])
    with pytest.raises(ParameterError, match="no feature would be left"):
        drop_features(Dataset([[1.0]], [0]), ["1"])


def test_every_step_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "data-preparation.md").read_text()
    for name in (
        "binarize_labels",
        "drop_empty_queries",
        "drop_features",
        "quadratic_features",
        "QuadraticFeatures",
    ):
        assert hasattr(prepare, name)
        assert f"`{name}" in page


def test_labels_between_two_grades_reach_the_lower_one_alone():
    data = Dataset(np.zeros((4, 1)), [0.5, 1.0, 1.5, 2.5])
    assert [binarize_labels(data, threshold=one).y.tolist() for one in (1, 1.5, 2)] == [
        [0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1],
    ]  # fmt: skip
