"""The fitness of a population on documents that lie on several machines: individuals go out, sums of queries come back.

The mean over queries is added up in groups with fixed bounds (:mod:`ordino.reduction`), so that it has the bits of one
machine, and a search takes the same way.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.backends.crew import Bench
from ordino.division import Divided
from ordino.evolve.fitness import QUERIES
from ordino.metrics import parse_metric
from ordino.reduction import Partial, partial_sum, sum_of_partials

Floats = NDArray[np.float64]


@final
class DividedFitness:
    """Called with individuals, it gives the mean of the metric for each, as ``fitness_class`` does on one machine."""

    def __init__(self, data: Divided, fitness_class: type[Any], metric: str, *, profile: str) -> None:
        self._data = data
        self._metric = parse_metric(metric)
        counted = data.each(set_up, fitness_class, metric, profile, lasting=True)
        self._begins = np.cumsum([0, *counted]).tolist()

    def __call__(self, individuals: Any) -> Floats:
        """The metric's mean over the queries for each individual."""
        *begins, n_counted = self._begins
        total = sum_of_partials(self._data.each(sums_of_part, individuals, own=begins), QUERIES, axis=1)
        return self._metric.quality(total / n_counted if n_counted else np.zeros(len(individuals)))


def set_up(bench: Bench, name: str, fitness_class: type[Any], metric: str, profile: str) -> int:
    """In a worker: make its part of the fitness, and tell how many queries count."""
    data = bench.data[name]
    bench.made[f"fitness {name}"] = made = fitness_class(data, metric, profile=profile, n_jobs=1)
    if data.n_queries == 0:
        return 0
    objective = made.objective
    values = objective.metric.per_query(data.y, np.zeros(data.n_docs), data.offsets, profile=objective.profile)
    return int(np.count_nonzero(~np.isnan(values)))


def sums_of_part(bench: Bench, begin: int, name: str, individuals: Any) -> Partial:
    """In a worker: the sums of its queries that count, the first of which has this number."""
    made = bench.made[f"fitness {name}"]
    return partial_sum(made.objective.counted(made.per_query(individuals)), QUERIES, begin, axis=1)
