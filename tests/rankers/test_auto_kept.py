"""What AutoRanker keeps of a trial: the scores of each fold and step, and the rankers that gave them."""

from itertools import count

import numpy as np
import pytest

from ordino import AutoRanker
from ordino.boosting.model_text import read_trees
from ordino.ensemble import trials
from ordino.ensemble.choosing import Choice, Member
from ordino.ensemble.clock import Clock
from ordino.ensemble.kept import Kept
from ordino.ensemble.paths import Watch, follow
from ordino.ensemble.search import Search
from ordino.ensemble.trials import Kind, Trial
from ordino.networks import training
from ordino.rankers import portfolio
from rankers.test_auto_choices import DATA, Done, bench, noisy

KINDS = {
    "networks": Kind("ranknet", {"epochs": 4, "hidden": (3,)}, "z"),
    "trees": Kind("lambda-mart", {"rounds": 15, "min_leaf": 5}, "raw"),
    "bags of trees": Kind("lambda-mart", {"rounds": 10, "min_leaf": 5, "bags": 2, "query_share": 0.5}, "raw"),
    "weights": Kind("rank-svm", {}, "z+rank"),
    "stumps": Kind("rank-boost", {"rounds": 4}, "raw"),
}


def made(kind, **more):
    trial = Trial(bench(n_folds=3), kind, **more)
    trial.run(3, Clock(None))
    return trial


@pytest.mark.parametrize("name", KINDS)
def test_the_ranker_of_a_step_is_the_one_that_gave_its_scores(name):
    trial = Trial(bench(n_folds=3), KINDS[name])
    parts = [trial._part(fold) for fold in range(3)]
    for part, path in zip(parts, follow(trial.bench.make(trial.kind), parts, Clock(None)), strict=True):
        for step in range(len(path.scores)):
            found = path.at(step).form().score_scaled(part.held_out)
            np.testing.assert_allclose(found, path.scores[step], rtol=1e-4, atol=1e-5)


def test_every_bag_of_trees_is_another():
    kind = Kind("lambda-mart", {"rounds": 3, "min_leaf": 5, "bags": 4, "query_share": 0.5}, "raw")
    trial = Trial(bench(n_folds=2), kind)
    [path, _] = follow(trial.bench.make(kind), [trial._part(fold) for fold in range(2)], Clock(None))
    trees = [str(tree) for tree in read_trees(path.at(0).model_).trees]
    assert len(trees) == len({*trees}) == 4 * 3


@pytest.mark.parametrize("name", KINDS)
def test_a_trial_is_taken_up_again_as_it_was(name, tmp_path):
    """Also one that learned from a share of the queries, and whose first fold went further than the others."""
    trial = made(KINDS[name], share=0.75)
    trial.scores[0] = np.vstack((trial.scores[0], trial.scores[0][-1:] * 2))
    kept, again = Kept(str(tmp_path), trial.bench), Trial(trial.bench, trial.kind)
    kept.save(trial)
    assert kept.row(trial) == trial.row | {"whole": False}  # of a share of the queries
    kept.load(again)
    assert again.row == trial.row
    best = trial.best_step(np.full(trial.bench.data.n_queries, True))
    for fold, (one, other) in enumerate(zip(trial.rankers(best), again.rankers(best), strict=True)):
        np.testing.assert_array_equal(again.scores[fold], trial.scores[fold][: trial.n_steps])
        seen = trial._part(fold).held_out
        np.testing.assert_array_equal(other.form().score_scaled(seen), one.form().score_scaled(seen))


def test_each_step_is_watched_once_and_by_its_own_scores():
    seen = []
    watch = Watch(lambda scores: seen.append([one.item() for one in scores]) or 0.0, patience=9, window=1)
    steps = np.arange(8.0).reshape(4, 2)
    for n in (1, 3, 4):
        watch.is_enough([steps[:n, 0], steps[:n, 1]])
    assert seen == steps.tolist()


def test_how_many_epochs_are_enough_does_not_depend_on_how_many_there_were_at_a_look():
    rising = np.array([[0.1], [0.2], [0.3], [0.2], [0.2], [0.2], [0.9], [0.9]])
    for looks in (range(1, 9), (2, 8), (8,)):
        watch = Watch(lambda scores: scores[0].item(), patience=3, window=1)
        enough = [watch.is_enough([rising[:n]]) for n in looks]
        assert enough == [n >= 6 for n in looks]
        assert watch.n_epochs == 6


