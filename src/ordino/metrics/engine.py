"""From labels and scores to one value for each query and metric: checks, then blocks of queries on threads.

Queries are independent, so any number of threads gives the same values. A block has about :data:`BLOCK` documents: its
ranked labels stay in the cache between the kernels that read them, and memory does not grow with the data.

A block is ranked by a sort of integers. Query, score and place of a document are packed into one integer, with the
score cut to 36 bits; numpy sorts integers several at a time. What the cut leaves in the wrong order is found while the
labels are read, and only such a query, or one too long to be packed, is sorted by its scores themselves. Where no
measure looks past a few ranks and nobody asks for ties, the best few documents are picked instead.
"""

from collections.abc import Sequence
from math import isfinite, isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import Array, Floats, Ints, check_offsets, query_blocks, query_numbers
from ordino.errors import DataError
from ordino.metrics.block import Block
from ordino.metrics.formulas import cutoff, err_max
from ordino.metrics.metric import Metric
from ordino.metrics.profiles import Profile, find_profile
from ordino.threads import count_threads, run_blocks

BLOCK = 2**14  # documents, and queries, in a block; the kernels count with as many
MOST_PICKED = 32  # documents up to which picking the best of a query is quicker than sorting it
ENOUGH_FOR_THREADS = 65536  # documents below which threads cost more than they bring
WHOLE_LABELS = 64  # labels that are whole numbers below this are counted and looked up
LARGEST_LABEL = 1000  # 2^label must stay far from overflow
_EVERY_BIT = np.uint64(2**64 - 1)


class Values(NamedTuple):
    """What was measured, query by query."""

    values: Floats  # (n_metrics, n_queries), NaN where a query is left out
    empty: NDArray[np.bool_]  # (n_queries,): no relevant document
    tied: NDArray[np.bool_]  # (n_queries,): equal scores, different labels


def values_of(
    y: ArrayLike, scores: ArrayLike, offsets: ArrayLike, metrics: Sequence[Metric], *,
    profile: str | Profile = "standard", doc_ids: ArrayLike | None = None, find_ties: bool = True,
    n_jobs: int | None = None,
) -> Values:  # fmt: skip
    """Measure every query with every metric; one sort of a query serves all metrics.

    The arguments are those of :func:`ordino.metrics.measure`. Without ``find_ties``, ``tied`` is False throughout, and
    metrics with small cutoffs need no sort, which is quicker.

    Examples
    --------
    >>> from ordino.metrics import parse_metric
    >>> values_of([1, 0], [2.0, 1.0], [0, 2], [parse_metric("map"), parse_metric("p@2")]).values.tolist()
    [[1.0], [0.5]]
    """
    style = find_profile(profile)
    labels, order_by = _as_column("y", y), _as_column("scores", scores)
    _check_scores(order_by, len(labels))
    bounds = _writable(check_offsets(offsets, len(labels)))
    labels, n_labels = _usable_labels(labels, metrics, style)
    if style.scores == "float32":
        order_by = _single_precision(order_by)
    if style.ties == "docno" and doc_ids is not None:
        rows = docno_order(doc_ids, bounds)
        labels, order_by = labels[rows], order_by[rows]
    n_threads = count_threads(n_jobs, enough=len(labels) >= ENOUGH_FOR_THREADS)
    top = 0 if find_ties else _top(metrics, style)
    return _run(labels, n_labels, order_by, bounds, metrics, style, top, n_threads)


def _as_column(name: str, values: ArrayLike) -> Floats:
    """One number for each document, as contiguous float64."""
    try:
        column = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be read as numbers ({error})") from None
    if column.ndim != 1:
        raise DataError(f"{name} has shape {column.shape}; give one number for each document")
    return _writable(np.ascontiguousarray(column))


def _writable(array: Array) -> Array:
    """The array, or a copy if it is read-only, for which the kernels would be compiled once more."""
    return array if array.flags.writeable else array.copy()


def _check_scores(scores: Floats, n_docs: int) -> None:
    """Refuse scores that do not make an order of the documents."""
    if len(scores) != n_docs:
        raise DataError(f"scores has {len(scores)} entries but y has {n_docs}; give one score for each document")
    if n_docs and isnan(scores.min()):
        row = int(np.flatnonzero(np.isnan(scores))[0])
        raise DataError(f"scores has NaN in row {row}, which cannot be ranked; give every document a number")


def _usable_labels(y: Floats, metrics: Sequence[Metric], profile: Profile) -> tuple[Floats, int]:
    """Labels that the metrics can use in this profile, or the reason why they cannot.

    Also tells how many whole labels from 0 there may be, if they are few enough to be counted; else 0.
    """
    if not len(y):
        return y, 0
    low, high = float(y.min()), float(y.max())
    if not (isfinite(low) and isfinite(high)):
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise DataError(f"y has {y[row]} in row {row}; every label must be a finite number")
    for metric in metrics if profile.gain != "binary" else ():
        if metric.measure.uses_gain and low < 0 and profile.negative == "refuse":
            raise _refused(y, low, f"{metric} in profile {profile.name!r} needs labels from 0; shift the labels")
        if metric.name == "err":
            _check_err(y, high, metric, profile)
        elif metric.measure.uses_gain and profile.gain != "linear" and high > LARGEST_LABEL:
            hint = "use smaller labels, or a profile with linear gain such as 'sklearn'"
            raise _refused(y, high, f"{metric} needs its gain, and 2^{high:g} is too large for a float; {hint}")
    if low < 0 and profile.negative == "zero" and profile.gain != "binary":
        y, low, high = np.maximum(y, 0.0), 0.0, max(high, 0.0)
    return y, int(high) + 1 if low >= 0 and high < WHOLE_LABELS else 0


