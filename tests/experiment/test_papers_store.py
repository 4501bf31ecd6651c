"""What papers' tables are made from: trials of one store, each made once, kept, stopped and gone on with."""

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import pytest

from ordino.data.folds import make_folds
from ordino.errors import OrdinoError
from ordino.experiment.papers import catalogue
from ordino.experiment.papers.catalogue import MODELS, STORE, TARGETS, reproduce
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import NOTHING, Request, System, Target
from ordino.experiment.run import driver, task
from ordino.experiment.store import Store
from ordino.testing import easy_data
from trials import interrupted_at


@pytest.fixture
def made(monkeypatch):
    """The tasks that were worked on."""
    tasks, real = [], driver.measure_setting
    monkeypatch.setattr(driver, "measure_setting", lambda task: tasks.append(task) or real(task))
    return tasks


def test_what_two_targets_need_is_trained_once(folder, tmp_path, made):
    request = Request(folder, quick=True, kept=tmp_path)
    first = reproduce("sortnet.fig3", request)
    n_made = len(made)
    assert n_made == 8  # two collections, two folds, two seeds
    reproduce("sortnet.shuffling", request)
    assert len(made) == n_made
    again = reproduce("sortnet.fig3", request)
    assert again.numbers == first.numbers
    with Store(tmp_path / STORE) as store:
        n_seconds = sum(trial.train_seconds + trial.score_seconds for trial in store.trials())
        assert len(list((tmp_path / MODELS).iterdir())) == len(store) == n_made
    for result in (first, again):  # what was taken from the store is counted too
        assert n_seconds <= result.seconds < n_seconds + 5


def test_seconds_are_those_of_all_trainings_and_of_choosing_settings(monkeypatch, tmp_path):
    ticks = count()
    monkeypatch.setattr(task, "time", SimpleNamespace(perf_counter=lambda: 1000.0 * next(ticks)))
    system = System("linear-regression-ranker", grid=[{"alpha": [1.0, 9.0]}])
    data = {"easy": make_folds(easy_data(n_queries=9), 3)}
    target = Target(
        shows="", needs=NOTHING, takes="", view=lambda *_: (), page=Result(),
        plans=lambda request: [request.plan(data, [system], measures=("map",))],
    )  # fmt: skip
    result = catalogue._reproduce(target, Request(), tmp_path)
    # three are trained and scored, and six are trained to choose their settings
    assert result.seconds == pytest.approx(3 * 2000 + 6 * 1000, abs=60)


def test_trials_of_a_paper_are_a_store_like_any_other(folder, tmp_path, capsys):
    from ordino.cli import main

    reproduce("rankde.table5", Request(folder, quick=True, kept=tmp_path))
    with pytest.raises(SystemExit) as stop:
        main(["report", str(tmp_path / STORE), "--metrics", "map"])
    assert not stop.value.code
    assert "rankde" in capsys.readouterr().out


def test_other_seeds_data_and_settings_are_other_trials(folder, tmp_path, made):
    for changes in ({}, {"seed": 1}, {"data": folder / "MQ2008"}, {"quick": False, "repeats": 1}):
        request = replace(Request(folder, quick=True, kept=tmp_path), **changes)
        if request.quick:
            reproduce("rankde.table5", request)
        else:
            assert {plan.rankers[0].label for plan in TARGETS["rankde.table5"].plans(request)} == {
                "rankde published (metric=map)"
            }
    assert len(made) == 12  # two folds, two seeds


def test_what_fails_is_said(folder, monkeypatch):
    def fails(task):
        raise TypeError("broken")

    monkeypatch.setattr(driver, "measure_setting", fails)
    with pytest.raises(
        OrdinoError, match=r"training failed:\n- rankde .* on Fold1 of TD2003, seed 0: TypeError: broken"
    ):
        reproduce("rankde.table5", Request(folder, quick=True))


def test_a_stopped_run_goes_on(folder, tmp_path, monkeypatch):
    stopped, calls = interrupted_at(3, driver.measure_setting)
    monkeypatch.setattr(driver, "measure_setting", stopped)
    with pytest.raises(KeyboardInterrupt):
        reproduce("sortnet.fig2", Request(folder, quick=True, kept=tmp_path))
    with Store(tmp_path / STORE) as store:
        assert len(store) == 2
    resumed = reproduce("sortnet.fig2", Request(folder, quick=True, kept=tmp_path))
    with Store(tmp_path / STORE) as store:
        assert sum(len(task.seeds) for task in calls) == len(store) + len(calls[2].seeds)
    assert resumed.numbers == reproduce("sortnet.fig2", Request(folder, quick=True)).numbers


@pytest.mark.slow
def test_processes_give_the_same_numbers(folder):
    here = reproduce("deepnet.table4.2", Request(folder, quick=True))
    assert reproduce("deepnet.table4.2", Request(folder, quick=True, n_jobs=2)).numbers == here.numbers


@pytest.mark.parametrize(("target", "data"), [("directranker.table2", "."), ("ranknet.table6", "MQ2008")])
def test_training_times_are_taken_alone(folder, tmp_path, monkeypatch, target, data):
    asked, real = [], catalogue.carry_out

    def noted(plan, store, **options):
        asked.append((store.parent == tmp_path, options["n_jobs"]))
        return real(plan, store, **options)

    monkeypatch.setattr(catalogue, "carry_out", noted)
    reproduce(target, Request(folder / data, quick=True, kept=tmp_path, n_jobs=2))
    assert set(asked) == {(False, 1)}
    assert not (tmp_path / STORE).exists()
