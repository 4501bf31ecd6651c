"""Profile ``trec`` against pytrec_eval (trec_eval itself, compiled) and ir_measures: equal to 1e-12.

ERR and the exponential NDCG of ir_measures come from gdeval, a Perl script that prints five digits.
"""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from oracles import hard_lists, random_lists
from ordino.metrics import evaluate

ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")

NAMES = {
    "ndcg": "ndcg", "ndcg@3": "ndcg_cut_3", "ndcg@10": "ndcg_cut_10", "map": "map", "map@3": "map_cut_3", "p@3": "P_3",
    "p@10": "P_10", "recall@3": "recall_3", "recall@10": "recall_10", "mrr": "recip_rank", "hit@1": "success_1",
    "hit@3": "success_3",
}  # fmt: skip
ASKED = {"ndcg", "ndcg_cut.3,10", "map", "map_cut.3", "P.3,10", "recall.3,10", "recip_rank", "success.1,3"}


def as_trec(y: list[float], scores: list[float]) -> tuple[dict[str, int], dict[str, float]]:
    """Documents named so that a later row has a higher name."""
    names = [f"d{row:05d}" for row in range(len(y))]
    return dict(zip(names, map(int, y), strict=True)), dict(zip(names, scores, strict=True))


LISTS = {**hard_lists(), **random_lists(50)}


def measured(name: str, metrics: list[str], profile: str = "trec") -> dict[str, float]:
    y, scores = LISTS[name]
    return dict(evaluate(y, scores, metrics=metrics, profile=profile))


@pytest.mark.parametrize("name", LISTS)
def test_pytrec_eval(name: str) -> None:
    labels, run = as_trec(*LISTS[name])
    theirs = pytrec_eval.RelevanceEvaluator({"q": labels}, ASKED).evaluate({"q": run})["q"]
    ours = measured(name, list(NAMES))
    for metric, trec_name in NAMES.items():
        assert ours[metric] == pytest.approx(theirs[trec_name], rel=0, abs=1e-12), metric


def test_the_means_of_many_queries() -> None:
    qrels, runs = {}, {}
    for name in LISTS:
        qrels[name], runs[name] = as_trec(*LISTS[name])
    theirs = pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(runs)
    y = np.concatenate([LISTS[name][0] for name in LISTS])
    scores = np.concatenate([LISTS[name][1] for name in LISTS])
    qid = [name for name in LISTS for _ in LISTS[name][0]]
    ours = evaluate(y, scores, qid=qid, metrics=list(NAMES), profile="trec")
    for metric, trec_name in NAMES.items():
        assert ours[metric] == pytest.approx(np.mean([theirs[q][trec_name] for q in LISTS]), rel=0, abs=1e-12)


@pytest.mark.parametrize("name", LISTS)
def test_judged_documents_that_the_run_lacks(name: str) -> None:
    y, scores = LISTS[name]
    labels, run = as_trec(y, scores)
    kept = {docno: score for row, (docno, score) in enumerate(run.items()) if row % 3 != 1}
    theirs = pytrec_eval.RelevanceEvaluator({"q": labels}, ASKED).evaluate({"q": kept})["q"]
    ours = evaluate(y, [kept.get(docno, -np.inf) for docno in run], metrics=list(NAMES), profile="trec")
    for metric, trec_name in NAMES.items():
        assert ours[metric] == pytest.approx(theirs[trec_name], rel=0, abs=1e-12), metric


def test_document_ids_order_the_ties() -> None:
    names = ["x10", "x9", "x1", "a", "Z"]
    y, scores = [0, 1, 0, 2, 0], [1.0] * 5
    theirs = pytrec_eval.RelevanceEvaluator({"q": dict(zip(names, y, strict=True))}, {"ndcg", "recip_rank"})
    values = theirs.evaluate({"q": dict(zip(names, scores, strict=True))})["q"]
    ours = evaluate(y, scores, doc_ids=names, metrics=["ndcg", "mrr"], profile="trec")
    assert ours["ndcg"] == pytest.approx(values["ndcg"], abs=1e-12)
    assert ours["mrr"] == values["recip_rank"]


def test_scores_are_compared_as_float32() -> None:
    y, scores = [1, 0], [1.0 + 1e-12, 1.0]  # tied in float32, and the second document has the higher name
    labels, run = as_trec(y, scores)
    theirs = pytrec_eval.RelevanceEvaluator({"q": labels}, {"recip_rank"}).evaluate({"q": run})["q"]["recip_rank"]
    assert theirs == evaluate(y, scores, metrics="mrr", profile="trec")["mrr"] == 0.5


def test_negative_judgments_have_no_gain() -> None:
    y, scores = [-1, 2, 0, -2], [4.0, 3.0, 2.0, 1.0]
    labels, run = as_trec(y, scores)
    theirs = pytrec_eval.RelevanceEvaluator({"q": labels}, ASKED).evaluate({"q": run})["q"]
    ours = evaluate(y, scores, metrics=list(NAMES), profile="trec")
    for metric, trec_name in NAMES.items():
        assert ours[metric] == pytest.approx(theirs[trec_name], abs=1e-12), metric


@pytest.mark.filterwarnings("ignore:ast.Num is deprecated", "ignore:Attribute n is deprecated")  # its parser uses them
@pytest.mark.parametrize("name", LISTS)
def test_ir_measures(name: str) -> None:
    labels, run = as_trec(*LISTS[name])
    names = {
        "ndcg": "nDCG", "ndcg@3": "nDCG@3", "map": "AP", "map@3": "AP@3", "p@3": "P@3", "recall@3": "R@3", "mrr": "RR",
        "hit@3": "Success@3",
    }  # fmt: skip
    asked = {metric: ir_measures.parse_measure(theirs) for metric, theirs in names.items()}
    theirs = ir_measures.calc_aggregate(list(asked.values()), {"q": labels}, {"q": run})
    ours = measured(name, list(asked))
    for metric, measure in asked.items():
        assert ours[metric] == pytest.approx(theirs[measure], rel=0, abs=1e-12), metric


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval needs Perl")
def test_gdeval() -> None:
    """Profile ``standard`` without ties; gdeval takes numeric query ids only."""
    lists = {str(q): pair for q, pair in enumerate(random_lists(40, ties=False).values(), 1)}
    qrels, runs = {}, {}
    for q, pair in lists.items():
        qrels[q], runs[q] = as_trec(*pair)
    asked = {"err@10": ir_measures.ERR @ 10, "ndcg@10": ir_measures.nDCG(dcg="exp-log2") @ 10}
    names = {measure: metric for metric, measure in asked.items()}
    y, scores = (np.concatenate([pair[side] for pair in lists.values()]) for side in (0, 1))
    qid = [q for q, (labels, _) in lists.items() for _ in labels]
    ours = evaluate(y, scores, qid=qid, metrics=list(asked))
    place = {q: i for i, q in enumerate(ours.query_ids.tolist())}
    compared = 0
    for found in ir_measures.iter_calc(list(asked.values()), qrels, runs):
        value = ours.per_query[names[found.measure]][place[found.query_id]]
        assert value == pytest.approx(found.value, rel=0, abs=0.5001e-5)
        compared += 1
    assert compared == 2 * len(lists)
