"""Rankings as bytes: the scores of a trial and the documents they belong to, in blocks of whole queries.

A page that shows one query reads one block of each ranker, however long the test part is. Scores are kept to the last
bit, as single precision where that is all they have.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCK = 16_384
"""A block ends with the query that brings it to this many documents."""
_LEVEL = 6  # of zlib: smaller takes three times as long for two percent


class Listed(NamedTuple):
    """The documents of some queries, as they stand in the test part."""

    offsets: NDArray[np.int64]  # (n_queries + 1,)
    labels: Floats  # (n_docs,)
    doc_ids: Sequence[str] | None

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return len(self.offsets) - 1


class Facts(NamedTuple):
    """What is known of each query of a test part."""

    sizes: NDArray[np.int64]
    """Its documents."""
    relevant: NDArray[np.int64]
    """Those with a label above 0."""
    highest: Floats
    """Its highest label."""


def blocks(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """The first query of each block, and the first that is no longer in it.

    Examples
    --------
    >>> list(blocks(np.array([0, 10_000, 20_000, 20_001]))), list(blocks(np.array([0, 5])))
    ([(0, 2), (2, 3)], [(0, 1)])
    """
    first = 0
    for last in range(1, len(offsets)):
        if offsets[last] - offsets[first] >= BLOCK or last == len(offsets) - 1:
            yield first, last
            first = last


def pack_scores(scores: Floats) -> bytes:
    """Scores of documents; each byte of a number lies beside the same byte of the others, which compress together.

    Examples
    --------
    >>> unpack_scores(pack_scores(np.array([0.1, -2.5]))).tolist()
    [0.1, -2.5]
    """
    with np.errstate(over="ignore"):  # what is too large for single precision is not equal to it
        single = scores.astype("<f4")
    narrow = np.array_equal(single.astype(np.float64), scores, equal_nan=True)
    kept = single if narrow else np.ascontiguousarray(scores, "<f8")
    planes = kept.view(np.uint8).reshape(len(kept), kept.itemsize).T
    return bytes([kept.itemsize]) + zlib.compress(planes.tobytes(), _LEVEL)


def unpack_scores(packed: bytes) -> Floats:
    """What :func:`pack_scores` was given."""
    size = packed[0]
    if size not in (4, 8):
        raise ValueError(f"numbers of {size} bytes")
    planes = np.frombuffer(zlib.decompress(packed[1:]), np.uint8).reshape(size, -1)
    return np.ascontiguousarray(planes.T).view(f"<f{size}").ravel().astype(np.float64)


def pack_list(listed: Listed) -> bytes:
    """Documents of a block of queries."""
    values = [np.diff(listed.offsets).tolist(), listed.labels.tolist(), listed.doc_ids]
    return zlib.compress(json.dumps(values, allow_nan=False).encode(), _LEVEL)


def unpack_list(packed: bytes) -> Listed:
    """What :func:`pack_list` was given.

    Examples
    --------
    >>> unpack_list(pack_list(Listed(np.array([0, 2]), np.array([1.0, 0.0]), ["x", "y"]))).doc_ids
    ['x', 'y']
    """
    sizes, labels, doc_ids = json.loads(zlib.decompress(packed))
    return Listed(np.cumsum([0, *sizes]), np.array(labels, np.float64), doc_ids)


def facts_of(listed: Listed) -> Facts:
    """What is known of each query.

    Examples
    --------
    >>> facts = facts_of(Listed(np.array([0, 2, 3]), np.array([2.0, 0.0, 1.0]), None))
    >>> facts.sizes.tolist(), facts.relevant.tolist(), facts.highest.tolist()
    ([2, 1], [1, 1], [2.0, 1.0])
    """
    starts = listed.offsets[:-1]
    if not len(listed.labels):
        return Facts(np.diff(listed.offsets), np.zeros(len(starts), np.int64), np.zeros(len(starts)))
    relevant = np.add.reduceat((listed.labels > 0).astype(np.int64), starts)
    return Facts(np.diff(listed.offsets), relevant, np.maximum.reduceat(listed.labels, starts))


def pack_facts(facts: Facts) -> bytes:
    """The facts of all queries of a test part."""
    return zlib.compress(np.array([*facts], "<f8").tobytes(), _LEVEL)


def unpack_facts(packed: bytes) -> Facts:
    """What :func:`pack_facts` was given."""
    sizes, relevant, highest = np.frombuffer(zlib.decompress(packed), "<f8").reshape(3, -1)
    return Facts(sizes.astype(np.int64), relevant.astype(np.int64), highest)


def listed_of(data: Any) -> Listed:
    """The documents of a :class:`~ordino.data.dataset.Dataset`, without their features."""
    names = None if data.doc_ids is None else [str(one) for one in data.doc_ids.tolist()]
    return Listed(np.asarray(data.offsets), np.asarray(data.y), names)
