r"""RankNet's network of two layers with a step after each pair: equations 12 to 15 of the paper, as they stand.

The rankers of Ordino take a step after each query or batch. This loop is for the experiment of section 5 in which a
network learns 1,000 documents without an error: first layer zero, second uniform in [-0.1, 0.1], a rate of 0.001 that
is halved when the mean cost of an epoch is above that of the epoch before.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import ALLOCATING, OUTER, njit
from ordino.data.dataset import Dataset
from ordino.streams import stream

Floats = NDArray[np.float64]
FIRST_RATE = 0.001


class Net(NamedTuple):
    """The score of x is w . tanh(V x + b); a bias of the output would move all scores alike."""

    V: Floats  # (n_hidden, n_features)
    b: Floats  # (n_hidden,)
    w: Floats  # (n_hidden,)

    def copy(self) -> "Net":
        """The same weights, which further steps leave alone."""
        return Net(*(part.copy() for part in self))


class Epoch(NamedTuple):
    """What an epoch left behind."""

    net: Net
    cost: float
    """The mean of the pairs' costs, each as it was before its step."""
    train_error: float
    """The share of training pairs in the wrong order at the end."""


def learn(train: Dataset, *, hidden: int, epochs: int, seed: int) -> Iterator[Epoch]:
    """Epoch after epoch, each through all pairs in random order, until no pair is in the wrong order."""
    weights, order = stream(seed, "weights"), stream(seed, "order")
    net = Net(np.zeros((hidden, train.n_features)), np.zeros(hidden), weights.uniform(-0.1, 0.1, hidden))
    X, pairs = train.X.astype(np.float64), ordered_pairs(train)
    rate, before = FIRST_RATE, np.inf
    for _ in range(epochs):
        cost = learn_pairs(X, order.permutation(pairs), *net, rate) / len(pairs)
        error = pair_error(net, train, pairs)
        yield Epoch(net.copy(), cost, error)
        if error == 0:
            return
        rate, before = rate / 2 if cost > before else rate, cost


def ordered_pairs(data: Dataset) -> NDArray[np.int64]:
    """Every pair of documents of the same query with different labels, the better one first, shape ``(n_pairs, 2)``."""
    pairs = [
        np.argwhere(data.y[a:b, None] > data.y[a:b]) + a
        for a, b in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True)
    ]
    return np.concatenate(pairs).astype(np.int64)


def pair_error(net: Net, data: Dataset, pairs: NDArray[np.int64] | None = None) -> float:
    """The share of pairs whose better document has no higher score."""
    scores = np.tanh(data.X @ net.V.T + net.b) @ net.w
    better, worse = (ordered_pairs(data) if pairs is None else pairs).T
    return float(np.mean(scores[better] <= scores[worse]))


@njit(**{**OUTER, **ALLOCATING})
def learn_pairs(X: Any, pairs: Any, V: Any, b: Any, w: Any, rate: float) -> float:
    """A step for each pair; gives the sum of the costs log(1 + exp(-o)) of the outputs o before the steps."""
    n_hidden, n_features = V.shape
    first, second = np.empty(n_hidden), np.empty(n_hidden)
    total = 0.0
    for row in range(len(pairs)):
        x, z = X[pairs[row, 0]], X[pairs[row, 1]]
        o = 0.0
        for m in range(n_hidden):
            u, v = b[m], b[m]
            for n in range(n_features):
                u += V[m, n] * x[n]
                v += V[m, n] * z[n]
            first[m], second[m] = np.tanh(u), np.tanh(v)
            o += w[m] * (first[m] - second[m])
        total += np.log1p(np.exp(-o)) if o > 0 else -o + np.log1p(np.exp(o))
        step = rate / (1 + np.exp(o))  # the rate times -f'(o)
        for m in range(n_hidden):
            upper, lower = w[m] * (1 - first[m] ** 2), w[m] * (1 - second[m] ** 2)
            w[m] += step * (first[m] - second[m])
            b[m] += step * (upper - lower)
            for n in range(n_features):
                V[m, n] += step * (upper * x[n] - lower * z[n])
    return total
