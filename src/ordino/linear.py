"""Rankers whose score is a weighted sum of the features."""

import numpy as np
from numpy.typing import NDArray

from ordino.forms import Form, Linear
from ordino.parameters import learned
from ordino.ranker import FeatureWeight, Ranker


class LinearRanker(Ranker):
    """A ranker with ``coef_``, shape ``(n_features,)``: score = X @ coef_."""

    coef_: NDArray[np.float64] = learned()

    def form(self) -> Form:
        """Weights of the features."""
        self._check_fitted()
        return Linear(self.scaler_, self.n_inputs, self.coef_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The weights by feature name, largest first; those of all that the scaling makes of a feature are added."""
        self._check_fitted()
        return name_weights(self.feature_names(), self.by_feature(self.coef_))


def name_weights(names: tuple[str, ...], weights: NDArray[np.float64]) -> list[FeatureWeight]:
    """Weights by name, largest first."""
    return [FeatureWeight(names[j], float(weights[j])) for j in np.argsort(-weights, kind="stable")]
