"""Categories as numbers, for rankers that know only numbers: a column of zeros and ones for each category."""

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import name_features
from ordino.data.columns import Features, check_columns
from ordino.data.dataset import Dataset
from ordino.data.frames import Categories, Table, read_features, recode
from ordino.estimators import BaseEstimator, TransformerMixin, check_is_fitted


@final
class OneHot(TransformerMixin, BaseEstimator):
    """Makes of each column of text or categories one column for each category, 1 where a row has it and 0 elsewhere.

    Other columns stay as they are. A category that was not in training, or a missing value, is 0 in all of them.
    Takes frames (in a pipeline before a ranker) or data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"stars": [3, 4, 5], "city": ["Rome", "Oslo", "Rome"]})
    >>> one_hot = OneHot().fit(frame)
    >>> one_hot.get_feature_names_out().tolist()
    ['stars', 'city=Oslo', 'city=Rome']
    >>> one_hot.transform(pd.DataFrame({"stars": [1, 2], "city": ["Rome", "Bern"]})).tolist()
    [[1.0, 0.0, 1.0], [2.0, 0.0, 0.0]]
    """

    n_features_in_: int
    categories_: Categories

    def fit(self, X: ArrayLike | Dataset, y: object = None) -> Self:  # noqa: ARG002
        """Learn the categories of the training part; ``y`` is not used."""
        features, names, categories = _table(X)
        self.n_features_in_, self.categories_ = features.shape[1], dict(categories)
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def transform(self, X: ArrayLike | Dataset) -> Any:
        """The wider matrix; of a data set, the data set with more features."""
        check_is_fitted(self, "n_features_in_")
        features, names, _ = _table(X, self.categories_)
        known = getattr(self, "feature_names_in_", None)
        check_columns("one-hot encoding", self.n_features_in_, known, features.shape[1], names, "OneHot")
        if isinstance(X, Dataset):
            wide = self._wide(recode(X, self.categories_).X, names)
            return X.replace_features(wide, None if names is None else tuple(self.get_feature_names_out()))
        return self._wide(features, names)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """The names of the columns: those of features, and ``feature=category``."""
        check_is_fitted(self, "n_features_in_")
        names = name_features(getattr(self, "feature_names_in_", None), self.n_features_in_)
        wide = [
            [name] if name not in self.categories_ else [f"{name}={text}" for text in self.categories_[name]]
            for name in names
        ]
        return np.array([name for some in wide for name in some], dtype=object)

    def _wide(self, features: Features, names: Sequence[str] | None) -> Features:
        parts = []
        for j, name in enumerate(name_features(names, features.shape[1])):
            column = features[:, [j]]
            texts = self.categories_.get(name)
            parts.append(column if texts is None else (column == np.arange(len(texts))).astype(np.float32))
        return np.ascontiguousarray(np.hstack(parts)) if parts else features


def _table(X: ArrayLike | Dataset, known: Categories | None = None) -> Table:
    if isinstance(X, Dataset):
        return Table(X.X, X.feature_names, X.categories)
    return read_features(X, categories=known if hasattr(X, "columns") else None, has_text=True)
