"""What a training step sees: documents or pairs, and a loss of what the networks give for them.

A supply cuts the training data into batches, anew every epoch. Batches of whole queries are slices of the data in its
canonical order, whose first cut moves from epoch to epoch: no copy of the data is ever made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ordino.data.dataset import Dataset
from ordino.losses import Loss
from ordino.networks.learning_sets import LearningSet

Floats = NDArray[np.float64]
Outputs = NDArray[np.float32]  # scores (n_networks, n_docs), or outputs for pairs (n_networks, n_pairs, n_outputs)
PairLoss = Callable[..., tuple[Floats, Floats]]  # (margin, target) -> value, slope


class Batch(NamedTuple):
    """A step's documents or pairs, the loss of their outputs with its gradient, and the share of the epoch's error."""

    X: Any
    loss: Callable[[Outputs], tuple[Floats, Outputs]]
    share: float


class Supply(Protocol):
    """Batches, epoch after epoch."""

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """The batches of one epoch; their shares sum to one."""


@final
@dataclass(frozen=True)
class QueryBatches:
    """Batches of whole queries, for losses of labelled lists; ``batch=None`` takes all queries at once."""

    data: Dataset
    loss: Loss
    batch: int | None
    transform: Callable[[NDArray[np.float32]], NDArray[np.float32]] = lambda X: X

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """Slices in random order; the place of the first cut is random too."""
        n_queries = self.data.n_queries
        batch = min(self.batch or n_queries, n_queries)
        first = int(rng.integers(batch)) if batch < n_queries else 0
        cuts = np.unique([0, *range(first, n_queries, batch), n_queries])
        for i in rng.permutation(len(cuts) - 1):
            yield self._slice(cuts[i], cuts[i + 1])

    def _slice(self, start: int, stop: int) -> Batch:
        data = self.data
        first, last = data.offsets[start], data.offsets[stop]
        offsets = data.offsets[start : stop + 1] - first
        weights = None if data.weights is None else data.weights[first:last]
        loss = partial(self.loss.value_and_gradient, y=data.y[first:last], offsets=offsets, weights=weights)
        return Batch(as_tensor(self.transform(data.X[first:last])), loss, (stop - start) / data.n_queries)


@final
@dataclass(frozen=True)
class PairBatches:
    """Batches of given pairs for networks that score, consistent or not; ``batch=None`` takes all in every step."""

    X: NDArray[np.float32]
    learning_set: LearningSet
    loss: PairLoss
    batch: int | None

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pairs once, in random order."""
        n_pairs = self.learning_set.n_pairs
        return map(self._chunk, random_parts(n_pairs, self.batch or n_pairs, rng))

    def _chunk(self, chosen: NDArray[np.intp]) -> Batch:
        pairs, target = self.learning_set.take(chosen)
        docs, places = np.unique(pairs, return_inverse=True)
        a, b = places.reshape(-1, 2).T

        def loss(scores: Outputs) -> tuple[Floats, Outputs]:
            gradient = np.zeros_like(scores)
            values = np.empty(len(scores))
            for m, s in enumerate(scores):
                value, slope = self.loss(s[a].astype(np.float64) - s[b], target)
                values[m] = value.mean()
                gradient[m] = (np.bincount(a, slope, len(docs)) - np.bincount(b, slope, len(docs))) / len(chosen)
            return values, gradient

        return Batch(as_tensor(self.X[docs]), loss, len(chosen) / self.learning_set.n_pairs)


@dataclass(frozen=True)
class PairRows:
    """Pairs of rows of X: the documents ``X[a]`` and ``X[b]``, the same for all networks of a batch or each its own."""

    X: Tensor  # (n_docs, n_features)
    a: Tensor  # (n_pairs,) or (n_networks, n_pairs), int64
    b: Tensor  # as a

    def __len__(self) -> int:
        return self.a.shape[-1]

    def of_network(self, number: int) -> PairRows:
        """What one network of the batch sees."""
        return self if self.a.ndim == 1 else PairRows(self.X, self.a[number], self.b[number])


@final
@dataclass(frozen=True)
class ComparisonBatches:
    """Batches of pairs for networks that compare; ``batch=None`` takes all pairs in every step.

    The error of a pair is the mean of the loss of N> against t and of N< against 1 - t (DeepNet, 3.2), where N is the
    sigmoid of an output: so the losses of margins serve, with an output as the margin.
    """

    X: NDArray[np.float32]
    learning_set: LearningSet
    loss: PairLoss
    batch: int | None = None

    @cached_property
    def whole(self) -> Batch:
        """All pairs as one batch."""
        return self._chunk(np.arange(self.learning_set.n_pairs))

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pairs once, in random order."""
        if self.batch is None or self.batch >= self.learning_set.n_pairs:
            return iter([self.whole])
        return map(self._chunk, random_parts(self.learning_set.n_pairs, self.batch, rng))

    def _chunk(self, chosen: NDArray[np.intp]) -> Batch:
        pairs, first = self.learning_set.take(chosen)
        docs = np.moveaxis(pairs, -1, 0).ravel()  # the first of every pair, then the second
        places = np.arange(len(docs))
        if len(docs) > len(self.X):  # documents stand in several pairs: each is needed only once
            docs, places = np.unique(docs, return_inverse=True)
        a, b = torch.from_numpy(places.reshape(2, *first.shape))
        target = np.stack((first, 1 - first), axis=-1)

        def loss(outputs: Outputs) -> tuple[Floats, Outputs]:
            value, slope = self.loss(outputs, target)
            return value.mean((1, 2), dtype=np.float64), (slope / (2 * len(chosen))).astype(np.float32, copy=False)

        return Batch(PairRows(as_tensor(self.X[docs]), a, b), loss, len(chosen) / self.learning_set.n_pairs)


def random_parts(n: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """The numbers from 0 to n, shuffled and cut into parts of this size."""
    drawn = rng.permutation(n)
    return (drawn[start : start + size] for start in range(0, n, size))


def as_tensor(X: NDArray[np.float32]) -> Tensor:
    """The array's own memory as a tensor; a data set is read-only, and nothing here writes to X."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable", category=UserWarning)
        return torch.from_numpy(X)
