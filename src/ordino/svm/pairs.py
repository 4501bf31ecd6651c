"""The pairs of a data set as RankSVM's solver sees them: sums, slopes and curvature, never a list of pairs."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import pairwise
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.data.dataset import Dataset
from ordino.losses.levels import sort_labels
from ordino.reduction import GROUP, heads_of_blocks, ordered_sum
from ordino.svm import kernels
from ordino.threads import Run, worker_threads

Vector = NDArray[np.float64]

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

    Documents are given by query. A pair counts the product of its documents' weights. The sums do not depend on
    ``n_jobs``, the number of threads; None takes the free processors. ``rows`` says which row of X each document is.
    ``before`` is the number of documents before these that have pairs, if these are a part of more; it must be one at
    which a block begins (:func:`heads_of_blocks`).
    """

    def __init__(
        self, X: NDArray[np.float32], y: Vector, offsets: NDArray[np.int64], weights: Vector | None = None,
        n_jobs: int | None = 1, before: int = 0,
    ) -> None:  # fmt: skip
        self.X = frozen(np.ascontiguousarray(X))
        self.n_features = X.shape[1]
        levels = sort_labels(y, offsets)
        with_pairs = np.flatnonzero(levels.n_pairs)
        counts = np.diff(offsets)[with_pairs]
        kept = np.repeat(levels.n_pairs > 0, np.diff(offsets))  # whole queries
        self.n_pairs = float(levels.n_pairs.sum())
        self.rows, self.floor = levels.rows[kept], levels.floor[kept]
        self.level = levels.level[self.rows]
        self.weights = np.ones(len(self.rows)) if weights is None else np.asarray(weights, np.float64)[self.rows]
        self.offsets = np.concatenate(([0], np.cumsum(counts)))
        self.is_long = levels.n_pairs[with_pairs] > MOST_PAIRS * counts
        self.blocks = _blocks(self.offsets, before)
        self.n_jobs = n_jobs
        self._all = np.ones(len(self.rows))
        self._threads = ExitStack()
        self._map: Run = lambda work, blocks: [work(block) for block in blocks]

    def scores(self, w: Vector) -> Vector:
        """Products of the documents with w in double precision, shape ``(n_docs,)``."""
        return self._times(w, self._all)

    def moved(self, scores: Vector, length: float, change: Vector) -> Vector:
        """Scores after a step of this length, which changes them by ``change``."""
        return scores + length * change

    def features(self, v: Vector) -> Vector:
        """Sum of the documents times v in double precision, shape ``(n_features,)``."""
        return ordered_sum(self.features_of_blocks(v), GROUP)

    def slopes(self, at: HingeSums) -> Vector:
        """Minus half the derivative of ``at.value`` by the weights of features, shape ``(n_features,)``."""
        return self.features(at.slope)

    def features_of_blocks(self, v: Vector) -> Vector:
        """The same, block by block, shape ``(n_blocks, n_features)``."""
        parts = np.zeros((len(self.blocks), self.X.shape[1]))

        def part(block: Block) -> None:
            kernels.times_rows(self.X, self.rows, v, *self._documents(block), parts[block.number])

        self._map(part, self.blocks)
        return parts

    def sums(self, scores: Vector, low: float, high: float) -> HingeSums:
        """Sums over all pairs with a margin below high; low is minus infinity for the squared hinge."""
        found, at = self.sums_of_blocks(scores, low, high)
        value, shortfall = ordered_sum(found, GROUP)
        return at._replace(value=float(value), shortfall=float(shortfall))

    def sums_of_blocks(self, scores: Vector, low: float, high: float) -> tuple[Vector, HingeSums]:
        """Value and shortfall of each block, shape ``(n_blocks, 2)``, and the rest, which is of documents."""
        slope, degree = np.empty(len(scores)), np.empty(len(scores))
        order = np.empty(len(scores) if self.is_long.any() else 0, np.int64)

        def part(block: Block) -> Vector:
            place = (scores, self.weights, self.floor, self.offsets, self.is_long, block.first, block.last)
            found = np.array(kernels.slopes_of_queries(*place, low, high, slope, degree))
            for own in self._long_queries(block):
                order[own] = np.argsort(scores[own], kind="stable")
                query = (scores[own], self.level[own], self.weights[own], order[own])
                found += kernels.sweep_slopes(*query, high, slope[own], degree[own])
                if low > -np.inf:
                    inner, inner_degree = np.empty_like(scores[own]), np.empty_like(scores[own])
                    found -= kernels.sweep_slopes(*query, low, inner, inner_degree)
                    slope[own] -= inner
                    degree[own] -= inner_degree
            return found

        found = np.array(self._map(part, self.blocks)).reshape(-1, 2)
        return found, HingeSums(low, high, np.nan, np.nan, slope, degree, order)

    def curvature(self, scores: Vector, at: HingeSums, v: Vector) -> Vector:
        """Half the second derivative of ``at.value`` by the weights of features, times v, shape ``(n_features,)``."""
        return self.features(self.curved(scores, at, v))

    def curved(self, scores: Vector, at: HingeSums, v: Vector) -> Vector:
        """Half the second derivative of ``at.value`` by the scores, times what v changes in them, (n_docs,)."""
        change, curved = self._times(v, at.degree), np.empty(len(scores))

        def part(block: Block) -> None:
            place = (scores, self.weights, self.floor, self.offsets, self.is_long, block.first, block.last)
            kernels.curvature_of_queries(*place, at.low, at.high, at.degree, change, curved)
            for own in self._long_queries(block):
                query = (scores[own], self.level[own], self.weights[own], at.order[own])
                kernels.sweep_curvature(*query, at.high, change[own], curved[own])
                if at.low > -np.inf:
                    inner = np.empty_like(curved[own])
                    kernels.sweep_curvature(*query, at.low, change[own], inner)
                    curved[own] -= inner
                curved[own] += at.degree[own] * change[own]

        self._map(part, self.blocks)
        return curved

    def __enter__(self) -> Self:
        self._map = self._threads.enter_context(worker_threads(self.n_jobs, len(self.blocks)))
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.close()

    def _times(self, w: Vector, wanted: Vector) -> Vector:
        """Products of the documents with w; 0 for those that are not wanted."""
        out = np.empty(len(self.rows))

        def part(block: Block) -> None:
            kernels.rows_times(self.X, self.rows, w, *self._documents(block), wanted, out)

        self._map(part, self.blocks)
        return out

    def _documents(self, block: Block) -> tuple[int, int]:
        return self.offsets[block.first], self.offsets[block.last]

    def _long_queries(self, block: Block) -> list[slice]:
        """Where the documents of the block's long queries stand."""
        long = block.first + np.flatnonzero(self.is_long[block.first : block.last])
        return [slice(self.offsets[q], self.offsets[q + 1]) for q in long]


