r"""Pairwise losses: functions of the margin of two documents, summed over the pairs of a query.

For documents i and j of one query with :math:`y_i > y_j`, the margin is :math:`m = s_i - s_j` and the probability that
i comes first is :math:`p = 1 / (1 + e^{-m})` (RankNet, eq. 2). Each function of the margin is defined once, in
``margin_kernels``, and used by itself (:func:`ordino.losses.pair_loss`) or over all pairs (:class:`PairwiseLoss`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import ParameterError, unknown_name
from ordino.losses.base import Float64, Loss, Queries, is_number
from ordino.losses.pair_kernels import PairKernels

PAIRS = ("all", "neighbors")
AVERAGES = ("pairs", "queries")
TARGETS = ("pair", "step")
EDGE = 1e-12  # probabilities are kept this far from 0 and 1, where slopes are infinite


@final
@dataclass(frozen=True, kw_only=True)
class PairwiseLoss(Loss):
    """A function of the margin, over the pairs of every query; see ``docs/losses.md`` for its parameters."""

    name: str
    kernel: PairKernels | Mapping[str, PairKernels] = field(repr=False, compare=False)
    needs_positive_labels: bool = False
    pairs: str = "all"
    average: str = "pairs"
    ties: bool = False
    target: float = 1.0
    target_by: str = "pair"
    activation: str = "identity"

    def __post_init__(self) -> None:
        activations = ["identity"] if isinstance(self.kernel, PairKernels) else list(self.kernel)
        choices = {"pairs": PAIRS, "average": AVERAGES, "target_by": TARGETS, "activation": activations}
        for parameter, allowed in choices.items():
            if getattr(self, parameter) not in allowed:
                raise unknown_name(parameter, getattr(self, parameter), allowed)
        if not is_number(self.target) or not 0.5 <= self.target <= 1:
            raise ParameterError(f"target={self.target!r}; it must be a probability from 0.5 to 1")

    @property
    def kernels(self) -> PairKernels:
        """The compiled functions, for DirectRanker those of its activation."""
        return self.kernel if isinstance(self.kernel, PairKernels) else self.kernel[self.activation]

    def _sums(
        self, queries: Queries, first: int, last: int, gradient: Float64, values: Float64, totals: Float64
    ) -> None:
        kernels = self.kernels
        certain = queries.uniform and self.target == 1.0 and not self.ties
        place = (
            queries.scores,
            *queries.labels,
            queries.weights,
            queries.offsets,
            first,
            last,
            *queries.rooms(first, last),
        )
        how = (self.pairs == "neighbors", self.ties, float(self.target), self.target_by == "step")
        n_others = (kernels.certain if certain else kernels.pairs)(*place, *how, gradient, values, totals)
        if n_others and kernels.far is not None:
            kernels.far(*place, *how, gradient, values, totals)

    def _curvature(self, queries: Queries, first: int, last: int, curvature: Float64, totals: Float64) -> None:
        self.kernels.curvature(
            queries.scores, *queries.labels, queries.weights, queries.offsets, first, last, *queries.rooms(first, last),
            self.pairs == "neighbors", self.ties, curvature, totals,
        )  # fmt: skip


def values_of_pairs(
    kernel: Any, given: ArrayLike, target: ArrayLike, *, of_probability: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Loss and derivative of each pair, from margins or probabilities; what :func:`ordino.losses.pair_loss` calls."""
    array = np.asarray(given)
    dtype = np.float32 if array.dtype == np.float32 else np.float64
    inputs = np.array(array, np.float64).ravel()  # a copy
    targets = np.array(np.broadcast_to(np.asarray(target, np.float64), array.shape)).ravel()
    if ((targets < 0) | (targets > 1)).any():
        raise ParameterError("target has values outside 0 to 1; it must be probabilities")
    if of_probability:
        np.clip(inputs, EDGE, 1 - EDGE, out=inputs)
        spread = inputs * (1 - inputs)  # dp/dm
        inputs = np.log(inputs) - np.log1p(-inputs)
    values, slopes = np.empty_like(inputs), np.empty_like(inputs)
    kernel(inputs, targets, values, slopes)
    if of_probability:
        slopes /= spread
    return values.reshape(array.shape).astype(dtype), slopes.reshape(array.shape).astype(dtype)
