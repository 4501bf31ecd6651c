"""Choosing settings: on validation data alone, replayed from the store, drawn from the space."""

import sys

import numpy as np
import pytest

from ordino import Dataset, synthetic, write_letor
from ordino.cli import main
from ordino.data.folds import Fold, Folds
from ordino.errors import OrdinoError, ParameterError
from ordino.experiment.plan import Entry, Plan
from ordino.experiment.plan.plan import repeat_seeds
from ordino.experiment.plan.ranker_entry import default_space, known_parameters
from ordino.experiment.run import run, task, tuning
from ordino.experiment.run.task import brief_params
from ordino.experiment.store import Store
from ordino.parameters import Range
from ordino.rankers import RANKERS
from ordino.testing import easy_data

GRID = {"ranker": "single-feature", "grid": {"feature": [1, 2]}}


def two_faced():
    """A fold in which the first feature is right on validation data and the second on test data."""
    both, first, second = [[1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
    return Folds(["Fold1"], lambda _: Fold("Fold1", *(Dataset(X, [1, 0], ["a", "a"]) for X in (both, first, second))))


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store.sqlite"


def tune(store, entry, *, data=None, **changes):
    plan = Plan(data={"data": two_faced() if data is None else data}, rankers=[entry], measures=["mrr"], **changes)
    return run(plan, store, n_jobs=1)


def test_a_grid_is_decided_on_validation_data_even_where_the_test_data_says_otherwise(store):
    (trial,) = tune(store, GRID)
    assert trial.params == {"feature": 1}
    assert trial.valid == {"mrr": 1.0}
    assert trial.test == {"mrr": 0.5}
    assert trial.label == "SingleFeature, tuned"


def test_settings_are_tried_without_a_look_at_the_test_data(store):
    tune(store, GRID)
    with Store(store) as opened:
        tried = opened.trials(tuning=True)
    assert [(trial.params["feature"], trial.valid["mrr"]) for trial in tried] == [(1, 1.0), (2, 0.5)]
    assert all(trial.test == {} and trial.per_query == {} for trial in tried)


def test_a_measure_of_errors_is_made_small(store):
    (trial,) = tune(store, GRID, select="pairwise_error")
    assert trial.params == {"feature": 1}
    assert trial.valid["pairwise_error"] == 0.0


def search(entry, *values):
    """What a search asks for, and what it chooses when it is told these values."""
    steps, asked = tuning._settings(entry, 0), []
    wanted = next(steps)
    left = list(values)
    while True:
        asked += wanted
        try:
            wanted = steps.send([left.pop(0) for _ in wanted])
        except StopIteration as end:
            return asked, end.value


def test_a_trial_says_which_metric_chose_its_setting(store):
    """That of the search, whatever the ranker itself would choose by."""
    (trial,) = tune(store, {**GRID, "params": {"metric": "map"}})
    assert trial.chosen_by == "mrr"


def test_the_first_of_equal_settings_is_chosen():
    asked, chosen = search(Entry(**GRID), 0.5, 0.5)
    assert chosen == asked[0] == {"feature": 1}


def test_the_best_of_the_drawn_settings_is_chosen_and_not_the_last():
    entry = Entry(ranker="linear-regression-ranker", trials=3, space={"alpha": {"low": 0.1, "high": 10.0}})
    asked, chosen = search(entry, 0.25, 0.75, 0.5)
    assert chosen == asked[1]
    assert len({params["alpha"] for params in asked}) == 3


def test_a_grid_may_be_a_list_of_tables(store):
    """As in scikit-learn's ParameterGrid: the combinations of each table, and no others."""
    entry = Entry(ranker="ranknet", grid=[{"hidden": [[9]], "l2": [0.1, 1.0]}, {"hidden": [[3]]}])
    asked, _ = search(entry, 1, 2, 3)
    assert asked == [{"hidden": [9], "l2": 0.1}, {"hidden": [9], "l2": 1.0}, {"hidden": [3]}]
    assert entry.n_settings == 3
    assert "give a table of parameters, or a list" in Entry(ranker="ranknet", grid=[3]).problems()[0]


def test_the_best_setting_is_repeated_with_every_seed(store):
    entry = {"ranker": "ranknet", "params": {"epochs": 1}, "grid": {"hidden": [[2], [3]]}}
    trials = tune(store, entry, data=easy_data(n_queries=6), folds=3, repeats=2, seed=5)
    assert [trial.seed for trial in trials if trial.fold == "Fold1"] == repeat_seeds(5, 2)
    assert len({trial.params["hidden"][0] for trial in trials if trial.fold == "Fold1"}) == 1
    with Store(store) as opened:
        assert {trial.seed for trial in opened.trials(tuning=True)} == {5}


def test_optuna_draws_from_the_space_and_the_same_again(store, tmp_path):
    entry = {
        "ranker": "linear-regression-ranker",
        "trials": 6,
        "params": {"scaling": "minmax"},
        "space": {"alpha": {"low": 0.1, "high": 10.0, "log": True}, "scaling": ["quantile"]},
    }
    first = tune(store, entry, data=easy_data(n_queries=6), folds=3)
    with Store(store) as opened:
        tried = [trial.params for trial in opened.trials(tuning=True) if trial.fold == "Fold1"]
        begun = {trial.fold: trial.params["alpha"] for trial in reversed(opened.trials(tuning=True))}
    assert len(tried) == 6
    assert len(set(begun.values())) == 3, "every fold draws for itself"
    assert all(0.1 <= params["alpha"] <= 10 and params["scaling"] == "minmax" for params in tried)
    again = tune(tmp_path / "again.sqlite", entry, data=easy_data(n_queries=6), folds=3)
    assert [trial.params for trial in again] == [trial.params for trial in first]
    other = tune(tmp_path / "other.sqlite", entry | {"trials": 1}, data=easy_data(n_queries=6), folds=3, seed=1)
    assert other[0].params["alpha"] != tried[0]["alpha"]


def test_a_search_goes_on_where_it_was_stopped(store, monkeypatch):
    entry = {"ranker": "linear-regression-ranker", "space": {"alpha": {"low": 0.1, "high": 10.0}}}
    data = easy_data(n_queries=6)
    tune(store, entry | {"trials": 3}, data=data, folds=3)
    with Store(store) as opened:
        before = [trial.key for trial in opened.trials(tuning=True)]
    made, fit = [], task._fit
    monkeypatch.setattr(task, "_fit", lambda one, *, tuning: made.append(tuning) or fit(one, tuning=tuning))
    tune(store, entry | {"trials": 5}, data=data, folds=3)
    assert sum(made) == (5 - 3) * 3
    with Store(store) as opened:
        after = [trial.key for trial in opened.trials(tuning=True)]
    assert len(before) == 9
    assert len(after) == 15
    assert after[:9] == before


@pytest.mark.parametrize("name", RANKERS)
def test_the_default_space_fits_every_ranker(store, name):
    """One trial of a search, after a rehearsal of every value that the space holds."""
    made = Entry(ranker=name).make({})
    if not any(known.space and value is not None for _, known, value in known_parameters(made)):
        with pytest.raises(ParameterError, match="has no parameter that is searched by default"):
            default_space(made)
        return
    entry = {"ranker": name, "trials": 1, "params": brief_params(made)}
    trials = tune(store, entry, data=easy_data(n_queries=9), folds=3)
    assert len(trials) == 3


def test_whole_numbers_and_lists_are_drawn_as_such(store):
    entry = {
        "ranker": "ranknet",
        "params": {"learning_rate": 0.1},
        "trials": 4,
        "space": {"epochs": {"low": 1, "high": 3}, "hidden": [[], [2, 2]]},
    }
    tune(store, entry, data=easy_data(n_queries=3), folds=3)
    with Store(store) as opened:
        tried = [trial.params for trial in opened.trials(tuning=True)]
    assert {type(params["epochs"]) for params in tried} == {int}
    assert {tuple(params["hidden"]) for params in tried} <= {(), (2, 2)}


@pytest.mark.parametrize("log", [True, False])
def test_a_range_is_drawn_evenly_or_by_its_logarithm(log):
    class Asked:
        def suggest_int(self, name, low, high, *, log):
            return "int", name, low, high, log

        def suggest_float(self, name, low, high, *, log):
            return "float", name, low, high, log

    assert tuning.draw(Asked(), "a", Range(1, 8, log)) == ("int", "a", 1, 8, log)
    for low, high in ((0.5, 8), (1, 8.5), (0.5, 8.5)):
        assert tuning.draw(Asked(), "a", Range(low, high, log)) == ("float", "a", low, high, log)


def test_validation_data_that_says_nothing_is_told(store):
    flat = Dataset([[1.0], [0.0]], [0, 0], ["a", "a"])
    folds = Folds(
        ["Fold1"], lambda _: Fold("Fold1", two_faced()[0].train, flat.replace(X=np.eye(2)), two_faced()[0].test)
    )
    with pytest.raises(OrdinoError, match="no validation query counts for mrr in profile 'directranker'"):
        tune(store, GRID, data=folds, profile="directranker")


def test_without_optuna_the_extra_is_named(store, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    plan = Plan(data={"data": two_faced()}, rankers=[{"ranker": "rank-svm", "trials": 2}], measures=["mrr"])
    with pytest.raises(OrdinoError, match=r"pip install 'ordino\[search\]'"):
        run(plan, store, n_jobs=1)


def ordino(*words):
    """Run a command in this process; the exit code."""
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code or 0


def test_the_command_takes_ranges_lists_and_fixed_parameters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_letor(synthetic("mq", queries=3, seed=1), "data.txt")
    words = ["data.txt", "-r", "linear-regression-ranker", "--trials", 2, "--folds", 3, "--n-jobs", 1, "-m", "map"]
    space = ["--space", "alpha=1..100", "--space", "scaling=minmax,zscore", "-p", "metric=mrr"]
    assert ordino("search", *words, *space, "-o", "s.sqlite") == 0
    told = [line.split("\t")[:3] for line in capsys.readouterr().out.splitlines()[-4:]]
    with Store("s.sqlite") as opened:
        tried, chosen = [trial.params for trial in opened.trials(tuning=True)], opened.trials()
    assert told[0] == ["data", "fold", "map on validation"]
    assert told[1:] == [["data, 3 folds", trial.fold, f"{trial.valid['map']:.4f}"] for trial in chosen]
    assert all(trial.valid["map"] != trial.test["map"] for trial in chosen)
    assert len(tried) == 6
    assert all(1 <= params["alpha"] <= 100 and params["metric"] == "mrr" for params in tried)
    assert {params["scaling"] for params in tried} <= {"minmax", "zscore"}


def test_the_command_tells_the_parameters_of_the_ranker_it_searched(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_letor(synthetic("mq", queries=3, seed=1), "data.txt")
    common = ["data.txt", "--trials", 1, "--folds", 3, "--n-jobs", 1, "-o", "s.sqlite"]
    first = ["search", *common, "-r", "linear-regression-ranker", "-m", "map", "--space", "alpha=1..9"]
    ordino(*first)
    ordino("search", *common, "-r", "single-feature", "-m", "mrr", "--space", "feature=[2,3]")
    capsys.readouterr()
    assert ordino(*first) == 0
    assert [line.split("\t")[3][:6] for line in capsys.readouterr().out.splitlines()[-3:]] == ["alpha="] * 3


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--trials", "0"], 2, "--trials must be 1 or more"),
        (["--space", "alpha"], 2, "'alpha' is not PARAMETER=VALUE"),
        (["--space", "alpha=2..1"], 1, "low must be less than high"),
    ],
)
def test_what_goes_wrong_in_search_is_one_sentence(tmp_path, monkeypatch, capsys, words, code, sentence):
    monkeypatch.chdir(tmp_path)
    write_letor(synthetic("mq", queries=3, seed=1), "data.txt")
    assert ordino("search", "data.txt", "-r", "linear-regression-ranker", "--folds", 3, *words) == code
    assert sentence in " ".join(capsys.readouterr().err.replace("│", " ").split())
