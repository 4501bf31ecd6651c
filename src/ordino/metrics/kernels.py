"""Compiled loops that turn scores into ranked labels, and ranked labels into one value for each query and measure.

Queries are worked on in blocks, in two steps that share one sort: :func:`rank_block` puts the labels of every query in
the order of the scores, :func:`list_block` (and ``pair_kernels.pair_block``) reads them. Buffers come from the caller,
one set for each thread, as long as the longest query; nothing is allocated here. Bounds are checked before.
"""

from __future__ import annotations

from typing import Any

from numba import njit

RUN = 12  # shorter runs are sorted by insertion, longer ones by merging
WHOLE_LABELS = 64  # whole labels below this are counted, not sorted, and their gain is looked up

PRECISION, RECALL, AVERAGE_PRECISION, NDCG, DCG, MEAN_NDCG, RECIPROCAL_RANK, ERR, RBP, HIT = range(10)
EXPONENTIAL, WHOLE, LINEAR, BINARY = range(4)
BY_K, BY_LENGTH, ZERO = range(3)


@njit(cache=True, nogil=True)
def sort_descending(keys: Any, carry: Any, n: int, keys_out: Any, carry_out: Any) -> int:
    """Sort the first ``n`` keys, largest first and stable, ``carry`` along with them; give the number of inversions."""
    inversions = 0
    for start in range(0, n, RUN):
        for i in range(start + 1, min(start + RUN, n)):
            key, value = keys[i], carry[i]
            j = i
            while j > start and keys[j - 1] < key:
                keys[j], carry[j] = keys[j - 1], carry[j - 1]
                j -= 1
            keys[j], carry[j] = key, value
            inversions += i - j
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            if middle == stop or keys[middle - 1] >= keys[middle]:
                continue
            left, right, at = start, middle, start
            while left < middle and right < stop:
                if keys[left] >= keys[right]:
                    keys_out[at], carry_out[at] = keys[left], carry[left]
                    left += 1
                else:
                    keys_out[at], carry_out[at] = keys[right], carry[right]
                    inversions += middle - left
                    right += 1
                at += 1
            while left < middle:
                keys_out[at], carry_out[at] = keys[left], carry[left]
                left += 1
                at += 1
            for i in range(start, at):
                keys[i], carry[i] = keys_out[i], carry_out[i]
        width *= 2
    return inversions


@njit(cache=True, nogil=True)
def rank_block(
    y: Any, scores: Any, offsets: Any, first: int, last: int, backward: bool, worst_first: bool,
    ranked: Any, same: Any, tied: Any, keys: Any, keys_out: Any, carry_out: Any,
) -> None:  # fmt: skip
    """Put the labels of queries ``first`` to ``last`` into ``ranked``, best score first.

    ``same[i]`` says that a document has the score of the one before it, ``tied[q]`` that equal scores have different
    labels in query ``q``. Equal scores keep the row order, the opposite one (``backward``), or the lowest label first.
    """
    base = offsets[first]
    for q in range(first, last):
        start, stop = offsets[q], offsets[q + 1]
        n = stop - start
        labels, equal = ranked[start - base : stop - base], same[start - base : stop - base]
        for i in range(n):
            row = stop - 1 - i if backward else start + i
            keys[i] = scores[row]
            labels[i] = y[row]
        sort_descending(keys, labels, n, keys_out, carry_out)
        ambiguous = False
        for i in range(n):
            equal[i] = i > 0 and keys[i] == keys[i - 1]
            if equal[i] and labels[i] != labels[i - 1]:
                ambiguous = True
        tied[q] = ambiguous
        if ambiguous and worst_first:
            sort_runs(labels, equal, n, -1.0, keys, keys_out, carry_out)


@njit(cache=True, nogil=True)
def sort_runs(labels: Any, equal: Any, n: int, sign: float, keys: Any, keys_out: Any, carry_out: Any) -> None:
    """Sort the labels inside each run of equal scores: highest first for ``sign`` 1, lowest first for -1."""
    i = 0
    while i < n:
        j = i + 1
        while j < n and equal[j]:
            j += 1
        if j - i > 1:
            for r in range(i, j):
                keys[r] = sign * labels[r]
            sort_descending(keys[i:j], labels[i:j], j - i, keys_out, carry_out)
        i = j


@njit(cache=True, nogil=True)
def gain_of(label: float, kind: int, relevant_from: float, powers: Any) -> float:
    """What a document with this label is worth at rank 1."""
    if kind == LINEAR:
        return label
    if kind == BINARY:
        return 1.0 if label > relevant_from else 0.0
    whole = int(label)
    if whole < WHOLE_LABELS and (kind == WHOLE or whole == label):
        return float(powers[whole])
    return 2.0 ** (float(whole) if kind == WHOLE else label) - 1.0


@njit(cache=True, nogil=True)
def fill_best(
    labels: Any, n: int, depth: int, best: Any, counts: Any, keys_out: Any, carry: Any, carry_out: Any
) -> None:
    """Put the ``depth`` highest labels into ``best``, highest first: counted if all are small whole numbers."""
    counts[:] = 0
    small = True
    for i in range(n):
        whole = int(labels[i]) if labels[i] < WHOLE_LABELS else -1
        if whole < 0 or whole != labels[i]:
            small = False
            break
        counts[whole] += 1
    if small:
        at = 0
        for whole in range(WHOLE_LABELS - 1, -1, -1):
            for _ in range(min(counts[whole], depth - at)):
                best[at] = whole
                at += 1
    else:
        best[:n] = labels[:n]
        sort_descending(best, carry, n, keys_out, carry_out)


