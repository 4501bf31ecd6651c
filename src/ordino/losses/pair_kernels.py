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
from ordino.losses.margin_kernels import (
    ABSOLUTE,
    CROSS_ENTROPY,
    DIRECT,
    EXPONENTIAL,
    FIDELITY,
    HINGE,
    SQUARED,
    SQUARED_HINGE,
    STEEP,
    absolute,
    fidelity,
    hinge,
    pair_value,
    squared,
    squared_hinge,
)

FAR = 60.0  # scores of a query that lie further apart are met pair by pair
REORDERED = {"reassoc", "nsz", "contract"}  # sums may be taken in lanes; NaN and infinity stay what they are


# One document a above (or beside) a stretch of documents: g gets their share of the gradient; what is given back is
# the sum of the losses and document a's own share, both still to be multiplied by its weight.


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _hard_cross_entropy_row(e_a, e, g, product):  # type: ignore[no-untyped-def]
    own = 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        q = e[b] * share
        own -= q
        g[b] += q
        product[b] *= e_a * share
    return 0.0, own


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _fidelity_row(e_a, e, w, g, w_a, t):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        loss, slope = fidelity(e_a * share, e[b] * share, t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _squared_row(e_a, e, w, g, w_a, t):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        loss, slope = squared(e_a * share, e[b] * share, t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _absolute_row(e_a, e, w, g, w_a, t):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        loss, slope = absolute(e_a * share, e[b] * share, t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _hinge_row(s_a, s, w, g, w_a):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(s)):
        loss, slope = hinge(s_a - s[b])
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _squared_hinge_row(s_a, s, w, g, w_a):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(s)):
        loss, slope = squared_hinge(s_a - s[b])
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _exponential_row(e_a, e, w, g, w_a):  # type: ignore[no-untyped-def]
    value = 0.0
    scale = 1.0 / e_a
    for b in range(len(e)):
        loss = e[b] * scale * w[b]
        value += loss
        g[b] += w_a * loss
    return value, -value


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _direct_row(s_a, s, w, g, w_a):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(s)):
        short = 1.0 - s_a + s[b]
        value += short * short * w[b]
        own -= 2.0 * short * w[b]
        g[b] += w_a * 2.0 * short * w[b]
    return value, own


@njit(cache=True, nogil=True, error_model="numpy")
def _far_row(kind, s_a, s, w, g, w_a, t):  # type: ignore[no-untyped-def]
    value, own = 0.0, 0.0
    for b in range(len(s)):
        loss, slope = pair_value(kind, s_a - s[b], t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def target_probability(target: float, by_step: bool, steps: float) -> float:
    """The target of a pair whose labels lie ``steps`` apart: the constant, or by the lemma odds to that power."""
    if not by_step or target == 1.0:
        return target
    return float(1.0 / (1.0 + ((1.0 - target) / target) ** steps))


@njit(cache=True, nogil=True, error_model="numpy")
def _all_pairs(  # type: ignore[no-untyped-def]
    kind, near, uniform, s, e, w, g, product, span, levels, bounds, n_levels, neighbors, ties, target, by_step
):
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


@njit(cache=True, nogil=True, error_model="numpy")
def _mix(h: np.uint64) -> np.uint64:
    """Scatter the bits of a number (the finalizer of splitmix64)."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@njit(cache=True, nogil=True, error_model="numpy")
def _some_pairs(kind, s, w, g, before, levels, level_of, bounds, n_levels, neighbors, target, by_step, max_pairs, seed):  # type: ignore[no-untyped-def]
    """An unbiased estimate of the sum over all pairs from max_pairs of them, drawn by a hash of seed and labels."""
    n = bounds[n_levels]
    h = _mix(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15))
    for level in range(n_levels + 1):
        h = _mix(h ^ np.uint64(bounds[level]))
    n_pairs = before[n]
    share = n_pairs / max_pairs
    value = 0.0
    for _draw in range(max_pairs):
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


@njit(cache=True, nogil=True, error_model="numpy")
def count_pairs(w, bounds, n_levels, neighbors, ties, before, level_of):  # type: ignore[no-untyped-def]
    """Pairs that start before each document, and the weight of all together (a pair's is the product of its two)."""
    total, below = 0.0, 0.0  # below: the weight of all that document a is paired with at lower labels
    before[0] = 0
    for level in range(n_levels):
        start, stop = bounds[level], bounds[level + 1]
        lower = start - (bounds[level - 1] if neighbors and level > 0 else 0)
        inside, inside_squared = 0.0, 0.0
        for a in range(start, stop):
            before[a + 1] = before[a] + lower + (stop - a - 1 if ties else 0)
            level_of[a] = level
            inside += w[a]
            inside_squared += w[a] * w[a]
        total += inside * below
        if ties:
            total += max(inside * inside - inside_squared, 0.0) / 2.0
        below = inside if neighbors else below + inside
    return total


@njit(cache=True, nogil=True, error_model="numpy")
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
        totals[q] = count_pairs(w, bounds, n_levels, neighbors, ties, before, level_of)
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
            near = kind in (HINGE, SQUARED_HINGE, DIRECT)
            near = near or (kind <= ABSOLUTE and apart <= FAR) or (kind == EXPONENTIAL and apart <= STEEP)
            for i in range(n):
                g[i] = 0.0
                if (near and kind <= ABSOLUTE) or kind == EXPONENTIAL:
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
