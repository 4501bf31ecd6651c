"""The symmetric logarithm, by itself: what scores a network of such features needs numpy and this, no more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float32]


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
