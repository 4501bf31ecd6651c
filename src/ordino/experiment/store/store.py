"""The store: every trial is written to one SQLite file in one transaction.

A run that is killed leaves only complete trials behind. Several runs may write to one store at the same time; a trial
that two of them made is kept once. Reports are views of this file and need nothing else.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, final

from ordino.errors import DataError
from ordino.experiment.store import file_format, sums
from ordino.experiment.store.file_format import APPLICATION, COLUMNS, INFO, SUMS, VERSION
from ordino.experiment.store.transaction import transaction
from ordino.experiment.store.trial import Trial

PATIENCE = 60.0  # seconds to wait for another run's transaction
UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)  # what damaged files end in
MEMORY = ":memory:"
"""The path of a store that lives only as long as it is open."""


@final
class Store(AbstractContextManager["Store"]):
    """Trials in a file.

    Parameters
    ----------
    path
        The file; it is created if it does not exist.
    frozen
        Only read a file that cannot be written, as on a read-only disk. No file is created, and a store in an earlier
        format is updated in memory.

    Examples
    --------
    >>> import numpy as np
    >>> trial = Trial(
    ...     key="1", dataset="letters", fold="Fold1", ranker="ranknet", label="RankNet", params={"hidden": [8]}, seed=0,
    ...     profile="standard", test={"mrr": 0.75}, per_query={"mrr": np.array([1.0, 0.5])}, query_ids=np.array([7, 9]),
    ... )
    >>> with Store(":memory:") as store:
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
            is_written = (log.exists() and log.stat().st_size) or os.access(self.path.absolute().parent, os.W_OK)
            how = "mode=ro" if is_written else "immutable=1"
            place = f"{self.path.absolute().as_uri()}?{how}" if frozen else str(path)
            self._connection = sqlite3.connect(
                place, timeout=PATIENCE, isolation_level=None, uri=frozen, check_same_thread=False
            )  # one thread uses it, another may collect and close it
        except sqlite3.DatabaseError as error:
            raise self._refused(error) from None
        try:
            if frozen:
                self._open_frozen()
            else:
                with transaction(self._connection):
                    self._bring_up_to_date()
                # readers never wait for writers; what was committed survives a killed process
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")
        except (*UNREADABLE, DataError) as error:
            self._connection.close()
            raise (error if isinstance(error, DataError) else self._refused(error)) from None

    def _open_frozen(self) -> None:
        version, tables = self._checked_version()
        if tables and version < VERSION:
            copy = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
            self._connection.backup(copy)
            self._connection.close()
            self._connection = copy
            self._bring_up_to_date()

    def _bring_up_to_date(self) -> None:
        version, tables = self._checked_version()
        if not tables:
            for command in (*file_format.SCHEMA, f"PRAGMA application_id = {APPLICATION}"):
                self._connection.execute(command)
        for earlier in range(version, VERSION) if tables else ():
            file_format.upgrade(self._connection, earlier)
        if version < VERSION:
            self._connection.execute(f"PRAGMA user_version = {VERSION}")

    def _checked_version(self) -> tuple[int, int]:
        """The file's format and how many tables it has, if it is a store that we can read, or empty."""
        questions = ("PRAGMA user_version", "PRAGMA application_id", "SELECT count(*) FROM sqlite_master")
        version, application, tables = (int(self._connection.execute(one).fetchone()[0]) for one in questions)
        if tables and application != APPLICATION:
            raise DataError(f"{self.path}: this SQLite file is not a store of trials; give another file")
        if version > VERSION:
            raise DataError(
                f"{self.path}: written by a newer Ordino (format {version}, this one reads {VERSION}); upgrade"
            )
        return version, tables

    def _refused(self, error: Exception) -> DataError:
        return DataError(f"{self.path}: cannot be used as a store ({error}); give another file")

    def rows(self, question: str, *values: object) -> list[Any]:
        """All rows of an SQL query."""
        try:
            return self._connection.execute(question, values).fetchall()
        except UNREADABLE as error:
            raise self._refused(error) from None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Say in one sentence that what a row holds cannot be read."""
        try:
            yield
        except DataError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            reason = " ".join(str(error).split())[:200]
            what = f"a trial in the store is damaged ({reason})"
            raise DataError(f"{self.path}: {what}; use a copy of the file, or run into a new one") from None

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; everything that was added is already in it."""
        self._connection.close()

    def __contains__(self, key: object) -> bool:
        return bool(self.rows("SELECT 1 FROM trials WHERE key = ?", key))

    def __len__(self) -> int:
        return int(self.rows("SELECT count(*) FROM trials")[0][0])

    def add(self, *trials: Trial) -> None:
        """Write trials in one transaction; a trial whose key is already in the store is skipped.

        Without any it only brings the sums of an earlier version's store up to date.
        """
        names = (*COLUMNS, SUMS)
        marks = ", ".join("?" * len(names))
        with transaction(self._connection):
            self._begin_sums()
            for trial in trials:
                written = self._connection.execute(
                    f"INSERT INTO trials ({', '.join(names)}) VALUES ({marks}) ON CONFLICT (key) DO NOTHING",
                    file_format.to_row(trial),
                )
                if written.rowcount:
                    rows = ((written.lastrowid, *row) for row in file_format.to_value_rows(trial))
                    self._connection.executemany(file_format.ADD_VALUES, rows)
                    sums.add_to_sums(self._connection, trial)

    def _begin_sums(self) -> None:
        """Make the tables of sums where an earlier version made the store, and add up the trials that it has."""
        if self.rows(sums.KNOWN)[0][0] == len(sums.TABLES):
            return
        for command in sums.TABLES:
            self._connection.execute(command)
        for (number,) in self.rows("SELECT number FROM trials WHERE test <> '{}' ORDER BY number"):
            with suppress(DataError):  # boards say what is wrong with it
                sums.add_to_sums(self._connection, *self._trials("number = ?", number))

    def trials(
        self, experiment: str | None = None, *, tuning: bool = False, keys: Iterable[str] | None = None
    ) -> list[Trial]:
        """The trials of an experiment (None for all) that were evaluated on test data, in the order of writing.

        ``tuning=True`` returns the tuning trials instead, which were only evaluated on validation data. With ``keys``,
        only the trials that have one of them are read.
        """
        wanted, given = f"test {'=' if tuning else '<>'} '{{}}'", list[str]()
        if experiment is not None:
            wanted, given = f"{wanted} AND experiment = ?", [experiment]
        if keys is not None:
            wanted, given = f"{wanted} AND key IN (SELECT value FROM json_each(?))", [*given, json.dumps(list(keys))]
        return self._trials(wanted, *given)

    def whole_trials(self) -> tuple[list[Trial], str]:
        """The trials of a damaged file before the first that cannot be read, as they were written, and the reason."""
        found: list[Trial] = []
        names, last = ", ".join((*COLUMNS, SUMS)), 0
        question = f"SELECT number, {names} FROM trials WHERE number > ? ORDER BY number LIMIT 1"
        parts = "SELECT part, metric, numbers, sum FROM query_values WHERE trial = ? ORDER BY rowid"
        try:
            while rows := self.rows(question, last):
                last, *row = rows[0]
                with self.reading():
                    found.append(file_format.to_trial(row, self.rows(parts, last)))
        except DataError as error:
            return found, str(error)
        return found, ""

    def find(self, key: str) -> Trial | None:
        """The trial with this key, if it is in the store."""
        return next(iter(self._trials("key = ?", key)), None)

    def valid_means(self, key: str) -> dict[str, float] | None:
        """The metrics of the trial with this key on validation data, if it is in the store."""
        rows = self.rows(f"SELECT {', '.join(INFO)}, {SUMS} FROM trials WHERE key = ?", key)
        with self.reading():
            return dict(file_format.to_info(rows[0]).valid) if rows else None

    def seconds(self, keys: Iterable[str]) -> float:
        """The total seconds of training and scoring in the trials with these keys."""
        total = "SELECT total(train_seconds + score_seconds) FROM trials WHERE key IN (SELECT value FROM json_each(?))"
        return float(self.rows(total, json.dumps(list(keys)))[0][0])

    def _trials(self, wanted: str, *values: object) -> list[Trial]:
        names = ", ".join((*COLUMNS, SUMS))
        rows = self.rows(f"SELECT number, {names} FROM trials WHERE {wanted} ORDER BY number", *values)
        parts = "SELECT part, metric, numbers, sum FROM query_values WHERE trial = ? ORDER BY rowid"
        with self.reading():
            return [file_format.to_trial(row, self.rows(parts, number)) for number, *row in rows]
