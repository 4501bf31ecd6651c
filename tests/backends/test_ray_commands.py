"""Commands on two machines made here: what they leave is what they leave at home, also after Ctrl-C."""

import signal
import subprocess
import sys
import time

import pytest

from ordino import synthetic, write_letor
from ordino.experiment.store import Store
from shell import ordino as command

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a set in it, to work in."""
    write_letor(synthetic("mq", queries=24, seed=1), tmp_path / "d.txt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def left_in(store):
    """What trials of a store measured, those of tuning too."""
    with Store(store) as opened:
        trials = [*opened.trials(), *opened.trials(tuning=True)]
    return {one.key: (one.seed, one.valid, {name: found.tobytes() for name, found in one.per_query.items()})
            for one in trials}  # fmt: skip


def test_a_search_finds_the_same(cluster, home):
    words = ("search", "d.txt", "--ranker", "rank-svm", "--trials", "4", "--folds", "3")
    assert command(*words, "--out", "here.sqlite", "--n-jobs", "1") == 0
    assert command(*words, "--out", "there.sqlite", "--cluster", cluster.address) == 0
    assert left_in("here.sqlite") == left_in("there.sqlite")
    assert len(left_in("here.sqlite")) > 4


def test_a_table_of_a_paper_is_the_same(cluster, home):
    words = ("reproduce", "ranknet.table2", "--quick")
    assert command(*words, "--out", "here", "--n-jobs", "1") == 0
    assert command(*words, "--out", "there", "--cluster", cluster.address) == 0
    here, there = ((home / place / "ranknet.table2.csv").read_text(encoding="utf-8") for place in ("here", "there"))
    assert here == there


def test_a_run_that_was_stopped_by_ctrl_c_goes_on(cluster, home):
    words = ["bench", "d.txt", "--rankers", "rankde", "-p", "rankde.generations=300", "--folds", "3", "--repeats", "6"]
    assert command(*words, "--out", "here.sqlite", "--n-jobs", "1") == 0
    there = [*words, "--out", "there.sqlite", "--cluster", cluster.address]
    running = subprocess.Popen([sys.executable, "-m", "ordino", *there], stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not (home / "there.sqlite").exists() or not left_in("there.sqlite"):
        assert running.poll() is None, "it ended before it was stopped"
        assert time.monotonic() < until, "no trial was made"
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "Traceback" not in said
    kept = left_in("there.sqlite")
    assert 0 < len(kept) < 18
    assert command(*there) == 0
    assert left_in("here.sqlite") == left_in("there.sqlite")
    assert kept.items() <= left_in("there.sqlite").items()
