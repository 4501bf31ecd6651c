"""Networks as plain arrays: first weights, what a fitted ranker keeps, and all it takes to score. No torch here.

A network is a list of layers ``(W, b)`` with ``W`` of shape ``(n_in, n_out)``; the activation stands between layers,
the last layer is linear with one output.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.threads import products

FloatArray = NDArray[np.float32]
Weights = NDArray[np.float64]

BLOCK = 4096  # documents scored at a time: the hidden layers stay in cache
SIZES = (*range(2, 34), 48, 100, 512, 1000, BLOCK)  # of lists that tell whether places matter


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
    """Scores of documents, shape ``(n_docs,)``; what a document gets does not depend on those beside it.

    Where products of matrices round a row by its place, that holds up to the rounding of double precision.

    Examples
    --------
    One hidden neuron ``relu(x - 1)`` and the output ``2 h + 3``: x = 4 gives 9, x = 0 gives 3.

    >>> layers = [Layer(np.float32([[1]]), np.float32([-1])), Layer(np.float32([[2]]), np.float32([3]))]
    >>> forward(np.float32([[4], [0]]), layers, "relu").tolist()
    [9.0, 3.0]
    """
    with products.on_one_thread():  # a product that threads share rounds by their number
        return _forward(X, layers, activation)


def _forward(X: FloatArray, layers: Sequence[Layer], activation: str) -> NDArray[np.float64]:
    squash = ACTIVATIONS[activation]
    scores = np.empty(len(X))
    last = layers[-1]
    for start in range(0, len(X), BLOCK):
        h = X[start : start + BLOCK]
        if len(h) == 1:  # for which numpy has another routine, which rounds otherwise
            h = np.repeat(h, 2, axis=0)
        for layer in layers[:-1]:
            h = squash(_affine(h, layer))
        scores[start : start + BLOCK] = np.einsum("ij,j->i", h, last.W[:, 0])[: len(X) - start]
    scores += last.b[0]
    return scores


def _affine(h: FloatArray, layer: Layer) -> FloatArray:
    """``h @ W + b``, rounded from double precision where single precision would show the place among the others."""
    if has_no_places(*layer.W.shape):
        z: FloatArray = h @ layer.W
        z += layer.b
        return z
    exact = h.astype(np.float64) @ layer.W.astype(np.float64)
    exact += layer.b
    return exact.astype(np.float32)


@cache
def has_no_places(n_in: int, n_out: int) -> bool:
    """Whether a product of this shape gives a row the same bits at each place; not so with many processors' routines.

    Routines are chosen by shape alone, so that a few rows, each of them repeated, can tell.
    """
    rng = np.random.default_rng(0)
    W = rng.normal(size=(n_in, n_out)).astype(np.float32)
    for row in rng.normal(size=(4, 1, n_in)).astype(np.float32):
        alone = (np.repeat(row, 2, axis=0) @ W)[0]
        if any((np.repeat(row, n, axis=0) @ W != alone).any() for n in SIZES):
            return False
    return True


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
