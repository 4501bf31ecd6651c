r"""PRank and OAP-BPM: perceptrons with one threshold between neighboring labels.

A document with features x belongs to the first level r whose threshold lies above its score, :math:`\min\{r : w \cdot x
< b_r\}`. For each threshold on the wrong side of the score, with :math:`\tau_r = \pm 1` for the side on which the score
should have been, a mistake causes the update

.. math:: w \leftarrow w + \Bigl(\sum_r \tau_r\Bigr) x, \qquad b_r \leftarrow b_r - \tau_r .

Crammer and Singer, "Pranking with ranking", NIPS 2001. The thresholds stay in order by themselves.

OAP-BPM averages many such perceptrons. Each of N sees each document with probability :math:`\tau` and learns from it by
PRank's rule. Averaging their weights and thresholds approximates the Bayes point: the center of all rankers that fit
the data, which generalizes like a large-margin ranker. Harrington, "Online ranking/collaborative filtering using the
perceptron algorithm", ICML 2003. Burges et al. (RankNet, ICML 2005, section 6) compare with both, with PRank in linear
and quadratic form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import frozen, row_blocks
from ordino.data.dataset import Dataset
from ordino.data.prepare import quadratic_features
from ordino.forms import Form, Linear, linear_scores, require
from ordino.judge import Choice
from ordino.linear import name_weights
from ordino.networks.perceptron_kernels import prank_pass
from ordino.parameters import learned, param, settings
from ordino.progress import Steps
from ordino.ranker import FeatureWeight, Ranker
from ordino.recurring import (
    metric_param,
    missing_param,
    n_jobs_param,
    profile_param,
    scaling_param,
    seed_param,
    verbose_param,
)
from ordino.threads import worker_threads

Floats = NDArray[np.float64]

ROWS = 4096  # whose products of features are in memory at a time in predict
AVERAGING = ("last", "steps")


def epochs_param(default: int, text: str) -> Any:
    """The parameter ``epochs``."""
    kept = "With `valid`, the best pass is kept; otherwise the last."
    return param(default, f"Number of passes over the documents{text}. {kept}", low=1, brief=2)


class OrdinalRanker(Ranker):
    """A linear ranker with thresholds that divide the scores into one interval for each label."""

    coef_: Floats = learned()
    thresholds_: Floats = learned()  # (n_levels - 1,), rising
    classes_: Floats = learned()  # (n_levels,), the labels, rising
    history_: list[dict[str, float]] = learned()

    epochs: int = epochs_param(20, ", each in a new random order")
    metric: str = metric_param(text="The metric used to choose the best epoch.")
    profile: str = profile_param()
    scaling: str | None = scaling_param()
    missing: str | None = missing_param()
    seed: int = seed_param()
    verbose: bool = verbose_param()

    def form(self) -> Form:
        """Weights of the features."""
        self._check_fitted()
        return Linear(self.scaler_, self.n_inputs, self.coef_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The weights by feature name (``a*b`` for a product of two), largest first."""
        self._check_fitted()
        names = self.input_names()
        if len(self.coef_) == len(names):
            return name_weights(self.feature_names(), self.by_feature(self.coef_))
        return name_weights((*names, *(f"{a}*{b}" for i, a in enumerate(names) for b in names[i:])), self.coef_)

    def predict_levels(self, X: ArrayLike | Dataset, *, qid: ArrayLike | Sequence[Any] | None = None) -> Floats:
        """The label of each row: that of the first threshold above its score, or the highest if there is none."""
        scores = self.predict(X, qid=qid)
        return self.classes_[np.searchsorted(self.thresholds_, scores, side="right")]

    def _levels(self, data: Dataset) -> NDArray[np.int64]:
        """Remember the labels as ``classes_`` and give each row's place among them."""
        self.classes_, level = np.unique(data.y, return_inverse=True)
        return level.astype(np.int64)


@final
@dataclass(frozen=True, eq=False)
class Quadratic(Form):
    """A weighted sum of the features and of all products of two."""

    kind: ClassVar[str] = "other"

    coef: Floats

    def score_scaled(self, data: Dataset) -> Floats:
        """The weighted sum, with the products of some rows at a time."""
        scores = np.empty(data.n_docs)
        for rows in row_blocks(data.n_docs, ROWS):
            scores[rows] = linear_scores(quadratic_features(data.X[rows]), self.coef)
        return scores

    def check(self) -> None:
        """One weight for each feature and for each product."""
        n_weights = self.n_features + self.n_features * (self.n_features + 1) // 2
        coef = np.asarray(self.coef)
        require(coef.dtype == np.float64 and coef.shape == (n_weights,), "coef_")