def test_what_is_watched_is_the_mean_of_neighboring_epochs(monkeypatch):
    """A lucky epoch among poor ones is no rise: alone, the third would end it after six."""
    rising = np.array([[0.1], [0.2], [0.9], [0.2], [0.3], [0.4], [0.4], [0.4], [0.4]])
    for window, n_epochs in ((1, 6), (3, 7)):
        watch = Watch(lambda scores: scores[0].item(), patience=3, window=window)
        assert watch.is_enough([rising])
        assert watch.n_epochs == n_epochs
    told = []
    monkeypatch.setattr(trials, "Watch", lambda mean_of, *numbers: told.append(numbers))
    monkeypatch.setattr(trials, "follow", lambda *_: [])
    monkeypatch.setattr(Trial, "_hurry", lambda *_: None)
    Trial(bench(n_folds=2), KINDS["networks"]).run(2, Clock(None))
    assert told == [(trials.PATIENCE, trials.WINDOW)]


@pytest.mark.parametrize("turn", [0.0, 100.0], ids=["epoch by epoch", "all at once"])
def test_epochs_that_a_long_turn_went_beyond_are_cut(monkeypatch, turn):
    monkeypatch.setattr(training, "TURN", turn)
    trial = Trial(bench(n_folds=2), Kind("ranknet", {"epochs": 20, "hidden": (3,)}, "z"))
    parts = [trial._part(fold) for fold in range(2)]
    watch = Watch(lambda scores: 0.0, patience=3, window=1)
    paths = follow(trial.bench.make(trial.kind), parts, Clock(None), watch)
    assert [len(path.scores) for path in paths] == [4, 4]


def test_the_curve_of_a_trial_grows_with_its_folds():
    """It is known after a first fold, by which the better half of a bracket is found, and not kept for the others."""
    trial = Trial(bench(n_folds=3), KINDS["weights"])
    for n_folds in (1, 2, 3):
        trial.run(n_folds, Clock(None))
        known = np.isfinite(trial.curve()).all(axis=0)
        assert known.tolist() == (trial.bench.fold < n_folds).tolist()


def test_a_fold_is_watched_by_its_own_queries():
    trial = Trial(bench(), KINDS["weights"])
    own = trial.bench.docs(2)
    scores = noisy(1.0)[own].astype(np.float32)
    values = trial.bench.measure(np.where(own, noisy(1.0), 0.0))[trial.bench.fold == 2]
    assert trial._mean_of([2])([scores]) == pytest.approx(values.mean(), abs=1e-6)


def search_with(done, seconds=None):
    search = Search(bench(), clock=Clock(seconds), most_trials=None, cost=lambda _: 99.0, tell=lambda *_: None)
    search.done, search.n_first = done, 1
    return search


def test_a_trial_gains_what_it_adds_to_the_others():
    old, new = Done(noisy(2.0)), Done(noisy(0.3, 1), "prank")
    choice = Choice(bench(), [old, new], n_first=1)
    assert Member(1, 0) in choice.members(np.full(choice.bench.data.n_queries, True))
    expected = choice.measure([Member(0, 0), Member(1, 0)]) - choice.measure([Member(0, 0)])
    assert search_with([old])._gain(new) == pytest.approx(expected.mean())


def test_a_trial_will_take_as_long_as_one_of_its_family_did():
    done = [Trial(bench(), KINDS[name], seconds=seconds) for name, seconds in (("networks", 8.0), ("weights", 80.0))]
    search = search_with(done, seconds=1000.0)
    assert search._seconds(Trial(search.bench, KINDS["networks"]), 4) == pytest.approx(8.0)
    assert search._seconds(Trial(search.bench, KINDS["stumps"]), 2) == pytest.approx(99.0 / 2)
    done[0].share = 0.25  # of the queries: all of them take four times as long
    assert search._seconds(Trial(search.bench, KINDS["networks"]), 4) == pytest.approx(32.0)
    begun = Trial(search.bench, KINDS["networks"], seconds=3.0)
    begun.scores = [None]
    assert search._seconds(begun, 4) == pytest.approx(9.0)  # three folds more, each like its own first


def test_brackets_go_on_until_two_in_a_row_bring_nothing(monkeypatch):
    members, drawn = iter([0, 1, 1, 1, 1, 2, 2, 2, 2, 2]), []  # before and after each bracket
    search = search_with([Done(noisy(2.0))])
    monkeypatch.setattr(search, "_members", lambda: next(members))
    monkeypatch.setattr(search, "_halved", lambda *_: [])
    search._brackets(lambda number: drawn.append(number) or [KINDS["stumps"]])
    assert drawn == [0, 1, 2, 3, 4]


# What the clock cut short


