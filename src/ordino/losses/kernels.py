"""Compiled: the documents of one query in the order of their labels, which every loss starts from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import INNER, njit
from ordino.losses.levels import sort_labels

FEW = 64  # whole labels closer together than this are counted as they are; others are numbered in each query


def number_labels(y: NDArray[np.float64], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """A whole number from 0 for each label that rises with it inside the query, and how many numbers there may be.

    Examples
    --------
    >>> number_labels(np.array([3.0, 1.0, 2.0]), np.array([0, 3]))
    (array([2, 0, 1]), 3)
    >>> number_labels(np.array([0.5, 7.25, 0.5]), np.array([0, 3]))
    (array([0, 1, 0]), 2)
    """
    low, high = (y.min(), y.max()) if len(y) else (0.0, 0.0)
    if high - low < FEW and (y == np.floor(y)).all():
        return (y - low).astype(np.int64), int(high - low) + 1
    level = sort_labels(y, offsets).level
    return level, int(level.max()) + 1


@njit(**INNER)
def by_level(numbers, n_numbers, y, weights, start, stop, order, levels, bounds):  # type: ignore[no-untyped-def]
    """Order one query's rows by rising label, leaving out those of weight 0; give how many labels there are.

    Level l has the label ``levels[l]`` and the rows ``order[bounds[l]:bounds[l + 1]]``, which rise.
    """
    for number in range(n_numbers + 1):
        bounds[number] = 0
    for row in range(start, stop):
        if weights[row] > 0:
            bounds[numbers[row] + 1] += 1
    for number in range(n_numbers):
        bounds[number + 1] += bounds[number]
    n = bounds[n_numbers]
    for row in range(stop - 1, start - 1, -1):  # each label from its end
        if weights[row] > 0:
            bounds[numbers[row] + 1] -= 1
            order[bounds[numbers[row] + 1]] = row
    n_levels = 0
    for i in range(n):
        label = y[order[i]]
        if i == 0 or label != levels[n_levels - 1]:
            levels[n_levels] = label
            bounds[n_levels] = i
            n_levels += 1
    bounds[n_levels] = n
    return n_levels
