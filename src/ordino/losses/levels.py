"""The labels of each query as levels 0, 1, 2, ...: what sums over pairs are made of, in numpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import query_numbers

Ints = NDArray[np.int64]
FEW = 64  # whole labels closer together than this are counted as they are; others are numbered in each query


class Levels(NamedTuple):
    """The labels of a data set by query. A pair is two documents of one query with different labels."""

    rows: Ints  # (n_docs,): rows by query and, inside it, by rising label; those of a label in their order
    floor: Ints  # (n_docs,): of each document, in the order of rows, how many of its query have a lower label
    level: Ints  # (n_docs,): of each row
    n_pairs: NDArray[np.float64]  # (n_queries,)


def sort_labels(y: NDArray[np.float64], offsets: Ints) -> Levels:
    """Levels of the labels, and how many pairs each query has.

    Examples
    --------
    Labels 5, 0, 5, 2: the two best are above two each, the 2 is above the 0.

    >>> levels = sort_labels(np.array([5.0, 0.0, 5.0, 2.0]), np.array([0, 4]))
    >>> levels.rows.tolist(), levels.floor.tolist(), levels.level.tolist(), levels.n_pairs.tolist()
    ([1, 3, 0, 2], [0, 1, 2, 2], [2, 0, 2, 1], [5.0])
    """
    query = query_numbers(offsets)  # the same before and after: rows stay in their query
    rows = np.lexsort((y, query))
    ordered = y[rows]
    fresh = np.append(True, (ordered[1:] != ordered[:-1]) | (query[1:] != query[:-1]))[: len(y)]
    head = np.maximum.accumulate(np.where(fresh, np.arange(len(y)), 0))  # where each document's level begins
    floor = head - offsets[query]
    steps = np.cumsum(fresh)
    level = np.empty(len(y), np.int64)
    level[rows] = steps - steps[offsets[query]]
    n_pairs: NDArray[np.float64] = np.bincount(query, floor, len(offsets) - 1).astype(np.float64)
    return Levels(rows, floor, level, n_pairs)


def number_labels(y: NDArray[np.float64], offsets: Ints) -> tuple[Ints, int]:
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
