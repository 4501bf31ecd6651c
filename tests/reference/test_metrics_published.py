"""What peers say of small lists, as recorded values: the agreement holds where the peers are not installed.

trec_eval, ir_measures and CatBoost were asked once (``record_peers.py``). The expectations of rax's and ir_measures'
own tests are written here as the arithmetic that they are, with profile ``standard`` (rax) and ``trec`` (ir_measures).
"""

import json
from math import log2
from pathlib import Path

import numpy as np
import pytest

from oracles import hard_lists
from ordino.data.trec import join_run
from ordino.metrics import evaluate

RECORDED = json.loads(Path(__file__).with_name("peers_values.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("peer", "metric"), [(peer, metric) for peer in ("trec_eval", "ir_measures") for metric in RECORDED[peer]]
)
def test_runs_with_judgments(peer, metric):
    joined = join_run(RECORDED["qrels"], RECORDED["run"])
    found = evaluate(joined.y, joined.scores, qid=joined.qid, doc_ids=joined.doc_ids, metrics=[metric], profile="trec")
    ours = dict(zip(found.query_ids.tolist(), found.per_query[metric].tolist(), strict=True))
    assert ours == pytest.approx(RECORDED[peer][metric], rel=0, abs=1e-12)
    assert len(ours) == 8


@pytest.mark.parametrize("name", RECORDED["catboost"])
def test_lists_as_catboost_measures_them(name):
    y, scores = hard_lists()[name]
    found = evaluate(y, scores, metrics=list(RECORDED["catboost"][name]), profile="catboost")
    assert dict(found) == pytest.approx(RECORDED["catboost"][name], rel=0, abs=1e-12)


FOUR = [0.0, 3.0, 1.0, 2.0]
RAX = [
    (FOUR, [0, 0, 1, 1], {
        "mrr": 1 / 2, "recall@4": 1, "recall@3": 1, "p@4": 1 / 2, "p@3": 2 / 3, "map": (1 / 2 + 2 / 3) / 2,
        "dcg": 1 / log2(3) + 1 / log2(4), "ndcg": (1 / log2(3) + 1 / log2(4)) / (1 / log2(2) + 1 / log2(3)),
    }),
    ([1.0, 4, 3, 2], [2, 0, 0, 1], {
        "mrr": 1 / 3, "recall@3": 1 / 2, "p@3": 1 / 3, "map": (1 / 3 + 1 / 2) / 2,
        "dcg": 1 / log2(4) + 3 / log2(5), "ndcg": (1 / log2(4) + 3 / log2(5)) / (3 / log2(2) + 1 / log2(3)),
    }),
    ([1.0, 0.5, 1.5], [0, 1, 2], {
        "mrr": 1, "p@2": 1 / 2, "recall@2": 1 / 2, "map": (1 + 2 / 3) / 2, "dcg": 3 / log2(2) + 1 / log2(4),
        "ndcg": (3 / log2(2) + 1 / log2(4)) / (3 + 1 / log2(3)),
    }),
    (FOUR, [1, 0, 1, 1], {
        "mrr@1": 0, "recall@1": 0, "p@1": 0, "map@1": 0, "dcg@1": 0, "ndcg@1": 0, "mrr@3": 1 / 2, "recall@3": 2 / 3,
        "p@3": 2 / 3, "map@3": (1 / 2 + 2 / 3) / 3, "dcg@3": 1 / log2(3) + 1 / log2(4),
        "ndcg@3": (1 / log2(3) + 1 / log2(4)) / (1 / log2(2) + 1 / log2(3) + 1 / log2(4)),
    }),
    (FOUR, [0, 0, 0, 0], dict.fromkeys(["mrr", "recall@3", "p@3", "map", "dcg", "ndcg"], 0)),
    ([-np.inf, 5, 2, -np.inf, 1], [1, 0, 1, 0, 0], {  # scores of -inf are not retrieved
        "mrr": 1 / 2, "p@3": 1 / 3, "recall@3": 1 / 2, "map": (1 / 2) / 2, "dcg": 1 / log2(3),
        "ndcg": 1 / log2(3) / (1 / log2(2) + 1 / log2(3)),
    }),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "labels", "expected"), RAX)
def test_expectations_of_rax(scores, labels, expected):
    found = evaluate(labels, scores, qid=[1] * len(labels), metrics=list(expected), profile="standard")
    assert dict(found) == pytest.approx(expected, rel=0, abs=1e-12)


JUDGED = {"0": {"D0": 1, "D1": -1, "D2": 0, "D3": 2, "D4": 0}, "1": {"D0": 1, "D3": 2, "D4": -1, "D5": 0}}
RUN = {
    "0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1},
    "1": {"D1": 0.8, "D4": 0.7, "D3": 0.3, "D2": 0.4},
}


@pytest.mark.parametrize(
    ("metric", "values"),
    [("map", [(1 + 2 / 3) / 2, 0.125]), ("hit@2", [1, 0]), ("recall@5", [1, 0.5]), ("p@4", [0.5, 0.25])],
)
def test_expectations_of_ir_measures(metric, values):
    """Judgments below 0, documents that nobody judged, and one that was not retrieved."""
    joined = join_run(JUDGED, RUN)
    found = evaluate(joined.y, joined.scores, qid=joined.qid, doc_ids=joined.doc_ids, metrics=[metric], profile="trec")
    assert found.per_query[metric].tolist() == pytest.approx(values)
