"""Ctrl-C that a library swallows, that an inner loop ends for, that comes while threads work."""

import itertools
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import sklearn
from sklearn.model_selection import cross_val_score

from ordino import DeepNet, NestedRanker, QueryKFold, RankAggregation, RankNet, SortNet
from ordino.errors import import_extra
from ordino.interrupts import counting_presses, held_back
from ordino.progress import Steps
from ordino.testing import easy_data

EPOCHS = 7


@pytest.fixture
def command():
    """What a command does around its work."""
    with counting_presses() as presses:
        yield presses


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def swallow() -> None:
    """What some libraries do while they are imported."""
    try:
        press()
    except BaseException:
        return
    pytest.fail("Ctrl-C did nothing")


def steps_of(total: int, act_at: int, act=press) -> Steps:
    with Steps("counting", total) as steps:
        for i in steps:
            if i == act_at:
                act()
    return steps


def test_a_swallowed_press_before_a_loop_stops_it_before_its_first_step(command):
    swallow()
    with pytest.raises(KeyboardInterrupt):
        steps_of(3, act_at=99)


def test_a_swallowed_press_inside_a_loop_ends_it_with_the_step(command):
    steps = steps_of(9, act_at=4, act=swallow)
    assert (steps.done, steps.interrupted) == (5, True)


@pytest.mark.parametrize("in_command", [True, False])
def test_the_loop_around_a_loop_ends_too(in_command):
    def act():
        assert steps_of(9, act_at=4).done == 4

    if in_command:
        with counting_presses():
            outer = steps_of(5, act_at=2, act=act)
    else:  # in a notebook nobody counts
        outer = steps_of(5, act_at=2, act=act)
    assert (outer.done, outer.interrupted) == (3, True)


@pytest.mark.parametrize("in_command", [True, False])
def test_the_loop_after_it_does_not(in_command):
    if in_command:
        with counting_presses():
            steps_of(9, act_at=4)
            after = steps_of(5, act_at=99)
    else:
        steps_of(9, act_at=4)
        after = steps_of(5, act_at=99)
    assert (after.done, after.interrupted) == (5, False)


def test_what_was_pressed_in_one_command_does_not_stop_the_next():
    with counting_presses():
        swallow()
    with counting_presses() as presses:
        assert presses.pressed == 0
        assert steps_of(3, act_at=99).done == 3
    assert steps_of(3, act_at=99).done == 3


@contextmanager
def loop_in_a_thread():
    """A loop in its second step, which ends when the block does; what this gives tells how it ended."""
    started, go_on = threading.Event(), threading.Event()

    def act():
        started.set()
        assert go_on.wait(60)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(lambda: steps_of(100, act_at=1, act=act))
        assert started.wait(60)
        yield lambda: running.result(60)
        go_on.set()


def test_loops_in_threads_end(command):
    with loop_in_a_thread() as outcome:
        swallow()
    steps = outcome()
    assert (steps.done, steps.interrupted) == (2, True)


def test_a_command_can_run_in_a_thread():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: steps_of(3, act_at=99).done).result(60) == 3
        pool.submit(lambda: counting_presses().__enter__()).result(60)


@pytest.fixture
def press_in_inner_loop(monkeypatch):
    """Ctrl-C in the second epoch of a network that is part of something larger."""
    epochs = []

    def show(steps, **_):
        if steps.total == EPOCHS:
            epochs.append(steps)
            if len(epochs) == 2:
                press()

    monkeypatch.setattr(Steps, "show", show)
    return epochs


def test_ctrl_c_in_the_training_of_a_comparator_ends_sortnet(press_in_inner_loop):
    ranker = SortNet(hidden=4, max_iter=20, epochs=EPOCHS, patience=None).fit(easy_data())
    assert len(ranker.history_) == 2


