"""Compiled: what the kernels of all losses are made of: one query by its labels, gains, and the functions of one pair.

The kernels that Python calls share their arguments, with documents by query and rising label. In: ``scores``
(n_models, n), all finite; ``y``, ``w``, ``firsts`` and ``bounds`` as :class:`ordino.losses.base.Queries` has them; the
buffers ``room``, (n_rooms, n); then the parameters of the loss. Out: what :class:`ordino.losses.base.Sums` has.
"""

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import INNER, OPEN, OUTER, njit

STEEP = 30.0  # exp(-margin) goes on as its tangent below minus this
function = tau = BEND = OPEN  # in the templates below


@njit(**OUTER)
def by_level(numbers, places, weights, offsets, order, firsts, bounds):  # type: ignore[no-untyped-def]
    """Order the rows of every query by rising label, leaving out those of weight 0; give how many levels there are.

    Level l has the rows ``order[bounds[l]:bounds[l + 1]]``, which rise; the levels of query q begin with
    ``firsts[q]``. ``numbers`` are the labels as whole numbers, ``places`` a buffer with an entry for each of these.
    """
    n_levels = at = 0
    for q in range(len(offsets) - 1):
        firsts[q] = n_levels
        for number in range(len(places)):
            places[number] = 0
        for row in range(offsets[q], offsets[q + 1]):
            places[numbers[row]] += weights[row] > 0.0
        for number in range(len(places)):
            if places[number] > 0:
                bounds[n_levels] = at
                n_levels += 1
            at += places[number]
            places[number] = at - places[number]
        for row in range(offsets[q], offsets[q + 1]):
            if weights[row] > 0.0:
                order[places[numbers[row]]] = row
                places[numbers[row]] += 1
    firsts[len(offsets) - 1] = n_levels
    bounds[n_levels] = at
    return n_levels


@njit(**INNER)
def gains_of(y: NDArray[np.float64], exponential: bool, gains: NDArray[np.float64]) -> None:
    """Labels, or 2^y - 1 divided by 2^(largest y) so that large labels do not overflow."""
    top = 0.0
    for i in range(len(y)):
        top = y[i] if y[i] > top else top
    for i in range(len(y)):
        gains[i] = 2.0 ** (y[i] - top) - 2.0**-top if exponential else y[i]


# The functions of one pair give the loss and its slope in the margin m = s_i - s_j, where document i should come first
# with the target probability t. Those of the probability p = 1 / (1 + exp(-m)) also take q = 1 - p, which keeps small
# ones exact.


@njit(**INNER)
def fidelity(p: float, q: float, t: float) -> tuple[float, float]:
    """1 - sqrt(tp) - sqrt((1-t)(1-p)), and its slope in the margin; q is 1 - p."""
    root, other = np.sqrt(t * p), np.sqrt((1.0 - t) * q)
    return 1.0 - root - other, 0.5 * (other * p - root * q)


@njit(**INNER)
def squared(p: float, q: float, t: float) -> tuple[float, float]:
    """(t - p)^2, and its slope in the margin."""
    error = (1.0 - t) * p - t * q  # p - t without cancellation
    return error * error, 2.0 * error * p * q


@njit(**INNER)
def absolute(p: float, q: float, t: float) -> tuple[float, float]:
    """|t - p|, and its slope in the margin; 0 at the kink."""
    error = (1.0 - t) * p - t * q
    return abs(error), np.sign(error) * p * q


@njit(**INNER)
def cross_entropy(m: float, t: float) -> tuple[float, float]:
    """-t m + log(1 + exp(m)), and its slope."""
    small = np.exp(-abs(m))
    p = 1.0 / (1.0 + small) if m >= 0.0 else small / (1.0 + small)
    q = small / (1.0 + small) if m >= 0.0 else 1.0 / (1.0 + small)
    return (1.0 - t) * m + max(-m, 0.0) + np.log1p(small), (1.0 - t) * p - t * q


def of_probability(m: float, t: float) -> tuple[float, float]:
    """Template: ``function(p, q, t)`` of the margin."""
    small = np.exp(-abs(m))
    p = 1.0 / (1.0 + small) if m >= 0.0 else small / (1.0 + small)
    q = small / (1.0 + small) if m >= 0.0 else 1.0 / (1.0 + small)
    return function(p, q, t)  # type: ignore[no-any-return]


@njit(**INNER)
def hinge(m: float, _: float) -> tuple[float, float]:
    """max(0, 1 - m), and its slope."""
    short = 1.0 - m
    return (short, -1.0) if short > 0.0 else (0.0, 0.0)


@njit(**INNER)
def squared_hinge(m: float, _: float) -> tuple[float, float]:
    """max(0, 1 - m)^2, and its slope."""
    short = max(1.0 - m, 0.0)
    return short * short, -2.0 * short


@njit(**INNER)
def exponential(m: float, _: float) -> tuple[float, float]:
    """exp(-m), and its slope; a straight line below -STEEP."""
    loss = np.exp(-max(m, -STEEP))
    return loss + loss * max(-m - STEEP, 0.0), -loss


def direct(m: float, _: float) -> tuple[float, float]:
    """Template: (1 - tau(m))^2, and its slope."""
    o, rise = tau(m)
    return (1.0 - o) ** 2, -2.0 * (1.0 - o) * rise


@njit(**INNER)
def identity(m: float) -> tuple[float, float]:
    """The margin itself, and its rise."""
    return m, 1.0


@njit(**INNER)
def tanh(m: float) -> tuple[float, float]:
    """tanh(m), and its rise."""
    o = np.tanh(m)
    return o, 1.0 - o * o


@njit(**INNER)
def half_tanh(m: float) -> tuple[float, float]:
    """tanh(m / 2), and its rise."""
    o = np.tanh(0.5 * m)
    return o, 0.5 * (1.0 - o * o)


@njit(**INNER)
def softsign(m: float) -> tuple[float, float]:
    """M / (1 + |m|), and its rise."""
    return m / (1.0 + abs(m)), 1.0 / (1.0 + abs(m)) ** 2


# How sharply one pair's loss bends at most, or what it does at m where it is convex and smooth.


@njit(**INNER)
def cross_entropy_bend(m: float) -> float:
    """The second derivative of the cross entropy."""
    small = np.exp(-abs(m))
    return float(small / (1.0 + small) ** 2)


@njit(**INNER)
def exponential_bend(m: float) -> float:
    """The second derivative of exp(-m)."""
    return float(np.exp(-max(m, -STEEP)))


def even_bend(_: float) -> float:
    """Template: the same for every margin."""
    return BEND  # type: ignore[no-any-return]
