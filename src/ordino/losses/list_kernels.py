"""Compiled: losses of a whole list. Each fills in the gradient g and the curvature h of one query's documents.

Documents stand in the order of rising labels; s are scores, y labels, w weights; ``bounds`` says where each label
begins, counted from ``bounds[0]``. No list needs a square array: what is said of all pairs (ApproxNDCG) is summed up
pair by pair.
"""

from typing import Any

import numpy as np

from ordino.compiled import ALLOCATING, INNER, OPEN, OUTER, REORDERED, njit, specialize
from ordino.losses.kernels import gains_of
from ordino.metrics.kernels import sort_descending

FAR = 300.0  # products of exponentials of scores that lie further apart would underflow
list_loss = OPEN  # in the template at the end


@njit(**INNER)
def _cross_entropy(s, goal, w, g, h):  # type: ignore[no-untyped-def]
    """-sum goal log softmax(s), goal made to sum to 1; a document of weight 2 is two documents in the softmax."""
    high, mass, whole = -np.inf, 0.0, 0.0
    for i in range(len(s)):
        high = s[i] if s[i] > high else high  # max would be compiled by itself
        whole += goal[i]
    for i in range(len(s)):
        mass += w[i] * np.exp(s[i] - high)
    value = 0.0
    for i in range(len(s)):
        p, share = w[i] * np.exp(s[i] - high) / mass, goal[i] / whole
        value -= share * (s[i] - high - np.log(mass))
        g[i] = p - share
        h[i] = p * (1.0 - p)
    return value


@njit(**INNER)
def _stage(s, y, left, chance, g, h):  # type: ignore[no-untyped-def]
    """Add the cross entropy of the next document, which is drawn from those ``left`` with this ``chance``.

    What is given back is the value, and the largest label and the mass of the labels' softmax.
    """
    high_s, high_y, mass_s, mass_y = -np.inf, -np.inf, 0.0, 0.0
    for i in range(len(s)):
        if left[i] > 0.0:
            high_s, high_y = max(high_s, s[i]), max(high_y, y[i])
    for i in range(len(s)):
        if left[i] > 0.0:
            mass_s += left[i] * np.exp(s[i] - high_s)
            mass_y += left[i] * np.exp(y[i] - high_y)
    value = 0.0
    for i in range(len(s)):
        if left[i] > 0.0:
            p, share = left[i] * np.exp(s[i] - high_s) / mass_s, left[i] * np.exp(y[i] - high_y) / mass_y
            value -= chance * share * (s[i] - high_s - np.log(mass_s))
            g[i] += chance * (p - share)
            h[i] += chance * p * (1.0 - p)
    return value, high_y, mass_y


@njit(**{**INNER, **ALLOCATING})
def _top(s, y, w, k, g, h, left):  # type: ignore[no-untyped-def]
    """Cross entropy of top-k probabilities: a sum over all beginnings of k - 1 documents, visited depth first.

    Each beginning has the chance that the labels give it. A document of weight 2 is two, of which one is drawn.
    """
    n, n_drawn = len(s), 0
    k = min(k, int(np.ceil(w).sum()))
    drawn, kept = np.full(k, -1), np.empty(k)  # the document drawn at each place, and its weight before
    chance, high, mass = np.empty(k), np.empty(k), np.empty(k)
    chance[0] = 1.0
    for i in range(n):
        g[i], h[i], left[i] = 0.0, 0.0, w[i]
    value, high[0], mass[0] = _stage(s, y, left, 1.0, g, h)
    while n_drawn >= 0:
        i = drawn[n_drawn]
        if i >= 0:
            left[i] = kept[n_drawn]
        i += 1
        while i < n and left[i] <= 0.0:
            i += 1
        if i == n or n_drawn == k - 1:
            n_drawn -= 1
            continue
        chance[n_drawn + 1] = chance[n_drawn] * left[i] * np.exp(y[i] - high[n_drawn]) / mass[n_drawn]
        drawn[n_drawn], kept[n_drawn], left[i] = i, left[i], max(left[i] - 1.0, 0.0)
        n_drawn += 1
        drawn[n_drawn] = -1
        if chance[n_drawn] > 0.0 and left.max() > 0.0:
            added, high[n_drawn], mass[n_drawn] = _stage(s, y, left, chance[n_drawn], g, h)
            value += added
        else:
            n_drawn -= 1
    return value