def _check_err(y: Floats, high: float, metric: Metric, profile: Profile) -> None:
    most = 1.0 if profile.err_chance == "label" else err_max(metric, profile)
    if high > most:
        hint = "divide the labels" if profile.err_chance == "label" else f"write it as 'err(max={np.ceil(high):g})'"
        raise _refused(y, high, f"{metric} in profile {profile.name!r} takes labels up to {most:g}; {hint}")


def _refused(y: Floats, label: float, why: str) -> DataError:
    return DataError(f"y has {label:g} in row {int(np.flatnonzero(y == label)[0])}, but {why}")


def docno_order(doc_ids: ArrayLike, offsets: Ints) -> NDArray[np.intp]:
    """Rows of each query by ascending document id, as text; the kernel reads them backward."""
    names = np.asarray(doc_ids)
    if names.shape != (offsets[-1],):
        raise DataError(
            f"doc_ids has shape {names.shape} but y has {offsets[-1]} entries; give one id for each document"
        )
    return np.lexsort((names.astype(str), query_numbers(offsets)))


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
    y: Floats, n_labels: int, scores: Floats, offsets: Ints, metrics: Sequence[Metric], profile: Profile, top: int,
    threads: int,
) -> Values:  # fmt: skip
    """Share the blocks among threads; each has its own buffers, as long as its longest block."""
    n_queries, longest = len(offsets) - 1, int((offsets[1:] - offsets[:-1]).max(initial=0))
    values, tied = np.empty((len(metrics), n_queries)), np.zeros(n_queries, np.bool_)
    lengths, relevant = np.zeros(n_queries, np.int64), np.zeros(n_queries, np.int64)
    blocks, by_gain = query_blocks(offsets, BLOCK), any(metric.measure.uses_gain for metric in metrics)
    threads = min(threads, max(len(blocks), 1))

    def work(worker: int) -> None:
        mine = blocks[worker::threads]
        room = max((int(offsets[last] - offsets[first]) for first, last in mine), default=0)
        ranked, *spare = (np.empty(room) for _ in range(9))
        same, packed = np.empty(room, np.bool_), np.empty(min(room, BLOCK), np.uint64)

        def rank(by: Floats, ties: str, into: Floats, first: int, last: int) -> Floats:
            _rank_queries(
                y, by, offsets, first, last, ties, top, profile.relevant_from, packed, into, same,
                (tied, lengths, relevant), spare,
            )  # fmt: skip
            return into[: offsets[last] - offsets[first]]

        for first, last in mine:
            given = y[offsets[first] : offsets[last]]
            counted = by_gain and n_labels > 0 and bool((given == np.floor(given)).all())
            # the best order is that of the labels themselves
            best = rank(y, "stable", np.empty(room), first, last) if by_gain and not counted else None
            labels = rank(scores, profile.ties, ranked, first, last)
            block = Block(
                profile, labels, same[: len(labels)], offsets[first : last + 1] - offsets[first], longest,
                lengths[first:last], relevant[first:last], n_labels if counted else 0, best, spare,
            )  # fmt: skip
            for m, metric in enumerate(metrics):
                values[m, first:last] = metric.measure.formula(block, metric)

    run_blocks(work, range(threads), threads)
    empty = relevant == 0
    if isnan(profile.empty):
        values[:, empty] = np.nan
    return Values(values, empty, tied)


def _rank_queries(
    y: Floats, scores: Floats, offsets: Ints, first: int, last: int, ties: str, top: int, relevant_from: float,
    packed: NDArray[np.uint64], ranked: Floats, same: NDArray[np.bool_],
    of_queries: tuple[NDArray[np.bool_], Ints, Ints], room: Sequence[Floats],
) -> None:  # fmt: skip
    """Fill ``ranked``, ``same`` and ``of_queries``: tied, lengths and relevant, as ``kernels.rank_block`` says.

    If ``top`` is not 0, only this many documents of each query are ordered, and ``same`` and ``tied`` stay as they are.
    ``packed`` and ``room`` are buffers for at least as many documents as the block has, ``packed`` for no more than
    :data:`BLOCK`.
    """
    from ordino.metrics.kernels import PLACES, pack_block, rank_block, top_block, worst_first_block  # numba loads here

    base, n_docs, backward = offsets[first], offsets[last] - offsets[first], ties == "docno"
    tied, lengths, relevant = of_queries
    if top:
        top_block(y, scores, offsets, first, last, backward, top, relevant_from, ranked, lengths, relevant, room[0])
        return
    if n_docs > BLOCK:  # one long query
        lengths[first], unordered = -1, 1
    else:
        keys = packed[:n_docs]
        pack_block(scores.view(np.uint64), offsets, first, last, backward, keys)
        keys.sort()
        unordered = rank_block(
            y, scores, keys, PLACES, offsets, first, last, backward, relevant_from, ranked, same, *of_queries
        )
    for q in first + np.flatnonzero(lengths[first:last] < 0) if unordered else ():
        own = scores[offsets[q] : offsets[q + 1]]
        order = np.argsort(-own[::-1] if backward else -own, kind="stable").view(np.uint64)
        place = offsets[q] - base
        rank_block(
            y, scores, order, _EVERY_BIT, offsets, q, q + 1, backward, relevant_from, ranked[place:], same[place:],
            *of_queries,
        )  # fmt: skip
    if ties in ("pessimistic", "averaged") and tied[first:last].any():
        worst_first_block(offsets, first, last, ranked, same, tied, *room[:3])
