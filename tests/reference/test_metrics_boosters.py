"""Profiles ``lightgbm``, ``xgboost`` and ``catboost`` against the metrics that these libraries compute themselves.

The scores enter as initial scores, margins or approximations, so that no tree is involved. All three sum in double:
values are equal to 1e-12, except CatBoost's ERR, whose labels are float32.
"""

from __future__ import annotations

import numpy as np
import pytest

from oracles import hard_lists, random_lists
from ordino.metrics import evaluate

LISTS = {**hard_lists(), **random_lists(30)}
CUTOFFS = [1, 3, 10]


def lightgbm_metrics(y: list[float], scores: list[float], metric: str) -> dict[str, float]:
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    quiet = {"verbose": -1, "min_data_in_leaf": 1, "min_data_in_bin": 1, "feature_pre_filter": False}
    data = lightgbm.Dataset(np.arange(len(y))[:, None], y, group=[len(y)], init_score=scores, params=quiet)
    booster = lightgbm.Booster({"objective": "lambdarank", "metric": metric, "eval_at": CUTOFFS, **quiet}, data)
    return {found[1]: found[2] for found in booster.eval_train()}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("metric", ["ndcg", "map"])
def test_lightgbm(name: str, metric: str) -> None:
    y, scores = LISTS[name]
    theirs = lightgbm_metrics(y, scores, metric)
    ours = evaluate(y, scores, metrics=list(theirs), profile="lightgbm")
    assert len(theirs) == len(CUTOFFS)
    for at, value in theirs.items():
        assert ours[at] == pytest.approx(value, rel=0, abs=1e-12), at


def xgboost_metrics(
    y: list[float], scores: list[float], metrics: list[str], sizes: list[int] | None = None
) -> dict[str, float]:
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    data = xgboost.DMatrix(np.zeros((len(y), 1)), label=y, base_margin=scores)
    data.set_group(sizes or [len(y)])
    booster = xgboost.Booster({"objective": "rank:pairwise", "eval_metric": metrics, "nthread": 1}, [data])
    words = booster.eval(data).split("\t")[1:]
    return {word.removeprefix("eval-").rsplit(":", 1)[0]: float(word.rsplit(":", 1)[1]) for word in words}


@pytest.mark.parametrize("name", LISTS)
def test_xgboost_ndcg(name: str) -> None:
    y, scores = LISTS[name]
    theirs = xgboost_metrics(y, scores, ["ndcg", *(f"ndcg@{k}" for k in CUTOFFS)])
    ours = evaluate(y, scores, metrics=list(theirs), profile="xgboost")
    for at, value in theirs.items():
        assert ours[at] == pytest.approx(value, rel=0, abs=1e-12), at


@pytest.mark.parametrize("name", LISTS)
def test_xgboost_map_and_precision(name: str) -> None:
    y, scores = LISTS[name]
    relevant = [float(label > 0) for label in y]  # all that these two take
    theirs = xgboost_metrics(relevant, scores, ["map", *(f"{m}@{k}" for k in CUTOFFS for m in ("map", "pre"))])
    ours = evaluate(relevant, scores, metrics=[at.replace("pre@", "p@") for at in theirs], profile="xgboost")
    for at, value in theirs.items():
        assert ours[at.replace("pre@", "p@")] == pytest.approx(value, rel=0, abs=1e-12), at


def test_xgboost_mean_of_queries() -> None:
    y, scores = (np.concatenate([pair[side] for pair in LISTS.values()]) for side in (0, 1))
    sizes = [len(labels) for labels, _ in LISTS.values()]
    theirs = xgboost_metrics(y.tolist(), scores.tolist(), ["ndcg@10"], sizes)["ndcg@10"]
    ours = evaluate(y, scores, qid=np.repeat(np.arange(len(sizes)), sizes), metrics="ndcg@10", profile="xgboost")
    assert ours["ndcg@10"] == pytest.approx(theirs, rel=0, abs=1e-12)


def catboost_metric(y: list[float], scores: list[float], metric: str) -> float:
    utils = pytest.importorskip("catboost.utils", reason="catboost is not installed")
    return float(utils.eval_metric(y, scores, metric, group_id=[0] * len(y))[0])


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("ndcg", "NDCG"),
        ("ndcg@3", "NDCG:top=3"),
        ("ndcg@10", "NDCG:top=10"),
        ("dcg@3", "DCG:top=3"),
        ("map", "MAP"),
        ("map@3", "MAP:top=3"),
        ("mrr", "MRR"),
        ("mrr@3", "MRR:top=3"),
    ],
)
def test_catboost(name: str, ours: str, theirs: str) -> None:
    y, scores = LISTS[name]
    found = evaluate(y, scores, metrics=ours, profile="catboost")[ours]
    assert found == pytest.approx(catboost_metric(y, scores, theirs), rel=0, abs=1e-12)


@pytest.mark.parametrize("name", LISTS)
def test_catboost_precision_and_recall_of_recommended_documents(name: str) -> None:
    """CatBoost counts a document only if its score passes 0.5 too; here all do."""
    y, given = LISTS[name]
    scores = [float(sorted(set(given)).index(score) + 1) for score in given]
    ours = evaluate(y, scores, metrics=["p@3", "recall@3"], profile="catboost")
    assert ours["p@3"] == pytest.approx(catboost_metric(y, scores, "PrecisionAt:top=3"), rel=0, abs=1e-12)
    assert ours["recall@3"] == pytest.approx(catboost_metric(y, scores, "RecallAt:top=3"), rel=0, abs=1e-12)


@pytest.mark.parametrize("name", LISTS)
def test_catboost_err_takes_labels_as_chances(name: str) -> None:
    y, scores = LISTS[name]
    chances = [label / 4 for label in y]
    ours = evaluate(chances, scores, metrics=["err", "err@3"], profile="catboost")
    assert ours["err"] == pytest.approx(catboost_metric(chances, scores, "ERR"), rel=0, abs=1e-6)
    assert ours["err@3"] == pytest.approx(catboost_metric(chances, scores, "ERR:top=3"), rel=0, abs=1e-6)
