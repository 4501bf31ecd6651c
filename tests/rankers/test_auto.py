"""AutoRanker: what it learns is honest, the same again, within its bounds, and can be stopped and resumed."""

import json
import time
from itertools import count, pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import ordino
from ordino.ensemble import bounds, paths, scoring, trials
from ordino.ensemble import search as searching
from ordino.ensemble.choosing import quality_of
from ordino.ensemble.clock import Clock
from ordino.ensemble.combining import (
    even_weights,
    gate,
    greedy_weights,
    mixture,
    standardized,
    t_of,
    weigh,
    z_of,
)
from ordino.ensemble.paths import smoothed
from ordino.ensemble.trials import Bench, Kind, Trial
from ordino.ensemble.views import Views, pooled, source_of
from ordino.errors import DataError, ParameterError
from ordino.explain import permutation_importance
from ordino.judge import Judge
from ordino.model_file import read_card
from ordino.rankers import auto, portfolio
from ordino.testing import easy_data

DATA = easy_data(n_queries=12)
UNSEEN = easy_data(n_queries=8, seed=5)


@pytest.fixture
def small(monkeypatch):
    """Members of every family that are quick to train."""
    monkeypatch.setattr(portfolio, "NETWORK", {"hidden": (6,), "epochs": 6, "learning_rate": 0.02})
    monkeypatch.setattr(portfolio, "TREES", {"rounds": 12, "bags": 2, "query_share": 0.5, "learning_rate": 0.2})
    small = {"hidden": ((4,), (6,)), "epochs": (5,), "learning_rate": (0.02,), "features": ("z", "rank")}
    trees = {"rounds": (10, 15), "min_leaf": (5,), "features": ("raw", "raw+rank")}
    names = ("lambdarank", "listmle", "ranknet", "listnet")
    monkeypatch.setattr(portfolio, "SPACE", {**portfolio.SPACE, **dict.fromkeys(names, small), "lambda-mart": trees})


@pytest.fixture
def whole(small):
    """Fitted with members of every family and a bracket of further trials."""
    return ordino.AutoRanker(trials=10, folds=3).fit(DATA)


# The parts


def test_scores_are_standardized_inside_each_query():
    rng = np.random.default_rng(0)
    scores, offsets = rng.normal(3, 5, 9), np.array([0, 4, 5, 9])
    found = standardized(scores, offsets)
    for start, stop in pairwise(offsets):
        own = scores[start:stop]
        expected = (own - own.mean()) / own.std() if len(own) > 1 else [0.0]
        np.testing.assert_allclose(found[start:stop], expected)


def test_smoothing_is_the_mean_of_the_neighbors():
    values = np.random.default_rng(1).random(9)
    expected = [values[max(i - 2, 0) : i + 3].mean() for i in range(9)]
    np.testing.assert_allclose(smoothed(values, 5), expected)


N = 400  # queries of one document
ONE, TWO, NOISE = np.random.default_rng(3).normal(size=(3, N))
ALIKE = ONE + np.random.default_rng(4).normal(0, 0.3, (2, N))
FOLD, EVERYTHING = np.arange(N) % 4, np.full(N, True)


def near_to(truth):
    """The measure of a query: how near its score is to the truth, where only the proportions of scores count."""
    return lambda scores: -np.abs(scores / np.linalg.norm(scores) - truth / np.linalg.norm(truth))


def test_greedy_weights_take_what_is_good():
    assert greedy_weights([NOISE, ONE], near_to(ONE), EVERYTHING).tolist() == [0.0, 1.0]
    found = greedy_weights([ONE, NOISE, TWO], near_to(0.75 * ONE + 0.25 * TWO), EVERYTHING)
    np.testing.assert_allclose(found, [0.75, 0.0, 0.25], atol=0.05)


def test_a_member_behind_the_best_goes_unless_the_others_miss_it():
    assert even_weights([NOISE, ONE], near_to(ONE), EVERYTHING).tolist() == [0.0, 1.0]
    assert even_weights([ONE, NOISE, ONE + 0.1 * TWO], near_to(ONE), EVERYTHING).tolist() == [1.0, 0.0, 0.0]
    both = 0.6 * ONE + 0.4 * TWO  # TWO is far behind alone, and missed without it
    alone = [near_to(both)(member) for member in (ONE, TWO)]
    assert t_of(alone[0] - alone[1]) > 2
    assert even_weights([ONE, NOISE, TWO], near_to(both), EVERYTHING).tolist() == [0.5, 0.0, 0.5]
    assert even_weights(ALIKE, near_to(ONE), EVERYTHING).tolist() == [0.5, 0.5]  # nobody can say which is better


