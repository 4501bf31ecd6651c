"""Sums over all pairs of a query without a list of pairs: a double loop where they are few, sort and sweep where not.

A pair is two documents of one query with different labels; its margin is the score of the better minus that of the
worse. Documents stand by rising label inside their query, so that the worse partners of a document are the run from
the query's start to the document's ``floor``. The double loop over such runs does several pairs in one instruction,
which beats sorting up to some hundred pairs a document; :mod:`ordino.svm.sweep_kernels` has the other form, n log n
for n documents.

All sums are of max(0, high - margin)^2 - max(0, low - margin)^2: the squared hinge where low is minus infinity, a hinge
with a rounded corner otherwise.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ordino.svm.sweep_kernels import sort_scores, sweep_curvature, sweep_slopes

# Sums may be reordered so that they run in vector registers; NaN and infinity keep their meaning.
VECTORS = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True)
def dense_levels(y, offsets):  # type: ignore[no-untyped-def]
    """Labels as 0, 1, 2, ... inside each query; also the number of pairs of each query."""
    level = np.empty(len(y), np.int64)
    n_pairs = np.zeros(len(offsets) - 1, np.float64)
    for q in range(len(offsets) - 1):
        start, stop = offsets[q], offsets[q + 1]
        order = np.argsort(y[start:stop])
        current, lower, equal = -1, 0, 0
        for k in range(stop - start):
            i = start + order[k]
            if k == 0 or y[i] != y[start + order[k - 1]]:
                current += 1
                lower += equal
                equal = 0
            level[i] = current
            equal += 1
            n_pairs[q] += lower
    return level, n_pairs


@njit(cache=True, nogil=True)
def by_level(level, offsets, queries, n_docs):  # type: ignore[no-untyped-def]
    """Rows of some queries by rising level inside each; for each, how many of its query stand below its level."""
    rows, floor = np.empty(n_docs, np.int64), np.empty(n_docs, np.int64)
    done = 0
    for q in queries:
        start, stop = offsets[q], offsets[q + 1]
        place = np.zeros(stop - start + 1, np.int64)
        for i in range(start, stop):
            place[level[i] + 1] += 1
        place = np.cumsum(place)  # where each level begins
        begins = place.copy()
        for i in range(start, stop):
            k = done + place[level[i]]
            place[level[i]] += 1
            rows[k], floor[k] = i, begins[level[i]]
        done += stop - start
    return rows, floor


@njit(nogil=True, fastmath=VECTORS)
def loop_slopes(scores, weight, floor, low, high, slope, degree):  # type: ignore[no-untyped-def]
    """The sums of one query pair by pair; see pair_slopes."""
    value, shortfall = 0.0, 0.0
    slope[:] = 0.0
    degree[:] = 0.0
    for i in range(len(scores)):
        if floor[i] == 0:
            continue
        score, heavy = scores[i], weight[i]
        worse, light = scores[: floor[i]], weight[: floor[i]]
        down, active = slope[: floor[i]], degree[: floor[i]]
        gain, total, squares = 0.0, 0.0, 0.0
        for j in range(len(worse)):
            margin = score - worse[j]
            outer, inner = high - margin, low - margin
            one = 1.0 if outer > 0.0 else 0.0
            two = 1.0 if inner > 0.0 else 0.0
            outer = outer if outer > 0.0 else 0.0
            inner = inner if inner > 0.0 else 0.0
            push, count = light[j] * (outer - inner), light[j] * (one - two)
            gain += push
            total += count
            squares += light[j] * (outer * outer - inner * inner)
            down[j] -= heavy * push
            active[j] += heavy * count
        slope[i] += heavy * gain
        degree[i] += heavy * total
        shortfall += heavy * gain
        value += heavy * squares
    return value, shortfall


@njit(nogil=True, fastmath=VECTORS)
def loop_curvature(scores, weight, floor, low, high, v, out):  # type: ignore[no-untyped-def]
    """Fill out with half the second derivative of one query's sum, times v, pair by pair."""
    out[:] = 0.0
    for i in range(len(scores)):
        if floor[i] == 0:
            continue
        score, heavy, own = scores[i], weight[i], v[i]
        worse, light, other, down = scores[: floor[i]], weight[: floor[i]], v[: floor[i]], out[: floor[i]]
        total = 0.0
        for j in range(len(worse)):
            margin = score - worse[j]
            count = light[j] if (margin < high) & (margin >= low) else 0.0
            change = count * (own - other[j])
            total += change
            down[j] -= heavy * change
        out[i] += heavy * total


