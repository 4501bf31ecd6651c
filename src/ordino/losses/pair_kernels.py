"""Compiled: pairwise losses over all pairs of a query, none of which is ever stored.

Documents stand in the order of their labels, so that the partners of a document are one contiguous stretch. With
``e = exp(score)`` the probability of eq. 2 is ``e_a / (e_a + e_b)``: no exponential is left in the inner loop, and the
logarithms of eq. 3 are taken of products of probabilities, one for many pairs. Where scores lie too far apart for
that, every pair is computed by itself.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ordino.losses.kernels import by_level

CROSS_ENTROPY, FIDELITY, SQUARED, ABSOLUTE = 0, 1, 2, 3  # functions of the probability
HINGE, SQUARED_HINGE, EXPONENTIAL = 4, 5, 6  # functions of the margin
DIRECT, DIRECT_TANH, DIRECT_HALF_TANH, DIRECT_SOFTSIGN = 7, 8, 9, 10  # (1 - tau(margin))^2

FAR = 60.0  # scores of a query that lie further apart are met pair by pair
STEEP = 30.0  # exp(-margin) goes on as its tangent below minus this
REORDERED = {"reassoc", "nsz", "contract"}  # sums may be taken in lanes; NaN and infinity stay what they are


@njit(cache=True, nogil=True)
def fidelity(p: float, q: float, t: float) -> tuple[float, float]:
    """1 - sqrt(tp) - sqrt((1-t)(1-p)), and its slope in the margin; q is 1 - p."""
    root, other = np.sqrt(t * p), np.sqrt((1.0 - t) * q)
    return 1.0 - root - other, 0.5 * (other * p - root * q)


@njit(cache=True, nogil=True)
def squared(p: float, q: float, t: float) -> tuple[float, float]:
    """(t - p)^2, and its slope in the margin."""
    error = (1.0 - t) * p - t * q  # p - t without cancellation
    return error * error, 2.0 * error * p * q


@njit(cache=True, nogil=True)
def absolute(p: float, q: float, t: float) -> tuple[float, float]:
    """|t - p|, and its slope in the margin; 0 at the kink."""
    error = (1.0 - t) * p - t * q
    return abs(error), np.sign(error) * p * q


@njit(cache=True, nogil=True)
def hinge(m: float) -> tuple[float, float]:
    """max(0, 1 - m), and its slope."""
    short = 1.0 - m
    return (short, -1.0) if short > 0.0 else (0.0, 0.0)


@njit(cache=True, nogil=True)
def squared_hinge(m: float) -> tuple[float, float]:
    """max(0, 1 - m)^2, and its slope."""
    short = max(1.0 - m, 0.0)
    return short * short, -2.0 * short


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def pair_curvature(kind: int, m: float) -> float:
    """How sharply one pair's loss bends at most; what it does there where it is convex and smooth."""
    if kind == CROSS_ENTROPY:
        small = np.exp(-abs(m))
        return small / (1.0 + small) ** 2
    if kind == EXPONENTIAL:
        return np.exp(-max(m, -STEEP))
    if kind < HINGE:
        return 0.25
    return 1.0 if kind == HINGE else 2.0


@njit(cache=True, nogil=True)
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


# One document a above (or beside) a stretch of documents: g gets their share of the gradient; what is given back is
# the sum of the losses and document a's own share, both still to be multiplied by its weight.


@njit(cache=True, nogil=True, fastmath=REORDERED)
def _cross_entropy_row(s_a, e_a, s, e, w, g, product, w_a, t, uniform):  # type: ignore[no-untyped-def]
    linear, own = 0.0, 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        p = e_a * share
        slope = ((1.0 - t) * p - t * e[b] * share) * w[b]
        linear += (s_a - s[b]) * w[b]
        own += slope
        g[b] -= w_a * slope
        product[b] *= p
    value = (1.0 - t) * linear
    if not uniform:
        for b in range(len(e)):
            value -= w[b] * np.log(product[b])
            product[b] = 1.0
    return value, own


@njit(cache=True, nogil=True, fastmath=REORDERED)
def _hard_cross_entropy_row(e_a, e, g, product):  # type: ignore[no-untyped-def]
    own = 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        q = e[b] * share
        own -= q
        g[b] += q
        product[b] *= e_a * share
    return 0.0, own


