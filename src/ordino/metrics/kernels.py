"""Compiled loops that turn scores into ranked labels, and ranked labels into one value for each query and measure.

Queries are worked on in blocks, in steps that share one sort: :func:`rank_block` puts the labels of every query in
the order of the scores, :func:`list_block` (and ``pair_kernels.pair_block``) reads them. Buffers come from the caller,
one set for each thread, as long as the largest block; nothing is allocated here. Bounds are checked before.

The first call after an installation compiles, so what compiles slowly is left out: slices, tuples, wrappers for
functions that only other kernels call. What most profiles do not need is a kernel of its own
(:func:`worst_first_block`).
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ordino.compiled import njit

WHOLE_LABELS = 64  # the gain of whole labels below this is looked up, and their best order is counted, not sorted

PRECISION, RECALL, MAP, NDCG, DCG, MEAN_NDCG, RECIPROCAL_RANK, ERR, RBP, HIT = range(10)
EXPONENTIAL, WHOLE, LINEAR, BINARY = range(4)
BY_K, BY_LENGTH, ZERO = range(3)
ONE, SIGN, CUT, PLACE, QUERY, PLACES = (np.uint64(number) for number in (1, 63, 28, 14, 50, 2**14 - 1))
NO_RANK = -inf  # the score of a document that was not retrieved

INNER: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
OUTER: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


@njit(**INNER)
def sort_descending(keys: Any, carry: Any, first: int, last: int, keys_out: Any, carry_out: Any) -> int:
    """Sort ``keys[first:last]``, largest first and stable, ``carry`` along with them; give the number of inversions."""
    inversions = 0
    width = 1
    while width < last - first:
        for start in range(first, last, 2 * width):
            middle = min(start + width, last)
            stop = min(start + 2 * width, last)
            if middle == stop or keys[middle - 1] >= keys[middle]:
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
    ranked: Any, same: Any, tied: Any, lengths: Any,
) -> int:  # fmt: skip
    """Put the labels of queries ``first`` to ``last`` into ``ranked``, best score first, query after query.

    ``order`` has the documents of each query in rank order, their places in the bits that ``places`` picks: what
    :func:`pack_block` made, sorted, or exact numbers. ``same[i]`` says that a document has the score of the one before
    it, ``tied[q]`` that equal scores have different labels in query ``q``, ``lengths[q]`` how many documents have a
    rank: those with score -inf have none. A query whose packed scores were too coarse to order it has length -1; how
    many there are is what this gives.
    """
    base = offsets[first]
    unfinished = 0
    for q in range(first, last):
        start = offsets[q] - base
        stop = offsets[q + 1] - base
        rising = False
        ambiguous = False
        length = 0
        above = inf
        for i in range(start, stop):
            place = np.int64(order[i] & places)
            row = base + (start + stop - 1 - place if backward else place)
            score = scores[row]
            ranked[i] = y[row]
            same[i] = i > start and score == above
            rising = rising or score > above
            if score > NO_RANK:
                length += 1
                ambiguous = ambiguous or (same[i] and ranked[i] != ranked[i - 1])
            above = score
        tied[q] = ambiguous
        lengths[q] = -1 if rising else length
        unfinished += rising
    return unfinished


@njit(**OUTER)
def top_block(
    y: Any, scores: Any, offsets: Any, first: int, last: int, backward: bool, top: int,
    ranked: Any, lengths: Any, heads: Any,
) -> None:  # fmt: skip
    """Put the labels of the ``top`` best documents of each query first, best score first, the others behind them.

    Enough for measures that look no further; ties are ordered as in :func:`rank_block`, but not told.
    """
    base = offsets[first]
    for q in range(first, last):
        start = offsets[q]
        stop = offsets[q + 1]
        kept = 0
        length = 0
        for step in range(stop - start):
            row = stop - 1 - step if backward else start + step
            score = scores[row]
            at = start - base + step
            if score > NO_RANK:
                length += 1
            if kept == top and score <= heads[top - 1]:
                ranked[at] = y[row]
                continue
            if kept == top:
                ranked[at] = ranked[start - base + top - 1]  # the last of the best gives way
            else:
                kept += 1
            i = kept - 1
            while i > 0 and heads[i - 1] < score:
                heads[i] = heads[i - 1]
                ranked[start - base + i] = ranked[start - base + i - 1]
                i -= 1
            heads[i] = score
            ranked[start - base + i] = y[row]
        lengths[q] = length


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


@njit(**INNER)
def gain_of(label: float, kind: int, relevant_from: float, powers: Any) -> float:
    """What a document with this label is worth at rank 1."""
    gain = label
    if kind == BINARY:
        gain = 1.0 if label > relevant_from else 0.0
    elif kind != LINEAR:
        whole = int(label)
        if whole < WHOLE_LABELS and (kind == WHOLE or whole == label):
            gain = powers[whole]
        else:
            gain = 2.0 ** (float(whole) if kind == WHOLE else label) - 1.0
    return gain


@njit(**INNER)
def count_best(ranked: Any, start: int, stop: int, depth: int, best: Any, counts: Any) -> None:
    """Put the ``depth`` highest labels into ``best[start:]``, highest first; all are whole and below len(counts)."""
    for whole in range(len(counts)):
        counts[whole] = 0
    for i in range(start, stop):
        counts[int(ranked[i])] += 1
    at = start
    whole = len(counts) - 1
    while at < start + depth:
        if counts[whole] > 0:
            counts[whole] -= 1
            best[at] = whole
            at += 1
        else:
            whole -= 1


@njit(**OUTER)
def average_block(
    ranked: Any, same: Any, n_docs: int, kind: int, relevant_from: float, powers: Any, gains: Any, flags: Any
) -> None:  # fmt: skip
    """Give each document the mean gain and the mean relevance of the documents with its score."""
    i = 0
    while i < n_docs:
        j, gain, flag, uneven = i, 0.0, 0.0, False
        while j == i or (j < n_docs and same[j]):
            gain += gain_of(ranked[j], kind, relevant_from, powers)
            flag += ranked[j] > relevant_from
            uneven = uneven or ranked[j] != ranked[i]
            j += 1
        for r in range(i, j):
            gains[r] = gain / (j - i) if uneven else gain_of(ranked[r], kind, relevant_from, powers)
            flags[r] = flag / (j - i)
        i = j


@njit(**INNER)
def sum_of_precisions(ranked: Any, same: Any, start: int, depth: int, relevant_from: float, grouped: bool) -> float:
    """Sum of the precisions at the relevant documents; if ``grouped``, equal scores all stand at their last rank."""
    hits = found = 0
    total = 0.0
    for i in range(depth):
        found += ranked[start + i] > relevant_from
        if not grouped or i + 1 == depth or not same[start + i + 1]:
            hits += found
            total += found * hits / (i + 1)
            found = 0
    return total


@njit(**OUTER)
def list_block(
    ranked: Any, same: Any, lengths: Any, empty: Any, offsets: Any, first: int, last: int,
    codes: Any, cutoffs: Any, constants: Any, norms: Any, choices: Any, values: Any, powers: Any, discounts: Any,
    out: Any, best: Any, gains: Any, flags: Any, counts: Any,
) -> None:  # fmt: skip
    """Write the value of every measure for queries ``first`` to ``last`` into ``out[measure, query]``.

    ``codes``, ``cutoffs`` (0 counts all ranks), ``constants`` and ``norms`` say what each measure is; ``choices`` and
    ``values`` are the profile, in the order in which they are read below. ``best`` holds the labels of each query,
    highest first; it is filled here if they can be counted. So are ``gains`` and ``flags``, unless ties are averaged:
    then they are what :func:`average_block` made.
    """
    gain = choices[0]
    short_precision = choices[1]
    short_ndcg = choices[2]
    ndcg_depth = choices[3]
    gain_depth = choices[4]
    flag_depth = choices[5]
    averaged = choices[6] > 0
    ideal_ones = choices[7] > 0
    top_k_map = choices[8] > 0
    label_stops = choices[9] > 0
    relevant_from = values[0]
    empty_value = values[1]
    empty_map = values[2]
    counted = len(counts) > 0
    base = offsets[first]
    for q in range(first, last):
        start = offsets[q] - base
        stop = offsets[q + 1] - base
        n = stop - start
        length = lengths[q]
        n_relevant = 0
        for i in range(n):
            n_relevant += 1 if ranked[start + i] > relevant_from else 0
        if not averaged:
            for i in range(start, start + min(n, gain_depth)):
                gains[i] = gain_of(ranked[i], gain, relevant_from, powers)
            for i in range(start, start + min(n, flag_depth)):
                flags[i] = 1.0 if ranked[i] > relevant_from else 0.0
        empty[q] = n_relevant == 0
        left_out = n_relevant == 0 and empty_value != empty_value
        if ndcg_depth > 0:
            if counted:
                count_best(ranked, start, stop, min(n, ndcg_depth), best, counts)
            for i in range(start, start + min(n, ndcg_depth)):
                best[i] = 1.0 if ideal_ones else gain_of(best[i], gain, relevant_from, powers)

        for m in range(len(codes)):
            code = codes[m]
            k = cutoffs[m]
            depth = min(length, k) if k > 0 else length
            best_depth = min(n, k) if k > 0 else n
            value = 0.0
            if left_out:
                value = empty_value
            elif NDCG <= code <= MEAN_NDCG:  # DCG among them; comparing with a tuple would compile slowly
                dcg = ideal = 0.0
                for i in range(best_depth):
                    if code != DCG:
                        ideal += best[start + i] * discounts[i]
                    if i < depth:
                        dcg += gains[start + i] * discounts[i]
                        if code == MEAN_NDCG and ideal > 0.0:
                            value += dcg / ideal
                if ideal_ones and k > 0:
                    ideal = norms[m]
                share = dcg / ideal if code == NDCG else value / max(depth, 1)
                value = share if ideal > 0.0 else empty_value
                if short_ndcg == ZERO and k > length:
                    value = 0.0
                if code == DCG:
                    value = dcg
            elif code == MAP:
                value = empty_map
                if n_relevant > 0:
                    value = sum_of_precisions(ranked, same, start, depth, relevant_from, averaged)
                    value /= min(n_relevant, best_depth) if top_k_map else n_relevant
            elif code <= RECALL:
                for i in range(depth):
                    value += flags[start + i]
                if code == RECALL:
                    value = value / n_relevant if n_relevant > 0 else empty_value
                elif short_precision == ZERO and k > length:
                    value = 0.0
                else:
                    value /= k if short_precision == BY_K else max(depth, 1)
            elif code == RBP:
                weight = 1.0 - constants[m]
                for i in range(depth):
                    value += weight * flags[start + i]
                    weight *= constants[m]
            elif code == ERR:
                reader = 1.0
                kind = EXPONENTIAL if gain == LINEAR else gain
                for i in range(depth):
                    stops = ranked[start + i]
                    if not label_stops:
                        stops = gain_of(stops, kind, relevant_from, powers) / constants[m]
                    value += reader * stops / (i + 1)
                    reader *= 1.0 - stops
            else:  # reciprocal rank and hit stop at the first relevant document
                for i in range(depth):
                    if ranked[start + i] > relevant_from:
                        value = 1.0 / (i + 1) if code == RECIPROCAL_RANK else 1.0
                        break
            out[m, q] = value
