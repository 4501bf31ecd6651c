"""One order for data that differs only in its order.

Sums in floating point, and draws from a random stream, depend on the order of rows. Rankers learn from the canonical
order, so that a file whose rows or queries were shuffled gives the same model to the last bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordino.data.canonical_kernels import hash_rows
from ordino.data.dataset import Dataset
from ordino.data.grouping import Groups


def canonical(data: Dataset) -> Dataset:
    """The same documents, ordered by what they are: rows inside their query, queries among each other.

    Equal rows are interchangeable, so their mutual order does not matter; ids take no part.

    Examples
    --------
    >>> one = canonical(Dataset([[1.0], [2.0], [3.0]], [0, 1, 0], qid=["a", "a", "b"]))
    >>> other = canonical(Dataset([[3.0], [2.0], [1.0]], [0, 1, 0], qid=["b", "a", "a"]))
    >>> bool((one.X == other.X).all() and (one.y == other.y).all())
    True
    """
    rows = _row_hashes(data)
    query = np.repeat(np.arange(data.n_queries), data.counts)
    within = np.lexsort((rows, query))  # rows of a query by their hash
    position = np.arange(data.n_docs, dtype=np.uint64) - np.repeat(data.offsets[:-1], data.counts).astype(np.uint64)
    with np.errstate(over="ignore"):
        mixed = (rows[within] ^ (position + np.uint64(1))) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        totals = np.add.reduceat(mixed, data.offsets[:-1]) if data.n_queries else np.zeros(0, np.uint64)
    queries = np.argsort(totals, kind="stable")
    counts = data.counts[queries]
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    order = within[np.repeat(data.offsets[:-1][queries] - offsets[:-1], counts) + np.arange(data.n_docs)]
    if np.array_equal(order, np.arange(data.n_docs)):
        return data
    return Dataset.of_groups(
        data.X[order],
        data.y[order],
        Groups(None, offsets, data.query_ids[queries]),
        doc_ids=None if data.doc_ids is None else data.doc_ids[order],
        feature_names=data.feature_names,
        weights=None if data.weights is None else data.weights[order],
    )


def _row_hashes(data: Dataset) -> NDArray[np.uint64]:
    """A hash of each row's features, label and weight, shape ``(n_docs,)``."""
    weights = np.ones(data.n_docs) if data.weights is None else data.weights
    columns = np.column_stack((data.y + 0.0, weights + 0.0)).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
    return hash_rows(np.ascontiguousarray(data.X), columns)