@njit(**INNER)
def listnet(s, y, w, bounds, exponential, center, smoothing, alpha, k, g, h, room, room2, room3):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Cross entropy of the softmaxes of labels and scores: who is first."""
    goal = room
    for i in range(len(s)):
        goal[i] = w[i] * np.exp(y[i] - y[len(y) - 1])  # labels rise
    return _cross_entropy(s, goal, w, g, h)


@njit(**{**INNER, **ALLOCATING})
def listnet_top(s, y, w, bounds, exponential, center, smoothing, alpha, k, g, h, room, room2, room3):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Cross entropy of the probabilities that labels and scores give to the first k."""
    return _top(s, y, w, k, g, h, room[: len(s)])


@njit(**INNER)
def softmax(s, y, w, bounds, exponential, center, smoothing, alpha, k, g, h, room, room2, room3):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Cross entropy of the gains, made to sum to 1, and the softmax of the scores."""
    goal = room
    gains_of(y, exponential, goal)
    for i in range(len(s)):
        goal[i] *= w[i]
    return _cross_entropy(s, goal, w, g, h)


@njit(**INNER)
def _log_add(a: float, b: float) -> float:
    high, low = a if a > b else b, b if a > b else a
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@njit(**INNER)
def listmle(s, y, w, bounds, exponential, center, smoothing, alpha, k, g, h, room, room2, room3):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Each document against itself and all of lower labels: log(e^s_i + sum of lower e^s_j) - s_i."""
    start, n_levels = bounds[0], len(bounds) - 1
    value = 0.0
    lower = -np.inf  # log of the weighted sum of exp(s) of lower labels
    rates, squares = room, room2  # log of sum w / D and of sum w / D^2 over a level
    for level in range(n_levels):
        rate, square = -np.inf, -np.inf
        for i in range(bounds[level] - start, bounds[level + 1] - start):
            log_d, log_w = _log_add(s[i], lower), np.log(w[i])
            p = np.exp(s[i] - log_d)
            value += w[i] * (log_d - s[i])
            g[i] = w[i] * (p - 1.0)
            h[i] = w[i] * p * (1.0 - p)
            rate = _log_add(rate, log_w - log_d)
            square = _log_add(square, log_w - 2.0 * log_d)
        rates[level], squares[level] = rate, square
        for i in range(bounds[level] - start, bounds[level + 1] - start):
            lower = _log_add(lower, np.log(w[i]) + s[i])
    rate, square = -np.inf, -np.inf  # the same, over all higher labels
    for level in range(n_levels - 1, -1, -1):
        for i in range(bounds[level] - start, bounds[level + 1] - start):
            p = np.exp(s[i] + rate)
            bend = p - np.exp(2.0 * s[i] + square)
            g[i] += w[i] * p
            h[i] += w[i] * bend if bend > 0.0 else 0.0
        rate, square = _log_add(rate, rates[level]), _log_add(square, squares[level])
    return value


@njit(**INNER)
def rankcosine(s, y, w, bounds, exponential, center, smoothing, alpha, k, g, h, room, room2, room3):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """(1 - cos(y, s)) / 2, the length of s being sqrt(|s|^2 + smoothing)."""
    mean_s, mean_y, mass = 0.0, 0.0, 0.0
    if center:
        for i in range(len(s)):
            mean_s += w[i] * s[i]
            mean_y += w[i] * y[i]
            mass += w[i]
        mean_s /= mass
        mean_y /= mass
    dot, length, goal = 0.0, smoothing, 0.0
    for i in range(len(s)):
        a, b = s[i] - mean_s, y[i] - mean_y
        dot += w[i] * a * b
        length += w[i] * a * a
        goal += w[i] * b * b
    if length == 0.0:
        for i in range(len(s)):
            g[i], h[i] = 0.0, 0.0
        return 0.5
    length, goal = np.sqrt(length), np.sqrt(goal)
    cosine = dot / (length * goal)
    for i in range(len(s)):
        g[i] = -0.5 * w[i] * ((y[i] - mean_y) / (length * goal) - cosine * (s[i] - mean_s) / (length * length))
        h[i] = w[i] / (length * length)
    return 0.5 * (1.0 - cosine)


