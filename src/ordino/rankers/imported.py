"""Models of other tools as rankers: they predict, explain, are evaluated, saved, exported and served, but do not learn.

They are made by :func:`ordino.import_model`.
"""

from collections import Counter
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.model_text import read_trees
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.forms import Form, Linear, Network, Stump, Stumps, Trees
from ordino.layers import ACTIVATIONS, Layer
from ordino.linear import name_weights
from ordino.parameters import learned, param
from ordino.ranker import FeatureWeight, Ranker


class Imported(Ranker):
    """A ranker that another tool trained."""

    source: str = param("", "The tool and the kind of model, such as RankLib LambdaMART.")

    def fit(self, *args: Any, **kwargs: Any) -> Self:  # noqa: ARG002
        """Refuse: what is imported stays as it is."""
        raise ParameterError(f"{type(self).__name__} cannot learn, it was imported; train a ranker of `ordino rankers`")

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        """Nothing is learned here."""

    @property
    def is_random(self) -> bool:
        """There is nothing left to draw."""
        return False

    def with_features(self, n_features: int, names: tuple[str, ...] | None) -> Self:
        """The ranker itself, of this many features."""
        self.scaler_, self.n_features_in_, self.n_queries_in_ = None, n_features, 1
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self


@final
class ImportedLinear(Imported):
    """A weighted sum of the features and a constant."""

    coef_: NDArray[np.float64] = learned()
    bias_: float = learned()

    def form(self) -> Form:
        """Weights of the features."""
        self._check_fitted()
        return Linear(self.scaler_, self.n_features_in_, self.coef_, self.bias_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The weights by feature name, largest first."""
        self._check_fitted()
        return name_weights(self.feature_names(), self.coef_)


@final
class ImportedStumps(Imported):
    """A sum of questions about one feature each."""

    stumps_: list[Stump] = learned()

    def form(self) -> Form:
        """The weak rankers."""
        self._check_fitted()
        return Stumps(self.scaler_, self.n_features_in_, self.stumps_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The sum of the alphas of each feature, by feature name, largest first."""
        self._check_fitted()
        total: Counter[int] = Counter()
        for stump in self.stumps_:
            total[stump.feature] += stump.alpha  # type: ignore[assignment]
        weights = np.array([float(total[j]) for j in range(self.n_features_in_)])
        return name_weights(self.feature_names(), weights)


@final
class ImportedTrees(Imported):
    """A sum of trees, kept as LightGBM's model text."""

    allows_nan = True

    model_: str = learned()

    def form(self) -> Form:
        """The trees."""
        self._check_fitted()
        return Trees(self.scaler_, self.n_features_in_, self.model_)

    def feature_gains(self) -> list[FeatureWeight]:
        """How much each feature's splits gained in training, as shares of 1; their number where no gains are known."""
        self._check_fitted()
        gains = np.zeros(self.n_features_in_)
        for tree in read_trees(self.model_).trees:
            np.add.at(gains, tree.feature, tree.gain)
        return name_weights(self.feature_names(), gains / (gains.sum() or 1.0))


@final
class ImportedNetwork(Imported):
    """A scoring network; RankLib's give the logistic function of their output."""

    layers_: list[Layer] = learned()

    activation: str = param("sigmoid", "The activation of the hidden layers.", choices=ACTIVATIONS)
    is_squashed: bool = param(True, "Whether the score is the logistic function of the output.")

    def form(self) -> Form:
        """The layers of the network."""
        self._check_fitted()
        return Network(self.scaler_, self.n_features_in_, self.layers_, self.activation, self.is_squashed)
