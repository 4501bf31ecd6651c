"""What a training step sees: documents or pairs of them, and a loss of what the network gives for them.

A supply cuts the training data into batches, anew every epoch. Batches of whole queries are slices of the data in its
canonical order, whose first cut moves from epoch to epoch: no copy of the data is ever made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.losses import Loss
from ordino.losses.base import Queries
from ordino.networks.learning_sets import LearningSet

Floats = NDArray[np.float64]
Outputs = NDArray[np.float32]  # (n_rows, n_outputs)
PairLoss = Callable[..., tuple[Floats, Floats]]  # (margin, target) -> value, slope
B_co = TypeVar("B_co", covariant=True)

TAKEN = 64  # batches of pairs that are taken from the others at once


class Batch(NamedTuple):
    """The rows that a step learns from, the loss of its outputs, and the batch's share of the epoch."""

    X: NDArray[np.float32]  # (n_rows, n_inputs)
    loss: Callable[[Outputs], tuple[Any, Outputs]]
    share: float
    takes_several: bool = False
    """Whether the loss takes the outputs of several networks, (n_nets, n_rows, n_outputs), and gives as many values."""

    def errors(self, outputs: Outputs) -> tuple[list[float], Outputs]:
        """The loss of the outputs of each of several networks, (n_nets, n_rows, n_outputs), and its slopes."""
        if self.takes_several:
            values, slopes = self.loss(outputs)
            return values.tolist(), slopes
        found = [self.loss(own) for own in outputs]
        return [float(value) for value, _ in found], np.stack([slopes for _, slopes in found])


class PairBatch(NamedTuple):
    """The pairs of rows of X that a step learns from, ``a * len(X) + b`` each, and the batch's share of the epoch."""

    X: NDArray[np.float32]  # (n_docs, n_features)
    codes: NDArray[np.int64]  # (n_pairs,)
    target: Floats  # (n_pairs,): P(a before b)
    share: float
    lasting: bool = False
    """Whether these pairs come again in every epoch, so that what is made of them alone is worth keeping."""


class Supply(Protocol[B_co]):
    """Something that gives the batches of every epoch."""

    def epoch(self, rng: np.random.Generator) -> Iterator[B_co]:
        """The batches of one epoch; their shares sum to one."""


@final
class Slices:
    """How queries are cut into batches, anew every epoch; ``batch=None`` takes all queries at once."""

    def __init__(self, n_queries: int, batch: int | None) -> None:
        self.n_queries, self.batch = n_queries, min(batch or n_queries, n_queries)

    def epoch(self, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
        """Slices in random order; the place of the first cut is random too."""
        first = int(rng.integers(self.batch)) if self.batch < self.n_queries else 0
        cuts = np.unique([0, *range(first, self.n_queries, self.batch), self.n_queries])
        for i in rng.permutation(len(cuts) - 1):
            yield int(cuts[i]), int(cuts[i + 1])


@final
@dataclass(frozen=True)
class QueryBatches:
    """Batches of whole queries, for losses of labelled lists; ``batch=None`` takes all queries at once."""

    data: Dataset
    loss: Loss
    batch: int | None
    transform: Callable[[NDArray[np.float32]], NDArray[np.float32]] = lambda X: X

    @cached_property
    def _prepared(self) -> Queries:
        return self.loss.prepare(self.data.y, self.data.offsets, self.data.weights)

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """The batches of one epoch."""
        return (self.slice(start, stop) for start, stop in Slices(self.data.n_queries, self.batch).epoch(rng))

    def slice(self, start: int, stop: int, weigh: Callable[[float], None] = lambda _: None) -> Batch:
        """Some queries as a batch; ``weigh`` is told how much they count in an average with others."""
        data = self.data
        first, last = data.offsets[start], data.offsets[stop]
        prepared = self._prepared.part(start, stop)

        def loss(scores: Outputs) -> tuple[Floats, Outputs]:
            values, slopes, weight = self.loss.of_prepared(scores[..., 0], prepared)
            weigh(weight)
            return values, slopes[..., None]

        return Batch(self.transform(data.X[first:last]), loss, (stop - start) / data.n_queries, takes_several=True)


@final
@dataclass(frozen=True)
class ScoredPairs:
    """Batches of given pairs, which may contradict each other, for networks that score; None takes all at once.

    A step is the sum over its pairs, each times its weight, divided by the number of pairs times their mean weight.
    """

    X: NDArray[np.float32]
    learning_set: LearningSet
    loss: PairLoss
    batch: int | None
    weights: Floats | None = None  # (n_pairs,), how much each pair counts

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pairs once, in random order."""
        n_pairs = self.learning_set.n_pairs
        return map(self._chunk, random_parts(n_pairs, self.batch or n_pairs, rng))

    def wrong_pairs(self, scores: Floats) -> float:
        """The share of the pairs that these scores put in the wrong order, an equal score counted as half a pair."""
        codes, target = self.learning_set
        first, second = np.divmod(codes, len(self.X))
        margin, is_decided = (scores[first] - scores[second]) * (target - 0.5), target != 0.5
        return float(np.mean((1 - np.sign(margin[is_decided])) / 2)) if is_decided.any() else 0.0

    def _chunk(self, chosen: NDArray[np.intp]) -> Batch:
        some = self.learning_set.take(chosen)
        docs, places = np.unique(some.rows(len(self.X)), return_inverse=True)
        a, b = places.reshape(2, -1)
        weights = None if self.weights is None else self.weights[chosen] / self.weights.mean()

        def loss(scores: Outputs) -> tuple[float, Outputs]:
            s = scores[:, 0].astype(np.float64)
            value, slope = self.loss(s[a] - s[b], some.target)
            if weights is not None:
                value, slope = value * weights, slope * weights
            slopes = (np.bincount(a, slope, len(docs)) - np.bincount(b, slope, len(docs))) / len(chosen)
            return float(value.mean()), slopes[:, None].astype(np.float32)

        return Batch(self.X[docs], loss, len(chosen) / self.learning_set.n_pairs)


@final
@dataclass(frozen=True)
class ComparedPairs:
    """Batches of pairs for networks that compare; ``batch=None`` takes all pairs in every step."""

    X: NDArray[np.float32]
    learning_set: LearningSet
    batch: int | None = None

    @cached_property
    def whole(self) -> PairBatch:
        """All pairs as one batch; pairs of the same documents stand together."""
        codes, target = self.learning_set
        order = np.argsort(codes, kind="stable")
        return PairBatch(self.X, codes[order], target[order], 1.0, lasting=True)

    def epoch(self, rng: np.random.Generator) -> Iterator[PairBatch]:
        """All pairs once, in random order."""
        n_pairs = self.learning_set.n_pairs
        if self.batch is None or self.batch >= n_pairs:
            yield self.whole
            return
        for chosen in random_parts(n_pairs, TAKEN * self.batch, rng):
            codes, target = self.learning_set.take(chosen)
            for start in range(0, len(codes), self.batch):
                some = slice(start, start + self.batch)
                yield PairBatch(self.X, codes[some], target[some], len(codes[some]) / n_pairs)


def random_parts(n: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """The numbers from 0 to n, shuffled and cut into parts of this size."""
    drawn = rng.permutation(n)
    return (drawn[start : start + size] for start in range(0, n, size))
