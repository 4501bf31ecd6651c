"""What all losses share: checks of the arguments, work on several threads, averages.

A loss is a pure function of the scores, the labels and the start of each query; it does not depend on the model. A
kernel computes every query separately; the average is taken in the order of the queries, so that the number of threads
does not change the result, not even in the last bit.
"""

from abc import ABC, abstractmethod
from itertools import pairwise
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import check_offsets
from ordino.errors import DataError
from ordino.losses.kernels import by_level
from ordino.losses.levels import number_labels
from ordino.threads import count_threads, run_blocks

Float64 = NDArray[np.float64]
Ints = NDArray[np.int64]
N_BLOCKS = 32  # shares of the work that threads take in turn
WORTH_THREADS = 2_000_000  # pairs, below which starting threads costs more than it saves
NOT_WANTED = np.empty((0, 0))


class Queries(NamedTuple):
    """Checked arguments of a loss, by query and inside it by rising label; documents of weight 0 are left out."""

    order: Ints  # (n,): the row of each document
    place: Ints  # (n_docs,): where each row stands in this order; -1 if it is left out
    y: Float64  # (n,): labels, in this order as all that follows
    weights: Float64  # (n,)
    firsts: Ints  # (n_queries + 1,): the number of each query's first level
    bounds: Ints  # (n_levels + 1,): where each level begins
    uniform: bool  # whether all weights are 1
    offsets: Ints  # (n_queries + 1,), of the rows

    def part(self, first: int, last: int) -> Self:
        """Queries first to last, not copied."""
        if first == 0 and last == len(self.offsets) - 1:
            return self
        firsts, rows = self.firsts[first : last + 1], self.offsets[first : last + 1]
        bounds = self.bounds[firsts[0] : firsts[-1] + 1]
        docs, place = slice(bounds[0], bounds[-1]), self.place[rows[0] : rows[-1]]
        weights = self.weights[docs]
        return type(self)(
            self.order[docs] - rows[0],
            np.where(place < 0, -1, place - bounds[0]) if self.drops else place - bounds[0],
            self.y[docs], weights, firsts - firsts[0], bounds - bounds[0],
            self.uniform or bool((weights == 1).all()), rows - rows[0],
        )  # fmt: skip

    @property
    def drops(self) -> bool:
        """Whether a document is left out."""
        return len(self.order) < len(self.place)

    def arguments(self, n_rooms: int, length: int | None = None) -> tuple[Any, ...]:
        """What every kernel is called with after the scores; buffers are as long as the longest query, or as said."""
        length = int(_counts(self.offsets).max(initial=0)) if length is None else length
        return self.y, self.weights, self.firsts, self.bounds, np.empty((n_rooms, length))


class Sums(NamedTuple):
    """What kernels fill in for some queries, documents in the order of :class:`Queries`; zeros before."""

    gradient: Float64  # (n_models, n)
    curvature: Float64  # (n_models, n), or (0, 0) if it is not wanted
    values: Float64  # (n_models, n_queries)
    totals: Float64  # (n_queries,): how much each query counts

    def with_curvature(self) -> Self:
        """The same with room for a curvature, for kernels that always give it."""
        return self if len(self.curvature) else self._replace(curvature=np.empty_like(self.gradient))


