r"""One order out of many: what the members' scores of a query's documents become.

Every rule takes scores of shape ``(n_members, n_docs)`` and gives one score for each document; queries do not touch
each other. Rank 1 is the best; equal scores share the mean of their ranks.

========== =======================================================================================================
rank_sum   minus the mean rank (DeepNet 5.3; Borda's count)
rrf        :math:`\sum_m 1 / (60 + r_m)`, reciprocal rank fusion (Cormack et al., SIGIR 2009)
median     minus the median rank; where it is equal, the mean rank decides
score_mean the mean of the scores, which are first brought to mean 0 and deviation 1 in each query
raw_mean   the mean of the scores as they are, which needs no other document: it can be exported
kemeny     the order that contradicts the members in the fewest pairs (Kemeny, 1959), found by local search
========== =======================================================================================================
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from ordino.arrays import Floats, Ints, query_numbers
from ordino.checks import check_choice
from ordino.order.kemeny_kernels import improve_orders

RRF_K = 60.0
KEMENY_TOP = 1000
"""Documents of a query that Kemeny's rule orders; those below keep the order of their rank sums."""


def fuse(scores: Floats, offsets: Ints, method: str = "rank_sum") -> Floats:
    """Scores of all members made one, by a rule of :data:`METHODS`; larger is better.

    Scores have the shape ``(n_members, n_docs)``; query ``q`` owns the documents ``offsets[q]:offsets[q + 1]``.

    Examples
    --------
    Two of three members put the first document on top: its ranks are 1, 1 and 3.

    >>> scores = np.array([[9.0, 5.0, 1.0], [3.0, 2.0, 1.0], [0.0, 0.2, 0.1]])
    >>> (-3 * fuse(scores, np.array([0, 3]))).round().tolist()
    [5.0, 5.0, 8.0]
    >>> fuse(scores, np.array([0, 3]), "kemeny").tolist()
    [-1.0, -2.0, -3.0]
    """
    return METHODS[check_choice("method", method, METHODS)](scores, offsets)


def query_ranks(scores: Floats, offsets: Ints) -> Floats:
    """The rank of each document in its query, the best has 1; equal scores share their mean rank.

    Examples
    --------
    >>> query_ranks(np.array([1.0, 3.0, 1.0, 7.0]), np.array([0, 3, 4])).tolist()
    [2.5, 1.0, 2.5, 1.0]
    """
    query = query_numbers(offsets)
    order = np.lexsort((-scores, query))
    ordered, of = scores[order], query[order]
    fresh = np.append(True, (ordered[1:] != ordered[:-1]) | (of[1:] != of[:-1]))[: len(scores)]
    tie = np.cumsum(fresh) - 1  # the number of each run of equal scores
    place = np.arange(1, len(scores) + 1) - offsets[of]
    ranks = np.empty(len(scores))
    ranks[order] = (np.bincount(tie, place) / np.bincount(tie))[tie] if len(scores) else 0.0
    return ranks


def _all_ranks(scores: Floats, offsets: Ints) -> Floats:
    return np.array([query_ranks(of_member, offsets) for of_member in scores])


def _rank_sum(scores: Floats, offsets: Ints) -> Floats:
    mean: Floats = _all_ranks(scores, offsets).mean(axis=0)
    return -mean


def _rrf(scores: Floats, offsets: Ints) -> Floats:
    fused: Floats = (1 / (RRF_K + _all_ranks(scores, offsets))).sum(axis=0)
    return fused


def _median(scores: Floats, offsets: Ints) -> Floats:
    ranks = _all_ranks(scores, offsets)
    n_docs = np.repeat(np.diff(offsets), np.diff(offsets))
    # medians differ by a quarter at least, and what is added to decide among equal ones is an eighth at most
    fused: Floats = np.median(ranks, axis=0) + ranks.mean(axis=0) / (8 * n_docs)
    return -fused


def _score_mean(scores: Floats, offsets: Ints) -> Floats:
    query, counts = query_numbers(offsets), np.diff(offsets)

    def mean(values: Floats) -> Floats:
        return (np.bincount(query, values, len(counts)) / np.maximum(counts, 1))[query]

    total = np.zeros(scores.shape[1])
    for of_member in scores:
        centered = of_member - mean(of_member)
        deviation = np.sqrt(mean(centered**2))
        flat = deviation <= 1e-9 * np.sqrt(mean(of_member**2))  # equal but for rounding
        total += np.where(flat, 0.0, centered / np.where(flat, 1.0, deviation))
    return total / len(scores)


def _raw_mean(scores: Floats, offsets: Ints) -> Floats:  # noqa: ARG001
    mean: Floats = scores.mean(axis=0)
    return mean


def _kemeny(scores: Floats, offsets: Ints) -> Floats:
    ranks = _all_ranks(scores, offsets)
    # the start: rank sums, and where they are equal the mean score, so that the order of the rows plays no role
    start = np.lexsort((-_score_mean(scores, offsets), ranks.mean(axis=0), query_numbers(offsets)))
    order = improve_orders(ranks, np.ascontiguousarray(offsets), start, KEMENY_TOP)
    place = np.empty(len(order))
    place[order] = np.arange(1, len(order) + 1) - offsets[query_numbers(offsets)]
    return -place


METHODS: Mapping[str, Callable[[Floats, Ints], Floats]] = MappingProxyType(
    {
        "rank_sum": _rank_sum,
        "rrf": _rrf,
        "median": _median,
        "score_mean": _score_mean,
        "raw_mean": _raw_mean,
        "kemeny": _kemeny,
    }
)
"""How orders become one, by name."""
