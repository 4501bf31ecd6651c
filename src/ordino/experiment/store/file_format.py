"""How trials lie in SQLite: the tables, the steps from earlier formats, and a trial as rows and back.

The values of queries are raw doubles, a row for each trial, part and metric, so that one metric can be read without the
others. Everything else is text, numbers and JSON that a person can read. What is read is compared with its checksum:
of a trial's columns together, of each column that is opened alone, and of each row of values.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from ordino.experiment.store.trial import QUERY_COUNTS, Trial, TrialInfo, Values
from ordino.plain import as_json

APPLICATION = 0x4F72646F  # "Ordo": marks the file as ours
VERSION = 6

_TEXT = ("key", "experiment", "dataset", "fold", "data", "ranker", "label", "profile", "chosen_by", "started")
_FLAGS = ("is_tuned", "is_random")
_NUMBERS = ("seed", *_FLAGS, "train_seconds", "score_seconds")
_JSON = ("params", "versions", "valid", "test", "query_counts")
_OPENED = ("history", "feature_weights", "query_ids")  # JSON that is read only where it is shown
INFO = (*_TEXT, *_NUMBERS, *_JSON)
"""The columns of a :class:`TrialInfo`."""
NEAR = (*_TEXT, *_JSON)
"""Those of them that stand before the ids of queries in a row of the table, and so are read without these."""
COLUMNS = (*INFO, *_OPENED)
SUMS = "sums"
"""The column with the checksums of the others, by name in JSON; that of all columns of :data:`INFO` is ``info``."""
FAR = (*_NUMBERS, SUMS)
"""The others, which an index holds as well."""
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
    {", ".join(f"{name} TEXT NOT NULL" for name in (*_TEXT, *_JSON, *_OPENED, SUMS))},
    seed INTEGER NOT NULL,
    is_tuned INTEGER NOT NULL,
    is_random INTEGER NOT NULL,
    train_seconds REAL NOT NULL,
    score_seconds REAL NOT NULL,
    UNIQUE (key)
)
""",
    _VALUES.replace("numbers BLOB NOT NULL,", "numbers BLOB NOT NULL,\n    sum INTEGER NOT NULL,"),
)
ADD_VALUES = "INSERT INTO query_values (trial, part, metric, numbers, sum) VALUES (?, ?, ?, ?, ?)"


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Make a store of an earlier format one of the next; its trials stay."""
    for command in COMMANDS.get(version, ()):
        connection.execute(command)
    if version == 3:
        _move_values(connection)
    if version == 5:
        _sum_up(connection)


COMMANDS = {
    1: ["ALTER TABLE trials ADD COLUMN query_counts TEXT NOT NULL DEFAULT '{}'"],
    2: [
        "ALTER TABLE trials ADD COLUMN data TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE trials ADD COLUMN is_tuned INTEGER NOT NULL DEFAULT 0",
        "UPDATE trials SET is_tuned = 1 WHERE label LIKE '%, tuned'",  # all that format 2 knew of it
    ],
    3: ["ALTER TABLE trials ADD COLUMN is_random INTEGER NOT NULL DEFAULT 1", _VALUES],
    4: ["ALTER TABLE trials ADD COLUMN chosen_by TEXT NOT NULL DEFAULT ''"],
    5: [
        f"ALTER TABLE trials ADD COLUMN {SUMS} TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE query_values ADD COLUMN sum INTEGER NOT NULL DEFAULT 0",
    ],
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


def _sum_up(connection: sqlite3.Connection) -> None:
    """Format 5 has no checksums."""
    for number, *row in connection.execute(f"SELECT number, {', '.join(COLUMNS)} FROM trials").fetchall():
        connection.execute(f"UPDATE trials SET {SUMS} = ? WHERE number = ?", (_sums_of(row), number))
    question = "SELECT query_values.rowid, key, part, metric, numbers FROM query_values JOIN trials ON number = trial"
    for row, *values in connection.execute(question).fetchall():
        connection.execute("UPDATE query_values SET sum = ? WHERE rowid = ?", (_sum_of_values(*values), row))


def to_row(trial: Trial) -> list[Any]:
    """The columns of a trial."""
    values = {name: getattr(trial, name) for name in COLUMNS}
    values |= {name: json.dumps(as_json(values[name], strict=True)) for name in (*_JSON, *_OPENED)}
    row = [_as_stored(name, values[name]) for name in COLUMNS]
    return [*row, _sums_of(row)]


def _as_stored(name: str, value: Any) -> Any:
    """The value as SQLite will give it back; None as it is, which SQLite refuses."""
    kind = str if name not in _NUMBERS else float if name.endswith("_seconds") else int
    return None if value is None else kind(value)


def to_value_rows(trial: Trial) -> Iterator[tuple[str, str, bytes, int]]:
    """Part, metric, values and checksum, for each of them."""
    for part, per_query in {"test": trial.per_query, **trial.parts}.items():
        for metric, values in per_query.items():
            numbers = np.ascontiguousarray(values, "<f8").tobytes()
            yield part, metric, numbers, _sum_of_values(trial.key, part, metric, numbers)


def _sums_of(row: Iterable[Any]) -> str:
    values = dict(zip(COLUMNS, row, strict=True))
    return json.dumps({"info": _sum_of(values[name] for name in INFO), **{n: _sum_of([values[n]]) for n in _OPENED}})


def _sum_of(values: Iterable[Any]) -> int:
    return crc32(json.dumps(list(values), default=str).encode())


def _sum_of_values(key: str, part: str, metric: str, numbers: bytes) -> int:
    return crc32(numbers, _sum_of([key, part, metric]))


def from_near(near: Sequence[Any], far: Sequence[Any]) -> list[Any]:
    """The columns :data:`INFO` and :data:`SUMS`, from :data:`NEAR` and from :data:`FAR`."""
    return [*near[: len(_TEXT)], *far[:-1], *near[len(_TEXT) :], far[-1]]


def to_info(row: Iterable[Any]) -> TrialInfo:
    """What is known of a trial, from the columns :data:`INFO` and :data:`SUMS`."""
    *known, sums = row
    check("info", known, sums)
    return TrialInfo(**_read(INFO, known))


def to_trial(row: Iterable[Any], values: Iterable[tuple[str, str, bytes, int]]) -> Trial:
    """A whole trial from the columns :data:`COLUMNS` and :data:`SUMS` and its rows of values."""
    *known, sums = row
    check("info", known[: len(INFO)], sums)
    read = _read(COLUMNS, known)
    for name in _OPENED:
        check(name, [read[name]], sums)
    parts: dict[str, dict[str, Values]] = {}
    for part, metric, numbers, total in values:
        parts.setdefault(part, {})[metric] = to_values(read["key"], part, metric, numbers, total)
    read |= {name: json.loads(read[name]) for name in _OPENED}
    read["query_ids"] = np.asarray(read["query_ids"])
    return Trial(**read, per_query=parts.pop("test", {}), parts=parts)


def check(name: str, values: Iterable[Any], sums: str) -> None:
    """Refuse columns that are not what was written."""
    if typed(json.loads(sums), dict, SUMS).get(name) != _sum_of(values):
        raise ValueError(f"{name} does not have its checksum")


def to_values(key: str, part: str, metric: str, numbers: bytes, total: int) -> Values:
    """The values of queries."""
    if _sum_of_values(key, part, metric, typed(numbers, bytes, "numbers")) != total:
        raise ValueError(f"the values of {metric} do not have their checksum")
    return np.frombuffer(numbers, "<f8")


def to_list(text: str) -> list[Any]:
    """The ids of queries."""
    ids: list[Any] = typed(json.loads(text), list, "query_ids")
    return ids


def _read(names: tuple[str, ...], row: Iterable[Any]) -> dict[str, Any]:
    read = dict(zip(names, row, strict=True))
    read |= {name: to_means(read[name]) if name in ("valid", "test") else dict_of(read[name]) for name in _JSON}
    for kind, some in ((str, _TEXT), (int | float, _NUMBERS), (dict, _JSON)):
        for name in some:
            typed(read[name], kind, name)
    for name in QUERY_COUNTS if read["query_counts"] else ():  # the first format has none
        typed(read["query_counts"].get(name), int | float, name)
    return read | {name: bool(read[name]) for name in _FLAGS}


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Any:
    return json.loads(text)


def dict_of(text: str) -> Any:
    """A dictionary, of which many trials have the same: settings, versions, counts."""
    found = _parsed(text)
    return dict(found) if isinstance(found, dict) else found


def to_means(text: str) -> dict[str, float]:
    """By metric a mean, NaN where there is none."""
    means: dict[str, Any] = typed(json.loads(text), dict, "means")
    return {
        metric: float("nan") if mean is None else typed(mean, int | float, metric) for metric, mean in means.items()
    }


def typed(value: Any, kind: Any, name: str) -> Any:
    """The value, if it is what its column holds."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r:.40}")
    return value
