"""How trials lie in SQLite: the tables, the steps from earlier formats, and a trial as rows and back.

The values of queries are raw doubles, a row for each trial, part and metric, so that one metric can be read without the
others. Everything else is text, numbers and JSON that a person can read.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from ordino.experiment.store.trial import Trial, TrialInfo, Values
from ordino.plain import as_json

APPLICATION = 0x4F72646F  # "Ordo": marks the file as ours
VERSION = 5

_TEXT = ("key", "experiment", "dataset", "fold", "data", "ranker", "label", "profile", "chosen_by", "started")
_FLAGS = ("is_tuned", "is_random")
_NUMBERS = ("seed", *_FLAGS, "train_seconds", "score_seconds")
_JSON = ("params", "versions", "valid", "test", "query_counts")
_OPENED = ("history", "feature_weights", "query_ids")  # JSON that is read only where it is shown
INFO = (*_TEXT, *_NUMBERS, *_JSON)
"""The columns of a :class:`TrialInfo`."""
COLUMNS = (*INFO, *_OPENED)
assert set(INFO) == {field.name for field in fields(TrialInfo)}
assert {*COLUMNS, "per_query", "parts"} == {field.name for field in fields(Trial)}

_VALUES = """
CREATE TABLE query_values (
    trial INTEGER NOT NULL REFERENCES trials (number),
    part TEXT NOT NULL,
    metric TEXT NOT NULL,
    numbers BLOB NOT NULL,
    UNIQUE (trial, part, metric)
)
"""
SCHEMA = (
    f"""
CREATE TABLE trials (
    number INTEGER PRIMARY KEY,
    {", ".join(f"{name} TEXT NOT NULL" for name in (*_TEXT, *_JSON, *_OPENED))},
    seed INTEGER NOT NULL,
    is_tuned INTEGER NOT NULL,
    is_random INTEGER NOT NULL,
    train_seconds REAL NOT NULL,
    score_seconds REAL NOT NULL,
    UNIQUE (key)
)
""",
    _VALUES,
)


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Make a store of an earlier format one of the next; its trials stay."""
    for command in COMMANDS.get(version, ()):
        connection.execute(command)
    if version == 3:
        _move_values(connection)


COMMANDS = {
    1: ["ALTER TABLE trials ADD COLUMN query_counts TEXT NOT NULL DEFAULT '{}'"],
    2: [
        "ALTER TABLE trials ADD COLUMN data TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE trials ADD COLUMN is_tuned INTEGER NOT NULL DEFAULT 0",
        "UPDATE trials SET is_tuned = 1 WHERE label LIKE '%, tuned'",  # all that format 2 knew of it
    ],
    3: ["ALTER TABLE trials ADD COLUMN is_random INTEGER NOT NULL DEFAULT 1", _VALUES],
    4: ["ALTER TABLE trials ADD COLUMN chosen_by TEXT NOT NULL DEFAULT ''"],
}


def _move_values(connection: sqlite3.Connection) -> None:
    """Format 3 has the values of all metrics in one column: their names in JSON, a line feed, the doubles."""
    for number, block in connection.execute("SELECT number, per_query FROM trials"):
        head, _, doubles = block.partition(b"\n")
        metrics = json.loads(head)
        size = len(doubles) // len(metrics) if metrics else 0
        rows = ((number, "test", name, doubles[i * size : (i + 1) * size]) for i, name in enumerate(metrics))
        connection.executemany("INSERT INTO query_values VALUES (?, ?, ?, ?)", rows)
    connection.execute("ALTER TABLE trials DROP COLUMN per_query")


def to_row(trial: Trial) -> list[Any]:
    """The columns of a trial."""
    values = {name: getattr(trial, name) for name in COLUMNS}
    return [
        json.dumps(as_json(values[name], strict=True)) if name in (*_JSON, *_OPENED) else values[name]
        for name in COLUMNS
    ]


def to_value_rows(trial: Trial) -> Iterator[tuple[str, str, bytes]]:
    """Part, metric and values, for each of them."""
    for part, per_query in {"test": trial.per_query, **trial.parts}.items():
        for metric, values in per_query.items():
            yield part, metric, np.ascontiguousarray(values, "<f8").tobytes()


def to_info(row: Iterable[Any]) -> TrialInfo:
    """What is known of a trial, from the columns :data:`INFO`."""
    return TrialInfo(**_read(INFO, row))


def to_trial(row: Iterable[Any], values: Iterable[tuple[str, str, bytes]]) -> Trial:
    """A whole trial from the columns :data:`COLUMNS` and its rows of values."""
    read = _read(COLUMNS, row)
    parts: dict[str, dict[str, Values]] = {}
    for part, metric, numbers in values:
        parts.setdefault(part, {})[metric] = to_values(numbers)
    read |= {name: json.loads(read[name]) for name in _OPENED}
    read["query_ids"] = np.asarray(read["query_ids"])
    return Trial(**read, per_query=parts.pop("test", {}), parts=parts)


def to_values(numbers: bytes) -> Values:
    """The values of queries."""
    return np.frombuffer(numbers, "<f8")


def _read(names: tuple[str, ...], row: Iterable[Any]) -> dict[str, Any]:
    read = dict(zip(names, row, strict=True))
    read |= {name: (to_means if name in ("valid", "test") else json.loads)(read[name]) for name in _JSON}
    return read | {name: bool(read[name]) for name in _FLAGS}


def to_means(text: str) -> dict[str, float]:
    """By metric a mean, NaN where there is none."""
    return {metric: float("nan") if mean is None else mean for metric, mean in json.loads(text).items()}
