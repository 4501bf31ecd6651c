"""MAP and P@k of many orders of the same queries, from the ranks of the relevant documents alone, compiled.

Where few documents are relevant, counting the scores above each of them is ten times as quick as sorting a query. The
values are those of :func:`ordino.metrics.measure`, to the last digit.
"""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import Floats, Ints
from ordino.compiled import ALLOCATING, INNER, OPEN, OUTER, njit, specialize
from ordino.metrics.formulas import average_precision, cutoff, mean_precision, precision, precision_of_hits
from ordino.metrics.kernels import sort_descending
from ordino.metrics.metric import Metric
from ordino.metrics.profiles import Profile

MANY = 256  # relevant documents from which bisecting beats counting
find_ranks = LEAST = MOST = OPEN  # in the template below


@njit(**INNER)
def _ranks_by_counting(scores: Any, _: Any, __: int, relevant: Any, ranks: Any) -> None:
    """Ranks of the relevant documents, from 1, rising: for each, count the scores above its own.

    Equal scores keep the row order.
    """
    for i in range(relevant.shape[0]):
        own = scores[relevant[i]]
        above, equal = np.int32(0), np.int32(0)
        for d in range(scores.shape[0]):  # compiles to vector instructions
            above = np.int32(above + np.int32(scores[d] > own))
            equal = np.int32(equal + np.int32(scores[d] == own))
        rank = above + 1
        if equal > 1:
            for d in range(relevant[i]):
                rank += scores[d] == own
        j = i
        while j > 0 and ranks[j - 1] > rank:
            ranks[j] = ranks[j - 1]
            j -= 1
        ranks[j] = rank


@njit(**{**INNER, **ALLOCATING})
def _ranks_by_bisection(scores: Any, is_relevant: Any, start: int, relevant: Any, ranks: Any) -> None:
    """The same for many relevant documents: sort them, then find for each other document which of them it is above."""
    n_relevant = relevant.shape[0]
    keys, order = np.empty_like(scores[:n_relevant]), np.empty(n_relevant, np.int64)
    for i in range(n_relevant):
        keys[i], order[i], ranks[i] = scores[relevant[i]], relevant[i], 0
    sort_descending(
        keys, order, 0, n_relevant, np.empty_like(keys), np.empty_like(order)
    )  # equal keys keep their order
    for d in range(scores.shape[0]):
        if is_relevant[start + d]:
            continue
        low, high = 0, n_relevant  # the first relevant document below d
        while low < high:
            half = (low + high) // 2
            other = order[half]
            if scores[d] > scores[other] or (scores[d] == scores[other] and d < other):
                high = half
            else:
                low = half + 1
        if low < n_relevant:
            ranks[low] += 1
    above = 0
    for i in range(n_relevant):
        above += ranks[i]
        ranks[i] = above + i + 1


def _sums_by_ranks(
    scores: Any, is_relevant: Any, relevant: Any, relevant_offsets: Any, offsets: Any, first: int, last: int, k: int,
    hits_alone: bool, ranks: Any, out: Any,
) -> None:  # fmt: skip
    """Template: sum of the precisions at the relevant documents among the first k, or their number if ``hits_alone``.

    Only of queries ``first`` to ``last`` with at least ``LEAST`` and fewer than ``MOST`` relevant documents.
    ``scores`` is (orders, documents of these queries), ``out`` is (orders, queries); k = 0 counts all ranks.
    ``relevant`` holds rows counted from the start of their query. The arithmetic is that of
    ``kernels.precision_sums``, in its order.
    """
    base = offsets[first]
    for p in range(out.shape[0]):
        for q in range(first, last):
            own = relevant[relevant_offsets[q] : relevant_offsets[q + 1]]
            if not LEAST <= len(own) < MOST:
                continue
            start, stop = offsets[q], offsets[q + 1]
            depth = stop - start
            if 0 < k < depth:
                depth = k
            find_ranks(scores[p, start - base : stop - base], is_relevant, start, own, ranks)
            hits = 0
            total = 0.0
            while hits < len(own) and ranks[hits] <= depth:
                hits += 1
                total += hits / ranks[hits - 1]
            out[p, q] = hits if hits_alone else total


sums_of_few = specialize(_sums_by_ranks, "sums_of_few", OUTER, find_ranks=_ranks_by_counting, LEAST=1, MOST=MANY)
sums_of_many = specialize(
    _sums_by_ranks, "sums_of_many", OUTER, find_ranks=_ranks_by_bisection, LEAST=MANY, MOST=np.iinfo(np.int64).max
)


@final
class ByRanks:
    """MAP or P@k of whole queries under any number of orders; equal scores keep the order of the rows.

    Examples
    --------
    The relevant document is first by the first row of scores, second by the other.

    >>> from ordino.metrics import find_profile, parse_metric
    >>> by_ranks = ByRanks(np.array([1.0, 0.0]), np.array([0, 2]), parse_metric("map"), find_profile("standard"))
    >>> sums = np.zeros((2, 1))
    >>> by_ranks.add_up(np.array([[2.0, 1.0], [1.0, 2.0]]), 0, 1, sums)
    >>> by_ranks.values(sums).tolist()
    [[1.0], [0.5]]
    """

    def __init__(self, y: Floats, offsets: Ints, metric: Metric, profile: Profile) -> None:
        self.offsets, self.profile = offsets, profile
        self._k, self._is_precision = cutoff(metric, profile), metric.measure.formula is precision
        self._is_relevant = y > profile.relevant_from
        rows = np.flatnonzero(self._is_relevant)
        self._bounds = np.searchsorted(rows, offsets).astype(np.int64)
        self._n_relevant = np.diff(self._bounds)
        self._relevant = rows - np.repeat(offsets[:-1], self._n_relevant)  # counted from the start of the query
        self._most = int(self._n_relevant.max(initial=0))

    @staticmethod
    def knows(metric: Metric, profile: Profile) -> bool:
        """Whether this measure, by this profile, can be had from ranks."""
        return metric.measure.formula in (average_precision, precision) and profile.ties == "stable"

    def add_up(self, scores: NDArray[Any], first: int, last: int, sums: Floats) -> None:
        """Fill in what :meth:`values` needs of queries ``first`` to ``last``, for each row of scores.

        ``scores`` are those of the documents of these queries, shape ``(n_orders, n_docs)`` or larger, ``sums`` has
        the shape ``(n_orders, n_queries)``, and is 0 before.
        """
        place = (self._is_relevant, self._relevant, self._bounds, self.offsets, first, last)
        for kernel in (sums_of_few, sums_of_many) if self._most >= MANY else (sums_of_few,):
            kernel(scores, *place, self._k, self._is_precision, np.empty(self._most, np.int64), sums)

    def values(self, sums: Floats) -> Floats:
        """The value of each query for each order, shape ``(n_orders, n_queries)``."""
        sizes, k = np.diff(self.offsets), self._k
        if self._is_precision:
            values = precision_of_hits(sums, sizes, k, self.profile)
        else:
            values = mean_precision(sums, self._n_relevant, sizes, k, self.profile)
        if np.isnan(self.profile.empty):
            values[:, self._n_relevant == 0] = np.nan
        return values
