"""How many threads work where nobody says: by the work there is, the processors that are free, and who asks."""

import os
import threading
import time
from multiprocessing import get_context

import numpy as np
import pytest

from ordino import Dataset, LambdaMART, RankAggregation, processors, threads
from ordino.backends import local
from ordino.backends.seam import ONE_THREAD
from ordino.boosting.booster import Booster
from ordino.processors import Look, allowed_processors, free_processors
from ordino.testing import easy_data
from ordino.threads import count_threads, run_blocks, worker_threads


@pytest.fixture
def machine(monkeypatch):
    """A machine of which others keep some processors busy, and this process some more."""

    def make(by_others=0.0, by_this=0.0, affinity=8, quota=float("inf")):
        looks = iter([Look(10.0, 100.0, 5.0), Look(11.0, 100.0 + by_others + by_this, 5.0 + by_this)])
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        monkeypatch.setattr(processors, "_affinity", lambda: set(range(affinity)))
        monkeypatch.setattr(processors, "_quota", lambda: quota)
        monkeypatch.setattr(processors, "look", lambda: next(looks))
        monkeypatch.setattr(processors, "_watch", processors._Watch())

    return make


@pytest.mark.parametrize(("by_others", "free"), [(0.0, 8), (0.2, 8), (0.3, 7), (1.0, 7), (5.5, 2), (8.0, 1), (30.0, 1)])
@pytest.mark.parametrize("by_this", [0.0, 4.0])
def test_processors_that_others_use_are_not_free_and_our_own_are(machine, by_others, by_this, free):
    machine(by_others, by_this)
    assert count_threads(None) == free


def test_a_container_and_the_environment_set_limits(machine, monkeypatch):
    machine(quota=2.5)
    assert count_threads(None) == 2
    machine(quota=0.5)
    assert allowed_processors() == 1
    machine()
    monkeypatch.setenv("OMP_NUM_THREADS", "3,1")
    assert count_threads(None) == 3


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu.max": "max 100000\n"}, np.inf),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, np.inf),
        ({}, np.inf),
    ],
)
def test_the_quota_of_a_container(tmp_path, monkeypatch, files, quota):
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(processors, "_CONTROL", tmp_path)
    assert processors._quota() == quota


def test_a_second_look_soon_after_the_first_costs_nothing(machine):
    machine(by_others=2.0)
    assert free_processors() == 6
    processors._watch.last = Look(processors.time.monotonic(), 0.0, 0.0)
    assert free_processors() == 6  # a third look would end the iterator


def test_a_real_look_adds_up():
    first = processors.look()
    sum(range(2_000_000))
    second = processors.look()
    assert second.clock > first.clock
    assert second.by_this > first.by_this
    assert second.by_all >= first.by_all


def test_a_look_counts_the_busy_time_of_the_processors_that_this_process_may_use(tmp_path, monkeypatch):
    """Not that of all of them together, nor of other ones, nor the time in which they wait."""
    ours, waits = "1 2 4 {0} {0} 8 16 32 64 128", 1000
    lines = [f"cpu{name} {ours.format(waits)}" for name in ("", 0, 1, 2, 10)]
    (tmp_path / "stat").write_text("\n".join([*lines, "intr 5 5 5 5 5 5 5 5 5", "ctxt 9"]))
    monkeypatch.setattr(processors, "Path", lambda _: tmp_path / "stat")
    monkeypatch.setattr(processors, "_affinity", lambda: {0, 2})
    assert processors.look().by_all * processors.os.sysconf("SC_CLK_TCK") == 2 * (1 + 2 + 4 + 8 + 16 + 32)


def test_who_asks_works_too_and_results_come_in_the_order_of_the_blocks():
    asked_in, threads_in = threading.current_thread(), set()

    def work(block):
        threads_in.add(threading.current_thread())
        assert getattr(threads._here, "is_worker", False)
        time.sleep(0.01)
        return 2 * block

    with worker_threads(3, 8) as run:
        assert run(work, range(8)) == [0, 2, 4, 6, 8, 10, 12, 14]
        assert len(threads_in) == 3
        assert asked_in in threads_in
        assert not getattr(threads._here, "is_worker", False)


