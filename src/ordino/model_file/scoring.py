"""Scores straight from a model file, with numpy alone where the model is a network.

The class of a ranker brings scikit-learn with it, whose import takes longer than scoring a quarter of a million
documents. A network is its layers, and the logarithm before them if there is one, so ``ordino rank`` has no need of the
class. Networks behind other scalers are loaded as rankers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.columns import check_features, check_no_nan, symmetric_log
from ordino.data.dataset import Dataset
from ordino.forms import Network, require
from ordino.layers import ACTIVATIONS
from ordino.model_file.container import Contents, read_file
from ordino.model_file.files import loaded, sentences_about
from ordino.model_file.values import Decoder


class Scoring(Protocol):
    """Whatever gives scores to the documents of a data set."""

    def predict(self, data: Dataset) -> NDArray[np.float64]:
        """Scores in the caller's row order."""


@final
class NetworkScorer:
    """The layers of a network, and the checks that its ranker would make."""

    def __init__(self, contents: Contents) -> None:
        decoder = Decoder(contents.arrays)
        learned = contents.model["learned"]
        self._name = contents.card["ranker"]
        self._layers = decoder.decode(learned["layers_"])
        self._activation = contents.model["params"]["activation"]
        self._n_features = learned["n_features_in_"]
        self._names = decoder.decode(learned.get("feature_names_in_"))
        self._is_scaled = learned["scaler_"] is not None
        self._form = Network(None, self._n_features, self._layers, self._activation)
        self._form.check()
        require(self._names is None or np.shape(self._names) == (self._n_features,), "feature_names_in_")

    def predict(self, data: Dataset) -> NDArray[np.float64]:
        """The same scores as the ranker's own ``predict``, to the last bit."""
        check_features(data, self._n_features, self._names)
        check_no_nan(data, "X", self._name)
        scaled = data.replace(X=symmetric_log(data.X), feature_names=data.feature_names) if self._is_scaled else data
        scores: NDArray[np.float64] = data.restore(self._form.score_scaled(scaled))
        return scores


def load_scorer(path: str | Path) -> tuple[Scoring, dict[str, Any]]:
    """What scores as the model of a file does, and the model's card; the ranker itself unless layers are enough."""
    contents = read_file(Path(path))
    with sentences_about(Path(path)):
        if _layers_are_enough(contents):
            return NetworkScorer(contents), contents.card
    return loaded(Path(path), contents), contents.card


def _layers_are_enough(contents: Contents) -> bool:
    model = contents.model
    scaler = model["learned"]["scaler_"]
    return (
        contents.card["form"] == "network"
        and (scaler is None or scaler["estimator"] == "SymmetricLog")
        and model["params"]["activation"] in ACTIVATIONS
    )
