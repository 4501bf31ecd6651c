"""Strategies over weight vectors: a particle swarm, a (1+1) evolution strategy, CMA-ES; and what all of them share.

Each is asked for individuals, one a row, and then told their fitness; larger is better. The same seed gives the same
run. :mod:`ordino.rankers.evolution` has the papers and the equations; differential evolution has a file of its own.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_choice
from ordino.errors import ParameterError

Floats = NDArray[np.float64]
Seed = int | np.random.SeedSequence


def uniform_population(size: int, n_weights: int, *, low: float = -1.0, high: float = 1.0, seed: Seed = 0) -> Floats:
    """Weight vectors drawn uniformly from a box, shape ``(size, n_weights)``.

    Examples
    --------
    >>> uniform_population(2, 3, seed=0).round(2).tolist()
    [[0.27, -0.46, -0.92], [-0.97, 0.63, 0.83]]
    """
    return np.random.default_rng(seed).uniform(low, high, (size, n_weights))


def as_fitness(given: ArrayLike, n: int) -> Floats:
    """One fitness for each individual that was asked for; NaN counts as the worst there is."""
    fitness = np.array(given, np.float64)
    if fitness.shape != (n,):
        raise ParameterError(
            f"tell() got fitness of shape {fitness.shape}; give {n} numbers, one for each individual of ask()"
        )
    fitness[np.isnan(fitness)] = -np.inf
    return fitness


class WeightSearch:
    """What the strategies share: individuals, their fitness, the best so far, and random numbers."""

    def __init__(self, population: ArrayLike, *, least: int = 1, seed: Seed = 0) -> None:
        start = np.array(population, np.float64, ndmin=2)  # (P, L)
        if start.ndim != 2 or start.shape[1] == 0:
            raise ParameterError(f"the population has shape {start.shape}; give one row for each individual")
        if len(start) < least:
            raise ParameterError(f"the population has {len(start)} individuals; this strategy needs {least} or more")
        if not np.isfinite(start).all():
            raise ParameterError("the population has NaN or inf; every weight must be a finite number")
        self.population = start
        self.fitness = np.full(len(start), -np.inf)
        self.best, self.best_fitness = start[0].copy(), -np.inf
        self._rng = np.random.default_rng(seed)

    def _note_best(self, individuals: Floats, fitness: Floats) -> None:
        leader = int(fitness.argmax())
        if fitness[leader] > self.best_fitness:
            self.best, self.best_fitness = individuals[leader].copy(), float(fitness[leader])


@final
class ParticleSwarm(WeightSearch):
    """Particles fly on, drawn to the best place each has seen and to the best any has seen.

    The parameters are those of :class:`~ordino.rankers.evolution.SwarmRank`. The particles start at rest.

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
        seed: Seed = 0,
    ) -> None:
        super().__init__(population, seed=seed)
        self.velocity = np.zeros_like(self.population)
        self.own_best, self.own_fitness = self.population.copy(), self.fitness.copy()
        self.inertia, self.cognitive, self.social, self.max_speed = inertia, cognitive, social, max_speed
        self._told = True

    def ask(self) -> Floats:
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
        self._note_best(self.own_best, self.own_fitness)
        self._told = True


LONGEST = np.exp(50.0)  # a Cauchy number may be anything; a step may not be infinite


def _exp_cauchy(n: int, rng: np.random.Generator) -> Floats:
    scale: Floats = np.exp(rng.standard_cauchy(n).clip(-50.0, 50.0))
    return rng.standard_normal(n) * scale


def _levy(n: int, rng: np.random.Generator) -> Floats:
    length: Floats = np.minimum(1.0 / rng.standard_normal(n) ** 2, LONGEST)
    return np.where(rng.random(n) < 0.5, -length, length)


MUTATIONS: Mapping[str, Callable[[int, np.random.Generator], Floats]] = MappingProxyType(
    {
        "exp-cauchy": _exp_cauchy,
        "gaussian": lambda n, rng: rng.standard_normal(n),
        "cauchy": lambda n, rng: rng.standard_cauchy(n).clip(-LONGEST, LONGEST),
        "levy": _levy,
    }
)
"""Steps by name: ES-Rank's N(0,1) exp(C(0,1)); N(0,1), C(0,1) and a symmetric Levy number as in later work."""