def over_after(looks):
    """A clock with a minute that says so often that there is time."""
    clock, seen = Clock(60.0), count()
    clock.is_over = lambda: next(seen) >= looks
    clock.slice = lambda _: clock
    return clock


@pytest.fixture
def epoch_by_epoch(monkeypatch):
    """Networks look at the clock after each epoch, however short it is."""
    monkeypatch.setattr(training, "TURN", 0.0)


@pytest.mark.usefixtures("epoch_by_epoch")
@pytest.mark.parametrize("name", KINDS)
def test_a_trial_knows_whether_it_ended_by_itself(name):
    def trained(clock, **more):
        trial = Trial(bench(n_folds=2), KINDS[name], **more)
        trial.run(2, clock)
        return trial.is_whole

    assert trained(Clock(None))
    assert trained(over_after(10**6))
    assert trained(over_after(3 if name == "networks" else 10**6))  # when the last epoch was over anyway
    assert trained(over_after(1)) == (name in ("weights", "stumps"))  # which have no steps to end between
    assert not trained(Clock(None), share=0.5)
    assert not trained(Clock(None), shares=[1.0, 0.5])
    assert not trained(Clock(None), most_steps=2)


def kept_at(folder, trial, seconds):
    """A store with this trial, which took so long."""
    kept, trial.seconds = Kept(str(folder), trial.bench), seconds
    kept.save(trial)
    return kept


def search_from(kept, seconds):
    return Search(
        bench(n_folds=3), clock=Clock(seconds), most_trials=None, cost=lambda _: 1.0, tell=lambda *_: None, kept=kept
    )


@pytest.mark.usefixtures("epoch_by_epoch")
@pytest.mark.parametrize(("seconds", "is_taken"), [(None, False), (100.0, False), (10.0, True)])
def test_a_trial_that_was_cut_short_is_taken_only_where_there_is_no_time_to_do_it_again(seconds, is_taken, tmp_path):
    cut = Trial(bench(n_folds=3), KINDS["networks"])
    cut.run(3, over_after(2))
    search = search_from(kept_at(tmp_path, cut, 20.0), seconds)
    trial = search._run(Trial(search.bench, KINDS["networks"]), 3, search.clock)
    assert (cut.n_steps, trial.n_steps) == (3, 3 if is_taken else 4)
    assert trial.is_whole is not is_taken


@pytest.mark.parametrize("seconds", [None, 100.0, 10.0])
def test_a_whole_trial_is_taken_however_much_time_there_is(seconds, tmp_path, monkeypatch):
    search = search_from(kept_at(tmp_path, made(KINDS["trees"]), 20.0), seconds)
    monkeypatch.setattr(Trial, "run", None)
    assert search._run(Trial(search.bench, KINDS["trees"]), 3, search.clock).is_whole


@pytest.mark.usefixtures("epoch_by_epoch")
def test_what_went_further_takes_the_place_of_what_was_cut_short(tmp_path):
    """And not the other way around."""
    steps = []
    for looks in (1, 2, 1, 10**6, 2):
        trial = Trial(bench(n_folds=3), KINDS["networks"])
        trial.run(3, over_after(looks))
        kept = kept_at(tmp_path, trial, 1.0)
        steps.append((kept.row(trial)["steps"], kept.row(trial)["whole"]))
    assert steps == [(2, False), (3, False), (3, False), (4, True), (4, True)]


@pytest.mark.usefixtures("epoch_by_epoch")
def test_a_store_of_a_hurried_fit_changes_nothing_for_trials_and_plans_leave_nothing_there(tmp_path, monkeypatch):
    monkeypatch.setattr(portfolio, "NETWORK", {"hidden": (4,), "epochs": 5})
    monkeypatch.setattr(portfolio, "TREES", {"rounds": 10, "bags": 2, "query_share": 0.5})
    fresh = AutoRanker(trials=5, folds=2).fit(DATA)
    looks = count()
    monkeypatch.setattr(Clock, "is_over", lambda self: self.seconds is not None and next(looks) % 3 == 2)
    hurried = AutoRanker(minutes=1.0, folds=2, store=str(tmp_path / "hurried")).fit(DATA)
    assert [row["steps"] for row in hurried.plan_["trials"]][:5] != [row["steps"] for row in fresh.plan_["trials"]]
    AutoRanker(plan=hurried.plan_, store=str(tmp_path / "replayed")).fit(DATA)
    assert [*(tmp_path / "replayed").iterdir()] == []
    resumed = AutoRanker(trials=5, folds=2, store=str(tmp_path / "hurried")).fit(DATA)
    np.testing.assert_array_equal(resumed.predict(DATA), fresh.predict(DATA))
    assert resumed.quality_ == fresh.quality_
