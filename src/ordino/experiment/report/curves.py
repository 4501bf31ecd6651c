"""Curves out of trials: metrics by cutoff, and what happened while a ranker learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from ordino.metrics import Metric, parse_metric

History = Sequence[Mapping[str, Any]]
POINTS = 150  # of a learning curve: more cannot be seen
COUNTERS = ("step", "epoch", "round", "iteration", "generation")
"""Names that only number the rows of a history."""


def cutoffs(measures: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """Metrics at two or more cutoffs: by family the cutoffs, rising, each with the metric's name.

    Examples
    --------
    >>> cutoffs(["ndcg@10", "map", "ndcg@5", "p@5"])
    {'ndcg': [(5, 'ndcg@5'), (10, 'ndcg@10')]}
    """
    families: dict[str, list[tuple[int, str]]] = {}
    for name in measures:
        metric = parse_metric(name)
        if metric.k is not None:
            family = str(Metric(metric.name, 1, metric.parameters)).removesuffix("@1")
            families.setdefault(family, []).append((metric.k, name))
    return {family: sorted(names) for family, names in families.items() if len(names) > 1}


def learning_curves(histories: Iterable[History]) -> dict[str, list[tuple[int, float]]]:
    """By quantity the points ``(step, mean over the trials)``, steps from 1, at most :data:`POINTS`.

    A trial that has ended counts with the last it recorded: if it fell out of the mean, a curve would jump to where
    the rest is. What never changes, such as a fixed learning rate, is no curve.

    Examples
    --------
    >>> learning_curves([[{"epoch": 0, "loss": 3.0}, {"epoch": 1, "loss": 2.0}], [{"epoch": 0, "loss": 5.0}]])
    {'loss': [(1, 4.0), (2, 3.5)]}
    """
    kept = [history for history in histories if history]
    names = dict.fromkeys(name for history in kept for row in history for name in row if name not in COUNTERS)
    curves = {}
    for name in names:
        steps = np.unique(np.geomspace(1, max(map(len, kept)), POINTS).round().astype(int))
        values = [[_value(history, step - 1, name) for step in steps.tolist()] for history in kept]
        if any(len(set(of_trial) - {None}) > 1 for of_trial in values):
            curves[name] = [
                (step, float(np.mean(there)))
                for step, *at_step in zip(steps.tolist(), *values, strict=True)
                if (there := [value for value in at_step if value is not None])
            ]
    return curves


def _value(history: History, place: int, name: str) -> float | None:
    """The number at this place of a history, or at its end if it is shorter; None if that is not finite."""
    value = history[min(place, len(history) - 1)].get(name)
    return float(value) if isinstance(value, Real) and np.isfinite(float(value)) else None
