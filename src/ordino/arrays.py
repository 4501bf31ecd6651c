"""The bottom shelf of arrays: offsets, blocks of queries, the query of a row, names of features, means without NaN."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Array = TypeVar("Array", bound=NDArray[Any])


def frozen(array: Array) -> Array:
    """A read-only view: a compiled function has one form for writable arrays and another one for these."""
    view: Array = array.view()
    view.flags.writeable = False
    return view


def check_offsets(offsets: ArrayLike, n_docs: int) -> Ints:
    """Where queries begin and end, as int64, rising from 0 to ``n_docs``: query q owns rows offsets[q]:offsets[q + 1].

    Examples
    --------
    >>> check_offsets([0, 2, 1], 3)
    Traceback (most recent call last):
    ordino.errors.DataError: offsets must rise from 0 to 3, the number of documents; query q owns rows offsets[q] to ...
    """
    given = np.asarray(offsets)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not given.size:
        raise DataError("offsets must be whole numbers, one more than there are queries")
    bounds = np.ascontiguousarray(given, np.int64)
    if bounds[0] != 0 or bounds[-1] != n_docs or (bounds[1:] < bounds[:-1]).any():
        raise DataError(
            f"offsets must rise from 0 to {n_docs}, the number of documents; query q owns rows offsets[q] to ..."
        )
    return bounds


def query_numbers(offsets: Ints) -> Ints:
    """The number of each row's query, shape ``(n_docs,)``.

    Examples
    --------
    >>> query_numbers(np.array([0, 2, 3])).tolist()
    [0, 0, 1]
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def query_blocks(offsets: Ints, size: int) -> list[tuple[int, int]]:
    """Ranges ``(first, last)`` of whole queries with about ``size`` documents, and no more than ``size`` queries, each.

    A longer query is a block of its own.

    Examples
    --------
    >>> query_blocks(np.array([0, 2, 4, 10, 11]), 4)
    [(0, 2), (2, 3), (3, 4)]
    """
    n_queries, first = len(offsets) - 1, 0
    blocks: list[tuple[int, int]] = []
    while first < n_queries:
        last = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        last = min(max(last, first + 1), first + size, n_queries)
        blocks.append((first, last))
        first = last
    return blocks


def row_blocks(n_rows: int, size: int) -> list[slice]:
    """Slices of ``size`` rows.

    Examples
    --------
    >>> row_blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def name_features(names: Sequence[str] | NDArray[Any] | None, n_features: int) -> tuple[str, ...]:
    """The names of the features: those given, else f1, f2, ... as LETOR files count.

    Examples
    --------
    >>> name_features(None, 2), name_features(["bm25"], 1)
    (('f1', 'f2'), ('bm25',))
    """
    return tuple(f"f{j + 1}" for j in range(n_features)) if names is None else tuple(str(name) for name in names)


def mean_of_counted(values: Floats) -> float:
    """The mean of what is not NaN; NaN if nothing is left."""
    counted = values[~np.isnan(values)]
    return float(counted.mean()) if len(counted) else float("nan")