def test_a_member_behind_the_best_goes_where_that_changes_nothing():
    """As one does that has the same score for all documents."""
    data = easy_data(n_queries=24)
    good, nothing = data.y + np.random.default_rng(0).normal(0, 1.0, data.n_docs), np.zeros(data.n_docs)
    judge, everything = Judge("ndcg@10", "standard"), np.full(24, True)
    for members, weights in (([good, nothing], [1.0, 0.0]), ([nothing, good], [0.0, 1.0])):
        assert even_weights(members, lambda s: judge.per_query(data, s), everything).tolist() == weights


def test_the_mean_lies_within_two_standard_errors_to_each_side():
    found = quality_of(np.array([0.0, 1.0, np.nan, 0.5]))  # deviation 1/2 of three
    error = 0.5 / np.sqrt(3)
    assert (found["low"], found["high"]) == pytest.approx((0.5 - 1.96 * error, 0.5 + 1.96 * error))
    assert found["queries"] == 3


@pytest.mark.parametrize(("n_queries", "z", "weights"), [(4, 1.8, [0.5, 0.5]), (5, 2.3, [0.0, 1.0])])
def test_what_is_shown_depends_on_these_queries_alone(n_queries, z, weights):
    here = np.arange(N) < n_queries
    better, worse = np.where(here, ONE, -ONE), NOISE  # elsewhere the better one is by far the worse one
    measure = near_to(ONE)
    assert z_of((measure(better) - measure(worse))[here]) == pytest.approx(z, abs=0.05)
    assert even_weights([worse, better], measure, here).tolist() == weights


def test_greedy_weights_come_in_by_evidence():
    clear = weigh([ONE, TWO, NOISE], near_to(0.8 * ONE + 0.2 * TWO), FOLD, EVERYTHING)
    assert clear.greedy_share == 1.0
    assert clear.weights[0] > 0.7
    assert clear.weights[2] == 0.0
    assert weigh(ALIKE, near_to(ONE), FOLD, EVERYTHING).greedy_share < 1.0
    assert t_of(np.array([0.5, 0.5, np.nan])) == np.inf


def test_weights_learned_from_noise_gain_nothing():
    truth, *members = np.random.default_rng(5).normal(size=(9, 40))
    measure, everything, fold = near_to(truth), np.full(40, True), np.arange(40) % 4
    greedy, even = (learn(members, measure, everything) for learn in (greedy_weights, even_weights))
    assert gate(measure(mixture(members, greedy)) - measure(mixture(members, even))) > 0.5  # it has seen them
    assert weigh(members, measure, fold, everything).greedy_share == 0.0


def test_weights_are_learned_from_these_queries_alone():
    def measure(scores):
        return (scores * (3 * ONE + TWO) > 0).astype(float)

    here = np.arange(N) < 100
    members = [ONE, TWO, NOISE]
    elsewhere = [-ONE, -ONE, ONE]  # where the worst is the best
    found = weigh(members, measure, FOLD, here)
    assert found.greedy_share > 0
    other = weigh([*map(lambda *two: np.where(here, *two), members, elsewhere)], measure, FOLD, here)
    assert (other.greedy_share, other.weights.tolist()) == (found.greedy_share, found.weights.tolist())


def test_pooled_parts_keep_their_queries_apart_and_their_weights():
    one, two = easy_data(n_queries=2), easy_data(n_queries=3, seed=1).with_weights(np.full(45, 2.0))
    both = pooled(one, two)
    assert both.n_queries == 5
    np.testing.assert_array_equal(both.X, np.concatenate((one.X, two.X)))
    assert both.y.tolist() == [*one.y, *two.y]
    assert both.weights.tolist() == [1.0] * 30 + [2.0] * 45


