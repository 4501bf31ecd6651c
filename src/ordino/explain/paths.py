"""Divide a difference f(a) - f(b) among the features, on a path from b to a.

There are three methods, each of which divides the whole difference: by the gradient along the straight line (networks),
one feature after the other (sums of functions of one feature), and the same averaged over random orders (any ranker).
The gradients of networks are computed in double precision, with numpy alone.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ordino.layers import Layer
from ordino.order import PairNetwork

Floats = NDArray[np.float64]

FIRST_PARTS = 32  # of the line, before any is halved
HALVINGS = 40
MOST_PARTS = 1 << 14  # that are halved again: each kink needs one, but rounding that hides a difference would need all
TOLERANCE = 1e-10  # of the whole difference, that a part may miss

Slopes = Callable[[Floats], tuple[Floats, Floats]]
"""Points, shape ``(n, n_features)``, to values, shape ``(n,)``, and gradients, shape ``(n, n_features)``."""

Value = Callable[[Floats], Floats]
"""Points, shape ``(n, n_features)``, to values, shape ``(n,)``."""


def along_the_line(slopes: Slopes, a: Floats, b: Floats) -> Floats:
    r"""Integrated gradients (Sundararajan et al., ICML 2017): :math:`(a - b) \int_0^1 \nabla f(b + t (a - b)) dt`.

    The line is halved where the gradient in the middle of a part does not explain the part's own difference, so that
    kinks cost a few parts more and not accuracy.

    Examples
    --------
    f = x y on the way from (0, 0) to (2, 3): each factor gets half of the product.

    >>> along_the_line(lambda X: (X[:, 0] * X[:, 1], X[:, ::-1]), np.array([2.0, 3.0]), np.zeros(2)).round(9).tolist()
    [3.0, 3.0]
    """
    step = a - b
    total = np.zeros(len(a))
    ends = slopes(np.stack((b, a)))[0]
    allowed = TOLERANCE * max(1.0, float(np.abs(ends).max()))
    starts, width = np.linspace(0, 1, FIRST_PARTS, endpoint=False), 1 / FIRST_PARTS
    for halving in range(HALVINGS):
        values = slopes(b + np.concatenate((starts, starts + width))[:, None] * step)[0]
        gradients = slopes(b + (starts + width / 2)[:, None] * step)[1]
        explained = gradients * step * width  # (n_parts, n_features)
        missed = np.abs(values[len(starts) :] - values[: len(starts)] - explained.sum(axis=1))
        done = (missed <= allowed) | (halving == HALVINGS - 1) | (len(starts) > MOST_PARTS)
        total += explained[done].sum(axis=0)
        if done.all():
            break
        starts, width = np.concatenate((starts[~done], starts[~done] + width / 2)), width / 2
    return total


def one_by_one(value: Value, a: Floats, b: Floats, order: NDArray[np.intp] | None = None) -> Floats:
    """What f gains when the features of b become those of a, one after the other.

    Examples
    --------
    >>> one_by_one(lambda X: X[:, 0] ** 2 + 10 * X[:, 1], np.array([3.0, 1.0]), np.array([1.0, 0.0])).tolist()
    [8.0, 10.0]
    """
    order = np.arange(len(a)) if order is None else order
    points = np.tile(b, (len(a) + 1, 1))
    for step, j in enumerate(order, start=1):
        points[step:, j] = a[j]
    gained = np.empty(len(a))
    gained[order] = np.diff(value(points))
    return gained


def in_random_orders(value: Value, a: Floats, b: Floats, *, orders: int, seed: int) -> Floats:
    """Shapley values of the features, estimated by random orders, each of which is also taken backwards.

    Examples
    --------
    >>> in_random_orders(lambda X: X[:, 0] * X[:, 1], np.array([2.0, 3.0]), np.zeros(2), orders=2, seed=0).tolist()
    [3.0, 3.0]
    """
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(len(a)) for _ in range(-(-orders // 2))]
    gained = np.array([one_by_one(value, a, b, order) for one in drawn for order in (one, one[::-1])])
    mean: Floats = gained.mean(axis=0)
    return mean


SQUASHES: Mapping[str, tuple[Value, Value]] = MappingProxyType(
    {
        "relu": (lambda z: np.maximum(z, 0.0), lambda z: (z > 0).astype(np.float64)),
        "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
        "sigmoid": (expit, lambda z: expit(z) * expit(-z)),
        "softplus": (lambda z: np.logaddexp(z, 0.0), expit),
        "identity": (lambda z: z, np.ones_like),
    }
)
"""Each activation and its derivative."""


def scorer_slopes(layers: Sequence[Layer], activation: str) -> Slopes:
    """Value and gradient of a scoring network.

    Examples
    --------
    ``2 relu(x - 1) + 3`` has slope 2 beyond 1 and slope 0 before.

    >>> layers = [Layer(np.float32([[1]]), np.float32([-1])), Layer(np.float32([[2]]), np.float32([3]))]
    >>> values, gradients = scorer_slopes(layers, "relu")(np.array([[4.0], [0.0]]))
    >>> values.tolist(), gradients.ravel().tolist()
    ([9.0, 3.0], [2.0, 0.0])
    """
    if not layers[:-1]:
        W, b = layers[0].W[:, 0].astype(np.float64), float(layers[0].b[0])
        return lambda X: (X @ W + b, np.tile(W, (len(X), 1)))

    def slopes(X: Floats) -> tuple[Floats, Floats]:
        outputs, backward = _upper(X @ layers[0].W.astype(np.float64) + layers[0].b, layers[1:], activation)
        return outputs[:, 0], backward(np.ones((len(X), 1))) @ layers[0].W.T

    return slopes


def comparator_slopes(network: PairNetwork, other: Floats) -> Slopes:
    """Value and gradient of N> - N< for pairs (x, other); both orders count, as when the network compares."""
    squash, derivative = SQUASHES[network.output]
    left, right = network.left.astype(np.float64), network.right.astype(np.float64)

    def slopes(X: Floats) -> tuple[Floats, Floats]:
        first, back_first = _upper(X @ left + other @ right + network.bias, network.deeper, network.activation)
        second, back_second = _upper(other @ left + X @ right + network.bias, network.deeper, network.activation)
        z = (first + second[:, ::-1]) / 2  # logits of N> and N<
        slope = derivative(z) * [1.0, -1.0] / 2
        values = squash(z)
        return values[:, 0] - values[:, 1], back_first(slope) @ left.T + back_second(slope[:, ::-1]) @ right.T

    return slopes


def _upper(z: Floats, layers: Sequence[Layer], activation: str) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Outputs of the layers above the first sums z, and what brings a slope of the outputs back to z."""
    squash, derivative = SQUASHES[activation]
    sums = [z]
    for layer in layers:
        sums.append(squash(sums[-1]) @ layer.W.astype(np.float64) + layer.b)

    def backward(slope: Floats) -> Floats:
        for layer, below in zip(layers[::-1], sums[-2::-1], strict=True):
            slope = (slope @ layer.W.T) * derivative(below)
        return slope

    return sums[-1], backward
