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

from collections.abc import Iterator
from typing import final

import numpy as np

from ordino.arrays import frozen
from ordino.boosting.kernels import best_threshold, bin_sums, pair_potentials
from ordino.boosting.stumps import Bins, StumpRanker
from ordino.data.dataset import Dataset
from ordino.forms import Stump
from ordino.losses.levels import sort_labels

LARGEST_R = 1 - 1e-9  # a weak ranker that is always right has a finite alpha


@final
class RankBoost(StumpRanker):
    """Boosted threshold rankers, without a list of pairs.

    Attributes
    ----------
    stumps_
        The weak rankers: feature (from 0), threshold, alpha.
    history_
        For each round ``r`` of the weak ranker taken and, if there is one, the metric on ``valid``.

    Examples
    --------
    Three pairs: the labels 2, 1, 0 with the feature 1, 1, 0. "Above 0.5" puts two pairs right and leaves one equal,
    so r = 2/3 and alpha = ln(5) / 2 = 0.804719.

    >>> ranker = RankBoost(rounds=1).fit([[1.0], [1.0], [0.0]], [2, 1, 0])
    >>> [(s.feature, s.threshold, round(s.alpha, 6)) for s in ranker.stumps_]
    [(0, 0.5, 0.804719)]
    """

    uses_weights = True

    def _rounds(self, data: Dataset, bins: Bins) -> Iterator[tuple[Stump, dict[str, float]]]:
        level = sort_labels(data.y, data.offsets).level
        weights = data.doc_weights
        scores, potential = np.zeros(data.n_docs), np.empty(data.n_docs)
        sums = np.empty((data.n_features, int(bins.n_bins.max(initial=1))))
        while True:
            total = pair_potentials(scores, level, weights, frozen(data.offsets), potential)
            bin_sums(bins.codes, potential, sums)
            feature, code, found = best_threshold(sums, bins.n_bins)
            if feature < 0 or not abs(found) > 1e-12 * total:
                return  # no pair, or no weak ranker tells any pair apart
            r = float(np.clip(found / total, -LARGEST_R, LARGEST_R))
            stump, gained = bins.stump(int(feature), code, 0.5 * float(np.log((1 + r) / (1 - r))))
            scores += gained
            yield stump, {"r": r}
