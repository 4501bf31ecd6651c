"""Compiled: the functions of one pair's margin, each defined here and nowhere else.

A function gives the loss and its slope in the margin m = s_i - s_j, where document i should come first with the target
probability t. Those of the probability p = 1 / (1 + exp(-m)) also take q = 1 - p, which keeps small ones exact.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

CROSS_ENTROPY, FIDELITY, SQUARED, ABSOLUTE = 0, 1, 2, 3  # functions of the probability
HINGE, SQUARED_HINGE, EXPONENTIAL = 4, 5, 6  # functions of the margin
DIRECT, DIRECT_TANH, DIRECT_HALF_TANH, DIRECT_SOFTSIGN = 7, 8, 9, 10  # (1 - tau(margin))^2


STEEP = 30.0  # exp(-margin) goes on as its tangent below minus this


@njit(cache=True, nogil=True, error_model="numpy")
def fidelity(p: float, q: float, t: float) -> tuple[float, float]:
    """1 - sqrt(tp) - sqrt((1-t)(1-p)), and its slope in the margin; q is 1 - p."""
    root, other = np.sqrt(t * p), np.sqrt((1.0 - t) * q)
    return 1.0 - root - other, 0.5 * (other * p - root * q)


@njit(cache=True, nogil=True, error_model="numpy")
def squared(p: float, q: float, t: float) -> tuple[float, float]:
    """(t - p)^2, and its slope in the margin."""
    error = (1.0 - t) * p - t * q  # p - t without cancellation
    return error * error, 2.0 * error * p * q


@njit(cache=True, nogil=True, error_model="numpy")
def absolute(p: float, q: float, t: float) -> tuple[float, float]:
    """|t - p|, and its slope in the margin; 0 at the kink."""
    error = (1.0 - t) * p - t * q
    return abs(error), np.sign(error) * p * q


@njit(cache=True, nogil=True, error_model="numpy")
def hinge(m: float) -> tuple[float, float]:
    """max(0, 1 - m), and its slope."""
    short = 1.0 - m
    return (short, -1.0) if short > 0.0 else (0.0, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def squared_hinge(m: float) -> tuple[float, float]:
    """max(0, 1 - m)^2, and its slope."""
    short = max(1.0 - m, 0.0)
    return short * short, -2.0 * short


@njit(cache=True, nogil=True, error_model="numpy")
def pair_value(kind: int, m: float, t: float) -> tuple[float, float]:
    """One pair's loss and its slope, from the margin m and the target probability t."""
    if kind <= ABSOLUTE:
        small = np.exp(-abs(m))
        p = 1.0 / (1.0 + small) if m >= 0.0 else small / (1.0 + small)
        q = small / (1.0 + small) if m >= 0.0 else 1.0 / (1.0 + small)
        if kind == CROSS_ENTROPY:
            return (1.0 - t) * m + max(-m, 0.0) + np.log1p(small), (1.0 - t) * p - t * q
        if kind == FIDELITY:
            return fidelity(p, q, t)
        return squared(p, q, t) if kind == SQUARED else absolute(p, q, t)
    if kind == HINGE:
        return hinge(m)
    if kind == SQUARED_HINGE:
        return squared_hinge(m)
    if kind == EXPONENTIAL:
        loss = np.exp(-max(m, -STEEP))
        return loss + loss * max(-m - STEEP, 0.0), -loss
    o, rise = m, 1.0
    if kind == DIRECT_TANH:
        o = np.tanh(m)
        rise = 1.0 - o * o
    elif kind == DIRECT_HALF_TANH:
        o = np.tanh(0.5 * m)
        rise = 0.5 * (1.0 - o * o)
    elif kind == DIRECT_SOFTSIGN:
        o = m / (1.0 + abs(m))
        rise = 1.0 / (1.0 + abs(m)) ** 2
    return (1.0 - o) ** 2, -2.0 * (1.0 - o) * rise


@njit(cache=True, nogil=True, error_model="numpy")
def pair_curvature(kind: int, m: float) -> float:
    """How sharply one pair's loss bends at most; what it does there where it is convex and smooth."""
    if kind == CROSS_ENTROPY:
        small = np.exp(-abs(m))
        return float(small / (1.0 + small) ** 2)
    if kind == EXPONENTIAL:
        return float(np.exp(-max(m, -STEEP)))
    if kind < HINGE:
        return 0.25
    return 1.0 if kind == HINGE else 2.0


@njit(cache=True, nogil=True, error_model="numpy")
def pair_values(
    kind: int,
    margins: NDArray[np.float64],
    targets: NDArray[np.float64],
    values: NDArray[np.float64],
    slopes: NDArray[np.float64],
) -> None:
    """Loss and slope of each of many pairs."""
    for i in range(len(margins)):
        values[i], slopes[i] = pair_value(kind, margins[i], targets[i])
