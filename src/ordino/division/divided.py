"""Documents that lie with the workers of a cluster, and what a ranker can ask of them.

Every worker has a run of queries, in canonical order, that begins where a block of sums begins, so that what the
workers add up are the very sums of one machine (:mod:`ordino.reduction`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import row_blocks
from ordino.backends.crew import Crew
from ordino.data.columns import offsets_of
from ordino.data.frames import Categories
from ordino.data.order_statistics import Asked, find_ranks
from ordino.data.scaler import Scaler
from ordino.division import worker
from ordino.reduction import heads_of_blocks

Ints = NDArray[np.int64]
SORTED = 1 << 26  # values that a worker sorts at a time


@final
@dataclass(frozen=True)
class Divided:
    """Documents of whole queries, divided over workers; only sizes are known here."""

    crew: Crew
    name: str  # of these documents, to the workers
    n_features: int
    feature_names: tuple[str, ...] | None
    counts: Ints  # documents of each query
    pairs: NDArray[np.float64]  # of each query: two documents with different labels
    bounds: Ints  # the first query of each worker, and the number of all
    weights: NDArray[np.float64] | None = None  # of the documents of each shard together, if they have any
    categories: Categories = field(default_factory=dict)

    @property
    def n_docs(self) -> int:
        """The number of documents."""
        return int(self.counts.sum())

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.counts)

    @property
    def n_pairs(self) -> float:
        """The number of pairs of documents with different labels."""
        return float(self.pairs.sum())

    @property
    def docs_before(self) -> list[int]:
        """For each worker, how many documents of queries with pairs come before its own."""
        before = offsets_of(np.where(self.pairs > 0, self.counts, 0))
        return [int(before[first]) for first in self.bounds[:-1]]

    @property
    def blocks_before(self) -> list[int]:
        """For each worker, how many blocks of sums come before its own."""
        heads = heads_of_sums(self.counts, self.pairs)
        return [int(np.count_nonzero(heads < first)) for first in self.bounds[:-1]]

    def each(
        self, function: Callable[..., Any], *shared: Any, own: Sequence[Any] | None = None,
        among: Sequence[int] | None = None, lasting: bool = False, once: bool = False,
    ) -> list[Any]:  # fmt: skip
        """What ``function(bench, name, *shared)`` gives in each worker, see :meth:`ordino.backends.crew.Crew.each`."""
        return self.crew.each(function, self.name, *shared, own=own, among=among, lasting=lasting, once=once)

    def check_no_nan(self, name: str, ranker: str) -> None:
        """Refuse missing values."""
        self.each(worker.check, name, ranker)

    def scaled(self, scaler: Scaler) -> Divided:
        """The same documents with scaled features, from now on."""
        self.each(worker.scale, scaler, lasting=True)
        names = self.feature_names
        wide = None if names is None else tuple(map(str, scaler.get_feature_names_out(names)))
        return replace(self, n_features=scaler.n_features_out, feature_names=wide)

    def unweighted(self) -> Divided:
        """The same documents, which all count the same from now on."""
        self.each(worker.unweigh, lasting=True)
        return replace(self, weights=None)

    def column_blocks(self) -> list[slice]:
        """Columns that are worth sorting together."""
        most = int(np.diff(offsets_of(self.counts)[self.bounds]).max(initial=1))
        return row_blocks(self.n_features, max(1, min(SORTED // most, self.n_features)))

    def sorted_columns(self, columns: slice, filling: NDArray[np.float32] | None) -> FarColumns:
        """Some columns, sorted in every worker."""
        counted = self.each(worker.count_values, columns, filling)
        return FarColumns(self, columns, filling, np.sum(counted, axis=0).tolist())


class FarColumns(NamedTuple):
    """Columns that are sorted in every worker."""

    data: Divided
    columns: slice
    filling: NDArray[np.float32] | None
    counts: list[int]

    def at(self, ranks: Asked) -> list[NDArray[np.float32]]:
        """Of each column, the values at these ranks."""

        def count_at_most(asked: Asked) -> list[Ints]:
            found = self.data.each(worker.count_at_most, self.columns, self.filling, asked)
            return [np.sum(one, axis=0) for one in zip(*found, strict=True)]

        return find_ranks(count_at_most, ranks)


def heads_of_sums(counts: Ints, pairs: NDArray[np.float64]) -> Ints:
    """The first query of each block of sums, which are over queries with pairs."""
    with_pairs = np.flatnonzero(pairs)
    return with_pairs[heads_of_blocks(offsets_of(counts[with_pairs]))]
