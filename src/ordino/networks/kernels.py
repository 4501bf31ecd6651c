"""Compiled: what hidden neurons do, their slopes, and which of them are dropped."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ordino.compiled import INNER, OPEN, OUTER, njit, specialize
from ordino.order.kernels import ACTIVATIONS

ZERO, ONE = np.float32(0), np.float32(1)
GOLDEN = np.uint32(0x9E3779B9)  # 2^32 by the golden ratio: multiples of it lie far apart
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
def lane_of(number: Any, key: Any) -> Any:
    """The random number of a row or a pair, from which the masks of all its neurons follow; there is no state."""
    return _mixed(np.uint32(np.uint32(number) ^ key))


@njit(**INNER)
def is_dropped(lane: Any, neuron: Any, key: Any, threshold: Any) -> Any:
    """Whether the neuron with this number is dropped, which happens in ``threshold`` of 2^32 cases."""
    return _mixed(np.uint32(lane ^ np.uint32(key + np.uint32(neuron) * GOLDEN))) < threshold


@njit(**OUTER)
def drop_rows(h: Any, dropout: Any, number: int) -> None:
    """Drop neurons of every row of ``h`` in place, and scale the others so that the mean stays.

    ``dropout`` is two keys and the threshold of :func:`is_dropped`; ``number`` is the first row's.
    """
    scale = np.float32(2.0**32 / (2.0**32 - dropout[2]))
    for r in range(h.shape[0]):
        lane = lane_of(number + r, dropout[0])
        for k in range(h.shape[1]):
            h[r, k] = ZERO if is_dropped(lane, k, dropout[1], dropout[2]) else h[r, k] * scale


def _squash_rows(h: Any, bias: Any) -> None:
    """Template: add the bias to every row of ``h`` and put the activation on it, in place."""
    for r in range(h.shape[0]):
        for k in range(h.shape[1]):
            h[r, k] = squash(h[r, k] + bias[k])


def _slope_rows(d: Any, h: Any, shrink: Any, total: Any) -> None:
    """Template: turn slopes of what neurons give into those of what they get; ``total`` is the sum of rows.

    Neurons that were not dropped give ``shrink * h``.
    """
    for k in range(h.shape[1]):
        total[k] = ZERO
    for r in range(h.shape[0]):
        for k in range(h.shape[1]):
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