def test_ctrl_c_in_a_stage_ends_a_nested_ranker(press_in_inner_loop):
    data = easy_data()
    ranker = NestedRanker(RankNet(hidden=4, epochs=EPOCHS, patience=None), sizes=(None, 5, 2)).fit(data)
    assert ranker.sizes_ == [None]
    assert ranker.predict(data).shape == (data.n_docs,)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_a_member_ends_an_aggregation_and_keeps_the_members_before(n_jobs, monkeypatch):
    numbers, pressed = itertools.count(1), threading.Event()

    def fit(self, data, **_):
        number = next(numbers)
        if number == 4:
            time.sleep(0.2)  # until it is known which are done
            press()
            pressed.set()
        if number >= 4:
            assert pressed.wait(60)
            time.sleep(0.3)  # until the main thread has heard of it
        return fit_as_ever(self, data)

    fit_as_ever = RankNet.fit
    monkeypatch.setattr(RankNet, "fit", fit)
    data = easy_data()
    members = RankNet(hidden=4, epochs=2)
    with counting_presses():
        ranker = RankAggregation(members, n=15, resample="queries", n_jobs=n_jobs).fit(data)
    assert 2 <= len(ranker.rankers_) <= 3
    assert next(numbers) <= 7  # no other member began
    assert ranker.predict(data).shape == (data.n_docs,)


def test_ctrl_c_before_a_member_is_done_ends_all_members_in_a_notebook_too(monkeypatch):
    members, both, enough = set(), threading.Barrier(2), 100_000

    def show(steps, **_):
        if steps not in members:
            members.add(steps)
            if both.wait(60) == 0:  # when each is in its first epoch
                press()

    monkeypatch.setattr(Steps, "show", show)
    net = RankNet(hidden=4, epochs=enough, patience=None)
    with pytest.raises(KeyboardInterrupt):  # where nobody counts presses
        RankAggregation(net, n=2, resample="queries", n_jobs=2).fit(easy_data())
    assert all(steps.done < enough for steps in members)
    assert steps_of(3, act_at=99).done == 3


def test_a_press_that_a_thread_hears_late_is_not_another_press():
    with loop_in_a_thread() as outcome:
        steps_of(9, act_at=4)  # in the main thread, which heeds it first
    assert outcome().interrupted
    assert steps_of(3, act_at=99).done == 3


def test_ctrl_c_in_an_auto_encoder_leaves_nothing(press_in_inner_loop):
    net = DeepNet(hidden=(4, 2), initializer="autoencoders", pretraining=EPOCHS, epochs=EPOCHS)
    with pytest.raises(KeyboardInterrupt):
        net.fit(easy_data())
    assert len(press_in_inner_loop) == 2


def test_a_command_that_shall_ignore_ctrl_c_does():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with counting_presses() as presses:
            press()
        assert presses.pressed == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


class CutShort(RankNet):
    """A ranker that is pressed on in its second fit, and keeps the best so far."""

    fits = 0

    def _fit(self, data, valid):
        type(self).fits += 1
        assert self.fits <= 2
        steps_of(9, act_at=4 if self.fits == 2 else 99)
        super()._fit(data, valid)


def search_with_optuna(ranker, data):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    optuna.create_study().optimize(lambda trial: ranker.fit(data).score(data), n_trials=5)


def search_with_sklearn(ranker, data):
    with sklearn.config_context(enable_metadata_routing=True):
        cross_val_score(ranker, data.X, data.y, cv=QueryKFold(3), params={"qid": data.qid})


@pytest.mark.parametrize("search", [search_with_optuna, search_with_sklearn])
def test_a_search_ends_with_the_fit_that_was_cut_short(search, monkeypatch):
    monkeypatch.setattr(CutShort, "fits", 0)
    with pytest.raises(KeyboardInterrupt):
        search(CutShort(hidden=2, epochs=2), easy_data())
    assert CutShort.fits == 2


def test_a_single_fit_that_was_cut_short_keeps_the_best_so_far(monkeypatch):
    monkeypatch.setattr(CutShort, "fits", 1)
    assert CutShort(hidden=2, epochs=2).fit(easy_data()).n_features_in_ == easy_data().n_features


def test_ctrl_c_during_an_import_is_heard_when_the_package_is_whole(tmp_path, monkeypatch):
    """As torch's, whose import aborts the process if it is cut in two."""
    (tmp_path / "slow_to_load.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nis_whole = True\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        import_extra("slow_to_load", extra="torch", purpose="a test")
    assert sys.modules.pop("slow_to_load").is_whole


def test_a_press_that_was_held_back_is_counted(command, tmp_path, monkeypatch):
    before = command.pressed
    with pytest.raises(KeyboardInterrupt), held_back():
        press()
    assert command.pressed == before + 1


def test_imports_in_threads_leave_signals_alone():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(import_extra, "json", extra="torch", purpose="a test").result().__name__ == "json"
