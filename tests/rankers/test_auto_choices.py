"""How AutoRanker's trials are made and chosen: seeds of their own, the better half, evidence for every new member."""

import re
from io import StringIO
from itertools import combinations, cycle, islice, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import ordino
from ordino.ensemble import clock as clocks
from ordino.ensemble import kept, scoring, trials
from ordino.ensemble.board import Board
from ordino.ensemble.choosing import MOST_MEMBERS, Choice, Member
from ordino.ensemble.clock import Clock
from ordino.ensemble.combining import standardized
from ordino.ensemble.kept import Kept
from ordino.ensemble.search import Search
from ordino.ensemble.trials import Bench, Kind, Trial
from ordino.judge import Judge
from ordino.rankers import auto, portfolio, ranker_class
from ordino.testing import easy_data

DATA = easy_data(n_queries=24)


def bench(seed=0, n_folds=4, data=DATA, metric="ndcg@10", profile="standard"):
    return Bench(
        data,
        judge=Judge(metric, profile),
        n_folds=n_folds,
        seed=seed,
        make=lambda kind: portfolio.make_member(kind, metric="ndcg@10", profile="standard", n_jobs=1),
    )


class Done:
    """A trial whose scores of unseen documents are known."""

    def __init__(self, scores, ranker="rank-svm", n_folds=4, milliseconds=None):
        self.kind, self.scores, self.milliseconds = Kind(ranker, {}, "z"), [None] * n_folds, milliseconds
        self._scores = scores

    def unseen(self, _):
        return self._scores

    def best_step(self, _):
        return 0


def noisy(size, seed=0):
    """Scores that follow the labels, more or less."""
    return DATA.y + np.random.default_rng(seed).normal(0, size, DATA.n_docs)


EVERYTHING = np.full(DATA.n_queries, True)


def test_every_ranker_of_every_trial_has_a_seed_of_its_own():
    kinds = [
        Kind("rank-svm", {}, "z"), Kind("rank-svm", {}, "rank"), Kind("rank-svm", {"C": 1.0}, "z"),
        Kind("prank", {}, "z"),
    ]  # fmt: skip
    assert len({kind.text for kind in kinds}) == 4
    seeds = [Trial(bench(seed), kind)._part(fold).seed for seed in (0, 1) for kind in kinds for fold in range(4)]
    assert len({*seeds}) == 2 * 4 * 4
    assert not np.array_equal(bench(0).fold, bench(1).fold)


def test_few_queries_begin_with_two_more_members_stronger_penalties_and_more_folds():
    few, many = portfolio.first_kinds(299), portfolio.first_kinds(300)
    assert [(kind.ranker, kind.features) for kind in few] == [
        ("rank-svm", "z+rank+qlog+hinge"), ("linear-regression-ranker", "z+rank+qlog"), ("rank-boost", "raw"),
        ("lambdarank", "z+rank+qlog"), ("lambda-mart", "raw+rank"), ("listmle", "z+rank+qlog"),
    ]  # fmt: skip
    assert [kind.text for kind in many if kind.ranker != "lambda-mart"] == [
        kind.text for kind in (few[0], few[3], few[5])
    ]
    trees = {"query_share": 0.5, "feature_share": 0.5, "rounds": 200, "bags": 2}
    assert many[2].params == trees
    assert few[4].params == trees | {"l2": 5.0, "bags": 4, "min_leaf": 20}
    assert (auto._n_folds(299), auto._n_folds(300)) == (8, 4)


def test_a_member_is_its_kind_scales_nothing_and_is_told_the_rest():
    for kind in [*portfolio.first_kinds(10), *portfolio.drawn_kinds(0, 0), *portfolio.drawn_kinds(0, 1)]:
        told = {"metric": "map", "profile": "letor4", "n_jobs": 2}
        found = portfolio.make_member(kind, **told).get_params(deep=False)
        fixed = {"leaves": 15, "learning_rate": 0.05} if kind.ranker == "lambda-mart" else {}
        wanted = (
            ranker_class(kind.ranker)().get_params(deep=False) | told | {"scaling": None} | fixed | dict(kind.params)
        )
        assert found == {name: value for name, value in wanted.items() if name in found}


@pytest.mark.parametrize(("metric", "learned"), [("mrr", "mrr"), ("ndcg@3", "ndcg@3"), ("err@10", "ndcg@10")])
def test_a_metric_that_lambdarank_cannot_learn_is_ndcg_at_10_to_members(metric, learned):
    member = portfolio.make_member(Kind("lambdarank", {}, "z"), metric=metric, profile="standard", n_jobs=1)
    assert member.metric == learned


