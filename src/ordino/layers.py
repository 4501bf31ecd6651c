"""Networks as plain arrays: first weights, what a fitted ranker keeps, and all it takes to score. No torch here.

A network is a list of layers ``(W, b)`` with ``W`` of shape ``(n_in, n_out)``; the activation stands between layers,
the last layer is linear with one output.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.layer_kernels import affine

FloatArray = NDArray[np.float32]
Weights = NDArray[np.float64]

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


ACTIVATIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = MappingProxyType(
    {
        "relu": lambda z: np.maximum(z, np.zeros_like(z[:1]), out=z),  # a row of zeros: twice as fast as one zero
        "tanh": np.tanh,
        "sigmoid": _sigmoid,
        "softplus": lambda z: np.logaddexp(z, np.float32(0)),
        "identity": lambda z: z,
    }
)


def forward(X: FloatArray, layers: Sequence[Layer], activation: str) -> NDArray[np.float64]:
    """Scores of documents, shape ``(n_docs,)``; each is the same to the last bit whatever other documents there are.

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
            h = squash(_affine(h, layer))
        scores[start : start + BLOCK] = np.einsum("ij,j->i", h, last.W[:, 0])
    scores += last.b[0]
    return scores


def _affine(h: FloatArray, layer: Layer) -> FloatArray:
    """``h @ W + b`` without a library of linear algebra."""
    if (h.shape[1], layer.W.shape[1]) != (layer.W.shape[0], len(layer.b)):
        raise ValueError(f"a layer of shape {layer.W.shape} with {len(layer.b)} biases got {h.shape[1]} values")
    result = np.empty((len(h) + 1, len(layer.b)), np.float32)
    given = (h, layer.W, layer.b)
    affine(*(frozen(np.ascontiguousarray(one, np.float32)) for one in given), result)
    return result[:-1]


def _uniform(rng: np.random.Generator, n_in: int, n_out: int, bound: float) -> Weights:
    return rng.uniform(-bound, bound, (n_in, n_out))


def _glorot(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:  # noqa: ARG001
    return _uniform(rng, n_in, n_out, (6 / (n_in + n_out)) ** 0.5)


def _he(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:  # noqa: ARG001
    """DeepNet, 4.3.1: He uniform, in the last layer too."""
    return _uniform(rng, n_in, n_out, (6 / n_in) ** 0.5)


def _he_normal(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:
    """He et al.: normal, with half the variance in the last layer, which no ReLU follows."""
    return rng.normal(0, np.sqrt((1 if last else 2) / n_in), (n_in, n_out))


def _ranknet(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:
    """The start of RankNet's section 5: the last layer uniform in [-0.1, 0.1], layers before it zero."""
    drawn = _uniform(rng, n_in, n_out, 0.1)
    return drawn if last else np.zeros_like(drawn)


def _difference(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:
    """Glorot's, with opposite weights for the two documents, or for neurons and their duals.

    So the network starts as a function of the difference of two documents, and equal documents start as a tie.
    """
    own = _glorot(rng, n_in // 2, n_out, last)
    return np.concatenate((own, -own, np.zeros((n_in % 2, n_out))))


INITIALIZERS: Mapping[str, Callable[[np.random.Generator, int, int, bool], Weights]] = MappingProxyType(
    {
        "uniform": lambda rng, n_in, n_out, last: _uniform(rng, n_in, n_out, n_in**-0.5),  # noqa: ARG005
        "glorot": _glorot,
        "he": _he,
        "he-normal": _he_normal,
        "ranknet": _ranknet,
        "unit": lambda rng, n_in, n_out, last: _uniform(rng, n_in, n_out, 1.0),  # noqa: ARG005  # DeepNet, 4.3.1
    }
)
"""First weights of a layer by name, drawn for ``n_in`` inputs, ``n_out`` neurons and whether the layer is the last."""

PAIR_INITIALIZERS = MappingProxyType({**INITIALIZERS, "difference": _difference})
"""Those of networks that compare."""
