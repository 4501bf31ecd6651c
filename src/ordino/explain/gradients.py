"""Values and gradients of networks in double precision, with numpy alone: what integrating along a path needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ordino.layers import Layer
from ordino.order import PairNetwork

Floats = NDArray[np.float64]
Slopes = Callable[[Floats], tuple[Floats, Floats]]
"""Points, shape ``(n, n_features)``, to values, shape ``(n,)``, and gradients, shape ``(n, n_features)``."""

Squash = tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]

SQUASHES: Mapping[str, Squash] = MappingProxyType(
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