@njit(cache=True, nogil=True, fastmath=REORDERED)
def _fidelity_row(e_a, e, w, g, w_a, t):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        loss, slope = fidelity(e_a * share, e[b] * share, t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, fastmath=REORDERED)
def _squared_row(e_a, e, w, g, w_a, t):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        loss, slope = squared(e_a * share, e[b] * share, t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, fastmath=REORDERED)
def _absolute_row(e_a, e, w, g, w_a, t):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        loss, slope = absolute(e_a * share, e[b] * share, t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, fastmath=REORDERED)
def _hinge_row(s_a, s, w, g, w_a):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(s)):
        loss, slope = hinge(s_a - s[b])
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, fastmath=REORDERED)
def _squared_hinge_row(s_a, s, w, g, w_a):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(s)):
        loss, slope = squared_hinge(s_a - s[b])
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, fastmath=REORDERED)
def _exponential_row(e_a, e, w, g, w_a):  # type: ignore[no-untyped-def]
    value = 0.0
    scale = 1.0 / e_a
    for b in range(len(e)):
        loss = e[b] * scale * w[b]
        value += loss
        g[b] += w_a * loss
    return value, -value


@njit(cache=True, nogil=True, fastmath=REORDERED)
def _direct_row(s_a, s, w, g, w_a):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(s)):
        short = 1.0 - s_a + s[b]
        value += short * short * w[b]
        own -= 2.0 * short * w[b]
        g[b] += w_a * 2.0 * short * w[b]
    return value, own


@njit(cache=True, nogil=True)
def _far_row(kind, s_a, s, w, g, w_a, t):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(s)):
        loss, slope = pair_value(kind, s_a - s[b], t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True)
def _rectangle(kind, near, uniform, s, e, w, g, product, span, a0, a1, b0, b1, t, factor, triangle):  # type: ignore[no-untyped-def]
    """Documents a0..a1 against b0..b1; in a triangle (ties), each against those after it."""
    value = 0.0
    waiting = 0  # factors in the products since their logarithms were last taken
    for a in range(a0, a1):
        low = a + 1 if triangle else b0
        w_a = w[a] * factor
        s_b, e_b, w_b, g_b = s[low:b1], e[low:b1], w[low:b1], g[low:b1]
        if not near:
            loss, own = _far_row(kind, s[a], s_b, w_b, g_b, w_a, t)
        elif kind == CROSS_ENTROPY and uniform and t == 1.0:
            loss, own = _hard_cross_entropy_row(e[a], e_b, g_b, product[low:b1])
        elif kind == CROSS_ENTROPY:
            loss, own = _cross_entropy_row(s[a], e[a], s_b, e_b, w_b, g_b, product[low:b1], w_a, t, uniform)
        elif kind == FIDELITY:
            loss, own = _fidelity_row(e[a], e_b, w_b, g_b, w_a, t)
        elif kind == SQUARED:
            loss, own = _squared_row(e[a], e_b, w_b, g_b, w_a, t)
        elif kind == ABSOLUTE:
            loss, own = _absolute_row(e[a], e_b, w_b, g_b, w_a, t)
        elif kind == HINGE:
            loss, own = _hinge_row(s[a], s_b, w_b, g_b, w_a)
        elif kind == SQUARED_HINGE:
            loss, own = _squared_hinge_row(s[a], s_b, w_b, g_b, w_a)
        elif kind == EXPONENTIAL:
            loss, own = _exponential_row(e[a], e_b, w_b, g_b, w_a)
        else:
            loss, own = _direct_row(s[a], s_b, w_b, g_b, w_a)
        value += w_a * loss
        g[a] += w_a * own
        if kind == CROSS_ENTROPY and near and uniform:
            waiting += 1
            if waiting == span or a == a1 - 1:
                for b in range(b0, b1):
                    value -= np.log(product[b])
                    product[b] = 1.0
                waiting = 0
    return value


@njit(cache=True, nogil=True)
def target_probability(target: float, by_step: bool, steps: float) -> float:
    """The target of a pair whose labels lie ``steps`` apart: the constant, or the lemma's odds to the power of steps."""
    if not by_step or target == 1.0:
        return target
    return 1.0 / (1.0 + ((1.0 - target) / target) ** steps)


