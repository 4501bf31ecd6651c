"""Compiled: LambdaRank, the cross entropy of each pair weighed by what swapping its two would change in a measure."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ordino.losses.kernels import by_level
from ordino.losses.list_kernels import gains_of

NDCG, MAP, MRR = 0, 1, 2
FAR = 600.0  # the exponentials of scores that lie further apart would underflow


@njit(cache=True, nogil=True, error_model="numpy")
def _ideal_dcg(gains: NDArray[np.float64], k: int) -> float:
    """DCG@k of documents that stand in the order of rising gains."""
    total = 0.0
    for r in range(min(k, len(gains))):
        total += gains[len(gains) - 1 - r] / np.log2(r + 2.0)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _reciprocal(rank: float, k: int) -> float:
    return 1.0 / rank if rank <= k else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _ranked_lambdas(measure, k, s, e, near, worth, w, scale, discount, hits, sums, first, second, g, h):  # type: ignore[no-untyped-def]
    """Sum over pairs of documents in rank order; worth is the gain (NDCG), or 1 for relevant ones (MAP, MRR).

    ``hits`` counts relevant documents down to each rank, ``sums`` adds up one over their ranks; ``first`` and
    ``second`` are the ranks of the first two.
    """
    n = len(s)
    value = 0.0
    last = n if measure == MAP else min(k, n)  # two documents below change nothing
    if measure == MRR:
        last = min(last, int(first))
    for i in range(last):
        for j in range(i + 1, n):
            if worth[i] == worth[j]:
                continue
            better = worth[i] > worth[j]
            if measure == NDCG:
                delta = abs(worth[i] - worth[j]) * (discount[i] - discount[j]) * scale
            elif measure == MAP:
                above = hits[i] if better else hits[i] + 1.0
                delta = (above / (i + 1.0) + sums[j - 1] - sums[i] - hits[j] / (j + 1.0)) * scale
            elif better:  # the first relevant one goes down
                delta = _reciprocal(first, k) - _reciprocal(min(j + 1.0, second), k)
            else:  # a relevant one comes up before the first
                delta = _reciprocal(i + 1.0, k) - _reciprocal(first, k)
            delta *= w[i] * w[j]
            small = e[j] / e[i] if near else np.exp(s[j] - s[i])  # exp(-margin), the upper one first
            share = 1.0 / (1.0 + small)
            q = small * share if better else share  # how likely the pair stands wrong
            value += delta * (np.log1p(small) if better else s[i] - s[j] + np.log1p(small))
            push = delta * q if better else -delta * q
            g[i] -= push
            g[j] += push
            bend = delta * small * share * share
            h[i] += bend
            h[j] += bend
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def lambdas_of_queries(
    measure: int,
    k: int,
    relevant: float,
    exponential: bool,
    scores: NDArray[np.float64],  # (n_models, n_docs)
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    start_query: int,
    stop_query: int,
    gradient: NDArray[np.float64],  # (n_models, n_docs)
    curvature: NDArray[np.float64],  # the same, or (0, 0) where it is not wanted
    values: NDArray[np.float64],  # (n_models, n_queries)
    totals: NDArray[np.float64],  # (n_queries,)
) -> None:
    """Value, gradient and curvature of some queries; a query that teaches something has the total 1."""
    n_max = 0
    for q in range(start_query, stop_query):
        n_max = max(n_max, offsets[q + 1] - offsets[q])
    order, levels, bounds = np.empty(n_max, np.int64), np.empty(n_max), np.empty(n_max + 1, np.int64)
    gains, plain, s, e = np.empty(n_max), np.empty(n_max), np.empty(n_max), np.empty(n_max)
    worth, w, g, h = np.empty(n_max), np.empty(n_max), np.empty(n_max), np.empty(n_max)
    hits, sums, discount = np.empty(n_max), np.empty(n_max), np.zeros(n_max)
    for r in range(min(k, n_max)):
        discount[r] = 1.0 / np.log2(r + 2.0)
    for query in range(start_query, stop_query):
        start, stop = offsets[query], offsets[query + 1]
        gradient[:, start:stop] = 0.0
        if len(curvature):
            curvature[:, start:stop] = 0.0
        values[:, query] = 0.0
        totals[query] = 0.0
        if stop - start < 2:
            continue
        n_levels = by_level(y[start:stop], weights[start:stop], order, levels, bounds)
        n = bounds[n_levels]
        for i in range(n):
            plain[i] = y[start + order[i]]
        if measure == NDCG:
            gains_of(plain[:n], exponential, gains[:n])
        else:
            for i in range(n):
                gains[i] = 1.0 if plain[i] >= relevant else 0.0
        if n == 0 or gains[0] == gains[n - 1]:
            continue
        totals[query] = 1.0
        scale = 1.0 / (_ideal_dcg(gains[:n], k) if measure == NDCG else gains[:n].sum())
        for m in range(scores.shape[0]):
            finite = True
            for i in range(n):
                plain[i] = -scores[m, start + order[i]]
                finite = finite and np.isfinite(plain[i])
            if not finite:
                values[m, query] = np.nan
                gradient[m, start:stop] = np.nan
                continue
            ranked = np.argsort(plain[:n], kind="mergesort")  # of equal scores, the lower label first
            count, sum_of_hits, first, second = 0.0, 0.0, np.inf, np.inf
            for r in range(n):
                i = ranked[r]
                s[r], worth[r], w[r] = -plain[i], gains[i], weights[start + order[i]]
                e[r] = np.exp(s[r] - s[0])
                g[r], h[r] = 0.0, 0.0
                if worth[r] > 0.0:
                    count += 1.0
                    sum_of_hits += 1.0 / (r + 1.0)
                    if count == 1.0:
                        first = r + 1.0
                    elif count == 2.0:
                        second = r + 1.0
                hits[r], sums[r] = count, sum_of_hits
            near = s[0] - s[n - 1] <= FAR
            values[m, query] = _ranked_lambdas(
                measure, k, s[:n], e[:n], near, worth[:n], w[:n], scale, discount[:n], hits[:n], sums[:n],
                first, second, g, h,
            )  # fmt: skip
            for r in range(n):
                row = start + order[ranked[r]]
                gradient[m, row] = g[r]
                if len(curvature):
                    curvature[m, row] = h[r]
