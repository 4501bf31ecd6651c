r"""PRank: a perceptron with one threshold between neighboring labels.

A document with features x belongs to the first level r whose threshold lies above its score,
:math:`\min\{r : w \cdot x < b_r\}`. For each threshold on the wrong side of the score, with :math:`\tau_r = \pm 1`
telling on which side the score should have been, a mistake moves

.. math:: w \leftarrow w + \Bigl(\sum_r \tau_r\Bigr) x, \qquad b_r \leftarrow b_r - \tau_r .

Crammer and Singer, "Pranking with ranking", NIPS 2001. The thresholds stay in order by themselves. Burges et al.
(RankNet, ICML 2005, section 6) compare with it in linear and quadratic form.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.data.prepare import quadratic_features
from ordino.judge import Choice
from ordino.linear import FeatureWeight, linear_scores
from ordino.networks.perceptron_kernels import prank_pass
from ordino.progress import Steps
from ordino.rankers.ordinal import OrdinalRanker

ROWS = 4096  # whose products of features are in memory at a time in predict


@final
class PRank(OrdinalRanker):
    """Online ordinal regression by perceptron steps on the weights and thresholds together.

    Parameters
    ----------
    epochs
        Passes over the documents, each in a new random order. The best on ``valid`` is kept, the last where there is
        no ``valid``.
    quadratic
        Learn from all products of two features as well (the quadratic kernel of RankNet's section 6).
    metric, profile
        The measure that chooses among epochs.
    scaling
        How features are scaled first, a name of ``SCALERS``.
    seed
        Of the order of the documents.
    verbose
        Show progress.

    Attributes
    ----------
    coef_
        Weights of the features, or of features and products.
    thresholds_
        Between the levels, rising.
    classes_
        The labels, rising; one more than there are thresholds.
    epoch_
        The pass whose weights were kept, from 1.
    mistakes_
        For each pass, the sum of distances in levels between what was predicted and the truth.

    Examples
    --------
    At w = 0, b = 0 every document has the highest label. The one with feature -2 and label 0 moves w to 2 and b to 1;
    then the scores -4 and 4 lie on the right sides of 1.

    >>> ranker = PRank(epochs=2).fit([[2.0], [-2.0]], [1, 0])
    >>> ranker.coef_.tolist(), ranker.thresholds_.tolist(), ranker.mistakes_
    ([2.0], [1.0], [1, 0])
    >>> ranker.predict_levels([[2.0], [-2.0]]).tolist()
    [1.0, 0.0]
    """

    def __init__(
        self,
        *,
        epochs: int = 20,
        quadratic: bool = False,
        metric: str = "ndcg@10",
        profile: str = "standard",
        scaling: str | None = None,
        seed: int = 0,
        verbose: bool = False,
    ) -> None:
        self.epochs = epochs
        self.quadratic = quadratic
        self.metric = metric
        self.profile = profile
        self.scaling = scaling
        self.seed = seed
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        epochs = check_int("epochs", self.epochs, low=1)
        rng = np.random.default_rng(self.seed)
        X, level = frozen(self._wide(data).X), self._levels(data)
        weights, thresholds = np.zeros(X.shape[1]), np.zeros(len(self.classes_) - 1)
        sums = np.zeros_like(weights), np.zeros_like(thresholds)
        choice = Choice(None if valid is None else self._wide(valid), self.metric, self.profile)
        self.mistakes_: list[int] = []
        with Steps("PRank", epochs, verbose=self.verbose) as steps:
            for epoch in steps:
                rows = rng.permutation(data.n_docs)
                self.mistakes_.append(prank_pass(X, level, rows, weights, thresholds, *sums))
                if choice.takes_weights(weights):
                    self.coef_, self.thresholds_, self.epoch_ = weights.copy(), thresholds.copy(), epoch + 1
                steps.show(mistakes=self.mistakes_[-1], **choice.figures)

    def _wide(self, data: Dataset) -> Dataset:
        """The data with products of features beside the features, if they are wanted."""
        return quadratic_features(data) if self.quadratic else data

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        if not self.quadratic:
            return linear_scores(data.X, self.coef_)
        scores = np.empty(data.n_docs)
        for start in range(0, data.n_docs, ROWS):  # products of some rows at a time
            scores[start : start + ROWS] = linear_scores(quadratic_features(data.X[start : start + ROWS]), self.coef_)
        return scores

    def feature_weights(self) -> list[FeatureWeight]:
        """The weights by feature name (``a*b`` for a product of two), largest first."""
        self._check_fitted()
        names = getattr(self, "feature_names_in_", [f"f{j + 1}" for j in range(self.n_features_in_)])
        if self.quadratic:
            names = [*names, *(f"{a}*{b}" for i, a in enumerate(names) for b in names[i:])]
        order = np.argsort(-self.coef_, kind="stable")
        return [FeatureWeight(str(names[j]), float(self.coef_[j])) for j in order]
