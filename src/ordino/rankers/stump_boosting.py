r"""RankBoost and FRank: boosting of weak rankers on pairs, each a feature above a threshold.

RankBoost: pairs carry weights D. In each round a weak ranker h is chosen by

.. math:: r = \sum_{i, j:\, y_i > y_j} D_{ij}\,(h(x_i) - h(x_j)), \qquad \alpha = \tfrac12 \ln \frac{1 + r}{1 - r},

the largest :math:`|r|` wins, :math:`\alpha h` joins the sum H, and :math:`D_{ij} \leftarrow D_{ij}
\exp(\alpha (h(x_j) - h(x_i))) / Z`. Freund, Iyer, Schapire and Singer, "An efficient boosting algorithm for combining
preferences", JMLR 2003.

Pairs are never listed. After any round :math:`D_{ij} \propto e^{-H(x_i)} e^{H(x_j)}`, a factor of the better document
times one of the worse, so that the sums over a document's partners are sums over levels of its query (the paper's
RankBoost.B has two levels; any number works the same way), and :math:`r = \sum_i \pi_i h(x_i)` for all thresholds at
once from one running sum of the potentials :math:`\pi` over each feature.

FRank: an additive model, boosted on the fidelity loss of pairs. With :math:`P_{ij} = 1 / (1 + e^{H(x_j) - H(x_i)})`,
the probability that i goes before j, and the target 1 for the better document, the fidelity loss of a pair is

.. math:: F_{ij} = 1 - \sqrt{P^*_{ij} P_{ij}} - \sqrt{(1 - P^*_{ij})(1 - P_{ij})} = 1 - \sqrt{P_{ij}},

between 0 and 1, so that no hopeless pair can dominate. All queries have the same weight: :math:`J = \sum_q
\frac{1}{n_q} \sum_{ij} F_{ij}` with :math:`n_q` pairs in query q. In each round a weak ranker h gets

.. math:: \alpha = \tfrac12 \ln \frac{W_+}{W_-}, \qquad W_\pm = \sum_{ij:\, h(x_i) - h(x_j) = \pm 1} w_{ij}, \qquad
    w_{ij} = \tfrac{1}{n_q} \tfrac12 \sqrt{P_{ij}}\,(1 - P_{ij}),

and the one with the largest :math:`(\sqrt{W_+} - \sqrt{W_-})^2` joins the sum H. The loss falls by at least that: this
alpha is the minimum of :math:`\sum w_{ij} e^{-\alpha (h(x_i) - h(x_j))}`, which rises faster and falls slower than J
does. Tsai, Liu, Qin, Chen and Ma, "FRank: a ranking method with fidelity loss", SIGIR 2007.
"""

from collections.abc import Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.boosting.kernels import best_threshold, bin_sums, fidelity_loss, pair_potentials, split_weights
from ordino.boosting.long_queries import (
    FEWEST,
    WORTH_IT,
    Nodes,
    add_long_split_weights,
    long_fidelity_loss,
    nodes_between,
)
from ordino.boosting.stumps import Bins, StumpRanker, rounds_param, thresholds_param
from ordino.data.dataset import Dataset
from ordino.forms import Stump
from ordino.losses.levels import sort_labels
from ordino.parameters import settings

LARGEST_R = 1 - 1e-9  # a weak ranker that is always right has a finite alpha
SMOOTHING = 1e-4  # of all pair weight, added to right and wrong: a weak ranker that is never wrong has a finite alpha


@final
class RankBoost(StumpRanker):
    """Boosted threshold rankers, without a list of pairs.

    Attributes
    ----------
    stumps_
        The weak rankers: feature (from 0), threshold, alpha.
    history_
        For each round, ``r`` of the chosen weak ranker and the metric on ``valid``, if given.

    Examples
    --------
    Labels 2, 1, 0 make three pairs; the feature is 1, 1, 0. "Above 0.5" orders two pairs correctly and ties one,
    so r = 2/3 and alpha = ln(5) / 2 = 0.804719.

    >>> ranker = RankBoost(rounds=1).fit([[1.0], [1.0], [0.0]], [2, 1, 0], qid=[1] * 3)
    >>> [(s.feature, s.threshold, round(s.alpha, 6)) for s in ranker.stumps_]
    [(0, 0.5, 0.804719)]
    """

    uses_weights = True

    published = settings(thresholds=None)
    """A weak ranker may cut a feature at any of its values; the paper leaves the number of rounds open."""

    def _rounds(self, data: Dataset, bins: Bins) -> Iterator[tuple[Stump, dict[str, float]]]:
        level = sort_labels(data.y, data.offsets).level
        weights = data.doc_weights
        scores, potential = np.zeros(data.n_docs), np.empty(data.n_docs)
        rising, falling = np.empty((2, int(level.max(initial=0)) + 1))
        sums = np.empty((data.n_features, int(bins.n_bins.max(initial=1))))
        while True:
            total = pair_potentials(scores, level, weights, frozen(data.offsets), rising, falling, potential)
            bin_sums(bins.codes, potential, sums)
            feature, code, found = best_threshold(sums, bins.n_bins)
            if feature < 0 or not abs(found) > 1e-12 * total:
                return  # no pair, or no weak ranker tells any pair apart
            r = float(np.clip(found / total, -LARGEST_R, LARGEST_R))
            stump, gained = bins.stump(int(feature), code, 0.5 * float(np.log((1 + r) / (1 - r))))
            scores += gained
            yield stump, {"r": r}


