"""The columns of a data set: read as numbers, named, and compared with those that a model was fitted with.

Nothing here needs more than numpy, so that a model file can score without loading scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import row_blocks
from ordino.errors import DataError

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset

Features = NDArray[np.float32]

BLOCK_ROWS = 65536  # rows that are looked at together: a mask of all would be a quarter of X


def as_features(X: ArrayLike) -> NDArray[np.float32]:
    """Features as a C-ordered float32 matrix; NaN may stand for missing, infinity and overflow are refused."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    try:
        given = np.asarray(X)
        if given.dtype.kind not in "biuf":
            given = given.astype(np.float64, casting="safe" if given.dtype.kind in "cmM" else "unsafe")
        with np.errstate(over="ignore"):
            features = np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(f"X cannot be read as numbers ({error}); encode text columns first") from None
    if given.ndim != 2:
        raise DataError(f"X has shape {given.shape}; give a matrix with one row for each document")
    for rows in row_blocks(len(features), BLOCK_ROWS):
        if np.isinf(features[rows]).any():
            row, column = np.argwhere(np.isinf(features[rows]))[0] + (rows.start, 0)
            raise DataError(
                f"X has {given[row, column]} in row {row}, column {column}, which float32 cannot hold; "
                "rescale it, or use NaN for missing"
            )
    return features


def as_column(name: str, values: ArrayLike, n_docs: int, one: str) -> NDArray[np.float64]:
    """One finite number for each document, as float64."""
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be read as numbers ({error})") from None
    if column.shape != (n_docs,):
        raise DataError(f"{name} has shape {column.shape} but X has {n_docs} rows; give one {one} for each row")
    if not np.isfinite(column).all():
        row = int(np.flatnonzero(~np.isfinite(column))[0])
        raise DataError(f"{name} has {column[row]} in row {row}; every {one} must be a finite number")
    return column


def as_feature_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
    """Names of the columns, each once, or None."""
    if names is None:
        return None
    unique = tuple(str(name) for name in names)
    if len(unique) != n_features:
        raise DataError(f"feature_names has {len(unique)} names but X has {n_features} columns")
    if len(set(unique)) < len(unique):
        twice = next(name for name in unique if unique.count(name) > 1)
        raise DataError(f"feature_names has {twice!r} twice; every feature needs its own name")
    return unique


def column_names(X: object) -> list[str] | None:
    """The names of the columns, if X is a frame that has them."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return list(columns)


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
    for rows in row_blocks(data.n_docs, BLOCK_ROWS):
        missing = np.isnan(data.X[rows])
        if missing.any():
            column = np.argwhere(missing)[0][1]
            raise DataError(
                f"{name} has NaN in column {column}, which {ranker} cannot use; fill it in first, "
                "for example with sklearn.impute.SimpleImputer, or use a ranker of trees"
            )


def symmetric_log(X: Features, out: Features | None = None) -> Features:
    """sign(x) log(1 + abs(x)), into ``out`` if it is given.

    Examples
    --------
    >>> symmetric_log(np.float32([[0.0, -1.0, 1.0]])).round(3).tolist()
    [[0.0, -0.6930000185966492, 0.6930000185966492]]
    """
    scaled = np.abs(X, out=out)
    np.log1p(scaled, out=scaled)
    return np.copysign(scaled, X, out=scaled)
