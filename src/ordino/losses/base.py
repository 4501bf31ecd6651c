"""What every loss does: check what it is given, share the queries among threads, average.

A loss is a pure function of scores: it knows the labels and where each query starts, and nothing of what made the
scores. A kernel computes every query by itself; the average is taken over their values in the order of the queries, so
the number of threads changes nothing, to the last bit.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import DataError, ParameterError

Float64 = NDArray[np.float64]
N_BLOCKS = 32  # shares of the work that threads take in turn
WORTH_THREADS = 2_000_000  # pairs, below which starting threads costs more than it saves


class Queries(NamedTuple):
    """Checked arguments of a loss, as its kernels want them: float64, writable, contiguous."""

    scores: Float64  # (n_models, n_docs)
    y: Float64  # (n_docs,)
    weights: Float64  # (n_docs,)
    offsets: NDArray[np.int64]  # (n_queries + 1,)
    query_weights: Float64  # (n_queries,)


class Loss(ABC):
    """A pure function of scores that learning makes small; made by :func:`ordino.losses.make_loss`, never changed."""

    name: str
    """The name in ``LOSSES``."""
    average: str
    """What counts equally: every pair ("pairs") or every query ("queries")."""

    needs_positive_labels: bool = False
    """Whether labels below 0 are refused, because the loss reads them as gains or weights."""

    @abstractmethod
    def _sums(
        self, queries: Queries, first: int, last: int, gradient: Float64, values: Float64, totals: Float64
    ) -> None:
        """Fill in the value, gradient and total weight of queries first..last."""

    @abstractmethod
    def _curvature(self, queries: Queries, first: int, last: int, curvature: Float64, totals: Float64) -> None:
        """Fill in the curvature and total weight of queries first..last."""

    def value_and_gradient(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        offsets: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        query_weights: ArrayLike | None = None,
        out: NDArray[Any] | None = None,
        n_jobs: int | None = None,
    ) -> tuple[Any, NDArray[Any]]:
        """Loss of the scores, and its derivative with respect to each of them.

        Parameters
        ----------
        scores
            One score for each document, shape ``(n_docs,)``; or, for several models of the same data at once,
            ``(n_models, n_docs)``. A score that is NaN or infinite makes its query's gradient, and the value, NaN.
        y
            Labels, shape ``(n_docs,)``; larger is better. A query whose labels are all equal teaches nothing: it adds
            0 and is left out of the average (but see ``ties``).
        offsets
            Query ``q`` owns the documents ``offsets[q]:offsets[q + 1]``, shape ``(n_queries + 1,)``.
        weights
            How much each document counts, shape ``(n_docs,)``. One of weight 0 is not there; a pair counts as much as
            the product of its two.
        query_weights
            How much each query counts, shape ``(n_queries,)``; one of weight 2 counts as two of weight 1.
        out
            Where to write the gradient, with the shape and type of scores.
        n_jobs
            Threads, None for one a core; the result does not depend on it.

        Returns
        -------
        value
            A float; or for several models an array, shape ``(n_models,)``.
        gradient
            With the shape of scores, float32 if these are, else float64.
        """
        given, queries = self._checked(scores, y, offsets, weights, query_weights)
        n_models, n_queries = len(queries.scores), len(queries.query_weights)
        gradient = np.empty_like(queries.scores)
        values, totals = np.empty((n_models, n_queries)), np.empty(n_queries)
        run_blocks(
            lambda first, last: self._sums(queries, first, last, gradient, values, totals),
            queries.offsets, n_models, n_jobs,
        )  # fmt: skip
        shares = self._shares(totals, queries.query_weights)
        value = (values * shares).sum(axis=1)
        gradient = self._scaled(gradient, shares, queries.offsets, given, out)
        return (value if given.ndim == 2 else float(value[0])), gradient

    def curvature(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        offsets: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        query_weights: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> NDArray[Any]:
        """How sharply the loss bends in each score, never negative, in the shape of scores; arguments as above.

        It is the second derivative where the loss has one that helps (RankNet, LambdaRank, the losses made of softmax),
        and a bound of it elsewhere: what a step of Newton's method, and so a boosted tree, divides the gradient by.
        """
        given, queries = self._checked(scores, y, offsets, weights, query_weights)
        curvature, totals = np.empty_like(queries.scores), np.empty(len(queries.query_weights))
        run_blocks(
            lambda first, last: self._curvature(queries, first, last, curvature, totals),
            queries.offsets, len(queries.scores), n_jobs,
        )  # fmt: skip
        return self._scaled(curvature, self._shares(totals, queries.query_weights), queries.offsets, given, None)

    def _shares(self, totals: Float64, query_weights: Float64) -> Float64:
        """What each query's sum is multiplied by to make an average of queries that teach something."""
        importance = query_weights
        if self.average == "queries":
            importance = np.divide(query_weights, totals, out=np.zeros_like(totals), where=totals > 0)
        whole = float((importance * totals).sum())
        return importance / whole if whole > 0 else np.zeros_like(totals)

    def _scaled(
        self, sums: Float64, shares: Float64, offsets: NDArray[np.int64], given: NDArray[Any], out: NDArray[Any] | None
    ) -> NDArray[Any]:
        if out is None:
            out = np.empty(given.shape, np.float32 if given.dtype == np.float32 else np.float64)
        elif out.shape != given.shape or out.dtype.kind != "f":
            raise DataError(f"out has shape {out.shape} and type {out.dtype}; it must be floats of shape {given.shape}")
        factor = np.repeat(shares, np.diff(offsets))
        np.multiply(sums if given.ndim == 2 else sums[0], factor, out=out, casting="same_kind")
        return out

    def _checked(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        offsets: ArrayLike,
        weights: ArrayLike | None,
        query_weights: ArrayLike | None,
    ) -> tuple[NDArray[Any], Queries]:
        given = np.asarray(scores)
        if given.ndim not in (1, 2) or given.dtype.kind not in "fiub":
            raise DataError(
                f"scores has shape {given.shape} and type {given.dtype}; give one number for each document, "
                "or a row of them for each model"
            )
        n_docs = given.shape[-1]
        starts = _own(offsets, np.int64)
        if starts.ndim != 1 or not len(starts) or starts[0] != 0 or starts[-1] != n_docs or (np.diff(starts) < 0).any():
            raise DataError(f"offsets must rise from 0 to the number of scores, {n_docs}; they do not")
        labels = _column("y", y, n_docs, "document")
        if self.needs_positive_labels and n_docs and labels.min() < 0:
            raise DataError(
                f"y has the label {labels.min():g}, but {self.name} needs labels that are 0 or more; add a constant"
            )
        importance = np.ones(n_docs) if weights is None else _column("weights", weights, n_docs, "document")
        n_queries = len(starts) - 1
        votes = (
            np.ones(n_queries) if query_weights is None else _column("query_weights", query_weights, n_queries, "query")
        )
        for name, column in (("weights", importance), ("query_weights", votes)):
            if len(column) and column.min() < 0:
                raise DataError(f"{name} has {column.min():g}; weights must not be negative")
        return given, Queries(np.atleast_2d(_own(given, np.float64)), labels, importance, starts, votes)


