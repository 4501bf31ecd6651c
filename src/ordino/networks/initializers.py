"""First weights of a layer, by name: drawn for ``n_in`` inputs and ``n_out`` neurons, shape ``(n_in, n_out)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64]
Initializer = Callable[[np.random.Generator, int, int, bool], Weights]
"""Takes the random numbers, ``n_in``, ``n_out`` and whether the layer is the last."""


def _uniform(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:  # noqa: ARG001
    bound = n_in**-0.5
    return rng.uniform(-bound, bound, (n_in, n_out))


def _glorot(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:  # noqa: ARG001
    bound = (6 / (n_in + n_out)) ** 0.5
    return rng.uniform(-bound, bound, (n_in, n_out))


def _he(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:
    return rng.normal(0, np.sqrt((1 if last else 2) / n_in), (n_in, n_out))


def _ranknet(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:
    """The start of RankNet's section 5: the last layer uniform in [-0.1, 0.1], layers before it zero."""
    draw = rng.uniform(-0.1, 0.1, (n_in, n_out))
    return draw if last else np.zeros_like(draw)


def _unit(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:  # noqa: ARG001
    """Uniform in [-1, 1] whatever the widths (DeepNet, 4.3.1)."""
    return rng.uniform(-1, 1, (n_in, n_out))


def _difference(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> Weights:
    """Glorot's, with opposite weights for the two documents, or for neurons and their duals.

    The network starts from the difference of what it sees, and equal documents from a tie: next to a score.
    """
    own = _glorot(rng, n_in // 2, n_out, last)
    return np.concatenate((own, -own, np.zeros((n_in % 2, n_out))))


INITIALIZERS: Mapping[str, Initializer] = MappingProxyType(
    {"uniform": _uniform, "glorot": _glorot, "he": _he, "ranknet": _ranknet, "unit": _unit}
)
PAIR_INITIALIZERS: Mapping[str, Initializer] = MappingProxyType({**INITIALIZERS, "difference": _difference})
"""Those of networks that compare."""
