"""Sorting the documents of queries with a comparator: algorithms by name, threads over queries, scores of orders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import frozen, query_numbers
from ordino.data.columns import as_column
from ordino.errors import DataError, ParameterError, unknown_name
from ordino.order import sort_kernels as kernels
from ordino.order.network import PairNetwork
from ordino.order.sort_kernels import sort_block

Ints = NDArray[np.int64]

BLOCK_COMPARISONS = 20_000  # about how much a thread takes at a time


class Sort(NamedTuple):
    """A sorting algorithm: its number in the kernels, and what to expect of it."""

    code: int
    comparisons: str
    description: str


SORTS: Mapping[str, Sort] = MappingProxyType(
    {
        "merge": Sort(kernels.MERGE, "n log2 n", "the fewest comparisons; ties keep their start order"),
        "quick": Sort(kernels.QUICK, "1.4 n log2 n", "compares with a pivot; n^2 at worst"),
        "heap": Sort(kernels.HEAP, "2 n log2 n", "always about the same number of comparisons"),
        "insertion": Sort(kernels.INSERTION, "n^2 / 4", "compares neighbors; ties keep their start order"),
    }
)


class Sorted(NamedTuple):
    """What a sort gives."""

    order: Ints  # (n_docs,): row numbers, best first, query by query
    comparisons: Ints  # (n_queries,): how many were made
    miscompared: Ints | None  # (n_pairs, 2): rows, the better label first; each pair once, by row. None without labels


def sort_queries(
    network: PairNetwork,
    X: ArrayLike,
    offsets: ArrayLike,
    *,
    algorithm: str = "merge",
    y: ArrayLike | None = None,
    seed: int | None = None,
    start: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Sorted:
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
        Threads; None takes all cores. The result does not depend on it.

    Examples
    --------
    >>> from ordino.layers import Layer
    >>> larger_first = PairNetwork([[1, -1]], [[-1, 1]], [0, 0], (Layer([[1, -1], [-1, 1]], [0, 0]),))
    >>> result = sort_queries(larger_first, [[1.0], [3.0], [2.0], [5.0], [6.0]], [0, 3, 5], y=[2, 0, 0, 0, 1])
    >>> result.order.tolist()
    [1, 2, 0, 4, 3]
    >>> result.comparisons.tolist(), result.miscompared.tolist()
    ([3, 1], [[0, 1], [0, 2]])
    """
    if algorithm not in SORTS:
        raise unknown_name("sort", algorithm, SORTS)
    features = network.check_features(X)
    bounds = check_offsets(offsets, len(features))
    labels = frozen(np.empty(0) if y is None else as_column("y", y, len(features), "label"))
    order = start_order(bounds, seed) if start is None else check_order(start, bounds).astype(np.int64)
    comparisons = np.zeros(len(bounds) - 1, np.int64)
    packed, code = network.packed, SORTS[algorithm].code

    def work(block: tuple[int, int]) -> Ints:
        rows = slice(bounds[block[0]], bounds[block[1]])
        begin = order[rows].copy()
        room = 1 + (0 if y is None else (rows.stop - rows.start) * 2)  # the kernel counts in the first row
        while True:
            pairs = np.empty((room, 2), np.int64)
            found = sort_block(packed, features, labels, bounds, *block, code, order, comparisons, pairs)
            if found < room:
                return pairs[:found]
            room = 1 + found  # sort again, now with room for all
            order[rows] = begin

    found = run_blocks(work, query_blocks(bounds), n_jobs)
    if y is None:
        return Sorted(order, comparisons, None)
    pairs = np.concatenate([np.empty((0, 2), np.int64), *found])
    keys = np.unique(pairs[:, 0] * len(features) + pairs[:, 1])
    return Sorted(order, comparisons, np.stack(np.divmod(keys, max(len(features), 1)), axis=1))


def scores_from_order(order: ArrayLike, offsets: ArrayLike) -> NDArray[np.float64]:
    """Scores that reproduce an order within each query: the last document has 0, the next 1, and so on.

    Examples
    --------
    >>> scores_from_order([1, 2, 0, 4, 3], [0, 3, 5]).tolist()
    [0.0, 2.0, 1.0, 0.0, 1.0]
    """
    bounds = check_offsets(offsets, np.size(order))
    rows = check_order(order, bounds)
    scores = np.empty(len(rows))
    scores[rows] = np.repeat(bounds[1:], np.diff(bounds)) - 1 - np.arange(len(rows))
    return scores


def check_order(order: ArrayLike, offsets: Ints) -> NDArray[np.integer]:
    """Every row number once, those of each query where the query stands."""
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
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError(f"seed={seed!r}; it must be a whole number, 0 or more")
    for start, stop in pairwise(offsets.tolist()):
        order[start:stop] = start + np.random.default_rng([seed, stop - start]).permutation(stop - start)
    return order


def check_offsets(offsets: ArrayLike, n_docs: int) -> Ints:
    """Where each query starts: whole numbers that never fall, from 0 to the number of documents."""
    bounds = np.asarray(offsets)
    if bounds.ndim != 1 or bounds.dtype.kind not in "iu" or len(bounds) == 0:
        raise DataError("offsets must be whole numbers, one more than there are queries")
    bounds = frozen(bounds.astype(np.int64))
    if bounds[0] != 0 or bounds[-1] != n_docs or (np.diff(bounds) < 0).any():
        raise DataError(f"offsets must rise from 0 to the number of documents, which is {n_docs}")
    return bounds


def query_blocks(offsets: Ints) -> list[tuple[int, int]]:
    """Neighboring queries in blocks of about equal work."""
    counts = np.diff(offsets)
    share = np.cumsum(counts * np.log2(np.maximum(counts, 2))) // BLOCK_COMPARISONS
    cuts = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(counts)]
    return [(first, last) for first, last in pairwise(cuts) if first < last]


def run_blocks(work: Any, blocks: list[Any], n_jobs: int | None) -> list[Any]:
    """Call work on every block, on threads; results in the order of the blocks."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs < 1):
        raise ParameterError(f"n_jobs={n_jobs!r}; it must be None or a whole number, 1 or more")
    threads = min(n_jobs or os.cpu_count() or 1, len(blocks))
    if threads <= 1:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, blocks))
