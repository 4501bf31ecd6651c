"""Sums over all pairs of a query without a list of pairs: a double loop where they are few, sort and sweep where not.

A pair is two documents of one query with different labels; its margin is the score of the better minus that of the
worse. Documents stand by rising label inside their query, so that the worse partners of a document are the run from
the query's start to the document's ``floor``. The double loop over such runs does several pairs in one instruction,
which beats sorting up to some hundred pairs a document. Its sums are of max(0, high - margin)^2 - max(0, low -
margin)^2: the squared hinge where low is minus infinity, a hinge with a rounded corner otherwise.

A long query is swept instead. In order of score, the partners of a document with margins below a threshold are a run
that starts or ends at one place, which only moves forward; a Fenwick tree tells how many of that run have a lower (or
higher) label. A query of n documents costs n log n time and n memory.
"""

import numpy as np

from ordino.compiled import ALLOCATING, INNER, OUTER, REORDERED, njit


@njit(**REORDERED)
def loop_slopes(scores, weight, floor, start, stop, low, high, slope, degree):  # type: ignore[no-untyped-def]
    """The sums of the query from start to stop - 1 pair by pair; see slopes_of_queries."""
    value = shortfall = 0.0
    for i in range(start, stop):
        slope[i] = degree[i] = 0.0
    for i in range(start, stop):
        if floor[i] == 0:
            continue
        score, heavy, end = scores[i], weight[i], start + floor[i]
        worse, light, down, active = scores[start:end], weight[start:end], slope[start:end], degree[start:end]
        gain = total = squares = 0.0
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


@njit(**REORDERED)
def loop_curvature(scores, weight, floor, start, stop, low, high, v, out):  # type: ignore[no-untyped-def]
    """Add half the second derivative of the sum of the query from start to stop - 1, times v, to out, pair by pair."""
    for i in range(start, stop):
        if floor[i] == 0:
            continue
        score, heavy, own, end = scores[i], weight[i], v[i], start + floor[i]
        worse, light, other, down = scores[start:end], weight[start:end], v[start:end], out[start:end]
        total = 0.0
        for j in range(len(worse)):
            margin = score - worse[j]
            count = light[j] if (margin < high) & (margin >= low) else 0.0
            change = count * (own - other[j])
            total += change
            down[j] -= heavy * change
        out[i] += heavy * total


@njit(**OUTER)
def slopes_of_queries(scores, weight, floor, offsets, is_long, first, last, low, high, slope, degree):  # type: ignore[no-untyped-def]
    """Sums over the pairs of those queries first to last - 1 that are not long.

    A pair weighs the product of its documents' weights. Fills slope with minus half the derivative by each score (up is
    positive), degree with the weight of each document's pairs with margins from low to high. Gives the sum and that of
    max(0, high - margin) - max(0, low - margin).
    """
    value = shortfall = 0.0
    for q in range(first, last):
        if not is_long[q]:
            squares, short = loop_slopes(scores, weight, floor, offsets[q], offsets[q + 1], low, high, slope, degree)
            value += squares
            shortfall += short
    return value, shortfall


@njit(**OUTER)
def curvature_of_queries(scores, weight, floor, offsets, is_long, first, last, low, high, degree, v, out):  # type: ignore[no-untyped-def]
    """Fill out with half the second derivative, times v, over the pairs of those queries that are not long.

    Queries without a pair between low and high are left out, which are most if the band is narrow.
    """
    for q in range(first, last):
        if not is_long[q]:
            start, stop = offsets[q], offsets[q + 1]
            n_active = 0
            for i in range(start, stop):
                out[i] = 0.0
                n_active += degree[i] != 0.0
            if n_active > 0:
                loop_curvature(scores, weight, floor, start, stop, low, high, v, out)


@njit(**INNER)
def add_to_tree(tree, node, value):  # type: ignore[no-untyped-def]
    """Count a value at a node of a Fenwick tree."""
    while node < len(tree):
        tree[node] += value
        node += node & -node


@njit(**INNER)
def sum_of_tree(tree, node):  # type: ignore[no-untyped-def]
    """The sum of all that was counted up to a node."""
    total = 0.0
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


