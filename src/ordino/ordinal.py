r"""OrdinalClassifier: classes in an order, from the scores of any ranker and thresholds between them.

A ranker learns to put all rows in order by their class. The classes are then ranges of its score :math:`s`, with soft
borders (proportional odds; McCullagh, 1980):

.. math:: P(y \le k \mid s) = \frac{1}{1 + e^{-(\theta_k - a s)}}, \qquad \theta_1 < \theta_2 < \dots, \quad a > 0

Slope and thresholds are fitted by maximum likelihood to scores of rows that the ranker had not seen (out of fold),
since a ranker is too sure of rows that it learned from.
"""

from __future__ import annotations

import warnings
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit

from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.errors import NothingToLearnWarning, ParameterError
from ordino.estimators import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_is_fitted,
    clone,
    validate_data,
)
from ordino.ranker import Ranker
from ordino.rankers import ranker_class
from ordino.streams import stream

Floats = NDArray[np.float64]
LEAST = 1e-12  # of a probability
TRIED = 100  # rows that are scored alone, to see whether their scores are their own
STEEPEST = 50.0  # the largest logarithm of a slope or of a gap


@final
class OrdinalClassifier(ClassifierMixin, BaseEstimator):
    """A scikit-learn classifier for classes in an order, made of a ranker and thresholds on its scores.

    Classes have the order in which they sort: 0 < 1 < 2, or "a" < "b". The ranker learns from lists of rows drawn at
    random; features are brought to mean 0 and deviation 1, and the ranker's own scaling, which may look at whole lists,
    is left out.
    Rankers whose scores depend on the other rows of a list, as those of comparators (SortNet, DeepNet), of fusion and
    of rankers made of others do, are refused.

    Parameters
    ----------
    ranker
        A ranker, or its name.
    folds
        How many parts the rows are cut into, to score each by a ranker that has not seen it. 1 sets the thresholds by
        the rows that were learned.
    list_size
        How many rows, about, a list has that the ranker learns from: all pairs of a list are compared.
    seed
        How the rows are cut, into folds and lists. The ranker has a seed of its own.

    Attributes
    ----------
    classes_
        The classes in their order.
    ranker_
        The ranker, fitted on all rows.
    thresholds_, slope_
        Theta and a.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OrdinalClassifier("linear-regression-ranker").fit(X, y)
    >>> model.score(X, y) > 0.95, model.predict_proba(X[:2]).shape
    (True, (2, 3))
    """

    def __init__(
        self, ranker: str | Ranker = "ranknet", *, folds: int = 5, list_size: int = 1000, seed: int = 0
    ) -> None:
        self.ranker = ranker
        self.folds = folds
        self.list_size = list_size
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the order of the rows, then the thresholds between classes."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        check_int("folds", self.folds, low=1)
        check_int("list_size", self.list_size, low=2)
        self.classes_, grades = np.unique(labels, return_inverse=True)
        self.mean_, deviation = rows.mean(axis=0), rows.std(axis=0)
        self.deviation_ = np.where(deviation > 0, deviation, 1.0)
        if len(self.classes_) == 1:
            self.ranker_, self.thresholds_, self.slope_ = None, np.zeros(0), 1.0
            return self
        scaled = self._scaled(rows)
        self.ranker_ = self._learned(scaled, grades)
        self.center_, self.unit_ = 0.0, 1.0
        scores = self._unseen_scores(scaled, grades)
        self.center_, self.unit_ = float(scores.mean()), float(scores.std()) or 1.0
        self.slope_, self.thresholds_ = fit_thresholds((scores - self.center_) / self.unit_, grades)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probability of each class, shape ``(n_rows, n_classes)``."""
        check_is_fitted(self, "classes_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        if self.ranker_ is None:
            return np.ones((len(rows), 1))
        scores = (_scores(self.ranker_, self._scaled(rows)) - self.center_) / self.unit_
        return probabilities(scores, self.slope_, self.thresholds_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)  # which says if nothing was fitted yet
        found: NDArray[Any] = self.classes_[best]
        return found

    def _scaled(self, rows: Floats) -> Floats:
        return np.asarray((rows - self.mean_) / self.deviation_)

    def _learned(self, scaled: Floats, grades: NDArray[np.int64]) -> Ranker:
        ranker = ranker_class(self.ranker)() if isinstance(self.ranker, str) else clone(self.ranker)
        if "scaling" in ranker.get_params(deep=False):
            ranker.set_params(scaling=None)
        order = stream(self.seed, "lists").permutation(len(grades))
        lists = np.empty(len(grades), np.intp)
        lists[order] = np.arange(len(grades)) * max(round(len(grades) / self.list_size), 1) // len(grades)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingToLearnWarning)
            fitted: Ranker = ranker.fit(Dataset(scaled, grades, lists))
        if not scores_alone(fitted, scaled):
            name = type(fitted).__name__
            raise ParameterError(
                f"{name} gives places in a list, not scores of single rows; use a ranker that scores, as 'ranknet'"
            )
        return fitted

    def _unseen_scores(self, scaled: Floats, grades: NDArray[np.int64]) -> Floats:
        """The score of each row by a ranker that has not seen it; every fold has all classes that have enough rows."""
        n_folds = min(self.folds, int(np.bincount(grades).min()))
        if n_folds < 2:
            return _scores(self.ranker_, scaled)  # type: ignore[arg-type]
        order = stream(self.seed, "folds").permutation(len(grades))
        fold = np.empty(len(grades), np.intp)
        fold[order[np.argsort(grades[order], kind="stable")]] = np.arange(len(grades)) % n_folds
        scores = np.empty(len(grades))
        for number in range(n_folds):
            own = fold == number
            scores[own] = _scores(self._learned(scaled[~own], grades[~own]), scaled[own])
        return scores


def _scores(ranker: Ranker, scaled: Floats) -> Floats:
    return ranker.predict(Dataset(scaled, np.zeros(len(scaled))))


def scores_alone(ranker: Ranker, scaled: Floats) -> bool:
    """Whether rows have the same scores one by one as together in a list; some of them are tried."""
    some = scaled[np.linspace(0, len(scaled) - 1, min(len(scaled), TRIED)).astype(np.intp)]
    alone = ranker.predict(Dataset(some, np.zeros(len(some)), np.arange(len(some))))
    return np.allclose(alone, _scores(ranker, some))


def probabilities(scores: Floats, slope: float, thresholds: Floats) -> Floats:
    """The probability of each class between the thresholds.

    Examples
    --------
    >>> probabilities(np.array([0.0]), 1.0, np.array([-np.log(3), np.log(3)])).round(2).tolist()
    [[0.25, 0.5, 0.25]]
    """
    below = expit(thresholds - slope * scores[:, None])  # (n_rows, n_classes - 1)
    edges = np.hstack((np.zeros((len(scores), 1)), below, np.ones((len(scores), 1))))
    return np.asarray(np.diff(edges, axis=1))


def fit_thresholds(scores: Floats, grades: NDArray[np.int64]) -> tuple[float, Floats]:
    """Slope and thresholds by maximum likelihood; ``grades`` are 0, 1, ..., each of them there."""
    shares = np.cumsum(np.bincount(grades))[:-1] / len(grades)
    start = np.log(shares / (1 - shares))
    first = np.concatenate(([0.0], start[:1], np.log(np.maximum(np.diff(start), 1e-3))))

    def unpacked(free: Floats) -> tuple[float, Floats]:
        bounded = np.clip(free, -STEEPEST, STEEPEST)
        return float(np.exp(bounded[0])), np.cumsum(np.concatenate((bounded[1:2], np.exp(bounded[2:]))))

    def loss(free: Floats) -> float:
        own = probabilities(scores, *unpacked(free))[np.arange(len(grades)), grades]
        # where classes do not overlap, the steeper the better: a small penalty makes one slope the best
        return float(-np.log(np.maximum(own, LEAST)).mean() + 1e-5 * free[0] ** 2)

    found = minimize(loss, first, method="L-BFGS-B", options={"maxiter": 500})
    return unpacked(found.x)
