"""What a training step sees: documents, and a loss of their scores.

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

Scores = NDArray[np.float32]  # (n_networks, n_docs)
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
        transform: Transform | None = None,
    ) -> None:
        self._X = X
        self._pairs = pairs
        self._probability = probability
        self._loss = loss
        self._batch = batch or len(pairs)
        self._transform = transform

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pairs once, in random order."""
        drawn = rng.permutation(len(self._pairs))
        for start in range(0, len(drawn), self._batch):
            yield self._chunk(drawn[start : start + self._batch])

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

        return Batch(as_tensor(self._X[docs], self._transform), loss, len(chosen) / len(self._pairs))


def as_tensor(X: NDArray[np.float32], transform: Transform | None = None) -> Tensor:
    """The array's own memory as a tensor; a data set is read-only, and nothing here writes to X."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable", category=UserWarning)
        return torch.from_numpy(X if transform is None else transform(X))
