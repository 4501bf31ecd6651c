"""Particle swarm optimization (Kennedy and Eberhart, 1995) with one best for the whole swarm."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.evolve.population import as_fitness, as_population


@final
class ParticleSwarm:
    r"""Particles fly on, drawn to the best place each has seen and to the best any has seen.

    .. math:: v \leftarrow w v + c_1 r_1 (p - x) + c_2 r_2 (g - x), \qquad x \leftarrow x + v

    with :math:`r_1, r_2` uniform in [0, 1], anew for each weight. The first ``ask`` gives the start, at rest.

    Parameters
    ----------
    population
        Where the particles start, one a row.
    inertia, cognitive, social
        :math:`w, c_1, c_2`. The defaults are Clerc and Kennedy's constriction (2002), which needs no limit of speed.
    max_speed
        Limit of each component of a velocity, or None.
    seed
        The same seed gives the same run.

    Examples
    --------
    A lone particle stands where its best and the swarm's best are: it stays.

    >>> swarm = ParticleSwarm([[2.0, 3.0]])
    >>> swarm.tell([1.0] if swarm.ask() is not None else [])
    >>> swarm.ask().tolist()
    [[2.0, 3.0]]
    """

    def __init__(
        self,
        population: ArrayLike,
        *,
        inertia: float = 0.7298,
        cognitive: float = 1.49618,
        social: float = 1.49618,
        max_speed: float | None = None,
        seed: int | np.random.SeedSequence = 0,
    ) -> None:
        self.population = as_population(population, least=1)  # (P, L): where the particles are
        self.velocity = np.zeros_like(self.population)
        self.fitness = np.full(len(self.population), -np.inf)  # where they are
        self.own_best = self.population.copy()
        self.own_fitness = self.fitness.copy()
        self.best, self.best_fitness = self.population[0].copy(), -np.inf
        self.inertia, self.cognitive, self.social, self.max_speed = inertia, cognitive, social, max_speed
        self._rng = np.random.default_rng(seed)
        self._told = True

    def ask(self) -> NDArray[np.float64]:
        """Where the particles are now, shape ``(P, L)``."""
        if self._told and np.isfinite(self.best_fitness):
            shape = self.population.shape
            to_own = self._rng.random(shape) * (self.own_best - self.population)
            to_best = self._rng.random(shape) * (self.best - self.population)
            velocity = self.inertia * self.velocity + self.cognitive * to_own + self.social * to_best
            if self.max_speed is not None:
                velocity = velocity.clip(-self.max_speed, self.max_speed)
            self.velocity, self.population = velocity, self.population + velocity
        self._told = False
        return self.population

    def tell(self, fitness: ArrayLike) -> None:
        """Let every particle remember where it did best."""
        self.fitness = as_fitness(fitness, len(self.population))
        better = self.fitness > self.own_fitness
        self.own_best = np.where(better[:, None], self.population, self.own_best)
        self.own_fitness = np.where(better, self.fitness, self.own_fitness)
        leader = int(self.own_fitness.argmax())
        if self.own_fitness[leader] > self.best_fitness:
            self.best, self.best_fitness = self.own_best[leader].copy(), float(self.own_fitness[leader])
        self._told = True
