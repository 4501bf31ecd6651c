"""Compiled: the first layer around its products. Rows of pairs, and from documents to pairs and back.

Where one lies a row for each pair and the other a column, numbers go through ``tile``, which stays in the cache: sums
are taken along rows, and only what is moved as it is goes across.
"""

from typing import Any

import numpy as np

from ordino.compiled import OUTER, REORDERED, njit
from ordino.networks.kernels import is_dropped, lane_of

LANES = 128  # pairs that are taken at a time
ZERO = np.float32(0)
uint = np.uint64  # of a place in an array: no negative one, which would count from the end


@njit(**REORDERED)
def sum_of_lanes(room: Any, i: int) -> Any:
    """The sum of a row of :data:`LANES` numbers."""
    total = ZERO
    for p in range(LANES):
        total += room[i, p]
    return total


@njit(**OUTER)
def gather_pairs(X: Any, first: Any, second: Any, shared: Any, sign: Any, rows: Any) -> None:
    """Write x + ``shared`` y and ``shared`` x + ``sign`` y of each pair to ``rows``, (2, n_pairs, n_features)."""
    for p in range(len(first)):
        a, b = first[p], second[p]
        for k in range(X.shape[1]):
            x, y = X[a, k], X[b, k]
            rows[0, p, k] = x + shared * y
            rows[1, p, k] = shared * x + sign * y


@njit(**OUTER)
def drop_inputs(rows: Any, dropout: Any, number: int, first: int, sides: int, room: Any, changed: Any) -> None:
    """Write features of pairs, (2, n_features, n_pairs), to ``changed``: some dropped, the others scaled for the mean.

    As inputs of a network they are numbered from ``first`` on. A CmpNN (two sides) drops a feature of both documents,
    and so of their sum and difference. ``room`` is two rows, (n_pairs,) each, of whole numbers and of others.
    """
    (lanes, kept), n_features, scale = room, rows.shape[1], np.float32(2.0**32 / (2.0**32 - dropout[2]))
    for p in range(rows.shape[2]):
        lanes[p] = lane_of(number + p, dropout[0])
    for i in range(n_features * (3 - sides)):
        for p in range(rows.shape[2]):
            kept[p] = ZERO if is_dropped(lanes[p], first + i, dropout[1], dropout[2]) else scale
        for side in range(2):
            if sides == 2 or side == i // n_features:
                row, result = rows[side, i % n_features], changed[side, i % n_features]
                for p in range(rows.shape[2]):
                    result[p] = row[p] * kept[p]


@njit(**OUTER)
def meet_documents(tables: Any, pairs: Any, result: Any, tile: Any) -> None:
    """Write to ``result`` (2, n_own, n_pairs and more) what each pair's rows give, from what its documents give.

    ``tables`` (2, n_docs, 2 n_own) has what each document gives to both rows as the first of a pair, and as the second.
    ``tile`` (LANES, 2 n_own) is room for some pairs, a row for each.
    """
    own, n_pairs = result.shape[1], pairs.shape[1]
    for start in range(0, n_pairs, LANES):
        count = LANES if start + LANES <= n_pairs else n_pairs - start
        for p in range(count):
            i, j = pairs[0, start + p], pairs[1, start + p]
            for k in range(tile.shape[1]):
                tile[p, k] = tables[0, i, k] + tables[1, j, k]
        for k in range(tile.shape[1]):
            side, i = k // own, k % own
            for p in range(count):
                result[side, i, uint(start + p)] = tile[p, k]


@njit(**OUTER)
def part_documents(slopes: Any, pairs: Any, back: Any, tile: Any) -> None:
    """Add the slopes of what pairs get, (2, n_own, n_pairs and more), to ``back``, in the places of ``tables``."""
    own, n_pairs = slopes.shape[1], pairs.shape[1]
    for start in range(0, n_pairs, LANES):
        count = LANES if start + LANES <= n_pairs else n_pairs - start
        for k in range(tile.shape[1]):
            side, i = k // own, k % own
            for p in range(count):
                tile[p, k] = slopes[side, i, uint(start + p)]
        for p in range(count):
            i, j = pairs[0, start + p], pairs[1, start + p]
            for k in range(tile.shape[1]):
                back[0, i, k] += tile[p, k]
            for k in range(tile.shape[1]):
                back[1, j, k] += tile[p, k]
