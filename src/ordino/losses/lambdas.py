r"""LambdaRank: RankNet's pairs, each weighed by what swapping its two documents would change in a measure.

.. math:: \lambda_i = -\sum_{j:\, y_i > y_j} |\Delta_{ij}|\, \frac{1}{1 + e^{s_i - s_j}}
                      + \sum_{j:\, y_i < y_j} |\Delta_{ij}|\, \frac{1}{1 + e^{s_j - s_i}}

The change depends on the order of the scores alone, so as long as no two documents change places this is the gradient
of :math:`\sum |\Delta_{ij}| \log(1 + e^{-(s_i - s_j)})`, which is given as the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from ordino.errors import ParameterError, unknown_name
from ordino.losses.base import Float64, Loss, Queries, is_number
from ordino.losses.lambda_kernels import MEASURES
from ordino.losses.listwise import GAINS, NOT_WANTED

ALL_RANKS = 2**62


@final
@dataclass(frozen=True, kw_only=True)
class LambdaLoss(Loss):
    """LambdaRank for a measure, averaged over queries; see ``docs/losses.md`` for its parameters."""

    name: str
    kernel: Mapping[str, Any] = field(repr=False, compare=False)
    needs_positive_labels: bool = False
    metric: str = "ndcg@10"
    gain: str = "exponential"
    relevant: float = 1.0
    average = "queries"

    def __post_init__(self) -> None:
        measure, _ = parse_measure(self.metric)
        object.__setattr__(self, "needs_positive_labels", self.needs_positive_labels and measure == "ndcg")  # gains
        if self.gain not in GAINS:
            raise unknown_name("gain", self.gain, GAINS)
        if not is_number(self.relevant):
            raise ParameterError(f"relevant={self.relevant!r}; it must be a number, the least label that is relevant")

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
        measure, k = parse_measure(self.metric)
        self.kernel[measure](
            k, float(self.relevant), self.gain == "exponential", queries.scores, *queries.labels, queries.weights,
            queries.offsets, first, last, *queries.rooms(first, last), gradient, curvature, values, totals,
        )  # fmt: skip


def parse_measure(metric: str) -> tuple[str, int]:
    """The name of a measure, and how many ranks count; ndcg and mrr may be cut off.

    Examples
    --------
    >>> parse_measure("ndcg@10")
    ('ndcg', 10)
    >>> parse_measure("map@10")
    Traceback (most recent call last):
    ordino.errors.ParameterError: LambdaRank cannot cut off map, as 'map@10' says; give 'map', 'ndcg@k' or 'mrr@k'
    """
    parts = re.fullmatch(r"([a-z]+)(?:@([1-9][0-9]{0,8}))?", metric) if isinstance(metric, str) else None
    if parts is None or parts[1] not in MEASURES:
        raise unknown_name("measure for LambdaRank", metric, [*MEASURES, "ndcg@10", "mrr@10"])
    if parts[1] == "map" and parts[2]:
        raise ParameterError(f"LambdaRank cannot cut off map, as {metric!r} says; give 'map', 'ndcg@k' or 'mrr@k'")
    return parts[1], int(parts[2]) if parts[2] else ALL_RANKS