@njit(cache=True, nogil=True)
def _all_pairs(kind, near, uniform, s, e, w, g, product, span, levels, bounds, n_levels, neighbors, ties, target, by_step):  # type: ignore[no-untyped-def]
    value = 0.0
    for a in range(n_levels):
        factor = levels[a] if kind >= DIRECT else 1.0
        b = max(a - 1, 0) if neighbors else 0
        while b < a:
            stop = b + 1 if by_step else a
            t = target_probability(target, by_step, levels[a] - levels[b])
            value += _rectangle(
                kind, near, uniform, s, e, w, g, product, span,
                bounds[a], bounds[a + 1], bounds[b], bounds[stop], t, factor, False,
            )  # fmt: skip
            b = stop
        if ties:
            value += _rectangle(
                kind, near, uniform, s, e, w, g, product, span,
                bounds[a], bounds[a + 1], bounds[a], bounds[a + 1], 0.5, 1.0, True,
            )  # fmt: skip
    return value


@njit(cache=True, nogil=True)
def _mix(h: np.uint64) -> np.uint64:
    """Scatter the bits of a number (the finalizer of splitmix64)."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@njit(cache=True, nogil=True)
def _some_pairs(kind, s, w, g, before, levels, level_of, bounds, n_levels, neighbors, target, by_step, max_pairs, seed):  # type: ignore[no-untyped-def]
    """An unbiased estimate of the sum over all pairs from max_pairs of them, drawn by a hash of seed and labels."""
    n = bounds[n_levels]
    h = _mix(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15))
    for l in range(n_levels + 1):
        h = _mix(h ^ np.uint64(bounds[l]))
    n_pairs = before[n]
    share = n_pairs / max_pairs
    value = 0.0
    for i in range(max_pairs):
        h += np.uint64(0x9E3779B97F4A7C15)
        drawn = np.int64(_mix(h) % np.uint64(n_pairs))
        a = np.searchsorted(before, drawn, side="right") - 1
        level = level_of[a]
        first = bounds[level - 1] if neighbors and level > 0 else 0
        b = first + drawn - before[a]
        t = 0.5
        if b >= bounds[level]:  # past the lower labels: a tie with one that comes after
            b += a + 1 - bounds[level]
        else:
            t = target_probability(target, by_step, levels[level] - levels[level_of[b]])
        factor = levels[level] if kind >= DIRECT else 1.0
        loss, slope = pair_value(kind, s[a] - s[b], t)
        weight = share * factor * w[a] * w[b]
        value += weight * loss
        g[a] += weight * slope
        g[b] -= weight * slope
    return value


@njit(cache=True, nogil=True)
def _count_pairs(w, bounds, n_levels, neighbors, ties, before, level_of):  # type: ignore[no-untyped-def]
    """Pairs that start before each document, and the weight of all together (a pair's is the product of its two)."""
    total, below = 0.0, 0.0  # below: the weight of all that document a is paired with at lower labels
    before[0] = 0
    for l in range(n_levels):
        start, stop = bounds[l], bounds[l + 1]
        lower = start - (bounds[l - 1] if neighbors and l > 0 else 0)
        inside, inside_squared = 0.0, 0.0
        for a in range(start, stop):
            before[a + 1] = before[a] + lower + (stop - a - 1 if ties else 0)
            level_of[a] = l
            inside += w[a]
            inside_squared += w[a] * w[a]
        total += inside * below
        if ties:
            total += max(inside * inside - inside_squared, 0.0) / 2.0
        below = inside if neighbors else below + inside
    return total


@njit(cache=True, nogil=True)
def pairs_of_queries(
    kind: int,
    scores: NDArray[np.float64],  # (n_models, n_docs)
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    first: int,
    last: int,
    neighbors: bool,
    ties: bool,
    target: float,
    by_step: bool,
    max_pairs: int,
    seed: int,
    gradient: NDArray[np.float64],  # (n_models, n_docs)
    values: NDArray[np.float64],  # (n_models, n_queries)
    totals: NDArray[np.float64],  # (n_queries,)
) -> None:
    """Sums over the pairs of each query ``first..last``: loss, gradient, and the weight of its pairs."""
    n_max = 0
    for q in range(first, last):
        n_max = max(n_max, offsets[q + 1] - offsets[q])
    order, before, level_of = np.empty(n_max, np.int64), np.empty(n_max + 1, np.int64), np.empty(n_max, np.int64)
    levels, bounds = np.empty(n_max), np.empty(n_max + 1, np.int64)
    s, e, w, g, product = np.empty(n_max), np.empty(n_max), np.empty(n_max), np.empty(n_max), np.ones(n_max)
    for q in range(first, last):
        start, stop = offsets[q], offsets[q + 1]
        gradient[:, start:stop] = 0.0
        values[:, q] = 0.0
        totals[q] = 0.0
        if stop - start < 2:
            continue
        n_levels = by_level(y[start:stop], weights[start:stop], order, levels, bounds)
        n = bounds[n_levels]
        uniform = True
        for i in range(n):
            w[i] = weights[start + order[i]]
            uniform = uniform and w[i] == 1.0
        totals[q] = _count_pairs(w, bounds, n_levels, neighbors, ties, before, level_of)
        if totals[q] == 0.0:
            continue
        for m in range(scores.shape[0]):
            low, high = np.inf, -np.inf
            for i in range(n):
                s[i] = scores[m, start + order[i]]
                low, high = min(low, s[i]), max(high, s[i])
                if np.isnan(s[i]):
                    low = -np.inf
            apart = high - low
            if not apart < np.inf:  # a score that is not a number: nor is anything that depends on it
                values[m, q] = np.nan
                gradient[m, start:stop] = np.nan
                continue
            near = kind == HINGE or kind == SQUARED_HINGE or kind == DIRECT
            near = near or (kind <= ABSOLUTE and apart <= FAR) or (kind == EXPONENTIAL and apart <= STEEP)
            for i in range(n):
                g[i] = 0.0
                if near and kind <= ABSOLUTE or kind == EXPONENTIAL:
                    e[i] = np.exp(s[i] - high)
            if max_pairs > 0 and before[n] > max_pairs:
                values[m, q] = _some_pairs(
                    kind, s, w, g, before[: n + 1], levels, level_of, bounds, n_levels,
                    neighbors, target, by_step, max_pairs, seed,
                )  # fmt: skip
            else:
                span = int(690.0 / (apart + 1.0))  # so many probabilities can be multiplied without underflow
                values[m, q] = _all_pairs(
                    kind, near, uniform, s[:n], e[:n], w[:n], g[:n], product[:n], span, levels, bounds, n_levels,
                    neighbors, ties, target, by_step,
                )  # fmt: skip
            for i in range(n):
                gradient[m, start + order[i]] = g[i]


@njit(cache=True, nogil=True)
def curvature_of_queries(
    kind: int,
    scores: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    first: int,
    last: int,
    neighbors: bool,
    ties: bool,
    max_pairs: int,
    curvature: NDArray[np.float64],
) -> None:
    """Sums over the pairs of each document: how sharply the loss bends in its score.

    Where max_pairs caps a query, every document stands for its pairs with an even stride of its partners.
    """
    n_max = 0
    for q in range(first, last):
        n_max = max(n_max, offsets[q + 1] - offsets[q])
    order, before, level_of = np.empty(n_max, np.int64), np.empty(n_max + 1, np.int64), np.empty(n_max, np.int64)
    levels, bounds = np.empty(n_max), np.empty(n_max + 1, np.int64)
    w, h = np.empty(n_max), np.empty(n_max)
    for q in range(first, last):
        start, stop = offsets[q], offsets[q + 1]
        curvature[:, start:stop] = 0.0
        if stop - start < 2:
            continue
        n_levels = by_level(y[start:stop], weights[start:stop], order, levels, bounds)
        n = bounds[n_levels]
        for i in range(n):
            w[i] = weights[start + order[i]]
        _count_pairs(w, bounds, n_levels, neighbors, ties, before, level_of)
        stride = before[n] // max_pairs + 1 if max_pairs > 0 and before[n] > max_pairs else 1
        for m in range(scores.shape[0]):
            h[:n] = 0.0
            for a in range(n):
                level = level_of[a]
                low = bounds[level - 1] if neighbors and level > 0 else 0
                factor = stride * w[a] * (levels[level] if kind >= DIRECT else 1.0)
                for b in range(low + a % stride, bounds[level + 1] if ties else bounds[level], stride):
                    if b < bounds[level] or b > a:
                        bend = pair_curvature(kind, scores[m, start + order[a]] - scores[m, start + order[b]])
                        h[a] += factor * w[b] * bend
                        h[b] += factor * w[b] * bend
            for i in range(n):
                curvature[m, start + order[i]] = h[i]
