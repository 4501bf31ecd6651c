"""Listwise losses: functions of all the scores of a query at once.

Every query that has documents with different labels counts equally. In ListNet, softmax, ListMLE and RankCosine, a
document of weight 2 is two documents; in ApproxNDCG it has twice the gain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from ordino.errors import ParameterError, unknown_name
from ordino.losses.base import Float64, Loss, Queries, is_number

GAINS = ("linear", "exponential")
NOT_WANTED = np.empty((0, 0))


@final
@dataclass(frozen=True, kw_only=True)
class ListwiseLoss(Loss):
    """A function of a query's scores, averaged over queries; see ``docs/losses.md`` for its parameters."""

    name: str
    kernel: Any = field(repr=False, compare=False)
    needs_positive_labels: bool = False
    gain: str = "linear"
    center: bool = False
    smoothing: float = 0.01
    alpha: float = 10.0
    average = "queries"

    def __post_init__(self) -> None:
        if self.gain not in GAINS:
            raise unknown_name("gain", self.gain, GAINS)
        if not is_number(self.smoothing) or not 0 <= self.smoothing < float("inf"):
            raise ParameterError(f"smoothing={self.smoothing!r}; it must be a number, 0 or more")
        if not is_number(self.alpha) or not 0 < self.alpha < float("inf"):
            raise ParameterError(f"alpha={self.alpha!r}; it must be a number, more than 0")

    def _sums(
        self, queries: Queries, first: int, last: int, gradient: Float64, values: Float64, totals: Float64
    ) -> None:
        self._run(queries, first, last, gradient, NOT_WANTED, values, totals)

    def _curvature(self, queries: Queries, first: int, last: int, curvature: Float64, totals: Float64) -> None:
        values = np.zeros((len(queries.scores), len(totals)))
        self._run(queries, first, last, np.empty_like(curvature), curvature, values, totals)

    def _run(
        self,
        queries: Queries,
        first: int,
        last: int,
        gradient: Float64,
        curvature: Float64,
        values: Float64,
        totals: Float64,
    ) -> None:
        self.kernel(
            queries.scores, *queries.labels, queries.weights, queries.offsets, first, last, *queries.rooms(first, last),
            self.gain == "exponential", self.center, float(self.smoothing), float(self.alpha),
            gradient, curvature, values, totals,
        )  # fmt: skip
