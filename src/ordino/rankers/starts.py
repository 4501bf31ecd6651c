"""Where the search for the weights of a linear ranker may start: zeros, given weights, or another linear ranker."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError, unknown_name
from ordino.linear import LinearRanker
from ordino.rankers import RANKERS, ranker_class

Start = str | LinearRanker | ArrayLike

STARTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "linear-regression-ranker": ("ordino.rankers.linear_regression", "LinearRegressionRanker"),
        "rank-svm": ("ordino.rankers.ranksvm", "RankSVM"),
    }
)
"""Starts by name; ``zeros`` and the name of every linear ranker are allowed as well."""


def start_weights(start: Start, data: Dataset, valid: Dataset | None) -> NDArray[np.float64]:
    """Weights from which to start, shape ``(n_features,)``.

    Parameters
    ----------
    start
        ``"zeros"``, weights, or a linear ranker or its name, of which a copy is fitted on the data as it is here.

    Examples
    --------
    >>> data = Dataset([[1.0, 0.0], [0.0, 1.0]], [1, 0])
    >>> start_weights("zeros", data, None).tolist(), start_weights([2.0, 1.0], data, None).tolist()
    ([0.0, 0.0], [2.0, 1.0])
    """
    if isinstance(start, str) and start == "zeros":
        return np.zeros(data.n_features)
    if isinstance(start, str) or hasattr(start, "get_params"):
        ranker = _by_name(start) if isinstance(start, str) else clone(start)
        if not isinstance(ranker, LinearRanker):
            raise ParameterError(f"start={start!r} is not a linear ranker; give one with coef_, such as 'rank-svm'")
        if "scaling" in ranker.get_params():
            ranker.set_params(scaling=None)  # the data has been scaled already
        ranker.fit(data, valid=valid)
        return np.array(ranker.coef_, np.float64)
    weights = np.array(start, np.float64)
    if weights.shape != (data.n_features,) or not np.isfinite(weights).all():
        raise ParameterError(f"start has shape {weights.shape}; give {data.n_features} finite weights, one a feature")
    return weights


def _by_name(name: str) -> Any:
    if name in STARTS:
        module, cls = STARTS[name]
        return getattr(import_module(module), cls)()
    if name in RANKERS:
        return ranker_class(name)()
    raise unknown_name("start", name, ["zeros", *STARTS, *RANKERS])
