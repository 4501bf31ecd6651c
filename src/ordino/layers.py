"""Networks as plain arrays: what a fitted ranker keeps, and all it takes to score. No torch here.

A network is a list of layers ``(W, b)`` with ``W`` of shape ``(n_in, n_out)``; the activation stands between layers,
the last layer is linear with one output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

BLOCK = 4096  # documents scored at a time: the hidden layers stay in cache


class Layer(NamedTuple):
    """An affine map: ``x @ W + b``."""

    W: FloatArray  # (n_in, n_out)
    b: FloatArray  # (n_out,)


def _sigmoid(z: FloatArray) -> FloatArray:
    half: FloatArray = np.tanh(z * np.float32(0.5))
    half *= np.float32(0.5)
    half += np.float32(0.5)
    return half


def _softplus(z: FloatArray) -> FloatArray:
    return np.logaddexp(z, np.float32(0))


def _relu(z: FloatArray) -> FloatArray:
    return np.maximum(z, np.zeros_like(z[:1]), out=z)  # a row of zeros: twice as fast as one zero


def _identity(z: FloatArray) -> FloatArray:
    return z


ACTIVATIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = MappingProxyType(
    {"relu": _relu, "tanh": np.tanh, "sigmoid": _sigmoid, "softplus": _softplus, "identity": _identity}
)


def forward(X: FloatArray, layers: Sequence[Layer], activation: str) -> NDArray[np.float64]:
    """Scores of documents, shape ``(n_docs,)``.

    Examples
    --------
    One hidden neuron ``relu(x - 1)`` and the output ``2 h + 3``: x = 4 gives 9, x = 0 gives 3.

    >>> layers = [Layer(np.float32([[1]]), np.float32([-1])), Layer(np.float32([[2]]), np.float32([3]))]
    >>> forward(np.float32([[4], [0]]), layers, "relu").tolist()
    [9.0, 3.0]
    """
    squash = ACTIVATIONS[activation]
    scores = np.empty(len(X))
    last = layers[-1]
    for start in range(0, len(X), BLOCK):
        h = X[start : start + BLOCK]
        for layer in layers[:-1]:
            h = h @ layer.W
            h += layer.b
            h = squash(h)
        scores[start : start + BLOCK] = np.einsum("ij,j->i", h, last.W[:, 0])
    scores += last.b[0]
    return scores
