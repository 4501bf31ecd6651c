"""The (1+1) evolution strategy: one parent, one child, the fitter lives; with the mutations of ES-Rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.errors import unknown_name
from ordino.evolve.population import as_fitness, as_population

LONGEST = np.exp(50.0)  # a Cauchy number may be anything; a step may not be infinite


def _exp_cauchy(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    scale: NDArray[np.float64] = np.exp(rng.standard_cauchy(n).clip(-50.0, 50.0))
    return rng.standard_normal(n) * scale


def _gaussian(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.standard_normal(n)


def _cauchy(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.standard_cauchy(n).clip(-LONGEST, LONGEST)


def _levy(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    length: NDArray[np.float64] = np.minimum(1.0 / rng.standard_normal(n) ** 2, LONGEST)
    return np.where(rng.random(n) < 0.5, -length, length)


MUTATIONS: Mapping[str, Callable[[int, np.random.Generator], NDArray[np.float64]]] = MappingProxyType(
    {"exp-cauchy": _exp_cauchy, "gaussian": _gaussian, "cauchy": _cauchy, "levy": _levy}
)
"""Steps by name: ES-Rank's N(0,1) exp(C(0,1)); N(0,1), C(0,1) and a symmetric Levy number as in later work."""


@final
class EvolutionStrategy:
    r"""A parent and its mutated child; the child takes over if it is fitter.

    A child has R of the L weights changed, R drawn from 1 to L, each by a step of its own

    .. math:: w_j \leftarrow w_j + \mathrm{N}(0, 1) \, \exp(\mathrm{Cauchy}(0, 1))

    After a success the same R weights are changed once more, with new steps; after a failure others are drawn. The
    factor exp(Cauchy) is below 0.05 as often as it is above 20, so that the search both leaps and refines without a
    schedule.

    Parameters
    ----------
    parent
        The start, a vector of weights.
    mutation
        A name in ``MUTATIONS``.
    repeat_success
        Change the same weights again after a better child, as ES-Rank does.
    seed
        The same seed gives the same run.

    Notes
    -----
    After Ibrahim and Landa-Silva, "ES-Rank: evolution strategy learning to rank approach" (SAC 2017), in our reading:
    to repeat a successful mutation means to change the same weights. Repeating the very same step stalls, because a
    step of almost no length succeeds again and again.

    Examples
    --------
    >>> search = EvolutionStrategy([0.0, 0.0], seed=3)
    >>> for _ in range(400):
    ...     search.tell(-(abs(search.ask() - [1.0, -2.0])).sum(axis=1))
    >>> search.best.round(1).tolist()
    [1.0, -2.0]
    """

    def __init__(
        self,
        parent: ArrayLike,
        *,
        mutation: str = "exp-cauchy",
        repeat_success: bool = True,
        seed: int | np.random.SeedSequence = 0,
    ) -> None:
        if mutation not in MUTATIONS:
            raise unknown_name("mutation", mutation, MUTATIONS)
        self.population = as_population(parent, least=1)[:1]  # (1, L)
        self.fitness = np.full(1, -np.inf)
        self.best, self.best_fitness = self.population[0], -np.inf
        self.repeat_success = repeat_success
        self._draw = MUTATIONS[mutation]
        self._rng = np.random.default_rng(seed)
        self._changed: NDArray[np.int64] | None = None  # None before the first child and after a failure
        self._child = self.population

    def ask(self) -> NDArray[np.float64]:
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
        won = bool(given[0] > self.best_fitness)
        if won:
            self.population, self.fitness = self._child, given
            self.best, self.best_fitness = self._child[0], float(given[0])
        if not (won and self.repeat_success):
            self._changed = None
