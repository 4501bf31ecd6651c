"""Batches of pairs for networks that compare, with a pairwise loss of their two outputs.

The error of a pair is the mean of the loss of N> against t and of N< against 1 - t (DeepNet, 3.2), where N is the
sigmoid of an output: so the losses of margins serve, with an output as the margin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray

from ordino.networks.learning_sets import LearningSet
from ordino.networks.pair_network import CmpNN, Pairs
from ordino.networks.supply import Batch, PairLoss, as_tensor

Outputs = NDArray[np.float32]  # (n_networks, n_pairs, 2)


@final
class ComparisonBatches:
    """Batches of a learning set; ``batch=None`` takes all pairs in every step."""

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
        n_pairs = self._set.n_pairs
        if self._batch is None or self._batch >= n_pairs:
            yield self.whole()
            return
        drawn = rng.permutation(n_pairs)
        for start in range(0, n_pairs, self._batch):
            yield self._chunk(drawn[start : start + self._batch])

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

        return Batch(Pairs(as_tensor(self._X[docs]), a, b), loss, len(chosen) / self._set.n_pairs)


def mean_error(network: CmpNN, batch: Batch) -> NDArray[np.float64]:
    """The loss of each network on pairs that it does not learn from, shape ``(n_networks,)``."""
    with torch.no_grad():
        return batch.loss(network(batch.X).numpy())[0]