def test_the_queries_that_count_are_those_of_both_parts(monkeypatch):
    """Folds, first members and what they cost: the validation part is learned from too."""
    told = {}

    def first_kinds(n_queries):
        told["queries"] = n_queries
        raise LookupError

    def seconds_of(kind, n_docs, *rest):
        told["docs"] = n_docs
        raise LookupError

    monkeypatch.setattr(auto, "seconds_of", seconds_of)
    for name in ("nothing", "first_kinds"):
        monkeypatch.setattr(auto, name, locals().get(name), raising=False)
        with pytest.raises(LookupError):
            ordino.AutoRanker(trials=1, folds=2).fit(DATA, valid=UNSEEN)
    assert told == {"queries": DATA.n_queries + UNSEEN.n_queries, "docs": DATA.n_docs + UNSEEN.n_docs}
    monkeypatch.setattr(auto, "FEW_QUERIES", DATA.n_queries + 1)
    monkeypatch.setattr(auto, "Bench", lambda *_, n_folds, **__: told.update(folds=n_folds) or first_kinds(0))
    with pytest.raises(LookupError):
        ordino.AutoRanker(trials=1).fit(DATA, valid=UNSEEN)
    assert told["folds"] == auto.FEW_FOLDS


def test_views_are_what_scalers_give_and_holes_become_zero():
    X = DATA.X.copy()
    X[3, 1] = np.nan
    data = ordino.Dataset(X, DATA.y, DATA.qid, weights=1.0 + np.arange(DATA.n_docs))
    chosen = np.array([4, 0])
    seen = Views(data).take("raw+z+hinge", chosen)
    whole = ordino.data.scaling.make_scaler("raw+z+hinge").fit(data).transform(data).select_queries(chosen)
    expected = np.hstack((whole.X[:, :4], np.nan_to_num(whole.X[:, 4:])))
    np.testing.assert_array_equal(seen.X, expected)
    assert (seen.y.tolist(), seen.weights.tolist()) == (whole.y.tolist(), whole.weights.tolist())
    assert np.isnan(seen.X[:, 1]).sum() == 1


@pytest.mark.parametrize("names", [*portfolio.VIEWS, "raw", "raw+rank", "raw+z", "raw+rank+qlog"])
def test_a_feature_of_a_view_changes_with_the_one_that_it_is_made_of_and_with_no_other(names):
    known, source = Views(DATA).take(names).X, source_of(names, DATA.n_features)
    for j in range(DATA.n_features):
        X = DATA.X.copy()
        X[:, j] = X[::-1, j]
        changed = (known != Views(DATA.replace(X=X)).take(names).X).any(axis=0)
        assert changed.tolist() == (source == j).tolist()


def test_every_document_is_scored_by_a_ranker_that_has_not_seen_it(small):
    bench = Bench(
        DATA,
        judge=Judge("ndcg@10", "standard"),
        n_folds=3,
        seed=0,
        make=lambda kind: portfolio.make_member(kind, metric="ndcg@10", profile="standard", n_jobs=1),
    )
    kinds = [
        ("rank-svm", {}),
        ("lambdarank", {"epochs": 3, "hidden": (4,)}),
        ("lambda-mart", {"rounds": 10, "min_leaf": 5}),
    ]
    for name, params in kinds:
        trial = Trial(bench, Kind(name, params, "z+rank"))
        trial.run(3, Clock(None))
        for fold in range(3):
            own = bench.fold == fold
            part = trial._part(fold)
            assert {*part.data.query_ids.tolist()} == {*DATA.query_ids[~own].tolist()}
            for step in range(trial.n_steps):
                held_out = bench.views.take("z+rank", np.flatnonzero(own))
                scores = trial.at[fold](step).form().score_scaled(held_out)
                np.testing.assert_allclose(trial.unseen(step)[bench.docs(fold)], scores, rtol=1e-4, atol=1e-6)


# The whole


def test_it_learns_and_says_what_it_is(whole):
    assert whole.score(UNSEEN) > 0.9
    tried = [row["ranker"] for row in whole.plan_["trials"]]
    assert {*tried} >= {"rank-svm", "lambdarank", "lambda-mart", "listmle"}
    assert len(tried) >= 6
    assert {row["ranker"] for row in whole.members_} <= {*tried}
    assert len(whole.members_) > 1
    assert all({"features", "alone", "adds", "adds_error", "weight"} <= set(row) for row in whole.members_)
    assert whole.weights_.sum() == pytest.approx(1)
    assert whole.quality_["low"] < whole.quality_["mean"] < whole.quality_["high"]
    assert whole.quality_["queries"] == DATA.n_queries
    for row, rankers in zip(whole.members_, whole.rankers_, strict=True):  # each as it was at the step that was chosen
        for one in rankers:
            if row["ranker"] == "lambda-mart":
                assert one.best_round_ == one.bags * paths.EVERY * row["step"]
            else:
                assert getattr(one, "best_epoch_", 1) == row["step"]


