"""Results of a long comparison, a row for each system on each fold, in a text file that is committed.

A comparison that takes hours is run piece by piece: a later run reads the rows that are there and adds what is missing.
Values of single queries are kept in ten-thousandths, so that two systems are compared query by query though they were
run on different days.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

STEPS = 10_000  # of a measure between 0 and 1


class Key(NamedTuple):
    """What tells a row from all others."""

    budget: str
    dataset: str
    fold: str
    system: str
    version: str
    seed: int


class Row(NamedTuple):
    """What a system reached on a fold; ``per_query`` has NaN where a query has no measure."""

    key: Key
    date: str
    seconds: float
    trials: int
    test: Mapping[str, float]
    per_query: Mapping[str, NDArray[np.float64]]


def read_rows(path: Path) -> dict[Key, Row]:
    """All rows of a file, the newest last; none if there is no such file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [_row(json.loads(line)) for line in lines]
    return {row.key: row for row in sorted(rows, key=lambda row: row.date)}


def add_row(path: Path, row: Row) -> None:
    """Write a row at the end of the file."""
    steps = {name: [_steps(value) for value in values] for name, values in row.per_query.items()}
    told = row.key._asdict() | {
        "date": row.date, "seconds": round(row.seconds, 1), "trials": row.trials,
        "test": {name: round(float(value), 6) for name, value in row.test.items()}, "per_query": steps,
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(told, separators=(",", ":")) + "\n")


def _steps(value: float) -> int | None:
    return round(float(value) * STEPS) if np.isfinite(value) else None


def _row(told: dict[str, Any]) -> Row:
    key = Key(*(told.pop(name) for name in Key._fields))
    per_query = {
        name: np.array([np.nan if value is None else value for value in values], np.float64) / STEPS
        for name, values in told.pop("per_query").items()
    }
    return Row(key, per_query=per_query, **told)
