r"""RankBoost: boosting of weak rankers on pairs.

Pairs carry weights D. In each round a weak ranker h (a feature above a threshold) is chosen by

.. math:: r = \sum_{i, j:\, y_i > y_j} D_{ij}\,(h(x_i) - h(x_j)), \qquad \alpha = \tfrac12 \ln \frac{1 + r}{1 - r},

the largest :math:`|r|` wins, :math:`\alpha h` joins the sum H, and :math:`D_{ij} \leftarrow D_{ij}
\exp(\alpha (h(x_j) - h(x_i))) / Z`. Freund, Iyer, Schapire and Singer, "An efficient boosting algorithm for combining
preferences", JMLR 2003.

Pairs are never listed. After any round :math:`D_{ij} \propto e^{-H(x_i)} e^{H(x_j)}`, a factor of the better document
times one of the worse, so that the sums over a document's partners are sums over levels of its query (the paper's
RankBoost.B has two levels; any number works the same way), and :math:`r = \sum_i \pi_i h(x_i)` for all thresholds at
once from one running sum of the potentials :math:`\pi` over each feature.
"""

from __future__ import annotations

from typing import final

import numpy as np

from ordino.arrays import frozen
from ordino.boosting.rankboost_kernels import best_threshold, bin_sums, pair_potentials
from ordino.boosting.stumps import Stump, StumpRanker, bin_features
from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.judge import Choice
from ordino.losses.levels import sort_labels
from ordino.progress import Steps

LARGEST_R = 1 - 1e-9  # a weak ranker that is always right has a finite alpha


@final
class RankBoost(StumpRanker):
    """Boosted threshold rankers, without a list of pairs.

    Parameters
    ----------
    rounds
        Weak rankers at most, :math:`T`. The best number on ``valid`` is kept, all where there is no ``valid``.
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
    valid_history_
        The measure on ``valid`` after each round; empty without ``valid``.

    Examples
    --------
    Three pairs: the labels 2, 1, 0 with the feature 1, 1, 0. "Above 0.5" puts two pairs right and leaves one equal,
    so r = 2/3 and alpha = ln(5) / 2 = 0.804719.

    >>> ranker = RankBoost(rounds=1).fit([[1.0], [1.0], [0.0]], [2, 1, 0])
    >>> [(s.feature, s.threshold, round(s.alpha, 6)) for s in ranker.stumps_]
    [(0, 0.5, 0.804719)]
    """

    uses_weights = True

    def __init__(
        self,
        *,
        rounds: int = 300,
        thresholds: int | None = 255,
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
        level = sort_labels(data.y, data.offsets).level
        weights = np.ones(data.n_docs) if data.weights is None else np.array(data.weights)
        scores, potential = np.zeros(data.n_docs), np.empty(data.n_docs)
        held_out_scores = np.zeros(0 if valid is None else valid.n_docs)
        sums = np.empty((data.n_features, int(bins.n_bins.max(initial=1))))
        choice = Choice(valid, self.metric, self.profile)
        stumps: list[Stump] = []
        n_kept = 0
        with Steps("RankBoost", rounds, verbose=self.verbose) as steps:
            for _ in steps:
                total = pair_potentials(scores, level, weights, frozen(data.offsets), potential)
                bin_sums(bins.codes, potential, sums)
                feature, code, found = best_threshold(sums, bins.n_bins)
                if feature < 0 or not abs(found) > 1e-12 * total:
                    break  # no pair, or no weak ranker tells any pair apart
                r = float(np.clip(found / total, -LARGEST_R, LARGEST_R))
                alpha = 0.5 * float(np.log((1 + r) / (1 - r)))
                stump = Stump(int(feature), float(bins.thresholds[feature][code - 1]), alpha)
                stumps.append(stump)
                scores += np.where(bins.codes[:, feature] >= code, alpha, 0.0)
                if valid is not None:
                    held_out_scores += stump.scores(valid.X)
                if choice.takes(held_out_scores):
                    n_kept = len(stumps)
                steps.show(r=r, **choice.figures)
        self.stumps_ = stumps[:n_kept]
        self.valid_history_ = choice.history
