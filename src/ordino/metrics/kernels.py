"""Compiled loops that turn scores into ranked labels, and ranked labels into sums for each query; one for each sum.

Queries are worked on in blocks that share one sort: :func:`rank_block` puts the labels of every query in the order of
the scores, the sums read them. Buffers come from the caller, as long as the largest block; nothing is allocated here.
Bounds are checked before.

The first call after an installation compiles, so what compiles slowly is left out: slices, tuples, ``min``, ``max``
and ``int``, wrappers for functions that only other kernels call. What most profiles do not need is a kernel of its own.
"""

from math import inf, nan
from typing import Any

import numpy as np

from ordino.compiled import INNER, OUTER, njit

ONE, SIGN, CUT, PLACE, QUERY, PLACES = (np.uint64(number) for number in (1, 63, 28, 14, 50, 2**14 - 1))
NO_RANK = -inf  # the score of a document that was not retrieved


@njit(**INNER)
def sort_descending(keys: Any, carry: Any, first: int, last: int, keys_out: Any, carry_out: Any) -> int:
    """Sort ``keys[first:last]``, largest first and stable, ``carry`` along with them; give the number of inversions."""
    inversions = 0
    width = 1
    while width < last - first:
        for start in range(first, last, 2 * width):
            middle = start + width
            stop = middle + width if middle + width < last else last
            if middle >= stop or keys[middle - 1] >= keys[middle]:
                continue
            left = at = start
            right = middle
            while left < middle:
                take = left
                if right < stop and keys[left] < keys[right]:
                    take = right
                    right += 1
                    inversions += middle - left
                else:
                    left += 1
                keys_out[at] = keys[take]
                carry_out[at] = carry[take]
                at += 1
            for i in range(start, at):
                keys[i] = keys_out[i]
                carry[i] = carry_out[i]
        width *= 2
    return inversions


@njit(**INNER)
def sort_runs(keys: Any, carry: Any, same: Any, first: int, last: int, keys_out: Any, carry_out: Any) -> None:
    """Sort each run of documents of which ``same`` says that they belong with the one before, largest key first."""
    start = first
    while start < last:
        stop = start + 1
        while stop < last and same[stop]:
            stop += 1
        if stop - start > 1:
            sort_descending(keys, carry, start, stop, keys_out, carry_out)
        start = stop


@njit(**OUTER)
def pack_block(bits: Any, offsets: Any, first: int, last: int, backward: bool, packed: Any) -> None:
    """Pack query, score and place of each document into one integer, so that sorting integers nearly sorts the block.

    From the top: 14 bits of the query's number in the block, 36 of the score's ``bits`` (highest score first; the rest
    is cut off), 14 of the place in the block. A block has 2^14 documents and queries at most.
    """
    base = offsets[first]
    for q in range(first, last):
        start = offsets[q]
        stop = offsets[q + 1]
        for row in range(start, stop):
            score = bits[row]
            if score >> SIGN == 0:
                score = ~(score | ONE << SIGN)
            elif score == ONE << SIGN:  # -0.0, which equals 0.0
                score = ~score
            place = (start + stop - 1 - row if backward else row) - base
            packed[place] = np.uint64(q - first) << QUERY | score >> CUT << PLACE | np.uint64(place)


@njit(**OUTER)
def rank_block(
    y: Any, scores: Any, order: Any, places: Any, offsets: Any, first: int, last: int, backward: bool,
    relevant_from: float, ranked: Any, same: Any, tied: Any, lengths: Any, relevant: Any,
) -> int:  # fmt: skip
    """Put the labels of queries ``first`` to ``last`` into ``ranked``, best score first, query after query.

    ``order`` has the documents of each query in rank order, their places in the bits that ``places`` picks: what
    :func:`pack_block` made, sorted, or exact numbers. ``same[i]`` says that a document has the score of the one before
    it, ``tied[q]`` that equal scores have different labels in query ``q``, ``lengths[q]`` how many documents have a
    rank: those with score -inf have none, ``relevant[q]`` how many have a label above ``relevant_from``. A query whose
    packed scores were too coarse to order it has length -1; how many there are is what this gives.
    """
    base = offsets[first]
    unfinished = 0
    for q in range(first, last):
        start = offsets[q] - base
        stop = offsets[q + 1] - base
        rising = False
        ambiguous = False
        length = 0
        n_relevant = 0
        above = inf
        for i in range(start, stop):
            place = np.int64(order[i] & places)
            row = base + (start + stop - 1 - place if backward else place)
            score = scores[row]
            ranked[i] = y[row]
            n_relevant += y[row] > relevant_from
            same[i] = i > start and score == above
            rising = rising or score > above
            if score > NO_RANK:
                length += 1
                ambiguous = ambiguous or (same[i] and ranked[i] != ranked[i - 1])
            above = score
        tied[q] = ambiguous
        lengths[q] = -1 if rising else length
        relevant[q] = n_relevant
        unfinished += rising
    return unfinished