class Block(NamedTuple):
    """Whole queries that one thread works on."""

    number: int
    first: int
    last: int


def _blocks(offsets: NDArray[np.int64], before: int) -> list[Block]:
    """Runs of whole queries that one thread works on; they do not depend on the number of threads."""
    bounds = [*heads_of_blocks(offsets, before).tolist(), len(offsets) - 1]
    return [Block(number, *block) for number, block in enumerate(pairwise(bounds))]


def document_weights(data: Dataset, pairs: str, n_pairs: float | None = None) -> Vector:
    """Weights of documents whose products are the weights of the pairs; of ``n_pairs``, if these are not all.

    Examples
    --------
    Query a has 1 pair, query b has 2 (its labels 1, 0, 0), so that each document of b weighs the root of 1/2.

    >>> data = Dataset([[0.0]] * 5, [1, 0, 1, 0, 0], qid=list("aabbb"))
    >>> (document_weights(data, "query") ** 2).round(6).tolist()
    [1.0, 1.0, 0.5, 0.5, 0.5]
    """
    weights = data.doc_weights
    if pairs == "sum":
        return weights
    counts = sort_labels(data.y, data.offsets).n_pairs
    if pairs == "mean":
        weights /= np.sqrt(max(counts.sum() if n_pairs is None else n_pairs, 1.0))
    else:
        weights /= np.repeat(np.sqrt(np.maximum(counts, 1.0)), data.counts)
    return weights