def run_blocks(work: Callable[[int, int], None], offsets: NDArray[np.int64], n_models: int, n_jobs: int | None) -> None:
    """Call ``work(first, last)`` for blocks of queries of about equal cost, in threads if that is worth it."""
    n_threads = (os.cpu_count() or 1) if n_jobs is None else n_jobs
    if n_threads < 1:
        raise ParameterError(f"n_jobs={n_jobs!r}; it must be a whole number, 1 or more, or None for all cores")
    n_queries = len(offsets) - 1
    cost = np.cumsum(np.diff(offsets).astype(np.float64) ** 2) * n_models
    if n_threads == 1 or n_queries < 2 or cost[-1] < WORTH_THREADS:
        work(0, n_queries)
        return
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], N_BLOCKS + 1)[1:-1])
    bounds = np.unique(np.concatenate(([0], cuts, [n_queries])))
    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(work, bounds[:-1].tolist(), bounds[1:].tolist()))


def is_number(value: object, *, whole: bool = False) -> bool:
    """Whether a parameter is a number (a whole one)."""
    return isinstance(value, Integral if whole else Real) and not isinstance(value, bool)


def _own(values: ArrayLike, dtype: type) -> NDArray[Any]:
    """A contiguous array of this type that may be written to (kernels are compiled for such alone)."""
    array: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype)
    return array if array.flags.writeable else array.copy()


def _column(name: str, values: ArrayLike, length: int, one: str) -> Float64:
    column = _own(values, np.float64)
    if column.shape != (length,):
        raise DataError(f"{name} has shape {column.shape}; give one number for each {one}, {length} in all")
    if not np.isfinite(column).all():
        raise DataError(f"{name} has a value that is not a finite number; leave such {one}s out")
    return column
