"""Results of long comparisons: what a run has written, a later one reads and does not run again."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ordino.testing import easy_data

HOME = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(HOME / "benchmarks")
    return importlib.import_module("quality_auto")


def row_of(script, system, version="1", *, fold="Fold1", date="2026-01-01", values=(0.5, np.nan, 1.0)):
    key = script.Key("1 minute of wall time", "MQ2008", fold, system, version, 0)
    per_query = {name: np.array(values) for name in script.MEASURES}
    return script.Row(key, date, 1.0, 3, dict.fromkeys(script.MEASURES, float(np.nanmean(values))), per_query)


def test_rows_come_back_as_they_were_written(script, tmp_path):
    kept = importlib.import_module("kept_rows")
    written = row_of(script, "AutoRanker")
    kept.add_row(tmp_path / "rows.jsonl", written)
    (read,) = kept.read_rows(tmp_path / "rows.jsonl").values()
    assert read._replace(per_query={}) == written._replace(per_query={})
    np.testing.assert_array_equal(read.per_query["map"], [0.5, np.nan, 1.0])


def test_a_system_runs_once_for_each_budget_version_and_seed(script, tmp_path, monkeypatch):
    data, ran = easy_data(), []
    fold = script.Fold("Fold1", data, data, data)

    def learn(fold, minutes, clock):
        ran.append(list(minutes))
        for each in minutes:
            yield 60.0 * each, script.Candidate({"trials": 1}, np.zeros(0), fold.test.y.copy())

    monkeypatch.setattr(script, "SYSTEMS", {"AutoRanker": learn})
    for minutes in ([1.0], [1.0], [1.0, 5.0]):
        script.keep(tmp_path / "rows.jsonl", "MQ2008", fold, "AutoRanker", minutes, "wall")
    assert ran == [[1.0], [], [5.0]]
    monkeypatch.setattr(script, "version_of", lambda _: "another")
    script.keep(tmp_path / "rows.jsonl", "MQ2008", fold, "AutoRanker", [5.0], "wall")
    assert ran[3:] == [[5.0]]


def test_one_search_serves_several_budgets(script, monkeypatch):
    """What it has after the first is what a search of that budget has; then it goes on."""
    clock, values = SimpleNamespace(used=0.0), [0.3, 0.5, 0.4, 0.9, 0.2, 1.0]

    def try_one(trial):
        clock.used += 25
        return script.Candidate({}, np.zeros(0), np.array([values[trial.number]]))

    monkeypatch.setattr(script, "Clock", lambda *_: clock)
    found = script.best_of(try_one, lambda one: one.test[0], [1, 2], "wall")
    assert [(used, one.params["trials"], one.test[0]) for used, one in found] == [(75, 3, 0.5), (125, 5, 0.9)]


def test_a_table_pairs_queries_on_the_folds_that_both_were_run_on(script):
    rows = [
        row_of(script, "AutoRanker", values=(0.0, np.nan, 0.0)),
        row_of(script, "AutoRanker", "2", date="2026-01-02", values=(0.9, np.nan, 0.7)),
        row_of(script, "XGBoost tuned", values=(0.5, np.nan, 0.5)),
        row_of(script, "XGBoost tuned", fold="Fold2", values=(0.1, 0.1, 0.1)),
    ]
    lines = list(script.table(rows, "1 minute of wall time", "MQ2008"))
    (line,) = [line for line in lines if line.startswith("| XGBoost tuned")]
    assert line.startswith("| XGBoost tuned | 1 | 0.5000 | +0.3000 ± 0.1000 |")  # (0.4 + 0.2) / 2, of the newer version
    assert "XGBoost tuned on 3 of 5 folds" in " ".join(lines)
