r"""FRank: an additive model, boosted on the fidelity loss of pairs.

With :math:`P_{ij} = 1 / (1 + e^{H(x_j) - H(x_i)})`, the probability that i goes before j, and the target 1 for the
better document, the fidelity loss of a pair is

.. math:: F_{ij} = 1 - \sqrt{P^*_{ij} P_{ij}} - \sqrt{(1 - P^*_{ij})(1 - P_{ij})} = 1 - \sqrt{P_{ij}},

from 0 to 1, so that no hopeless pair can dominate. The queries weigh the same: :math:`J = \sum_q \frac{1}{n_q}
\sum_{ij} F_{ij}` with :math:`n_q` pairs in query q. In each round a weak ranker h (a feature above a threshold) gets

.. math:: \alpha = \tfrac12 \ln \frac{W_+}{W_-}, \qquad W_\pm = \sum_{ij:\, h(x_i) - h(x_j) = \pm 1} w_{ij}, \qquad
    w_{ij} = \tfrac{1}{n_q} \tfrac12 \sqrt{P_{ij}}\,(1 - P_{ij}),

and the one with the largest :math:`(\sqrt{W_+} - \sqrt{W_-})^2` joins the sum H. The loss falls by at least that: this
alpha is the minimum of :math:`\sum w_{ij} e^{-\alpha (h(x_i) - h(x_j))}`, which rises faster and falls slower than J
does. Tsai, Liu, Qin, Chen and Ma, "FRank: a ranking method with fidelity loss", SIGIR 2007.
"""

from __future__ import annotations

from typing import final

import numpy as np

from ordino.arrays import frozen
from ordino.boosting.frank_kernels import fidelity_loss, split_weights
from ordino.boosting.stumps import Stump, StumpRanker, bin_features
from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.judge import Choice
from ordino.losses.levels import sort_labels
from ordino.progress import Steps

SMOOTHING = 1e-4  # of all pair weight, added to right and wrong: a weak ranker that is never wrong has a finite alpha


@final
class FRank(StumpRanker):
    """Boosted threshold rankers on the fidelity loss.

    Parameters
    ----------
    rounds
        Weak rankers at most. The best number on ``valid`` is kept, all where there is no ``valid``.
    thresholds
        Candidate thresholds of each feature at most; None takes every one there is.
    metric, profile
        The measure that chooses the number of rounds.
    scaling
        How features are scaled first, a name of ``SCALERS``.
    verbose
        Show progress.

    Attributes
    ----------
    stumps_
        The weak rankers: feature (from 0), threshold, alpha.
    loss_history_
        The loss J, divided by the number of queries with pairs, before the first and after each round; it falls.
    valid_history_
        The measure on ``valid`` after each round; empty without ``valid``.

    Notes
    -----
    The weights of pairs do not factor by document as RankBoost's do, so a round costs time for every pair and feature,
    though no memory.

    Examples
    --------
    At first both scores are 0 and P is 1/2, so that the loss is 1 - sqrt(1/2).

    >>> ranker = FRank(rounds=3).fit([[1.0], [0.0]], [1, 0])
    >>> round(ranker.loss_history_[0], 6), ranker.loss_history_[3] < ranker.loss_history_[0]
    (0.292893, True)
    """

    def __init__(
        self,
        *,
        rounds: int = 200,
        thresholds: int | None = 30,
        metric: str = "ndcg@10",
        profile: str = "standard",
        scaling: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.rounds = rounds
        self.thresholds = thresholds
        self.metric = metric
        self.profile = profile
        self.scaling = scaling
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        rounds = check_int("rounds", self.rounds, low=1)
        most = None if self.thresholds is None else check_int("thresholds", self.thresholds, low=1)
        bins = bin_features(data.X, most)
        y, offsets = frozen(data.y), frozen(data.offsets)
        n_pairs = sort_labels(y, offsets).n_pairs
        n_useful = max(int((n_pairs > 0).sum()), 1)
        pair_weight = 1 / (np.maximum(n_pairs, 1) * n_useful)
        scores = np.zeros(data.n_docs)
        held_out_scores = np.zeros(0 if valid is None else valid.n_docs)
        n_codes = int(bins.n_bins.max(initial=1))
        right, wrong = np.empty((data.n_features, n_codes)), np.empty((data.n_features, n_codes))
        in_use = (np.arange(n_codes) > 0) & (np.arange(n_codes) < bins.n_bins[:, None])  # (n_features, n_codes)
        choice = Choice(valid, self.metric, self.profile)
        self.loss_history_ = [fidelity_loss(scores, y, pair_weight, offsets)]
        stumps: list[Stump] = []
        n_kept = 0
        with Steps("FRank", rounds, verbose=self.verbose) as steps:
            for _ in steps:
                split_weights(scores, y, pair_weight, offsets, bins.codes, right, wrong)
                fall = (np.sqrt(np.maximum(right, 0)) - np.sqrt(np.maximum(wrong, 0))) ** 2 * in_use
                feature, code = (int(k) for k in np.unravel_index(np.argmax(fall), fall.shape))
                if not fall[feature, code] > 1e-14:
                    break  # no pair, or no weak ranker tells any pair apart
                plus, minus = (max(float(w[feature, code]), 0.0) for w in (right, wrong))
                spare = SMOOTHING * (plus + minus)
                alpha = 0.5 * float(np.log((plus + spare) / (minus + spare)))
                scores += np.where(bins.codes[:, feature] >= code, alpha, 0.0)
                self.loss_history_.append(fidelity_loss(scores, y, pair_weight, offsets))
                stump = Stump(feature, float(bins.thresholds[feature][code - 1]), alpha)
                stumps.append(stump)
                if valid is not None:
                    held_out_scores += stump.scores(valid.X)
                if choice.takes(held_out_scores):
                    n_kept = len(stumps)
                steps.show(loss=self.loss_history_[-1], **choice.figures)
        self.stumps_ = stumps[:n_kept]
        self.valid_history_ = choice.history
