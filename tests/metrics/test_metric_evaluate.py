"""``evaluate``: any row order, any ids, means with what they hide, and a table."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.metrics import DEFAULT_METRICS, Metric, evaluate, measure

Y = [1, 0, 0, 0, 0, 2, 1, 0]
SCORES = [2.0, 1.0, 0.2, 0.1, 3.0, 3.0, 1.0, 0.0]
QID = ["a", "a", "b", "b", "c", "c", "c", "c"]


def test_counts_tell_what_the_means_hide() -> None:
    found = evaluate(Y, SCORES, qid=QID, metrics=["p@3", "mrr"])
    assert (found.n_queries, found.n_empty, found.n_tied, found.n_short, found.n_left_out) == (3, 1, 1, 2, 0)
    assert found.query_ids.tolist() == ["a", "b", "c"]
    assert found.per_query["mrr"].tolist() == [1.0, 0.0, 1 / 2]
    assert found["mrr"] == 1.5 / 3
    assert dict(found) == {"p@3": found["p@3"], "mrr": found["mrr"]}
    assert evaluate(Y, SCORES, qid=QID, metrics=["map"]).n_short == 0
    assert evaluate(Y, SCORES, qid=QID, metrics=["p@1", "ndcg@4"]).n_short == 2  # four documents are enough for four


def test_left_out_queries_are_not_in_the_mean() -> None:
    found = evaluate(Y, SCORES, qid=QID, metrics=["mrr", "kendall"], profile="directranker")
    assert found.n_left_out == 1
    assert found["mrr"] == 1.5 / 2
    assert np.isnan(found.per_query["mrr"][1])
    assert np.isnan(found.per_query["kendall"][1])
    assert evaluate(Y, SCORES, qid=QID, metrics=["mrr", "kendall"]).n_left_out == 1  # of one of the two means


def test_equal_scores_of_equal_labels_are_no_ties() -> None:
    assert evaluate([1, 1, 0, 0], [1.0, 1.0, 0.0, 0.0]).n_tied == 0
    assert evaluate([1, 1, 0, 0], [1.0, 0.0, 0.0, 0.0]).n_tied == 1


def test_it_prints_as_a_table() -> None:
    assert str(evaluate(Y, SCORES, qid=QID, metrics=["ndcg@3", "pairwise_accuracy"], profile="directranker")) == (
        "metric               mean\n"
        "ndcg@3             0.8467\n"
        "pairwise_accuracy  0.8500\n"
        "profile directranker; 3 queries: 1 with no relevant document, 1 with ties, 2 with fewer than 3 documents, "
        "1 left out"
    )
    one = evaluate([1], [1.0], metrics="map")
    assert repr(one).splitlines()[1:] == [
        "map     1.0000",
        "profile standard; 1 query: 0 with no relevant document, 0 with ties, 0 left out",
    ]


def test_it_goes_into_json() -> None:
    found = evaluate([0, 0], [2.0, 1.0], metrics=["map", "hit@1"], profile="directranker").to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == {
        "profile": "directranker",
        "metrics": {"map": None, "hit@1": None},
        "n_queries": 1, "n_empty": 1, "n_tied": 0, "n_short": 0, "n_left_out": 1,
    }  # fmt: skip


def test_it_answers_to_every_name_of_a_metric() -> None:
    found = evaluate(Y, SCORES, qid=QID, metrics=[Metric("p", 3)])
    assert found["Precision@3"] == found["p@3"]
    assert "precision@3" in found
    assert "p@4" not in found
    assert "nonsense" not in found
    assert len(found) == 1
    with pytest.raises(KeyError):
        found["map"]


def test_defaults() -> None:
    assert tuple(evaluate(Y, SCORES, qid=QID)) == DEFAULT_METRICS
    assert evaluate([1, 0], [1.0, 2.0]).n_queries == 1


@given(rows=st.permutations(range(len(Y))))
@settings(max_examples=30, deadline=None)
def test_rows_in_any_order(rows: list[int]) -> None:
    y, scores = np.array(Y), np.arange(8.0)[::-1]
    plain = evaluate(y, scores, qid=QID, metrics=["ndcg@2", "map"])
    mixed = evaluate(y[rows], scores[rows], qid=[QID[row] for row in rows], metrics=["ndcg@2", "map"])
    assert dict(zip(plain.query_ids, plain.per_query["ndcg@2"], strict=True)) == dict(
        zip(mixed.query_ids, mixed.per_query["ndcg@2"], strict=True)
    )
    assert plain["map"] == pytest.approx(mixed["map"])


def test_a_dataset_brings_its_queries_and_takes_scores_in_the_callers_order() -> None:
    rows = [5, 0, 2, 7, 1, 6, 3, 4]
    y, scores, qid = np.array(Y)[rows], np.arange(8.0)[::-1][rows], np.array(QID)[rows]
    data = Dataset(np.zeros((8, 1)), y, qid)
    expected = evaluate(y, scores, qid=qid)
    found = evaluate(data, scores)
    assert dict(found) == dict(expected)
    assert found.query_ids.tolist() == expected.query_ids.tolist()
    for extra in ({"qid": qid}, {"doc_ids": qid}):
        with pytest.raises(ParameterError, match="the data set has its own queries"):
            evaluate(data, scores, **extra)
    with pytest.raises(DataError, match=r"scores has shape \(3,\) but there are 8 labels"):
        evaluate(data, scores[:3])


def test_document_ids_travel_with_their_rows() -> None:
    y, scores, qid, ids = [1, 1, 0, 0], [0.0] * 4, ["a", "b", "a", "b"], ["d1", "d4", "d2", "d3"]
    expected = [0.5, 1.0]  # d2 stands before d1, d4 before d3
    assert (
        evaluate(y, scores, qid=qid, doc_ids=ids, metrics="mrr", profile="trec").per_query["mrr"].tolist() == expected
    )
    data = Dataset(np.zeros((4, 1)), y, qid, doc_ids=ids)
    assert evaluate(data, scores, metrics="mrr", profile="trec").per_query["mrr"].tolist() == expected
    assert evaluate([1, 0], [0.0, 0.0], doc_ids=[10, 9], metrics="mrr", profile="trec")["mrr"] == 0.5  # "9" > "10"


@pytest.mark.parametrize(
    ("y", "scores", "qid", "sentence"),
    [
        ([1, 0], [1.0], None, r"scores has shape \(1,\) but there are 2 labels"),
        ([1, 0], [1.0, 2.0], ["a"], "qid has 1 entries but y has 2; give one query id for each document"),
        ([], [], [], "there are no queries to evaluate"),
        ([[1], [0]], [1.0, 2.0], None, r"y has shape \(2, 1\)"),
        (1, 1.0, None, r"y has shape \(\)"),
    ],
)
def test_lengths_are_checked(y: object, scores: object, qid: object, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        evaluate(y, scores, qid=qid)  # type: ignore[arg-type]


def test_results_are_read_only() -> None:
    found = evaluate(Y, SCORES, qid=QID)
    with pytest.raises(ValueError, match="read-only"):
        found.per_query["map"][0] = 1.0
    with pytest.raises(TypeError):
        found.per_query["map"] = np.zeros(3)  # type: ignore[index]


def test_a_query_of_60000_documents_is_quick_and_small() -> None:
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 5, 60_000).astype(float), rng.random(60_000)
    several = ["ndcg@10", "ndcg", "map", "pairwise_accuracy", "kendall", "spearman"]
    measure(y, scores, [0, 60_000], several)
    best = min(_seconds(lambda: measure(y, scores, [0, 60_000], several)) for _ in range(5))
    tracemalloc.start()
    measure(y, scores, [0, 60_000], several)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * y.nbytes + 1_000_000  # ten columns, where a matrix of pairs would be 60,000 columns
    assert best < 0.1


def _seconds(work: object) -> float:
    start = time.process_time()  # a busy machine must not fail the test; one query is measured on one thread
    work()  # type: ignore[operator]
    return time.process_time() - start


def test_equal_scores_compile_no_kernel_more() -> None:
    code = (
        "import numpy as np; from ordino.metrics import evaluate, kernels\n"
        "evaluate(np.arange(60) % 3, np.arange(60) // 7, qid=np.arange(60) // 20, metrics=['ndcg@10', 'map', 'p@10'])\n"
        "print(*(name for name, kernel in vars(kernels).items() if getattr(kernel, 'signatures', ())))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) == {"pack_block", "rank_block", "weighted_sums", "best_labels", "precision_sums"}


def test_names_and_profiles_load_without_numba_or_sklearn() -> None:
    code = (
        "import sys, ordino.metrics as m; m.parse_metric('ndcg@10'); m.find_profile('trec'); "
        "print([name for name in ('numba', 'sklearn', 'scipy', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_many_rows_without_queries_are_one_list_with_a_warning():
    y = np.arange(1001) % 2
    with pytest.warns(UserWarning, match=r"evaluate: all 1,001 rows are one query; pass qid=\.\.\.") as told:
        found = evaluate(y, y)
    assert [one.filename for one in told] == [__file__]
    assert found.n_queries == 1
    assert dict(evaluate(y, y, qid=[0] * len(y))) == dict(found)  # without a word, as is a list of 1,000
    evaluate(y[:-1], y[:-1])
