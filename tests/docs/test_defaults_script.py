"""The script that compares defaults: settings as they are typed, and rows that are not run again."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from ordino.testing import easy_data

HOME = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(HOME / "benchmarks")
    script = importlib.import_module("quality_defaults")
    monkeypatch.setattr(script, "COLLECTION", {"easy": lambda: (easy_data(), easy_data(seed=1))})
    return script


def test_settings_are_read_as_they_are_typed(script):
    assert script.settings_of("hidden=(), l2=0.1; scaling='z+rank'") == {
        "hidden=(), l2=0.1": {"hidden": (), "l2": 0.1},
        "scaling='z+rank'": {"scaling": "z+rank"},
    }


def test_rows_are_kept_and_run_anew_only_where_asked(script, monkeypatch, tmp_path):
    ran, kept = [], tmp_path / "rows.jsonl"
    monkeypatch.setattr(script, "reached", lambda name, params, *_: ran.append(params) or 0.5)
    words = [
        "--kept",
        kept,
        "--sets",
        "easy",
        "--rankers",
        "rankprop",
        "--settings",
        "l2=0.1; l2=3.0",
        "--seeds",
        "0,1",
    ]
    for more, n in (([], 4), ([], 4), (["--again"], 8)):
        monkeypatch.setattr(sys, "argv", ["script", *map(str, words), *more])
        script.main()
        assert len(ran) == n
    assert ran[:2] == [{"l2": 0.1, "seed": 0}, {"l2": 0.1, "seed": 1}]
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [(row["settings"], row["seed"]) for row in rows] == [(s, n) for s in ("l2=0.1", "l2=3.0") for n in (0, 1)]
    assert "| easy | 2 | 0.5000 ± 0.0000 | 0.5000 ± 0.0000 |" in list(script.compared(rows))
