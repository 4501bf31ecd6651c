"""RankDE's experiments: what the paper prints, what its tables say of themselves, and what is measured how."""

import json

import numpy as np
import pytest

from ordino import Dataset
from ordino.experiment.papers import rankde
from ordino.experiment.papers.catalogue import TARGETS, reproduce
from ordino.experiment.papers.rankde_arithmetic import faults, fitting_queries, ndcg_by_equation_9
from ordino.experiment.papers.target import Request
from ordino.metrics import evaluate


@pytest.mark.parametrize("row", [row for rows in rankde.PAPER.values() for row in rows.values()])
def test_at_rank_1_precision_is_ndcg(row):
    assert row["test p@1"] == row["test ndcg@1"]
    assert len(row) == 21


def test_weights_are_those_of_44_features_and_names_those_of_46():
    assert len(rankde.TABLE_5) == 44
    assert len(set(rankde.PRINTED["letor4"])) == 46


# the arithmetic


def test_equation_9_from_precisions_is_the_profiles_ndcg():
    rng = np.random.default_rng(0)
    y, qid = (rng.random(400) < 0.2).astype(float), np.repeat(np.arange(20), 20)
    scores = -np.tile(np.arange(20.0), 20)
    data = Dataset(np.zeros((400, 1)), y, qid)
    names = [f"p@{k}" for k in range(1, 11)]
    found = evaluate(data, scores, metrics=[*names, "ndcg@10", "ndcg@4"], profile="rankde")
    precisions = [found[name] for name in names]
    assert ndcg_by_equation_9(precisions) == pytest.approx(found["ndcg@10"], abs=1e-12)
    assert ndcg_by_equation_9(precisions[:4]) == pytest.approx(found["ndcg@4"], abs=1e-12)


def test_fitting_queries_by_trying_every_count():
    precisions = [0.344, 0.234]  # 11 of 32 first ranks, 15 of 64
    slow = [
        n
        for n in range(1, 61)
        if all(any(abs(c / (k * n) - p) <= 0.0005 for c in range(k * n + 1)) for k, p in enumerate(precisions, 1))
    ]
    assert fitting_queries(precisions, 60) == slow
    assert slow[0] == 32


def test_the_papers_tables_have_the_two_faults():
    first, second = faults("TD2003", rankde.PAPER["TD2003"], 50)
    for told in ("BM25 0.118 (printed 0.186)", "RankSVM 0.246", "RankBoost 0.199", "SwarmRank 0.199", "GPRank 0.272"):
        assert told in first
    assert "equation 9 holds for RankDE alone" in first
    assert "RankDE's rows fit 10 queries. One fold has 10, which fit; all 50 fit too" in second
    _, second = faults("TD2004", rankde.PAPER["TD2004"], 75)
    assert "RankSVM 75, RankBoost 75" in second
    assert "RankDE's rows fit 13 queries. One fold has 15, which do not fit; all 75 do not fit" in second
    assert "one fold" not in second.split("all 75")[1]


# what is run


def test_nothing_of_rankde_is_chosen_on_validation():
    settings = rankde.METHODS["RankDE"].settings(Request())
    assert (settings["select"], settings["generations"], settings["population"]) == ("train", 10_000, 50)
    assert rankde.METHODS["RankDE"].repeats == 5


def test_rankde_is_measured_by_equation_9_and_the_others_by_letor(folder):
    for data, letor in ((folder, "letor3"), (folder / "MQ2008", "letor4")):
        plans = TARGETS["rankde.table3"].plans(Request(data, quick=True))
        profiles = {entry.ranker: plan.profile for plan in plans for entry in plan.rankers}
        assert profiles == dict.fromkeys(
            ("single-feature", "rank-svm", "rank-boost", "swarm-rank", "gp-rank"), letor
        ) | {"rankde": "rankde"}


def test_the_t_test_is_paired_over_queries(folder):
    result = reproduce("rankde.table3", Request(folder, quick=True))
    by_query = [number for number in result.numbers if number.labels[-1] == rankde.BY_QUERY]
    assert json.loads(result.to_json())["values"] == len(result.seeds)  # repeats, though a claim has more values
    assert {len(number.ours) for number in by_query} == {4}  # two folds of two test queries
    assert {finding.n for finding in result.findings} == {(4, 4)}
    means = {number.labels[1]: number.mean for number in result.numbers if number.labels[-1] == "map"}
    assert {number.labels[1]: number.mean for number in by_query} == pytest.approx(means)
    assert [finding.claim.difference for finding in result.findings] == [0.213, 0.083, 0.127, 0.13, 0.056]


def test_ndcg_of_rankde_by_letor_is_beside_that_of_equation_9(folder):
    result = reproduce("rankde.table3", Request(folder, quick=True))
    of = {number.labels[1::2]: number.mean for number in result.numbers}
    assert of[rankde.OWN_BY_LETOR, "ndcg@1"] == pytest.approx(of["RankDE", "ndcg@1"])
    assert of[rankde.OWN_BY_LETOR, "ndcg@10"] != of["RankDE", "ndcg@10"]


@pytest.mark.parametrize(("collection", "feature"), [("TD2003", "HostRank"), ("MQ2008", "BM25 of whole document")])
def test_weights_have_the_names_of_their_features(folder, collection, feature):
    data = folder if collection == "TD2003" else folder / collection
    numbers = reproduce("rankde.table5", Request(data, quick=True)).numbers
    [number] = [one for one in numbers if one.labels[-1] == feature]
    assert (number.paper is not None, number.same_data) == (collection == "TD2003",) * 2
    lengths = np.linalg.norm([one.ours for one in numbers], axis=0)
    assert lengths == pytest.approx(np.full(len(number.ours), lengths[0]))


def test_the_pruning_curve_ends_at_the_whole_ranker(folder, tmp_path):
    request = Request(folder, quick=True, kept=tmp_path)
    numbers = reproduce("rankde.pruning", request).numbers
    assert [number.labels[1] for number in numbers] == [str(kept) for kept in range(44, 0, -1)]
    table = reproduce("rankde.table3", request).numbers
    [whole] = [one for one in table if one.labels[1:] == ("RankDE", "test", "map")]
    assert numbers[0].ours == pytest.approx(whole.ours)
    assert len({number.mean for number in numbers}) > 1