@final
class FRank(StumpRanker):
    """Boosted threshold rankers on the fidelity loss.

    Attributes
    ----------
    stumps_
        The weak rankers: feature (from 0), threshold, alpha.
    history_
        For each round, and for round 0 before the first: the loss J divided by the number of queries with pairs, which
        falls, and the metric on ``valid``, if given.

    Notes
    -----
    Unlike RankBoost's, the pair weights do not factor by document. The pairs of short queries are walked; those of
    queries with hundreds of documents are summed by interpolation, to 1e-9 and in time linear in the documents.

    Examples
    --------
    At first both scores are 0 and P is 1/2, so the loss is 1 - sqrt(1/2).

    >>> history = FRank(rounds=3).fit([[1.0], [0.0]], [1, 0], qid=[1] * 2).history_
    >>> round(history[0]["loss"], 6), history[3]["loss"] < history[0]["loss"]
    (0.292893, True)
    """

    rounds: int = rounds_param(200)
    thresholds: int | None = thresholds_param(30)

    def _rounds(self, data: Dataset, bins: Bins) -> Iterator[tuple[Stump, dict[str, float]]]:
        n_pairs = sort_labels(data.y, data.offsets).n_pairs
        n_useful = max(int((n_pairs > 0).sum()), 1)
        pair_weight = 1 / (np.maximum(n_pairs, 1) * n_useful)
        scores = np.zeros(data.n_docs)
        n_codes = int(bins.n_bins.max(initial=1))
        right, wrong = np.empty((data.n_features, n_codes)), np.empty((data.n_features, n_codes))
        in_use = (np.arange(n_codes) > 0) & (np.arange(n_codes) < bins.n_bins[:, None])  # (n_features, n_codes)
        pairs = FidelityPairs(data, n_pairs, pair_weight)
        self.history_ = [{"round": 0, "loss": pairs.loss(scores)}]
        while True:
            pairs.split(scores, bins.codes, right, wrong)
            fall = (np.sqrt(np.maximum(right, 0)) - np.sqrt(np.maximum(wrong, 0))) ** 2 * in_use
            feature, code = (int(k) for k in np.unravel_index(np.argmax(fall), fall.shape))
            if not fall[feature, code] > 1e-14:
                return  # no pair, or no weak ranker tells any pair apart
            plus, minus = (max(float(w[feature, code]), 0.0) for w in (right, wrong))
            spare = SMOOTHING * (plus + minus)
            stump, gained = bins.stump(feature, code, 0.5 * float(np.log((plus + spare) / (minus + spare))))
            scores += gained
            yield stump, {"loss": pairs.loss(scores)}


@final
class FidelityPairs:
    """Sums over the pairs of all queries: those of short queries are walked, those of long ones interpolated."""

    def __init__(self, data: Dataset, n_pairs: NDArray[np.float64], pair_weight: NDArray[np.float64]) -> None:
        self._y, self._offsets, self._weight = frozen(data.y), frozen(data.offsets), pair_weight
        self._n_pairs, self._counts = n_pairs, data.counts
        self._orders: dict[int, NDArray[np.intp]] = {}

    def loss(self, scores: NDArray[np.float64]) -> float:
        """The weighted sum of 1 - sqrt(P)."""
        is_long, nodes = self._long(scores)
        loss = float(fidelity_loss(scores, self._y, self._weight, self._offsets, is_long))
        for q, (points, weights) in nodes.items():
            loss += self._weight[q] * long_fidelity_loss(scores, self._y, self._order(q), points, weights)
        return loss

    def split(self, scores: NDArray[np.float64], codes: Any, right: Any, wrong: Any) -> None:
        """Fill the weights that each threshold puts right and wrong."""
        is_long, nodes = self._long(scores)
        split_weights(scores, self._y, self._weight, self._offsets, is_long, codes, right, wrong)
        for q, (points, weights) in nodes.items():
            weight = float(self._weight[q])
            add_long_split_weights(scores, self._y, self._order(q), points, weights, weight, codes, right, wrong)

    def _long(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.bool_], dict[int, Nodes]]:
        """Which queries are worth interpolating at these scores, and where."""
        is_long, nodes = np.full(len(self._counts), False), {}
        for q in np.flatnonzero(self._n_pairs > FEWEST * WORTH_IT * self._counts):
            own = scores[self._offsets[q] : self._offsets[q + 1]]
            found = nodes_between(float(own.min()), float(own.max()))
            if self._n_pairs[q] > WORTH_IT * max(len(found.points), FEWEST) * self._counts[q]:
                is_long[q], nodes[int(q)] = True, found
        return is_long, nodes

    def _order(self, q: int) -> NDArray[np.intp]:
        """The documents of a query by rising label."""
        if q not in self._orders:
            start, stop = self._offsets[q : q + 2]
            self._orders[q] = frozen(start + np.argsort(self._y[start:stop], kind="stable"))
        return self._orders[q]
