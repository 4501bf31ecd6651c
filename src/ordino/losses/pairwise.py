r"""Pairwise losses: functions of the margin of two documents, summed over the pairs of a query.

For documents i and j of one query with :math:`y_i > y_j`, the margin is :math:`m = s_i - s_j` and the probability that
i comes first is :math:`p = 1 / (1 + e^{-m})` (RankNet, eq. 2). Each function of the margin is defined once, in
``margin_kernels.pair_value``, and used by itself (:func:`pair_loss`) or over all pairs (:class:`PairwiseLoss`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import ParameterError, unknown_name
from ordino.losses import margin_kernels as margins
from ordino.losses import pair_kernels as kernels
from ordino.losses.base import Float64, Loss, Queries, is_number
from ordino.losses.curvature_kernels import curvature_of_queries

MARGINS: Mapping[str, int] = MappingProxyType(
    {
        "ranknet": margins.CROSS_ENTROPY,
        "fidelity": margins.FIDELITY,
        "squared": margins.SQUARED,
        "absolute": margins.ABSOLUTE,
        "hinge": margins.HINGE,
        "squared-hinge": margins.SQUARED_HINGE,
        "exponential": margins.EXPONENTIAL,
        "directranker": margins.DIRECT,
    }
)
"""The functions of a margin, by name."""

ACTIVATIONS: Mapping[str, int] = MappingProxyType(
    {
        "identity": margins.DIRECT,
        "tanh": margins.DIRECT_TANH,
        "half-tanh": margins.DIRECT_HALF_TANH,
        "softsign": margins.DIRECT_SOFTSIGN,
    }
)
"""Odd, sign-preserving activations of DirectRanker's output neuron; half-tanh is tanh(x / 2)."""

PAIRS = ("all", "neighbors")
AVERAGES = ("pairs", "queries")
TARGETS = ("pair", "step")
EDGE = 1e-12  # probabilities are kept this far from 0 and 1, where slopes are infinite


@final
@dataclass(frozen=True, kw_only=True)
class PairwiseLoss(Loss):
    """A function of the margin, over the pairs of every query; see ``docs/losses.md`` for its parameters."""

    name: str
    pairs: str = "all"
    average: str = "pairs"
    max_pairs: int | None = None
    seed: int = 0
    ties: bool = False
    target: float = 1.0
    target_by: str = "pair"
    activation: str = "identity"

    def __post_init__(self) -> None:
        for parameter, allowed in (
            ("pairs", PAIRS),
            ("average", AVERAGES),
            ("target_by", TARGETS),
            ("activation", ACTIVATIONS),
        ):
            if getattr(self, parameter) not in allowed:
                raise unknown_name(parameter, getattr(self, parameter), allowed)
        if not is_number(self.target) or not 0.5 <= self.target <= 1:
            raise ParameterError(f"target={self.target!r}; it must be a probability from 0.5 to 1")
        if self.max_pairs is not None and (not is_number(self.max_pairs, whole=True) or self.max_pairs < 1):
            raise ParameterError(f"max_pairs={self.max_pairs!r}; it must be a whole number, 1 or more, or None")
        if not is_number(self.seed, whole=True) or not 0 <= self.seed < 2**63:
            raise ParameterError(f"seed={self.seed!r}; it must be a whole number from 0 to 2**63 - 1")

    @property
    def kind(self) -> int:
        """The number of the function in the kernels."""
        return ACTIVATIONS[self.activation] if self.name == "directranker" else MARGINS[self.name]

    @property
    def needs_positive_labels(self) -> bool:  # type: ignore[override]
        """DirectRanker weighs a pair by the label r(d_i) of its better document."""
        return self.name == "directranker"

    def _sums(
        self, queries: Queries, first: int, last: int, gradient: Float64, values: Float64, totals: Float64
    ) -> None:
        kernels.pairs_of_queries(
            self.kind, queries.scores, queries.y, queries.weights, queries.offsets, first, last,
            self.pairs == "neighbors", self.ties, float(self.target), self.target_by == "step",
            self.max_pairs or 0, self.seed, gradient, values, totals,
        )  # fmt: skip

    def _curvature(self, queries: Queries, first: int, last: int, curvature: Float64, totals: Float64) -> None:
        curvature_of_queries(
            self.kind, queries.scores, queries.y, queries.weights, queries.offsets, first, last,
            self.pairs == "neighbors", self.ties, self.max_pairs or 0, curvature, totals,
        )  # fmt: skip


