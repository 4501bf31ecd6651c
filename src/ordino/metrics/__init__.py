"""Metrics with one value for each query, and the profiles that say how different tools compute them.

Every metric is also a function in this module: ``ndcg``, ``precision``, ... All take the same arguments: ``y`` and
``scores``, with the documents of a query together; ``offsets``, where queries begin and end (None means one query); the
cutoff ``k`` and parameters, if the metric has them; and the name of a profile. The values are those of
``parse_metric(name).per_query``.
"""

from collections.abc import Callable
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.metrics.evaluate import DEFAULT_METRICS, Evaluation, evaluate, measure, parse_metrics
from ordino.metrics.metric import METRICS, Measure, Metric, Parameter, parse_metric
from ordino.metrics.profiles import PROFILES, Profile, find_profile

__all__ = [
    "DEFAULT_METRICS", "METRICS", "PROFILES", "Evaluation", "Measure", "Metric", "Parameter", "Profile",
    "evaluate", "find_profile", "measure", "parse_metric", "parse_metrics",
]  # fmt: skip


def _make_function(entry: Measure) -> Callable[..., NDArray[np.float64]]:
    """The function of a metric, with its own signature and the documentation of its formula."""
    keywords = {own.keyword or own.name: own.name for own in entry.parameters}
    signature = _signature(entry)

    def function(*given: Any, **named: Any) -> NDArray[np.float64]:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        y, scores, offsets, profile = (bound.arguments[name] for name in ("y", "scores", "offsets", "profile"))
        chosen = ((name, bound.arguments[keyword]) for keyword, name in keywords.items())
        parameters = tuple((name, value) for name, value in chosen if value is not None)
        metric = Metric(entry.name, bound.arguments.get("k"), parameters)
        return metric.per_query(y, scores, [0, np.size(y)] if offsets is None else offsets, profile=profile)

    function.__name__ = function.__qualname__ = entry.formula.__name__
    function.__doc__ = entry.formula.__doc__
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _signature(entry: Measure) -> Signature:
    place, named = Argument.POSITIONAL_OR_KEYWORD, Argument.KEYWORD_ONLY
    arguments = [Argument(name, place, annotation="ArrayLike") for name in ("y", "scores")]
    arguments.append(Argument("offsets", place, default=None, annotation="ArrayLike | None"))
    if entry.cutoff == "required":
        arguments.append(Argument("k", named, annotation="int"))
    elif entry.cutoff == "optional":
        arguments.append(Argument("k", named, default=None, annotation="int | None"))
    for own in entry.parameters:
        annotation = ("int" if own.whole else "float") + (" | None" if own.default is None else "")
        arguments.append(Argument(own.keyword or own.name, named, default=own.default, annotation=annotation))
    arguments.append(Argument("profile", named, default="standard", annotation="str | Profile"))
    return Signature(arguments, return_annotation="Floats")


FUNCTIONS = {entry.formula.__name__: _make_function(entry) for entry in METRICS.values()}
"""The functions that are made from the table, by name."""
__all__ += list(FUNCTIONS)


def __getattr__(name: str) -> Callable[..., NDArray[np.float64]]:
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'ordino.metrics' has no attribute {name!r}")
    return FUNCTIONS[name]


def __dir__() -> list[str]:
    return [*globals(), *FUNCTIONS]
