"""Groups of rows by query id, in whatever order the rows come.

The ids may be of any hashable kind. Queries keep the order of their first row, rows keep their order inside a query.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import DataError


class Groups(NamedTuple):
    """Rows by query: query ``q`` owns ``order[offsets[q]:offsets[q + 1]]`` (the rows as they are if order is None)."""

    order: NDArray[np.intp] | None
    offsets: NDArray[np.int64]  # (n_queries + 1,)
    query_ids: NDArray[Any]  # (n_queries,)


def group_rows(qid: ArrayLike | Sequence[Hashable] | None, n_rows: int) -> Groups:
    """Group rows by query id; no ids make one query of all rows.

    Examples
    --------
    >>> groups = group_rows(["b", "a", "b"], 3)
    >>> groups.query_ids.tolist(), groups.offsets.tolist(), groups.order.tolist()
    (['b', 'a'], [0, 2, 3], [0, 2, 1])
    """
    if qid is None:
        return Groups(None, np.array([0, n_rows] if n_rows else [0]), np.zeros(min(n_rows, 1), np.int64))
    ids, codes = _comparable(qid)
    if len(codes) != n_rows:
        raise DataError(f"qid has {len(codes)} entries but X has {n_rows} rows; give one query id for each row")
    if n_rows == 0:
        return Groups(None, np.zeros(1, np.int64), ids)
    heads = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    offsets = np.append(heads, n_rows).astype(np.int64)
    first = codes[heads]
    rising = bool((first[1:] > first[:-1]).all())  # as ids mostly are: then no id comes twice
    if rising or len(np.unique(first)) == len(heads):
        return Groups(None, offsets, ids[heads])
    return _gather(ids, codes)


def _gather(ids: NDArray[Any], codes: NDArray[Any]) -> Groups:
    """Bring the scattered rows of each query together."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    position = np.empty(len(first), np.intp)  # of a query among all, by its first row
    position[np.argsort(first)] = np.arange(len(first))
    by_query = position[inverse]
    order = np.argsort(by_query, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(by_query)))).astype(np.int64)
    return Groups(order, offsets, ids[np.sort(first)])


def _comparable(qid: ArrayLike | Sequence[Hashable]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The ids as an array, and an array with the same equalities that numpy can sort."""
    ids = _as_array(qid)
    if ids.ndim != 1:
        raise DataError(f"qid has shape {ids.shape}; give one query id for each row")
    if ids.dtype.kind == "f" and not np.isfinite(ids).all():
        raise DataError("qid has NaN or inf; give every row the id of its query")
    if ids.dtype.kind != "O":
        return ids, ids
    known: dict[Hashable, int] = {}
    try:
        codes = np.fromiter((known.setdefault(i, len(known)) for i in ids), np.int64, len(ids))
    except TypeError:
        raise DataError("qid has ids that cannot be hashed (such as lists); use numbers, strings or tuples") from None
    if any(_is_missing(i) for i in known):
        raise DataError("qid has missing ids (None or NaN); give every row the id of its query")
    return ids, codes


def _is_missing(value: Hashable) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA answers neither yes nor no
        return True


def _as_array(qid: ArrayLike | Sequence[Hashable]) -> NDArray[Any]:
    """An array whose equalities are those of the ids: ``1`` and ``"1"`` stay apart, tuples stay whole."""
    if isinstance(qid, str | bytes):
        raise DataError(f"qid is the single string {qid!r}; give one query id for each row")
    if hasattr(qid, "dtype") or hasattr(qid, "__array__"):
        array = np.asarray(qid)
        return array.astype(object) if array.dtype.kind not in "biufSUO" else array
    try:
        values: list[Any] = list(cast(Iterable[Any], qid))
    except TypeError:
        raise DataError(f"qid is the single value {qid!r}; give one query id for each row") from None
    kinds = {type(value) for value in values}
    if kinds <= {int} and all(-(2**63) <= value < 2**63 for value in values):  # numpy would round larger ones
        return np.array(values, np.int64)
    if kinds == {str} and not any(value.endswith("\0") for value in values):  # numpy would drop the zero
        return np.array(values)
    array = np.empty(len(values), object)
    array[:] = values
    return array
