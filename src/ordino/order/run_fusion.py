r"""One order out of the lists of several retrievers, of which each knows only the documents that it retrieved.

Every rule takes scores of shape ``(n_runs, n_docs)``, NaN where a run did not retrieve the document, and gives one
score for each document; queries do not touch each other. :math:`r` is the rank among the retrieved documents of the
query (equal scores share their mean rank), :math:`\tilde s` the score brought to 0 ... 1 among them (a list of equal
scores has 1 everywhere). A sum runs over the runs that retrieved the document.

======= ====================================================================================================
rrf     :math:`\sum 1 / (k + r)`, reciprocal rank fusion with k = 60 (Cormack et al., SIGIR 2009)
isr     :math:`n \sum 1 / r^2` for a document that n runs retrieved (Mourao et al., 2013)
combsum :math:`\sum \tilde s` (Fox and Shaw, TREC-2)
combmnz :math:`n \sum \tilde s` for a document that n runs retrieved
combmax the largest :math:`\tilde s`
borda   :math:`\sum (c - r + 1)` of c documents; those that a run did not retrieve share the points that are left
zscore  the mean of the scores, each list brought to mean 0 and deviation 1; what is missing has the lowest
kemeny  the order that contradicts the lists in the fewest pairs; what is missing stands last, tied
======= ====================================================================================================
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import Floats, Ints, query_numbers
from ordino.checks import check_choice
from ordino.order.fusion import RRF_K, fuse, query_ranks

Mask = NDArray[np.bool_]


def fuse_runs(scores: Floats, offsets: Ints, method: str = "rrf", *, k: float = RRF_K) -> Floats:
    """Scores of all runs made one, by a rule of :data:`RUN_METHODS`; larger is better.

    Scores have the shape ``(n_runs, n_docs)``, NaN where a run did not retrieve a document; ``k`` is that of rrf.

    Examples
    --------
    The second document is second and first: 1/62 + 1/61. The first is first in one list and not in the other: 1/61.

    >>> scores = np.array([[7.5, 3.0, np.nan], [np.nan, 0.9, 0.4]])
    >>> (1 / fuse_runs(scores, np.array([0, 3]))).round(1).tolist()
    [61.0, 30.7, 62.0]
    """
    check_choice("method", method, RUN_METHODS)
    found = ~np.isnan(scores)
    return _rrf(scores, found, offsets, k) if method == "rrf" else RUN_METHODS[method](scores, found, offsets)


def _sum(values: Floats, found: Mask) -> Floats:
    total: Floats = np.where(found, values, 0.0).sum(axis=0)
    return total


def _times(found: Mask, fused: Floats) -> Floats:
    """By how many runs retrieved a document."""
    times: Floats = found.sum(axis=0) * fused
    return times


def _ranks(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    """Ranks in each run's list; documents that it did not retrieve share those below, and all of them if none was."""
    floor = np.where(found, scores, -np.inf)
    return np.array([query_ranks(of_run, offsets) for of_run in floor])


def _unit(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    """Scores from 0 to 1 in each list; NaN where there are none."""
    low, high = _lowest(scores, found, offsets), -_lowest(-scores, found, offsets)
    flat = high <= low
    unit: Floats = np.where(flat, 1.0, (scores - low) / np.where(flat, 1.0, high - low))
    return unit


def _lowest(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    """For each document and run the lowest score of the query's list; 0 for an empty one."""
    query = query_numbers(offsets)
    lowest = np.full((len(scores), len(offsets) - 1), np.inf)
    for of_run, there, least in zip(scores, found, lowest, strict=True):
        np.minimum.at(least, query[there], of_run[there])
    return np.where(np.isinf(lowest), 0.0, lowest)[:, query]


def _isr(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    return _times(found, _sum(_ranks(scores, found, offsets) ** -2.0, found))


def _combsum(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    return _sum(_unit(scores, found, offsets), found)


def _combmnz(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    return _times(found, _combsum(scores, found, offsets))


def _combmax(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    best: Floats = np.where(found, _unit(scores, found, offsets), -1.0).max(axis=0)
    return best


def _borda(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    n_docs = np.diff(offsets)[query_numbers(offsets)]
    points: Floats = (n_docs + 1 - _ranks(scores, found, offsets)).sum(axis=0)
    return points


def _zscore(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    return fuse(np.where(found, scores, _lowest(scores, found, offsets)), offsets, "score_mean")


def _kemeny(scores: Floats, found: Mask, offsets: Ints) -> Floats:
    return fuse(-_ranks(scores, found, offsets), offsets, "kemeny")


def _rrf(scores: Floats, found: Mask, offsets: Ints, k: float = RRF_K) -> Floats:
    return _sum(1 / (k + _ranks(scores, found, offsets)), found)


RUN_METHODS: Mapping[str, Callable[[Floats, Mask, Ints], Floats]] = MappingProxyType(
    {
        "rrf": _rrf, "isr": _isr, "combsum": _combsum, "combmnz": _combmnz, "combmax": _combmax, "borda": _borda,
        "zscore": _zscore, "kemeny": _kemeny,
    }
)  # fmt: skip
"""How lists become one, by name."""