def test_what_a_trial_costs_by_hand():
    """Seconds for a feature of a document, times those of all folds but one, in each fold."""
    of_trees, of_network = Kind("lambda-mart", {"bags": 4}, "raw"), Kind("listnet", {}, "z")
    assert portfolio.seconds_of(of_trees, 1000, 20, 3) == pytest.approx(0.05 + 4 * 9e-7 * 1000 * 20 * 2)
    assert portfolio.seconds_of(of_network, 1000, 20, 5) == pytest.approx(0.05 + 6e-7 * 1000 * 20 * 4)


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_learned_from_as_many_drawn_queries_as_have_enough_documents(seed, monkeypatch):
    counts = np.arange(1, 25)  # short queries stand first
    X = np.random.default_rng(0).normal(size=(counts.sum(), 2))
    data = ordino.Dataset(X, np.zeros(len(X)), np.repeat(np.arange(24), counts))
    monkeypatch.setattr(trials, "WEIGHED_DOCS", 60)
    some, numbers = bench(seed, data=data).sample
    assert 60 <= some.n_docs < 60 + counts.max()
    assert some.query_ids.tolist() == numbers.tolist() != list(range(len(numbers)))
    monkeypatch.setattr(trials, "WEIGHED_DOCS", len(X))
    assert bench(seed, data=data).sample[1].tolist() == list(range(24))


def test_brackets_go_on_through_the_families_in_turn():
    tried = [kind.ranker for bracket in range(4) for kind in portfolio.drawn_kinds(0, bracket)]
    assert tried == list(islice(cycle(portfolio.FAMILIES), 4 * 6))


def test_a_part_of_the_time_goes_by_the_clock_of_the_whole(monkeypatch):
    now = {"wall": 100.0, "processor": 7.0}
    monkeypatch.setattr(clocks, "CLOCKS", {name: lambda name=name: now[name] for name in now})
    part = Clock(20.0, "processor").slice(0.5)
    now["wall"] += 50.0
    assert part.used == 0.0
    now["processor"] += 4.0
    assert (part.used, part.left, part.is_over()) == (4.0, 6.0, False)
    assert part.slice(0.5).left == 3.0


def test_a_trial_is_told_with_the_measure_of_its_best_step(capsys):
    curve = np.tile([[0.25], [0.75], [0.5]], (1, DATA.n_queries))
    trial = SimpleNamespace(
        kind=Kind("ranknet", {}, "z"), seconds=1.5, curve=lambda: curve, best_step=lambda which: 1 if which.all() else 0
    )
    with Board(bench(), Clock(None), 3, verbose=True) as board:
        board.tell("ranknet on z", None)
        board.tell("", trial)
    assert capsys.readouterr().err == "AutoRanker: ranknet on z, ndcg@10 0.7500 out of fold, 1.5 s\n"
    shown = Console(width=70)
    shown.print(board._table())
    title, *_, names, _, row, _ = capsys.readouterr().out.splitlines()
    assert title.split() == ["AutoRanker,", "0", "s", "of", "3", "trials"]
    assert re.findall(r"[\w@.]+", names) == ["member", "features", "ndcg@10", "time"]
    assert re.findall(r"[\w@.]+", row) == ["ranknet", "z", "0.7500", "1.5", "s"]
    shown.print(Board(bench(), Clock(90.0), 3, verbose=True)._table())
    assert "0 s of 90 s" in capsys.readouterr().out


