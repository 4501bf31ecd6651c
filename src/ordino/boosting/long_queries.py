r"""FRank's sums over the pairs of a long query, in time linear in its documents.

What a pair counts is a function of its score difference that is smooth: as a function of the better score s it has no
singularity nearer to the real line than :math:`\pi`. So it is, to the last digits, its own interpolation at m Chebyshev
points t of the query's range of scores (Trefethen, "Approximation theory and approximation practice", chapter 8):

.. math:: w(s_i - s_j) = \sum_{k=1}^{m} L_k(s_i)\, w(t_k - s_j)

a sum of products of a factor of i and one of j. Sums over pairs are then sums over documents, as RankBoost's are. For a
range of 10, m is about 45.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import ALLOCATING, INNER, OUTER, njit

Floats = NDArray[np.float64]

DIGITS = 1e-13  # of the largest value that the interpolation may be away
WORTH_IT = 4  # pairs for each node and document, from which on nodes are quicker
FEWEST = 16  # nodes that are counted at least: short queries are walked, to the last bit as ever


class Nodes(NamedTuple):
    """Chebyshev points and the barycentric weights of their interpolation."""

    points: Floats
    weights: Floats


def nodes_between(low: float, high: float) -> Nodes:
    """As many points as the range needs.

    Examples
    --------
    >>> [len(nodes_between(0.0, width).points) for width in (0.0, 1.0, 10.0, 40.0)]
    [2, 17, 56, 197]
    """
    half = (high - low) / 2
    if half <= 0:
        return Nodes(np.array([low, low + 1.0]), np.array([1.0, -1.0]))
    growth = np.log(np.pi / half + np.hypot(np.pi / half, 1.0))  # of the ellipse that reaches the nearest singularity
    n = int(np.ceil(-np.log(DIGITS) / growth)) + 4
    points = low + half * (1 - np.cos(np.pi * np.arange(n + 1) / n))
    weights = np.where(np.arange(n + 1) % 2 == 0, 1.0, -1.0)
    weights[[0, -1]] /= 2
    return Nodes(points, weights)


@njit(**INNER)
def _basis(x, points, weights, out):  # type: ignore[no-untyped-def]
    """The value of each Lagrange polynomial at x."""
    total = 0.0
    for k in range(len(points)):
        away = x - points[k]
        if away == 0.0:
            out[:] = 0.0
            out[k] = 1.0
            return
        out[k] = weights[k] / away
        total += out[k]
    for k in range(len(points)):
        out[k] /= total


@njit(**{**OUTER, **ALLOCATING})
def long_fidelity_loss(scores, level, order, points, weights):  # type: ignore[no-untyped-def]
    """The sum over the pairs of one query of 1 - sqrt(P); ``order`` has its documents by rising level."""
    m = len(points)
    below, own, basis = np.zeros(m), np.zeros(m), np.empty(m)
    loss = 0.0
    start = 0
    while start < len(order):
        stop = start
        own[:] = 0.0
        while stop < len(order) and level[order[stop]] == level[order[start]]:
            i = order[stop]
            _basis(scores[i], points, weights, basis)
            for k in range(m):
                loss += basis[k] * below[k]
                own[k] += 1.0 - 1.0 / np.sqrt(1.0 + np.exp(min(scores[i] - points[k], 700.0)))
            stop += 1
        for k in range(m):
            below[k] += own[k]
        start = stop
    return loss


@njit(**{**OUTER, **ALLOCATING})
def add_long_split_weights(scores, level, order, points, weights, pair_weight, codes, right, wrong):  # type: ignore[no-untyped-def]
    """Add what the pairs of one query weigh that each threshold puts right and wrong; see ``split_weights``."""
    n, m, n_codes = len(order), len(points), right.shape[1]
    as_better, as_worse = np.empty((n, m)), np.empty((n, m))
    for at in range(n):
        s = scores[order[at]]
        _basis(s, points, weights, as_better[at])
        for k in range(m):
            chance = 1.0 / (1.0 + np.exp(min(s - points[k], 700.0)))
            as_worse[at, k] = 0.5 * pair_weight * np.sqrt(chance) * (1.0 - chance)
    better, worse = np.empty((n_codes, m)), np.empty((n_codes, m))
    better_total, worse_total = np.empty(m), np.empty(m)
    better_below, worse_below = np.empty(m), np.empty(m)
    for f in range(codes.shape[1]):
        worse[:] = 0.0
        worse_total[:] = 0.0
        start = 0
        while start < n:
            stop = start
            better[:] = 0.0
            better_total[:] = 0.0
            while stop < n and level[order[stop]] == level[order[start]]:
                code = codes[order[stop], f]
                for k in range(m):
                    better[code, k] += as_better[stop, k]
                    better_total[k] += as_better[stop, k]
                stop += 1
            if start > 0:
                better_below[:] = 0.0
                worse_below[:] = 0.0
                for b in range(1, n_codes):
                    good = bad = 0.0
                    for k in range(m):
                        better_below[k] += better[b - 1, k]
                        worse_below[k] += worse[b - 1, k]
                        good += (better_total[k] - better_below[k]) * worse_below[k]
                        bad += better_below[k] * (worse_total[k] - worse_below[k])
                    right[f, b] += good
                    wrong[f, b] += bad
            for at in range(start, stop):
                code = codes[order[at], f]
                for k in range(m):
                    worse[code, k] += as_worse[at, k]
                    worse_total[k] += as_worse[at, k]
            start = stop
