"""Compiled: LambdaRank, the cross entropy of each pair weighted by how much swapping it would change a metric."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ordino.compiled import INNER, OPEN, OUTER, njit, specialize
from ordino.losses.kernels import gains_of
from ordino.metrics.kernels import sort_descending

IS_NDCG = IS_MAP = ranked_lambdas = OPEN  # in the templates: which measure they are for
IS_NORMALIZED = OPEN  # whether pairs far apart, and queries with many lambdas, count less
BY_STEP = IS_NUMBERED = OPEN  # and which pairs: those of labels, or of their numbers in the query, that differ by one
CLOSE = 0.01  # LightGBM's, so that equal scores do not divide by nothing
FAR = 600.0  # the exponentials of scores that lie further apart would underflow


@njit(**INNER)
def _reciprocal(rank: float, k: int) -> float:
    return 1.0 / rank if rank <= k else 0.0


def _ranked_lambdas(n, k, s, e, near, worth, w, scale, discount, hits, sums, first, second, step, g, h):  # type: ignore[no-untyped-def]
    """Template: sum over pairs of documents in rank order; worth is the gain (NDCG), or 1 for relevant ones (MAP, MRR).

    ``hits`` counts relevant documents down to each rank, ``sums`` adds up one over their ranks; ``first`` and
    ``second`` are the ranks of the first two. ``step`` has the label, or its number, where not all pairs count.
    """
    value = pushed = 0.0
    last = n if IS_MAP else min(k, n)  # two documents below change nothing
    if not (IS_NDCG or IS_MAP):
        last = min(last, int(first))
    for i in range(last):
        for j in range(i + 1, n):
            if worth[i] == worth[j]:
                continue
            if BY_STEP and abs(step[i] - step[j]) != 1.0:
                continue
            better = worth[i] > worth[j]
            if IS_NDCG:
                delta = abs(worth[i] - worth[j]) * (discount[i] - discount[j]) * scale
            elif IS_MAP:
                above = hits[i] if better else hits[i] + 1.0
                delta = (above / (i + 1.0) + sums[j - 1] - sums[i] - hits[j] / (j + 1.0)) * scale
            elif better:  # the first relevant one goes down
                delta = _reciprocal(first, k) - _reciprocal(min(j + 1.0, second), k)
            else:  # a relevant one comes up before the first
                delta = _reciprocal(i + 1.0, k) - _reciprocal(first, k)
            delta *= w[i] * w[j]
            if IS_NORMALIZED and s[0] != s[n - 1]:
                delta /= CLOSE + s[i] - s[j]
            small = e[j] / e[i] if near else np.exp(s[j] - s[i])  # exp(-margin), the upper one first
            share = 1.0 / (1.0 + small)
            q = small * share if better else share  # how likely the pair stands wrong
            value += delta * (np.log1p(small) if better else s[i] - s[j] + np.log1p(small))
            push = delta * q if better else -delta * q
            g[i] -= push
            g[j] += push
            if IS_NORMALIZED:
                pushed += 2.0 * abs(push)
            bend = delta * small * share * share
            h[i] += bend
            h[j] += bend
    if IS_NORMALIZED and pushed > 0.0:
        scale = np.log2(1.0 + pushed) / pushed
        value *= scale
        for r in range(n):
            g[r] *= scale
            h[r] *= scale
    return value


def _lambdas_of_queries(
    scores: Any, y: Any, w: Any, firsts: Any, bounds: Any, room: Any, k: int, relevant: float, exponential: bool,
    gradient: Any, curvature: Any, values: Any, totals: Any,
) -> None:  # fmt: skip
    """Template: fill in value, gradient and curvature; a query that teaches something has the total 1."""
    gains, s, e, worth = room[0], room[1], room[2], room[3]
    weight, g, h, discount = room[4], room[5], room[6], room[7]
    ranked, spare, hits, sums = room[8], room[9], room[10], room[11]
    step, numbers, n_discounts = room[12], room[13], 0
    for query in range(len(totals)):
        start, stop = bounds[firsts[query]], bounds[firsts[query + 1]]
        n = stop - start
        if IS_NDCG:
            gains_of(y[start:stop], exponential, gains)
        else:
            for i in range(n):
                gains[i] = 1.0 if y[start + i] >= relevant else 0.0
        if n == 0 or gains[0] == gains[n - 1]:
            continue
        totals[query] = 1.0
        for r in range(n_discounts, n):
            discount[r] = 1.0 / np.log2(r + 2.0) if r < k else 0.0
        n_discounts = n if n > n_discounts else n_discounts
        if BY_STEP:
            number, last_label = 0.0, y[start]
            for i in range(n):  # labels rise
                if y[start + i] != last_label:
                    number, last_label = number + 1.0, y[start + i]
                numbers[i] = number if IS_NUMBERED else last_label
        ideal = 0.0  # DCG@k of the gains, which rise, in the best order; their number for MAP
        for r in range(n if IS_MAP or n < k else k):
            ideal += gains[n - 1 - r] / (np.log2(r + 2.0) if IS_NDCG else 1.0)
        for m in range(scores.shape[0]):
            for i in range(n):
                s[i], ranked[i] = scores[m, start + i], i
            sort_descending(s, ranked, 0, n, e, spare)  # of equal scores, the lower label first
            count = sum_of_hits = 0.0
            first = second = np.inf
            for r in range(n):
                place = np.int64(ranked[r])
                worth[r], weight[r] = gains[place], w[start + place]
                e[r] = np.exp(s[r] - s[0])
                g[r] = h[r] = 0.0
                if BY_STEP:
                    step[r] = numbers[place]
                if IS_NDCG:  # hits are for the other measures
                    continue
                if worth[r] > 0.0:
                    count += 1.0
                    sum_of_hits += 1.0 / (r + 1.0)
                    if count == 1.0:
                        first = r + 1.0
                    elif count == 2.0:
                        second = r + 1.0
                hits[r], sums[r] = count, sum_of_hits
            near = s[0] - s[n - 1] <= FAR
            values[m, query] = ranked_lambdas(
                n, k, s, e, near, worth, weight, 1.0 / ideal, discount, hits, sums, first, second, step, g, h
            )
            for r in range(n):
                at = start + np.int64(ranked[r])
                gradient[m, at] = g[r]
                if len(curvature):
                    curvature[m, at] = h[r]


def _make_kernel(measure: str, pairs: str, normalize: bool) -> Any:
    name = "_".join([measure] + [pairs] * (pairs != "all") + ["normalized"] * normalize)
    which = {"IS_NDCG": measure == "ndcg", "IS_MAP": measure == "map", "IS_NORMALIZED": normalize}
    which |= {"BY_STEP": pairs != "all", "IS_NUMBERED": pairs == "neighbors"}
    ranked = specialize(_ranked_lambdas, f"{name}_ranked_lambdas", INNER, **which)
    return specialize(_lambdas_of_queries, f"{name}_lambdas", OUTER, ranked_lambdas=ranked, **which)


MEASURES = ("ndcg", "map", "mrr")
"""The metrics whose change by a swap is known."""

KERNELS: Mapping[tuple[str, bool], Mapping[str, Any]] = MappingProxyType(
    {
        (pairs, normalize): MappingProxyType({one: _make_kernel(one, pairs, normalize) for one in MEASURES})
        for pairs in ("all", "neighbors", "exact")
        for normalize in (False, True)
    }
)
"""By the pairs that count and whether they are normalized, and by metric, what is compiled."""
