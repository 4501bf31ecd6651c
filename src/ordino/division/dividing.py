"""How the queries of shards come to the workers of a cluster.

Workers look at the labels first. Then each reads the shards that its queries are in: how many shards and how many
workers there are changes who reads what, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino import backends
from ordino.backends.crew import Crew
from ordino.data.columns import offsets_of
from ordino.data.dataset import Dataset
from ordino.data.shards import ShardedDataset
from ordino.division import worker
from ordino.division.divided import Divided, heads_of_sums
from ordino.errors import DataError

Ints = NDArray[np.int64]
TRAIN, VALID = "train", "valid"  # how workers call the data


@contextmanager
def divided_data(
    source: ShardedDataset,
    valid: ShardedDataset | Dataset | Sequence[NDArray[np.intp]] | None,
    *,
    by_shard: bool = False,
) -> Iterator[tuple[Divided, Divided | None]]:
    """What to learn from and what to choose by, with the workers of the source's cluster.

    Validation data is given, or the numbers of the queries to learn from and of those that are held out. With
    ``by_shard``, there are as many workers as shards, however many processors the cluster has.
    """
    assert source.cluster is not None, "only data with a cluster is divided"
    with backends.open_crew(source.cluster, len(source), exactly=by_shard) as crew:
        if isinstance(valid, ShardedDataset | Dataset):
            [data] = divide(crew, source, by_shard=by_shard)
            yield data, divide_held_out(crew, valid)
        else:
            data, *held_out = divide(crew, source, valid, by_shard=by_shard)
            yield data, held_out[0] if held_out else None


def divide(
    crew: Crew, source: ShardedDataset, numbers: Sequence[NDArray[np.intp]] | None = None, *, by_shard: bool = False
) -> list[Divided]:
    """The queries of shards in the hands of a crew; or those with the first numbers, and those with the second."""
    found = _looked_over(crew, source)
    kept, held_out = (np.arange(len(found.counts)), None) if numbers is None else numbers
    if by_shard:
        edges = _starts(source)
        bounds = np.searchsorted(kept, edges)
    else:
        bounds = _cut(found.counts[kept], found.pairs[kept], len(crew))
        edges = np.concatenate(([0], kept[bounds[1:-1]], [len(found.counts)])).astype(np.int64)
    crew.shrink(len(bounds) - 1)
    runs = _runs(source, found.counts, edges)
    if held_out is not None:
        runs = [replace(run, held_out=np.isin(np.arange(run.first, run.last), held_out)) for run in runs]
    crew.each(worker.hold, TRAIN, VALID, own=runs, lasting=True)
    known: Any = {"n_features": source.n_features, "feature_names": source.feature_names}
    known["weights"] = found.weights
    made = [Divided(crew, TRAIN, counts=found.counts[kept], pairs=found.pairs[kept], bounds=bounds, **known)]
    if held_out is not None:
        own, counts, pairs = np.searchsorted(held_out, edges), found.counts[held_out], found.pairs[held_out]
        made.append(Divided(crew, VALID, counts=counts, pairs=pairs, bounds=own, **known))
    return made


def divide_held_out(crew: Crew, valid: ShardedDataset | Dataset) -> Divided:
    """Validation data in the hands of a crew that has training data already."""
    if isinstance(valid, ShardedDataset):
        found = _looked_over(crew, valid)
        counts, pairs = found.counts, found.pairs
    else:
        from ordino.losses.levels import sort_labels  # numba loads here

        counts, pairs = valid.counts, sort_labels(valid.y, valid.offsets).n_pairs
    ends = np.searchsorted(np.cumsum(counts), np.arange(1, len(crew)) * counts.sum() / len(crew))
    bounds = np.concatenate(([0], ends, [len(counts)])).astype(np.int64)
    if isinstance(valid, ShardedDataset):
        crew.each(worker.hold, VALID, VALID, own=_runs(valid, counts, bounds), lasting=True)
    else:
        pieces = [valid.select_queries(np.arange(first, last)) for first, last in pairwise(bounds)]
        crew.each(worker.take, VALID, own=pieces, lasting=True)
    return Divided(crew, VALID, valid.n_features, valid.feature_names, counts, pairs, bounds)


def _looked_over(crew: Crew, source: ShardedDataset) -> worker.Labels:
    """The labels of all shards."""
    groups = np.array_split(np.arange(len(source)), len(crew))
    found = [
        one for some in crew.each(worker.look_over, own=[_shards(source, group) for group in groups]) for one in some
    ]
    for path, one, size in zip(source.files, found, source.sizes, strict=True):
        if (int(one.counts.sum()), len(one.counts)) != size:
            raise DataError(f"{path}: this shard changed after it was written; copy it again, or write the shards anew")
    if names := ", ".join(found[0].categories):
        raise DataError(f"categories ({names}) cannot be divided over a cluster; leave out cluster, or encode them")
    weights = [one.weights for one in found if one.weights is not None]
    counts, pairs = (np.concatenate([getattr(one, name) for one in found]) for name in ("counts", "pairs"))
    return worker.Labels(counts, pairs, np.concatenate(weights) if weights else None, ())


def _shards(source: ShardedDataset, numbers: Ints) -> worker.Run:
    """Some whole shards."""
    files = {str(number): source.files[number].absolute() for number in numbers}
    return worker.Run(files, tuple(map(source.fingerprint, numbers)), source.n_features, source.feature_names)


def _runs(source: ShardedDataset, counts: Ints, bounds: Ints) -> list[worker.Run]:
    """The run of each worker, with the shards that it reads."""
    starts, runs = _starts(source), []
    for first, last in pairwise(bounds.tolist()):
        inside = np.flatnonzero((starts[:-1] < last) & (starts[1:] > first) & (first < last))
        begins = tuple(starts[inside].tolist())
        size = {"first": first, "last": last, "n_docs": int(counts[first:last].sum())}
        runs.append(replace(_shards(source, inside), begins=begins, **size))
    return runs


def _starts(source: ShardedDataset) -> Ints:
    """The number of the first query of each shard, and that of all."""
    return offsets_of(np.array([queries for _, queries in source.sizes]))


def _cut(counts: Ints, pairs: NDArray[np.float64], n_workers: int) -> Ints:
    """Where the run of each worker begins: with a block of sums, and as even as that allows."""
    heads, offsets = heads_of_sums(counts, pairs)[1:], offsets_of(counts)
    wanted = np.arange(1, n_workers) * offsets[-1] / n_workers
    places = np.searchsorted(offsets[heads], wanted)
    chosen = heads[places[places < len(heads)]]
    return np.unique(np.concatenate(([0], chosen, [len(counts)]))).astype(np.int64)