@njit(cache=True, nogil=True)
def pair_slopes(scores, level, weight, floor, offsets, is_long, first, last, low, high, order, slope, degree):  # type: ignore[no-untyped-def]
    """Sums over the pairs of queries first to last - 1; a pair weighs the product of its documents' weights.

    Fills slope with minus half the derivative by each score (up is positive), degree with the weight of each document's
    pairs with margins from low to high, and order, for long queries, with the documents by rising score. Gives the sum
    and that of max(0, high - margin) - max(0, low - margin).
    """
    value, shortfall = 0.0, 0.0
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        s, w, g, d = scores[a:b], weight[a:b], slope[a:b], degree[a:b]
        if is_long[q]:
            sort_scores(s, order[a:b])
            squares, short = sweep_slopes(s, level[a:b], w, order[a:b], high, g, d)
            if low > -np.inf:
                inner_g, inner_d = np.empty(b - a), np.empty(b - a)
                less, less_short = sweep_slopes(s, level[a:b], w, order[a:b], low, inner_g, inner_d)
                squares -= less
                short -= less_short
                g -= inner_g
                d -= inner_d
        else:
            squares, short = loop_slopes(s, w, floor[a:b], low, high, g, d)
        value += squares
        shortfall += short
    return value, shortfall


@njit(cache=True, nogil=True)
def pair_product(  # type: ignore[no-untyped-def]
    X, rows, scores, level, weight, floor, offsets, is_long, first, last, low, high, order, degree, v, out
):
    """Add half the second derivative by the weights, times v, over the pairs of queries first to last - 1.

    Documents without a pair between low and high are left out, which are most if the band is narrow.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    change, curved = np.zeros(longest), np.zeros(longest)
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        c, h = change[: b - a], curved[: b - a]
        n_active = 0
        for i in range(a, b):
            c[i - a] = 0.0
            if degree[i] != 0.0:
                c[i - a] = row_times(X[rows[i]], v)
                n_active += 1
        if n_active == 0:
            continue
        if is_long[q]:
            sweep_curvature(scores[a:b], level[a:b], weight[a:b], order[a:b], high, c, h)
            if low > -np.inf:
                inner = np.empty(b - a)
                sweep_curvature(scores[a:b], level[a:b], weight[a:b], order[a:b], low, c, inner)
                h -= inner
            for i in range(a, b):
                h[i - a] += degree[i] * c[i - a]
        else:
            loop_curvature(scores[a:b], weight[a:b], floor[a:b], low, high, c, h)
        for i in range(a, b):
            if h[i - a] != 0.0:
                add_row(h[i - a], X[rows[i]], out)


@njit(nogil=True, fastmath=VECTORS)
def row_times(row, w):  # type: ignore[no-untyped-def]
    """``row @ w``."""
    total = 0.0
    for j in range(len(row)):
        total += row[j] * w[j]
    return total


@njit(nogil=True, fastmath=VECTORS)
def add_row(factor, row, out):  # type: ignore[no-untyped-def]
    """``out += factor * row``."""
    for j in range(len(row)):
        out[j] += factor * row[j]


@njit(cache=True, nogil=True)
def rows_times(X, rows, w, start, stop, out):  # type: ignore[no-untyped-def]
    """``out[i] = X[rows[i]] @ w`` for i from start to stop - 1, in double precision."""
    for i in range(start, stop):
        out[i] = row_times(X[rows[i]], w)


@njit(cache=True, nogil=True)
def times_rows(X, rows, v, start, stop, out):  # type: ignore[no-untyped-def]
    """``out += v[i] * X[rows[i]]`` for i from start to stop - 1, in double precision."""
    for i in range(start, stop):
        if v[i] != 0.0:
            add_row(v[i], X[rows[i]], out)
