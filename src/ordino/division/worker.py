"""What a worker does with its documents before a ranker learns from them: read, look over, sort, scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.backends.crew import Bench
from ordino.data.columns import Groups, check_no_nan
from ordino.data.dataset import Dataset
from ordino.data.on_disk import rows_on_disk, select_on_disk, transformed
from ordino.data.order_statistics import Asked, sorted_numbers
from ordino.data.scaler import Scaler
from ordino.data.shards import read_shard, roles_in
from ordino.errors import DataError

Ints = NDArray[np.int64]


@final
@dataclass(frozen=True)
class Run:
    """A run of queries, and the shards that they are in."""

    files: Mapping[str, Path]
    fingerprints: tuple[str, ...]
    n_features: int
    feature_names: tuple[str, ...] | None
    begins: tuple[int, ...] = ()  # the number of the first query of each shard
    first: int = 0
    last: int = 0
    n_docs: int = 0
    held_out: NDArray[np.bool_] | None = None  # which of the queries are not to be learned from

    def parts(self) -> Iterator[Dataset]:
        """The queries of each shard."""
        for path, fingerprint, begin in zip(self.files.values(), self.fingerprints, self.begins, strict=True):
            data = read_shard(Path(path), fingerprint)
            yield data.select_queries(np.arange(max(self.first - begin, 0), min(self.last - begin, data.n_queries)))


class Labels(NamedTuple):
    """What a look at the labels of a shard finds, query by query."""

    counts: Ints  # documents
    pairs: NDArray[np.float64]  # of documents with different labels
    weights: NDArray[np.float64] | None  # of all documents together, if they have weights
    categories: tuple[str, ...]


def look_over(bench: Bench, shards: Run) -> list[Labels]:  # noqa: ARG001
    """The labels of some shards; features are not read."""
    return [_labels(Path(path)) for path in shards.files.values()]


def _labels(path: Path) -> Labels:
    import pyarrow as pa
    from pyarrow import parquet

    from ordino.losses.levels import sort_labels  # numba loads here

    try:
        with parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            roles = roles_in(schema)
            table = file.read(columns=[name for name in roles if name != "doc_id"])
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read ({' '.join(str(error).split())}); copy it again") from None
    queries, y = (table.column(name).to_numpy() for name in ("qid", "label"))
    heads = np.flatnonzero(np.append(True, queries[1:] != queries[:-1]))
    offsets = np.append(heads, len(y)).astype(np.int64)
    weights = table.column("weight").to_numpy().sum(keepdims=True) if "weight" in roles else None
    features = [name for name in schema.names if name not in roles]
    kinds = tuple(name for name in features if pa.types.is_dictionary(schema.field(name).type))
    return Labels(np.diff(offsets), sort_labels(np.asarray(y, np.float64), offsets).n_pairs, weights, kinds)


def hold(bench: Bench, run: Run, name: str, held_out: str) -> None:
    """Read a run of queries; those that are not to be learned from have another name."""
    rows = rows_on_disk(run, bench.room) if run.files else _nothing(run)
    if run.held_out is None:
        bench.data[name] = rows
        return
    for called, numbers in ((name, np.flatnonzero(~run.held_out)), (held_out, np.flatnonzero(run.held_out))):
        bench.data[called] = select_on_disk(rows, numbers, bench.room)


def take(bench: Bench, data: Dataset, name: str) -> None:
    """Take some documents as they are."""
    bench.data[name] = data


def check(bench: Bench, name: str, said: str, ranker: str) -> None:
    """Refuse missing values."""
    check_no_nan(bench.data[name], said, ranker)


def scale(bench: Bench, name: str, scaler: Scaler) -> None:
    """Scale the documents of this name."""
    bench.made.pop("sorted", None)  # which was needed to learn the scaling
    if bench.data[name].n_docs:
        bench.data[name] = transformed(scaler, bench.data[name])


def unweigh(bench: Bench, name: str) -> None:
    """Let the documents of this name all count the same."""
    data = bench.data[name]
    bench.data[name] = data.with_weights(np.ones(data.n_docs))


def count_values(bench: Bench, name: str, columns: slice, filling: NDArray[np.float32] | None) -> list[int]:
    """How many values each of some columns has; they are sorted now, for the questions that follow."""
    return [len(column) for column in _sorted(bench, name, columns, filling)]


def count_at_most(
    bench: Bench, name: str, columns: slice, filling: NDArray[np.float32] | None, asked: Asked
) -> list[Ints]:
    """How many values of each of some columns are at most what is asked."""
    found = _sorted(bench, name, columns, filling)
    return [np.searchsorted(own, one, side="right") for own, one in zip(found, asked, strict=True)]


def _sorted(bench: Bench, name: str, columns: slice, filling: NDArray[np.float32] | None) -> list[NDArray[np.int32]]:
    key = (name, columns.start, columns.stop, filling is None)
    if bench.made.get("sorted", (None,))[0] != key:
        some = bench.data[name].X[:, columns].T
        if filling is not None:
            some = np.where(np.isnan(some), filling[columns, None], some)
        bench.made["sorted"] = key, [sorted_numbers(column) for column in some]
    found: list[NDArray[np.int32]] = bench.made["sorted"][1]
    return found


def _nothing(run: Run) -> Dataset:
    groups = Groups(None, np.zeros(1, np.int64), np.zeros(0, np.int64))
    X = np.zeros((0, run.n_features), np.float32)
    return Dataset.of_groups(X, np.zeros(0), groups, feature_names=run.feature_names)
