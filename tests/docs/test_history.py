"""Ratios of benchmarks over time: they are appended, drawn, and a fall by a quarter is told."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]


@pytest.fixture
def history(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(HOME / "benchmarks")
    import history

    monkeypatch.setattr(history, "FILE", tmp_path / "history.csv")
    monkeypatch.setattr(history, "PAGE", tmp_path / "speed.md")
    monkeypatch.setattr(sys, "argv", ["benchmarks/bench_sort.py"])
    return history


def test_ratios_are_kept_only_where_asked(history, monkeypatch):
    monkeypatch.delenv("ORDINO_HISTORY", raising=False)
    history.record("sorting", 2.0)
    monkeypatch.setenv("ORDINO_HISTORY", str(history.FILE))
    monkeypatch.setattr(sys, "argv", ["benchmarks/bench_sort.py", "--quick"])
    history.record("sorting", 2.0)
    assert not history.FILE.exists()
    monkeypatch.setattr(sys, "argv", ["benchmarks/bench_sort.py"])
    monkeypatch.setenv("ORDINO_HISTORY", str(history.FILE))
    for ratio in (2.0, float("nan"), float("inf"), 3.25):
        history.record("sorting", ratio)
    rows = history.read(history.FILE)
    assert [(row.script, row.what, row.ratio) for row in rows] == [
        ("bench_sort", "sorting", 2.0), ("bench_sort", "sorting", 3.25),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ratios", "code"),
    [([4.0], 0), ([4.0, 3.1], 0), ([4.0, 3.0], 1), ([9.0, 4, 4, 4, 4, 4, 3.5], 0), ([4.0, 4, 1, 4, 4, 2.9], 1)],
)
def test_a_fall_by_a_quarter_is_told(history, monkeypatch, capsys, ratios, code):
    monkeypatch.setenv("ORDINO_HISTORY", str(history.FILE))
    for ratio in ratios:
        history.record("sorting", ratio)
    history.record("reading", 7.0)
    assert history.main() == code
    told = "bench_sort: sorting fell from 4 to" in capsys.readouterr().out
    assert told == bool(code) == ("fell from 4 to" in history.PAGE.read_text(encoding="utf-8"))


def test_the_page_draws_what_is_recorded(history):
    rows = [history.Row("2026-11-17", "abc", "bench_sort", "sorting", ratio) for ratio in (1.0, 2.0, 4.0)]
    assert "| `bench_sort` | sorting | 3 | ▃▅█ | 4 | 4 | 2026-11-17 | abc |" in history.page(rows)


def test_every_benchmark_records_its_ratios():
    """A benchmark whose figures are seconds, memory or requests, and no ratios, has nothing to record."""
    no_ratios = {"bench_compile", "bench_scale", "bench_serve", "bench_sortnet", "bench_studio"}
    for script in sorted((HOME / "benchmarks").glob("bench_*.py")):
        recorded = "from history import record" in script.read_text(encoding="utf-8")
        assert recorded != (script.stem in no_ratios), script.name


def test_what_the_benchmarks_write_makes_no_commit_another(tmp_path, history):
    """The first row of a run is in history.csv when the second is written."""

    def git(*words):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=tmp_path, check=True)

    def found():
        history.commit_of.cache_clear()
        return history.commit_of(tmp_path)

    files = [tmp_path / name for name in ("benchmarks/history.csv", "docs/results/speed.md", "src/code.py")]
    for path in files:
        path.parent.mkdir(parents=True)
        path.write_text("1")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "all")
    clean = found()
    assert re.fullmatch("[0-9a-f]{7,}", clean)
    (tmp_path / "new.txt").write_text("1")
    for path in files[:2]:
        path.write_text("2")
        assert found() == clean
    files[2].write_text("2")
    assert found() == f"{clean}-dirty"
