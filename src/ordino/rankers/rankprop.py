r"""RankProp: regression on ranks, between which the net's own order decides where the labels do not.

Caruana, Baluja and Mitchell, "Using the future to sort out the present", NIPS 1996; RankNet, section 2. Two phases
alternate: the net is fitted to the current targets by squared error, and the targets are adjusted to its ranking. The
adjustment: all documents are sorted by their labels and, where these are equal, by the net's outputs; the target of a
document is its rank in that order,

.. math:: t_i = \mathrm{rank}(y_i, f(x_i)), \qquad y_i > y_j \Rightarrow t_i > t_j

So the labels are never contradicted, and among all rankings that they allow, the targets are the one that is nearest
to the net's own: no effort goes into telling documents apart that may stand in any order. Regression on the labels
themselves would demand that all documents of a label have the same score.

Ranks are taken over the whole training set, as in the source, which knows no queries. Ranks inside each query (so that
the same score means another rank in every query) were worse on the validation parts of MQ2007 and MQ2008. Ranks are
moved to mean 0 and deviation 1, which changes no order. The output has a bias: without it, a regression is forced
through the origin.
"""

from collections.abc import Iterator
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.layers import forward
from ordino.networks import fields
from ordino.networks.nets import RowNet
from ordino.networks.scoring import ScoringNetwork
from ordino.networks.supply import Batch, Outputs, Supply
from ordino.parameters import Range, param, settings

Floats = NDArray[np.float64]


@final
class RankProp(ScoringNetwork):
    """Regression on ranks, and ranks adjusted to the network's outputs, by turns."""

    divides = False  # targets are ranks among all documents
    shares_batches: ClassVar[bool] = False  # targets follow a network's own scores
    output_bias: ClassVar[bool] = True

    learning_rate: float = fields.learning_rate(0.01)
    l2: float = param(
        0.3,
        "The penalty on the squared weights; with adamw, how fast the weights decay.",
        low=0,
        space=Range(0.01, 10.0, log=True),
    )
    period: int = param(1, "Number of epochs of regression between two adjustments of the targets.", low=1)

    published = settings(
        hidden=(), epochs=100, patience=None, period=1, learning_rate=0.03, metric="ndcg@15", scaling="symlog",
        dropout=0.0, hold_out=None, l2=0.0,
    )  # fmt: skip
    """RankNet's section 6: a single layer, 100 epochs, the best on validation by NDCG@15 kept. The rate, of which no
    paper speaks, was chosen on validation parts of MQ2007 and MQ2008."""

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
        data = self._data
        if self._epochs % self._period == 0:
            self._targets = rank_targets(data.y, forward(data.X, self._net.layers(), self._activation))
        self._epochs += 1
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


def rank_targets(y: Floats, outputs: Floats) -> Floats:
    """Ranks by label and, among equal labels, by output, moved to mean 0 and deviation 1.

    Examples
    --------
    Of the two documents of label 0, the second has the larger output: the ranks are 0, 1 and 2.

    >>> rank_targets(np.array([0.0, 0.0, 1.0]), np.array([0.3, 0.9, 0.1])).round(4).tolist()
    [-1.2247, 0.0, 1.2247]
    """
    n = len(y)
    targets = np.empty(n)
    targets[np.lexsort((outputs, y))] = np.arange(n) - (n - 1) / 2
    deviation = np.sqrt((n * n - 1) / 12)  # of the numbers from 1 to n
    targets /= max(deviation, 0.5)
    return targets
