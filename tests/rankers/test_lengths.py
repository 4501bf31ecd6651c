"""The cost of a fit in the length of lists, measured by the benchmark of it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from ordino.rankers import RANKERS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("bench_lengths")


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKERS)
def test_no_fit_grows_with_the_pairs_of_a_list(script, name):
    """Seconds in lists of 4,000 against those of the same rows in lists of 50."""
    if name in script.LEFT_OUT:
        return
    short, long = script.seconds(name, repeats=2)
    assert long < script.MOST * short


def test_the_script_names_rankers_whose_cost_grows(script, monkeypatch, capfd):
    monkeypatch.setattr(script, "seconds", lambda name, repeats: (0.1, 0.9 if name == "prank" else 1.1))
    monkeypatch.setattr(sys, "argv", ["script", "--rankers", "prank,frank"])
    with pytest.raises(SystemExit) as ended:
        script.main()
    assert ended.value.code == 1
    assert capfd.readouterr().out.splitlines()[-1] == "more than 10 times: frank"
