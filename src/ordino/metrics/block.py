"""Some queries with their labels in rank order: what the formulas of the metrics read, with the sums they are made of.

Labels that are small whole numbers, as most are, keep being labels: what one is worth is looked up in a table while
sums are taken. Only where they are not is what every document is worth computed first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import Floats, Ints, frozen
from ordino.errors import ParameterError
from ordino.metrics.profiles import Profile

Worth = tuple[Floats, Floats]
"""Values of documents and an empty table; or places in a table, and the table."""

_NO_TABLE = frozen(np.empty(0))


def _exponential(labels: Floats) -> Floats:
    whole = np.floor(labels)
    exact: Floats = np.ldexp(1.0, whole.astype(np.int64))
    return np.where(labels == whole, exact, np.exp2(labels)) - 1.0


GAINS: Mapping[str, Callable[[Floats, float], Floats]] = MappingProxyType(
    {
        "exponential": lambda labels, _: _exponential(labels),
        "whole": lambda labels, _: _exponential(np.trunc(labels)),
        "linear": lambda labels, _: labels,
        "binary": lambda labels, relevant_from: (labels > relevant_from).astype(np.float64),
        "ones": lambda labels, _: np.ones_like(labels),
    }
)
"""What labels are worth at rank 1, by the profile's name for it; the second argument is the profile's relevant_from."""


@final
@dataclass(eq=False)
class Block:
    """Whole queries in the order of their scores."""

    profile: Profile
    ranked: Floats  # labels, query after query, best score first
    same: NDArray[np.bool_]  # whether a document has the score of the one before it
    offsets: Ints  # where each query stands in ranked
    longest: int  # documents of the longest query, here or in another block
    lengths: Ints  # how many documents of each query have a rank
    n_relevant: Ints  # relevant documents of each query
    n_labels: int  # if gains are asked for and labels are whole numbers from 0, one more than the largest; else 0
    sorted_labels: Floats | None  # the labels of each query, highest first, if gains of other labels are asked for
    room: Sequence[Floats]  # eight buffers, at least as long as ranked
    _pairs: dict[tuple[int, int], Floats] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> Ints:
        """Documents of each query."""
        return self.offsets[1:] - self.offsets[:-1]

    def n_ranks(self, k: int) -> int:
        """How many ranks count in the longest query."""
        return min(k, self.longest) if k else self.longest

    @cached_property
    def gains(self) -> Worth:
        """What each document gains."""
        return self._in_ties(self._worth(self.profile.gain))

    @cached_property
    def flags(self) -> Worth:
        """1 for a relevant document, else 0; with averaged ties the share of relevant ones among equal scores."""
        return self._in_ties(self._worth("binary"))

    def chances(self, largest: float) -> Worth:
        """The chance of each document to satisfy a reader (ERR); ``largest`` is the highest label expected."""
        if self.profile.err_chance == "label":
            return self._worth("linear")
        return self._worth("exponential" if self.profile.gain == "linear" else self.profile.gain, 2.0**largest)

    def discounts(self, k: int) -> Floats:
        """What each rank's gain is multiplied by, for as many ranks as may be asked for."""
        return _discounts(self.profile.discount, self.n_ranks(k))

    def sums(self, worth: Worth, k: int, weights: Floats) -> Floats:
        """The sum over the first k ranks of each query of worth times the weight of the rank."""
        return self._filled("weighted_sums", *worth, self.offsets, self.lengths, self.n_ranks(k), weights)

    def ideal(self, k: int) -> Floats:
        """The discounted gain of the best order of each query."""
        how = (self.offsets, self.sizes, self.n_ranks(k), self.discounts(k))
        return self._filled("weighted_sums", *self._best_gains(k), *how)

    def mean_share(self) -> Floats:
        """The sum over all ranks of the discounted gain so far as a share of the best possible one."""
        gains, best = self.gains, self._best_gains(0)
        return self._filled("mean_shares", *gains, *best, self.offsets, self.lengths, self.discounts(0))

    def precision_sums(self, k: int) -> Floats:
        """The sum of the precisions at the relevant documents among the first k."""
        how = (self.n_ranks(k), float(self.profile.relevant_from), self.profile.ties == "averaged")
        return self._filled("precision_sums", self.ranked, self.same, self.offsets, self.lengths, *how)

    def first_hits(self, k: int) -> Floats:
        """The rank of the first relevant document among the first k; infinity if there is none."""
        how = (self.n_ranks(k), float(self.profile.relevant_from))
        return self._filled("first_hits", self.ranked, self.offsets, self.lengths, *how)

    def expected_reciprocals(self, k: int, largest: float) -> Floats:
        """The expected reciprocal rank at which a reader is satisfied."""
        how = (self.offsets, self.lengths, self.n_ranks(k))
        return self._filled("expected_reciprocals", *self.chances(largest), *how)

    def pairs(self, samples: int = 0, seed: int = 0) -> Floats:
        """What measures of pairs are made of, shape ``(8, n_queries)``: see ``pair_kernels.pair_sums``."""
        from ordino.metrics.pair_kernels import pair_sums

        if (samples, seed) not in self._pairs:
            n_docs, out = len(self.ranked), np.empty((8, len(self.lengths)))
            labels, middle, carry, keys_out, carry_out, *others = self.room
            position, position_out, ahead = (buffer.view(np.int64) for buffer in others)
            labels[:n_docs] = self.ranked
            pair_sums(
                labels, self.same, self.offsets, samples, seed, out,
                position, position_out, middle, ahead, carry, keys_out, carry_out, np.zeros(1, np.uint64),
            )  # fmt: skip
            self._pairs[samples, seed] = out
        return self._pairs[samples, seed]

    def _best_gains(self, k: int) -> Worth:
        """What the k best documents of each query gain, highest first; they stand in a buffer."""
        kind = "ones" if self.profile.ideal == "ones" else self.profile.gain
        if self.sorted_labels is not None:
            return GAINS[kind](self.sorted_labels, self.profile.relevant_from), _NO_TABLE
        if not self.n_labels:
            raise ParameterError("the best order of gains was not prepared; say uses_gain=True in the entry of METRICS")
        from ordino.metrics.kernels import best_labels

        best_labels(self.ranked, self.offsets, self.n_ranks(k), np.empty(self.n_labels, np.int64), self.room[0])
        return self.room[0], _table(kind, self.profile.relevant_from, 1.0, self.n_labels)

    def _worth(self, kind: str, divisor: float = 1.0) -> Worth:
        if self.n_labels:
            return self.ranked, _table(kind, self.profile.relevant_from, divisor, self.n_labels)
        values = GAINS[kind](self.ranked, self.profile.relevant_from)
        return values if divisor == 1.0 else values / divisor, _NO_TABLE

    def _in_ties(self, worth: Worth) -> Worth:
        """With averaged ties, the mean of equal scores."""
        if self.profile.ties != "averaged":
            return worth
        from ordino.metrics.kernels import average_runs

        values, table = worth
        means = np.empty(len(self.ranked))
        average_runs(table[values.astype(np.int64)] if len(table) else values, self.ranked, self.same, means)
        return means, _NO_TABLE

    def _filled(self, kernel: str, *arguments: Any) -> Floats:
        """What a kernel of this name gives, one number for each query."""
        from ordino.metrics import kernels  # numba loads on first use

        out = np.empty(len(self.lengths))
        getattr(kernels, kernel)(*arguments, out)
        return out


@lru_cache(maxsize=64)
def _table(kind: str, relevant_from: float, divisor: float, n_labels: int) -> Floats:
    """What the labels 0, 1, 2, ... are worth."""
    return frozen(GAINS[kind](np.arange(float(n_labels)), relevant_from) / divisor)


@lru_cache(maxsize=64)
def _discounts(kind: str, n_ranks: int) -> Floats:
    return frozen(1.0 / rank_discounts(kind, np.arange(1.0, n_ranks + 1.0)))


def rank_discounts(kind: str, ranks: Floats) -> Floats:
    """What the gain at each rank is divided by, by the profile's name for it."""
    return np.log2(np.maximum(ranks, 2.0)) if kind == "letor" else np.log2(1.0 + ranks)
