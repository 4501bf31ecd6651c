"""Kemeny's rule by local search, compiled: documents move to where they contradict the fewest members."""

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import ALLOCATING, INNER, OUTER, njit


@njit(**{**OUTER, **ALLOCATING})
def improve_orders(
    ranks: NDArray[np.float64], offsets: NDArray[np.int64], start: NDArray[np.intp], top: int
) -> NDArray[np.intp]:
    """Improve each query's order until no document can be moved to a better place.

    ``start`` has row numbers, query after query, best first; only the first ``top`` of a query move.
    """
    order = start.copy()
    for q in range(len(offsets) - 1):
        n = min(offsets[q + 1] - offsets[q], top)
        rows = order[offsets[q] : offsets[q] + n]
        _insert_until_settled(_preferences(ranks, rows), rows)
    return order


@njit(**{**INNER, **ALLOCATING})
def _preferences(ranks: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.int32]:
    """How many more members put document i before j than j before i, shape ``(n, n)``."""
    n = len(rows)
    prefer = np.zeros((n, n), np.int32)
    for m in range(len(ranks)):
        for i in range(n):
            for j in range(i):
                if ranks[m, rows[i]] < ranks[m, rows[j]]:
                    prefer[i, j] += 1
                    prefer[j, i] -= 1
                elif ranks[m, rows[i]] > ranks[m, rows[j]]:
                    prefer[i, j] -= 1
                    prefer[j, i] += 1
    return prefer


@njit(**{**INNER, **ALLOCATING})
def _insert_until_settled(prefer: NDArray[np.int32], rows: NDArray[np.intp]) -> None:
    """Move one document at a time to its best place; every move contradicts fewer members, so that it ends."""
    n = len(rows)
    place = np.arange(n)  # which document of prefer stands where
    moved = True
    while moved:
        moved = False
        for p in range(n):
            document = place[p]
            best, gain, target = 0, 0, p
            for to in range(p - 1, -1, -1):  # up: it passes those above
                gain += prefer[document, place[to]]
                if gain > best:
                    best, target = gain, to
            gain = 0
            for to in range(p + 1, n):  # down: those below pass it
                gain += prefer[place[to], document]
                if gain > best:
                    best, target = gain, to
            if target < p:
                place[target + 1 : p + 1] = place[target:p].copy()
            elif target > p:
                place[p:target] = place[p + 1 : target + 1].copy()
            if target != p:
                place[target] = document
                moved = True
    rows[:] = rows[place].copy()
