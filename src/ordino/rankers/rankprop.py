"""RankProp: regression on targets that follow the net's own ranking (Caruana et al., 1996; RankNet, section 2).

Two phases alternate: the net is fitted to the current targets by squared error; then the targets are adjusted to the
current outputs. Here the adjusted targets of a query are its own outputs, sorted and handed out in the order that the
labels ask for (equal labels keep the order of their outputs), brought to mean 0 and deviation 1. Where the order is
right already, nothing pulls; where it is wrong, documents trade places and no more.
"""

from collections.abc import Iterator
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import query_numbers
from ordino.data.dataset import Dataset
from ordino.layers import forward
from ordino.networks.nets import RowNet
from ordino.networks.scoring import ScoringNetwork
from ordino.networks.supply import Batch, Outputs, Supply
from ordino.parameters import param

Floats = NDArray[np.float64]


@final
class RankProp(ScoringNetwork):
    """Regression on targets, and targets adjusted to the ranking, by turns."""

    shares_batches: ClassVar[bool] = False  # targets follow a network's own scores

    period: int = param(2, "Number of epochs of regression between two adjustments of the targets.", low=1)

    def _supply(self, data: Dataset, net: RowNet) -> Supply[Batch]:
        return _Targets(data, net, self.activation, self.period, self.batch)


@final
class _Targets:
    """A supply of regression steps whose targets are adjusted every ``period`` epochs."""

    def __init__(self, data: Dataset, net: RowNet, activation: str, period: int, batch: int | None) -> None:
        self._data = data
        self._net = net
        self._activation = activation
        self._period = period
        self._batch = data.n_queries if batch is None else batch
        self._epochs = 0

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All queries once, in random order of the batches."""
        if self._epochs % self._period == 0:
            self._targets = self._adjusted()
        self._epochs += 1
        data = self._data
        weights = data.doc_weights
        cuts = np.append(np.arange(0, data.n_queries, self._batch), data.n_queries)
        for i in rng.permutation(len(cuts) - 1):
            first, last = data.offsets[cuts[i]], data.offsets[cuts[i + 1]]
            targets = self._targets[first:last]
            shares = weights[first:last] / (weights[first:last].sum() or 1.0)

            def loss(scores: Outputs, targets: Floats = targets, shares: Floats = shares) -> tuple[float, Outputs]:
                missed = scores[:, 0] - targets
                return float(shares @ missed**2), (2 * shares * missed).astype(np.float32)[:, None]

            yield Batch(data.X[first:last], loss, (last - first) / data.n_docs)

    def _adjusted(self) -> Floats:
        """Targets of all documents; before the first epoch they are the labels."""
        data, query = self._data, query_numbers(self._data.offsets)
        outputs = data.y if self._epochs == 0 else forward(data.X, self._net.layers(), self._activation)
        wanted = np.lexsort((-outputs, -data.y, query))  # documents in the order that the labels ask for
        targets = np.empty(data.n_docs)
        targets[wanted] = outputs[np.lexsort((-outputs, query))]  # get the sorted outputs of their query
        mean = np.add.reduceat(targets, data.offsets[:-1]) / data.counts
        targets -= np.repeat(mean, data.counts)
        spread = np.sqrt(np.add.reduceat(targets**2, data.offsets[:-1]) / data.counts)
        targets /= np.repeat(np.where(spread > 0, spread, 1.0), data.counts)
        return targets