@njit(cache=True, nogil=True)
def average_runs(values: Any, equal: Any, n: int) -> None:
    """Give every document of a run of equal scores the mean of the run."""
    i = 0
    while i < n:
        j = i + 1
        total, uneven = values[i], False
        while j < n and equal[j]:
            total += values[j]
            uneven = uneven or values[j] != values[i]
            j += 1
        if uneven:
            values[i:j] = total / (j - i)
        i = j


@njit(cache=True, nogil=True)
def average_precision(labels: Any, equal: Any, n: int, depth: int, relevant_from: float, grouped: bool) -> float:
    """Sum of the precisions at the relevant documents; if ``grouped``, equal scores all stand at their last rank."""
    hits, total = 0, 0.0
    if not grouped:
        for i in range(depth):
            if labels[i] > relevant_from:
                hits += 1
                total += hits / (i + 1)
        return total
    i = 0
    while i < n:
        j, found = i, 0
        while j == i or (j < n and equal[j]):
            found += labels[j] > relevant_from
            j += 1
        hits += found
        if j <= depth:
            total += found * hits / j
        i = j
    return total


@njit(cache=True, nogil=True)
def list_block(
    ranked: Any, same: Any, tied: Any, empty: Any, offsets: Any, first: int, last: int,
    codes: Any, cutoffs: Any, constants: Any, norms: Any, gain: int, relevant_from: float, averaged: bool,
    empty_value: float, empty_ap: float, short_precision: int, short_ndcg: int, ideal_ones: bool, top_k_ap: bool,
    label_stops: bool, powers: Any, discounts: Any, ndcg_depth: int, gain_depth: int, out: Any,
    gains: Any, flags: Any, best: Any, counts: Any, keys_out: Any, carry: Any, carry_out: Any,
) -> None:  # fmt: skip
    """Write the value of every measure for queries ``first`` to ``last`` into ``out[measure, query]``."""
    base = offsets[first]
    for q in range(first, last):
        start, stop = offsets[q], offsets[q + 1]
        n = stop - start
        labels, equal = ranked[start - base : stop - base], same[start - base : stop - base]
        n_relevant = 0
        for i in range(n):
            flags[i] = labels[i] > relevant_from
            n_relevant += labels[i] > relevant_from
        empty[q] = n_relevant == 0
        if n_relevant == 0 and empty_value != empty_value:
            out[:, q] = empty_value
            continue
        mixed = averaged and tied[q]
        for i in range(n if mixed and gain_depth > 0 else min(n, gain_depth)):
            gains[i] = gain_of(labels[i], gain, relevant_from, powers)
        if mixed:
            average_runs(flags, equal, n)
            if gain_depth > 0:
                average_runs(gains, equal, n)
        if ndcg_depth > 0 and not ideal_ones:
            fill_best(labels, n, min(n, ndcg_depth), best, counts, keys_out, carry, carry_out)
            for i in range(min(n, ndcg_depth)):
                best[i] = gain_of(best[i], gain, relevant_from, powers)

        for m in range(len(codes)):
            code, k = codes[m], cutoffs[m]
            depth = min(n, k) if k > 0 else n
            value = 0.0
            if code == NDCG:
                ideal = 0.0
                for i in range(depth):
                    value += gains[i] * discounts[i]
                    ideal += discounts[i] if ideal_ones else best[i] * discounts[i]
                if ideal_ones and k > 0:
                    ideal = norms[m]
                value = value / ideal if ideal > 0.0 else empty_value
                if short_ndcg == ZERO and k > n:
                    value = 0.0
            elif code == MEAN_NDCG:
                dcg, ideal = 0.0, 0.0
                for i in range(n):
                    dcg += gains[i] * discounts[i]
                    ideal += discounts[i] if ideal_ones else best[i] * discounts[i]
                    if ideal > 0.0:
                        value += dcg / ideal
                value = value / n if ideal > 0.0 else empty_value
            elif code == DCG:
                for i in range(depth):
                    value += gains[i] * discounts[i]
            elif code == AVERAGE_PRECISION:
                value = empty_ap
                if n_relevant > 0:
                    value = average_precision(labels, equal, n, depth, relevant_from, mixed)
                    value /= min(n_relevant, depth) if top_k_ap else n_relevant
            elif code == PRECISION:
                for i in range(depth):
                    value += flags[i]
                value /= k if short_precision == BY_K else max(depth, 1)
                if short_precision == ZERO and k > n:
                    value = 0.0
            elif code == RECALL:
                for i in range(depth):
                    value += flags[i]
                value = value / n_relevant if n_relevant > 0 else empty_value
            elif code == RBP:
                weight = 1.0 - constants[m]
                for i in range(depth):
                    value += weight * flags[i]
                    weight *= constants[m]
            elif code == ERR:
                reader = 1.0
                for i in range(depth):
                    stops = labels[i]
                    if not label_stops:
                        kind = gain if gain != LINEAR else EXPONENTIAL
                        stops = gain_of(stops, kind, relevant_from, powers) / constants[m]
                    value += reader * stops / (i + 1)
                    reader *= 1.0 - stops
            else:  # reciprocal rank and hit stop at the first relevant document
                for i in range(depth):
                    if labels[i] > relevant_from:
                        value = 1.0 / (i + 1) if code == RECIPROCAL_RANK else 1.0
                        break
            out[m, q] = value
