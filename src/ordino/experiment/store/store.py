"""The store: every trial is one row of one SQLite file, written in one transaction.

A run that is killed at any moment leaves whole trials behind and nothing else. Several runs may write to one store at
the same time; a trial that two of them made is kept once. Reports are views of this file and need nothing else.
Numbers of queries lie in the file as raw doubles, everything else as text that a person can read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

import numpy as np

from ordino.errors import DataError
from ordino.experiment.store.trial import Trial

APPLICATION = 0x4F72646F  # "Ordo": marks the file as ours
VERSION = 3
PATIENCE = 60.0  # seconds to wait for another run's transaction

_TEXT = ("key", "experiment", "dataset", "fold", "data", "ranker", "label", "profile", "started")
_NUMBERS = ("seed", "is_tuned", "train_seconds", "score_seconds")
_JSON = ("params", "versions", "valid", "test", "history", "feature_weights", "query_ids", "query_counts")
_COLUMNS = (*_TEXT, *_NUMBERS, *_JSON, "per_query")
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS trials (
    number INTEGER PRIMARY KEY,
    {", ".join(f"{name} TEXT NOT NULL" for name in (*_TEXT, *_JSON))},
    seed INTEGER NOT NULL,
    is_tuned INTEGER NOT NULL,
    train_seconds REAL NOT NULL,
    score_seconds REAL NOT NULL,
    per_query BLOB NOT NULL,
    UNIQUE (key)
)
"""
_UPGRADES = {
    1: ["ALTER TABLE trials ADD COLUMN query_counts TEXT NOT NULL DEFAULT '{}'"],
    2: [
        "ALTER TABLE trials ADD COLUMN data TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE trials ADD COLUMN is_tuned INTEGER NOT NULL DEFAULT 0",
        "UPDATE trials SET is_tuned = 1 WHERE label LIKE '%, tuned'",  # all that format 2 told of it
    ],
}
"""What makes a store of each earlier format one of the next; its trials stay."""
assert set(_COLUMNS) == {field.name for field in fields(Trial)}


