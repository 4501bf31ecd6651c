"""What a training step sees: documents or pairs, and a loss of what the networks give for them.

A supply cuts the training data into batches, anew every epoch. Batches of whole queries are slices of the data in its
canonical order, whose first cut moves from epoch to epoch: no copy of the data is ever made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ordino.data.dataset import Dataset
from ordino.losses import Loss
from ordino.networks.learning_sets import LearningSet
from ordino.networks.pair_network import CmpNN, PairRows

Scores = NDArray[np.float32]  # (n_networks, n_docs)
Outputs = NDArray[np.float32]  # (n_networks, n_pairs, 2)
PairLoss = Callable[..., tuple[NDArray[np.float64], NDArray[np.float64]]]  # (margin, target) -> value, slope
Transform = Callable[[NDArray[np.float32]], NDArray[np.float32]]


class Batch(NamedTuple):
    """A step's documents or pairs, the loss of their scores with its gradient, and the share of the epoch's error."""

    X: Any
    loss: Callable[[NDArray[np.float32]], tuple[NDArray[np.float64], NDArray[np.float32]]]
    share: float


class Supply(Protocol):
    """Batches, epoch after epoch."""

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """The batches of one epoch; their shares sum to one."""


@final
class QueryBatches:
    """Batches of whole queries, for losses of labelled lists; ``batch=None`` takes all queries at once."""

    def __init__(self, data: Dataset, loss: Loss, *, batch: int | None, transform: Transform | None = None) -> None:
        self._data = data
        self._loss = loss
        self._batch = data.n_queries if batch is None else min(batch, data.n_queries)
        self._transform = transform

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """Slices in random order; the place of the first cut is random too."""
        n_queries = self._data.n_queries
        first = int(rng.integers(self._batch)) if self._batch < n_queries else 0
        cuts = np.unique([0, *range(first, n_queries, self._batch), n_queries])
        for i in rng.permutation(len(cuts) - 1):
            yield self._slice(cuts[i], cuts[i + 1])

    def _slice(self, start: int, stop: int) -> Batch:
        data = self._data
        first, last = data.offsets[start], data.offsets[stop]
        y = data.y[first:last]
        offsets = data.offsets[start : stop + 1] - first
        weights = None if data.weights is None else data.weights[first:last]

        def loss(scores: Scores) -> tuple[NDArray[np.float64], Scores]:
            return self._loss.value_and_gradient(scores, y, offsets, weights=weights)

        return Batch(as_tensor(data.X[first:last], self._transform), loss, (stop - start) / data.n_queries)


@final
class PairBatches:
    """Batches of given pairs (a, b) with the probability that a comes first, consistent or not."""

    def __init__(
        self,
        X: NDArray[np.float32],
        pairs: NDArray[np.intp],
        probability: NDArray[np.float64],
        loss: PairLoss,
        *,
        batch: int | None = 4096,
    ) -> None:
        self._X = X
        self._pairs = pairs
        self._probability = probability
        self._loss = loss
        self._batch = batch or len(pairs)

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pairs once, in random order."""
        return map(self._chunk, random_parts(len(self._pairs), self._batch, rng))

    def _chunk(self, chosen: NDArray[np.intp]) -> Batch:
        docs, places = np.unique(self._pairs[chosen], return_inverse=True)
        a, b = places.reshape(-1, 2).T
        target = self._probability[chosen]

        def loss(scores: Scores) -> tuple[NDArray[np.float64], Scores]:
            gradient = np.zeros_like(scores)
            values = np.empty(len(scores))
            for m, s in enumerate(scores):
                value, slope = self._loss(s[a].astype(np.float64) - s[b], target)
                values[m] = value.mean()
                gradient[m] = (np.bincount(a, slope, len(docs)) - np.bincount(b, slope, len(docs))) / len(chosen)
            return values, gradient

        return Batch(as_tensor(self._X[docs]), loss, len(chosen) / len(self._pairs))


@final
class ComparisonBatches:
    """Batches of pairs for networks that compare; ``batch=None`` takes all pairs in every step.

    The error of a pair is the mean of the loss of N> against t and of N< against 1 - t (DeepNet, 3.2), where N is the
    sigmoid of an output: so the losses of margins serve, with an output as the margin.
    """

    def __init__(
        self, X: NDArray[np.float32], learning_set: LearningSet, loss: PairLoss, *, batch: int | None = None
    ) -> None:
        self._X = X
        self._set = learning_set
        self._loss = loss
        self._batch = batch
        self._whole: Batch | None = None

    def whole(self) -> Batch:
        """All pairs as one batch."""
        if self._whole is None:
            self._whole = self._chunk(np.arange(self._set.n_pairs))
        return self._whole

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pairs once, in random order."""
        if self._batch is None or self._batch >= self._set.n_pairs:
            return iter([self.whole()])
        return map(self._chunk, random_parts(self._set.n_pairs, self._batch, rng))

    def _chunk(self, chosen: NDArray[np.intp]) -> Batch:
        pairs, first = self._set.take(chosen)
        docs = np.moveaxis(pairs, -1, 0).ravel()  # the first of every pair, then the second
        places = np.arange(len(docs))
        if len(docs) > len(self._X):  # documents stand in several pairs: each is needed only once
            docs, places = np.unique(docs, return_inverse=True)
        a, b = torch.from_numpy(places.reshape(2, *first.shape))
        target = np.stack((first, 1 - first), axis=-1)

        def loss(outputs: Outputs) -> tuple[NDArray[np.float64], Outputs]:
            value, slope = self._loss(outputs, target)
            return value.mean((1, 2), dtype=np.float64), (slope / (2 * len(chosen))).astype(np.float32, copy=False)

        return Batch(PairRows(as_tensor(self._X[docs]), a, b), loss, len(chosen) / self._set.n_pairs)


def random_parts(n: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """The numbers from 0 to n, shuffled and cut into parts of this size."""
    drawn = rng.permutation(n)
    return (drawn[start : start + size] for start in range(0, n, size))


def mean_error(network: CmpNN, batch: Batch) -> NDArray[np.float64]:
    """The loss of each network on pairs that it does not learn from, shape ``(n_networks,)``."""
    with torch.no_grad():
        return batch.loss(network(batch.X).numpy())[0]


def as_tensor(X: NDArray[np.float32], transform: Transform | None = None) -> Tensor:
    """The array's own memory as a tensor; a data set is read-only, and nothing here writes to X."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable", category=UserWarning)
        return torch.from_numpy(X if transform is None else transform(X))
