"""Compiled: what hidden neurons do, their slopes, and which of them are dropped."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ordino.compiled import INNER, OPEN, OUTER, njit, specialize
from ordino.order.kernels import ACTIVATIONS

ZERO, ONE = np.float32(0), np.float32(1)
squash = slope = OPEN  # in the templates below


# The slope of an activation at the place where it gives h.


@njit(**INNER)
def _tanh_slope(h: Any) -> Any:
    return ONE - h * h


@njit(**INNER)
def _sigmoid_slope(h: Any) -> Any:
    return h * (ONE - h)


@njit(**INNER)
def _relu_slope(h: Any) -> Any:
    return ONE if h > ZERO else ZERO


@njit(**INNER)
def _softplus_slope(h: Any) -> Any:
    return ONE - np.exp(-h)


@njit(**INNER)
def _identity_slope(h: Any) -> Any:  # noqa: ARG001
    return ONE


SLOPES: Mapping[str, Any] = MappingProxyType(
    {
        "sigmoid": _sigmoid_slope,
        "tanh": _tanh_slope,
        "relu": _relu_slope,
        "softplus": _softplus_slope,
        "identity": _identity_slope,
    }
)


@njit(**INNER)
def _mixed(x: Any) -> Any:
    """A permutation of 32 bits that spreads every bit over all (Wellons' lowbias32)."""
    x = np.uint32(x ^ (x >> np.uint32(16)))
    x = np.uint32(x * np.uint32(0x7FEB352D))
    x = np.uint32(x ^ (x >> np.uint32(15)))
    x = np.uint32(x * np.uint32(0x846CA68B))
    return np.uint32(x ^ (x >> np.uint32(16)))


@njit(**INNER)
def is_dropped(counter: Any, key: Any, other_key: Any, threshold: Any) -> Any:
    """Whether the neuron with this number is dropped: a random number of the counter and two keys, no state at all."""
    x = _mixed(np.uint32(np.uint32(counter) ^ key))
    return _mixed(np.uint32(x + other_key)) < threshold


def _squash_rows(h: Any, bias: Any, dropout: Any, number: int) -> None:
    """Template: add the bias to every row of ``h``, put the activation on it, and drop neurons; all in place.

    ``dropout`` is two keys and the threshold of :func:`is_dropped`, 0 to drop none; ``number`` is the first row's.
    """
    width, threshold = h.shape[1], dropout[2]
    scale = np.float32(2.0**32 / (2.0**32 - threshold))
    for r in range(len(h)):
        for k in range(width):
            h[r, k] = squash(h[r, k] + bias[k])
        if threshold:
            for k in range(width):
                dropped = is_dropped((number + r) * width + k, dropout[0], dropout[1], threshold)
                h[r, k] = ZERO if dropped else h[r, k] * scale


def _slope_rows(d: Any, h: Any, dropout: Any, number: int, total: Any) -> None:
    """Template: turn slopes of what neurons give, ``h``, into those of what they get; ``total`` is the sum of rows."""
    width, threshold = h.shape[1], dropout[2]
    scale = np.float32(2.0**32 / (2.0**32 - threshold))
    shrink = ONE / scale
    for k in range(width):
        total[k] = ZERO
    for r in range(len(h)):
        if threshold:
            for k in range(width):
                dropped = is_dropped((number + r) * width + k, dropout[0], dropout[1], threshold)
                d[r, k] = ZERO if dropped else d[r, k] * scale
        for k in range(width):
            d[r, k] *= slope(h[r, k] * shrink)
            total[k] += d[r, k]


class RowKernels(NamedTuple):
    """What is compiled for an activation, each on its first use."""

    squash_rows: Any
    slope_rows: Any


@cache
def make_row_kernels(activation: str) -> RowKernels:
    """The kernels of hidden layers with this activation."""
    return RowKernels(
        specialize(_squash_rows, f"squash_{activation}", OUTER, squash=ACTIVATIONS[activation]),
        specialize(_slope_rows, f"slope_{activation}", OUTER, slope=SLOPES[activation]),
    )
