"""The sums of values over the trials of a setting, which a store keeps up to date as trials are written.

A board shows means over repeats. To make them it would read every value of every trial; with the sums it reads a row
for each ranker, fold and metric. They are there for speed alone: what they do not cover is read from the trials
themselves, so that a store without them, of an earlier version, shows the same.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from ordino.experiment.store.file_format import FAR
from ordino.experiment.store.trial import Trial, TrialInfo, Values
from ordino.plain import as_json

TABLES = (
    """
CREATE TABLE IF NOT EXISTS sums (
    setting TEXT NOT NULL,
    metric TEXT NOT NULL,
    trials TEXT NOT NULL,
    totals BLOB NOT NULL,
    counts BLOB NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (setting, metric)
) WITHOUT ROWID
""",
    "CREATE TABLE IF NOT EXISTS test_queries (data TEXT PRIMARY KEY, query_ids TEXT NOT NULL, sum INTEGER NOT NULL)",
    f"CREATE INDEX IF NOT EXISTS far ON trials (number, {', '.join(FAR)})",  # what stands behind long columns
)
"""No part of the format: an Ordino that does not know them reads and writes the store as before."""
KNOWN = "SELECT count(*) FROM sqlite_master WHERE name IN ('sums', 'test_queries', 'far')"
READ = (
    "SELECT setting, trials, totals, counts, sum FROM sums "
    "WHERE metric = ? AND setting IN (SELECT value FROM json_each(?))"
)
READ_QUERIES = "SELECT data, query_ids, sum FROM test_queries WHERE data IN (SELECT value FROM json_each(?))"


class Sum(NamedTuple):
    """What the trials of a setting add up to, query by query."""

    keys: list[str]
    """The trials, in the order of writing."""
    totals: Values
    counts: Values
    """How many trials have a value."""


def setting_of(trial: TrialInfo) -> str:
    """What trials share that only differ in their seed; its label is not among it, as a board may change that."""
    told = [trial.dataset, trial.profile, trial.fold, trial.data, trial.ranker, trial.is_tuned, dict(trial.params)]
    return blake2b(json.dumps(told, sort_keys=True, default=as_json).encode(), digest_size=16).hexdigest()


def add_to_sums(connection: sqlite3.Connection, trial: Trial) -> None:
    """Add a trial that has just been written; one that an old store gave no fingerprint of its data is left alone."""
    if not trial.data or not trial.test:
        return
    ids = json.dumps(as_json(trial.query_ids))
    known = connection.execute("SELECT query_ids FROM test_queries WHERE data = ?", (trial.data,)).fetchone()
    if known is None:
        connection.execute("INSERT INTO test_queries VALUES (?, ?, ?)", (trial.data, ids, _checksum(trial.data, ids)))
    elif known[0] != ids:  # which one fingerprint cannot have; such trials are read one by one
        connection.execute("UPDATE test_queries SET query_ids = '' WHERE data = ?", (trial.data,))
    setting = setting_of(trial)
    for metric, values in trial.per_query.items():
        given = np.ascontiguousarray(values, np.float64)
        there = ~np.isnan(given)
        question = "SELECT trials, totals, counts, sum FROM sums WHERE setting = ? AND metric = ?"
        row = connection.execute(question, (setting, metric)).fetchone()
        seeds, found = (None, None) if row is None else _read(setting, metric, *row)
        if seeds is None or found is None or str(trial.seed) in seeds or len(found.totals) != len(given):
            # the first, or the first of a setting that is measured anew
            seeds, found = {}, Sum([], np.zeros(len(given)), np.zeros(len(given)))
        seeds[str(trial.seed)] = trial.key
        totals, counts = found.totals + np.where(there, given, 0.0), found.counts + there
        text, blobs = json.dumps(seeds), (totals.astype("<f8").tobytes(), _packed(counts))
        row = (setting, metric, text, *blobs, _checksum(setting, metric, text, *blobs))
        connection.execute("INSERT OR REPLACE INTO sums VALUES (?, ?, ?, ?, ?, ?)", row)


def read_sums(rows: Iterable[Any], metric: str) -> dict[str, Sum]:
    """By setting what its trials add up to, from the rows of :data:`READ`; without what is damaged."""
    found = {setting: _read(setting, metric, *row)[1] for setting, *row in rows}
    return {setting: one for setting, one in found.items() if one is not None}


def read_queries(rows: Iterable[Any]) -> dict[str, list[Any]]:
    """By fingerprint the ids of the test queries, from the rows of :data:`READ_QUERIES`."""
    return {data: json.loads(text) for data, text, total in rows if _checksum(data, text) == total}


def _read(
    setting: str, metric: str, text: str, totals: bytes, counts: bytes, total: int
) -> tuple[dict[str, str] | None, Sum | None]:
    with suppress(ValueError, TypeError, AttributeError):
        if _checksum(setting, metric, text, totals, counts) == total:
            seeds: dict[str, str] = json.loads(text)
            values = np.frombuffer(totals, "<f8")
            return seeds, Sum(list(seeds.values()), values, np.broadcast_to(np.frombuffer(counts, "<f8"), len(values)))
    return None, None


def _packed(counts: Values) -> bytes:
    """Counts as bytes; as one where all are equal."""
    few = counts[:1] if len(counts) and (counts == counts[0]).all() else counts
    return few.astype("<f8").tobytes()


def _checksum(*parts: str | bytes) -> int:
    total = 0
    for part in parts:
        total = crc32(part.encode() if isinstance(part, str) else part, total)
    return total