def test_on_a_terminal_the_table_is_drawn_while_it_learns_and_goes_at_the_end(monkeypatch):
    class Terminal(StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    for name, value in {"TERM": "xterm", "COLUMNS": "90", "LINES": "30"}.items():
        monkeypatch.setenv(name, value)
    curve = np.full((1, DATA.n_queries), 0.75)
    trial = SimpleNamespace(kind=Kind("ranknet", {}, "z"), seconds=1.5, curve=lambda: curve, best_step=lambda _: 0)
    with Board(bench(), Clock(90.0), None, verbose=True) as board:
        board.tell("listmle on rank", None)
        board._live.refresh()
        under_way = screen.getvalue()
        board.tell("", trial)
        board._live.refresh()
        done = screen.getvalue()[len(under_way) :]
    gone = screen.getvalue()[len(under_way) + len(done) :]
    assert "AutoRanker, 0 s of 90 s" in under_way
    assert "listmle on rank" in under_way
    assert "ranknet" not in under_way
    assert re.search(r"ranknet +. z +. 0.7500 +. 1.5 s", done)
    assert "listmle on rank" not in done.rpartition("AutoRanker")[2]
    assert "out of fold" not in screen.getvalue()  # no lines beside the table
    assert gone.rpartition("1.5 s")[2].count("\x1b[2K") >= 5  # every line of the table is erased
    with Board(bench(), Clock(90.0), None, verbose=False) as board:
        board.tell("listmle on rank", None)
    assert len(screen.getvalue()) == len(under_way) + len(done) + len(gone)


def test_of_too_many_queries_each_trial_and_fold_draws_its_own():
    """Half of the queries of the other folds, whichever those are, and not the first ones."""
    here = bench()
    drawn = {}
    for C in (1.0, 2.0):
        for fold in range(4):
            trial = Trial(here, Kind("rank-svm", {"C": C}, "raw"), share=0.5)
            part = trial._part(fold)
            others = np.flatnonzero(here.fold != fold)
            numbers = [q for q in others if any(np.array_equal(DATA[q].X, one.X) for one in part.data)]
            assert len(numbers) == part.data.n_queries == round(len(others) / 2)
            assert numbers != others[: len(numbers)].tolist()
            drawn[C, fold] = tuple(numbers)
    assert len({*drawn.values()}) == 8


def test_what_is_kept_belongs_to_one_bench(tmp_path, monkeypatch):
    """Other versions, data, weights, folds, seeds, metrics, profiles or kinds have files of their own."""
    benches = [
        bench(), bench(seed=1), bench(n_folds=3), bench(data=easy_data(24, seed=9)), bench(metric="map"),
        bench(profile="sklearn"),
        *(bench(data=DATA.with_weights(np.full(DATA.n_docs, weight))) for weight in (2.0, 3.0)),
    ]  # fmt: skip
    kinds = [Kind("rank-svm", {}, "z"), Kind("rank-svm", {"C": 1.0}, "z"), Kind("rank-svm", {}, "rank")]
    paths = [Kept(str(tmp_path), here)._path(Trial(here, kind)) for here in benches for kind in kinds]
    assert len({*paths}) == len(benches) * len(kinds)
    assert Kept(str(tmp_path), bench())._path(Trial(bench(), kinds[0])) == paths[0]
    monkeypatch.setattr(kept, "__version__", "another")
    assert Kept(str(tmp_path), bench())._path(Trial(bench(), kinds[0])) not in paths


def test_members_count_by_their_weights():
    ranker = ordino.AutoRanker(trials=2, folds=2).fit(DATA)

    def scores(*weights):
        ranker.weights_ = np.array(weights)
        return ranker.predict(DATA)

    first, second = scores(1.0, 0.0), scores(0.0, 1.0)
    assert not np.allclose(first, second)
    np.testing.assert_allclose(scores(0.25, 0.75), 0.25 * first + 0.75 * second, atol=1e-9)


@pytest.mark.parametrize(("new", "comes_in"), [(noisy(0.3, 1), True), (noisy(50.0, 2), False)])
def test_a_new_member_needs_evidence(new, comes_in):
    choice = Choice(bench(), [Done(noisy(2.0)), Done(new, "prank")], n_first=1)
    assert choice.members(EVERYTHING) == [Member(0, 0)] + [Member(1, 0)] * comes_in


def test_a_member_may_take_the_place_of_one_of_its_family():
    choice = Choice(bench(), [Done(noisy(50.0)), Done(noisy(0.01, 1))], n_first=1)
    assert choice.members(EVERYTHING) == [Member(1, 0)]


def test_a_new_family_stays_out_where_there_are_as_many_members_as_there_may_be():
    full = [Done(noisy(50.0, seed)) for seed in range(MOST_MEMBERS)]
    choice = Choice(bench(), [*full, Done(noisy(0.01), "prank")], n_first=MOST_MEMBERS)
    assert choice.members(EVERYTHING) == [Member(trial, 0) for trial in range(MOST_MEMBERS)]


def test_the_cost_of_scoring_is_that_of_all_members_together():
    trials = [Done(noisy(2.0, i), name, milliseconds=2.0) for i, name in enumerate(("rank-svm", "prank", "lambdarank"))]
    free, bound = (Choice(bench(), trials, n_first=3, most_ms=most).members(EVERYTHING) for most in (6.0, 4.0))
    assert (len(free), len(bound)) == (3, 2)


@pytest.mark.parametrize("cost", list(permutations((10.0, 1.0, 3.0))))
def test_the_cost_is_that_of_the_members_themselves(cost):
    trials = [Done(noisy(2.0, i), str(i), milliseconds=own) for i, own in enumerate(cost)]
    for most in (0.5, 1.0, 3.0, 4.0, 11.0, 13.0):
        choice = Choice(bench(), trials, n_first=3, most_ms=most)
        subsets = [some for n in (1, 2, 3) for some in combinations(range(3), n) if sum(cost[i] for i in some) <= most]
        worth = [np.nanmean(choice.measure([Member(i, 0) for i in some])) for some in subsets]
        best = subsets[int(np.argmax(worth))] if subsets else (int(np.argmin(cost)),)
        assert tuple(one.trial for one in choice.members(EVERYTHING)) == best


def test_where_nothing_fits_the_bound_the_cheapest_of_all_trials_is_taken():
    costs = (9.0, 5.0, 2.0, 3.0)
    trials = [Done(noisy(2.0 if i < 2 else 50.0, i), str(i), milliseconds=own) for i, own in enumerate(costs)]
    free, bound = (Choice(bench(), trials, n_first=2, most_ms=most).members(EVERYTHING) for most in (99.0, 1.0))
    assert [one.trial for one in free] == [0, 1]  # the others bring nothing
    assert [one.trial for one in bound] == [2]


def test_an_affordable_member_does_not_go_for_a_better_one_that_is_too_dear():
    trials = [Done(noisy(2.0), milliseconds=2.0), Done(noisy(0.01, 1), milliseconds=9.0)]  # of one family
    free, bound = (Choice(bench(), trials, n_first=1, most_ms=most).members(EVERYTHING) for most in (9.0, 5.0))
    assert [one.trial for one in free] == [1]
    assert [one.trial for one in bound] == [0]


def test_a_trial_that_has_no_room_beside_all_members_may_take_the_place_of_any():
    trials = [Done(noisy(size, i), str(i), milliseconds=4.0) for i, size in enumerate((2.0, 50.0, 0.01))]
    assert Choice(bench(), trials, n_first=2, most_ms=5.0).members(EVERYTHING) == [Member(2, 0)]


def test_a_later_trial_comes_in_where_no_first_one_is_affordable():
    trials = [Done(noisy(0.1), milliseconds=9.0), Done(noisy(50.0, 1), "prank", milliseconds=4.0)]
    for most in (5.0, 1.0):
        choice = Choice(bench(), trials, n_first=1, most_ms=most)
        assert choice.members(EVERYTHING) == [Member(1, 0)]


@pytest.mark.parametrize("cost", [2.0, 1.0, 5.0])
def test_a_trial_gains_what_it_does_within_the_bound(cost, monkeypatch):
    """In the place of the member that the others miss least, beside both if there is room, and else nothing."""
    search = Search(bench(), clock=Clock(None), most_trials=None, cost=lambda _: 1.0, tell=print, most_ms=5.0)
    search.done = [Done(noisy(size, i), str(i), milliseconds=2.0) for i, size in enumerate((1.0, 1.5))]
    search.n_first = 2
    first = [Member(0, 0), Member(1, 0)]
    monkeypatch.setattr(search, "_members", lambda: first)
    new, own = Done(noisy(0.3, 7), "prank", n_folds=1, milliseconds=cost), search.bench.fold == 0
    choice = Choice(bench(), [*search.done, new], 2)
    places = {2.0: [[Member(2, 0), old] for old in first], 1.0: [[*first, Member(2, 0)]], 5.0: []}[cost]
    worth = [np.mean(choice.measure(some)[own]) for some in places]
    gain = max(worth, default=-np.inf) - np.mean(choice.measure(first)[own])
    assert search._gain(new) == pytest.approx(gain)


@pytest.mark.parametrize("most_ms", [None, 4.0])
@pytest.mark.parametrize("n_first", [1, 3])
def test_some_queries_choose_alone_whatever_the_others_would_choose(n_first, most_ms):
    """First members, later ones, and what is affordable: elsewhere only the last trial is any good."""
    here = np.arange(DATA.n_queries) < 8
    sizes, families = (1.5, 3.0, 0.8, 6.0), ("rank-svm", "prank", "rank-boost", "rank-svm")
    good = [noisy(size, i) for i, size in enumerate(sizes)]

    def chosen(scores):
        trials = [Done(*one, milliseconds=2.0) for one in zip(scores, families, strict=True)]
        choice = Choice(bench(), trials, n_first, most_ms)
        return choice.members(here), choice.members(EVERYTHING)

    others = [*(noisy(50.0, i) for i in range(3)), noisy(0.01)]
    elsewhere = [np.where(np.repeat(here, DATA.counts), *both) for both in zip(good, others, strict=True)]
    (known, everywhere), (turned, differently) = chosen(good), chosen(elsewhere)
    assert turned == known
    assert differently != everywhere


def search_of(monkeypatch, gains):
    """A search whose trials gain what is said."""
    ran = []

    def run(self, trial, n_folds, clock):
        trial.scores = [None] * n_folds
        ran.append((n_folds, trial.kind.params["C"]))
        return trial

    monkeypatch.setattr(Search, "_run", run)
    monkeypatch.setattr(Search, "_gain", lambda _, trial: gains[trial.kind.params["C"]])
    return Search(bench(), clock=Clock(None), most_trials=None, cost=lambda _: 1.0, tell=lambda *_: None), ran


def test_the_better_half_goes_on(monkeypatch):
    gains = dict(enumerate([0.1, 0.6, 0.2, 0.5, 0.3, 0.4]))
    search, ran = search_of(monkeypatch, gains)
    found = search._halved([Kind("rank-svm", {"C": c}, "z") for c in gains], Clock(None))
    assert [trial.kind.params["C"] for trial in found] == [1]
    assert [sorted(c for n, c in ran if n == folds) for folds in (1, 2, 4)] == [[0, 1, 2, 3, 4, 5], [1, 3, 5], [1]]


def test_the_curve_of_a_trial_has_no_value_in_folds_that_are_missing():
    here = bench()
    trial = Trial(here, Kind("prank", {}, "z"))
    trial.scores = [np.stack([noisy(1.0), noisy(0.1)])[:, here.docs(0)]]
    own = here.fold == 0
    assert np.isnan(trial.curve()[:, ~own]).all()
    np.testing.assert_array_equal(trial.curve()[:, own], [here.measure(trial.unseen(step))[own] for step in (0, 1)])


def test_the_best_step_of_a_trial_is_that_of_the_folds_that_it_has():
    trial = Trial(bench(), Kind("prank", {}, "z"))
    rising = [*np.arange(0.1, 0.9, 0.1), *np.arange(0.8, 0.2, -0.1)]
    trial._curve = np.tile(np.array(rising)[:, None], DATA.n_queries)
    trial._curve[:, trial.bench.fold > 0] = np.nan
    assert trial.best_step(EVERYTHING) == 7
    trial._curve[:, :] = np.nan
    assert trial.best_step(EVERYTHING) == trial.n_steps - 1  # nothing tells


def test_folds_that_are_missing_cost_what_the_others_do(monkeypatch):
    asked = []
    monkeypatch.setattr(scoring, "member_scores", lambda rankers, *_: asked.append(rankers))
    steps = {True: 3, False: 0}
    trial = SimpleNamespace(
        bench=bench(), kind=Kind("prank", {}, "z"), best_step=lambda which: steps[bool(which.all())],
        rankers=lambda step: ["a", "b", "c"][:step],
    )  # fmt: skip
    scoring.cost_of(trial)
    assert asked == [["a", "b", "c", "a"]] * scoring.TIMES


def test_first_members_leave_time_for_the_end(monkeypatch):
    now, had = 0.0, []
    monkeypatch.setattr(clocks, "CLOCKS", {"wall": lambda: now})
    search = Search(bench(), clock=Clock(100.0), most_trials=None, cost=lambda _: 1.0, tell=lambda *_: None)
    monkeypatch.setattr(search, "_first_trial", lambda _, clock: had.append(clock.seconds))
    search.run([Kind("prank", {}, "z")] * 2, lambda _: [])
    assert had == pytest.approx([47.0, 94.0])  # of what is left to each, less 6 % for choosing and weighing


def test_a_trial_is_judged_on_the_folds_that_it_has():
    here = bench()
    known, new = noisy(2.0), noisy(0.5, 1)
    own = here.fold == 0
    new = np.where(np.repeat(own, DATA.counts), new, 0.0)  # the other folds are not trained yet
    search = Search(here, clock=Clock(None), most_trials=None, cost=lambda _: 1.0, tell=lambda *_: None)
    search.done, search.n_first = [Done(known)], 1
    before, after = (
        here.measure(sum(standardized(one, DATA.offsets) for one in some)) for some in ([known], [known, new])
    )
    assert search._gain(Done(new, "prank", n_folds=1)) == pytest.approx((after - before)[own].mean())


@pytest.mark.parametrize(("metric", "told"), [("kendall", "-0.2500"), ("pairwise_error", "0.2500")])
def test_a_trial_is_told_with_the_sign_of_its_measure(metric, told, capsys):
    curve = np.full((1, DATA.n_queries), -0.25)  # in which larger is better
    trial = SimpleNamespace(kind=Kind("ranknet", {}, "z"), seconds=1.5, curve=lambda: curve, best_step=lambda _: 0)
    with Board(bench(metric=metric), Clock(None), 3, verbose=True) as board:
        board.tell("", trial)
    assert f"{metric} {told} out of fold" in capsys.readouterr().err
