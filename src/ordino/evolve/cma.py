"""CMA-ES (Hansen and Ostermeier, 2001) through the ``cmaes`` package, in the words of the other strategies."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import ParameterError, import_extra
from ordino.evolve.population import as_fitness, as_population


@final
class CMA:
    """Samples of a normal distribution whose mean, step size and covariance learn from the fitter half.

    Parameters
    ----------
    mean
        Where the search starts, a vector of two weights or more.
    sigma
        The first step size.
    population
        How many are sampled each generation; None for the package's 4 + 3 ln L.
    seed
        The same seed gives the same run; the package draws from a generator of its own.

    Examples
    --------
    >>> search = CMA([3.0, 3.0], sigma=1.0)
    >>> for _ in range(60):
    ...     search.tell(-(search.ask() ** 2).sum(axis=1))
    >>> bool(search.best_fitness > -1e-6)
    True
    """

    def __init__(self, mean: ArrayLike, *, sigma: float = 0.5, population: int | None = None, seed: int = 0) -> None:
        cmaes = import_extra("cmaes", extra="evolve", purpose="CMA-ES")
        start = as_population(mean, least=1)[0]
        if len(start) < 2:
            raise ParameterError("CMA-ES needs two weights or more; take another strategy for a single one")
        self._search = cmaes.CMA(mean=start, sigma=sigma, population_size=population, seed=seed)
        self.population = np.tile(start, (self._search.population_size, 1))
        self.fitness = np.full(len(self.population), -np.inf)
        self.best, self.best_fitness = start, -np.inf

    def ask(self) -> NDArray[np.float64]:
        """A new sample, shape ``(population, L)``."""
        self.population = np.array([self._search.ask() for _ in range(len(self.population))])
        return self.population

    def tell(self, fitness: ArrayLike) -> None:
        """Move the distribution toward the fitter half."""
        self.fitness = as_fitness(fitness, len(self.population))
        losses = np.where(np.isneginf(self.fitness), 1e300, -self.fitness)  # the package minimizes
        self._search.tell(list(zip(self.population, losses.tolist(), strict=True)))
        leader = int(self.fitness.argmax())
        if self.fitness[leader] > self.best_fitness:
            self.best, self.best_fitness = self.population[leader].copy(), float(self.fitness[leader])
