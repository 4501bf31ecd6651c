"""Compiled: the documents of one query in the order of their labels, which every loss starts from."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

FEW = 32  # so many different labels are told apart by counting; more are sorted


@njit(cache=True, nogil=True, error_model="numpy")
def by_level(
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    order: NDArray[np.int64],
    levels: NDArray[np.float64],
    bounds: NDArray[np.int64],
) -> int:
    """Order one query's documents by rising label, leaving out those of weight 0; give how many labels there are.

    Level l has the label ``levels[l]`` and the documents ``order[bounds[l]:bounds[l + 1]]``, in the order of rows.
    """
    n_levels = 0
    for i in range(len(y)):
        if weights[i] > 0:
            level = 0
            while level < n_levels and levels[level] < y[i]:
                level += 1
            if level < n_levels and levels[level] == y[i]:
                bounds[level + 1] += 1
            elif n_levels == FEW:
                return _by_sorting(y, weights, order, levels, bounds)
            else:
                for m in range(n_levels, level, -1):
                    levels[m] = levels[m - 1]
                    bounds[m + 1] = bounds[m]
                levels[level] = y[i]
                bounds[level + 1] = 1
                n_levels += 1
    bounds[0] = 0
    filled = np.empty(FEW, np.int64)
    for level in range(n_levels):
        filled[level] = bounds[level]
        bounds[level + 1] += bounds[level]
    for i in range(len(y)):
        if weights[i] > 0:
            level = 0
            while levels[level] < y[i]:
                level += 1
            order[filled[level]] = i
            filled[level] += 1
    return n_levels


@njit(cache=True, nogil=True, error_model="numpy")
def _by_sorting(
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    order: NDArray[np.int64],
    levels: NDArray[np.float64],
    bounds: NDArray[np.int64],
) -> int:
    n_levels = 0
    n_kept = 0
    for i in np.argsort(y, kind="mergesort"):
        if weights[i] > 0:
            if n_levels == 0 or y[i] != levels[n_levels - 1]:
                levels[n_levels] = y[i]
                bounds[n_levels] = n_kept
                n_levels += 1
            order[n_kept] = i
            n_kept += 1
    bounds[n_levels] = n_kept
    return n_levels
