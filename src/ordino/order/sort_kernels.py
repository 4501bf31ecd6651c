"""Sorts around the compiled comparator: no Python call for a comparison.

Each sorts ``order``, numbers of documents, in place, and stays within each query whatever the comparator answers:
nothing here relies on the comparator being transitive. Documents are numbered, and have their labels in ``y``, through
the whole set; ``table`` holds those of some queries, from number ``plan[0, 1]`` on; ``offsets`` count from there.
"""

from functools import cache
from typing import Any

from ordino.compiled import INNER, OPEN, OUTER, specialize
from ordino.order.kernels import make_margin

MADE, FOUND = range(2)
"""Entries of ``seen``: comparisons made, mis-compared pairs found."""

MOST_WAITING = 128  # entries of quick sort's stack: two for each halving
margin_of = before = sift = OPEN  # in the templates below


def _before(a: Any, b: Any, table: Any, plan: Any, room: Any, y: Any, seen: Any, codes: Any) -> Any:
    """The margin of a over b; counts it, and records the pair if that contradicts the labels ``y``.

    A pair is the number ``better * n_docs + worse`` of its documents; ``codes`` holds as many as it can.
    """
    margin = margin_of(a - plan[0, 1], b - plan[0, 1], table, plan, room)
    seen[MADE] += 1
    if len(y) and y[a] != y[b]:
        better, worse, right = a, b, margin > 0
        if y[a] < y[b]:
            better, worse, right = b, a, margin < 0
        if not right:
            if seen[FOUND] < len(codes):
                codes[seen[FOUND]] = better * len(y) + worse
            seen[FOUND] += 1
    return margin


# The sorts, templates: each sorts the documents of every query from where they stand in ``order``, and writes how many
# comparisons it ``made``. ``y`` is empty if no mis-compared pairs are to be recorded in ``codes``.


def merge_sort(
    plan: Any, table: Any, y: Any, offsets: Any, order: Any, spare: Any, room: Any, seen: Any, made: Any, codes: Any
) -> None:
    """Bottom-up: runs of 1, 2, 4 ... documents are merged; the right one goes first only if it wins."""
    for q in range(len(offsets) - 1):
        first, last, earlier = offsets[q], offsets[q + 1], seen[MADE]
        run = 1
        while run < last - first:
            for start in range(first, last, 2 * run):
                middle = start + run if start + run < last else last  # min would be compiled one by one
                stop = middle + run if middle + run < last else last
                left, right = start, middle
                for out in range(start, stop):
                    if left < middle and (
                        right >= stop or not before(order[left], order[right], table, plan, room, y, seen, codes) < 0
                    ):
                        spare[out] = order[left]
                        left += 1
                    else:
                        spare[out] = order[right]
                        right += 1
            for i in range(first, last):
                order[i] = spare[i]
            run *= 2
        made[q] = seen[MADE] - earlier


def insertion_sort(
    plan: Any, table: Any, y: Any, offsets: Any, order: Any, _: Any, room: Any, seen: Any, made: Any, codes: Any
) -> None:
    """Each document moves up past those that it beats."""
    for q in range(len(offsets) - 1):
        first, earlier = offsets[q], seen[MADE]
        for i in range(first + 1, offsets[q + 1]):
            document, hole = order[i], i
            while hole > first and before(document, order[hole - 1], table, plan, room, y, seen, codes) > 0:
                order[hole] = order[hole - 1]
                hole -= 1
            order[hole] = document
        made[q] = seen[MADE] - earlier


def quick_sort(
    plan: Any, table: Any, y: Any, offsets: Any, order: Any, stack: Any, room: Any, seen: Any, made: Any, codes: Any
) -> None:
    """Hoare's, the middle document as pivot; the larger part waits on the stack, so 64 entries are always enough."""
    for q in range(len(offsets) - 1):
        low, high, waiting, earlier = offsets[q], offsets[q + 1] - 1, 0, seen[MADE]
        while True:
            while low < high:
                pivot = order[low + (high - low) // 2]
                i, j = low, high
                while i <= j:
                    while (
                        i < high
                        and order[i] != pivot
                        and before(order[i], pivot, table, plan, room, y, seen, codes) > 0
                    ):
                        i += 1
                    while (
                        j > low and order[j] != pivot and before(order[j], pivot, table, plan, room, y, seen, codes) < 0
                    ):
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
        made[q] = seen[MADE] - earlier


def _sift(order: Any, root: Any, stop: Any, table: Any, plan: Any, room: Any, y: Any, seen: Any, codes: Any) -> Any:
    document = order[root]
    while 2 * root + 1 < stop:
        child = 2 * root + 1
        if child + 1 < stop and before(order[child], order[child + 1], table, plan, room, y, seen, codes) > 0:
            child += 1
        if not before(document, order[child], table, plan, room, y, seen, codes) > 0:
            break
        order[root] = order[child]
        root = child
    order[root] = document


def heap_sort(
    plan: Any, table: Any, y: Any, offsets: Any, order: Any, _: Any, room: Any, seen: Any, made: Any, codes: Any
) -> None:
    """The last in the order is the root of the heap, and goes to the end."""
    for q in range(len(offsets) - 1):
        own, earlier = order[offsets[q] : offsets[q + 1]], seen[MADE]
        n = len(own)
        for root in range(n // 2 - 1, -1, -1):
            sift(own, root, n, table, plan, room, y, seen, codes)
        for stop in range(n - 1, 0, -1):
            own[0], own[stop] = own[stop], own[0]
            sift(own, 0, stop, table, plan, room, y, seen, codes)
        made[q] = seen[MADE] - earlier


@cache
def make_sort(algorithm: Any, activation: str, deep: bool) -> Any:
    """The kernel that sorts by one of the algorithms above, with networks of this activation and depth."""
    inlined = {**INNER, "inline": "always"}
    name = f"{algorithm.__name__}_{activation}" + ("_deep" if deep else "")
    margin = make_margin(activation, deep, inlined)
    once = algorithm in (merge_sort, insertion_sort)  # the others compare in several places: those share one copy
    compare = specialize(_before, f"{name}_before", inlined if once else INNER, margin_of=margin)
    sink = specialize(_sift, f"{name}_sift", inlined, before=compare)
    return specialize(algorithm, name, OUTER, before=compare, sift=sink)
