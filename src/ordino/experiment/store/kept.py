"""What lies beside a store: the rankings of its trials, and how far its runs are.

``web.sqlite`` holds measures alone and stays small. ``web.kept.sqlite`` beside it holds the scores of each trial by the
trial's key and the documents of each test part by the fingerprint of its fold; ``web.models`` the models, where they
were asked for. Both may be deleted: the store does not need them.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.errors import DataError
from ordino.experiment.store.rankings import (
    Facts,
    Floats,
    Listed,
    blocks,
    facts_of,
    pack_facts,
    pack_list,
    pack_scores,
    unpack_facts,
    unpack_list,
    unpack_scores,
)
from ordino.experiment.store.transaction import transaction

APPLICATION = 0x4F72646B  # "Ordk"
VERSION = 1
PATIENCE = 60.0
MEGABYTES = 1000
"""How much is kept beside a store unless another limit is given."""
SCHEMA = """
CREATE TABLE lists (data TEXT NOT NULL, first INTEGER NOT NULL, documents BLOB NOT NULL, PRIMARY KEY (data, first));
CREATE TABLE facts (data TEXT PRIMARY KEY, numbers BLOB NOT NULL);
CREATE TABLE rankings (trial TEXT NOT NULL, first INTEGER NOT NULL, scores BLOB NOT NULL, PRIMARY KEY (trial, first));
CREATE TABLE runs (
    number INTEGER PRIMARY KEY, experiment TEXT NOT NULL, command TEXT NOT NULL, began REAL NOT NULL,
    ended REAL, process INTEGER NOT NULL, folder TEXT NOT NULL, tasks TEXT NOT NULL, failures TEXT NOT NULL
);
"""


def kept_path(store: str | Path) -> Path:
    """The file beside a store.

    Examples
    --------
    >>> kept_path("results/web.sqlite").name, models_folder("results/web.sqlite").name
    ('web.kept.sqlite', 'web.models')
    """
    return Path(store).with_suffix(".kept.sqlite")


def models_folder(store: str | Path) -> Path:
    """Where the models of a store's trials lie, each named by the key of its trial, if they were kept."""
    return Path(store).with_suffix(".models")


class Query(NamedTuple):
    """The documents of a query in the order of the data, and what trials scored them."""

    labels: Floats
    doc_ids: Sequence[str] | None
    scores: Mapping[str, Floats]
    """By the key of a trial."""


class RunRecord(NamedTuple):
    """A run that has trained trials into the store, or is doing so."""

    experiment: str
    command: str
    """The line that started it and that continues it; empty if it was started from Python."""
    began: float
    ended: float | None
    process: int
    folder: str
    """Where workers tell how far they are."""
    tasks: Sequence[Mapping[str, Any]]
    """What it set out to train: data set, fold, label, profile, and the fingerprint of the fold's data."""
    failures: Sequence[Mapping[str, str]]