def test_the_same_seed_or_the_plan_gives_the_same_bits(whole):
    again = ordino.AutoRanker(trials=10, folds=3).fit(DATA)
    np.testing.assert_array_equal(again.predict(UNSEEN), whole.predict(UNSEEN))
    plan = json.loads(json.dumps(whole.plan_))  # as a file would keep it
    replayed = ordino.AutoRanker(plan=plan).fit(DATA)
    np.testing.assert_array_equal(replayed.predict(UNSEEN), whole.predict(UNSEEN))
    assert replayed.quality_ == whole.quality_
    other = ordino.AutoRanker(trials=10, folds=3, seed=1).fit(DATA)
    assert not np.array_equal(other.predict(UNSEEN), whole.predict(UNSEEN))


def test_what_the_clock_cut_short_is_replayed_exactly(small, monkeypatch):
    """A clock that runs out in the middle of networks and trees: the plan holds the steps that were taken."""
    looks = iter(range(10**6))
    monkeypatch.setattr(Clock, "is_over", lambda self: self.seconds is not None and next(looks) % 7 == 6)
    cut = ordino.AutoRanker(minutes=1.0, folds=2).fit(DATA)
    monkeypatch.undo()
    monkeypatch.setattr(portfolio, "NETWORK", {})
    replayed = ordino.AutoRanker(plan=cut.plan_).fit(DATA)
    np.testing.assert_array_equal(replayed.predict(UNSEEN), cut.predict(UNSEEN))


def test_a_fold_that_is_late_leaves_fewer_queries_to_the_next_and_the_plan_says_so(monkeypatch):
    monkeypatch.setattr(trials, "TOGETHER", 0)  # fold after fold, as on large data
    monkeypatch.setattr(trials, "FEWEST_QUERIES", 2)
    judge = Judge("ndcg@10", "standard")

    def make(kind):
        return portfolio.make_member(kind, metric="ndcg@10", profile="standard", n_jobs=1)

    bench = Bench(easy_data(n_queries=60), judge=judge, n_folds=3, seed=0, make=make)
    clock, ticks = Clock(30.0), count(0, 4.0)
    clock._begun, clock._now = 0.0, lambda: next(ticks)  # four seconds between two looks at it
    trial = Trial(bench, Kind("rank-svm", {}, "z"))
    trial.run(3, clock)
    assert trial.shares[0] == 1.0
    assert 1.0 > trial.shares[1] > trial.shares[2] > 0
    assert [trial._part(fold).data.n_queries for fold in range(3)] == [
        max(round(40 * share), 2) for share in trial.shares
    ]
    row = json.loads(json.dumps(trial.row))
    search = searching.Search(bench, clock=Clock(None), most_trials=None, cost=lambda _: 1.0, tell=lambda *_: None)
    search.replay([row], 1)
    np.testing.assert_array_equal(search.done[0].unseen(0), trial.unseen(0))


def test_a_member_that_does_not_fit_into_the_time_is_left_out(small, monkeypatch):
    """Costs as if the second member took an hour: it is not begun, and the plan says why."""
    monkeypatch.setattr(auto, "seconds_of", lambda kind, *_: 3600.0 if kind.ranker.startswith("linear") else 0.01)
    ranker = ordino.AutoRanker(minutes=0.05, folds=2).fit(DATA)
    [why] = [why for kind, why in ranker.plan_["left_out"].items() if "linear" in kind]
    assert why == "there was no time for it"
    assert "linear-regression-ranker" not in [row["ranker"] for row in ranker.plan_["trials"]]


def test_quality_is_not_what_chose_it():
    """Labels that no feature explains: what is chosen on them must not look better than chance by more than noise."""
    rng = np.random.default_rng(0)
    X, qid = rng.random((600, 8)), np.repeat(np.arange(60), 10)
    y = rng.integers(0, 3, 600).astype(float)
    ranker = ordino.AutoRanker(trials=3, folds=3).fit(X, y, qid=qid)
    chance = ordino.RandomRanker().fit(X, y, qid=qid)
    by_chance = np.mean([chance.with_seed(s).fit(X, y, qid=qid).score(X, y, qid=qid) for s in range(20)])
    assert ranker.quality_["low"] < by_chance < ranker.quality_["high"]
    assert ranker.score(X, y, qid=qid) > ranker.quality_["high"]  # which training data would have said


