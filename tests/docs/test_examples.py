"""The programs in examples/ run, and are short."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted(path for path in (Path(__file__).parents[2] / "examples").glob("*.py") if path.stem != "demo")


NEEDS_TORCH = ("attention",)


def test_there_are_seven():
    assert len(EXAMPLES) == 7


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(path, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where some leave files
    if path.stem in NEEDS_TORCH:
        pytest.importorskip("torch")
    monkeypatch.delenv("ORDINO_DATA", raising=False)  # data made on the spot, which is quicker
    runpy.run_path(str(path), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_fits_on_a_screen_and_says_what_it_shows(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert text.startswith('"""')
