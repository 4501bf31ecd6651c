"""LightGBM is its own emulator: it is installed wherever Ordino is."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordino.export.emulators.scored import DOUBLE, Floats, Scored, exactly
from ordino.forms import load_lightgbm


def score_lightgbm(files: Mapping[str, Any], X: Floats, names: Sequence[str]) -> Scored:  # noqa: ARG001
    """Scores of rows by LightGBM with the text of ``model.txt``."""
    booster = load_lightgbm().Booster(model_str=files["model.txt"])
    scores = booster.predict(X, raw_score=True, num_threads=1) if len(X) else np.zeros(0)
    return exactly(scores, np.abs(scores) + 1.0, booster.num_trees(), DOUBLE)