def test_time_is_kept(small):
    begun = time.process_time()
    ranker = ordino.AutoRanker(minutes=0.02, clock="processor").fit(easy_data(n_queries=60))
    assert time.process_time() - begun < 60 * 0.02 * 3 + 2
    assert len(ranker.rankers_) >= 1


def test_the_cost_of_scoring_is_in_milliseconds_for_a_thousand_documents(small, monkeypatch):
    ticks = count()
    monkeypatch.setattr(scoring, "time", SimpleNamespace(perf_counter=lambda: next(ticks) / 500))  # 2 ms a look
    ranker = ordino.AutoRanker(trials=2, folds=2, max_score_ms=1e9).fit(DATA)
    costs = {row["milliseconds"] for row in ranker.plan_["trials"]}
    assert costs == {round(2 * 1000 / DATA.n_docs, 4)}
    assert ranker.plan_["scoring"] == {"max_ms": 1e9, "within_ms": 1e9, "milliseconds": costs.pop()}


NO_CHEAPER = r"AutoRanker: scoring 1,000 documents takes [\d.]+ ms, max_score_ms is 1e-09, and no trial is cheaper"


def test_a_bound_on_the_cost_of_scoring_takes_members_out(small):
    free = ordino.AutoRanker(trials=6, folds=2, max_score_ms=1e9).fit(DATA)
    costs = sorted(row["milliseconds"] for row in free.plan_["trials"])
    bound = ordino.AutoRanker(plan={**free.plan_, "max_score_ms": sum(costs[:3])}).fit(DATA)
    assert 0 < sum(row["milliseconds"] for row in bound.members_) <= sum(costs[:3])
    with pytest.warns(UserWarning, match=NO_CHEAPER) as seen:
        cheapest = ordino.AutoRanker(plan={**free.plan_, "max_score_ms": 1e-9}).fit(DATA)
    assert seen[0].filename == __file__
    assert [row["milliseconds"] for row in cheapest.members_] == costs[:1]
    assert f"{cheapest.plan_['scoring']['milliseconds']:.3g} ms for 1,000 documents, where 1e-09 were allowed" in str(
        cheapest.summary()
    )
    assert cheapest.summary().to_dict()["scoring"] == cheapest.plan_["scoring"]
    assert "scoring" not in ordino.AutoRanker(trials=1, folds=2).fit(DATA).summary().to_dict()


def test_the_bound_is_on_what_predict_takes_and_a_plan_gives_what_was_measured(small, monkeypatch):
    """Asking all members takes 5 ms more than each alone: members go until that fits, and a replay measures nothing."""
    overhead = {"ms": 5.0}

    def slower(score, _):
        return 2.0 * len(score.__self__.rankers_) + overhead["ms"]

    monkeypatch.setattr(bounds, "cost_of", lambda _: 2.0)
    monkeypatch.setattr(searching, "cost_of", lambda _: 2.0)
    monkeypatch.setattr(auto, "milliseconds", slower)
    wide, bound = (ordino.AutoRanker(trials=4, folds=2, max_score_ms=ms).fit(DATA) for ms in (1e9, 7.5))
    assert len(wide.rankers_) > 1
    assert wide.plan_["scoring"] == {"max_ms": 1e9, "within_ms": 1e9, "milliseconds": slower(wide.predict, DATA)}
    assert len(bound.rankers_) == 1
    assert bound.plan_["scoring"]["milliseconds"] == 7.0
    assert bound.plan_["scoring"]["within_ms"] < 4.0
    overhead["ms"] = 1e6
    again = ordino.AutoRanker(plan=json.loads(json.dumps(bound.plan_))).fit(DATA)
    np.testing.assert_array_equal(again.predict(UNSEEN), bound.predict(UNSEEN))
    assert again.quality_ == bound.quality_
    assert again.plan_["scoring"] == bound.plan_["scoring"]