@final
class Kept(AbstractContextManager["Kept"]):
    """The file beside a store.

    Parameters
    ----------
    path
        The file itself, see :func:`kept_path`.
    megabytes
        Rankings are not added beyond this size; None to only read the file, which must then exist.

    Examples
    --------
    >>> with Kept(":memory:", megabytes=1) as kept:
    ...     kept.add_lists("cafe", Listed(np.array([0, 2]), np.array([0.0, 1.0]), None))
    ...     kept.add_scores("key", np.array([0, 2]), np.array([0.5, 0.75]))
    ...     kept.query("cafe", 0, ["key"])
    True
    True
    Query(labels=array([0., 1.]), doc_ids=None, scores={'key': array([0.5 , 0.75])})
    """

    def __init__(self, path: str | Path, *, megabytes: int | None = None) -> None:
        self.path = Path(path)
        self._limit = (megabytes or 0) * 1_000_000
        try:
            if megabytes is None:
                place, uri = f"{self.path.absolute().as_uri()}?mode=ro", True
            else:
                place, uri = str(path), False
            self._connection = sqlite3.connect(place, timeout=PATIENCE, isolation_level=None, uri=uri)
            with self._sentences():
                self._prepare(is_new=megabytes is not None)
        except (sqlite3.DatabaseError, DataError) as error:
            if hasattr(self, "_connection"):
                self._connection.close()
            raise (error if isinstance(error, DataError) else self._refused(error)) from None

    def _prepare(self, *, is_new: bool) -> None:
        version, application = (
            int(self._connection.execute(f"PRAGMA {one}").fetchone()[0]) for one in ("user_version", "application_id")
        )
        if version > VERSION:
            raise DataError(
                f"{self.path}: written by a newer Ordino (format {version}, this one reads {VERSION}); upgrade"
            )
        if version and application != APPLICATION:
            raise DataError(f"{self.path}: this file does not belong to a store; move it away")
        if version == 0 and is_new:
            with transaction(self._connection):
                for command in SCHEMA.split(";")[:-1]:
                    self._connection.execute(command)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
                self._connection.execute(f"PRAGMA user_version = {VERSION}")
        if is_new:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _refused(self, error: Exception) -> DataError:
        return DataError(f"{self.path}: cannot be read ({error}); delete it, the store does not need it")

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Say in one sentence that the file is damaged."""
        try:
            yield
        except DataError:
            raise
        except (sqlite3.DatabaseError, ValueError, TypeError, IndexError) as error:
            raise self._refused(error) from None

    def _rows(self, question: str, *values: object) -> list[Any]:
        return self._connection.execute(question, values).fetchall()

    # Rankings ----------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Bytes of the file."""
        pages, size = (self._rows(f"PRAGMA {one}")[0][0] for one in ("page_count", "page_size"))
        return int(pages * size)

    def add_lists(self, data: str, listed: Listed) -> bool:
        """Keep the documents of a test part; whether there was room."""
        if self._rows("SELECT 1 FROM facts WHERE data = ?", data):
            return True
        rows = []
        for first, last in blocks(listed.offsets):
            start, stop = listed.offsets[first], listed.offsets[last]
            names = None if listed.doc_ids is None else listed.doc_ids[start:stop]
            part = Listed(listed.offsets[first : last + 1] - start, listed.labels[start:stop], names)
            rows.append((data, first, pack_list(part)))
        return self._add("lists", rows, ("facts", [(data, pack_facts(facts_of(listed)))]))

    def add_scores(self, key: str, offsets: NDArray[np.int64], scores: Floats) -> bool:
        """Keep the scores of a trial, in the order of its test part; whether there was room."""
        rows = [(key, first, pack_scores(scores[offsets[first] : offsets[last]])) for first, last in blocks(offsets)]
        return self._add("rankings", rows)

    def _add(self, table: str, rows: Sequence[tuple[Any, ...]], *more: tuple[str, Sequence[tuple[Any, ...]]]) -> bool:
        if self.size + sum(len(row[-1]) for row in rows) > self._limit:
            return False
        with transaction(self._connection):
            for name, some in ((table, rows), *more):
                marks = ", ".join("?" * len(some[0])) if some else ""
                self._connection.executemany(f"INSERT OR REPLACE INTO {name} VALUES ({marks})", some)
        return True

    def keys(self, among: Sequence[str] | None = None) -> set[str]:
        """The trials whose rankings are here, of all or of those asked for."""
        question, given = "SELECT trial FROM rankings WHERE first = 0", list[str]()
        if among is not None:
            question, given = f"{question} AND trial IN (SELECT value FROM json_each(?))", [json.dumps(list(among))]
        with self._sentences():
            return {key for (key,) in self._rows(question, *given)}

    def facts(self, data: str) -> Facts | None:
        """What is known of each query of a test part."""
        with self._sentences():
            rows = self._rows("SELECT numbers FROM facts WHERE data = ?", data)
            return unpack_facts(rows[0][0]) if rows else None

    def query(self, data: str, number: int, keys: Sequence[str] = ()) -> Query | None:
        """One query of a test part, by its number there, with its scores in the trials of these keys."""
        found = self._block("lists", "data", data, number)
        if found is None:
            return None
        first, packed = found
        with self._sentences():
            listed = unpack_list(packed)
            start, stop = (int(one) for one in listed.offsets[number - first : number - first + 2])
            names = None if listed.doc_ids is None else listed.doc_ids[start:stop]
            of = {key: self._block("rankings", "trial", key, number) for key in keys}
            scores = {key: unpack_scores(block[1])[start:stop] for key, block in of.items() if block is not None}
            return Query(listed.labels[start:stop], names, scores)

    def _block(self, table: str, by: str, name: str, number: int) -> tuple[int, bytes] | None:
        """The block of a query: its first query and its bytes."""
        with self._sentences():
            rows = self._rows(
                f"SELECT * FROM {table} WHERE {by} = ? AND first <= ? ORDER BY first DESC LIMIT 1", name, number
            )
            return (int(rows[0][1]), rows[0][2]) if rows else None

    # Runs --------------------------------------------------------------------------------------------------------

    def begin_run(
        self, experiment: str, command: str, process: int, folder: str, tasks: Sequence[Mapping[str, Any]]
    ) -> int:
        """Note that a run begins; its number."""
        values = (experiment, command, time.time(), process, folder, json.dumps(tasks), "[]")
        fields = "experiment, command, began, process, folder, tasks, failures"
        added = self._connection.execute(f"INSERT INTO runs ({fields}) VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        return int(added.lastrowid or 0)

    def note_failures(self, run: int, failures: Sequence[Mapping[str, str]]) -> None:
        """Note what has failed so far."""
        self._rows("UPDATE runs SET failures = ? WHERE number = ?", json.dumps(failures), run)

    def end_run(self, run: int) -> None:
        """Note that a run has ended."""
        self._rows("UPDATE runs SET ended = ? WHERE number = ?", time.time(), run)

    def runs(self) -> list[RunRecord]:
        """The runs, the last one first."""
        question = "SELECT experiment, command, began, ended, process, folder, tasks, failures FROM runs"
        with self._sentences():
            rows = self._rows(f"{question} ORDER BY number DESC")
            return [RunRecord._make([*row[:-2], json.loads(row[-2]), json.loads(row[-1])]) for row in rows]
