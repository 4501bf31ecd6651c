"""scikit-learn's pipelines that end in a ranker: their steps, and how they score a data set.

Steps of ours get the data set, so that they know queries and categories. Steps of scikit-learn get an array, or a frame
if they were fitted with the names of columns.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.columns import check_features
from ordino.data.dataframes import feature_frame
from ordino.data.dataset import Dataset
from ordino.data.frames import read_features, recode


def steps_of(ranker: Any) -> list[Any]:
    """The steps of a pipeline; a ranker alone is its own step."""
    return [step for _, step in ranker.steps] if hasattr(ranker, "steps") else [ranker]


def last_step(ranker: Any) -> Any:
    """The ranker at the end of a pipeline, or the ranker itself."""
    return steps_of(ranker)[-1]


def is_idle(step: Any) -> bool:
    """Whether a step of a pipeline hands on what it gets: "passthrough", or None."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def first_step(ranker: Any) -> Any:
    """The first step that does anything: it knows the features that a pipeline takes, and their names."""
    return next(step for step in steps_of(ranker) if not is_idle(step))


def score_with(ranker: Any, data: Dataset) -> NDArray[np.float64]:
    """Scores by a ranker or a pipeline that ends in one, in the caller's row order."""
    scores: NDArray[np.float64] = last_step(ranker).predict(at_last_step(ranker, data))
    return scores


def documents_of(ranker: Any, X: ArrayLike | Dataset) -> Dataset:
    """Documents as a data set, with the features that a ranker or a pipeline takes."""
    if isinstance(X, Dataset):
        return X
    if last_step(ranker) is ranker:
        found: Dataset = ranker.documents(X)
        return found
    features, names, categories = read_features(X, has_text=True)
    return Dataset(features, np.zeros(len(features)), feature_names=names, categories=categories)


def at_last_step(ranker: Any, data: Dataset) -> Dataset:
    """The documents as the ranker at the end of a pipeline gets them."""
    *before, last = steps_of(ranker)
    if not before:
        return data
    first = first_step(ranker)
    check_features(data, first.n_features_in_, getattr(first, "feature_names_in_", None))
    for step, following in zip(before, [*before[1:], last], strict=True):
        data = _transformed(step, data, getattr(following, "feature_names_in_", None))
    return data


def _transformed(step: Any, data: Dataset, names: Any) -> Dataset:
    if is_idle(step):
        return data
    if type(step).__module__.startswith("ordino."):
        known = getattr(step, "categories_", {})
        found: Dataset = step.transform(recode(data, known) if data.categories else data)
        return found if names is None else found.replace(X=found.X, feature_names=names)
    is_by_name = hasattr(step, "feature_names_in_") and (data.categories or hasattr(step, "transformers_"))
    X = step.transform(feature_frame(data, step.feature_names_in_) if is_by_name else _plain(step, data))
    made = read_features(X).X  # of an array, a sparse matrix, or a frame if set_output() asked for one
    return data.replace_features(made, None if names is None else tuple(map(str, names)))


def _plain(step: Any, data: Dataset) -> Any:
    """An array; with the names of columns where the step was fitted with them and pandas is there to hold them."""
    if not hasattr(step, "feature_names_in_"):
        return data.X
    try:
        return feature_frame(data, step.feature_names_in_)
    except ImportError:
        return data.X


def input_names(ranker: Any) -> tuple[str, ...]:
    """The names of the columns that a pipeline takes, as scikit-learn calls them where they have none: x0, x1, ..."""
    first = first_step(ranker)
    own = getattr(first, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(first.n_features_in_)) if own is None else tuple(map(str, own))


def names_at_last_step(ranker: Any) -> tuple[str, ...] | None:
    """The names of the features that the ranker at the end of a pipeline saw, if its steps can tell."""
    last = last_step(ranker)
    if last is ranker or hasattr(last, "feature_names_in_"):
        return tuple(last.feature_names())
    try:
        names = tuple(map(str, ranker[:-1].get_feature_names_out()))
    except (AttributeError, ValueError):  # a step that cannot tell: names stay where columns do
        names = tuple(map(str, getattr(first_step(ranker), "feature_names_in_", ())))
    return names if len(names) == last.n_features_in_ else None
