"""Hashes of data sets: what makes two of them the same, for people who share data and for a store of trials."""

from __future__ import annotations

import json
from hashlib import blake2b, sha256

import numpy as np

from ordino.data.dataset import Dataset


def fingerprint(data: Dataset) -> str:
    """A hash of features, labels and grouping that does not depend on the order of rows or on the names of queries.

    Examples
    --------
    >>> one = fingerprint(Dataset([[1.0], [2.0]], [0, 1], qid=[7, 7]))
    >>> one == fingerprint(Dataset([[2.0], [1.0]], [1, 0], qid=["a", "a"]))
    True
    >>> one == fingerprint(Dataset([[2.0], [1.0]], [0, 1], qid=["a", "a"]))
    False
    """
    from ordino.data.source import canonical  # compiled code, which a model file must load without

    ordered = canonical(data)
    digest = sha256(str(ordered.X.shape).encode())
    for array in (ordered.X, ordered.y, ordered.offsets):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:16]


def contents_hash(data: Dataset | None) -> str:
    """A hash of everything in a data set as it stands: order of rows, weights, query ids and feature names too.

    Trials of a store carry it, so that trials on changed data are not taken for the old ones.

    Examples
    --------
    >>> one = contents_hash(Dataset([[1.0], [2.0]], [0, 1], qid=[7, 7]))
    >>> one == contents_hash(Dataset([[1.0], [2.0]], [0, 1], qid=[8, 8]))
    False
    """
    digest = blake2b(digest_size=16)
    if data is not None:
        for array in (data.X, data.y, data.offsets, data.weights, data.query_ids):
            if array is None:
                digest.update(b"none")
            elif array.dtype.kind in "OU":  # a string is as wide as the longest, whichever that is
                digest.update(json.dumps([str(value) for value in array]).encode())
            else:
                digest.update(np.ascontiguousarray(array).data)
        digest.update(json.dumps([data.X.shape, data.feature_names]).encode())
    return digest.hexdigest()
