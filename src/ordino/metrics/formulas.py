"""The formula of each metric: a function of a block of ranked queries that gives one value for each query.

What tools do differently is a choice of the profile, made here. An entry of ``METRICS`` names its formula; the function
in :mod:`ordino.metrics` that is made from the entry has the formula's name and documentation, whose first line
describes the metric.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ordino.arrays import Floats, Ints, frozen
from ordino.metrics.block import Block, rank_discounts

if TYPE_CHECKING:
    from ordino.metrics.metric import Metric
    from ordino.metrics.profiles import Profile


def cutoff(metric: Metric, profile: Profile) -> int:
    """How many ranks a metric looks at; 0 is all."""
    return metric.k or (profile.no_cutoff if metric.measure.stops_early else None) or 0


def err_max(metric: Metric, profile: Profile) -> float:
    """The highest label that ERR expects: the metric's own, else the profile's."""
    return metric.value_of("max") or profile.err_max


def precision(block: Block, metric: Metric) -> Floats:
    """Precision: the share of relevant documents among the first k.

    Examples
    --------
    >>> from ordino.metrics import precision
    >>> precision([1, 0, 2], [3.0, 2.0, 1.0], k=2).tolist()
    [0.5]
    """
    k = cutoff(metric, block.profile)
    return precision_of_hits(block.sums(block.flags, k, _ones(block.n_ranks(k))), block.lengths, k, block.profile)


def precision_of_hits(hits: Floats, lengths: Ints, k: int, profile: Profile) -> Floats:
    """P@k from the relevant documents among the first k, by what the profile says of short lists."""
    if profile.short_precision == "length":
        return hits / np.maximum(np.minimum(lengths, k), 1)
    return np.where(k > lengths, 0.0, hits / k) if profile.short_precision == "zero" else hits / k


def recall(block: Block, metric: Metric) -> Floats:
    """Recall: the share of the relevant documents that are among the first k.

    Examples
    --------
    >>> from ordino.metrics import recall
    >>> recall([1, 0, 2, 1, 1], [5.0, 4.0, 3.0, 2.0, 1.0], k=3).tolist()
    [0.5]
    """
    k = cutoff(metric, block.profile)
    return _share(block.sums(block.flags, k, _ones(block.n_ranks(k))), block.n_relevant, block.profile.empty)


def average_precision(block: Block, metric: Metric) -> Floats:
    """Average precision: the mean of the precisions at the ranks of the relevant documents.

    Its mean over queries is MAP (SortNet section 3.2, RankDE eq. 7).

    Examples
    --------
    Relevant at ranks 1 and 4: (1/1 + 2/4) / 2.

    >>> from ordino.metrics import average_precision
    >>> average_precision([1, 0, 0, 1], [4.0, 3.0, 2.0, 1.0]).tolist()
    [0.75]
    """
    k = cutoff(metric, block.profile)
    return mean_precision(block.precision_sums(k), block.n_relevant, block.sizes, k, block.profile)


def mean_precision(sums: Floats, n_relevant: Ints, sizes: Ints, k: int, profile: Profile) -> Floats:
    """Average precision from the sums of precisions; the profile says what they are divided by."""
    if profile.map_divisor == "top k":
        n_relevant = np.minimum(n_relevant, np.minimum(sizes, k) if k else sizes)
    return _share(sums, n_relevant, profile.map_of_empty)


def dcg(block: Block, metric: Metric) -> Floats:
    r"""Discounted cumulative gain: the gains of the documents, each divided by the discount of its rank.

    .. math:: \mathrm{DCG@}k = \sum_{r=1}^{k} (2^{y_r} - 1) / \log_2(r + 1)

    Examples
    --------
    Gains 3, 0, 1 at ranks 1, 2, 3 make 3/1 + 0 + 1/2.

    >>> from ordino.metrics import dcg
    >>> dcg([2, 0, 1], [3.0, 2.0, 1.0]).tolist()
    [3.5]
    """
    k = cutoff(metric, block.profile)
    return block.sums(block.gains, k, block.discounts(k))


def ndcg(block: Block, metric: Metric) -> Floats:
    """DCG as a share of the best possible DCG.

    This is RankNet's eq. 16.

    Examples
    --------
    At rank 1 stands a gain of 1, the best is 3.

    >>> from ordino.metrics import ndcg
    >>> ndcg([2, 0, 1], [1.0, 2.0, 3.0], k=1).round(4).tolist()
    [0.3333]
    """
    k, profile = cutoff(metric, block.profile), block.profile
    if profile.ideal == "ones" and k:
        ideal: Floats = np.full(len(block.lengths), _dcg_of_ones(profile.discount, k))
    else:
        ideal = block.ideal(k)
    value = _share(dcg(block, metric), ideal, profile.empty)
    return np.where(k > block.lengths, 0.0, value) if profile.short_ndcg == "zero" else value


def mean_ndcg(block: Block, _: Metric) -> Floats:
    """The mean of NDCG@1, NDCG@2, ... up to the length of the list (LETOR 4.0).

    Examples
    --------
    With LETOR's discount of 1 at ranks 1 and 2, NDCG@1 is 0 and NDCG@2 is 1.

    >>> from ordino.metrics import mean_ndcg
    >>> mean_ndcg([0, 1], [2.0, 1.0], profile="letor4").tolist()
    [0.5]
    """
    shares = block.mean_share()
    return np.where(np.isnan(shares), block.profile.empty, shares / np.maximum(block.lengths, 1))


def reciprocal_rank(block: Block, metric: Metric) -> Floats:
    """Reciprocal rank: 1 divided by the rank of the first relevant document, 0 if there is none.

    Examples
    --------
    >>> from ordino.metrics import reciprocal_rank
    >>> reciprocal_rank([0, 1, 1], [3.0, 2.0, 1.0]).tolist()
    [0.5]
    """
    return 1.0 / block.first_hits(cutoff(metric, block.profile))


def hit(block: Block, metric: Metric) -> Floats:
    """Hit: 1 if a relevant document is among the first k, else 0.

    Examples
    --------
    >>> from ordino.metrics import hit
    >>> hit([0, 1, 0, 0], [2.0, 1.0, 2.0, 1.0], [0, 2, 4], k=2).tolist()
    [1.0, 0.0]
    """
    return np.isfinite(block.first_hits(cutoff(metric, block.profile))).astype(np.float64)


def expected_reciprocal_rank(block: Block, metric: Metric) -> Floats:
    """Expected reciprocal rank at which a reader going down the list is satisfied.

    A document satisfies with chance ``(2^label - 1) / 2^max_label`` (Chapelle et al., 2009); in profile ``catboost``
    the label is the chance.

    Examples
    --------
    With labels up to 1 a relevant document satisfies half of the readers: 1/2 at rank 1, then 1/4 at rank 2.

    >>> from ordino.metrics import expected_reciprocal_rank
    >>> expected_reciprocal_rank([1, 1], [2.0, 1.0], max_label=1).tolist()
    [0.625]
    """
    return block.expected_reciprocals(cutoff(metric, block.profile), err_max(metric, block.profile))


def rank_biased_precision(block: Block, metric: Metric) -> Floats:
    """Rank-biased precision: relevance seen by a reader who goes on from each rank with probability p.

    Examples
    --------
    (1 - 1/2) times 1 + 0 + 1/4.

    >>> from ordino.metrics import rank_biased_precision
    >>> rank_biased_precision([1, 0, 1], [3.0, 2.0, 1.0], p=0.5).tolist()
    [0.625]
    """
    k, p = cutoff(metric, block.profile), float(metric.value_of("p") or 0.0)
    return block.sums(block.flags, k, _persistence(p, block.n_ranks(k)))


def pairwise_accuracy(block: Block, metric: Metric) -> Floats:
    """The share of pairs with different labels that are in the right order; equal scores count half.

    Examples
    --------
    Of the pairs (2, 0), (2, 1), (0, 1) the last is in the wrong order.

    >>> from ordino.metrics import pairwise_accuracy
    >>> pairwise_accuracy([2, 0, 1], [3.0, 2.0, 1.0]).round(4).tolist()
    [0.6667]
    """
    chosen = dict(metric.parameters)
    sums = block.pairs(int(chosen.get("samples", 0)), int(chosen.get("seed", 0)))
    different, undecided, wrong, drawn = sums[0], sums[1], sums[2], sums[7]
    counted = _share(different - undecided - wrong + 0.5 * undecided, different, np.nan)
    return np.where(np.isnan(drawn), counted, drawn)


def pairwise_error(block: Block, metric: Metric) -> Floats:
    """The share of pairs with different labels that are in the wrong order; equal scores count half.

    Examples
    --------
    >>> from ordino.metrics import pairwise_error
    >>> pairwise_error([2, 0, 1], [3.0, 2.0, 1.0]).round(4).tolist()
    [0.3333]
    """
    error: Floats = 1.0 - pairwise_accuracy(block, metric)
    return error


def kendall(block: Block, _: Metric) -> Floats:
    """Kendall's tau-b between labels and scores.

    NaN if all labels are equal, 0 if only the scores are.

    Examples
    --------
    Two pairs agree, one does not: (2 - 1) / 3.

    >>> from ordino.metrics import kendall
    >>> kendall([2, 0, 1], [3.0, 2.0, 1.0]).round(4).tolist()
    [0.3333]
    """
    different, undecided, wrong, same_score = block.pairs()[:4]
    told_apart = block.sizes * (block.sizes - 1) // 2 - same_score
    return _correlation(block, different - undecided - wrong - wrong, told_apart * different)


def spearman(block: Block, _: Metric) -> Floats:
    """Spearman's rank correlation between labels and scores.

    NaN if all labels are equal, 0 if only the scores are.

    Examples
    --------
    The ranks differ by 0, 1, 1: 1 - 6 * 2 / (3 * 8).

    >>> from ordino.metrics import spearman
    >>> spearman([2, 0, 1], [3.0, 2.0, 1.0]).tolist()
    [0.5]
    """
    product, score_spread, label_spread = block.pairs()[4:7]
    sizes = block.sizes.astype(np.float64)
    total = sizes**3 - sizes
    return _correlation(block, 12.0 * product, (total - score_spread) * (total - label_spread))


def _correlation(block: Block, product: Floats, squares: Floats) -> Floats:
    """What two orders share; 0 if all scores are equal, NaN if all labels are."""
    value = np.clip(_share(product, np.sqrt(squares), 0.0), -1.0, 1.0)
    return np.where(block.pairs()[0] > 0, value, np.nan)


def _share(part: Floats, whole: Floats | np.ndarray, otherwise: float) -> Floats:
    """``part / whole``, one for each query, and ``otherwise`` where the whole is not more than 0."""
    has_whole = whole > 0
    return np.where(has_whole, part / np.where(has_whole, whole, 1.0), otherwise)


@lru_cache(maxsize=8)
def _ones(n_ranks: int) -> Floats:
    return frozen(np.ones(n_ranks))


@lru_cache(maxsize=8)
def _persistence(p: float, n_ranks: int) -> Floats:
    """How likely a reader who goes on with chance p stops at each rank."""
    steps = np.full(n_ranks, p)
    steps[:1] = 1.0 - p
    return frozen(np.multiply.accumulate(steps))


@lru_cache(maxsize=64)
def _dcg_of_ones(discount: str, k: int) -> float:
    """The DCG of k documents that each gain 1 (RankDE eq. 9), summed in parts so that a huge k needs no huge array."""
    total, step = 0.0, 2**20
    for start in range(1, k + 1, step):
        ranks = np.arange(start, min(start + step, k + 1), dtype=np.float64)
        total += float((1.0 / rank_discounts(discount, ranks)).sum())
    return total