@final
class EvolutionStrategy(WeightSearch):
    """A parent and its mutated child; the child takes over if it is fitter.

    A child has R of the L weights changed, R drawn from 1 to L, each by a step of its own, drawn as one of
    ``MUTATIONS`` says. After a success the same R weights are changed once more, with new steps; after a failure others
    are drawn. The factor exp(Cauchy) is below 0.05 as often as it is above 20, so that the search both leaps and
    refines without a schedule. This is our reading of ES-Rank: to repeat a successful mutation means to change the same
    weights. Repeating the very same step stalls, because a step of almost no length succeeds again and again.

    Examples
    --------
    >>> search = EvolutionStrategy([0.0, 0.0], seed=3)
    >>> for _ in range(400):
    ...     search.tell(-(abs(search.ask() - [1.0, -2.0])).sum(axis=1))
    >>> search.best.round(1).tolist()
    [1.0, -2.0]
    """

    def __init__(self, parent: ArrayLike, *, mutation: str = "exp-cauchy", seed: Seed = 0) -> None:
        super().__init__(parent, seed=seed)
        self.population, self.fitness = self.population[:1], self.fitness[:1]  # (1, L)
        self._draw = MUTATIONS[check_choice("mutation", mutation, MUTATIONS)]
        self._changed: NDArray[np.int64] | None = None  # None before the first child and after a failure
        self._child = self.population

    def ask(self) -> Floats:
        """The parent at first, then one child, shape ``(1, L)``."""
        if np.isfinite(self.best_fitness):
            n_weights = self.population.shape[1]
            if self._changed is None:
                self._changed = self._rng.permutation(n_weights)[: self._rng.integers(1, n_weights + 1)]
            self._child = self.population.copy()
            self._child[0, self._changed] += self._draw(len(self._changed), self._rng)
        return self._child

    def tell(self, fitness: ArrayLike) -> None:
        """Let the child take the parent's place if it is fitter."""
        given = as_fitness(fitness, 1)
        if given[0] > self.best_fitness:
            self.population, self.fitness = self._child, given
            self._note_best(self._child, given)
        else:
            self._changed = None


@final
class CMA(WeightSearch):
    """CMA-ES (Hansen and Ostermeier, 2001) through the ``cmaes`` package, which draws its own random numbers.

    Samples come from a normal distribution whose mean, step size ``sigma`` and covariance learn from the fitter half;
    the search starts at ``mean``, a vector of two weights or more. ``population=None`` samples 4 + 3 ln L of them.

    Examples
    --------
    >>> search = CMA([3.0, 3.0], sigma=1.0)
    >>> for _ in range(60):
    ...     search.tell(-(search.ask() ** 2).sum(axis=1))
    >>> bool(search.best_fitness > -1e-6)
    True
    """

    def __init__(self, mean: ArrayLike, *, sigma: float = 0.5, population: int | None = None, seed: int = 0) -> None:
        import cmaes

        super().__init__(mean)
        if len(self.best) < 2:
            raise ParameterError(
                "CMA-ES needs at least two weights (n_features = 1); use another strategy for a single one"
            )
        self._search = cmaes.CMA(mean=self.best, sigma=sigma, population_size=population, seed=seed)
        self.population = np.tile(self.best, (self._search.population_size, 1))
        self.fitness = np.full(len(self.population), -np.inf)

    def ask(self) -> Floats:
        """A new sample, shape ``(population, L)``."""
        self.population = np.array([self._search.ask() for _ in range(len(self.population))])
        return self.population

    def tell(self, fitness: ArrayLike) -> None:
        """Move the distribution toward the fitter half."""
        self.fitness = as_fitness(fitness, len(self.population))
        losses = np.where(np.isneginf(self.fitness), 1e300, -self.fitness)  # the package minimizes
        self._search.tell(list(zip(self.population, losses.tolist(), strict=True)))
        self._note_best(self.population, self.fitness)
