"""The pairs of a data set as RankSVM's solver sees them: sums, slopes and curvature, never a list of pairs."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, Self, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.svm.kernels import by_level, dense_levels, pair_product, pair_slopes, rows_times, times_rows

Vector = NDArray[np.float64]
T = TypeVar("T")

BLOCK = 8192  # documents that one thread works on at a time; fixed, so that sums do not depend on the thread count
MOST_PAIRS = 150  # a document, up to which looping over the pairs of a query is quicker than sorting its documents


class HingeSums(NamedTuple):
    """Sums over pairs of max(0, high - margin)^2 - max(0, low - margin)^2, and what their derivatives need."""

    low: float
    high: float
    value: float
    shortfall: float  # sum of max(0, high - margin) - max(0, low - margin)
    slope: Vector  # minus half the derivative by each score, (n_docs,)
    degree: Vector  # weight of each document's pairs with margins from low to high, (n_docs,)
    order: NDArray[np.int64]  # documents of each long query by rising score


@final
class PairSums:
    """The pairs of a data set: time n log n at most, memory linear in documents.

    Documents of queries without a pair are left out. The others stand by query and, inside it, by rising label: so do
    ``scores`` and all that is made of them.

    Parameters
    ----------
    X, y, offsets
        Documents by query.
    weights
        A pair counts the product of its documents' weights.
    n_jobs
        Threads; None takes all cores. The sums do not depend on it.

    Attributes
    ----------
    rows
        Which row of X each document is.
    """

    def __init__(
        self,
        X: NDArray[np.float32],
        y: Vector,
        offsets: NDArray[np.int64],
        weights: Vector | None = None,
        n_jobs: int | None = 1,
    ) -> None:
        self.X = frozen(np.ascontiguousarray(X))
        level, pairs_of_query = dense_levels(frozen(np.ascontiguousarray(y)), frozen(np.ascontiguousarray(offsets)))
        with_pairs = np.flatnonzero(pairs_of_query)
        counts = np.diff(offsets)[with_pairs]
        self.n_pairs = float(pairs_of_query.sum())
        self.rows, self.floor = by_level(level, offsets, with_pairs, counts.sum())
        self.level = level[self.rows]
        self.weights = np.ones(len(self.rows)) if weights is None else np.asarray(weights, np.float64)[self.rows]
        self.offsets = np.concatenate(([0], np.cumsum(counts)))
        self.is_long = pairs_of_query[with_pairs] > MOST_PAIRS * counts
        self.blocks = _blocks(self.offsets)
        self.n_jobs = min(n_jobs or os.cpu_count() or 1, len(self.blocks))
        self._pool: ThreadPoolExecutor | None = None

    def scores(self, w: Vector) -> Vector:
        """Products of the documents with w in double precision, shape ``(n_docs,)``."""
        out = np.empty(len(self.rows))
        self._run(lambda first, last: rows_times(self.X, self.rows, w, self.offsets[first], self.offsets[last], out))
        return out

    def features(self, v: Vector) -> Vector:
        """Sum of the documents times v in double precision, shape ``(n_features,)``."""
        return self._total(
            lambda first, last, out: times_rows(self.X, self.rows, v, self.offsets[first], self.offsets[last], out)
        )

    def sums(self, scores: Vector, low: float, high: float) -> HingeSums:
        """Sums over all pairs with a margin below high; low is minus infinity for the squared hinge."""
        slope, degree = np.empty(len(scores)), np.empty(len(scores))
        order = np.empty(len(scores) if self.is_long.any() else 0, np.int64)

        def part(first: int, last: int) -> tuple[float, float]:
            found: tuple[float, float] = pair_slopes(
                *(scores, self.level, self.weights, self.floor, self.offsets, self.is_long),
                *(first, last, low, high, order, slope, degree),
            )
            return found

        value, shortfall = np.sum(self._run(part) or [(0.0, 0.0)], axis=0)
        return HingeSums(low, high, float(value), float(shortfall), slope, degree, order)

    def curvature(self, scores: Vector, at: HingeSums, v: Vector) -> Vector:
        """Half the second derivative of ``at.value`` by the weights of features, times v, shape ``(n_features,)``."""
        return self._total(
            lambda first, last, out: pair_product(
                *(self.X, self.rows, scores, self.level, self.weights, self.floor, self.offsets, self.is_long),
                *(first, last, at.low, at.high, at.order, at.degree, v, out),
            )
        )

    def __enter__(self) -> Self:
        if self.n_jobs > 1:
            self._pool = ThreadPoolExecutor(self.n_jobs)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _total(self, add: Callable[[int, int, Vector], None]) -> Vector:
        """The sum of what add adds for every block of queries to a vector of its own."""
        parts = np.zeros((len(self.blocks), self.X.shape[1]))
        places = {first: place for place, (first, _) in enumerate(self.blocks)}
        self._run(lambda first, last: add(first, last, parts[places[first]]))
        total: Vector = parts.sum(axis=0)
        return total

    def _run(self, part: Callable[[int, int], T]) -> list[T]:
        """Call part for every block of queries; results in the order of the blocks."""
        if self._pool is None:
            return [part(first, last) for first, last in self.blocks]
        return list(self._pool.map(lambda block: part(*block), self.blocks))


def _blocks(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Runs of whole queries with about BLOCK documents each."""
    heads = np.searchsorted(offsets[:-1], np.arange(0, offsets[-1], BLOCK))
    return list(pairwise(np.unique(np.append(heads, len(offsets) - 1)).tolist()))
