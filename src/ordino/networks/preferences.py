"""Preferences as a user gives them: pairs of rows, of which the first comes first with a probability."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import DataError


def check_preferences(
    pairs: ArrayLike, probability: ArrayLike, n_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Row numbers ``(n_pairs, 2)`` and a probability for each pair.

    Examples
    --------
    >>> check_preferences([(0, 3)], 1.0, 3)
    Traceback (most recent call last):
    ordino.errors.DataError: pairs has row number 3; the rows of X go from 0 to 2
    """
    chosen = np.asarray(pairs)
    if chosen.ndim != 2 or chosen.shape[1] != 2 or chosen.dtype.kind not in "iu" or not len(chosen):
        raise DataError("pairs must be rows (a, b) of row numbers of X, at least one")
    if chosen.min() < 0 or chosen.max() >= n_rows:
        outside = chosen.max() if chosen.max() >= n_rows else chosen.min()
        raise DataError(f"pairs has row number {outside}; the rows of X go from 0 to {n_rows - 1}")
    target = np.asarray(probability, dtype=np.float64)
    if target.shape not in ((), (len(chosen),)) or not ((target >= 0) & (target <= 1)).all():
        raise DataError("probability must lie between 0 and 1, one for all pairs or one for each")
    return chosen.astype(np.intp), np.broadcast_to(target, len(chosen))
