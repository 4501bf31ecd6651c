"""Before a cold run of all tests the workers share what is to be compiled, once for these sources."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import pytest

import warming
from ordino import compiled


@pytest.fixture
def used(monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr(warming, "PATIENCE", 5.0)
    monkeypatch.setattr(compiled, "kept_in", lambda: str(tmp_path))
    monkeypatch.setattr(warming, "work", lambda: [partial(found.append, i) for i in range(30)])
    return found


def worker(number, run="one"):
    return SimpleNamespace(workerinput={"workerid": f"gw{number}", "workercount": 2, "testrunuid": run})


def test_workers_share_the_work_and_wait_for_each_other(used):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda number: warming.warm(worker(number), warming.MANY), (0, 1)))
    assert sorted(used) == list(range(30))
    warming.warm(worker(0, "another"), warming.MANY)
    assert len(used) == 30  # it is done


def test_few_tests_and_a_run_without_workers_compile_as_they_go(used):
    warming.warm(worker(0), warming.MANY - 1)
    warming.warm(SimpleNamespace(), warming.MANY)
    assert used == []


@pytest.mark.parametrize(("number", "first"), [(0, 0), (1, 29)])
def test_nobody_waits_for_a_worker_that_is_gone(used, monkeypatch, number, first):
    monkeypatch.setattr(warming, "PATIENCE", 0.1)
    warming.warm(worker(number), warming.MANY)
    assert used[0] == first
    assert sorted(used) == list(range(30))


def test_what_is_compiled_are_rankers_and_measures():
    assert len(warming.work()) > 100
