"""Sums over all pairs of a query without a list of pairs: sort by score, sweep, count by level in a Fenwick tree.

A pair is two documents of one query with different labels; its margin is the score of the better minus that of the
worse. Pairs with a margin below a threshold t are active. In order of score, the active partners of a document are a
run that starts or ends at one place, which only moves forward as the documents are swept; the tree tells how many of
that run have a lower (or higher) label. A query of n documents costs n log n time and n memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit


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
def sort_scores(scores, offsets, first, last, order):  # type: ignore[no-untyped-def]
    """Fill order with the rows of queries first to last - 1 by rising score inside each query."""
    for q in range(first, last):
        start, stop = offsets[q], offsets[q + 1]
        order[start:stop] = start + np.argsort(scores[start:stop])


@njit(cache=True, nogil=True)
def pair_slopes(scores, level, weight, offsets, first, last, order, threshold, slope, degree):  # type: ignore[no-untyped-def]
    """Sums of the squared hinge max(0, threshold - margin)^2 over pairs; a pair weighs the product of its weights.

    Fills slope with minus half the derivative by each score (up is positive) and degree with the weight of each
    document's active pairs. Gives the sum of the squares and the sum of max(0, threshold - margin).
    """
    n_max = 0
    for q in range(first, last):
        n_max = max(n_max, offsets[q + 1] - offsets[q])
    weights = np.zeros(n_max + 1)
    weighted = np.zeros(n_max + 1)
    shortfall = 0.0
    work = 0.0
    for q in range(first, last):
        start, stop = offsets[q], offsets[q + 1]
        size = 0
        for i in range(start, stop):
            size = max(size, level[i] + 1)
            slope[i] = 0.0
            degree[i] = 0.0
        if size < 2:
            continue
        # the better document of a pair: its worse partners with scores above its own minus the threshold
        weights[: size + 1] = 0.0
        weighted[: size + 1] = 0.0
        p = stop - 1
        for k in range(stop - 1, start - 1, -1):
            i = order[k]
            while p >= start and scores[i] - scores[order[p]] < threshold:
                j = order[p]
                node = level[j] + 1
                while node <= size:
                    weights[node] += weight[j]
                    weighted[node] += weight[j] * scores[j]
                    node += node & -node
                p -= 1
            total, moment = 0.0, 0.0
            node = level[i]
            while node > 0:
                total += weights[node]
                moment += weighted[node]
                node -= node & -node
            gain = weight[i] * ((threshold - scores[i]) * total + moment)
            slope[i] = gain
            degree[i] = weight[i] * total
            shortfall += gain
        # the worse document of a pair: levels are mirrored, so that better partners come first in the tree
        weights[: size + 1] = 0.0
        weighted[: size + 1] = 0.0
        p = start
        for k in range(start, stop):
            i = order[k]
            while p < stop and scores[order[p]] - scores[i] < threshold:
                j = order[p]
                node = size - level[j]
                while node <= size:
                    weights[node] += weight[j]
                    weighted[node] += weight[j] * scores[j]
                    node += node & -node
                p += 1
            total, moment = 0.0, 0.0
            node = size - 1 - level[i]
            while node > 0:
                total += weights[node]
                moment += weighted[node]
                node -= node & -node
            slope[i] -= weight[i] * ((threshold + scores[i]) * total - moment)
            degree[i] += weight[i] * total
            work += slope[i] * scores[i]
    return threshold * shortfall - work, shortfall


@njit(cache=True, nogil=True)
def pair_curvature(scores, level, weight, offsets, first, last, order, threshold, degree, v, out):  # type: ignore[no-untyped-def]
    """Fill out with half the second derivative of the squared hinge times v: degree * v minus v of active partners."""
    n_max = 0
    for q in range(first, last):
        n_max = max(n_max, offsets[q + 1] - offsets[q])
    tree = np.zeros(n_max + 1)
    for q in range(first, last):
        start, stop = offsets[q], offsets[q + 1]
        size = 0
        for i in range(start, stop):
            size = max(size, level[i] + 1)
            out[i] = degree[i] * v[i]
        if size < 2:
            continue
        tree[: size + 1] = 0.0
        p = stop - 1
        for k in range(stop - 1, start - 1, -1):
            i = order[k]
            while p >= start and scores[i] - scores[order[p]] < threshold:
                j = order[p]
                node = level[j] + 1
                while node <= size:
                    tree[node] += weight[j] * v[j]
                    node += node & -node
                p -= 1
            total = 0.0
            node = level[i]
            while node > 0:
                total += tree[node]
                node -= node & -node
            out[i] -= weight[i] * total
        tree[: size + 1] = 0.0
        p = start
        for k in range(start, stop):
            i = order[k]
            while p < stop and scores[order[p]] - scores[i] < threshold:
                j = order[p]
                node = size - level[j]
                while node <= size:
                    tree[node] += weight[j] * v[j]
                    node += node & -node
                p += 1
            total = 0.0
            node = size - 1 - level[i]
            while node > 0:
                total += tree[node]
                node -= node & -node
            out[i] -= weight[i] * total


# Sums may be reordered so that they run in vector registers; NaN and infinity keep their meaning.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def rows_times(X, w, start, stop, out):  # type: ignore[no-untyped-def]
    """``out[i] = X[i] @ w`` for rows start to stop - 1, in double precision."""
    for i in range(start, stop):
        total = 0.0
        for j in range(X.shape[1]):
            total += X[i, j] * w[j]
        out[i] = total


@njit(cache=True, nogil=True, fastmath={"contract"})
def times_rows(X, v, start, stop, out):  # type: ignore[no-untyped-def]
    """``out += v @ X`` over rows start to stop - 1, in double precision."""
    for i in range(start, stop):
        if v[i] != 0.0:
            for j in range(X.shape[1]):
                out[j] += v[i] * X[i, j]
