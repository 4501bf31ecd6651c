"""scikit-learn's pipelines that end in a ranker: their steps, and how they score a data set."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.data.columns import check_features
from ordino.data.dataset import Dataset


def steps_of(ranker: Any) -> list[Any]:
    """The steps of a pipeline; a ranker alone is its own step."""
    return [step for _, step in ranker.steps] if hasattr(ranker, "steps") else [ranker]


def last_step(ranker: Any) -> Any:
    """The ranker at the end of a pipeline, or the ranker itself."""
    return steps_of(ranker)[-1]


def score_with(ranker: Any, data: Dataset) -> NDArray[np.float64]:
    """Scores by a ranker or a pipeline that ends in one, in the caller's row order."""
    scores: NDArray[np.float64] = last_step(ranker).predict(at_last_step(ranker, data))
    return scores


def at_last_step(ranker: Any, data: Dataset) -> Dataset:
    """The documents as the ranker at the end of a pipeline gets them."""
    *before, last = steps_of(ranker)
    if not before:
        return data
    check_features(data, ranker.n_features_in_, getattr(ranker, "feature_names_in_", None))
    X: Any = data.X
    with warnings.catch_warnings():  # names were compared above; scikit-learn looks for them in a frame
        warnings.filterwarnings("ignore", message=".*valid feature names")
        for step in before:
            X = step.transform(X)
    return data.replace(X=X, feature_names=getattr(last, "feature_names_in_", None))


def names_at_last_step(ranker: Any) -> tuple[str, ...] | None:
    """The names of the features that the ranker at the end of a pipeline saw, if its steps can tell."""
    last = last_step(ranker)
    if last is ranker or hasattr(last, "feature_names_in_"):
        return tuple(last.feature_names())
    try:
        names = tuple(map(str, ranker[:-1].get_feature_names_out()))
    except (AttributeError, ValueError):  # a step that cannot tell: names stay where columns do
        names = tuple(map(str, getattr(ranker, "feature_names_in_", ())))
    return names if len(names) == last.n_features_in_ else None