def test_a_first_member_that_is_too_dear_is_not_trained_to_its_end(small, monkeypatch):
    """Trees are seen by their first fold, networks by an epoch; the cheapest is trained whatever it costs."""
    costs = {"rank-svm": 9.0, "linear-regression-ranker": 8.0, "rank-boost": 1.0, "lambda-mart": 7.0, "listmle": 7.0}
    ran = []
    real = Trial.run

    def run(self, n_folds, clock):
        real(self, n_folds, clock)
        ran.append((self.kind.ranker, len(self.scores), self.n_steps))

    monkeypatch.setattr(Trial, "run", run)
    for module in (bounds, searching):
        monkeypatch.setattr(module, "cost_of", lambda trial: costs.get(trial.kind.ranker, 1.0))
    monkeypatch.setattr(auto, "milliseconds", lambda *_: 1.0)
    ranker = ordino.AutoRanker(trials=6, folds=3, max_score_ms=5.0).fit(DATA)
    assert {name: max(n for one, n, _ in ran if one == name) for name in costs} == {
        "rank-svm": 3, "linear-regression-ranker": 3, "rank-boost": 3, "lambda-mart": 1, "listmle": 1,
    }  # fmt: skip
    assert [steps for name, _, steps in ran if name == "listmle"] == [1]
    assert {row["ranker"] for row in ranker.members_} <= {"rank-boost", "lambdarank"}
    assert [json.loads(kind)[0] for kind in ranker.plan_["left_out"]] == ["lambda-mart", "listmle"]
    assert {*ranker.plan_["left_out"].values()} == {"scoring by it alone takes longer than max_score_ms"}


def test_a_bound_that_is_far_away_trains_as_without_it(small):
    free, bound = (ordino.AutoRanker(trials=6, folds=2, max_score_ms=ms).fit(DATA).plan_ for ms in (None, 1e9))
    for name in ("ranker", "params", "features", "share", "steps"):
        assert [row[name] for row in bound["trials"]] == [row[name] for row in free["trials"]]


def test_a_fit_that_was_stopped_goes_on(small, tmp_path, monkeypatch):
    store = str(tmp_path / "kept")
    whole = ordino.AutoRanker(trials=6, folds=2).fit(DATA)
    ran = []
    real = Trial.run

    def run(self, n_folds, clock):
        ran.append(self.kind.ranker)
        if len(ran) == 4:
            raise KeyboardInterrupt
        real(self, n_folds, clock)

    monkeypatch.setattr(Trial, "run", run)
    stopped = ordino.AutoRanker(trials=6, folds=2, store=store).fit(DATA)
    assert len(stopped.rankers_) == 3  # what was learned so far is a ranker
    resumed = ordino.AutoRanker(trials=6, folds=2, store=store).fit(DATA)
    assert len(ran) == 4 + 3  # the three that were kept are not trained again
    np.testing.assert_array_equal(resumed.predict(UNSEEN), whole.predict(UNSEEN))
    again = ordino.AutoRanker(trials=6, folds=2, store=store).fit(DATA)
    assert len(ran) == 7
    np.testing.assert_array_equal(again.predict(UNSEEN), whole.predict(UNSEEN))


def test_ctrl_c_before_anything_is_learned_is_ctrl_c(monkeypatch):
    def press(self, n_folds, clock):
        raise KeyboardInterrupt

    monkeypatch.setattr(Trial, "run", press)
    with pytest.raises(KeyboardInterrupt):
        ordino.AutoRanker(trials=2, folds=2).fit(DATA)


def test_one_file_one_list_and_reasons(whole, tmp_path):
    ordino.save(whole, tmp_path / "auto.ordino")
    again = ordino.load(tmp_path / "auto.ordino")
    one_list = UNSEEN[0].X
    np.testing.assert_array_equal(again.predict(one_list), whole.predict(one_list))
    np.testing.assert_allclose(whole.predict(UNSEEN)[: len(one_list)], whole.predict(one_list), atol=1e-6)
    assert again.members_ == whole.members_
    scores = whole.predict(one_list)
    found = ordino.why(again, 0, 1, query=one_list)
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-3)
    assert sorted(reason.feature for reason in found.reasons) == ["f1", "f2", "f3", "f4"]
    with pytest.raises(DataError, match="give its documents as query="):
        ordino.why(whole, one_list[0], one_list[1])
    assert permutation_importance(whole, UNSEEN, repeats=1)[0].feature == "f1"


@pytest.mark.parametrize(("n_queries", "n_docs"), [(20, 15), (40, 5), (3, 8)])
def test_few_queries_and_short_lists_work(small, n_queries, n_docs):
    data = easy_data(n_queries=n_queries, n_docs=n_docs)
    ranker = ordino.AutoRanker(trials=6).fit(data)
    assert np.isfinite(ranker.predict(data)).all()
    assert ranker.score(UNSEEN) > 0.7


