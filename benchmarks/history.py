"""Ratios over time: ``make bench`` appends them to history.csv, and this program draws them and tells which fell.

A ratio says how many times as fast ours is as something else in the same run, so machines and their load matter little;
larger is better. A row has date, commit, script, what, and the ratio. ``python benchmarks/history.py`` writes
docs/results/speed.md and fails if the last ratio of something is a quarter below the median of those before it.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

HOME = Path(__file__).parents[1]
FILE = HOME / "benchmarks" / "history.csv"
PAGE = HOME / "docs" / "results" / "speed.md"
COLUMNS = ("date", "commit", "script", "what", "ratio")
FALL = 0.25
"""A ratio that fell by this share is told."""
LOOKED_AT = 5
"""How many earlier ratios a new one is compared with."""
WRITTEN = ("benchmarks/history.csv", "docs")
"""What the benchmarks write into the tree, the rows and pages of figures."""
BARS = "▁▂▃▄▅▆▇█"


class Row(NamedTuple):
    """A ratio of one run."""

    date: str
    commit: str
    script: str
    what: str
    ratio: float


def record(what: str, ratio: float) -> None:
    """Append a ratio to the file that ORDINO_HISTORY names, as ``make bench`` does; otherwise nothing is kept.

    A run with ``--quick`` measures something smaller, and is not kept either.
    """
    name = os.environ.get("ORDINO_HISTORY")
    if not name or "--quick" in sys.argv or not 0 < ratio < float("inf"):
        return
    path = Path(name)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        if is_new:
            rows.writerow(COLUMNS)
        script = Path(sys.argv[0]).stem
        rows.writerow((f"{datetime.now(UTC):%Y-%m-%d}", commit_of(), script, what, f"{ratio:.4g}"))


@cache
def commit_of(home: Path = HOME) -> str:
    """The commit that is measured, marked if files differ from it that ``make bench`` does not write itself."""
    name = _git(home, "describe", "--always")
    changed = _git(home, "status", "--porcelain", "--untracked-files=no", "--", ".", *(f":!{path}" for path in WRITTEN))
    return (name or "unknown") + ("-dirty" if changed else "")


def _git(home: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=home, capture_output=True, text=True).stdout.strip()


def read(path: Path) -> list[Row]:
    """All rows, in the order in which they were measured."""
    with path.open(newline="", encoding="utf-8") as file:
        return [Row(**{**row, "ratio": float(row["ratio"])}) for row in csv.DictReader(file)]  # type: ignore[arg-type]


def by_what(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """The rows of each figure."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.script, row.what), []).append(row)
    return found


def fallen(rows: Sequence[Row]) -> str | None:
    """What is to be told of the rows of a figure: that the last one is a quarter below the median before it."""
    *before, last = rows
    if not before:
        return None
    usual = median(row.ratio for row in before[-LOOKED_AT:])
    if last.ratio > (1 - FALL) * usual:
        return None
    return f"{last.script}: {last.what} fell from {usual:.3g} to {last.ratio:.3g} times at {last.commit}"


def bars(ratios: Sequence[float]) -> str:
    """The ratios as a row of bars, of which the largest is full."""
    return "".join(BARS[min(len(BARS) - 1, int(ratio / max(ratios) * len(BARS)))] for ratio in ratios)


def page(rows: Iterable[Row]) -> str:
    """The page: a row of bars for each figure, oldest first, and what fell."""
    figures = by_what(rows)
    told = [sentence for some in figures.values() if (sentence := fallen(some))]
    lines = [
        "# Speed over time",
        "",
        "How many times as fast ours is as something else in the same run; larger is better. `make bench` appends the",
        "ratios to `benchmarks/history.csv` and writes this page. Bars are of one figure, oldest first, the best is",
        f"full. A ratio that fell by a quarter below the median of the {LOOKED_AT} before it is told here, and",
        "fails `make bench`.",
        "",
        *(told or ["Nothing fell by a quarter."]),
        "",
        "| script | what | runs | over time | best | last | when | commit |",
        "|---|---|---:|---|---:|---:|---|---|",
    ]
    for (script, what), some in figures.items():
        ratios, last = [row.ratio for row in some], some[-1]
        drawn = bars(ratios[-40:])
        numbers = f"{max(ratios):.3g} | {last.ratio:.3g}"
        lines.append(f"| `{script}` | {what} | {len(some)} | {drawn} | {numbers} | {last.date} | {last.commit} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page; 1 if something fell."""
    rows = read(FILE)
    PAGE.write_text(page(rows), encoding="utf-8")
    told = [sentence for some in by_what(rows).values() if (sentence := fallen(some))]
    print("\n".join(told) or f"{len(by_what(rows))} figures, none fell by a quarter")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
