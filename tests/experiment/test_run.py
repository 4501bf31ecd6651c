"""Runs: the same trials whatever the number of processes, killed and resumed, two at once, and what fails."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from itertools import count, product
from types import SimpleNamespace

import numpy as np
import pytest

from ordino import Dataset, synthetic, write_letor
from ordino.backends.local import LocalProcesses
from ordino.cli import main
from ordino.data.folds import Fold, Folds, make_folds
from ordino.errors import OrdinoError, ParameterError
from ordino.experiment.plan import Plan
from ordino.experiment.plan.plan import repeat_seeds
from ordino.experiment.report.board import make_boards
from ordino.experiment.report.made import settings_of
from ordino.experiment.run import driver as runner
from ordino.experiment.run import run, task
from ordino.experiment.run.task import QUERIES, Task, weights_of
from ordino.experiment.store import Store, StoreView
from ordino.experiment.store.trial import QUERY_COUNTS
from ordino.metrics import evaluate
from ordino.model_file import load
from ordino.progress import Steps
from ordino.rankers.baselines import LinearRegressionRanker, RandomRanker
from ordino.rankers.rankde import RankDE
from ordino.rankers.ranknet import RankNet
from ordino.testing import easy_data
from trials import interrupted_at

REPEATS = 100
LONG_PLAN = """
from ordino.experiment.plan import Plan
from ordino.experiment.run import run

if __name__ == "__main__":
    run(Plan(data="data.txt", folds=3, repeats=REPEATS, rankers=["random-ranker"]), "store.sqlite", n_jobs=2)
