"""How good an order is: measures with one value for each query, and the profiles that say how tools compute them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ordino.metrics.evaluate import DEFAULT_METRICS, Evaluation, evaluate, measure, parse_metrics
from ordino.metrics.functions import FUNCTIONS
from ordino.metrics.metric import METRICS, Measure, Metric, Parameter, parse_metric
from ordino.metrics.profiles import PROFILES, Profile, find_profile

__all__ = [
    "DEFAULT_METRICS",
    "METRICS",
    "PROFILES",
    "Evaluation",
    "Measure",
    "Metric",
    "Parameter",
    "Profile",
    "evaluate",
    "find_profile",
    "measure",
    "parse_metric",
    "parse_metrics",
]
__all__ += list(FUNCTIONS)


def __getattr__(name: str) -> Callable[..., NDArray[np.float64]]:
    """The functions that are made from the table: ``ndcg``, ``precision``, ..."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'ordino.metrics' has no attribute {name!r}")
    return FUNCTIONS[name]


def __dir__() -> list[str]:
    return [*globals(), *FUNCTIONS]
