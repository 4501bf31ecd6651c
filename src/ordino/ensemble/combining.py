"""How members become one: their scores as z-scores inside each query, added with equal weights.

Equal weights are those of members that can stand beside the best: one that is shown to be behind it gets none, unless
the others are worse without it. Weights that are learned are learned from noise where queries are few. So greedy
weights (forward selection with replacement, Caruana et al., ICML 2004) only come in through a gate: their gain over
equal weights on queries that did not choose them, in standard errors, less one, is their share, at least 0 and at most
1.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Measure = Callable[[Floats], Floats]  # scores of all documents -> the measure of each query

GREEDY_ROUNDS = 12
SHOWN = 2.0  # standard errors behind the best member, from which on that is shown


def standardized(scores: Floats, offsets: NDArray[np.int64]) -> Floats:
    """Scores with mean 0 and deviation 1 inside each query; 0 where they are all equal.

    Examples
    --------
    >>> standardized(np.array([1.0, 3.0, 7.0, 5.0, 5.0]), np.array([0, 2, 3, 5])).tolist()
    [-1.0, 1.0, 0.0, 0.0, 0.0]
    """
    if not len(scores):
        return scores
    counts = np.diff(offsets)
    away = scores - np.repeat(np.add.reduceat(scores, offsets[:-1]) / counts, counts)
    spread = np.sqrt(np.add.reduceat(away * away, offsets[:-1]) / counts)
    low, high = np.minimum.reduceat(scores, offsets[:-1]), np.maximum.reduceat(scores, offsets[:-1])
    spread[~(low < high) | ~np.isfinite(spread)] = np.inf
    return np.asarray(np.nan_to_num(away / np.repeat(spread, counts)), np.float64)


def t_of(gains: Floats) -> float:
    """The mean of gains over its standard error; 0 where nothing differs.

    Examples
    --------
    >>> t_of(np.array([1.0, 2.0, 3.0, np.nan])).__round__(3), t_of(np.zeros(5))
    (3.464, 0.0)
    """
    counted = gains[np.isfinite(gains)]
    if len(counted) < 2 or not counted.any():
        return 0.0
    error = counted.std(ddof=1) / np.sqrt(len(counted))
    return float(counted.mean() / error) if error > 0 else float(np.sign(counted.mean())) * np.inf


def mean_over(values: Floats, which: Mask) -> float:
    """The mean of those queries that count; 0 where none does."""
    chosen = values[which]
    counted = chosen[np.isfinite(chosen)]
    return float(counted.mean()) if len(counted) else 0.0


def greedy_weights(members: Sequence[Floats], measure: Measure, which: Mask) -> Floats:
    """The share of each member after adding the best one, again and again; of these queries alone."""
    taken = np.zeros(len(members))
    total = np.zeros_like(members[0])
    best, best_taken = -np.inf, taken.copy()
    for _ in range(GREEDY_ROUNDS):
        reached = [mean_over(measure(total + member), which) for member in members]
        chosen = int(np.argmax(reached))
        taken[chosen] += 1
        total = total + members[chosen]
        if reached[chosen] > best:
            best, best_taken = reached[chosen], taken.copy()
    return np.asarray(best_taken / best_taken.sum(), np.float64)


def z_of(gains: Floats) -> float:
    """What is as rare under the normal law as t is under Student's: with few queries, t says less than it seems."""
    n = int(np.isfinite(gains).sum())
    return float(ndtri(stdtr(max(n - 1, 1), t_of(gains))))


def gate(gains: Floats) -> float:
    """How much of what was learned is let in: z - 1 of its gains on unseen queries, at least 0 and at most 1.

    Examples
    --------
    >>> gate(np.array([0.1, 0.2, 0.3, 0.2])), gate(np.array([0.1, -0.1, 0.05])), gate(np.zeros(3))
    (1.0, 0.0, 0.0)
    """
    return float(np.clip(z_of(gains) - 1, 0, 1))


def even_weights(members: Sequence[Floats], measure: Measure, which: Mask) -> Floats:
    """Equal weights of the members that can stand beside the best one; of these queries alone.

    The weakest first, a member goes that is behind the best, unless the others have a lower measure without it: what is
    weak alone may still see what the others miss.
    """
    alone = [measure(member) for member in members]
    means = np.array([mean_over(values, which) for values in alone])
    best, kept = int(np.argmax(means)), np.full(len(members), True)
    total = np.sum(members, axis=0)
    reached = mean_over(measure(total), which)
    for i in np.argsort(means, kind="stable"):
        if z_of((alone[best] - alone[i])[which]) >= SHOWN:
            without = mean_over(measure(total - members[i]), which)
            if without >= reached:
                kept[i], total, reached = False, total - members[i], without
    return np.asarray(kept / kept.sum(), np.float64)


class Weighed(NamedTuple):
    """Weights of members, and how much of them is greedy."""

    weights: Floats
    greedy_share: float


def weigh(members: Sequence[Floats], measure: Measure, fold: NDArray[np.intp], which: Mask) -> Weighed:
    """Even weights, moved towards greedy ones as far as the gate lets them, by these queries alone.

    ``fold`` has the fold of each query: both are learned without a fold and compared on it.
    """
    if len(members) == 1:
        return Weighed(np.ones(1), 0.0)
    gains = np.full(len(fold), np.nan)
    for k in np.unique(fold[which]):
        others, own = which & (fold != k), which & (fold == k)
        even, greedy = (
            measure(mixture(members, learn(members, measure, others))) for learn in (even_weights, greedy_weights)
        )
        gains[own] = (greedy - even)[own]
    share, weights = gate(gains[which]), even_weights(members, measure, which)
    if share > 0:
        weights = (1 - share) * weights + share * greedy_weights(members, measure, which)
    return Weighed(weights, share)


class Beside(NamedTuple):
    """How much of what was learned stands beside something simple, and the scores of unseen documents by both."""

    share: float
    scores: Floats


def beside(
    unseen: Floats, simple: Floats, measure: Measure, fold: NDArray[np.intp], counts: NDArray[np.int64]
) -> Beside:
    """As much of what was learned as the gate lets in, and for the rest something simple that needs no learning.

    ``fold`` and ``counts`` have the fold and the number of documents of each query: the scores of a fold are made with
    the share that the other folds give.
    """
    gains = measure(unseen) - measure(simple)
    shares = np.zeros(len(fold))
    for k in np.unique(fold):
        shares[fold == k] = gate(gains[fold != k])
    by_doc = np.repeat(shares, counts)
    return Beside(gate(gains), by_doc * unseen + (1 - by_doc) * simple)


def mixture(members: Sequence[Floats], weights: Floats) -> Floats:
    """The weighted sum of the members' scores."""
    total = np.zeros_like(members[0])
    for member, weight in zip(members, weights, strict=True):
        total += weight * member
    return total