"""


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_letor(synthetic("mq", queries=9, seed=1), "data.txt")
    (tmp_path / "long.py").write_text(LONG_PLAN.replace("REPEATS", str(REPEATS)))
    return tmp_path


def small_plan(**changes):
    return Plan(
        **(
            {
                "data": {"easy": easy_data(n_queries=9)},
                "rankers": ["linear-regression-ranker", {"ranker": "random-ranker", "label": "chance"}],
                "measures": ["ndcg@10", "map"],
                "repeats": 2,
                "folds": 3,
            }
            | changes
        )
    )


def test_every_ranker_meets_every_fold_and_chance_is_repeated(store):
    trials = run(small_plan(), store, n_jobs=1)
    assert sorted((trial.label, trial.fold, trial.seed) for trial in trials) == sorted(
        [("LinearRegressionRanker", f"Fold{i}", 0) for i in (1, 2, 3)]
        + [("chance", f"Fold{i}", seed) for i in (1, 2, 3) for seed in repeat_seeds(0, 2)]
    )


def test_chance_inside_a_ranker_is_repeated_too(store):
    entry = {"ranker": "nested-ranker", "params": {"ranker": "random-ranker", "sizes": [None]}}
    trials = run(small_plan(rankers=[entry]), store, n_jobs=1)
    assert sorted((trial.fold, trial.seed) for trial in trials) == sorted(
        (f"Fold{i}", seed) for i in (1, 2, 3) for seed in repeat_seeds(0, 2)
    )
    assert len({trial.test["map"] for trial in trials}) == 6


def test_a_trial_is_what_training_by_hand_gives(store):
    (fold,) = make_folds(easy_data(n_queries=9), 3)[:1]
    plan = small_plan(
        data=Folds(["Fold1"], lambda _: fold), profile="directranker", rankers=["linear-regression-ranker"]
    )
    (trial,) = run(plan, store, n_jobs=1)
    ranker = LinearRegressionRanker(profile="directranker").fit(fold.train, valid=fold.valid)
    found = evaluate(fold.test, ranker.predict(fold.test), metrics=["ndcg@10", "map"], profile="directranker")
    assert trial.test == dict(found)
    np.testing.assert_array_equal(trial.per_query["map"], found.per_query["map"])
    assert trial.query_ids.tolist() == fold.test.query_ids.tolist()
    assert trial.query_counts == {name: found.to_dict()[name] for name in QUERY_COUNTS}
    assert (
        trial.valid["map"]
        == evaluate(fold.valid, ranker.predict(fold.valid), metrics="map", profile="directranker")["map"]
    )
    assert trial.feature_weights == dict(ranker.feature_weights())
    assert trial.train_seconds > 0
    assert "numpy" in trial.versions


def test_repeats_that_are_trained_together_share_the_time(store, monkeypatch):
    ticks = count()
    monkeypatch.setattr(task, "time", SimpleNamespace(perf_counter=lambda: 8.0 * next(ticks)))
    rankers = [{"ranker": "ranknet", "params": {"epochs": 1, "hidden": 2}}, "random-ranker"]
    trials = run(small_plan(rankers=rankers, repeats=2), store, n_jobs=1)
    assert {(trial.label, trial.train_seconds) for trial in trials} == {("RankNet", 4.0), ("RandomRanker", 8.0)}
    assert {trial.score_seconds for trial in trials} == {8.0}


def test_the_measure_and_profile_of_the_plan_reach_the_ranker():
    one = Task(
        experiment="", dataset="", fold="", data="", files={}, measures=("map",), profile="letor4",
        entry=small_plan(rankers=["rank-aggregation"]).entries()[0], select="map", seeds=(7,),
        params={"ranker": "ranknet", "ranker__metric": "mrr"},
    )  # fmt: skip
    ranker = one.ranker()
    assert (ranker.seed, ranker.n_jobs) == (7, 1)
    assert (ranker.ranker.metric, ranker.ranker.profile) == ("mrr", "letor4")  # what the plan sets by hand stays


@pytest.mark.parametrize("fixed", [{"params": {"seed": 5}}, {"grid": {"seed": [5, 6]}}])
def test_a_seed_that_the_plan_fixes_is_not_repeated(store, fixed):
    plan = small_plan(rankers=[{"ranker": "random-ranker"} | fixed], repeats=3)
    assert [trial.fold for trial in run(plan, store, n_jobs=1)] == ["Fold1", "Fold2", "Fold3"]


def test_a_second_run_makes_nothing_again(store, monkeypatch):
    rankers = ["random-ranker", {"ranker": "linear-regression-ranker", "grid": {"alpha": [1.0, 9.0]}}]
    before = run(small_plan(rankers=rankers), store, n_jobs=1)
    monkeypatch.setattr(task, "_fit", None)  # what the store would hide: it keeps the first of a key
    after = run(small_plan(rankers=rankers, measures=["NDCG@10", "AP"]), store, n_jobs=1)  # the same by other names
    assert [(trial.key, trial.train_seconds) for trial in after] == [(t.key, t.train_seconds) for t in before]


@pytest.mark.parametrize(
    "changes",
    [
        {"data": {"easy": easy_data(n_queries=9, seed=1)}},
        {"measures": ["map"]},
        {"profile": "letor4"},
        {"select": "map"},
        {"name": "other"},
        {"rankers": [{"ranker": "linear-regression-ranker", "params": {"alpha": 2.0}}]},
        {"rankers": [{"ranker": "single-feature", "label": "LinearRegressionRanker"}]},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_changed_plan_makes_new_trials(store, changes):
    one = {"rankers": ["linear-regression-ranker"]}
    run(small_plan(**one), store, n_jobs=1)
    trials = run(small_plan(**(one | changes)), store, n_jobs=1)
    assert {trial.experiment for trial in trials} == {changes.get("name", "bench")}
    with Store(store) as both:
        assert len(both) == 6


@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_a_change_in_any_part_of_a_fold_makes_a_new_trial(store, part):
    fold = make_folds(easy_data(n_queries=9), 3)[0]
    data = getattr(fold, part)
    for one in (fold, fold._replace(**{part: data.replace(y=data.y[::-1])})):
        plan = small_plan(data={"easy": Folds(["Fold1"], lambda _, one=one: one)}, rankers=["linear-regression-ranker"])
        run(plan, store, n_jobs=1)
    with Store(store) as both:
        assert len(both) == 2
    [board] = make_boards(StoreView(store))
    assert "1 trial was made on other data of this name, and not counted here." in board.notes


def test_only_the_trials_of_the_plan_are_read(store):
    run(small_plan(rankers=["single-feature"]), store, n_jobs=1)
    with closing(sqlite3.connect(store)) as file, file:
        file.execute("UPDATE trials SET history = 'not JSON'")
    assert len(run(small_plan(rankers=["linear-regression-ranker"]), store, n_jobs=1)) == 3


def test_another_version_makes_its_own_trials(store, monkeypatch):
    plan = small_plan(rankers=["linear-regression-ranker"])
    run(plan, store, n_jobs=1)
    monkeypatch.setattr(task, "installed_versions", lambda: {"ordino": "99.0"})
    assert {trial.versions["ordino"] for trial in run(plan, store, n_jobs=1)} == {"99.0"}


def test_another_name_is_another_trial(store):
    data = easy_data(n_queries=9)
    same = [{"ranker": "linear-regression-ranker", "label": label} for label in "AB"]
    trials = run(small_plan(data={"one": data, "two": data}, rankers=same), store, n_jobs=1)
    assert {(trial.dataset, trial.label) for trial in trials} == set(product(("one, 3 folds", "two, 3 folds"), "AB"))
    assert len(trials) == 2 * 2 * 3


def test_processes_make_the_same_trials(store, tmp_path):
    plan = small_plan(rankers=["random-ranker", {"ranker": "linear-regression-ranker", "grid": {"alpha": [1.0, 9.0]}}])
    alone = run(plan, store, n_jobs=1)
    before = dict(os.environ)
    together = {trial.key: trial for trial in run(plan, tmp_path / "other.sqlite", n_jobs=2)}
    assert dict(os.environ) == before
    assert len(together) == len(alone) == 9
    for trial in alone:
        np.testing.assert_array_equal(together[trial.key].per_query["map"], trial.per_query["map"])


def test_folds_without_a_validation_part_are_measured_too(store):
    folds = make_folds(easy_data(n_queries=6), 3, valid=False)
    (trial, *_) = run(small_plan(data={"easy": folds}, rankers=["prank"]), store, n_jobs=1)
    assert (trial.valid, trial.chosen_by) == ({}, "")
    with pytest.raises(ParameterError, match="easy, Fold1: there is no validation part to measure;"):
        run(small_plan(data={"easy": folds}, parts=["valid"]), store, n_jobs=1)
    grid = [{"ranker": "linear-regression-ranker", "grid": {"alpha": [1.0, 2.0]}}]
    with pytest.raises(ParameterError, match="easy, Fold1: there is no validation part to tune"):
        run(small_plan(data={"easy": folds}, rankers=grid), store, n_jobs=1)


@pytest.fixture
def broken(monkeypatch):
    """A ranker that fails in a way that nobody foresaw."""

    def fails(*_):
        raise TypeError("odd")

    monkeypatch.setattr(RandomRanker, "_fit", fails)


def test_what_fails_is_told_and_the_rest_is_kept(store, broken):
    plan = small_plan(
        rankers=["linear-regression-ranker", "random-ranker"],
        data={"easy": make_folds(easy_data(n_queries=9), 3)[:1]},
        repeats=1,
    )
    with pytest.raises(OrdinoError, match=r"a trial failed.*\n- RandomRanker on Fold1 of easy, seed 0: TypeError"):
        run(plan, store, n_jobs=1)
    with Store(store) as kept:
        assert [trial.label for trial in kept.trials()] == ["LinearRegressionRanker"]


def test_what_did_not_fail_is_shown(folder, capsys, broken):
    (folder / "plan.toml").write_text(
        'data = "data.txt"\nfolds = 3\n[[rankers]]\nranker = "random-ranker"\n[[rankers]]\nranker = "single-feature"\n'
    )
    with pytest.raises(SystemExit) as stop:
        main(["bench", "--plan", "plan.toml", "--n-jobs", "1"])
    assert stop.value.code == 1
    shown = capsys.readouterr()
    assert "SingleFeature" in shown.out
    assert "3 trials failed, all others are in ordino.sqlite:\n- RandomRanker on Fold1" in shown.err


def test_bench_shows_what_it_was_asked_for_and_not_what_else_is_in_the_store(folder, capsys, broken):
    def shown(ranker):
        with pytest.raises(SystemExit):
            main(["bench", "data.txt", "--rankers", ranker, "--folds", "3", "--n-jobs", "1"])
        return capsys.readouterr().out

    assert "SingleFeature" in shown("single-feature")
    second = shown("linear-regression-ranker")
    assert "LinearRegressionRanker" in second
    assert "SingleFeature" not in second
    assert shown("random-ranker") == ""  # all of it failed


def test_another_number_of_folds_is_other_data(store):
    data = easy_data(n_queries=9)
    for folds in (4, 3):
        run(small_plan(data={"easy": data}, folds=folds, rankers=["linear-regression-ranker"]), store, n_jobs=1)
    boards = make_boards(StoreView(store))
    assert {board.dataset: board.lines[0].n_trials for board in boards} == {"easy, 4 folds": 4, "easy, 3 folds": 3}


def test_wrong_values_of_parameters_are_told_before_anything_runs(store):
    plan = small_plan(
        rankers=[
            "random-ranker",
            {"ranker": "ranknet", "params": {"epochs": 0}},
            {"ranker": "rank-aggregation", "params": {"ranker": "ranknet", "ranker__epochs": 10**9, "method": "sum"}},
            {"ranker": "linear-regression-ranker", "grid": {"alpha": [1.0, -1.0, -2.0]}},
            {"ranker": "rank-svm", "trials": 2, "space": {"C": {"low": -1.0, "high": 1.0}}},
            {"ranker": "directranker", "trials": 2, "space": {"dropout": {"low": 0.5, "high": 1.5}}},
            {"ranker": "single-feature", "params": {"feature": 5}},
        ],
    )
    with pytest.raises(ParameterError, match="the plan has 7 problems:") as refused:
        run(plan, store, n_jobs=1)
    told = str(refused.value)
    for sentence in (
        "- RankNet: epochs=0; it must be a whole number, 1 or more",
        "- RankAggregation: unknown method 'sum'",
        "- LinearRegressionRanker, tuned: alpha=-1.0; it must be",
        "- LinearRegressionRanker, tuned: alpha=-2.0; it must be",
        "- RankSVM, tuned: C=-1.0; it must be",
        "- DirectRanker, tuned: dropout=1.5; it must be",
        "- SingleFeature: feature=5; it must be a whole number, from 1 to 4",
    ):
        assert sentence in told
    with Store(store) as opened:
        assert len(opened) == 0


@pytest.mark.parametrize("order", [1, -1])
def test_values_are_tried_on_every_data_set(store, order):
    wide = easy_data(n_queries=9)
    data = {"wide": wide, "narrow": Dataset(wide.X[:, :3], wide.y, wide.qid)}
    plan = small_plan(
        data=dict([*data.items()][::order]), rankers=[{"ranker": "single-feature", "params": {"feature": 4}}]
    )
    with pytest.raises(ParameterError, match="SingleFeature: feature=4; it must be a whole number, from 1 to 3"):
        run(plan, store, n_jobs=1)


def test_a_rehearsal_is_brief_and_refuses_nothing_else(store):
    endless = {"ranker": "ranknet", "params": {"epochs": 10**9, "patience": None}}
    two = Dataset([[1.0], [0.0]], [1, 0], ["a", "a"])
    folds = Folds(["Fold1"], lambda _: Fold("Fold1", two, None, two))
    tasks = list(runner._tasks(small_plan(data={"few": folds}, rankers=[endless]), store.parent))
    assert task.find_problems(tasks) == []


def test_an_error_that_nobody_foresaw_is_told_with_its_kind(store, broken):
    with pytest.raises(OrdinoError, match=r"6 trials failed.*(\n- .*TypeError: odd){6}"):
        run(small_plan(rankers=["random-ranker"]), store, n_jobs=1)


def test_repeats_that_fail_together_are_counted_one_by_one(store, monkeypatch):
    def fail(task):
        raise ValueError("no luck")

    monkeypatch.setattr(runner, "measure_setting", fail)
    with pytest.raises(OrdinoError, match=r"9 trials failed.*(\n- .*no luck){6}") as told:
        run(small_plan(rankers=[{"ranker": "ranknet", "repeats": 2}, "single-feature"]), store, n_jobs=1)
    assert told.value.trials == []


def test_ctrl_c_keeps_what_was_done(store, monkeypatch, capsys):
    monkeypatch.setattr(runner, "measure_setting", interrupted_at(3, runner.measure_setting)[0])
    with pytest.raises(KeyboardInterrupt):
        run(small_plan(), store, n_jobs=1)
    assert n_trials(store) == 2
    assert "stopped at 2 of 9; what is done is kept" in capsys.readouterr().err


def test_a_training_that_ctrl_c_cut_short_is_no_trial(store, monkeypatch, capsys):
    fits = []

    def cut_short(self, data, valid):
        if data.n_queries <= QUERIES:
            return  # the rehearsal
        fits.append(self)
        with Steps("training", 3) as steps:
            for step in steps:
                if step == 1 and len(fits) == 2:
                    signal.raise_signal(signal.SIGINT)  # the ranker keeps the best so far, as rankers do

    monkeypatch.setattr(RandomRanker, "_fit", cut_short)
    plan = small_plan(rankers=["random-ranker"], data={"easy": easy_data(n_queries=15)})
    with pytest.raises(KeyboardInterrupt):
        run(plan, store, n_jobs=1)
    assert n_trials(store) == 1
    assert len(fits) == 2
    assert "trials: stopped at 1 of 6" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_workers_start_leaves_no_traceback(folder):
    process = subprocess.Popen([sys.executable, "long.py"], stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for(lambda: len(workers_of(process.pid)) >= 3)  # two workers and multiprocessing's own
    time.sleep(0.5)  # they load the library now
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=120)[1]
    assert process.returncode != 0
    assert "SpawnProcess" not in errors
    assert errors.count("Traceback") <= 1  # a script's own


def test_ctrl_c_while_settings_are_chosen_ends_the_run(store, monkeypatch, capsys):
    grid = [{"ranker": "linear-regression-ranker", "grid": {"alpha": [1.0, 2.0]}}]
    monkeypatch.setattr(runner, "try_setting", interrupted_at(2, runner.try_setting)[0])
    with pytest.raises(KeyboardInterrupt):
        run(small_plan(rankers=[*grid, "random-ranker"]), store, n_jobs=1)
    assert "settings: stopped at 1 of 6; what is done is kept" in capsys.readouterr().err
    assert n_trials(store) == 1  # rankers that have nothing to choose are not trained any more


def test_a_worker_that_dies_is_told():
    with pytest.raises(OrdinoError, match="a worker process died"):
        list(LocalProcesses(1).map(os._exit, [9]))


def wait_for(holds, seconds=120):
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.02)


def n_trials(path):
    if not path.exists():
        return 0
    with Store(path) as opened:
        return len(opened)


def workers_of(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on(folder):
    path = folder / "store.sqlite"
    first = subprocess.Popen([sys.executable, "long.py"])
    wait_for(lambda: n_trials(path) >= 3)
    workers = workers_of(first.pid)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert workers
    wait_for(lambda: not any(map(is_alive, workers)))  # nobody is left behind
    with Store(path) as store:
        before = {trial.key: trial for trial in store.trials()}
    assert 3 <= len(before) < 3 * REPEATS
    subprocess.run([sys.executable, "long.py"], check=True)
    with Store(path) as store:
        after = {trial.key: trial for trial in store.trials()}
    assert len(after) == 3 * REPEATS
    assert all(after[key].train_seconds == trial.train_seconds for key, trial in before.items())  # kept
    assert len({(trial.fold, trial.seed) for trial in after.values()}) == 3 * REPEATS
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.slow
def test_two_runs_on_one_store_do_not_disturb_each_other(folder):
    runs = [subprocess.Popen([sys.executable, "long.py"]) for _ in range(2)]
    assert [one.wait() for one in runs] == [0, 0]
    with Store(folder / "store.sqlite") as store:
        trials = store.trials()
    assert len(trials) == len({(trial.fold, trial.seed) for trial in trials}) == 3 * REPEATS
    with closing(sqlite3.connect(folder / "store.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_histories_are_kept(store):
    trial, *_ = run(small_plan(rankers=[{"ranker": "ranknet", "params": {"epochs": 2, "hidden": []}}]), store, n_jobs=1)
    assert [set(row) for row in trial.history] == [{"epoch", "error", "rate", "valid"}] * 2
    trial, *_ = run(small_plan(rankers=["random-ranker"]), store, n_jobs=1)
    assert trial.history == []


def test_rankers_tell_their_weights():
    data, valid = easy_data(n_queries=4), easy_data(n_queries=4, seed=1)
    network = RankNet(hidden=(), epochs=2).fit(data, valid=valid)
    assert weights_of(network) is None
    evolved = RankDE(generations=3, population=5).fit(data)
    assert set(weights_of(evolved)) == {"f1", "f2", "f3", "f4"}


def ordino(*words):
    """Run a command in this process; the exit code."""
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code or 0


def test_bench_takes_parameters_and_grids_for_each_ranker(folder, capsys):
    words = ["data.txt", "-r", "random-ranker,linear-regression-ranker", "--folds", 3, "--n-jobs", 1, "-m", "map"]
    grid = ["--grid", "linear-regression-ranker.alpha=1.0,10.0"]
    assert ordino("bench", *words, *grid, "-p", "linear-regression-ranker.scaling=minmax", "-o", "a.sqlite") == 0
    printed = capsys.readouterr().out
    assert "LinearRegressionRanker, tuned" in printed
    assert "6 trials in a.sqlite" in printed
    with Store("a.sqlite") as opened:
        tuned = opened.trials()[-1].params
    assert tuned["scaling"] == "minmax"
    assert tuned["alpha"] in (1.0, 10.0)


def test_bench_carries_out_a_plan_from_a_file(folder, capsys):
    (folder / "plan.toml").write_text('data = "data.txt"\nrankers = ["random-ranker"]\nfolds = 3\n')
    assert ordino("--seed", 3, "--quiet", "bench", "--plan", "plan.toml", "--n-jobs", 1) == 0
    assert "3 trials in ordino.sqlite" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["data.txt"], 1, "there is no ranker; choose from"),
        ([], 2, "give DATA and --rankers, or --plan"),
        (["data.txt", "--plan", "plan.toml"], 2, "give DATA and --rankers, or --plan"),
        (["data.txt", "-r", "prank", "-p", "epochs=3"], 2, "'epochs=3' is not RANKER.PARAMETER=VALUE"),
        (["data.txt", "-r", "prank", "-p", "ranknet.epochs=3"], 2, "which is not among --rankers"),
    ],
)
def test_what_goes_wrong_in_bench_is_one_sentence(folder, capsys, words, code, sentence):
    assert ordino("bench", *words) == code
    assert sentence in " ".join(capsys.readouterr().err.replace("│", " ").split())


# repeats, seeds, seconds, models


def same_trials(one, other):
    """Whether two stores hold the same trials but for times."""
    found = []
    for path in (one, other):
        with Store(path) as opened:
            found.append({trial.key: trial for trial in opened.trials()})
    assert found[0].keys() == found[1].keys() != set()
    for key, trial in found[0].items():
        twin = found[1][key]
        assert (trial.seed, trial.test, trial.valid, trial.history) == (twin.seed, twin.test, twin.valid, twin.history)
        np.testing.assert_array_equal(trial.per_query["map"], twin.per_query["map"])


def test_repeats_that_train_together_are_the_trials_of_single_runs(store, tmp_path, monkeypatch):
    entry = {"ranker": "deepnet", "params": {"hidden": [4], "epochs": 3, "n_pairs": 50, "n_valid_pairs": 20}}
    plan, sizes, real = small_plan(rankers=[entry], repeats=3, measures=["map"]), [], runner.measure_setting
    monkeypatch.setattr(runner, "measure_setting", lambda one: sizes.append(len(one.seeds)) or real(one))
    run(plan, store, n_jobs=1)
    assert sizes == [3, 3, 3]  # a task for each fold
    for seed in repeat_seeds(plan.seed, 3):
        run(replace(plan, repeats=1, seed=seed), tmp_path / "single.sqlite", n_jobs=1)
    same_trials(store, tmp_path / "single.sqlite")


def test_of_repeats_only_the_missing_ones_are_made(store):
    entry = {"ranker": "deepnet", "params": {"hidden": [4], "epochs": 2, "n_pairs": 50, "n_valid_pairs": 20}}
    plan = small_plan(rankers=[entry], measures=["map"])
    first = run(replace(plan, repeats=1), store, n_jobs=1)
    both = run(replace(plan, repeats=2), store, n_jobs=1)
    assert len(both) == 6
    assert {one.key: one.train_seconds for one in first}.items() <= {one.key: one.train_seconds for one in both}.items()


def test_an_entry_may_have_repeats_of_its_own(store):
    rankers = ["random-ranker", {"ranker": "random-ranker", "label": "once", "repeats": 1}]
    trials = run(small_plan(rankers=rankers, repeats=3), store, n_jobs=1)
    assert [sum(one.label == label for one in trials) for label in ("RandomRanker", "once")] == [9, 3]


def test_a_preset_starts_from_the_paper_and_keeps_its_metric(store):
    published = {"ranker": "ranknet", "preset": "published", "params": {"hidden": [], "epochs": 1}}
    [one, *_] = runner._tasks(small_plan(rankers=[published], profile="letor4"), store.parent)
    ranker = replace(one, params=one.entry.params).ranker()
    assert (ranker.metric, ranker.profile) == ("pairwise_accuracy", "standard")
    assert (ranker.initializer, ranker.epochs) == ("uniform", 1)
    with pytest.raises(ParameterError, match="random-ranker: there is no preset 'published'; leave it out"):
        small_plan(rankers=[{"ranker": "random-ranker", "preset": "published"}]).check()


def test_seeds_of_repeats_never_meet_those_of_the_next_seed():
    seeds = [seed for first in range(50) for seed in repeat_seeds(first, 30)]
    assert len(set(seeds)) == len(seeds)


def test_other_parts_are_stored_on_demand(store):
    plan = small_plan(rankers=["linear-regression-ranker"], parts=["train", "valid"])
    for trial in run(plan, store, n_jobs=1):
        assert set(trial.parts) == {"train", "valid"}
        assert trial.parts["valid"]["map"].mean() == pytest.approx(trial.valid["map"])
        assert len(trial.parts["train"]["map"]) == 3
    with pytest.raises(ParameterError, match=r"parts is \['tests'\]; give a list of 'train' and 'valid'"):
        small_plan(parts=["tests"]).check()


def test_models_are_kept_beside_the_store(store, tmp_path):
    plan = small_plan(rankers=["linear-regression-ranker"])
    run(plan, store, n_jobs=1)
    trials = run(plan, store, n_jobs=1, models=tmp_path / "models")  # trained again: the models were not there
    fold = make_folds(easy_data(n_queries=9), 3)[0]
    model = load(runner.model_path(tmp_path / "models", trials[0].key))
    expected = evaluate(fold.test, model.predict(fold.test), metrics="map")["map"]
    assert trials[0].test["map"] == expected
    assert len(list((tmp_path / "models").iterdir())) == 3


@pytest.mark.slow
def test_a_first_trial_takes_no_longer_than_its_twin(store, tmp_path):
    """In a fresh process, loading and compiling (here with an empty cache) come before the clock starts."""
    code = (
        "from dataclasses import replace\nfrom ordino.data.folds import make_folds\n"
        "from ordino.experiment.plan import Plan\nfrom ordino.experiment.run import run\n"
        "from ordino.testing import easy_data\nfrom ordino.experiment.run import driver\n"
        "driver.find_problems = lambda tasks: []\n"  # a worker process has not seen the driver's
        "twin = {'ranker': 'ranknet', 'params': {'epochs': 30, 'hidden': [8]}}\n"
        "data = {'easy': make_folds(easy_data(n_queries=30), 3)[:1]}\n"
        "plan = Plan(data=data, rankers=[twin | {'label': 'A'}, twin | {'label': 'B'}])\n"
        f"first, second = run(plan, {str(store)!r}, n_jobs=1)\n"
        "print(first.train_seconds, second.train_seconds)"
    )
    fresh = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=fresh).stdout
    first, second = map(float, shown.split())
    assert first < second + 2  # seconds; loading and compiling take several


def test_trials_without_chance_are_made_once_and_never_pass_for_a_sample(folder, capsys):
    words = ["data.txt", "-r", "lambda-mart,mc-rank,random-ranker", "--folds", 3, "--n-jobs", 1, "-m", "map"]
    brief = ["-p", "lambda-mart.rounds=5", "-p", "mc-rank.rounds=5"]
    ordino("bench", *words, *brief, "--repeats", 10, "-o", "ten.sqlite")
    printed = capsys.readouterr().out
    assert "No randomness in" in printed
    ordino("bench", *words, *brief, "-o", "one.sqlite")
    with Store("ten.sqlite") as opened:
        assert sum(trial.label in ("LambdaMART", "McRank") for trial in opened.trials()) == 6
    found = []
    for store in ("ten.sqlite", "one.sqlite"):
        capsys.readouterr()
        assert ordino("compare", store, "LambdaMART", "McRank", "--test", "welch", "--json") == 0
        [[one]] = json.loads(capsys.readouterr().out).values()
        found.append(one["p"])
    assert found[0] == found[1]


def test_a_preset_is_a_setting_of_its_own_and_no_repeat_of_the_defaults(store):
    common = {"data": {"easy": easy_data()}, "measures": ["map"], "folds": 3}
    entry = {"ranker": "oap-bpm", "params": {"epochs": 2}}
    run(Plan(rankers=[entry], repeats=2, **common), store, n_jobs=1)
    published = run(Plan(rankers=[entry | {"preset": "published"}], **common), store, n_jobs=1)
    assert {json.dumps(one.params) for one in published} == {'{"preset": "published", "epochs": 2}'}
    with StoreView(store) as view:
        [board] = make_boards(view)
    assert {line.label: line.n_trials for line in board.lines} == {"OAPBPM": 6, 'OAPBPM (preset="published")': 3}
    assert "OAPBPM has been run with several settings: each is a line of its own." in board.notes
    assert "settings='preset=\"published\", epochs=2'" in str(settings_of(board))


def test_what_chose_is_the_metric_only_where_the_metric_chose(store):
    plan = Plan(
        data={"easy": easy_data()},
        rankers=[
            {"ranker": "deepnet", "label": "by metric", "params": {"epochs": 1, "hidden": [2]}},
            {"ranker": "deepnet", "label": "by pairs", "params": {"epochs": 1, "hidden": [2], "select": "pairs"}},
            {"ranker": "rankde", "label": "on train", "params": {"generations": 1, "select": "train"}},
            {"ranker": "rankde", "label": "on valid", "params": {"generations": 1}},
        ],
        measures=["map"],
        folds=3,
    )
    found = {trial.label: trial.chosen_by for trial in run(plan, store, n_jobs=1)}
    assert found == {"by metric": "map", "by pairs": "", "on train": "", "on valid": "map"}


def test_trials_come_in_the_order_of_the_plan(tmp_path):
    """Not in that in which workers were ready, or in which they were written."""
    store, both = tmp_path / "s.sqlite", ["single-feature", "linear-regression-ranker"]
    run(small_plan(rankers=both[1:]), store, n_jobs=1)
    found = run(small_plan(rankers=both), store, n_jobs=1)
    expected = run(small_plan(rankers=both), tmp_path / "new.sqlite", n_jobs=1)
    assert [trial.key for trial in found] == [trial.key for trial in expected]
    assert [trial.ranker for trial in found] == [name for _ in range(3) for name in both]
