"""What long work shows where there is no terminal: plain lines in a log, one line that is rewritten in a notebook."""

import sys
from types import SimpleNamespace

import pytest

from ordino import LambdaMART, progress
from ordino.progress import Steps
from ordino.testing import easy_data


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now.seconds)
    return now


def count(total, clock, seconds, **options):
    with Steps("counting", total, verbose=True, **options) as steps:
        for i in steps:
            steps.show(best=i / 2)
            clock.seconds += seconds


def test_a_log_has_a_line_every_few_seconds_and_one_at_the_end(clock, capsys):
    count(7, clock, 2.0)
    assert capsys.readouterr().err.splitlines() == [
        "counting: 3 of 7, best 1.0000, about 8 seconds left",
        "counting: 6 of 7, best 2.5000, about 2 seconds left",
        "counting: 7 of 7, best 3.0000",
    ]


def test_work_whose_steps_take_long_is_announced(clock, capsys):
    count(2, clock, 600.0, announced=True)
    assert capsys.readouterr().err.splitlines() == [
        "counting: 0 of 2",
        "counting: 1 of 2, best 0.0000, about 10 minutes left",
        "counting: 2 of 2, best 0.5000",
    ]


def test_a_loop_that_ends_early_says_how_far_it_came(clock, capsys):
    with Steps("counting", 100, verbose=True) as steps:
        for i in steps:
            if i == 3:
                break
    assert capsys.readouterr().err == "counting: 3 of 100\n"


def test_a_notebook_has_one_line_that_is_rewritten(clock, capsys, monkeypatch):
    shell = SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    count(3, clock, 1.0)
    out = capsys.readouterr().err
    assert out.count("\n") == 1
    assert [text.strip() for text in out.split("\r")[1:]] == [
        "counting: 1 of 3, best 0.0000, about 2 seconds left",
        "counting: 2 of 3, best 0.5000, about 1 seconds left",
        "counting: 3 of 3, best 1.0000",
    ]


def test_nothing_is_shown_unless_asked_for(clock, capsys):
    with Steps("counting", 3) as steps:
        for _ in steps:
            clock.seconds += 100
    assert capsys.readouterr().err == ""


def test_a_ranker_that_is_verbose_writes_to_a_log(capsys):
    LambdaMART(rounds=3, verbose=True, n_jobs=1).fit(easy_data(), valid=easy_data(seed=1))
    assert capsys.readouterr().err.startswith("LambdaMART: 3 of 3, ")
