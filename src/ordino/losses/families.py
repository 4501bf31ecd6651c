r"""The three families of losses: pairwise, listwise, and LambdaRank, which is between the two.

**Pairwise** losses are functions of the margin of two documents, summed over the pairs of a query. For documents i and
j with :math:`y_i > y_j`, the margin is :math:`m = s_i - s_j` and the probability that i comes first is
:math:`p = 1 / (1 + e^{-m})` (RankNet, eq. 2). Each function is defined once, in ``kernels``, and used by itself
(:func:`ordino.losses.pair_loss`) or over all pairs.

**Listwise** losses are functions of all the scores of a query at once. Every query that has documents with different
labels counts equally. In ListNet, softmax, ListMLE and RankCosine, a document of weight 2 is two documents; in
ApproxNDCG it has twice the gain.

**LambdaRank** uses RankNet's pairs, each weighted by how much swapping its two documents would change a metric.

.. math:: \lambda_i = -\sum_{j:\, y_i > y_j} |\Delta_{ij}|\, \frac{1}{1 + e^{s_i - s_j}}
                      + \sum_{j:\, y_i < y_j} |\Delta_{ij}|\, \frac{1}{1 + e^{s_j - s_i}}

The change depends on the order of the scores alone, so as long as no two documents change places this is the gradient
of :math:`\sum |\Delta_{ij}| \log(1 + e^{-(s_i - s_j)})`, which is given as the value. Normalized as in LightGBM, the
change is divided by :math:`0.01 + |s_i - s_j|` once scores differ, and the lambdas of a query, which add up to S, are
multiplied by :math:`\log_2(1 + S) / S`; gradient and curvature take both as given.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_int
from ordino.errors import DataError, ParameterError, unknown_name
from ordino.losses.base import Float64, Loss, Queries, Sums, is_number
from ordino.losses.lambda_kernels import MEASURES
from ordino.losses.pair_kernels import EXACT, PAIRS, PairKernels

AVERAGES = ("pairs", "queries", "sum")
TARGETS = ("pair", "step")
GAINS = ("linear", "exponential")
EDGE = 1e-12  # probabilities are kept this far from 0 and 1, where slopes are infinite
ALL_RANKS = 2**62
MOST_TERMS = 10_000_000  # of a query in ListNet's sum over the first k documents: a tenth of a second
MORE = "more"  # than one document, in a table of kernels by k
ENOUGH = 24  # 2**ENOUGH is more terms than that


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

    def _fill(self, scores: Float64, queries: Queries, sums: Sums) -> None:
        kernels, place = self.kernels, (scores, *queries.arguments(2, len(queries.y)))
        which = (PAIRS.index(self.pairs), self.ties)
        if len(sums.curvature):
            kernels.curvature(*place, *which, sums.curvature, sums.totals)
            return
        plain = queries.uniform and self.target == 1.0 and not self.ties and self.pairs != PAIRS[EXACT]
        how = (*which, float(self.target), self.target_by == "step", sums.gradient, sums.values, sums.totals)
        n_others = (kernels.plain if plain else kernels.pairs)(*place, *how)
        if n_others and kernels.far is not None:
            kernels.far(*place, *how)


@final
@dataclass(frozen=True, kw_only=True)
class ListwiseLoss(Loss):
    """A function of a query's scores, averaged over queries; see ``docs/losses.md`` for its parameters."""

    name: str
    kernel: Any = field(repr=False, compare=False)
    """One for every k, or one for k = 1 and another for :data:`MORE`."""
    needs_positive_labels: bool = False
    gain: str = "linear"
    center: bool = False
    smoothing: float = 0.01
    alpha: float = 10.0
    k: int = 1
    average = "queries"

    def __post_init__(self) -> None:
        if self.gain not in GAINS:
            raise unknown_name("gain", self.gain, GAINS)
        if not is_number(self.smoothing) or not 0 <= self.smoothing < float("inf"):
            raise ParameterError(f"smoothing={self.smoothing!r}; it must be a number, 0 or more")
        if not is_number(self.alpha) or not 0 < self.alpha < float("inf"):
            raise ParameterError(f"alpha={self.alpha!r}; it must be a number, more than 0")
        check_int("k", self.k, low=1)

    def prepare(
        self, y: ArrayLike, offsets: ArrayLike, weights: ArrayLike | None = None, n_docs: int | None = None
    ) -> Queries:
        """Check labels, weights, and that no query has more terms than can be summed."""
        queries = super().prepare(y, offsets, weights, n_docs)
        n = int(np.diff(queries.offsets).max(initial=0))
        k = min(self.k, ENOUGH)
        n_terms = prod(range(n - min(k, n) + 1, n + 1)) if queries.uniform else n**k  # n!/(n-k)!, or with copies
        if k > 1 and n_terms > MOST_TERMS:
            raise DataError(
                f"a query has {n:,} documents, so {self.name} with k={self.k} is a sum of more than {MOST_TERMS:,} "
                "terms; choose a smaller k"
            )
        return queries

    def _fill(self, scores: Float64, queries: Queries, sums: Sums) -> None:
        how = (self.gain == "exponential", self.center, float(self.smoothing), float(self.alpha), int(self.k))
        kernel = self.kernel[1 if self.k == 1 else MORE] if isinstance(self.kernel, Mapping) else self.kernel
        kernel(scores, *queries.arguments(3), *how, *sums.with_curvature())


