"""The programs in examples/ run, and are short."""

import re
import runpy
import sys
import time
from pathlib import Path

import pytest

EXAMPLES = sorted(path for path in (Path(__file__).parents[2] / "examples").glob("*.py") if path.stem != "demo")


NEEDS_TORCH = ("attention",)


BRIEF = {"sort_digits": ["300"]}  # arguments that make an example quick


def test_there_are_eight():
    assert len(EXAMPLES) == 8


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(path, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where some leave files
    if path.stem in NEEDS_TORCH:
        pytest.importorskip("torch")
    monkeypatch.delenv("ORDINO_DATA", raising=False)  # data made on the spot, which is quicker
    monkeypatch.setattr(sys, "argv", [str(path), *BRIEF.get(path.stem, [])])
    runpy.run_path(str(path), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_fits_on_a_screen_and_says_what_it_shows(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert text.startswith('"""')


@pytest.mark.slow
def test_digits_that_were_not_seen_are_put_in_order(capsys, monkeypatch, tmp_path):
    """The whole example, in under two minutes of processor time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["sort_digits.py"])
    begun = time.process_time()
    runpy.run_path(str(EXAMPLES[0].parent / "sort_digits.py"), run_name="__main__")
    assert time.process_time() - begun < 120
    rows = re.findall(r"(.+?) +(\w+) +tau ([-\d.]+), cyclic triples ([\d.]+) %", capsys.readouterr().out)
    tau = {(setting, ranker): float(value) for setting, ranker, value, _ in rows}
    assert len(tau) == 12
    for setting in ("any two", "neighbors"):
        assert max(value for (where, _), value in tau.items() if where == setting) > 0.9
    assert max(value for (where, _), value in tau.items() if where == "one of five wrong") > 0.8
    assert all(float(cyclic) == 0 for _, ranker, _, cyclic in rows if ranker in ("RankNet", "DirectRanker"))
    for name in ("before", "after"):
        assert (tmp_path / f"{name}.pgm").read_text().startswith("P2 900 30 15\n")