def pair_loss(
    name: str, *, of: str = "margin", activation: str = "identity"
) -> Callable[..., tuple[NDArray[Any], NDArray[Any]]]:
    """A loss of single pairs: ``pair_loss(name)(margin, target=1.0) -> (value, derivative)``, element by element.

    Parameters
    ----------
    name
        A pairwise loss of ``LOSSES``; cross entropy is "ranknet".
    of
        What is given: the "margin" of two scores, or the "probability" that a comparator gives the first document
        (ranknet, fidelity, squared and absolute). The derivative is with respect to what is given. Probabilities
        closer than 1e-12 to 0 or 1 are moved away from them.
    activation
        DirectRanker's odd output function; the margin goes through it.

    Returns
    -------
    function
        Takes an array of any shape and targets that broadcast to it, and gives two arrays of that shape, float32 if
        the array is. The target is the probability that the first document should come first; hinge, squared-hinge,
        exponential and directranker take the first to be the better and know no other.

    Examples
    --------
    The cross entropy of a margin of 0 is log 2, whatever the target; a certain target pulls with 1/2, a tie not at all.

    >>> value, derivative = pair_loss("ranknet")(np.array([0.0, 0.0]), [1.0, 0.5])
    >>> np.exp(value).tolist(), derivative.tolist()
    ([2.0, 2.0], [-0.5, 0.0])

    A comparator's output of 0.75 misses the target 1 by 0.25.

    >>> value, derivative = pair_loss("squared", of="probability")(np.array([0.75]), 1.0)
    >>> value.round(9).tolist(), derivative.round(9).tolist()
    ([0.0625], [-0.5])
    """
    if name not in MARGINS:
        raise unknown_name("pairwise loss", name, MARGINS)
    if activation not in ACTIVATIONS:
        raise unknown_name("activation", activation, ACTIVATIONS)
    kind = ACTIVATIONS[activation] if name == "directranker" else MARGINS[name]
    if of not in ("margin", "probability"):
        raise unknown_name("of", of, ("margin", "probability"))
    if of == "probability" and kind > margins.ABSOLUTE:
        raise ParameterError(f"{name} is a function of margins; of='probability' needs ranknet, fidelity, squared or "
                             "absolute")  # fmt: skip

    def loss(given: ArrayLike, target: ArrayLike = 1.0) -> tuple[NDArray[Any], NDArray[Any]]:
        array = np.asarray(given)
        dtype = np.float32 if array.dtype == np.float32 else np.float64
        inputs = np.array(array, np.float64).ravel()  # a copy
        targets = np.array(np.broadcast_to(np.asarray(target, np.float64), array.shape)).ravel()
        if ((targets < 0) | (targets > 1)).any():
            raise ParameterError("target has values outside 0 to 1; it must be probabilities")
        if of == "probability":
            np.clip(inputs, EDGE, 1 - EDGE, out=inputs)
            spread = inputs * (1 - inputs)  # dp/dm
            inputs = np.log(inputs) - np.log1p(-inputs)
        values, slopes = np.empty_like(inputs), np.empty_like(inputs)
        margins.pair_values(kind, inputs, targets, values, slopes)
        if of == "probability":
            slopes /= spread
        return values.reshape(array.shape).astype(dtype), slopes.reshape(array.shape).astype(dtype)

    return loss
