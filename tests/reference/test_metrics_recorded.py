"""Profiles of tools and papers that pip does not have: letor3, letor4, ranklib, directranker and rankde.

``recorded_values.json`` has what the evaluation loops of LETOR's Eval-Score-3.0.pl and Eval-Score-4.0.pl (perl 5.36)
and of RankLib's scorers (Java 17) gave for these lists, copied out and run once with all digits printed; labels are cut
to 0-2 for LETOR, whose scripts know no others. The two papers' measures are put together from scikit-learn's DCG and
average precision.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, dcg_score

from oracles import hard_lists, random_lists
from ordino.metrics import evaluate

RECORDED = json.loads(Path(__file__).with_name("recorded_values.json").read_text())
BETWEEN = {"labels between whole numbers": ([0.5, 1.9, 0.2, 2.5], [4.0, 3.0, 2.0, 1.0])}
LISTS = {**hard_lists(), **random_lists(20), **BETWEEN}
UNTIED = {
    name: lists for name, lists in random_lists(40, ties=False).items() if len(lists[0]) > 1 and max(lists[0]) > 0
}


@pytest.mark.parametrize(("profile", "name"), [(profile, name) for profile in RECORDED for name in RECORDED[profile]])
def test_recorded_values(profile: str, name: str) -> None:
    y, scores = LISTS[name]
    labels = np.array(y) if profile == "ranklib" else np.minimum(y, 2)
    expected = RECORDED[profile][name]
    found = evaluate(labels, scores, metrics=list(expected), profile=profile)
    for metric, value in expected.items():
        single = profile == "ranklib" and metric.startswith("mrr")  # RankLib divides there in single precision
        assert found[metric] == pytest.approx(value, rel=0, abs=1e-7 if single else 1e-14), metric


def test_every_hard_list_is_recorded() -> None:
    for profile in ("letor3", "letor4", "ranklib"):
        assert set(hard_lists()) <= set(RECORDED[profile])


@pytest.mark.parametrize("name", UNTIED)
@pytest.mark.parametrize("k", [1, 3, 10])
def test_measures_of_the_directranker_paper(name: str, k: int) -> None:
    relevant, scores = np.array(UNTIED[name][0]) > 0, UNTIED[name][1]
    found = evaluate(UNTIED[name][0], scores, metrics=[f"ndcg@{k}", "map"], profile="directranker")
    best = dcg_score([relevant], [relevant.astype(float)], k=k)
    assert found[f"ndcg@{k}"] == pytest.approx(dcg_score([relevant], [scores], k=k) / best, abs=1e-12)
    assert found["map"] == pytest.approx(average_precision_score(relevant, scores), abs=1e-12)


@pytest.mark.parametrize("name", UNTIED)
@pytest.mark.parametrize("k", [1, 3, 10])
def test_equation_9_of_the_rankde_paper(name: str, k: int) -> None:
    relevant, scores = np.array(UNTIED[name][0]) > 0, UNTIED[name][1]
    ones = dcg_score([np.ones(k + 1)], [np.arange(k + 1.0)], k=k)  # k relevant documents, however many there are
    found = evaluate(UNTIED[name][0], scores, metrics=f"ndcg@{k}", profile="rankde")
    assert found[f"ndcg@{k}"] == pytest.approx(dcg_score([relevant], [scores], k=k) / ones, abs=1e-12)