class Loss(ABC):
    """A loss: a pure function of scores. It is made by :func:`ordino.losses.make_loss` and immutable."""

    name: str
    """The name in ``LOSSES``."""
    average: str
    """What counts equally: every pair ("pairs") or every query ("queries"); with "sum", pairs are added up."""

    needs_positive_labels: bool = False
    """Whether labels below 0 are refused, because the loss reads them as gains or weights."""

    @abstractmethod
    def _fill(self, scores: Float64, queries: Queries, sums: Sums) -> None:
        """Fill in the sums of all queries, from scores in their order, ``(n_models, n)``."""

    def _sums(self, scores: Float64, queries: Queries, n_jobs: int | None, *, curved: bool = False) -> Sums:
        """The sums of all queries, documents in the order of the scores; a value is NaN where a score is not finite."""

        def work(block: tuple[int, int]) -> Sums:
            part = queries.part(*block)
            own = np.take(scores[:, queries.offsets[block[0]] : queries.offsets[block[1]]], part.order, axis=1)
            unknown = None if isfinite(own.sum()) else _unknown(own, part)
            shape = (len(own), own.shape[1] + part.drops)  # the last column is for documents that are left out
            sums = Sums(
                np.zeros(shape), np.zeros(shape) if curved else NOT_WANTED,
                np.zeros((len(own), len(part.firsts) - 1)), np.zeros(len(part.firsts) - 1),
            )  # fmt: skip
            self._fill(own, part, sums)
            if unknown is not None:
                sums.values[unknown & (sums.totals > 0)] = np.nan
            gradient, curvature = (np.take(sum_, part.place, axis=1) if len(sum_) else sum_ for sum_ in sums[:2])
            return Sums(gradient, curvature, sums.values, sums.totals)

        found = run_blocks(work, *_blocks(queries.offsets, len(scores), n_jobs))
        return (
            found[0] if len(found) == 1 else Sums(*(np.concatenate(some, axis=-1) for some in zip(*found, strict=True)))
        )

    def value_and_gradient(
        self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike, *,
        weights: ArrayLike | None = None, n_jobs: int | None = None,
    ) -> tuple[Any, NDArray[Any]]:  # fmt: skip
        """The loss, and its derivative with respect to each score.

        Parameters
        ----------
        scores
            One score for each document, shape ``(n_docs,)``; or, for several models of the same data at once,
            ``(n_models, n_docs)``. If a score is NaN or infinite, the gradient of its query and the value are NaN.
        y
            Labels, shape ``(n_docs,)``; larger is better. A query whose labels are all equal teaches nothing: it adds
            0 and is left out of the average (but see ``ties``).
        offsets
            Query ``q`` owns the documents ``offsets[q]:offsets[q + 1]``, shape ``(n_queries + 1,)``.
        weights
            The weight of each document, shape ``(n_docs,)``. A document of weight 0 is ignored; the weight of a pair is
            the product of its documents' weights.
        n_jobs
            Number of threads; None takes the free processors. It does not change the result.

        Returns
        -------
        value
            A float; or for several models an array, shape ``(n_models,)``.
        gradient
            In the shape of the scores; float32 if they are, otherwise float64.
        """
        given = _check_scores(scores)
        prepared = self.prepare(y, offsets, weights, given.shape[-1])
        value, gradient, _ = self.of_prepared(given, prepared, n_jobs=n_jobs)
        return value, gradient

    def of_prepared(
        self, scores: ArrayLike, prepared: Queries, *, n_jobs: int | None = None
    ) -> tuple[Any, NDArray[Any], float]:
        """What :meth:`value_and_gradient` gives, from what :meth:`prepare` made of the other arguments.

        The third number is how much these queries count in an average with others; 0 if it is a sum.
        """
        given = _check_scores(scores)
        gradient, _, values, totals = self._sums(_of_docs(given, prepared), prepared, n_jobs)
        unknown = np.isnan(values)
        if unknown.any():  # a score that is not finite: no gradient of its query is
            gradient[np.repeat(unknown, np.diff(prepared.offsets), axis=1)] = np.nan
        shares, weight = self._shares(totals)
        value = (values * shares).sum(axis=1)
        gradient = _scaled(gradient, shares, prepared.offsets, given)
        return (value if given.ndim == 2 else float(value[0])), gradient, weight

    def curvature(
        self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike, *,
        weights: ArrayLike | None = None, n_jobs: int | None = None,
    ) -> NDArray[Any]:  # fmt: skip
        """The curvature of the loss in each score, never negative, in the shape of the scores.

        The arguments are those of :meth:`value_and_gradient`.

        This is the second derivative if the loss has a useful one (RankNet, LambdaRank, the softmax losses), otherwise
        a bound on it. Newton's method, and so a boosted tree, divides the gradient by it.
        """
        given = _check_scores(scores)
        queries = self.prepare(y, offsets, weights, given.shape[-1])
        _, curvature, _, totals = self._sums(_of_docs(given, queries), queries, n_jobs, curved=True)
        return _scaled(curvature, self._shares(totals)[0], queries.offsets, given)

    def _shares(self, totals: Float64) -> tuple[Float64, float]:
        """What each query's sum is multiplied by to make an average of queries that teach something, or 1 for a sum.

        The average is one of so much, which is given too.
        """
        if self.average == "sum":
            return np.ones_like(totals), 0.0
        if self.average == "pairs":  # as below with an importance of 1, in less time
            whole = float(totals.sum())
            return np.full(len(totals), 1.0 / whole if whole > 0 else 0.0), whole
        importance = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
        whole = float((importance * totals).sum())
        return (importance / whole if whole > 0 else np.zeros_like(totals)), whole

    def prepare(
        self, y: ArrayLike, offsets: ArrayLike, weights: ArrayLike | None = None, n_docs: int | None = None
    ) -> Queries:
        """Check labels and weights once, for many scores of the same documents or of parts of them."""
        n_docs = np.size(y) if n_docs is None else n_docs
        starts = _own(check_offsets(offsets, n_docs), np.int64)
        labels = _column("y", y, n_docs)
        if self.needs_positive_labels and n_docs and labels.min() < 0:
            raise DataError(
                f"y has the label {labels.min():g}, but {self.name} needs labels that are 0 or more; add a constant"
            )
        importance = np.ones(n_docs) if weights is None else _column("weights", weights, n_docs)
        if n_docs and importance.min() < 0:
            raise DataError(f"weights has {importance.min():g}; weights must not be negative")
        numbers, n_numbers = number_labels(labels, starts)
        order, place, firsts = np.empty(n_docs, np.int64), np.full(n_docs, -1), np.empty_like(starts)
        bounds = np.empty(n_docs + 1, np.int64)
        n_levels = by_level(numbers, np.empty(n_numbers, np.int64), importance, starts, order, firsts, bounds)
        order, bounds = order[: bounds[n_levels]], bounds[: n_levels + 1]
        place[order] = np.arange(len(order))
        kept = importance[order]
        uniform = weights is None or bool((kept == 1).all())
        return Queries(order, place, labels[order], kept, firsts, bounds, uniform, starts)


