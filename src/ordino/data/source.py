"""Data that is read part by part: whole queries in canonical order, one part in memory at a time; and hashes of data.

Sums in floating point, and draws from a random stream, depend on the order of rows. Rankers learn from the canonical
order, so a file whose rows or queries were shuffled, or that was divided into shards, gives the same model to the last
bit.
"""

import json
from collections.abc import Iterator
from hashlib import blake2b, sha256
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ordino.data.columns import Groups, offsets_of
from ordino.data.dataset import Dataset

Keys = NDArray[np.uint64]


@runtime_checkable
class Source(Protocol):
    """Anything that yields whole queries in canonical order, part by part; a :class:`Dataset` has one part."""

    @property
    def n_features(self) -> int:
        """The number of features, the same in all parts."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, if they have any."""

    def parts(self) -> Iterator[Dataset]:
        """Data sets of whole queries, which together are in canonical order; each call starts again."""


def canonical(data: Dataset) -> Dataset:
    """The same documents in an order that depends only on their contents: rows within queries, and queries.

    Equal rows are interchangeable, so their order does not matter; ids are ignored.

    Examples
    --------
    >>> one = canonical(Dataset([[1.0], [2.0], [3.0]], [0, 1, 0], qid=["a", "a", "b"]))
    >>> other = canonical(Dataset([[3.0], [2.0], [1.0]], [0, 1, 0], qid=["b", "a", "a"]))
    >>> bool((one.X == other.X).all() and (one.y == other.y).all())
    True
    """
    return arrange(data)[0]


def fingerprint(data: Dataset) -> str:
    """A hash of features, labels and grouping that does not depend on the order of rows or on the names of queries.

    Examples
    --------
    >>> one = fingerprint(Dataset([[1.0], [2.0]], [0, 1], qid=[7, 7]))
    >>> one == fingerprint(Dataset([[2.0], [1.0]], [1, 0], qid=["a", "a"]))
    True
    """
    ordered = canonical(data)
    digest = sha256(str(ordered.X.shape).encode())
    for array in (ordered.X, ordered.y, ordered.offsets):
        digest.update(np.ascontiguousarray(array).data)
    if data.categories:
        digest.update(json.dumps(dict(data.categories)).encode())
    return digest.hexdigest()[:16]


def contents_hash(data: Dataset | None, *, by_id: bool = False) -> str:
    """A hash of a data set, including the order of rows, weights, query ids and feature names.

    Trials in a store carry it, so that trials on changed data are not mistaken for the old ones. Ids of documents only
    matter ``by_id``, where equal scores are ordered by them.
    """
    digest = blake2b(digest_size=16)
    if data is not None:
        ids = () if data.doc_ids is None or not by_id else (data.doc_ids.astype(str),)
        for array in (data.X, data.y, data.offsets, data.weights, data.query_ids, *ids):
            if array is None:
                digest.update(b"none")
            elif array.dtype.kind in "OU":  # a string is as wide as the longest, whichever that is
                digest.update(json.dumps([str(value) for value in array]).encode())
            else:
                digest.update(np.ascontiguousarray(array).data)
        named = [data.X.shape, data.feature_names, *([dict(data.categories)] if data.categories else [])]
        digest.update(json.dumps(named).encode())
    return digest.hexdigest()


def arrange(data: Dataset) -> tuple[Dataset, Keys]:
    """The data in canonical order, and the key of each query, rising.

    Weights only decide between what is otherwise equal, so that they change nothing where nobody heeds them.
    """
    from ordino.data.kernels import hash_rows  # compiled code, which a model file must load without

    columns = np.column_stack((data.y + 0.0, np.ones(data.n_docs))).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
    rows: Keys = hash_rows(np.ascontiguousarray(data.X), columns)  # of features, label and a weight of 1
    weights = data.doc_weights + 0.0
    within = np.lexsort((weights, rows, data.query_number))  # rows of a query by their hash
    keys = _keys_of(rows[within], data)
    queries = np.lexsort((_keys_of(weights[within].view(np.uint64), data), keys))
    counts = data.counts[queries]
    offsets = offsets_of(counts)
    order = within[np.repeat(data.offsets[:-1][queries] - offsets[:-1], counts) + np.arange(data.n_docs)]
    if np.array_equal(order, np.arange(data.n_docs)):
        return data, keys
    return data.take_rows(order, Groups(None, offsets, data.query_ids[queries])), keys[queries]


def _keys_of(rows: Keys, data: Dataset) -> Keys:
    """The key of each query, from the hashes of its rows and their places."""
    position = np.arange(data.n_docs, dtype=np.uint64) - np.repeat(data.offsets[:-1], data.counts).astype(np.uint64)
    with np.errstate(over="ignore"):
        mixed = (rows ^ (position + np.uint64(1))) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        return np.add.reduceat(mixed, data.offsets[:-1]) if data.n_queries else np.zeros(0, np.uint64)
