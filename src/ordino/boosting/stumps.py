"""Weak rankers that ask one question: is a feature above a threshold? And rankers that are weighted sums of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.linear import FeatureWeight
from ordino.ranker import Ranker


class Stump(NamedTuple):
    """A weak ranker: ``alpha`` for documents whose feature is above the threshold, 0 for the rest."""

    feature: int
    threshold: float
    alpha: float

    def scores(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """``alpha`` or 0 for each row."""
        return np.where(X[:, self.feature] > self.threshold, self.alpha, 0.0)


class Bins(NamedTuple):
    """Features as small whole numbers: how many candidate thresholds lie below each value."""

    codes: NDArray[np.unsignedinteger]  # (n_docs, n_features)
    thresholds: list[NDArray[np.float64]]  # of each feature, rising
    n_bins: NDArray[np.int64]  # (n_features,), one more than there are thresholds


def bin_features(X: NDArray[np.float32], most: int | None) -> Bins:
    """Candidate thresholds halfway between neighboring values of each feature, at most ``most``, evenly chosen.

    Examples
    --------
    >>> bins = bin_features(np.array([[1.0], [5.0], [3.0], [3.0]], np.float32), most=None)
    >>> bins.thresholds[0].tolist(), bins.codes.ravel().tolist()
    ([2.0, 4.0], [0, 2, 1, 1])
    """
    thresholds = []
    for column in X.T:
        values = np.unique(column).astype(np.float64)
        halfway = (values[:-1] + values[1:]) / 2
        if most is not None and len(halfway) > most:
            halfway = halfway[np.linspace(0, len(halfway) - 1, most).round().astype(np.intp)]
        thresholds.append(halfway)
    n_bins = np.array([len(t) + 1 for t in thresholds], np.int64)
    largest = int(n_bins.max(initial=1)) - 1
    codes = np.empty(X.shape, np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32)
    for j, candidates in enumerate(thresholds):
        codes[:, j] = np.searchsorted(candidates, X[:, j].astype(np.float64))
    return Bins(codes, thresholds, n_bins)


class StumpRanker(Ranker):
    """A ranker with ``stumps_``, a list of weak rankers: score = sum of their scores."""

    stumps_: list[Stump]

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return stump_scores(data.X, self.stumps_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The sum of the alphas of each feature by its name (f1, f2, ... where it has none), largest first."""
        self._check_fitted()
        names = getattr(self, "feature_names_in_", [f"f{j + 1}" for j in range(self.n_features_in_)])
        total = np.zeros(self.n_features_in_)
        for stump in self.stumps_:
            total[stump.feature] += stump.alpha
        return [FeatureWeight(str(names[j]), float(total[j])) for j in np.argsort(-total, kind="stable")]


def stump_scores(X: NDArray[np.float32], stumps: list[Stump]) -> NDArray[np.float64]:
    """The sum of the scores of all stumps, added in their order."""
    scores = np.zeros(len(X))
    for stump in stumps:
        scores += stump.scores(X)
    return scores
