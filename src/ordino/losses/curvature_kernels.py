"""Compiled: how sharply a pairwise loss bends in each score, for learners that take steps of Newton's method."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ordino.losses.kernels import by_level
from ordino.losses.margin_kernels import DIRECT, pair_curvature
from ordino.losses.pair_kernels import count_pairs


@njit(cache=True, nogil=True, error_model="numpy")
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
    curvature: NDArray[np.float64],  # (n_models, n_docs)
    totals: NDArray[np.float64],  # (n_queries,)
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
        totals[q] = 0.0
        if stop - start < 2:
            continue
        n_levels = by_level(y[start:stop], weights[start:stop], order, levels, bounds)
        n = bounds[n_levels]
        for i in range(n):
            w[i] = weights[start + order[i]]
        totals[q] = count_pairs(w, bounds, n_levels, neighbors, ties, before, level_of)
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
