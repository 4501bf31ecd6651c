"""The formula of each measure: a function of a block of ranked queries that gives one value for each query.

What tools do differently is a choice of the profile, made here. An entry of ``METRICS`` names its formula.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ordino.arrays import frozen
from ordino.metrics.block import Block, rank_discounts
from ordino.metrics.checks import Floats, err_max

if TYPE_CHECKING:
    from ordino.metrics.metric import Metric
    from ordino.metrics.profiles import Profile


def cutoff(metric: Metric, profile: Profile) -> int:
    """How many ranks a metric looks at; 0 is all."""
    return metric.k or (profile.no_cutoff if metric.measure.stops_early else None) or 0


def precision(block: Block, metric: Metric) -> Floats:
    """The share of relevant documents among the first k."""
    k = cutoff(metric, block.profile)
    hits, short = block.sums(block.flags, k, _ones(block.n_ranks(k))), block.profile.short_precision
    if short == "length":
        return hits / np.maximum(block.depths(k), 1)
    return np.where(k > block.lengths, 0.0, hits / k) if short == "zero" else hits / k


def recall(block: Block, metric: Metric) -> Floats:
    """The share of the relevant documents that stand among the first k."""
    k = cutoff(metric, block.profile)
    return _share(block.sums(block.flags, k, _ones(block.n_ranks(k))), block.n_relevant, block.profile.empty)


def average_precision(block: Block, metric: Metric) -> Floats:
    """The mean of the precisions at the ranks of the relevant documents."""
    k = cutoff(metric, block.profile)
    relevant = block.n_relevant
    if block.profile.map_divisor == "top k":
        relevant = np.minimum(relevant, block.depths(k, block.sizes))
    return _share(block.precision_sums(k), relevant, block.profile.map_of_empty)


def dcg(block: Block, metric: Metric) -> Floats:
    """The gains of the documents, each divided by the discount of its rank."""
    k = cutoff(metric, block.profile)
    return block.sums(block.gains, k, block.discounts(k))


def ndcg(block: Block, metric: Metric) -> Floats:
    """DCG as a share of the best possible DCG."""
    k, profile = cutoff(metric, block.profile), block.profile
    if profile.ideal == "ones" and k:
        ideal: Floats = np.full(len(block.lengths), _dcg_of_ones(profile.discount, k))
    else:
        ideal = block.ideal(k)
    value = _share(dcg(block, metric), ideal, profile.empty)
    return np.where(k > block.lengths, 0.0, value) if profile.short_ndcg == "zero" else value


def mean_ndcg(block: Block, _: Metric) -> Floats:
    """The mean of NDCG@1, NDCG@2, ... up to the length of the list."""
    shares = block.mean_share()
    return np.where(np.isnan(shares), block.profile.empty, shares / np.maximum(block.lengths, 1))


def reciprocal_rank(block: Block, metric: Metric) -> Floats:
    """1 divided by the rank of the first relevant document."""
    return 1.0 / block.first_hits(cutoff(metric, block.profile))


def hit(block: Block, metric: Metric) -> Floats:
    """1 if a relevant document stands among the first k, else 0."""
    return np.isfinite(block.first_hits(cutoff(metric, block.profile))).astype(np.float64)


def expected_reciprocal_rank(block: Block, metric: Metric) -> Floats:
    """The expected reciprocal rank at which a reader is satisfied."""
    return block.expected_reciprocals(cutoff(metric, block.profile), err_max(metric, block.profile))


def rank_biased_precision(block: Block, metric: Metric) -> Floats:
    """Relevance met by a reader who goes on from each rank with chance p."""
    k, p = cutoff(metric, block.profile), float(metric.value_of("p") or 0.0)
    return block.sums(block.flags, k, _persistence(p, block.n_ranks(k)))


def pairwise_accuracy(block: Block, metric: Metric) -> Floats:
    """The share of pairs with different labels that are in the right order; equal scores count half."""
    chosen = dict(metric.parameters)
    sums = block.pairs(int(chosen.get("samples", 0)), int(chosen.get("seed", 0)))
    different, undecided, wrong, drawn = sums[0], sums[1], sums[2], sums[7]
    counted = _share(different - undecided - wrong + 0.5 * undecided, different, np.nan)
    return np.where(np.isnan(drawn), counted, drawn)


def pairwise_error(block: Block, metric: Metric) -> Floats:
    """The share of pairs with different labels that are in the wrong order; equal scores count half."""
    error: Floats = 1.0 - pairwise_accuracy(block, metric)
    return error


def kendall(block: Block, _: Metric) -> Floats:
    """Kendall's tau-b between labels and scores."""
    different, undecided, wrong, same_score = block.pairs()[:4]
    told_apart = block.sizes * (block.sizes - 1) // 2 - same_score
    return _correlation(block, different - undecided - wrong - wrong, told_apart * different)


def spearman(block: Block, _: Metric) -> Floats:
    """Spearman's rank correlation between labels and scores."""
    product, score_spread, label_spread = block.pairs()[4:7]
    sizes = block.sizes.astype(np.float64)
    total = sizes**3 - sizes
    return _correlation(block, 12.0 * product, (total - score_spread) * (total - label_spread))


def _correlation(block: Block, product: Floats, squares: Floats) -> Floats:
    """What two orders share; 0 if all scores are equal, NaN if all labels are."""
    value = np.clip(_share(product, np.sqrt(squares), 0.0), -1.0, 1.0)
    return np.where(block.pairs()[0] > 0, value, np.nan)


def _share(part: Floats, whole: Floats | np.ndarray, otherwise: float) -> Floats:
    """``part / whole``, or what there is where the whole is not more than 0."""
    return np.divide(part, whole, out=np.full(len(part), float(otherwise)), where=whole > 0)


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
