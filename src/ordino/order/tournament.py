"""Orders that do not depend on where a sort starts: every document meets every other document of its query."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from threading import Lock
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import check_offsets
from ordino.errors import unknown_name
from ordino.order.kernels import BORDA, COPELAND, TILE, UNIT
from ordino.order.network import PairNetwork
from ordino.threads import run_blocks

RULES: Mapping[str, tuple[int, float]] = MappingProxyType({"copeland": (COPELAND, 2.0), "borda": (BORDA, float(UNIT))})


def tournament(
    network: PairNetwork, X: ArrayLike, offsets: ArrayLike, *, rule: str = "copeland", n_jobs: int | None = None
) -> NDArray[np.float64]:
    r"""Score every document by its comparisons with all others of its query, shape ``(n_docs,)``; larger is better.

    .. math:: \text{Copeland: } \sum_{b \ne a} [a \succ b] + \tfrac12 [a \sim b], \qquad
              \text{Borda: } \sum_{b \ne a} P(a \succ b)

    A query of n documents takes n (n - 1) / 2 comparisons, and memory for a few rows a document: 60,000 documents are
    1.8 billion comparisons, minutes, but no more memory than a sort. The sums are exact, so they do not depend on the
    order of the rows or on the number of threads.

    Parameters
    ----------
    network, X, offsets
        As in :func:`~ordino.order.sort_queries`.
    rule
        "copeland" counts wins, a tie as half a win; "borda" adds up probabilities.
    n_jobs
        Threads; None takes all cores.

    Examples
    --------
    >>> from ordino.layers import Layer
    >>> larger_first = PairNetwork([[1, -1]], [[-1, 1]], [0, 0], (Layer([[1, -1], [-1, 1]], [0, 0]),))
    >>> tournament(larger_first, [[1.0], [3.0], [2.0], [2.0]], [0, 4]).tolist()
    [0.0, 3.0, 1.5, 1.5]
    """
    if rule not in RULES:
        raise unknown_name("rule", rule, RULES)
    features = network.check_features(X)
    bounds = check_offsets(offsets, len(features))
    code, unit = RULES[rule]
    scores = np.empty(len(features))
    for start, stop in pairwise(bounds.tolist()):
        scores[start:stop] = meet_all(network, features[start:stop], code, n_jobs) / unit
    return scores


def meet_all(network: PairNetwork, X: NDArray[np.float32], rule: int, n_jobs: int | None) -> NDArray[np.int64]:
    """The totals of one query under a rule of the kernels; a tile of documents is a thread's share."""
    (table, room), n_docs, packed = network.lay_out(X), len(X), network.packed
    totals = np.zeros(n_docs, np.int64)
    lock = Lock()

    def work(first: int) -> None:
        own = np.zeros(n_docs, np.int64)
        place = (table, np.empty_like(room), first, min(first + TILE, n_docs), n_docs)
        network.kernels.tournament_rows(packed.bias, packed.plan, *place, rule, own)
        with lock:
            np.add(totals, own, out=totals)

    run_blocks(work, list(range(0, n_docs, TILE)), n_jobs)
    return totals
