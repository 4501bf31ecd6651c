"""Profile ``sklearn`` against scikit-learn, and the correlations against scipy: equal to 1e-12."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score, roc_auc_score

from oracles import hard_lists, random_lists
from ordino.metrics import evaluate

LISTS = {**hard_lists(), **random_lists(50)}


@pytest.mark.parametrize("name", [name for name, (y, _) in LISTS.items() if len(y) > 1])  # scikit-learn refuses one
@pytest.mark.parametrize("k", [1, 3, 10, None])
def test_ndcg_and_dcg(name: str, k: int | None) -> None:
    y, scores = LISTS[name]
    suffix = "" if k is None else f"@{k}"
    ours = evaluate(y, scores, metrics=["ndcg" + suffix, "dcg" + suffix], profile="sklearn")
    assert ours["dcg" + suffix] == pytest.approx(dcg_score([y], [scores], k=k), rel=0, abs=1e-12)
    assert ours["ndcg" + suffix] == pytest.approx(ndcg_score([y], [scores], k=k), rel=0, abs=1e-12)


@pytest.mark.parametrize("name", LISTS)
def test_average_precision(name: str) -> None:
    y, scores = LISTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no relevant document
        theirs = average_precision_score(np.array(y) > 0, scores)
    assert evaluate(y, scores, metrics="map", profile="sklearn")["map"] == pytest.approx(theirs, rel=0, abs=1e-12)


@pytest.mark.parametrize("name", LISTS)
def test_pairwise_accuracy_of_two_labels_is_the_area_under_the_curve(name: str) -> None:
    y, scores = LISTS[name]
    relevant = (np.array(y) > 0).astype(int)
    ours = evaluate(relevant, scores, metrics="pairwise_accuracy")["pairwise_accuracy"]
    if len(set(relevant)) < 2:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(roc_auc_score(relevant, scores), rel=0, abs=1e-12)


@pytest.mark.parametrize("name", LISTS)
def test_correlations(name: str) -> None:
    y, scores = LISTS[name]
    ours = evaluate(y, scores, metrics=["kendall", "spearman"])
    if len(set(y)) == 1:
        assert np.isnan(ours["kendall"])
        assert np.isnan(ours["spearman"])
    elif len(set(scores)) == 1:  # scipy gives NaN; scores that order nothing are 0 here
        assert ours["kendall"] == ours["spearman"] == 0.0
    else:
        assert ours["kendall"] == pytest.approx(stats.kendalltau(y, scores).statistic, rel=0, abs=1e-12)
        assert ours["spearman"] == pytest.approx(stats.spearmanr(y, scores).statistic, rel=0, abs=1e-12)
