"""Compiled loops for measures of pairs: how many pairs of documents with different labels stand in the right order.

Knight's method: with the labels in the order of the scores, the wrongly ordered pairs are the inversions that a merge
sort by label undoes, so that a query of n documents costs n log n, not n^2.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numba import njit

from ordino.metrics.kernels import sort_descending, sort_runs

PAIRWISE_ACCURACY, PAIRWISE_ERROR, KENDALL, SPEARMAN = range(10, 14)


@njit(cache=True, nogil=True)
def random_below(state: Any, bound: int) -> int:
    """A number from 0 to ``bound - 1`` by Steele's SplitMix64; ``state`` moves on."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return min(int(float(z >> np.uint64(11)) * 2.0**-53 * bound), bound - 1)


@njit(cache=True, nogil=True)
def sampled_accuracy(
    n: int, draws: int, sorted_labels: Any, position: Any, middle: Any, ahead: Any, state: Any
) -> float:
    """Share of right order among pairs drawn with equal chance from those with different labels; equal scores are half.

    ``ahead[i]`` counts the ordered pairs whose first document stands at or before ``i`` in label order: a draw among
    them finds the first document by bisection, a second draw finds the other outside the first one's label.
    """
    right = 0.0
    for _ in range(draws):
        pair = random_below(state, ahead[n - 1])
        low, high = 0, n - 1
        while low < high:
            half = (low + high) // 2
            if ahead[half] > pair:
                high = half
            else:
                low = half + 1
        others = ahead[low] - (ahead[low - 1] if low > 0 else 0)  # documents with another label
        start, high = 0, low  # the documents of this label stand together: bisect for the first of them
        while start < high:
            half = (start + high) // 2
            if sorted_labels[half] > sorted_labels[low]:
                start = half + 1
            else:
                high = half
        other = random_below(state, others)
        if other >= start:
            other += n - others
        better, worse = (low, other) if low < other else (other, low)
        difference = middle[int(position[worse])] - middle[int(position[better])]
        right += 1.0 if difference > 0 else (0.5 if difference == 0 else 0.0)
    return right / draws


@njit(cache=True, nogil=True)
def pair_block(
    ranked: Any, same: Any, tied: Any, offsets: Any, first: int, last: int,
    codes: Any, samples: Any, seeds: Any, out: Any, labels: Any, position: Any, middle: Any, ahead: Any, keys: Any, keys_out: Any, carry_out: Any, state: Any,
) -> None:  # fmt: skip
    """Write the value of every measure of pairs for queries ``first`` to ``last`` into ``out[measure, query]``."""
    base = offsets[first]
    for q in range(first, last):
        start, stop = offsets[q], offsets[q + 1]
        n = stop - start
        equal = same[start - base : stop - base]
        labels[:n] = ranked[start - base : stop - base]
        if tied[q]:
            sort_runs(
                labels, equal, n, 1.0, keys, keys_out, carry_out
            )  # so that no pair of equal scores is an inversion

        n_pairs = n * (n - 1) // 2
        same_score, same_both = 0, 0  # pairs
        score_spread = 0.0  # sum of t^3 - t over runs of t equal scores
        i = 0
        while i < n:
            j, alike = i, 0
            while j == i or (j < n and equal[j]):
                alike = alike + 1 if j > i and labels[j] == labels[j - 1] else 0
                same_both += alike
                position[j] = j
                j += 1
            t = j - i
            same_score += t * (t - 1) // 2
            score_spread += float(t) ** 3 - t
            middle[i:j] = 0.5 * (i + j - 1)
            i = j

        wrong = sort_descending(labels, position, n, keys_out, carry_out)
        same_label = 0
        label_spread, product = 0.0, 0.0
        center = 0.5 * (n - 1)
        before = 0
        i = 0
        while i < n:
            j = i
            while j < n and labels[j] == labels[i]:
                j += 1
            t = j - i
            same_label += t * (t - 1) // 2
            label_spread += float(t) ** 3 - t
            for r in range(i, j):
                product += (0.5 * (i + j - 1) - center) * (middle[int(position[r])] - center)
                before += n - t
                ahead[r] = before
            i = j

        different = n_pairs - same_label
        undecided = same_score - same_both
        right = different - undecided - wrong
        for m in range(len(codes)):
            code = codes[m]
            value = np.nan
            if different > 0 and code <= PAIRWISE_ERROR:
                value = (right + 0.5 * undecided) / different
                if 0 < samples[m] < different:
                    state[0] = np.uint64(seeds[m])
                    value = sampled_accuracy(n, samples[m], labels, position, middle, ahead, state)
                if code == PAIRWISE_ERROR:
                    value = 1.0 - value
            elif different > 0 and same_score == n_pairs:
                value = 0.0  # scores that are all equal order nothing
            elif different > 0 and code == KENDALL:
                value = (right - wrong) / sqrt(float(n_pairs - same_score) * float(different))
            elif different > 0:
                total = float(n) ** 3 - n
                value = 12.0 * product / sqrt((total - score_spread) * (total - label_spread))
            out[m, q] = min(max(value, -1.0), 1.0) if value == value else value
