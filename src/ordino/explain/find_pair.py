"""Two documents of a data set, called by id or by row, and the query in which they meet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.errors import DataError


class Meeting(NamedTuple):
    """A query and the rows of two of its documents in it."""

    a: int
    b: int
    query: NDArray[np.float32]  # (n_docs, n_features)


def find_pair(data: Dataset, a: str, b: str) -> Meeting:
    """The query that has both documents.

    Parameters
    ----------
    a, b
        Document ids; what is no id is a row of the data, from 0, in the caller's order.

    Examples
    --------
    >>> data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 0], qid=[1, 2, 2], doc_ids=["x", "x", "y"])
    >>> find_pair(data, "y", "x")
    Meeting(a=1, b=0, query=array([[2.],
           [3.]], dtype=float32))
    """
    rows_a, rows_b = _rows_of(data, a), _rows_of(data, b)
    queries_a, queries_b = (np.searchsorted(data.offsets, rows, side="right") - 1 for rows in (rows_a, rows_b))
    common = np.intersect1d(queries_a, queries_b)
    if len(common) == 0:
        raise DataError(f"{a} and {b} belong to different queries; only documents of one query are compared")
    if len(common) > 1:
        raise DataError(f"{a} and {b} meet in {len(common)} queries; call them by their rows in the data, from 0")
    start, stop = data.offsets[common[0]], data.offsets[common[0] + 1]
    first, second = rows_a[queries_a == common[0]][0], rows_b[queries_b == common[0]][0]
    return Meeting(int(first - start), int(second - start), data.X[start:stop])


def _rows_of(data: Dataset, name: str) -> NDArray[np.intp]:
    """The rows here of the documents that are called so."""
    if data.doc_ids is not None:
        found = np.flatnonzero(np.array([str(one) for one in data.doc_ids.tolist()]) == name)
        if len(found):
            return found
    if not name.isdecimal() or int(name) >= data.n_docs:
        raise DataError(f"there is no document {name!r}; give an id, or a row from 0 to {data.n_docs - 1}")
    return data.restore(np.arange(data.n_docs))[[int(name)]]