def test_nobody_waits_for_a_thread_that_has_nothing_left_to_do(monkeypatch):
    busy, pool = threading.Event(), threads.thread_pool(1)
    monkeypatch.setattr(threads, "thread_pool", lambda _: pool)
    with worker_threads(2, 8) as run:
        pool.submit(busy.wait)  # the other thread never comes to it
        assert run(lambda block: -block, [1, 2, 3]) == [-1, -2, -3]
        busy.set()


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_after_an_error_no_block_is_begun(where):
    begun, asked_in = [], threading.current_thread()

    def work(block):
        begun.append(block)
        time.sleep(0.01)
        if (threading.current_thread() is asked_in) == (where == "here"):
            raise ValueError(block)

    with worker_threads(2, 100) as run, pytest.raises(ValueError, match=r"^[0-9]+$"):
        run(work, range(100))
    assert len(begun) < 100


def test_work_that_is_shared_is_not_shared_again(monkeypatch):
    monkeypatch.setattr(threads, "free_processors", lambda: 4)
    assert count_threads(None) == 4
    assert run_blocks(lambda _: count_threads(None), range(3), 2) == [1, 1, 1]
    assert run_blocks(lambda _: count_threads(2), range(3), 2) == [2, 2, 2]
    assert count_threads(None) == 4

    def share_and_count(_):
        run_blocks(abs, range(3), 2)
        return count_threads(None)

    assert run_blocks(share_and_count, range(3), 2) == [1, 1, 1]  # a worker that shared its work is still a worker


def test_little_work_stays_on_one_thread(monkeypatch):
    monkeypatch.setattr(threads, "free_processors", lambda: 4)
    assert count_threads(None, enough=False) == 1
    assert count_threads(3, enough=False) == 3


def test_processes_that_share_work_use_one_thread_each(monkeypatch):
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(count_threads, (None,)) == 1


@pytest.fixture
def lightgbm_threads(monkeypatch):
    """The numbers of threads that LightGBM grew trees and scored with."""
    import lightgbm

    seen = {"grow": [], "score": []}
    make, predict = Booster.__init__, lightgbm.Booster.predict

    def noted_make(self, params, *args):
        seen["grow"].append(params["num_threads"])
        make(self, params, *args)

    def noted_predict(self, *args, **kwargs):
        seen["score"].append(kwargs["num_threads"])
        return predict(self, *args, **kwargs)

    monkeypatch.setattr(Booster, "__init__", noted_make)
    monkeypatch.setattr(lightgbm.Booster, "predict", noted_predict)
    monkeypatch.setattr(threads, "free_processors", lambda: 2)
    return seen


def test_trees_of_few_documents_grow_on_one_thread_and_of_many_on_the_free_ones(lightgbm_threads):
    small = easy_data()
    rng = np.random.default_rng(0)
    large = Dataset(rng.random((10_000, 100)), rng.integers(0, 3, 10_000), np.arange(10_000) // 10)
    for data in (small, large):
        LambdaMART(rounds=1).fit(data).predict(data)
    LambdaMART(rounds=1, n_jobs=3).fit(small).predict(small)
    assert lightgbm_threads == {"grow": [1, 2, 3], "score": [1, 2, 3]}


def test_members_that_grow_side_by_side_use_one_thread_each_and_keep_their_settings(lightgbm_threads, monkeypatch):
    monkeypatch.setattr("ordino.boosting.trees.ENOUGH_VALUES", 0)
    ranker = RankAggregation(ranker=LambdaMART(rounds=1), n=3, resample="queries", n_jobs=2).fit(easy_data())
    assert lightgbm_threads["grow"] == [1, 1, 1]
    assert {member.n_jobs for member in ranker.rankers_} == {None}


def test_the_text_of_trees_does_not_tell_how_many_threads_grew_them():
    one, two = (LambdaMART(rounds=2, n_jobs=n).fit(easy_data()).model_ for n in (1, 2))
    assert one == two


def test_processes_that_start_use_one_thread_and_the_environment_is_as_it_was_afterwards(monkeypatch):
    for name, value in zip(ONE_THREAD, [None, "3", None, "1"], strict=True):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with local._one_thread_each():
        assert {os.environ[name] for name in ONE_THREAD} == {"1"}
    assert dict(os.environ) == before
