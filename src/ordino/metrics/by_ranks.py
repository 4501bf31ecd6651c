"""MAP and P@k of many orders at once, from the ranks of the relevant documents: ten times as quick as sorting each.

The values are those of :func:`ordino.metrics.measure`, to the last digit.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.metrics.formulas import average_precision, cutoff, precision
from ordino.metrics.metric import Metric
from ordino.metrics.profiles import Profile

Floats = NDArray[np.float64]


@final
class ByRanks:
    """MAP or P@k of whole queries under any number of orders; equal scores keep the order of the rows.

    Examples
    --------
    The relevant document is first by the first row of scores, second by the other.

    >>> from ordino.metrics import find_profile, parse_metric
    >>> by_ranks = ByRanks(np.array([1.0, 0.0]), np.array([0, 2]), parse_metric("map"), find_profile("standard"))
    >>> by_ranks.values(np.array([[2.0, 1.0], [1.0, 2.0]]), 0, 1).tolist()
    [[1.0], [0.5]]
    """

    def __init__(self, y: Floats, offsets: NDArray[np.int64], metric: Metric, profile: Profile) -> None:
        self.offsets, self.metric, self.profile = offsets, metric, profile
        self._is_relevant = y > profile.relevant_from
        rows = np.flatnonzero(self._is_relevant)
        self._bounds = np.searchsorted(rows, offsets).astype(np.int64)
        self._relevant = rows - np.repeat(offsets[:-1], np.diff(self._bounds))  # counted from the start of the query

    @staticmethod
    def knows(metric: Metric, profile: Profile) -> bool:
        """Whether this measure, by this profile, can be had from ranks."""
        return metric.measure.formula in (average_precision, precision) and profile.ties == "stable"

    def values(self, scores: NDArray[Any], first: int, last: int) -> Floats:
        """The value of queries ``first`` to ``last`` for each row of scores, shape ``(n_orders, last - first)``.

        Parameters
        ----------
        scores
            Of the documents of these queries, shape ``(n_orders, n_docs)`` or wider.
        """
        from ordino.metrics.rank_kernels import MANY, sums_of_few, sums_of_many  # numba loads on first use

        rows, bounds = slice(self.offsets[first], self.offsets[last]), self._bounds[first : last + 1]
        n_relevant, lengths = np.diff(bounds), np.diff(self.offsets[first : last + 1])
        k, is_precision = cutoff(self.metric, self.profile), self.metric.measure.formula is precision
        out = np.empty((len(scores), last - first))
        place = (self._is_relevant[rows], self._relevant, bounds, self.offsets[first : last + 1] - rows.start)
        most = int(n_relevant.max(initial=0))
        for kernel in (sums_of_few, sums_of_many) if most >= MANY else (sums_of_few,):
            kernel(scores, *place, k, is_precision, np.empty(most, np.int64), out)
        return self._shares(out, n_relevant, lengths, k, is_precision)

    def _shares(
        self, sums: Floats, n_relevant: NDArray[np.int64], lengths: NDArray[np.int64], k: int, is_precision: bool
    ) -> Floats:
        profile, depths = self.profile, np.minimum(lengths, k) if k else lengths
        empty = 0.0 if is_precision else profile.map_of_empty
        if is_precision:
            sums /= np.maximum(depths, 1) if profile.short_precision == "length" else k
            if profile.short_precision == "zero":
                sums[:, k > lengths] = 0.0
        else:
            sums /= np.maximum(np.minimum(n_relevant, depths) if profile.map_divisor == "top k" else n_relevant, 1)
        sums[:, n_relevant == 0] = profile.empty if np.isnan(profile.empty) else empty
        return sums
