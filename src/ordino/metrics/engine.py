"""From labels and scores to one value for each query and metric: blocks of queries, threads, kernels.

Queries are independent, so any number of threads gives the same values. A block has about :data:`BLOCK` documents: its
ranked labels stay in the cache between the kernels that read them, and memory does not grow with the data.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import ParameterError
from ordino.metrics.checks import (
    Floats,
    Ints,
    as_column,
    as_offsets,
    check_scores,
    docno_order,
    err_max,
    usable_labels,
)
from ordino.metrics.metric import METRICS, Metric
from ordino.metrics.profiles import Profile, find_profile
from ordino.metrics.ranking import BLOCK, rank_queries

MOST_PICKED = 32  # documents up to which picking the best of a query is quicker than sorting it
ENOUGH_FOR_THREADS = 65536  # documents below which threads cost more than they bring

# What the kernels call these names: the order is theirs.
_CODES = {name: code for code, name in enumerate(METRICS)}
_GAINS = {"exponential": 0, "whole": 1, "linear": 2, "binary": 3}
_SHORT = {"k": 0, "length": 1, "zero": 2}
_WHOLE_LABELS = 64
_POWERS = 2.0 ** np.arange(_WHOLE_LABELS) - 1.0  # their exponential gains


class Values(NamedTuple):
    """What was measured, query by query."""

    values: Floats  # (n_metrics, n_queries), NaN where a query is left out
    empty: NDArray[np.bool_]  # (n_queries,): no relevant document
    tied: NDArray[np.bool_]  # (n_queries,): equal scores, different labels


def values_of(
    y: ArrayLike,
    scores: ArrayLike,
    offsets: ArrayLike,
    metrics: Sequence[Metric],
    *,
    profile: str | Profile = "standard",
    doc_ids: ArrayLike | None = None,
    find_ties: bool = True,
    threads: int | None = None,
) -> Values:
    """Measure every query with every metric; one sort of a query serves all metrics.

    Parameters
    ----------
    y, scores
        Label and score of each document, the documents of a query together, shape ``(n_docs,)``.
    offsets
        Query ``q`` owns rows ``offsets[q]:offsets[q + 1]``, shape ``(n_queries + 1,)``.
    doc_ids
        Names of the documents, for profiles that order ties by them; without, they are ordered as if named by row.
    find_ties
        Look for ties. Without, ``tied`` is False throughout, and metrics with small cutoffs need no sort: quicker.
    threads
        How many threads work; None takes the processors there are.

    Examples
    --------
    >>> from ordino.metrics import parse_metric
    >>> values_of([1, 0], [2.0, 1.0], [0, 2], [parse_metric("map"), parse_metric("p@2")]).values.tolist()
    [[1.0], [0.5]]
    """
    style = find_profile(profile)
    labels, order_by = as_column("y", y), as_column("scores", scores)
    check_scores(order_by, len(labels))
    bounds = as_offsets(offsets, len(labels))
    labels = usable_labels(labels, metrics, style)
    if style.scores == "float32":
        order_by = _single_precision(order_by)
    if style.ties == "docno" and doc_ids is not None:
        rows = docno_order(doc_ids, bounds)
        labels, order_by = labels[rows], order_by[rows]
    top = 0 if find_ties else _top(metrics, style)
    return _run(labels, order_by, bounds, metrics, style, top, _n_threads(threads, len(labels)))


def _single_precision(scores: Floats) -> Floats:
    """Scores rounded to float32; what is too low for it stays above -inf, which would mean no rank."""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    single[(single == -np.inf) & (scores > -np.inf)] = np.finfo(np.float32).min
    return single.astype(np.float64)


def _top(metrics: Sequence[Metric], profile: Profile) -> int:
    """How many documents of a query must be in order; 0 if all, or if picking them is no quicker than a sort."""
    deepest = [0 if metric.measure.of_pairs else _cutoff(metric, profile) for metric in metrics]
    small = min(deepest, default=0) > 0 and max(deepest) <= MOST_PICKED
    return max(deepest) if small and profile.ties in ("stable", "docno") else 0


def _run(
    y: Floats, scores: Floats, offsets: Ints, metrics: Sequence[Metric], profile: Profile, top: int, threads: int
) -> Values:
    """Share the blocks among threads; each has its own buffers, as long as the longest query."""
    from ordino.metrics.kernels import average_block, list_block  # numba loads on first use

    n_queries, longest = len(offsets) - 1, int(np.diff(offsets).max(initial=0))
    lists = [m for m, metric in enumerate(metrics) if not metric.measure.of_pairs]
    pairs = [m for m, metric in enumerate(metrics) if metric.measure.of_pairs]
    list_plan = _list_plan([metrics[m] for m in lists], profile, longest)
    pair_plan = _pair_plan([metrics[m] for m in pairs])
    list_values, pair_values = np.empty((len(lists), n_queries)), np.empty((len(pairs), n_queries))
    empty, tied = np.zeros(n_queries, np.bool_), np.zeros(n_queries, np.bool_)
    lengths = np.zeros(n_queries, np.int64)
    blocks = _blocks(offsets)
    threads = min(threads, max(len(blocks), 1))

    def work(worker: int) -> None:
        mine = blocks[worker::threads]
        room = max((int(offsets[last] - offsets[first]) for first, last in mine), default=0)
        ranked, best, a, b, c = (np.empty(room) for _ in range(5))
        same, packed = np.empty(room, np.bool_), np.empty(min(room, BLOCK), np.uint64)

        def rank(by: Floats, ties: str, into: Floats) -> None:
            rank_queries(y, by, offsets, first, last, ties, top, packed, into, same, tied, lengths, (a, b, c))

        for first, last in mine:
            counts = np.empty(_n_labels(y[offsets[first] : offsets[last]]), np.int64)
            if not len(counts):  # the best order is that of the labels themselves
                rank(y, "stable", best)
            rank(scores, profile.ties, ranked)
            if profile.ties == "averaged":
                n_docs, gain = offsets[last] - offsets[first], _GAINS[profile.gain]
                average_block(ranked, same, n_docs, gain, profile.relevant_from, _POWERS, a, b)
            place = (lengths, empty, offsets, first, last)
            list_block(ranked, same, *place, *list_plan, list_values, best, a, b, counts)
            if pairs:
                _pair_values(ranked, same, offsets, first, last, *pair_plan, pair_values, best, a, b, c)

    if threads == 1:
        work(0)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
    if not pairs:
        return Values(list_values, empty, tied)
    values = np.empty((len(metrics), n_queries))
    values[lists], values[pairs] = list_values, pair_values
    if isnan(profile.empty):
        values[:, empty] = np.nan
    return Values(values, empty, tied)


def _pair_values(*arguments: Any) -> None:
    """Run ``pair_block``, loaded only where a metric of pairs is asked for."""
    from ordino.metrics.pair_kernels import pair_block

    *given, middle, carry, keys_out, carry_out = arguments
    position, position_out, ahead = (np.empty(len(carry), np.int64) for _ in range(3))
    pair_block(*given, position, position_out, middle, ahead, carry, keys_out, carry_out, np.zeros(1, np.uint64))


def _list_plan(metrics: list[Metric], profile: Profile, longest: int) -> tuple[Any, ...]:
    """The arguments of ``list_block`` that say what is computed, in its order."""

    def depth(*names: str) -> int:
        """How many ranks the metrics of these names look at."""
        asked = [_cutoff(metric, profile) or longest for metric in metrics if metric.name in names]
        return min(max(asked, default=0), longest)

    gain_depth = depth("ndcg", "dcg", "meanndcg")
    return (
        np.array([_CODES[metric.name] for metric in metrics], np.int64),
        np.array([_cutoff(metric, profile) for metric in metrics], np.int64),
        np.array([_constant(metric, profile) for metric in metrics], np.float64),
        np.array([_norm(metric, profile) for metric in metrics], np.float64),
        np.array(
            [
                _GAINS[profile.gain],
                _SHORT[profile.short_precision],
                _SHORT[profile.short_ndcg],
                depth("ndcg", "meanndcg"),
                gain_depth,
                depth("p", "recall", "rbp"),
                profile.ties == "averaged",
                profile.ideal == "ones",
                profile.map_divisor == "top k",
                profile.err_chance == "label",
            ],
            np.int64,
        ),
        np.array([profile.relevant_from, profile.empty, profile.map_of_empty], np.float64),
        _POWERS,
        1.0 / _discount(np.arange(1.0, gain_depth + 1.0), profile),
    )


def _pair_plan(metrics: list[Metric]) -> tuple[Ints, Ints, Ints]:
    """The arguments of ``pair_block`` that say what is computed: codes, pairs to draw (0 takes all), seeds."""
    drawn = [dict(metric.parameters) for metric in metrics]
    return (
        np.array([_CODES[metric.name] for metric in metrics], np.int64),
        np.array([parameters.get("samples", 0) for parameters in drawn], np.int64),
        np.array([parameters.get("seed", 0) for parameters in drawn], np.int64),
    )


def _cutoff(metric: Metric, profile: Profile) -> int:
    """How many ranks a metric looks at; 0 is all."""
    return metric.k or (profile.no_cutoff if metric.name in ("ndcg", "map") else None) or 0


def _discount(ranks: Floats, profile: Profile) -> Floats:
    return np.log2(np.maximum(ranks, 2.0)) if profile.discount == "letor" else np.log2(1.0 + ranks)


def _constant(metric: Metric, profile: Profile) -> float:
    """The one number that RBP (chance to go on) or ERR (2 to the highest label) needs."""
    if metric.name == "rbp":
        return float(metric.value_of("p") or 0.0)
    return float(2.0 ** err_max(metric, profile)) if metric.name == "err" else 0.0


def _norm(metric: Metric, profile: Profile) -> float:
    """The DCG of k documents that each gain 1 (RankDE eq. 9), summed in parts so that a huge k needs no huge array."""
    if profile.ideal != "ones" or metric.name != "ndcg" or metric.k is None:
        return 0.0
    total, step = 0.0, 2**20
    for start in range(1, metric.k + 1, step):
        ranks = np.arange(start, min(start + step, metric.k + 1), dtype=np.float64)
        total += float((1.0 / _discount(ranks, profile)).sum())
    return total


def _n_labels(labels: Floats) -> int:
    """How many whole labels from 0 there may be, so that the kernels can count instead of sort; 0 if they cannot."""
    top = labels.max(initial=0.0)
    countable = labels.min(initial=0.0) >= 0 and top < _WHOLE_LABELS and (labels == np.floor(labels)).all()
    return int(top) + 1 if countable else 0


def _blocks(offsets: Ints) -> list[tuple[int, int]]:
    """Ranges of queries with about :data:`BLOCK` documents each; a longer query is a block of its own."""
    n_queries, first = len(offsets) - 1, 0
    blocks: list[tuple[int, int]] = []
    while first < n_queries:
        last = int(np.searchsorted(offsets, offsets[first] + BLOCK, side="right")) - 1
        last = min(max(last, first + 1), first + BLOCK, n_queries)
        blocks.append((first, last))
        first = last
    return blocks


def _n_threads(threads: int | None, n_docs: int) -> int:
    if threads is None:
        if n_docs < ENOUGH_FOR_THREADS:
            return 1
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ParameterError(f"threads is {threads!r}; give a whole number from 1, or None for all processors")
    return threads
