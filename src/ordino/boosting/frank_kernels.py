"""FRank's sums over pairs, walked query by query and never stored: memory is linear in documents."""

import numpy as np

from ordino.compiled import OUTER, njit


@njit(**OUTER)
def fidelity_loss(scores, y, pair_weight, offsets):  # type: ignore[no-untyped-def]
    """The weighted sum over pairs of 1 - sqrt(P), P the logistic function of the better score minus the worse."""
    loss = 0.0
    for q in range(len(offsets) - 1):
        part = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(offsets[q], offsets[q + 1]):
                if y[i] > y[j]:
                    part += 1.0 - 1.0 / np.sqrt(1.0 + np.exp(min(scores[j] - scores[i], 700.0)))
        loss += part * pair_weight[q]
    return loss


@njit(**OUTER)
def split_weights(scores, y, pair_weight, offsets, codes, right, wrong):  # type: ignore[no-untyped-def]
    """Sums of pair weights that each threshold puts right and wrong, for all features and thresholds at once.

    The weight of a pair is pair_weight * sqrt(P) (1 - P) / 2, the slope of its loss. A threshold between the codes of
    the two documents puts the pair right if the better one is above. Fills right[f, b] and wrong[f, b] for the weak
    ranker "code of f is b or more".
    """
    right[:] = 0.0
    wrong[:] = 0.0
    n_features = codes.shape[1]
    for q in range(len(offsets) - 1):
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
