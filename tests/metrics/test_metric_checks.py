"""What cannot be measured is refused before a kernel sees it, with the way out."""

from __future__ import annotations

import re
from math import inf, nan

import numpy as np
import pytest

from ordino.errors import DataError, ParameterError
from ordino.metrics import evaluate, measure, parse_metric


@pytest.mark.parametrize(
    ("y", "scores", "offsets", "sentence"),
    [
        ([1, 0], [1.0], [0, 2], "scores has 1 entries but y has 2; give one score for each document"),
        ([1, 0], [1.0, nan], [0, 2], "scores has NaN in row 1, which cannot be ranked"),
        ([1, nan], [1.0, 2.0], [0, 2], "y has nan in row 1; every label must be a finite number"),
        ([inf, -inf], [1.0, 2.0], [0, 2], "y has inf in row 0; every label must be a finite number"),
        ([1, 0], [[1.0], [2.0]], [0, 2], "scores has shape (2, 1); give one number for each document"),
        (3, [1.0], [0, 1], "y has shape (); give one number for each document"),
        (["good", "bad"], [1.0, 2.0], [0, 2], "y cannot be read as numbers"),
        ([1, 0], [1.0, 2.0], [0, 1], "offsets must rise from 0 to 2, the number of documents"),
        ([1, 0], [1.0, 2.0], [1, 2], "offsets must rise from 0 to 2, the number of documents"),
        ([1, 0], [1.0, 2.0], [0, 3, 2], "offsets must rise from 0 to 2"),
        ([1, 0], [1.0, 2.0], [0.0, 2.0], "offsets must be whole numbers, one more than there are queries"),
        ([1, 0], [1.0, 2.0], [], "offsets must be whole numbers, one more than there are queries"),
        ([0, -1], [1.0, 2.0], [0, 2], "y has -1 in row 1, but ndcg in profile 'standard' needs labels from 0"),
        ([0, 1001], [1.0, 2.0], [0, 2], "y has 1001 in row 1, but ndcg needs its gain, and 2^1001 is too large"),
    ],
)
def test_refusals(y: object, scores: object, offsets: object, sentence: str) -> None:
    with pytest.raises(DataError, match=re.escape(sentence)):
        parse_metric("ndcg").per_query(y, scores, offsets)  # type: ignore[arg-type]


def test_err_says_how_to_widen_its_scale() -> None:
    with pytest.raises(DataError, match=re.escape("takes labels up to 4; write it as 'err(max=5)'")):
        parse_metric("err").per_query([5], [1.0], [0, 1])
    assert parse_metric("err(max=5)").per_query([5], [1.0], [0, 1]).tolist() == [31 / 32]
    with pytest.raises(DataError, match="err in profile 'catboost' takes labels up to 1; divide the labels"):
        parse_metric("err").per_query([2], [1.0], [0, 1], profile="catboost")


def test_negative_labels_are_fine_where_no_gain_is_needed() -> None:
    y, scores, offsets = [-1, 2, 0], [3.0, 2.0, 1.0], [0, 3]
    assert parse_metric("map").per_query(y, scores, offsets).tolist() == [0.5]
    assert parse_metric("pairwise_accuracy").per_query(y, scores, offsets).tolist() == [pytest.approx(1 / 3)]
    assert parse_metric("ndcg").per_query(y, scores, offsets, profile="rankde")[0] > 0
    assert parse_metric("ndcg@1").per_query([-5, -2, 3], scores, offsets, profile="directranker").tolist() == [0.0]
    assert parse_metric("ndcg@2").per_query(y, scores, offsets, profile="trec").tolist() == [
        pytest.approx(1 / np.log2(3))
    ]


def test_large_labels_are_fine_where_the_gain_is_linear() -> None:
    assert parse_metric("dcg").per_query([1e6], [1.0], [0, 1], profile="sklearn").tolist() == [1e6]
    assert parse_metric("map").per_query([1e6], [1.0], [0, 1]).tolist() == [1.0]


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5, True])
def test_threads_are_counted(n_jobs: object) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"n_jobs={n_jobs!r}; it must be a whole number, 1 or more")):
        measure([1], [1.0], [0, 1], "map", n_jobs=n_jobs)  # type: ignore[arg-type]


def test_the_old_name_of_n_jobs_is_refused_with_the_new_one() -> None:
    with pytest.raises(ParameterError, match="evaluate: threads is now called n_jobs"):
        evaluate([1], [1.0], metrics="map", threads=1)  # type: ignore[call-arg]


def test_names_have_the_right_number() -> None:
    with pytest.raises(DataError, match="query_ids has 2 entries but offsets make 1 queries"):
        measure([1], [1.0], [0, 1], "map", query_ids=["a", "b"])
    with pytest.raises(DataError, match=r"doc_ids has shape \(2,\) but y has 1 entries"):
        measure([1], [1.0], [0, 1], "map", profile="trec", doc_ids=["a", "b"])
    with pytest.raises(DataError, match="there are no queries to evaluate"):
        measure([], [], [0], "map")
