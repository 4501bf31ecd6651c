"""Sums in one fixed order, of which parts may be made elsewhere: the same bits on one machine and on many.

Floating-point sums depend on their order. Here neighbors are added in groups whose bounds depend on nothing but their
numbers, and then the sums of the groups. A machine that has some of the rows gives the sums of the groups that it has
whole, and the rows of those that it shares with its neighbors: little to send, and nothing to round differently.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCK = 8192  # documents whose sums are made in one go, by one thread
GROUP = 64  # blocks whose sums are added first


class Partial(NamedTuple):
    """What is known of a sum by whoever has the rows from ``begin`` on; along the same axis as the sum."""

    begin: int
    head: Floats  # rows of a group that began before
    sums: Floats  # of whole groups
    tail: Floats  # rows of a group that goes on


def ordered_sum(rows: Floats, size: int, axis: int = 0) -> Floats:
    """The sum of rows along an axis, by groups of ``size`` neighbors.

    Examples
    --------
    >>> ordered_sum(np.arange(5.0), 2).tolist()
    10.0
    """
    return sum_of_partials([partial_sum(rows, size, 0, axis)], size, axis)


def partial_sum(rows: Floats, size: int, begin: int, axis: int = 0) -> Partial:
    """What rows ``begin`` to ``begin + n`` of a longer table say about its sum.

    Examples
    --------
    Groups of two, of rows 3 to 7: row 3 ends a group, rows 4 and 5 and rows 6 and 7 are groups.

    >>> partial_sum(np.ones(5), 2, 3)
    Partial(begin=3, head=array([1.]), sums=array([2., 2.]), tail=array([], dtype=float64))
    """
    n = rows.shape[axis]
    first = min(-begin % size, n)
    last = max(first, (begin + n) // size * size - begin)
    groups = [_slice(rows, at, at + size, axis).sum(axis=axis) for at in range(first, last, size)]
    empty = np.empty([0 if one == axis % rows.ndim else length for one, length in enumerate(rows.shape)])
    sums = np.stack(groups, axis=axis) if groups else empty
    return Partial(begin, _slice(rows, 0, first, axis).copy(), sums, _slice(rows, last, n, axis).copy())


def partial_of(rows: Iterable[Floats], size: int, begin: int) -> Partial:
    """The same for rows that come one after another; no more than a group of them is kept.

    Examples
    --------
    >>> partial_of(iter(np.ones(5)), 2, 3)
    Partial(begin=3, head=array([1.]), sums=array([2., 2.]), tail=array([], dtype=float64))
    """
    coming, number = iter(rows), begin
    parts: list[Partial] = []
    while waiting := list(islice(coming, size - number % size)):
        parts.append(partial_sum(np.stack(waiting), size, number))
        number += len(waiting)
    return Partial(begin, parts[0].head, np.concatenate([part.sums for part in parts]), parts[-1].tail)


def sum_of_partials(parts: Sequence[Partial], size: int, axis: int = 0) -> Floats:
    """The sum of a table from what is known of its parts, in their order.

    Examples
    --------
    >>> rows = np.arange(7.0)
    >>> sum_of_partials([partial_sum(rows[:3], 2, 0), partial_sum(rows[3:], 2, 3)], 2).tolist()
    21.0
    """
    sums: list[Floats] = []
    loose: list[Floats] = []  # rows of a group that is not whole yet

    def close() -> None:
        if sum(one.shape[axis] for one in loose):
            sums.append(np.expand_dims(np.concatenate(loose, axis=axis).sum(axis=axis), axis))
        loose.clear()

    for part in parts:
        loose.append(part.head)
        if part.sums.shape[axis] or (part.begin + part.head.shape[axis]) % size == 0:
            close()
        sums.append(part.sums)
        loose.append(part.tail)
    close()
    found: Any = np.concatenate(sums, axis=axis)
    total: Floats = found.sum(axis=axis)
    return total


def _slice(rows: Floats, first: int, last: int, axis: int) -> Floats:
    index: list[slice] = [slice(None)] * rows.ndim
    index[axis] = slice(first, last)
    return rows[tuple(index)]


def heads_of_blocks(offsets: NDArray[np.int64], before: int = 0) -> NDArray[np.int64]:
    """The first query of each block of about BLOCK documents; ``before`` documents come before these.

    Where these are a part of more, a block must begin with them.

    Examples
    --------
    >>> heads_of_blocks(np.array([0, 5000, 9000, 17000])).tolist()
    [0, 2]
    """
    n_queries = len(offsets) - 1
    if n_queries == 0:
        return np.zeros(0, np.int64)
    marks = np.arange(-(-before // BLOCK) * BLOCK, before + offsets[-1], BLOCK) - before
    heads = np.unique(np.append(0, np.searchsorted(offsets[:-1], marks)))
    return heads[heads < n_queries]
