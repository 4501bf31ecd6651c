"""Rankers whose score is a weighted sum of the features, and the table of their weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.ranker import Ranker

BLOCK = 65536  # rows in double precision at a time


class FeatureWeight(NamedTuple):
    """What one feature adds to the score per unit."""

    feature: str
    weight: float


class LinearRanker(Ranker):
    """A ranker with ``coef_``, shape ``(n_features,)``: score = X @ coef_."""

    coef_: NDArray[np.float64]

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return linear_scores(data.X, self.coef_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The weights by feature name (f1, f2, ... where the data had none), largest first."""
        self._check_fitted()
        names = getattr(self, "feature_names_in_", [f"f{j + 1}" for j in range(len(self.coef_))])
        order = np.argsort(-self.coef_, kind="stable")
        return [FeatureWeight(str(names[j]), float(self.coef_[j])) for j in order]


def linear_scores(X: NDArray[np.float32], coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """``X @ coef`` in double precision, without a double copy of X."""
    scores = np.empty(len(X))
    for start in range(0, len(X), BLOCK):
        block = X[start : start + BLOCK]
        # a sum along each row, so that a document's score does not depend on its neighbors
        scores[start : start + BLOCK] = np.einsum("ij,j->i", block.astype(np.float64), coef)
    return scores
