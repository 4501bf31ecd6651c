"""Before a cold run of all tests each worker compiles its part, once for these sources."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

import warming
from ordino import compiled


@pytest.fixture
def used(monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr(warming, "PATIENCE", 5.0)
    monkeypatch.setattr(compiled, "kept_in", lambda: str(tmp_path))
    monkeypatch.setattr(warming, "use_part", lambda number, count: found.append((number, count)))
    return found


def worker(number, run="one"):
    return SimpleNamespace(workerinput={"workerid": f"gw{number}", "workercount": 2, "testrunuid": run})


def test_workers_share_the_work_and_wait_for_each_other(used):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda number: warming.warm(worker(number), warming.MANY), (0, 1)))
    assert sorted(used) == [(0, 2), (1, 2)]
    warming.warm(worker(0, "another"), warming.MANY)
    assert len(used) == 2  # it is done


def test_few_tests_and_a_run_without_workers_compile_as_they_go(used):
    warming.warm(worker(0), warming.MANY - 1)
    warming.warm(SimpleNamespace(), warming.MANY)
    assert used == []


def test_nobody_waits_for_a_worker_that_is_gone(used, monkeypatch):
    monkeypatch.setattr(warming, "PATIENCE", 0.1)
    warming.warm(worker(0), warming.MANY)
    assert used == [(0, 2)]