@final
@dataclass(frozen=True, kw_only=True)
class LambdaLoss(Loss):
    """LambdaRank for a metric, averaged over queries; see ``docs/losses.md`` for its parameters."""

    name: str
    kernel: Mapping[tuple[str, bool], Mapping[str, Any]] = field(repr=False, compare=False)
    needs_positive_labels: bool = False
    metric: str = "ndcg@10"
    gain: str = "exponential"
    relevant: float = 1.0
    pairs: str = "all"
    normalize: bool = False
    average = "queries"

    def __post_init__(self) -> None:
        if self.pairs not in PAIRS:
            raise unknown_name("pairs", self.pairs, PAIRS)
        measure, _ = parse_measure(self.metric)
        object.__setattr__(self, "needs_positive_labels", self.needs_positive_labels and measure == "ndcg")  # gains
        if self.gain not in GAINS:
            raise unknown_name("gain", self.gain, GAINS)
        if not is_number(self.relevant):
            raise ParameterError(f"relevant={self.relevant!r}; it must be a number, the lowest label that is relevant")
        if not isinstance(self.normalize, bool):
            raise ParameterError(f"normalize={self.normalize!r}; it must be True or False")

    def _fill(self, scores: Float64, queries: Queries, sums: Sums) -> None:
        measure, k = parse_measure(self.metric)
        how = (k, float(self.relevant), self.gain == "exponential")
        self.kernel[self.pairs, self.normalize][measure](scores, *queries.arguments(14), *how, *sums)


def parse_measure(metric: str) -> tuple[str, int]:
    """The name of a metric, and the number of ranks that count; ndcg and mrr may have a cutoff.

    Examples
    --------
    >>> parse_measure("ndcg@10")
    ('ndcg', 10)
    >>> parse_measure("map@10")
    Traceback (most recent call last):
    ordino.errors.ParameterError: 'map@10': LambdaRank has no cutoff for map; give 'map', 'ndcg@k' or 'mrr@k'
    """
    parts = re.fullmatch(r"([a-z]+)(?:@([1-9][0-9]{0,8}))?", metric) if isinstance(metric, str) else None
    if parts is None or parts[1] not in MEASURES:
        raise unknown_name("metric for LambdaRank", metric, [*MEASURES, "ndcg@10", "mrr@10"])
    if parts[1] == "map" and parts[2]:
        raise ParameterError(f"{metric!r}: LambdaRank has no cutoff for map; give 'map', 'ndcg@k' or 'mrr@k'")
    return parts[1], int(parts[2]) if parts[2] else ALL_RANKS


def values_of_pairs(
    kernel: Any, given: ArrayLike, target: ArrayLike, *, of_probability: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Loss and derivative of each pair, from margins or probabilities; what :func:`ordino.losses.pair_loss` calls."""
    array = np.asarray(given)
    dtype = np.float32 if array.dtype == np.float32 else np.float64
    inputs = np.array(array, np.float64).ravel()  # a copy
    targets = np.array(np.broadcast_to(np.asarray(target, np.float64), array.shape)).ravel()
    if not ((targets >= 0) & (targets <= 1)).all():
        raise ParameterError("target has values outside 0 to 1; give probabilities")
    if of_probability:
        np.clip(inputs, EDGE, 1 - EDGE, out=inputs)
        spread = inputs * (1 - inputs)  # dp/dm
        inputs = np.log(inputs) - np.log1p(-inputs)
    values, slopes = np.empty_like(inputs), np.empty_like(inputs)
    kernel(inputs, targets, values, slopes)
    if of_probability:
        slopes /= spread
    return values.reshape(array.shape).astype(dtype), slopes.reshape(array.shape).astype(dtype)
