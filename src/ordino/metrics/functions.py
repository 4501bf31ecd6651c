"""Every measure as a function of labels and scores that gives one value for each query.

All have one signature: ``y`` and ``scores`` with the documents of a query together, ``offsets`` that say where queries
begin and end (None makes one query of all), a profile by name. Each value is that of ``parse_metric(name).per_query``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.metrics.metric import Metric
from ordino.metrics.profiles import Profile

Floats = NDArray[np.float64]


def _values(
    metric: Metric, y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None, profile: str | Profile
) -> Floats:
    return metric.per_query(y, scores, [0, np.size(y)] if offsets is None else offsets, profile=profile)


def precision(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, k: int, profile: str | Profile = "standard"
) -> Floats:
    """Precision: the share of relevant documents among the first k.

    Examples
    --------
    >>> precision([1, 0, 2], [3.0, 2.0, 1.0], k=2).tolist()
    [0.5]
    """
    return _values(Metric("p", k), y, scores, offsets, profile)


def recall(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, k: int, profile: str | Profile = "standard"
) -> Floats:
    """Recall: the share of the relevant documents that stand among the first k.

    Examples
    --------
    >>> recall([1, 0, 2, 1, 1], [5.0, 4.0, 3.0, 2.0, 1.0], k=3).tolist()
    [0.5]
    """
    return _values(Metric("recall", k), y, scores, offsets, profile)


def average_precision(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, k: int | None = None,
    profile: str | Profile = "standard",
) -> Floats:  # fmt: skip
    """Average precision, whose mean over queries is MAP (SortNet section 3.2, RankDE eq. 7).

    Examples
    --------
    Relevant at ranks 1 and 4: (1/1 + 2/4) / 2.

    >>> average_precision([1, 0, 0, 1], [4.0, 3.0, 2.0, 1.0]).tolist()
    [0.75]
    """
    return _values(Metric("map", k), y, scores, offsets, profile)


def dcg(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, k: int | None = None,
    profile: str | Profile = "standard",
) -> Floats:  # fmt: skip
    r"""Discounted cumulative gain.

    .. math:: \mathrm{DCG@}k = \sum_{r=1}^{k} (2^{y_r} - 1) / \log_2(r + 1)

    Examples
    --------
    Gains 3, 0, 1 at ranks 1, 2, 3 make 3/1 + 0 + 1/2.

    >>> dcg([2, 0, 1], [3.0, 2.0, 1.0]).tolist()
    [3.5]
    """
    return _values(Metric("dcg", k), y, scores, offsets, profile)


def ndcg(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, k: int | None = None,
    profile: str | Profile = "standard",
) -> Floats:  # fmt: skip
    """DCG as a share of the best possible DCG (RankNet eq. 16).

    Examples
    --------
    At rank 1 stands a gain of 1, the best is 3.

    >>> ndcg([2, 0, 1], [1.0, 2.0, 3.0], k=1).round(4).tolist()
    [0.3333]
    """
    return _values(Metric("ndcg", k), y, scores, offsets, profile)


def mean_ndcg(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, profile: str | Profile = "standard"
) -> Floats:
    """The mean of NDCG@1, NDCG@2, ... up to the length of the list, as LETOR 4.0 reports it.

    Examples
    --------
    With LETOR's discount of 1 at ranks 1 and 2, NDCG@1 is 0 and NDCG@2 is 1.

    >>> mean_ndcg([0, 1], [2.0, 1.0], profile="letor4").tolist()
    [0.5]
    """
    return _values(Metric("meanndcg"), y, scores, offsets, profile)


def reciprocal_rank(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, k: int | None = None,
    profile: str | Profile = "standard",
) -> Floats:  # fmt: skip
    """1 divided by the rank of the first relevant document, 0 if there is none (among the first k).

    Examples
    --------
    >>> reciprocal_rank([0, 1, 1], [3.0, 2.0, 1.0]).tolist()
    [0.5]
    """
    return _values(Metric("mrr", k), y, scores, offsets, profile)


def expected_reciprocal_rank(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, k: int | None = None,
    max_label: int | None = None, profile: str | Profile = "standard",
) -> Floats:  # fmt: skip
    """Expected reciprocal rank at which a reader is satisfied (Chapelle et al., 2009).

    A document satisfies with chance ``(2^label - 1) / 2^max_label``; in profile ``catboost`` the label is the chance.

    Examples
    --------
    With labels up to 1 a relevant document satisfies half of the readers: 1/2 at rank 1, then 1/4 at rank 2.

    >>> expected_reciprocal_rank([1, 1], [2.0, 1.0], max_label=1).tolist()
    [0.625]
    """
    chosen = () if max_label is None else (("max", max_label),)
    return _values(Metric("err", k, chosen), y, scores, offsets, profile)


def rank_biased_precision(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, k: int | None = None, p: float = 0.8,
    profile: str | Profile = "standard",
) -> Floats:  # fmt: skip
    """Relevance met by a reader who goes on from each rank with chance ``p``.

    Examples
    --------
    (1 - 1/2) times 1 + 0 + 1/4.

    >>> rank_biased_precision([1, 0, 1], [3.0, 2.0, 1.0], p=0.5).tolist()
    [0.625]
    """
    return _values(Metric("rbp", k, (("p", p),)), y, scores, offsets, profile)


def hit(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, k: int, profile: str | Profile = "standard"
) -> Floats:
    """1 if a relevant document stands among the first k, else 0.

    Examples
    --------
    >>> hit([0, 1, 0, 0], [2.0, 1.0, 2.0, 1.0], [0, 2, 4], k=2).tolist()
    [1.0, 0.0]
    """
    return _values(Metric("hit", k), y, scores, offsets, profile)


def pairwise_accuracy(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, samples: int | None = None, seed: int = 0,
    profile: str | Profile = "standard",
) -> Floats:  # fmt: skip
    """The share of pairs with different labels whose scores are in the right order; equal scores count half.

    Parameters
    ----------
    samples
        Draw so many pairs in each query instead of counting all; a query with fewer pairs is counted.

    Examples
    --------
    Of the pairs (2, 0), (2, 1), (0, 1) the last is in the wrong order.

    >>> pairwise_accuracy([2, 0, 1], [3.0, 2.0, 1.0]).round(4).tolist()
    [0.6667]
    """
    return _values(Metric("pairwise_accuracy", None, _drawn(samples, seed)), y, scores, offsets, profile)


def pairwise_error(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, samples: int | None = None, seed: int = 0,
    profile: str | Profile = "standard",
) -> Floats:  # fmt: skip
    """What pairwise accuracy lacks to 1.

    Examples
    --------
    >>> pairwise_error([2, 0, 1], [3.0, 2.0, 1.0]).round(4).tolist()
    [0.3333]
    """
    return _values(Metric("pairwise_error", None, _drawn(samples, seed)), y, scores, offsets, profile)


def kendall(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, profile: str | Profile = "standard"
) -> Floats:
    """Kendall's tau-b between labels and scores; NaN if all labels are equal, 0 if only the scores are.

    Examples
    --------
    Two pairs agree, one does not: (2 - 1) / 3.

    >>> kendall([2, 0, 1], [3.0, 2.0, 1.0]).round(4).tolist()
    [0.3333]
    """
    return _values(Metric("kendall"), y, scores, offsets, profile)


def spearman(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike | None = None, *, profile: str | Profile = "standard"
) -> Floats:
    """Spearman's rank correlation between labels and scores; NaN if all labels are equal, 0 if only the scores are.

    Examples
    --------
    The ranks differ by 0, 1, 1: 1 - 6 * 2 / (3 * 8).

    >>> spearman([2, 0, 1], [3.0, 2.0, 1.0]).tolist()
    [0.5]
    """
    return _values(Metric("spearman"), y, scores, offsets, profile)


def _drawn(samples: int | None, seed: int) -> tuple[tuple[str, float], ...]:
    return (("seed", seed),) if samples is None else (("samples", samples), ("seed", seed))
