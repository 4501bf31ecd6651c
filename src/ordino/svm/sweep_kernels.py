"""Sums over all pairs of one long query: sort by score, sweep, count by level in a Fenwick tree.

A pair is two documents with different labels; its margin is the score of the better minus that of the worse. Pairs
with a margin below a threshold are active. In order of score, the active partners of a document are a run that starts
or ends at one place, which only moves forward as the documents are swept; the tree tells how many of that run have a
lower (or higher) label. A query of n documents costs n log n time and n memory.
"""

from __future__ import annotations

import numpy as np

from ordino.compiled import OUTER, njit


@njit(**OUTER)
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


@njit(**OUTER)
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
        out[i] = -weight[i] * total
    tree[:] = 0.0
    p = 0
    for k in range(n):
        i = order[k]
        while p < n and scores[order[p]] - scores[i] < threshold:
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
