"""Compiled loops for measures of pairs: how many pairs of documents with different labels stand in the right order.

Knight's method: with the labels in the order of the scores, the wrongly ordered pairs are the inversions that a merge
sort by label undoes, so that a query of n documents costs n log n, not n^2.
"""

from typing import Any

import numpy as np

from ordino.compiled import INNER, OUTER, njit
from ordino.metrics.kernels import sort_descending, sort_runs


@njit(**INNER)
def random_below(state: Any, bound: int) -> int:
    """A number from 0 to ``bound - 1`` by Steele's SplitMix64; ``state`` moves on."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return min(int(float(z >> np.uint64(11)) * 2.0**-53 * bound), bound - 1)


@njit(**INNER)
def sampled_accuracy(
    labels: Any, start: int, stop: int, draws: int, position: Any, middle: Any, ahead: Any, state: Any
) -> float:  # fmt: skip
    """Share of right order among pairs drawn with equal chance from those with different labels; equal scores are half.

    ``labels`` are sorted. ``ahead[i]`` counts the ordered pairs whose first document stands at ``i`` or before it: a
    draw among them finds the first document by bisection, a second draw finds the other outside the first one's label.
    """
    right = 0.0
    for _ in range(draws):
        pair = random_below(state, ahead[stop - 1])
        one, high = start, stop - 1
        while one < high:
            half = (one + high) // 2
            if ahead[half] > pair:
                high = half
            else:
                one = half + 1
        others = ahead[one] - (ahead[one - 1] if one > start else 0)  # documents with another label
        head, high = start, one  # the documents of this label stand together: bisect for the first of them
        while head < high:
            half = (head + high) // 2
            if labels[half] > labels[one]:
                head = half + 1
            else:
                high = half
        other = start + random_below(state, others)
        if other >= head:
            other += stop - start - others
        behind = middle[position[max(one, other)]] - middle[position[min(one, other)]]
        right += 1.0 if behind > 0.0 else (0.5 if behind == 0.0 else 0.0)
    return right / draws


@njit(**OUTER)
def pair_sums(
    ranked: Any, same: Any, offsets: Any, samples: int, seed: int, out: Any,
    position: Any, position_out: Any, middle: Any, ahead: Any, carry: Any, keys_out: Any, carry_out: Any, state: Any,
) -> None:  # fmt: skip
    """Write what measures of pairs are made of into ``out[:, query]``, in the order of the last lines.

    ``ranked`` is sorted by label afterwards. ``samples`` is how many pairs are drawn; 0 draws none.
    """
    for q in range(len(offsets) - 1):
        start, stop = offsets[q], offsets[q + 1]
        n = stop - start
        center = 0.5 * (start + stop - 1)
        sort_runs(ranked, carry, same, start, stop, keys_out, carry_out)  # so that equal scores make no inversion
        same_score, same_both = 0, 0  # pairs
        score_spread = 0.0  # sum of t^3 - t over runs of t equal scores
        i = start
        while i < stop:
            j, alike = i, 0
            while j == i or (j < stop and same[j]):
                alike = alike + 1 if j > i and ranked[j] == ranked[j - 1] else 0
                same_both += alike
                position[j] = j
                j += 1
            t = j - i
            same_score += t * (t - 1) // 2
            score_spread += float(t) ** 3 - t
            for r in range(i, j):
                middle[r] = 0.5 * (i + j - 1)
            i = j

        wrong = sort_descending(ranked, position, start, stop, keys_out, position_out)
        same_label, before = 0, 0
        label_spread, product = 0.0, 0.0
        i = start
        while i < stop:
            j = i
            while j < stop and ranked[j] == ranked[i]:
                j += 1
            t = j - i
            same_label += t * (t - 1) // 2
            label_spread += float(t) ** 3 - t
            for r in range(i, j):
                product += (0.5 * (i + j - 1) - center) * (middle[position[r]] - center)
                before += n - t
                ahead[r] = before
            i = j

        different = n * (n - 1) // 2 - same_label
        drawn = np.nan
        if 0 < samples < different:
            state[0] = np.uint64(seed)
            drawn = sampled_accuracy(ranked, start, stop, samples, position, middle, ahead, state)
        out[0, q] = different
        out[1, q] = same_score - same_both  # pairs with different labels and equal scores
        out[2, q] = wrong
        out[3, q] = same_score
        out[4, q] = product
        out[5, q] = score_spread
        out[6, q] = label_spread
        out[7, q] = drawn  # the share of right order among drawn pairs; NaN if all are counted
