"""What an AutoRanker says of itself: members, what each adds, features; and what fusion keeps of the weight."""

import json
from copy import copy

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import ordino
import shell
from ordino.boosting.model_text import read_trees
from ordino.data.source import canonical
from ordino.ensemble.clock import Clock
from ordino.ensemble.combining import beside, gate, standardized
from ordino.ensemble.search import kind_of
from ordino.ensemble.summary import names_of, shares_of
from ordino.ensemble.trials import Bench, Trial
from ordino.explain import feature_weights
from ordino.forms import Linear, Network, Stump, Stumps
from ordino.judge import Judge
from ordino.layers import Layer
from ordino.model_file import read_card
from ordino.rankers.portfolio import make_member
from ordino.testing import easy_data

DATA = easy_data(n_queries=12)


@pytest.fixture(scope="module")
def ranker():
    return ordino.AutoRanker(trials=3, folds=2).fit(DATA)


@pytest.fixture(scope="module")
def saved(ranker, tmp_path_factory):
    path = tmp_path_factory.mktemp("auto") / "auto.ordino"
    ordino.save(ranker, path)
    return path


def from_runs(n_queries, *, is_learnable, seed=0):
    """Two runs of which the better one is hidden behind a worse one, or two that tell the same."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(20)]
    runs, qrels = {"good": {}, "bad": {}}, {}
    for q in range(n_queries):
        y = (rng.random(20) < 0.3).astype(int)
        y[0] = 1
        noise = rng.normal(0, 0.5, 20), rng.normal(0, 1, 20)
        found = (y + noise[0], noise[1]) if is_learnable else (y + noise[1], y + rng.normal(0, 1, 20))
        for name, scores in zip(runs, found, strict=True):
            runs[name][f"q{q}"] = dict(zip(names, scores.tolist(), strict=True))
        qrels[f"q{q}"] = dict(zip(names, y.tolist(), strict=True))
    return ordino.Dataset.from_runs(runs, qrels)


def test_a_saved_ranker_tells_its_members_and_features(ranker, saved):
    told = ordino.load(saved).summary()
    assert [(one.ranker, one.features) for one in told.members] == [
        ("rank-svm", "z+rank+qlog+hinge"), ("linear-regression-ranker", "z+rank+qlog"), ("rank-boost", "raw"),
    ]  # fmt: skip
    assert [one.weight for one in told.members] == pytest.approx(ranker.weights_.tolist())
    assert told.features[0].feature == "f1"  # labels follow 3 f1 + f2 - f4
    assert told.features[-1].feature == "f3"
    assert sum(share for _, share in told.features) == pytest.approx(1)
    assert feature_weights(ranker) == list(told.features)
    text = str(told)
    assert "rank-svm on z+rank+qlog+hinge" in text
    assert "out of fold" in text.splitlines()[0]
    assert "<td" in told._repr_html_()


def test_members_that_would_be_called_alike_are_told_by_the_parameters_that_differ(ranker):
    *_, last = ranker.members_  # rank-boost on raw, here three times
    params = [{"rounds": 9, "thresholds": 30}, {"rounds": 5, "thresholds": 30}, {"rounds": 9, "thresholds": 2}]
    alike = copy(ranker)
    alike.members_ = [last | {"params": own} for own in params]
    alike.rankers_, alike.features_ = [ranker.rankers_[-1]] * 3, ["raw"] * 3
    told = alike.summary()
    names = [f"rank-boost on raw (rounds={n}, thresholds={m})" for n, m in ((9, 30), (5, 30), (9, 2))]
    assert [one.name for one in told.members] == [row[0] for row in told.member_rows()] == names
    assert names[1] in str(told)
    assert names[1] in told._repr_html_()
    assert {one.member for one in ordino.why(alike, 0, 1, query=DATA[0].X).members} == {*names}
    alike.members_[2] = last | {"params": {"thresholds": 30}}  # what all have is not told
    assert [one.name for one in alike.summary().members] == [
        "rank-boost on raw (rounds=9)", "rank-boost on raw (rounds=5)", "rank-boost on raw",
    ]  # fmt: skip
    assert [one.name for one in ranker.summary().members][-1] == "rank-boost on raw"


def test_a_parameter_that_a_member_lacks_is_not_one_that_is_none():
    rows = [{"ranker": "prank", "features": "z", "params": params} for params in ({"tau": None}, {})]
    assert names_of(rows) == ["prank on z (tau=None)", "prank on z"]


def test_what_a_member_adds_is_what_the_whole_loses_without_it_out_of_fold(ranker):
    """Written again from the plan: the scores of every fold by a ranker that has not seen it, member by member."""
    data = canonical(DATA)
    bench = Bench(
        data, judge=Judge("ndcg@10", "standard"), n_folds=2, seed=0,
        make=lambda kind: make_member(kind, metric="ndcg@10", profile="standard", n_jobs=1),
    )  # fmt: skip
    scores = []
    for row in ranker.plan_["trials"]:
        trial = Trial(bench, kind_of(row))
        trial.run(2, Clock(None))
        scores.append(standardized(trial.unseen(0), data.offsets))
    weights = ranker.weights_
    whole = bench.measure(sum(w * s for w, s in zip(weights, scores, strict=True)))
    for i, row in enumerate(ranker.members_):
        rest = sum(weights[j] * scores[j] for j in range(3) if j != i)
        assert row["adds"] == pytest.approx(np.mean(whole - bench.measure(rest)), abs=1e-9)
        assert row["alone"] == pytest.approx(np.mean(bench.measure(scores[i])), abs=1e-9)


def test_the_history_has_the_measure_of_each_trial_alone(ranker):
    assert [row["valid"] for row in ranker.history_] == pytest.approx([row["alone"] for row in ranker.members_])


def test_the_card_has_the_summary(ranker, saved):
    told = read_card(saved)["learned"]["summary"]
    assert told == json.loads(json.dumps(ranker.summary().to_dict()))
    assert {"name", "ranker", "features", "weight", "alone", "adds", "adds_error"} == set(told["members"][0])


def test_explain_prints_members_then_features(saved, capsys):
    assert shell.ordino("explain", str(saved), "--top", "2") == 0
    told = capsys.readouterr()
    assert "out of fold" in told.err
    lines = told.out.splitlines()
    assert lines[0].split("\t") == ["member", "weight", "alone", "adds"]
    assert lines[1].startswith("rank-svm on z+rank+qlog+hinge\t0.3")
    assert lines[4].split("\t") == ["feature", "weight"]
    assert lines[5].startswith("f1\t")
    assert len(lines) == 7
    assert shell.ordino("explain", str(saved), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"metric", "quality", "members", "features"}


def test_why_says_what_each_member_adds(ranker):
    query = DATA[0].X
    found = ordino.why(ranker, 0, 1, query=query)
    assert {one.member for one in found.members} == {one.name for one in ranker.summary().members}
    assert sum(one.adds for one in found.members) == pytest.approx(found.difference)
    scores = ranker.predict(query)
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-5)
    assert "by rank-boost on raw" in str(found)
    assert found.to_dict()["members"][0].keys() == {"member", "adds"}
    linear = ordino.LinearRegressionRanker().fit(DATA)
    assert "members" not in ordino.why(linear, 0, 1, query=query).to_dict()


def test_shares_of_each_form_by_hand():
    assert shares_of(Linear(None, 3, np.array([1.0, -2.0, 1.0]))).tolist() == [0.25, 0.5, 0.25]
    assert shares_of(Stumps(None, 2, [Stump(0, 0.5, 3.0), Stump(1, 0.1, -1.0)])).tolist() == [0.75, 0.25]
    # two ways from the first input: |1 * 2| + |-1 * 1| = 3; one from the second: |1 * 1| = 1
    layers = [
        Layer(np.array([[1, -1], [0, 1]], np.float32), np.zeros(2, np.float32)),
        Layer(np.array([[2], [1]], np.float32), np.zeros(1, np.float32)),
    ]
    assert shares_of(Network(None, 2, layers, "relu")).tolist() == [0.75, 0.25]
    assert shares_of(Linear(None, 2, np.zeros(2))).tolist() == [0.0, 0.0]


def test_shares_of_trees_are_what_their_splits_gain():
    form = ordino.LambdaMART(rounds=5, min_leaf=3).fit(DATA).form()
    gains, splits = np.zeros(form.n_features), np.zeros(form.n_features)
    for tree in read_trees(form.model).trees:
        np.add.at(gains, tree.feature, tree.gain)
        np.add.at(splits, tree.feature, 1)
    np.testing.assert_allclose(shares_of(form), gains / gains.sum(), rtol=1e-4)
    assert not np.allclose(shares_of(form), splits / splits.sum(), atol=0.01)


# Fusion in data from runs


def test_the_gate_lets_in_what_is_shown():
    n = 40
    gains = np.full(n, 0.1) + np.tile([0.01, -0.01], n // 2)
    assert gate(gains) == 1.0
    assert gate(-gains) == 0.0
    assert gate(np.tile([0.1, -0.1], 20)) == 0.0
    assert gate(np.array([0.1, np.nan])) == 0.0
    few = np.array([0.1, 0.2, 0.0])  # t is 1.73, but with three queries that is as rare as z = 1.17
    assert gate(few) == pytest.approx(norm.isf(student.sf(3**0.5, 2)) - 1)


def test_what_stands_beside_is_measured_with_the_share_of_other_folds():
    fold, counts = np.array([0, 1]), np.array([1, 1])
    found = beside(np.array([1.0, 2.0]), np.array([5.0, 6.0]), lambda scores: -scores, fold, counts)
    assert found.share == 1.0  # both queries gain
    assert found.scores.tolist() == [5.0, 6.0]  # but one query alone shows nothing


def test_the_share_of_a_fold_is_that_of_the_others_and_not_its_own():
    """The queries of fold 0 gain much, those of fold 1 nothing: so fold 1 gets all of it, and fold 0 nothing."""
    fold, counts = np.repeat([0, 1], 4), np.repeat([1, 2], 4)
    gains = np.array([1.0, 1.1, 0.9, 1.0, -0.1, 0.1, 0.1, -0.1])
    unseen, simple = np.full(counts.sum(), 7.0), np.zeros(counts.sum())
    found = beside(unseen, simple, lambda scores: gains * (scores[0] == 7.0), fold, counts)
    assert found.scores.tolist() == [0.0] * 4 + [7.0] * 8


def test_fusion_keeps_the_weight_where_nothing_is_gained_and_loses_it_where_much_is():
    kept = ordino.AutoRanker(trials=2, folds=2).fit(from_runs(5, is_learnable=False))
    assert [row["ranker"] for row in kept.members_] == ["rank-fusion"]
    unseen = from_runs(30, is_learnable=False, seed=1)
    fusion = ordino.RankFusion().fit(unseen)
    np.testing.assert_array_equal(kept.rank(unseen), fusion.rank(unseen))
    learned = ordino.AutoRanker(trials=2, folds=2).fit(from_runs(60, is_learnable=True))
    assert "rank-fusion" not in [row["ranker"] for row in learned.members_]
    unseen = from_runs(30, is_learnable=True, seed=1)
    assert learned.score(unseen) > ordino.RankFusion().fit(unseen).score(unseen) + 0.05


def test_a_feature_that_does_not_differ_adds_nothing_to_the_scores_of_an_ensemble(ranker):
    """Whatever views of it the members see; the others have their own values beside what they add."""
    query = DATA[0].X.copy()
    query[1] = query[0]
    query[1, [0, 2]] += 0.25
    for rows in ([0, 1], [1, 0]):
        found = ordino.why(ranker, *rows, query=query)
        adds = {reason.feature: reason.adds for reason in found.reasons}
        assert (adds["f2"], adds["f4"]) == (0, 0)
        assert min(abs(adds["f1"]), abs(adds["f3"])) > 1e-6
        values = {reason.feature: (reason.a, reason.b) for reason in found.reasons}
        assert values == {f"f{j + 1}": tuple(query[rows, j].astype(float)) for j in range(4)}
        sizes = [[abs(one.adds) for one in several] for several in (found.reasons, found.members)]
        assert sizes == [sorted(several, reverse=True) for several in sizes]


def test_why_divides_fusion_among_runs():
    ranker = ordino.AutoRanker(trials=2, folds=2).fit(from_runs(5, is_learnable=False))
    query = from_runs(1, is_learnable=False, seed=3)
    scores = ranker.predict(query)
    found = ordino.why(ranker, 0, 1, query=query)
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-5)
    adds = {reason.feature: reason.adds for reason in found.reasons}
    assert adds["good_score"] + adds["bad_score"] == pytest.approx(found.difference)
    assert adds["good_rank"] == 0


def test_features_share_the_weights_of_members_and_runs_that_of_fusion():
    data = from_runs(5, is_learnable=False)
    ranker = ordino.AutoRanker(trials=2, folds=2).fit(data)
    [[fusion]] = ranker.rankers_
    sums = [ordino.LinearRegressionRanker(scaling=None).fit(data) for _ in range(2)]
    sums[0].coef_, sums[1].coef_ = np.arange(data.n_features, dtype=float), -np.ones(data.n_features)
    ranker.rankers_, ranker.features_, ranker.weights_ = [sums, [fusion]], ["raw", "raw"], np.array([0.6, 0.4])
    expected = 0.3 * sums[0].coef_ / sums[0].coef_.sum() + 0.3 / data.n_features
    expected[[data.feature_names.index(f"{name}_score") for name in ("good", "bad")]] += 0.2
    found = dict(ranker.feature_weights())
    assert [found[name] for name in data.feature_names] == pytest.approx(expected)