@njit(**OUTER)
def top_block(
    y: Any, scores: Any, offsets: Any, first: int, last: int, backward: bool, top: int, relevant_from: float,
    ranked: Any, lengths: Any, relevant: Any, heads: Any,
) -> None:  # fmt: skip
    """Put the labels of the ``top`` best documents of each query first, best score first, the others behind them.

    Enough for measures that look no further; ties are ordered as in :func:`rank_block`, but not told.
    """
    base = offsets[first]
    for q in range(first, last):
        start = offsets[q]
        stop = offsets[q + 1]
        head = start - base
        kept = 0
        length = 0
        n_relevant = 0
        for step in range(stop - start):
            row = stop - 1 - step if backward else start + step
            score = scores[row]
            at = head + step
            n_relevant += y[row] > relevant_from
            if score > NO_RANK:
                length += 1
            if kept == top and score <= heads[top - 1]:
                ranked[at] = y[row]
                continue
            if kept == top:
                ranked[at] = ranked[head + top - 1]  # the last of the best gives way
            else:
                kept += 1
            i = kept - 1
            while i > 0 and heads[i - 1] < score:
                heads[i] = heads[i - 1]
                ranked[head + i] = ranked[head + i - 1]
                i -= 1
            heads[i] = score
            ranked[head + i] = y[row]
        lengths[q] = length
        relevant[q] = n_relevant


@njit(**OUTER)
def worst_first_block(
    offsets: Any, first: int, last: int, ranked: Any, same: Any, tied: Any, keys: Any, keys_out: Any, carry_out: Any
) -> None:
    """Put the lowest label first among documents with equal scores."""
    base = offsets[first]
    for q in range(first, last):
        if tied[q]:
            for i in range(offsets[q] - base, offsets[q + 1] - base):
                keys[i] = -ranked[i]
            sort_runs(keys, ranked, same, offsets[q] - base, offsets[q + 1] - base, keys_out, carry_out)


# What follows reads ranked labels, query after query. ``offsets`` count from the start of the block, ``lengths`` says
# how many documents of a query have a rank, ``k`` how many ranks count; ``out`` gets a number a query.


@njit(**OUTER)
def average_runs(values: Any, labels: Any, same: Any, out: Any) -> None:
    """Give each document the mean value of the documents with its score."""
    i, n = 0, len(out)
    while i < n:
        j, total, uneven = i, 0.0, 0
        while j == i or (j < n and same[j]):
            total += values[j]
            uneven += labels[j] != labels[i]
            j += 1
        for r in range(i, j):
            out[r] = total / (j - i) if uneven > 0 else values[r]
        i = j


@njit(**INNER)
def worth(value: float, table: Any) -> float:
    """The value itself, or what stands at this place in the table if it has entries."""
    return table[np.int64(value)] if len(table) > 0 else value


@njit(**OUTER)
def weighted_sums(values: Any, table: Any, offsets: Any, lengths: Any, k: int, weights: Any, out: Any) -> None:
    """Sum what each query's documents are worth, each times the weight of its rank."""
    for q in range(len(out)):
        depth = lengths[q] if lengths[q] < k else k
        total = 0.0
        for i in range(depth):
            total += worth(values[offsets[q] + i], table) * weights[i]
        out[q] = total


@njit(**OUTER)
def best_labels(labels: Any, offsets: Any, k: int, counts: Any, out: Any) -> None:
    """The k highest labels of each query, highest first: whole numbers below ``len(counts)``, which are counted."""
    for q in range(len(offsets) - 1):
        start, stop = offsets[q], offsets[q + 1]
        for whole in range(len(counts)):
            counts[whole] = 0
        for i in range(start, stop):
            counts[np.int64(labels[i])] += 1
        whole = len(counts) - 1
        for i in range(start, stop if stop - start < k else start + k):
            while counts[whole] == 0:
                whole -= 1
            counts[whole] -= 1
            out[i] = whole


@njit(**OUTER)
def mean_shares(
    values: Any, table: Any, best: Any, best_table: Any, offsets: Any, lengths: Any, weights: Any, out: Any
) -> None:
    """The sum over ranks of the weighted sum so far as a share of the best possible one; NaN if that is 0."""
    for q in range(len(out)):
        total = ideal = shares = 0.0
        for i in range(lengths[q]):
            ideal += worth(best[offsets[q] + i], best_table) * weights[i]
            total += worth(values[offsets[q] + i], table) * weights[i]
            shares += total / ideal if ideal > 0.0 else 0.0
        has_gain = offsets[q] < offsets[q + 1] and worth(best[offsets[q]], best_table) > 0.0
        out[q] = shares if has_gain else nan


@njit(**OUTER)
def precision_sums(
    labels: Any, same: Any, offsets: Any, lengths: Any, k: int, relevant_from: float, grouped: bool, out: Any
) -> None:
    """Sum of the precisions at the relevant documents; if ``grouped``, equal scores all stand at their last rank."""
    for q in range(len(out)):
        depth = lengths[q] if lengths[q] < k else k
        hits = found = 0
        total = 0.0
        for i in range(depth):
            found += labels[offsets[q] + i] > relevant_from
            if not grouped or i + 1 == depth or not same[offsets[q] + i + 1]:
                hits += found
                total += found * hits / (i + 1)
                found = 0
        out[q] = total


@njit(**OUTER)
def first_hits(labels: Any, offsets: Any, lengths: Any, k: int, relevant_from: float, out: Any) -> None:
    """The rank of the first relevant document; infinity if there is none."""
    for q in range(len(out)):
        depth = lengths[q] if lengths[q] < k else k
        out[q] = inf
        for i in range(depth):
            if labels[offsets[q] + i] > relevant_from:
                out[q] = i + 1
                break


@njit(**OUTER)
def expected_reciprocals(chances: Any, table: Any, offsets: Any, lengths: Any, k: int, out: Any) -> None:
    """The expected reciprocal rank at which a reader stops who stops at each document with a chance."""
    for q in range(len(out)):
        depth = lengths[q] if lengths[q] < k else k
        reader, value = 1.0, 0.0
        for i in range(depth):
            chance = worth(chances[offsets[q] + i], table)
            value += reader * chance / (i + 1)
            reader *= 1.0 - chance
        out[q] = value
