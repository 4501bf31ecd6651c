"""Ctrl-C and kill -9 while training: what stands under the output's name is whole, or nothing stands there."""

import signal
import subprocess
import sys
import time

import pytest

from ordino import load, synthetic, write_letor
from ordino.cli import main
from ordino.data.files import read_data
from ordino.experiment.store import Store
from ordino.model_file import read_card

LONG = ["--ranker", "ranknet", "--param", "hidden=8", "--param", "epochs=1000000", "--param", "patience=none"]
STEPPED = "import ordino.progress as p; f = p.Steps.show\ndef show(s, **k): open('stepped', 'w').close(); f(s, **k)\n"
RUN = "p.Steps.show = show\nimport sys; from ordino.cli import main; main(sys.argv[1:])"


@pytest.fixture
def training(folder):
    """A long training that has made its first steps."""
    words = [sys.executable, "-c", STEPPED + RUN, "train", "train.txt", *LONG, "--out", "long.ordino"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + 120
    while not (folder / "stepped").exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield process
    process.kill()
    process.communicate()


def test_ctrl_c_keeps_the_best_so_far(training, folder):
    training.send_signal(signal.SIGINT)
    errors = training.communicate(timeout=60)[1]
    assert training.returncode == 0
    assert "the best so far" in errors
    assert read_card("long.ordino")["notes"]["interrupted"] is True
    data = read_data("train.txt")
    assert load("long.ordino").predict(data).shape == (data.n_docs,)


def test_kill_leaves_nothing_under_the_name(training, folder):
    training.kill()
    training.wait(timeout=60)
    assert not (folder / "long.ordino").exists()


def test_ctrl_c_before_anything_was_learned_writes_nothing(folder):
    words = [sys.executable, "-m", "ordino", "train", "train.txt", *LONG, "--out", "early.ordino"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    try:
        errors = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    if process.returncode == 0:  # it was quick enough to learn something
        assert read_card("early.ordino")["notes"]["interrupted"] is True
    else:
        assert not (folder / "early.ordino").exists()
        assert "stopped at" not in errors


SAVES = """
import sys
from ordino import SingleFeature, save
ranker = SingleFeature(feature=1).fit([[1.0], [2.0]], [0, 1], qid=[1, 1])
ranker.large_ = __import__("numpy").zeros(3_000_000)
sys.stdout.write("ready"); sys.stdout.flush()
while True:
    save(ranker, "often.ordino")
"""


def test_a_kill_while_writing_leaves_the_old_or_the_new_file(folder):
    process = subprocess.Popen([sys.executable, "-c", SAVES], stdout=subprocess.PIPE)
    assert process.stdout.read(5) == b"ready"
    while not (folder / "often.ordino").exists():
        time.sleep(0.01)
    time.sleep(0.05)
    process.kill()
    process.communicate()
    assert len(load("often.ordino").large_) == 3_000_000


SLOW = """
import sys, time
import ordino.rankers.baselines as b
from ordino.experiment.run.task import QUERIES
def fit(self, data, valid):
    if data.n_queries > QUERIES:  # not the rehearsal
        open("begun", "w").close()
        time.sleep(60)
    real(self, data, valid)
real, b.RandomRanker._fit = b.RandomRanker._fit, fit
"""
MAIN = "if __name__ == '__main__':\n    from ordino.cli import main; main(sys.argv[1:])\n"


@pytest.mark.parametrize("n_jobs", [pytest.param("1", marks=pytest.mark.slow), "2"])
@pytest.mark.parametrize(
    "words",
    [
        ["bench", "--rankers", "single-feature,random-ranker"],
        pytest.param(
            ["search", "--ranker", "random-ranker", "--trials", "2", "--space", "seed=1..9"], marks=pytest.mark.slow
        ),
    ],
    ids=lambda words: words[0],
)
def test_one_ctrl_c_stops_a_run_and_the_exit_code_says_so(folder, words, n_jobs):
    (folder / "slow.py").write_text(SLOW + MAIN)  # workers run it again, up to MAIN
    write_letor(synthetic("mq", queries=18, seed=1), "many.txt")
    command = [sys.executable, "slow.py", words[0], "many.txt", *words[1:], "--folds", "3", "--n-jobs", n_jobs]
    process = subprocess.Popen([*command, "-o", "b.sqlite"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (folder / "begun").exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)  # to the command alone: its workers must be stopped by it
    printed, errors = process.communicate(timeout=50)
    assert time.monotonic() - pressed < 40
    assert process.returncode == 130
    assert printed == ""  # half of the trials are no result
    assert "ordino: stopped; what is done is in b.sqlite, and the same command goes on from there" in errors
    assert "Traceback" not in errors
    with Store("b.sqlite") as store:
        assert {trial.ranker for trial in store.trials() + store.trials(tuning=True)} <= {"single-feature"}


def test_an_error_that_ctrl_c_caused_is_a_stop(monkeypatch):
    def hit(*_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("half of a module") from None

    monkeypatch.setattr("ordino.cli.app.app", hit)
    with pytest.raises(SystemExit) as stopped:
        main(["rankers"])
    assert stopped.value.code == 130


def test_ctrl_c_while_the_commands_are_loaded_is_no_traceback(monkeypatch):
    def loaded(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ordino.cli.app.app", loaded)
    with pytest.raises(SystemExit) as stopped:
        main(["rankers"])
    assert stopped.value.code == 130
