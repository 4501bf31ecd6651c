"""Sorting the documents of queries with a comparator: sorts by name, and Python's own sort."""

from functools import cmp_to_key
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import check_offsets, frozen, query_numbers
from ordino.checks import check_choice, check_int
from ordino.data.columns import as_column
from ordino.errors import DataError
from ordino.order import sort_kernels as kernels
from ordino.order.network import PairNetwork
from ordino.order.orders import SORTS
from ordino.threads import run_blocks

Ints = NDArray[np.int64]

BLOCK_COMPARISONS = 20_000  # about how much a thread takes at a time


class Sorted(NamedTuple):
    """The order that a sort found, and what it took."""

    order: Ints  # (n_docs,): row numbers, best first, query by query
    comparisons: Ints  # (n_queries,): how many were made
    miscompared: Ints | None
    """Pairs of rows, each once, as the number ``better * n_docs + worse``, rising; None without labels."""


def sort_queries(
    network: PairNetwork, X: ArrayLike, offsets: ArrayLike, *, algorithm: str = "merge", y: ArrayLike | None = None,
    seed: int | None = None, start: ArrayLike | None = None, n_jobs: int | None = None,
) -> Sorted:  # fmt: skip
    """Sort the documents of every query, best first.

    Parameters
    ----------
    network
        The comparator.
    X, offsets
        Features, and where each query starts: query q owns rows ``offsets[q]:offsets[q + 1]``.
    algorithm
        One of :data:`SORTS`. They differ in the order only where the comparator is not transitive, or has ties.
    y
        Labels. If given, the comparisons that the sort makes and that do not put the better label first (ties are such)
        are recorded; the order is the same.
    seed
        Start from an order shuffled inside each query, by a permutation that depends on the seed and on the query's
        length alone; None starts from the rows as they stand.
    start
        The row numbers in the order to start from instead, those of each query where the query stands.
    n_jobs
        Threads; None takes the free processors. The result does not depend on it.

    Examples
    --------
    >>> from ordino.layers import Layer
    >>> larger_first = PairNetwork([[1, -1]], [[-1, 1]], [0, 0], (Layer([[1, -1], [-1, 1]], [0, 0]),))
    >>> result = sort_queries(larger_first, [[1.0], [3.0], [2.0], [5.0], [6.0]], [0, 3, 5], y=[2, 0, 0, 0, 1])
    >>> result.order.tolist()
    [1, 2, 0, 4, 3]
    >>> result.comparisons.tolist(), [divmod(code, 5) for code in result.miscompared.tolist()]
    ([3, 1], [(0, 1), (0, 2)])
    """
    check_choice("sort", algorithm, SORTS)
    features = network.check_features(X)
    bounds = check_offsets(offsets, len(features))
    labels = None if y is None else as_column("y", y, len(features), "label")
    rows = start_order(bounds, seed) if start is None else check_order(start, bounds)
    return sort_checked(network, features, bounds, algorithm, labels, rows, n_jobs)


def sort_checked(
    network: PairNetwork, X: NDArray[np.float32], offsets: Ints, algorithm: str, y: NDArray[np.float64] | None,
    start: NDArray[np.integer], n_jobs: int | None,
) -> Sorted:  # fmt: skip
    """What :func:`sort_queries` gives for arguments that are checked already."""
    order, labels = start.astype(np.int64), frozen(np.empty(0) if y is None else y)
    comparisons = np.zeros(len(offsets) - 1, np.int64)
    kernel = kernels.make_sort(SORTS[algorithm].sort, network.activation, network.deep)

    def work(block: tuple[int, int]) -> Ints:
        own = offsets[block[0] : block[1] + 1]
        rows, n_docs = slice(own[0], own[-1]), own[-1] - own[0]
        table, room = network.lay_out(X[rows])
        plan = network.packed.plan.copy()
        plan[0, 1] = own[0]
        made, spare = comparisons[slice(*block)], np.empty(max(n_docs, kernels.MOST_WAITING), np.int64)
        codes = np.empty(0 if y is None else 2 * n_docs, np.int64)
        while True:
            sorted_rows, seen = order[rows].copy(), np.zeros(2, np.int64)
            kernel(plan, table, labels, own - own[0], sorted_rows, spare, room, seen, made, codes)
            found = int(seen[kernels.FOUND])
            if found <= len(codes):
                break
            codes = np.empty(found, np.int64)  # sort again, now with room for all
        order[rows] = sorted_rows
        return codes[:found]

    found = run_blocks(work, _blocks_of_work(offsets), n_jobs)
    if y is None:
        return Sorted(order, comparisons, None)
    return Sorted(order, comparisons, np.unique(np.concatenate([np.empty(0, np.int64), *found])))


