"""Preparation steps from the papers, on labels, queries and features; each returns a new data set.

DirectRanker 4.1 makes labels binary and leaves out queries with nothing relevant; RankNet 6 feeds every product of two
features to a linear model.
"""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from ordino.arrays import name_features
from ordino.checks import check_choice
from ordino.data.columns import as_features, check_columns
from ordino.data.dataset import Dataset
from ordino.data.summary import count_by_query
from ordino.errors import DataError, ParameterError
from ordino.estimators import BaseEstimator, TransformerMixin, check_is_fitted


def binarize_labels(dataset: Dataset, threshold: float = 1) -> Dataset:
    """Turn labels of ``threshold`` or more into 1, the others into 0.

    DirectRanker takes 2 for MSLR-WEB10K (labels 0 to 4) and 1 for MQ2007 and MQ2008 (labels 0 to 2).

    Examples
    --------
    >>> binarize_labels(Dataset([[0.0]] * 3, [0, 1, 2]), threshold=2).y.tolist()
    [0.0, 0.0, 1.0]
    """
    return dataset.replace(y=(dataset.y >= threshold).astype(np.float64))


def drop_empty_queries(dataset: Dataset, relevant_from: float = 1) -> Dataset:
    """Drop queries in which no label reaches ``relevant_from``; refuse if none would be left.

    Examples
    --------
    >>> drop_empty_queries(Dataset([[0.0]] * 4, [0, 1, 0, 0], qid=["a", "a", "b", "b"])).query_ids.tolist()
    ['a']
    """
    relevant = count_by_query(dataset, dataset.y >= relevant_from) > 0
    if not relevant.any():
        largest = f"the largest label is {dataset.y.max():g}" if dataset.n_docs else "there are no documents"
        raise DataError(f"no query has a label of {relevant_from:g} or more ({largest}); lower relevant_from")
    return dataset.select_queries(relevant)


def drop_features(dataset: Dataset, features: Sequence[str]) -> Dataset:
    """Drop features, by name, or by number (starting at 1) if they have no names.

    Without names, the remaining features are renumbered: drop the same ones from all parts of the data.

    Examples
    --------
    >>> data = Dataset([[1.0, 2.0, 3.0]], [0], feature_names=["bm25", "age", "length"])
    >>> drop_features(data, ["age"]).feature_names
    ('bm25', 'length')
    """
    names = _names_or_numbers(dataset)
    for feature in features:
        check_choice("feature", feature, names)
    kept = [name for name in names if name not in features]
    if not kept:
        raise ParameterError("no feature would be left; drop fewer")
    return keep_features(dataset, kept)


def keep_features(dataset: Dataset, features: Sequence[str]) -> Dataset:
    """Keep only these features, in this order; by name, or by number (starting at 1) if they have no names.

    Features without names are called f1, f2, ... by their numbers here, since these are lost in what is kept.

    Examples
    --------
    >>> data = Dataset([[1.0, 2.0, 3.0]], [0], feature_names=["bm25", "age", "length"])
    >>> keep_features(data, ["length", "bm25"]).X.tolist()
    [[3.0, 1.0]]
    """
    names = _names_or_numbers(dataset)
    kept = [names.index(check_choice("feature", feature, names)) for feature in features]
    called = name_features(dataset.feature_names, dataset.n_features)
    return dataset.replace(X=dataset.X[:, kept], feature_names=[called[j] for j in kept])


def _names_or_numbers(dataset: Dataset) -> tuple[str, ...]:
    return dataset.feature_names or tuple(str(j + 1) for j in range(dataset.n_features))


def quadratic_features(data: Dataset | ArrayLike, *, max_gib: float = 4.0) -> Any:
    """All features, then the products ``x_i x_j`` of every two, ``i <= j``, in the order (0,0), (0,1), ... (1,1), ...

    A data set (names become ``a*b``) or a matrix comes back wider; more than ``max_gib`` GiB is refused beforehand.

    Examples
    --------
    >>> quadratic_features([[2.0, 3.0]]).tolist()
    [[2.0, 3.0, 4.0, 6.0, 9.0]]
    """
    if isinstance(data, Dataset):
        wide, names = quadratic_features(data.X, max_gib=max_gib), data.feature_names
        if names is not None:
            names += tuple(f"{a}*{b}" for a, b in combinations_with_replacement(names, 2))
        return data.replace(X=wide, feature_names=names)
    features = as_features(data)
    n_docs, n_features = features.shape
    n_wide = n_features + n_features * (n_features + 1) // 2
    if (gib := n_docs * n_wide * 4 / 2**30) > max_gib:
        fix = f"choose fewer features or documents, or raise max_gib={max_gib:g}"
        what = f"{n_features} features make {n_wide} quadratic ones, {gib:.1f} GiB for {n_docs} documents"
        raise ParameterError(f"{what}; {fix}")
    wide = np.empty((n_docs, n_wide), np.float32)
    wide[:, :n_features] = features
    with np.errstate(over="ignore"):  # as_features refuses it with a sentence
        for i in range(n_features):
            start = (i + 1) * n_features - i * (i - 1) // 2  # behind the features and the products of earlier ones
            np.multiply(features[:, i:], features[:, i : i + 1], out=wide[:, start : start + n_features - i])
    return as_features(wide)


@final
class QuadraticFeatures(TransformerMixin, BaseEstimator):
    """:func:`quadratic_features` as a step of a scikit-learn pipeline."""

    n_features_in_: int

    def __init__(self, *, max_gib: float = 4.0) -> None:
        self.max_gib = max_gib

    def fit(self, X: ArrayLike | Dataset, y: object = None) -> Self:  # noqa: ARG002
        """Remember the number of features; ``y`` is not used."""
        self.n_features_in_ = _width(X)
        return self

    def transform(self, X: ArrayLike | Dataset) -> Any:
        """The features and their products."""
        check_is_fitted(self, "n_features_in_")
        check_columns("step", self.n_features_in_, None, _width(X), None)
        return quadratic_features(X, max_gib=self.max_gib)


def _width(X: ArrayLike | Dataset) -> int:
    return X.n_features if isinstance(X, Dataset) else as_features(X).shape[1]
