"""Ctrl-C and kill -9 while training: what stands under the output's name is whole, or nothing stands there."""

import signal
import subprocess
import sys
import time

import pytest

from ordino import load
from ordino.cli import main
from ordino.data.files import read_data
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
    words = [sys.executable, "-m", "ordino.cli", "train", "train.txt", *LONG, "--out", "early.ordino"]
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
ranker = SingleFeature(feature=1).fit([[1.0], [2.0]], [0, 1])
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


def test_ctrl_c_while_the_commands_are_loaded_is_no_traceback(monkeypatch):
    def loaded(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ordino.cli.app.app", loaded)
    with pytest.raises(SystemExit) as stopped:
        main(["rankers"])
    assert stopped.value.code == 130