@njit(**{**OUTER, **ALLOCATING})
def sweep_slopes(scores, level, weight, order, threshold, slope, degree):  # type: ignore[no-untyped-def]
    """Sums of max(0, threshold - margin)^2 and max(0, threshold - margin) over pairs, by product of weights.

    Fills slope with minus half the derivative of the first by each score, degree with the weight of each document's
    active pairs.
    """
    n = len(scores)
    size = level[n - 1] + 1  # levels rise
    weights, weighted = np.zeros(size + 1), np.zeros(size + 1)
    shortfall, work = 0.0, 0.0
    # the better document of a pair: its worse partners with scores above its own minus the threshold
    p = n - 1
    for k in range(n - 1, -1, -1):
        i = order[k]
        while p >= 0 and scores[i] - scores[order[p]] < threshold:
            j = order[p]
            add_to_tree(weights, level[j] + 1, weight[j])
            add_to_tree(weighted, level[j] + 1, weight[j] * scores[j])
            p -= 1
        total, moment = sum_of_tree(weights, level[i]), sum_of_tree(weighted, level[i])
        slope[i] = weight[i] * ((threshold - scores[i]) * total + moment)
        degree[i] = weight[i] * total
        shortfall += slope[i]
    # the worse document of a pair: levels are mirrored, so that better partners come first in the tree
    weights[:] = 0.0
    weighted[:] = 0.0
    p = 0
    for k in range(n):
        i = order[k]
        while p < n and scores[order[p]] - scores[i] < threshold:
            j = order[p]
            add_to_tree(weights, size - level[j], weight[j])
            add_to_tree(weighted, size - level[j], weight[j] * scores[j])
            p += 1
        total, moment = sum_of_tree(weights, size - 1 - level[i]), sum_of_tree(weighted, size - 1 - level[i])
        slope[i] -= weight[i] * ((threshold + scores[i]) * total - moment)
        degree[i] += weight[i] * total
        work += slope[i] * scores[i]
    return threshold * shortfall - work, shortfall


@njit(**{**OUTER, **ALLOCATING})
def sweep_curvature(scores, level, weight, order, threshold, v, out):  # type: ignore[no-untyped-def]
    """Fill out with minus the sum of v over the active partners of each document, by product of weights."""
    n = len(scores)
    size = level[n - 1] + 1  # levels rise
    tree = np.zeros(size + 1)
    p = n - 1
    for k in range(n - 1, -1, -1):
        i = order[k]
        while p >= 0 and scores[i] - scores[order[p]] < threshold:
            j = order[p]
            add_to_tree(tree, level[j] + 1, weight[j] * v[j])
            p -= 1
        total = sum_of_tree(tree, level[i])
        out[i] = -weight[i] * total
    tree[:] = 0.0
    p = 0
    for k in range(n):
        i = order[k]
        while p < n and scores[order[p]] - scores[i] < threshold:
            j = order[p]
            add_to_tree(tree, size - level[j], weight[j] * v[j])
            p += 1
        total = sum_of_tree(tree, size - 1 - level[i])
        out[i] -= weight[i] * total


@njit(**REORDERED)
def row_times(row, w):  # type: ignore[no-untyped-def]
    """``row @ w``."""
    total = 0.0
    for j in range(len(row)):
        total += row[j] * w[j]
    return total


@njit(**REORDERED)
def add_row(factor, row, out):  # type: ignore[no-untyped-def]
    """``out += factor * row``."""
    for j in range(len(row)):
        out[j] += factor * row[j]


@njit(**OUTER)
def rows_times(X, rows, w, start, stop, wanted, out):  # type: ignore[no-untyped-def]
    """``out[i] = X[rows[i]] @ w`` for i from start to stop - 1, in double precision; 0 where ``wanted[i]`` is 0."""
    for i in range(start, stop):
        out[i] = row_times(X[rows[i]], w) if wanted[i] != 0.0 else 0.0


@njit(**OUTER)
def times_rows(X, rows, v, start, stop, out):  # type: ignore[no-untyped-def]
    """``out += v[i] * X[rows[i]]`` for i from start to stop - 1, in double precision."""
    for i in range(start, stop):
        if v[i] != 0.0:
            add_row(v[i], X[rows[i]], out)
