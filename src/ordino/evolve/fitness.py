"""The fitness of rankers: a metric of ``ordino.metrics``, for a whole population at once.

A population of linear rankers is one matrix product, made in blocks of queries by threads. The product is a running sum
in single precision in the order of the features, so that a document's score depends on nothing but its features and the
weights: :func:`weigh` gives a single ranker the very scores that its fitness was measured with.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from types import TracebackType
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import query_blocks
from ordino.data.dataset import Dataset
from ordino.data.on_disk import large_array
from ordino.errors import DataError
from ordino.evolve.kernels import CHUNK, weigh_chunks
from ordino.metrics import Metric, Profile, find_profile, measure, parse_metric
from ordino.metrics.rank_kernels import ByRanks
from ordino.reduction import ordered_sum
from ordino.threads import count_threads, thread_pool

BLOCK = 1024  # documents in a block of queries whose scores stay in the cache
WIDE_BLOCK = 16384  # where a measure sorts anyway, fewer and larger blocks
QUERIES = 4096  # whose values are added first
ROWS = 65536  # documents that weigh() takes at a time


@final
class Objective:
    """A metric on a data set, as a function of scores; larger is better.

    MAP and P@k are computed from the ranks of the relevant documents alone, any other metric (and any other order of
    ties than that of the rows) by ``ordino.metrics``. Both give the same value to the last digit. A metric of which
    less is better is negated.

    Parameters
    ----------
    data
        The data set; equal scores keep the order of its rows, unless the profile has another rule.
    metric, profile
        The metric to maximize, and its conventions.
    n_jobs
        Threads; None takes the free processors. The values are the same for any number.
    single
        Whether scores come in single precision.
    """

    def __init__(
        self, data: Dataset, metric: str | Metric, *, profile: str | Profile = "standard", n_jobs: int | None = None,
        single: bool = False,
    ) -> None:  # fmt: skip
        self.y, self.offsets, self.doc_ids = data.y, data.offsets, data.doc_ids
        self.metric, self.profile = parse_metric(metric), find_profile(profile)
        knows = ByRanks.knows(self.metric, self.profile) and (single or self.profile.scores == "float64")
        self.by_ranks = ByRanks(self.y, self.offsets, self.metric, self.profile) if knows else None
        self.blocks = query_blocks(self.offsets, BLOCK if knows else WIDE_BLOCK)
        self.n_jobs = min(count_threads(n_jobs, enough=len(self.blocks) > 1), len(self.blocks))
        self._pool = thread_pool(self.n_jobs) if self.n_jobs > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def mean(self, per_query: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean over the queries that count, shape ``(P,)``; 0 if none does."""
        values = self.counted(per_query)
        n_counted = values.shape[1]
        return self.metric.quality(
            ordered_sum(values, QUERIES, axis=1) / n_counted if n_counted else np.zeros(len(values))
        )

    def counted(self, per_query: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of the queries that count, which depends on the labels alone: the first individual tells."""
        counted = ~np.isnan(per_query[:1]).any(axis=0)
        return per_query if counted.all() else per_query[:, counted]

    def per_query(self, scores_of: Callable[[int], NDArray[Any]], size: int) -> NDArray[np.float64]:
        """The value of each query for ``size`` individuals, shape ``(size, n_queries)``.

        ``scores_of(b)`` gives the scores in block ``b``, shape ``(size, documents of the block)`` or wider.
        """
        out = np.zeros((size, len(self.offsets) - 1))

        def work(start: int) -> None:
            for b in range(start, len(self.blocks), self.n_jobs):
                self._measure(scores_of(b), *self.blocks[b], out)

        if self._pool is None:
            work(0)
        else:
            list(self._pool.map(work, range(self.n_jobs)))
        return out if self.by_ranks is None else self.by_ranks.values(out)

    def _measure(self, scores: NDArray[Any], first: int, last: int, out: NDArray[np.float64]) -> None:
        if self.by_ranks is not None:
            self.by_ranks.add_up(scores, first, last, out)
            return
        begin, end, style = self.offsets[first], self.offsets[last], self.profile
        names = None if self.doc_ids is None else self.doc_ids[begin:end]
        offsets = self.offsets[first : last + 1] - begin
        for p in range(len(out)):
            one = scores[p, : end - begin].astype(np.float64)
            found = measure(self.y[begin:end], one, offsets, self.metric, profile=style, doc_ids=names, n_jobs=1)
            out[p, first:last] = found.per_query[str(self.metric)]


@final
class LinearFitness:
    """The fitness of linear rankers: called with weights, one ranker a row, it gives one number for each.

    Parameters
    ----------
    data, metric, profile, n_jobs
        As for :class:`Objective`. The features are copied once, feature by feature.

    Examples
    --------
    With weight 1 the relevant document is first, with weight -1 it is second.

    >>> data = Dataset([[3.0], [1.0]], [1, 0])
    >>> with LinearFitness(data, "map") as fitness:
    ...     fitness([[1.0], [-1.0]]).tolist()
    [1.0, 0.5]
    """

    def __init__(
        self, data: Dataset, metric: str | Metric, *, profile: str | Profile = "standard", n_jobs: int | None = None
    ) -> None:
        self.objective = Objective(data, metric, profile=profile, n_jobs=n_jobs, single=True)
        largest = max(abs(float(data.X.max(initial=0.0))), abs(float(data.X.min(initial=0.0))))
        if not largest * data.n_features < 1e37:
            raise DataError(
                f"X has values up to {largest:g}, too large to add up in single precision; rescale it first"
            )
        bounds = [(data.offsets[first], data.offsets[last]) for first, last in self.objective.blocks]
        ends = np.cumsum([0, *(_n_chunks(end - begin) for begin, end in bounds)])
        room = large_array(_shape(ends[-1], data.n_features))
        self._chunks = [room[first:last] for first, last in pairwise(ends)]
        for (begin, end), chunks in zip(bounds, self._chunks, strict=True):
            as_chunks(data.X[begin:end], chunks)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.objective.__exit__(kind, error, trace)

    def __call__(self, weights: ArrayLike | Sequence[ArrayLike]) -> NDArray[np.float64]:
        """The metric's mean over the queries for each row of weights, shape ``(P,)``."""
        return self.objective.mean(self.per_query(weights))

    def per_query(self, weights: ArrayLike | Sequence[ArrayLike]) -> NDArray[np.float64]:
        """The metric of each query for each row of weights, shape ``(P, n_queries)``."""
        rows = np.atleast_2d(np.asarray(weights, np.float64))
        padded, _ = _single(rows)

        def scores_of(b: int) -> NDArray[np.float32]:
            chunks = self._chunks[b]
            scores = np.empty((len(padded), len(chunks) * CHUNK), np.float32)
            weigh_chunks(padded, chunks, scores)
            return scores

        return self.objective.per_query(scores_of, len(rows))


def weigh(X: NDArray[np.float32], weights: ArrayLike) -> NDArray[np.float64]:
    """``X @ weights`` with the arithmetic of :class:`LinearFitness`, shape ``(n_docs,)``.

    Examples
    --------
    >>> weigh(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), [10.0, 1.0]).tolist()
    [12.0, 34.0]
    """
    padded, exponents = _single(np.atleast_2d(np.asarray(weights, np.float64)))
    found = np.empty(len(X))
    for start in range(0, len(X), ROWS):
        chunks = as_chunks(X[start : start + ROWS])
        scores = np.empty((2, len(chunks) * CHUNK), np.float32)
        weigh_chunks(padded, chunks, scores)
        found[start : start + ROWS] = scores[0, : min(ROWS, len(X) - start)]
    found *= np.ldexp(1.0, exponents[0])
    return found


def as_single(weights: ArrayLike) -> NDArray[np.float64]:
    """Weights as :func:`weigh` sees them: rounded to single precision, but with the range of double precision.

    Examples
    --------
    >>> as_single([0.1, 1e200]).tolist()[0]
    0.0
    >>> as_single([0.1, 0.5]).tolist()
    [0.10000000149011612, 0.5]
    """
    given = np.atleast_2d(np.asarray(weights, np.float64))
    padded, exponents = _single(given)
    single: NDArray[np.float64] = np.ldexp(padded[0, : given.shape[1]].astype(np.float64), exponents[0])
    return single


def as_chunks(X: NDArray[np.float32], out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Rows of X in chunks, feature by feature, shape ``(n_chunks, n_features, CHUNK)``, into zeros if they are given.

    The last chunk is filled up with zeros, and so are the features, up to a multiple of four.
    """
    n, n_features = X.shape
    chunks = np.zeros(_shape(_n_chunks(n), n_features), np.float32) if out is None else out
    for c in range(len(chunks)):
        rows = X[c * CHUNK : (c + 1) * CHUNK]
        chunks[c, :n_features, : len(rows)] = rows.T
    return chunks


def _n_chunks(n_docs: int) -> int:
    return -(-n_docs // CHUNK)


def _shape(n_chunks: int, n_features: int) -> tuple[int, int, int]:
    return n_chunks, -(-n_features // 4) * 4, CHUNK


def _single(weights: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Weights divided by a power of two, so that none is above 1 (which changes no order), filled up with zeros."""
    size, n_weights = weights.shape
    _, exponents = np.frexp(np.abs(weights).max(axis=1))
    padded = np.zeros((-(-size // 2) * 2, -(-n_weights // 4) * 4), np.float32)
    padded[:size, :n_weights] = np.ldexp(weights, -exponents[:, None])
    return padded, exponents
