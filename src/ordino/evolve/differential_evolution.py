"""Differential evolution (Storn and Price, 1997) as RankDE uses it: equations 2 and 3, child against parent."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import unknown_name
from ordino.evolve.population import as_fitness, as_population

BASES: Final = MappingProxyType(
    {
        "rand/1": "x_r1 + F (x_r2 - x_r3): RankDE's equation 2",
        "best/1": "x_best + F (x_r2 - x_r3)",
        "current-to-best/1": "x_i + F (x_best - x_i) + F (x_r2 - x_r3)",
    }
)
"""How a mutant is made, by name; crossover is always binomial (equation 3)."""


@final
class DifferentialEvolution:
    r"""Children are differences of parents; a child takes its parent's place if it is fitter.

    .. math::
        v_i = x_{r_1} + F (x_{r_2} - x_{r_3}), \qquad
        u_{ij} = v_{ij} \text{ if } \mathrm{rand}_j \le CR \text{ or } j = \mathrm{rnbr}(i), \text{ else } x_{ij}

    The first ``ask`` gives the population itself. A whole generation is made before any of it is scored.

    Parameters
    ----------
    population
        The start, one individual a row; four or more (``r1``, ``r2``, ``r3`` and ``i`` are all different).
    F, CR
        Scale of the difference, and chance of each weight to come from the mutant.
    mutation
        A name in ``BASES``.
    self_adaptive
        Every individual carries its own F and CR, which now and then (chance 0.1 each) are drawn anew from [0.1, 1] and
        [0, 1] and survive with the child that they helped to win (jDE; Brest et al., 2006).
    seed
        The same seed gives the same run.

    Examples
    --------
    >>> search = DifferentialEvolution([[0.0], [1.0], [2.0], [4.0]])
        >>> search.tell(search.ask().sum(axis=1))
    >>> search.best.tolist(), search.best_fitness
    ([4.0], 4.0)
    """

    def __init__(
        self,
        population: ArrayLike,
        *,
        F: float = 0.5,
        CR: float = 0.5,
        mutation: str = "rand/1",
        self_adaptive: bool = False,
        seed: int | np.random.SeedSequence = 0,
    ) -> None:
        if mutation not in BASES:
            raise unknown_name("mutation", mutation, BASES)
        self.population = as_population(population, least=4)  # (P, L)
        self.fitness = np.full(len(self.population), -np.inf)
        self.best, self.best_fitness = self.population[0].copy(), -np.inf
        self.mutation, self.self_adaptive = mutation, self_adaptive
        self.F = np.full((len(self.population), 1), float(F))
        self.CR = np.full((len(self.population), 1), float(CR))
        self._rng = np.random.default_rng(seed)
        self._children: tuple[NDArray[np.float64], ...] | None = None

    def ask(self) -> NDArray[np.float64]:
        """The start at first, then a child of each individual, shape ``(P, L)``."""
        if self._children is None:
            self._children = self.population, self.F, self.CR
        elif np.isneginf(self.fitness).all():
            return self.population  # asked twice before the first tell
        else:
            self._children = self._breed()
        return self._children[0]

    def tell(self, fitness: ArrayLike) -> None:
        """Let each child that is fitter than its parent take the parent's place."""
        assert self._children is not None, "ask() comes before tell()"
        given = as_fitness(fitness, len(self.population))
        won = given > self.fitness
        column = won[:, None]
        children, F, CR = self._children
        self.F, self.CR = np.where(column, F, self.F), np.where(column, CR, self.CR)
        self.population, self.fitness = np.where(column, children, self.population), np.where(won, given, self.fitness)
        leader = int(self.fitness.argmax())
        if self.fitness[leader] > self.best_fitness:
            self.best, self.best_fitness = self.population[leader].copy(), float(self.fitness[leader])

    def _breed(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        x, rng = self.population, self._rng
        n, n_weights = x.shape
        F, CR = self.F, self.CR
        if self.self_adaptive:
            F = np.where(rng.random((n, 1)) < 0.1, rng.uniform(0.1, 1.0, (n, 1)), F)
            CR = np.where(rng.random((n, 1)) < 0.1, rng.random((n, 1)), CR)
        r1, r2, r3 = distinct_from_self(n, 3, rng).T
        mutants = F * (x[r2] - x[r3])  # (P, L)
        if self.mutation == "rand/1":
            mutants += x[r1]
        elif self.mutation == "best/1":
            mutants += self.best
        else:
            mutants += x + F * (self.best - x)
        crossed = rng.random((n, n_weights)) <= CR
        crossed[np.arange(n), rng.integers(n_weights, size=n)] = True
        return np.where(crossed, mutants, x), F, CR


def distinct_from_self(n: int, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """For each of ``n`` individuals, ``k`` others, all different and each choice equally likely, shape ``(n, k)``.

    Examples
    --------
    >>> distinct_from_self(3, 2, np.random.default_rng(0)).sum(axis=1).tolist()  # of 0, 1, 2 the two others
    [3, 2, 1]
    """
    taken = np.arange(n)[:, None]  # sorted along each row
    drawn = np.empty((n, k), np.int64)
    for j in range(k):
        pick = rng.integers(n - 1 - j, size=n)  # a number among those not taken ...
        for column in taken.T:
            pick += pick >= column  # ... which counts past each one taken
        drawn[:, j] = pick
        taken = np.sort(np.column_stack((taken, pick)), axis=1)
    return drawn
