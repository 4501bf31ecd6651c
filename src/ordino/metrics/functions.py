"""Every measure as a function of labels and scores that gives one value for each query; made from ``METRICS``.

All have one signature: ``y`` and ``scores`` with the documents of a query together, ``offsets`` that say where queries
begin and end (None makes one query of all), the cutoff ``k`` and parameters where the measure has them, a profile by
name. Each value is that of ``parse_metric(name).per_query``.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.metrics.metric import METRICS, Measure, Metric

Floats = NDArray[np.float64]


def _make_function(measure: Measure) -> Callable[..., Floats]:
    """The function of an entry, with a signature of its own and the documentation of its formula."""
    keywords = {parameter.keyword or parameter.name: parameter for parameter in measure.parameters}
    signature = _signature(measure)

    def function(*given: Any, **named: Any) -> Floats:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        y, scores, offsets, profile = (bound.arguments[name] for name in ("y", "scores", "offsets", "profile"))
        chosen = ((keywords[name].name, bound.arguments[name]) for name in keywords)
        metric = Metric(
            measure.name, bound.arguments.get("k"), tuple((name, value) for name, value in chosen if value is not None)
        )
        return metric.per_query(y, scores, [0, np.size(y)] if offsets is None else offsets, profile=profile)

    function.__name__ = function.__qualname__ = measure.formula.__name__
    function.__doc__ = measure.formula.__doc__
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _signature(measure: Measure) -> Signature:
    place, named = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    parameters = [Parameter(name, place, annotation="ArrayLike") for name in ("y", "scores")]
    parameters.append(Parameter("offsets", place, default=None, annotation="ArrayLike | None"))
    if measure.cutoff == "required":
        parameters.append(Parameter("k", named, annotation="int"))
    elif measure.cutoff == "optional":
        parameters.append(Parameter("k", named, default=None, annotation="int | None"))
    for own in measure.parameters:
        annotation = ("int" if own.whole else "float") + (" | None" if own.default is None else "")
        parameters.append(Parameter(own.keyword or own.name, named, default=own.default, annotation=annotation))
    parameters.append(Parameter("profile", named, default="standard", annotation="str | Profile"))
    return Signature(parameters, return_annotation="Floats")


FUNCTIONS = {measure.formula.__name__: _make_function(measure) for measure in METRICS.values()}
"""The functions by name; :mod:`ordino.metrics` has them all."""
