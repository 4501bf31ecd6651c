"""Whether documents are such as a model was fitted with: as many features, under the same names, none missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ordino.data.dataset import Dataset
from ordino.errors import DataError


def check_features(data: Dataset, n_features: int, names: Sequence[str] | None) -> None:
    """Refuse data with other features than those of ``fit``."""
    if data.n_features != n_features:
        raise DataError(f"the ranker was fitted with {n_features} features but the data has {data.n_features}")
    if names is not None and data.feature_names is not None and data.feature_names != tuple(names):
        j = next(j for j, (old, new) in enumerate(zip(names, data.feature_names, strict=True)) if old != new)
        raise DataError(
            f"column {j} is {data.feature_names[j]!r} but was {names[j]!r} in fit; give the columns in the same order"
        )


def check_no_nan(data: Dataset, name: str, ranker: str) -> None:
    """Refuse missing values, for a ranker that cannot use them."""
    for start in range(0, data.n_docs, 65536):
        missing = np.isnan(data.X[start : start + 65536])
        if missing.any():
            column = np.argwhere(missing)[0][1]
            raise DataError(
                f"{name} has NaN in column {column}, which {ranker} cannot use; fill it in first, "
                "for example with sklearn.impute.SimpleImputer, or use a ranker of trees"
            )