@final
class Store:
    """Trials in a file.

    Parameters
    ----------
    path
        The file; it is made if there is none.
    frozen
        Only read a file that nobody can write to, as on a read-only disk; nothing is made or brought up to date.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> trial = Trial(
    ...     key="1", dataset="letters", fold="Fold1", ranker="ranknet", label="RankNet", params={"hidden": [8]}, seed=0,
    ...     profile="standard", test={"mrr": 0.75}, per_query={"mrr": np.array([1.0, 0.5])}, query_ids=np.array([7, 9]),
    ... )
    >>> with TemporaryDirectory() as folder, Store(f"{folder}/store.sqlite") as store:
    ...     store.add(trial)
    ...     "1" in store, len(store), store.trials()[0].per_query["mrr"].tolist()
    (True, 1, [1.0, 0.5])
    """

    def __init__(self, path: str | Path, *, frozen: bool = False) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise DataError(f"{self.path}: there is no folder {str(self.path.parent)!r}; make it first")
        try:
            log = Path(f"{self.path}-wal")  # with what was written last, which SQLite does not read of a frozen file
            how = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
            place = f"{self.path.absolute().as_uri()}?{how}" if frozen else str(self.path)
            self._connection = sqlite3.connect(place, timeout=PATIENCE, isolation_level=None, uri=frozen)
        except sqlite3.DatabaseError as error:
            raise self._refused(error) from None
        try:
            self._open_frozen() if frozen else self._open()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise self._refused(error) from None
        except DataError:
            self._connection.close()
            raise

    def _open(self) -> None:
        with self._transaction():
            version, tables = self._checked_version()
            if not tables:
                self._connection.execute(_SCHEMA)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            for earlier in range(version, VERSION) if tables else ():
                for step in _UPGRADES[earlier]:
                    self._connection.execute(step)
            if version < VERSION:
                self._connection.execute(f"PRAGMA user_version = {VERSION}")
        # readers never wait for writers; what was committed survives a killed process
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _open_frozen(self) -> None:
        version, tables = self._checked_version()
        if tables and version < VERSION:
            raise DataError(f"{self.path}: written by an earlier Ordino and cannot be changed here; copy it elsewhere")

    def _checked_version(self) -> tuple[int, int]:
        """The file's format and how many tables it has, if it is a store that we can read, or empty."""
        version, application = self._pragma("user_version"), self._pragma("application_id")
        tables = int(self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        if tables and application != APPLICATION:
            raise DataError(f"{self.path}: this SQLite file is not a store of trials; give another file")
        if version > VERSION:
            raise DataError(
                f"{self.path}: written by a newer Ordino (format {version}, this one reads {VERSION}); upgrade"
            )
        return version, tables

    def _refused(self, error: sqlite3.DatabaseError) -> DataError:
        return DataError(f"{self.path}: cannot be used as a store ({error}); give another file")

    def _rows(self, question: str, *values: object) -> list[Any]:
        """All rows that answer a question."""
        try:
            return self._connection.execute(question, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._refused(error) from None

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; what was added is in it already."""
        self._connection.close()

    def __contains__(self, key: object) -> bool:
        return bool(self._rows("SELECT 1 FROM trials WHERE key = ?", key))

    def __len__(self) -> int:
        return int(self._rows("SELECT count(*) FROM trials")[0][0])

    def add(self, trial: Trial) -> None:
        """Write a trial in one transaction; one with the same key that is already there stays."""
        marks = ", ".join("?" * len(_COLUMNS))
        with self._transaction():
            self._connection.execute(
                f"INSERT INTO trials ({', '.join(_COLUMNS)}) VALUES ({marks}) ON CONFLICT (key) DO NOTHING",
                _to_row(trial),
            )

    def trials(self, experiment: str | None = None, *, tuning: bool = False) -> list[Trial]:
        """The trials of an experiment (of all, if None) that were measured on test data, in the order of writing.

        ``tuning=True`` gives the others instead: those that served to choose a setting on validation data.
        """
        wanted = f"test {'=' if tuning else '<>'} '{{}}'" + ("" if experiment is None else " AND experiment = ?")
        rows = self._rows(
            f"SELECT {', '.join(_COLUMNS)} FROM trials WHERE {wanted} ORDER BY number",
            *(() if experiment is None else (experiment,)),
        )
        return [_from_row(row) for row in rows]

    def find(self, key: str) -> Trial | None:
        """The trial with this key, if it is there."""
        rows = self._rows(f"SELECT {', '.join(_COLUMNS)} FROM trials WHERE key = ?", key)
        return _from_row(rows[0]) if rows else None

    def experiments(self) -> list[str]:
        """The names of the experiments, in the order of their first trials."""
        rows = self._rows("SELECT experiment FROM trials GROUP BY experiment ORDER BY min(number)")
        return [name for (name,) in rows]


def _to_row(trial: Trial) -> list[Any]:
    texts = [getattr(trial, name) for name in (*_TEXT, *_NUMBERS)]
    values = {name: getattr(trial, name) for name in _JSON} | {"query_ids": np.asarray(trial.query_ids).tolist()}
    block = {name: np.ascontiguousarray(array, "<f8") for name, array in trial.per_query.items()}
    head = json.dumps(list(block)).encode() + b"\n"  # the measures, then their values one after another
    return [
        *texts,
        *(json.dumps(_without_nan(values[name])) for name in _JSON),
        head + b"".join(array.tobytes() for array in block.values()),
    ]


def _from_row(row: Iterable[Any]) -> Trial:
    read = dict(zip(_COLUMNS, row, strict=True))
    read |= {name: json.loads(read[name]) for name in _JSON}
    for name in ("valid", "test"):
        read[name] = {measure: float("nan") if mean is None else mean for measure, mean in read[name].items()}
    head, _, block = read["per_query"].partition(b"\n")
    measures = json.loads(head)
    values = np.frombuffer(block, "<f8").reshape(len(measures), len(read["query_ids"]))
    read["per_query"] = dict(zip(measures, values, strict=True))
    read |= {"query_ids": np.asarray(read["query_ids"]), "is_tuned": bool(read["is_tuned"])}
    return Trial(**read)


def _without_nan(value: Any) -> Any:
    """JSON has no NaN: what is not a number becomes null."""
    match value:
        case Mapping():
            return {str(name): _without_nan(one) for name, one in value.items()}
        case list() | tuple():
            return [_without_nan(one) for one in value]
        case float() | np.floating():
            return float(value) if np.isfinite(value) else None
        case np.integer():
            return int(value)
        case np.ndarray():
            return _without_nan(value.tolist())
    return value
