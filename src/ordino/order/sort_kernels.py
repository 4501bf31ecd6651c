"""Sorts around the compiled comparator: no Python call for a comparison.

Each sorts ``order``, numbers of documents, in place, and stays within it whatever the comparator answers: nothing here
relies on the comparator being transitive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ordino.compiled import njit
from ordino.order.kernels import INNER, OUTER, lay_table, margin_of, project_rows

MERGE, QUICK, HEAP, INSERTION = range(4)


@njit(**INNER)
def _before(a: Any, b: Any, table: Any, plan: Any, room: Any, labels: Any, notes: Any) -> Any:
    """The margin of a over b; counts it, and notes the pair if that contradicts the labels.

    The first row of ``notes`` counts comparisons and mis-compared pairs, the others hold as many pairs as they can.
    """
    margin = margin_of(a, b, table, plan, room)
    notes[0, 0] += 1
    if len(labels) and labels[a] != labels[b]:
        if labels[a] > labels[b]:
            better, worse, right = a, b, margin > 0
        else:
            better, worse, right = b, a, margin < 0
        if not right:
            notes[0, 1] += 1
            if notes[0, 1] < len(notes):
                notes[notes[0, 1], 0] = better
                notes[notes[0, 1], 1] = worse
    return margin


@njit(**INNER)
def _merge_sort(order: Any, spare: Any, table: Any, plan: Any, room: Any, labels: Any, notes: Any) -> Any:
    """Bottom-up: runs of 1, 2, 4 ... documents are merged; the right one goes first only if it wins."""
    n = len(order)
    run = 1
    while run < n:
        for start in range(0, n, 2 * run):
            middle, stop = min(start + run, n), min(start + 2 * run, n)
            left, right = start, middle
            for out in range(start, stop):
                if left < middle and (
                    right >= stop or not _before(order[left], order[right], table, plan, room, labels, notes) < 0
                ):
                    spare[out] = order[left]
                    left += 1
                else:
                    spare[out] = order[right]
                    right += 1
        for i in range(n):
            order[i] = spare[i]
        run *= 2


@njit(**INNER)
def _insertion_sort(order: Any, table: Any, plan: Any, room: Any, labels: Any, notes: Any) -> Any:
    for i in range(1, len(order)):
        document, hole = order[i], i
        while hole > 0 and _before(document, order[hole - 1], table, plan, room, labels, notes) > 0:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = document


@njit(**INNER)
def _quick_sort(order: Any, stack: Any, table: Any, plan: Any, room: Any, labels: Any, notes: Any) -> Any:
    """Hoare's, the middle document as pivot; the larger part waits on the stack, so 64 entries are always enough."""
    low, high, waiting = 0, len(order) - 1, 0
    while True:
        while low < high:
            pivot = order[(low + high) // 2]
            i, j = low, high
            while i <= j:
                while i < high and order[i] != pivot and _before(order[i], pivot, table, plan, room, labels, notes) > 0:
                    i += 1
                while j > low and order[j] != pivot and _before(order[j], pivot, table, plan, room, labels, notes) < 0:
                    j -= 1
                if i <= j:
                    order[i], order[j] = order[j], order[i]
                    i += 1
                    j -= 1
            if j - low < high - i:
                stack[waiting], stack[waiting + 1] = i, high
                high = j
            else:
                stack[waiting], stack[waiting + 1] = low, j
                low = i
            waiting += 2
        if waiting == 0:
            break
        waiting -= 2
        low, high = stack[waiting], stack[waiting + 1]


@njit(**INNER)
def _sift(order: Any, root: Any, stop: Any, table: Any, plan: Any, room: Any, labels: Any, notes: Any) -> Any:
    document = order[root]
    while 2 * root + 1 < stop:
        child = 2 * root + 1
        if child + 1 < stop and _before(order[child], order[child + 1], table, plan, room, labels, notes) > 0:
            child += 1
        if not _before(document, order[child], table, plan, room, labels, notes) > 0:
            break
        order[root] = order[child]
        root = child
    order[root] = document


@njit(**INNER)
def _heap_sort(order: Any, table: Any, plan: Any, room: Any, labels: Any, notes: Any) -> Any:
    """The last in the order is the root of the heap, and goes to the end."""
    n = len(order)
    for root in range(n // 2 - 1, -1, -1):
        _sift(order, root, n, table, plan, room, labels, notes)
    for stop in range(n - 1, 0, -1):
        order[0], order[stop] = order[stop], order[0]
        _sift(order, 0, stop, table, plan, room, labels, notes)


@njit(**OUTER)
def sort_block(
    net: Any, X: Any, y: Any, offsets: Any, first: int, last: int, algorithm: int, order: Any, made: Any, pairs: Any
) -> int:
    """Sort the queries first to last, each from the order in which its rows stand in ``order``.

    ``y`` is empty if nothing is to be recorded. Writes how many comparisons were ``made``, and the mis-compared pairs.
    Gives their number; if that is not less than the rows of ``pairs``, some had no room.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    plan, at = net.plan, len(net.weights)
    table = lay_table(net.weights, longest)
    room = np.empty((4, table.shape[1]), np.float32)
    spare, stack = np.empty(longest, np.int64), np.empty(128, np.int64)
    found = 0
    for q in range(first, last):
        start, stop = offsets[q], offsets[q + 1]
        project_rows(X, start, stop, net.first, table, at)
        here, labels = order[start:stop], y[start : stop if len(y) else start]
        for i in range(stop - start):
            here[i] -= start
        notes = pairs[min(found, len(pairs) - 1) :]
        notes[0, 0] = notes[0, 1] = 0
        if algorithm == MERGE:
            _merge_sort(here, spare, table, plan, room, labels, notes)
        elif algorithm == QUICK:
            _quick_sort(here, stack, table, plan, room, labels, notes)
        elif algorithm == HEAP:
            _heap_sort(here, table, plan, room, labels, notes)
        else:
            _insertion_sort(here, table, plan, room, labels, notes)
        for i in range(stop - start):
            here[i] += start
        made[q], fresh = notes[0, 0], notes[0, 1]
        for i in range(min(fresh, len(notes) - 1)):  # over the row that counted, which was the first free one
            notes[i, 0], notes[i, 1] = notes[i + 1, 0] + start, notes[i + 1, 1] + start
        found += fresh
    return found
