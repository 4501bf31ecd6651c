"""The labels of a block of queries in the order of their scores: a sort of integers, checked against the scores.

Query, score and place of a document are packed into one integer, with the score cut to 36 bits; numpy sorts integers
several at a time. What the cut leaves in the wrong order is found while the labels are read, and only such a query, or
one too long to be packed, is sorted by its scores themselves.

Where no measure looks past a few ranks and nobody asks for ties, the best few documents are picked instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ordino.metrics.checks import Floats, Ints

BLOCK = 2**14  # documents, and queries, in a block; the kernels count with as many
_EVERY_BIT = np.uint64(2**64 - 1)


def rank_queries(
    y: Floats, scores: Floats, offsets: Ints, first: int, last: int, ties: str, top: int, packed: NDArray[np.uint64],
    ranked: Floats, same: NDArray[np.bool_], tied: NDArray[np.bool_], lengths: Ints,
    room: Sequence[Floats],
) -> None:  # fmt: skip
    """Fill ``ranked``, ``same``, ``tied`` and ``lengths`` as ``kernels.rank_block`` says.

    If ``top`` is not 0, only this many documents of each query are ordered, and ``same`` and ``tied`` stay as they are.
    ``packed`` and ``room`` are buffers for at least as many documents as the block has, ``packed`` for no more than
    :data:`BLOCK`.
    """
    from ordino.metrics.kernels import PLACES, pack_block, rank_block, top_block, worst_first_block  # numba loads here

    base, n_docs, backward = offsets[first], offsets[last] - offsets[first], ties == "docno"
    if top:
        top_block(y, scores, offsets, first, last, backward, top, ranked, lengths, room[0])
        return
    if n_docs > BLOCK:  # one long query
        lengths[first], unordered = -1, 1
    else:
        keys = packed[:n_docs]
        pack_block(scores.view(np.uint64), offsets, first, last, backward, keys)
        keys.sort()
        unordered = rank_block(y, scores, keys, PLACES, offsets, first, last, backward, ranked, same, tied, lengths)
    for q in first + np.flatnonzero(lengths[first:last] < 0) if unordered else ():
        own = scores[offsets[q] : offsets[q + 1]]
        order = np.argsort(-own[::-1] if backward else -own, kind="stable").view(np.uint64)
        place = offsets[q] - base
        rank_block(
            y, scores, order, _EVERY_BIT, offsets, q, q + 1, backward, ranked[place:], same[place:], tied, lengths
        )
    if ties in ("pessimistic", "averaged") and tied[first:last].any():
        worst_first_block(offsets, first, last, ranked, same, tied, *room)