def _check_scores(scores: ArrayLike) -> NDArray[Any]:
    given = np.asarray(scores)
    if given.ndim not in (1, 2) or given.dtype.kind not in "fiub":
        raise DataError(
            f"scores has shape {given.shape} and type {given.dtype}; give one number for each document, "
            "or a row of them for each model"
        )
    return given


def _of_docs(given: NDArray[Any], prepared: Queries) -> Float64:
    """Scores as rows of models."""
    n_docs = int(prepared.offsets[-1])
    if given.shape[-1] != n_docs:
        raise DataError(f"scores has shape {given.shape}; give one number for each document, {n_docs} in all")
    return np.atleast_2d(_own(given, np.float64))


def _unknown(scores: Float64, queries: Queries) -> NDArray[np.bool_]:
    """Which queries of which models have a score that is not finite; all their scores become 0."""
    counts = _counts(queries.bounds[queries.firsts])
    query, n_queries = np.repeat(np.arange(len(counts)), counts), len(counts)
    found = np.array([np.bincount(query[~np.isfinite(row)], minlength=n_queries) > 0 for row in scores])
    scores[np.repeat(found, counts, axis=1)] = 0.0
    return found


def _blocks(offsets: Ints, n_models: int, n_jobs: int | None) -> tuple[list[tuple[int, int]], int]:
    """Blocks of queries of about equal cost and how many threads share them: one of each if more are not worth it."""
    n_queries, is_much = len(offsets) - 1, float(offsets[-1]) ** 2 * n_models >= WORTH_THREADS
    if is_much:  # perhaps
        cost = np.cumsum(np.diff(offsets).astype(np.float64) ** 2) * n_models
        is_much = n_queries > 1 and bool(cost[-1] >= WORTH_THREADS)
    n_threads = count_threads(n_jobs, enough=is_much)
    if n_threads == 1 or not is_much:
        return [(0, n_queries)], 1
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], N_BLOCKS + 1)[1:-1])
    return list(pairwise(np.unique([0, *cuts, n_queries]).tolist())), n_threads


def _scaled(sums: Float64, shares: Float64, offsets: Ints, given: NDArray[Any]) -> NDArray[Any]:
    """Sums of documents times the share of their query, in the shape and precision of the scores."""
    out = np.empty(given.shape, np.float32 if given.dtype == np.float32 else np.float64)
    factor = np.repeat(shares, _counts(offsets))
    np.multiply(sums if given.ndim == 2 else sums[0], factor, out=out, casting="same_kind")
    return out


def _counts(offsets: Ints) -> Ints:
    """Documents of each query: np.diff, without what that spends on other cases."""
    return offsets[1:] - offsets[:-1]


def is_number(value: object) -> bool:
    """Whether a parameter is a number."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _own(values: ArrayLike, dtype: type) -> NDArray[Any]:
    """A contiguous array of this type that may be written to (kernels are compiled for such alone)."""
    array: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype)
    return array if array.flags.writeable else array.copy()


def _column(name: str, values: ArrayLike, n_docs: int) -> Float64:
    column = _own(values, np.float64)
    if column.shape != (n_docs,):
        raise DataError(f"{name} has shape {column.shape}; give one number for each document, {n_docs} in all")
    if not np.isfinite(column).all():
        raise DataError(f"{name} has a value that is not a finite number; leave such documents out")
    return column