def test_holes_are_taken_and_members_that_cannot_learn_are_told(small):
    X = DATA.X.copy()
    X[::7, 1] = np.nan
    ranker = ordino.AutoRanker(trials=6, folds=2).fit(X, DATA.y, qid=DATA.qid)
    assert np.isfinite(ranker.predict(X, qid=DATA.qid)).all()
    [(kind, why)] = ranker.plan_["left_out"].items()
    assert "rank-boost" in kind
    assert "NaN" in why
    with pytest.raises(DataError, match="there is one query; give at least two"):
        ordino.AutoRanker(trials=1).fit(ordino.Dataset(DATA.X[:15], DATA.y[:15]))


def test_a_plan_has_its_metric_profile_and_bound():
    settings = {"metric": "MAP", "profile": "letor4", "max_score_ms": 1e9}
    first = ordino.AutoRanker(trials=2, folds=2, **settings).fit(DATA)
    told = settings | {"metric": "map"}
    assert {name: first.plan_[name] for name in settings} == told
    plan = json.loads(json.dumps(first.plan_))
    for given in ({}, settings, {"metric": "map"}):
        again = ordino.AutoRanker(plan=plan, **given).fit(DATA)
        assert (again.plan_, again.quality_) == ({**first.plan_, "trials": again.plan_["trials"]}, first.quality_)
        assert again.score(UNSEEN) == first.score(UNSEEN)
        assert again.summary().metric == "map"
        assert permutation_importance(again, UNSEEN) == permutation_importance(first, UNSEEN)
    for name, other in (("metric", "mrr"), ("profile", "trec"), ("max_score_ms", 5.0)):
        with pytest.raises(ParameterError, match=f"{name} is {other!r} but the plan has {told[name]!r}; leave out"):
            ordino.AutoRanker(plan=plan, **{name: other}).fit(DATA)


def test_members_learn_the_metric_of_the_plan(monkeypatch):
    made = []
    monkeypatch.setattr(
        auto, "make_member", lambda *kind, **told: made.append(told) or portfolio.make_member(*kind, **told)
    )
    plan = ordino.AutoRanker(trials=1, folds=2, metric="map", profile="trec").fit(DATA).plan_
    ordino.AutoRanker(plan=plan).fit(DATA)
    assert {(told["metric"], told["profile"]) for told in made} == {("map", "trec")}


def test_an_old_plan_is_carried_out_by_the_metric_that_is_given(tmp_path):
    first = ordino.AutoRanker(trials=2, folds=2, metric="map").fit(DATA)
    old = {name: first.plan_[name] for name in ("seed", "folds", "first", "trials", "left_out")}
    by_map, by_error = (ordino.AutoRanker(plan=old, metric=name).fit(DATA) for name in ("map", "pairwise_error"))
    assert by_map.quality_ == first.quality_ != by_error.quality_
    ordino.save(ordino.AutoRanker(plan=first.plan_).fit(DATA), tmp_path / "auto.ordino")
    assert read_card(tmp_path / "auto.ordino")["measure"] == {"metric": "map", "profile": "standard"}


def test_wrong_plans_are_refused():
    with pytest.raises(ParameterError, match="give the plan_ of a fitted AutoRanker"):
        ordino.AutoRanker(plan={"trials": []}).fit(DATA)


def test_valid_is_learned_from_as_well():
    valid = easy_data(n_queries=6, seed=1)
    both = ordino.AutoRanker(trials=1, folds=2).fit(DATA, valid=valid)
    assert both.quality_["queries"] == 18


def test_measures_of_errors_are_told_in_their_own_sign():
    ranker = ordino.AutoRanker(trials=1, folds=2, metric="pairwise_error").fit(DATA)
    assert 0 < ranker.quality_["mean"] < 0.5
    [only] = ranker.members_
    assert 0 < only["alone"] < 0.5
    assert only["adds"] == pytest.approx(1 - only["alone"])  # without it, every pair is one in error
    assert quality_of(np.array([np.nan]))["queries"] == 0


def test_a_bracket_is_halved(small, monkeypatch):
    """Six trials on one fold, three on two, one on all."""
    folds = []
    real = Trial.run

    def run(self, n_folds, clock):
        folds.append(n_folds)
        real(self, n_folds, clock)

    monkeypatch.setattr(Trial, "run", run)
    monkeypatch.setattr(searching, "FRUITLESS", 1)
    ordino.AutoRanker(trials=12, folds=4).fit(DATA)
    assert folds[6:] == [1] * 6 + [2] * 3 + [4]
