"""From labels and scores to one value for each query and metric: blocks of queries, threads, kernels.

Queries are independent, so any number of threads gives the same values. A block has about :data:`BLOCK` documents: its
ranked labels stay in the cache between the kernels that read them, and memory does not grow with the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import query_blocks
from ordino.checks import check_int
from ordino.metrics.block import Block
from ordino.metrics.checks import Floats, Ints, as_column, as_offsets, check_scores, docno_order, usable_labels
from ordino.metrics.formulas import cutoff
from ordino.metrics.metric import Metric
from ordino.metrics.profiles import Profile, find_profile
from ordino.metrics.ranking import BLOCK, rank_queries
from ordino.threads import count_threads, run_blocks

MOST_PICKED = 32  # documents up to which picking the best of a query is quicker than sorting it
ENOUGH_FOR_THREADS = 65536  # documents below which threads cost more than they bring
WHOLE_LABELS = 64  # labels that are whole numbers below this are counted and looked up


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
    if threads is None:
        threads = 1 if len(labels) < ENOUGH_FOR_THREADS else count_threads(None)
    top = 0 if find_ties else _top(metrics, style)
    return _run(labels, order_by, bounds, metrics, style, top, check_int("threads", threads, low=1))


def _single_precision(scores: Floats) -> Floats:
    """Scores rounded to float32; what is too low for it stays above -inf, which would mean no rank."""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    single[(single == -np.inf) & (scores > -np.inf)] = np.finfo(np.float32).min
    return single.astype(np.float64)


def _top(metrics: Sequence[Metric], profile: Profile) -> int:
    """How many documents of a query must be in order; 0 if all, or if picking them is no quicker than a sort."""
    deepest = [cutoff(metric, profile) for metric in metrics]
    small = min(deepest, default=0) > 0 and max(deepest) <= MOST_PICKED
    return max(deepest) if small and profile.ties in ("stable", "docno") else 0


def _run(
    y: Floats, scores: Floats, offsets: Ints, metrics: Sequence[Metric], profile: Profile, top: int, threads: int
) -> Values:
    """Share the blocks among threads; each has its own buffers, as long as its longest block."""
    n_queries = len(offsets) - 1
    values, tied = np.empty((len(metrics), n_queries)), np.zeros(n_queries, np.bool_)
    lengths, relevant = np.zeros(n_queries, np.int64), np.zeros(n_queries, np.int64)
    blocks = query_blocks(offsets, BLOCK)
    threads = min(threads, max(len(blocks), 1))

    def work(worker: int) -> None:
        mine = blocks[worker::threads]
        room = max((int(offsets[last] - offsets[first]) for first, last in mine), default=0)
        ranked, *spare = (np.empty(room) for _ in range(4))
        same, packed = np.empty(room, np.bool_), np.empty(min(room, BLOCK), np.uint64)

        def rank(by: Floats, ties: str, into: Floats, first: int, last: int) -> Floats:
            rank_queries(y, by, offsets, first, last, ties, top, packed, into, same, tied, lengths, spare)
            return into[: offsets[last] - offsets[first]]

        for first, last in mine:
            n_labels = _n_labels(y[offsets[first] : offsets[last]])
            # the best order is that of the labels themselves
            best = None if n_labels else rank(y, "stable", np.empty(room), first, last)
            labels = rank(scores, profile.ties, ranked, first, last)
            places = offsets[first : last + 1] - offsets[first]
            relevant[first:last] = count_relevant(labels, places, profile.relevant_from)
            block = Block(
                profile, labels, same[: len(labels)], places, lengths[first:last], relevant[first:last],
                n_labels, best, spare,
            )  # fmt: skip
            for m, metric in enumerate(metrics):
                values[m, first:last] = metric.measure.formula(block, metric)

    run_blocks(work, range(threads), threads)
    empty = relevant == 0
    if isnan(profile.empty):
        values[:, empty] = np.nan
    return Values(values, empty, tied)


def count_relevant(y: Floats, offsets: Ints, relevant_from: float) -> Ints:
    """How many documents of each query have a label above ``relevant_from``."""
    counts, has_rows = np.zeros(len(offsets) - 1, np.int64), offsets[:-1] < offsets[1:]
    if has_rows.any():
        counts[has_rows] = np.add.reduceat(y > relevant_from, offsets[:-1][has_rows], dtype=np.int64)
    return counts


def _n_labels(labels: Floats) -> int:
    """How many whole labels from 0 there may be, so that the kernels can count instead of sort; 0 if they cannot."""
    top = labels.max(initial=0.0)
    countable = labels.min(initial=0.0) >= 0 and top < WHOLE_LABELS and (labels == np.floor(labels)).all()
    return int(top) + 1 if countable else 0
