"""Sums over pairs that are never listed: memory is linear in documents.

RankBoost's pair weights factor by document, so that sums by level are all it takes; FRank's pairs are walked,
but for those of long queries, which :mod:`ordino.boosting.long_queries` sums.
"""

import numpy as np

from ordino.compiled import OUTER, njit


@njit(**OUTER)
def pair_potentials(scores, level, weight, offsets, rising, falling, potential):  # type: ignore[no-untyped-def]
    """Fill potential with each document's pair weight as the better one minus that as the worse one.

    The weight of the pair of i above j is weight[i] weight[j] exp(scores[j] - scores[i]), a product of a factor of i
    and one of j; so sums over partners are sums over levels, one pass up and one down. Gives the sum over all pairs.
    ``rising`` and ``falling`` are buffers with an entry for each level: sums of weight * exp(score), then of all lower
    levels; of weight * exp(-score), then of all higher ones.
    """
    total = 0.0
    for q in range(len(offsets) - 1):
        start, stop = offsets[q], offsets[q + 1]
        size = 0
        low, high = np.inf, -np.inf
        for i in range(start, stop):  # min and max would be compiled one by one
            size = level[i] + 1 if level[i] >= size else size
            low = scores[i] if scores[i] < low else low
            high = scores[i] if scores[i] > high else high
        middle = 0.5 * (low + high)
        for r in range(size):
            rising[r] = falling[r] = 0.0
        for i in range(start, stop):
            grown = np.exp(scores[i] - middle)
            rising[level[i]] += weight[i] * grown
            falling[level[i]] += weight[i] / grown
        below, above = 0.0, 0.0
        for r in range(size):
            rising[r], below = below, below + rising[r]
        for r in range(size - 1, -1, -1):
            falling[r], above = above, above + falling[r]
        for i in range(start, stop):
            grown = np.exp(scores[i] - middle)
            better = weight[i] / grown * rising[level[i]]
            potential[i] = better - weight[i] * grown * falling[level[i]]
            total += better
    return total


@njit(**OUTER)
def bin_sums(codes, values, sums):  # type: ignore[no-untyped-def]
    """Fill sums[f, b] with the sum of the values of the rows whose feature f has the code b."""
    sums[:] = 0.0
    for i in range(len(values)):
        value = values[i]
        if value != 0.0:
            for f in range(codes.shape[1]):
                sums[f, codes[i, f]] += value


@njit(**OUTER)
def best_threshold(sums, n_bins):  # type: ignore[no-untyped-def]
    """The feature and bin whose rows above it have the largest absolute sum: feature, bin, sum."""
    best_feature, best_bin, best = -1, -1, 0.0
    for f in range(len(n_bins)):
        above = 0.0
        for b in range(n_bins[f] - 1, 0, -1):
            above += sums[f, b]
            if abs(above) > abs(best) * (1.0 + 1e-12):
                best_feature, best_bin, best = f, b, above
    return best_feature, best_bin, best


@njit(**OUTER)
def fidelity_loss(scores, y, pair_weight, offsets, is_long):  # type: ignore[no-untyped-def]
    """The weighted sum over pairs of 1 - sqrt(P), P the logistic function of the better score minus the worse.

    Long queries are left out.
    """
    loss = 0.0
    for q in range(len(offsets) - 1):
        if is_long[q]:
            continue
        part = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(offsets[q], offsets[q + 1]):
                if y[i] > y[j]:
                    part += 1.0 - 1.0 / np.sqrt(1.0 + np.exp(min(scores[j] - scores[i], 700.0)))
        loss += part * pair_weight[q]
    return loss


@njit(**OUTER)
def split_weights(scores, y, pair_weight, offsets, is_long, codes, right, wrong):  # type: ignore[no-untyped-def]
    """Sums of pair weights that each threshold puts right and wrong, for all features and thresholds at once.

    The weight of a pair is pair_weight * sqrt(P) (1 - P) / 2, the slope of its loss. A threshold between the codes of
    the two documents puts the pair right if the better one is above. Fills right[f, b] and wrong[f, b] for the weak
    ranker "code of f is b or more". Long queries are left out.
    """
    right[:] = 0.0
    wrong[:] = 0.0
    n_features = codes.shape[1]
    for q in range(len(offsets) - 1):
        if is_long[q]:
            continue
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(offsets[q], offsets[q + 1]):
                if y[i] > y[j]:
                    chance = 1.0 / (1.0 + np.exp(min(scores[j] - scores[i], 700.0)))
                    weight = 0.5 * pair_weight[q] * np.sqrt(chance) * (1.0 - chance)
                    for f in range(n_features):
                        better, worse = codes[i, f], codes[j, f]
                        if better > worse:  # right for the thresholds worse + 1 to better
                            right[f, worse + 1] += weight
                            if better + 1 < right.shape[1]:
                                right[f, better + 1] -= weight
                        elif better < worse:
                            wrong[f, better + 1] += weight
                            if worse + 1 < wrong.shape[1]:
                                wrong[f, worse + 1] -= weight
    for f in range(n_features):
        for b in range(1, right.shape[1]):
            right[f, b] += right[f, b - 1]
            wrong[f, b] += wrong[f, b - 1]