def sort_once(network: PairNetwork, X: ArrayLike, offsets: ArrayLike) -> NDArray[np.int64]:
    """Row numbers, best first within each query, by Python's sort with a comparator that is asked once for two rows.

    This is how DeepNet's thesis sorts (section 3.1): x goes before y if N>([x, y]) is more than N<([x, y]), whatever
    the network says of [y, x]. A symmetric network answers both alike. A dense network may contradict itself: what
    counts then is the order in which the sort meets the two. Every comparison is a call of Python's:
    :func:`sort_queries` is hundreds of times faster, and asks in both orders.

    Examples
    --------
    A network that says "the first of the two" whatever it sees; Python's sort asks for [later row, earlier row].

    >>> from ordino.layers import Layer
    >>> the_first = PairNetwork([[0]], [[0]], [0], (Layer([[0, 0]], [1, 0]),))
    >>> sort_once(the_first, [[1.0], [2.0]], [0, 2]).tolist()
    [1, 0]

    One whose N> rises with y - x puts small numbers first.

    >>> smaller = PairNetwork([[-1]], [[1]], [0], (Layer([[1, 0]], [0, 0.5]),))
    >>> sort_once(smaller, [[3.0], [1.0], [2.0], [5.0], [4.0]], [0, 3, 5]).tolist()
    [1, 2, 0, 4, 3]
    """
    features = network.check_features(X)
    left, right = features @ network.left + network.bias, features @ network.right
    bounds, top = check_offsets(offsets, len(features)), network.deeper[-1]
    weights, bias = top.W[:, 1] - top.W[:, 0], top.b[1] - top.b[0]

    def later(x: int, y: int) -> int:
        """Less than 0 if the network puts x first of the pair [x, y]."""
        return int(np.sign(network.hidden_values((left[x] + right[y])[None])[-1][0] @ weights + bias))

    orders = [sorted(range(start, stop), key=cmp_to_key(later)) for start, stop in pairwise(bounds.tolist())]
    return np.array([row for order in orders for row in order], np.int64)


def scores_from_order(order: ArrayLike, offsets: ArrayLike) -> NDArray[np.float64]:
    """Scores that reproduce an order within each query: the last document has 0, the next 1, and so on.

    Examples
    --------
    >>> scores_from_order([1, 2, 0, 4, 3], [0, 3, 5]).tolist()
    [0.0, 2.0, 1.0, 0.0, 1.0]
    """
    bounds = check_offsets(offsets, np.size(order))
    return places_from_end(check_order(order, bounds), bounds)


def places_from_end(order: NDArray[np.integer], offsets: Ints) -> NDArray[np.float64]:
    """What :func:`scores_from_order` gives for an order that is checked, or was made here."""
    scores = np.empty(len(order))
    scores[order] = np.repeat(offsets[1:], np.diff(offsets)) - 1 - np.arange(len(order))
    return scores


def check_order(order: ArrayLike, offsets: Ints) -> NDArray[np.integer]:
    """Check that this is an order: every row number once, within the rows of its query."""
    rows, query = np.asarray(order), query_numbers(offsets)
    if rows.dtype.kind not in "iu" or not np.array_equal(np.sort(rows), np.arange(len(query))):
        raise DataError("order must hold every row number once")
    if not np.array_equal(query[rows], query):
        raise DataError("order must hold the rows of each query where the query stands")
    return rows


def start_order(offsets: Ints, seed: int | None) -> Ints:
    """Row numbers as they stand, or shuffled inside each query."""
    order = np.arange(offsets[-1])
    if seed is None:
        return order
    first = check_int("seed", seed, low=0)
    for start, stop in pairwise(offsets.tolist()):
        order[start:stop] = start + np.random.default_rng([first, stop - start]).permutation(stop - start)
    return order


def _blocks_of_work(offsets: Ints) -> list[tuple[int, int]]:
    """Neighboring queries in blocks of about equal work."""
    counts = np.diff(offsets)
    share = np.cumsum(counts * np.log2(np.maximum(counts, 2))) // BLOCK_COMPARISONS
    cuts = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(counts)]
    return [(first, last) for first, last in pairwise(cuts) if first < last]