@final
class PRank(OrdinalRanker):
    """Online ordinal regression by perceptron steps on the weights and thresholds together.

    Attributes
    ----------
    coef_
        Weights of the features, or of the features and their products.
    thresholds_
        The thresholds between the levels, in ascending order.
    classes_
        The labels, in ascending order; one more than there are thresholds.
    epoch_
        The pass whose weights were kept, starting at 1.
    history_
        For each pass, ``mistakes``, the total distance in levels between predicted and true labels, and the metric on
        ``valid``, if given.

    Examples
    --------
    At w = 0, b = 0 every document has the highest label. The one with feature -2 and label 0 moves w to 2 and b to 1;
    then the scores -4 and 4 lie on the right sides of 1.

    >>> ranker = PRank(epochs=2).fit([[2.0], [-2.0]], [1, 0], qid=[1] * 2)
    >>> ranker.coef_.tolist(), ranker.thresholds_.tolist(), [row["mistakes"] for row in ranker.history_]
    ([2.0], [1.0], [1, 0])
    >>> ranker.predict_levels([[2.0], [-2.0]]).tolist()
    [1.0, 0.0]
    """

    quadratic: bool = param(
        False, "Also learn from all products of two features (the quadratic kernel of RankNet's section 6)."
    )

    published = settings(epochs=100, metric="ndcg@15")
    """RankNet's section 6: 100 epochs, the best on validation by NDCG@15 kept."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        rng = np.random.default_rng(self.seed)
        X, level = frozen(self._wide(data).X), self._levels(data)
        weights, thresholds = np.zeros(X.shape[1]), np.zeros(len(self.classes_) - 1)
        sums = np.zeros_like(weights), np.zeros_like(thresholds)
        choice = Choice(None if valid is None else self._wide(valid), self.metric, self.profile)
        self.history_ = []
        with Steps("PRank", self.epochs, verbose=self.verbose) as steps:
            for epoch in steps:
                rows = rng.permutation(data.n_docs)
                mistakes = prank_pass(X, level, rows, weights, thresholds, *sums)
                if choice.takes_weights(weights):
                    self.coef_, self.thresholds_, self.epoch_ = weights.copy(), thresholds.copy(), epoch + 1
                self.history_.append({"epoch": epoch + 1, "mistakes": mistakes} | choice.last)
                steps.show(mistakes=mistakes, **choice.figures)

    def _wide(self, data: Dataset) -> Dataset:
        """The data with products of features beside the features, if they are wanted."""
        return quadratic_features(data) if self.quadratic else data

    def form(self) -> Form:
        """Weights of the features, or of the features and their products."""
        self._check_fitted()
        if len(self.coef_) == self.n_inputs:
            return super().form()
        return Quadratic(self.scaler_, self.n_inputs, self.coef_)


@final
class OAPBPM(OrdinalRanker):
    r"""Averaged PRank perceptrons, each on its own random part of the documents.

    Attributes
    ----------
    coef_, thresholds_
        Averaged weights and thresholds.
    classes_
        The labels, in ascending order; one more than there are thresholds.
    epoch_
        The pass whose average was kept, starting at 1.
    history_
        A row for each pass, with the metric on ``valid``, if given.

    Examples
    --------
    >>> ranker = OAPBPM(n_perceptrons=5, tau=0.5, epochs=10).fit([[2.0], [-2.0]], [1, 0], qid=[1] * 2)
    >>> ranker.predict_levels([[2.0], [-2.0]]).tolist()
    [1.0, 0.0]
    """

    n_perceptrons: int = param(100, "N, the number of perceptrons to average.", low=1)
    tau: float = param(0.3, "Probability that a perceptron sees a document.", above=0, high=1)
    averaging: str = param(
        "last",
        "last: the mean of the perceptrons at the end of a pass (Harrington). steps: the mean over all steps of all "
        "passes so far, which changes less from pass to pass.",
        choices=AVERAGING,
    )
    epochs: int = epochs_param(50, "")
    n_jobs: int | None = n_jobs_param()

    published = settings(n_perceptrons=100, tau=0.3, averaging="last", epochs=100, metric="ndcg@15")
    """RankNet's section 6, with the tau (of 0.3, 0.5 and 0.7) and N that were best on its validation data."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        X, level = frozen(data.X), self._levels(data)
        stream, *own = np.random.default_rng(self.seed).spawn(1 + self.n_perceptrons)
        sizes = X.shape[1], len(self.classes_) - 1
        now = [np.zeros((self.n_perceptrons, size)) for size in sizes]  # weights, thresholds
        sums = [np.zeros((self.n_perceptrons, size)) for size in sizes]
        seen = np.zeros(self.n_perceptrons)
        choice = Choice(valid, self.metric, self.profile)
        self.history_ = []
        with (
            worker_threads(self.n_jobs, self.n_perceptrons) as run,
            Steps("OAP-BPM", self.epochs, verbose=self.verbose) as steps,
        ):
            for epoch in steps:
                order = stream.permutation(data.n_docs)

                def run_perceptron(j: int, order: NDArray[np.intp] = order) -> None:
                    rows = order[own[j].random(len(order)) < self.tau]
                    seen[j] += len(rows)
                    prank_pass(X, level, rows, now[0][j], now[1][j], sums[0][j], sums[1][j])

                run(run_perceptron, range(self.n_perceptrons))
                averaged = now if self.averaging == "last" else [s / np.maximum(seen, 1)[:, None] for s in sums]
                weights, thresholds = (part.mean(axis=0) for part in averaged)
                if choice.takes_weights(weights):
                    self.coef_, self.thresholds_, self.epoch_ = weights, thresholds, epoch + 1
                self.history_.append({"epoch": epoch + 1} | choice.last)
                steps.show(**choice.figures)