@njit(**REORDERED)
def _sum_of_shares(e_i, e):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(e)):
        total += e[j] / (e_i + e[j])
    return total


@njit(**REORDERED)
def _spread(e_i, e, force, g):  # type: ignore[no-untyped-def]
    """Add force times p(1 - p) to each g; give the sum of what was added."""
    own = 0.0
    for j in range(len(e)):
        share = 1.0 / (e_i + e[j])
        slope = force * e_i * share * e[j] * share
        own += slope
        g[j] += slope
    return own


@njit(**{**INNER, **ALLOCATING})
def approx_ndcg(s, y, w, bounds, exponential, center, smoothing, alpha, k, g, h, room, room2, room3):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """1 - NDCG with each rank replaced by 1 + sum over others of sigmoid(alpha (s_j - s_i)).

    Only pairs with a document of positive gain count: they stand last, from ``first`` on.
    """
    n, gains, rank, pull = len(s), room, room2, room3
    gains_of(y, exponential, gains)
    high, low = -np.inf, np.inf
    for i in range(n):
        high, low = max(high, s[i]), min(low, s[i])
    first = 0
    while gains[first] <= 0.0:
        first += 1
    near = alpha * (high - low) <= FAR
    e = np.empty(n)
    for i in range(first, n):
        pull[i] = w[i] * gains[i]
    sort_descending(pull, rank, first, n, e, h)
    ideal = 0.0
    for i in range(first, n):
        ideal += pull[i] / np.log2(i - first + 2.0)
    for i in range(n):
        e[i] = np.exp(alpha * (s[i] - high)) if near else s[i]
    value = 1.0
    for i in range(n):
        g[i], h[i], pull[i] = 0.0, 0.0, 0.0
    for i in range(first, n):
        position = 0.5  # of i against itself, which the loop below counts as one half
        if near:
            position += _sum_of_shares(e[i], e)
        else:
            for j in range(n):
                position += 1.0 / (1.0 + np.exp(min(alpha * (s[i] - s[j]), 700.0)))
        rank[i] = position
        worth = w[i] * gains[i] / ideal
        value -= worth / np.log2(1.0 + position)
        pull[i] = worth * np.log(2.0) / (np.log(1.0 + position) ** 2 * (1.0 + position))  # d value / d rank
    for i in range(first, n):
        if near:
            own = _spread(e[i], e, alpha * pull[i], g)
        else:
            own = 0.0
            for j in range(n):
                small = np.exp(-abs(alpha * (s[i] - s[j])))
                slope = alpha * pull[i] * small / (1.0 + small) ** 2
                own += slope
                g[j] += slope
        g[i] -= own
        h[i] = alpha * alpha * w[i] * gains[i] / ideal / np.log2(1.0 + rank[i])
    floor = 0.0
    for i in range(n):
        floor += h[i]
    floor /= n  # documents without gain have no curvature of their own
    for i in range(n):
        h[i] = max(h[i], floor)
    return value


def _lists_of_queries(
    scores: Any, y: Any, w: Any, firsts: Any, bounds: Any, room: Any,
    exponential: bool, center: bool, smoothing: float, alpha: float, k: int,
    gradient: Any, curvature: Any, values: Any, totals: Any,
) -> None:  # fmt: skip
    """Template: fill in value, gradient and curvature by ``list_loss``; a query that teaches something has total 1."""
    one, two, three = room[0], room[1], room[2]
    for q in range(len(totals)):
        levels = bounds[firsts[q] : firsts[q + 1] + 1]
        if len(levels) < 3:
            continue
        totals[q] = 1.0
        start, stop = levels[0], levels[len(levels) - 1]
        for m in range(scores.shape[0]):
            values[m, q] = list_loss(
                scores[m, start:stop], y[start:stop], w[start:stop], levels, exponential, center, smoothing, alpha, k,
                gradient[m, start:stop], curvature[m, start:stop], one, two, three,
            )  # fmt: skip


LISTNET, LISTNET_TOP, SOFTMAX, LISTMLE, RANKCOSINE, APPROX_NDCG = (
    specialize(_lists_of_queries, f"{function.__name__}_lists", OUTER, list_loss=function)
    for function in (listnet, listnet_top, softmax, listmle, rankcosine, approx_ndcg)
)
