"""Where a search over weight vectors starts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import ParameterError


def uniform_population(
    size: int, n_weights: int, *, low: float = -1.0, high: float = 1.0, seed: int | np.random.SeedSequence = 0
) -> NDArray[np.float64]:
    """Weight vectors drawn uniformly from a box, shape ``(size, n_weights)``.

    Examples
    --------
    >>> uniform_population(2, 3, seed=0).round(2).tolist()
    [[0.27, -0.46, -0.92], [-0.97, 0.63, 0.83]]
    """
    return np.random.default_rng(seed).uniform(low, high, (size, n_weights))


def as_population(given: ArrayLike, *, least: int) -> NDArray[np.float64]:
    """A copy of the given individuals as a matrix, one row each; refused if there are too few or not finite."""
    population = np.array(given, np.float64, ndmin=2)
    if population.ndim != 2 or population.shape[1] == 0:
        raise ParameterError(f"the population has shape {population.shape}; give a matrix with one row an individual")
    if len(population) < least:
        raise ParameterError(f"the population has {len(population)} individuals; this strategy needs {least} or more")
    if not np.isfinite(population).all():
        raise ParameterError("the population has NaN or inf; every weight must be a finite number")
    return population


def as_fitness(given: ArrayLike, n: int) -> NDArray[np.float64]:
    """One fitness for each individual that was asked for; NaN counts as the worst there is."""
    fitness = np.array(given, np.float64)
    if fitness.shape != (n,):
        raise ParameterError(
            f"tell() got fitness of shape {fitness.shape}; give {n} numbers, one an individual of ask()"
        )
    fitness[np.isnan(fitness)] = -np.inf
    return fitness
