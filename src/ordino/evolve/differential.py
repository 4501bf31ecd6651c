r"""Differential evolution: children made from differences of parents, and what came after RankDE's published form.

- *jde*: each individual's F and CR are now and then drawn anew, and survive with the child that they helped to win
  (Brest et al., IEEE TEC 2006).
- *shade*: F and CR are drawn around what has lately won, from a memory of means; the child of an individual goes
  toward one of the best and away from a parent that lost (Tanabe and Fukunaga, CEC 2013).
- *shrink_to*: the population falls in a line, the worst leave (L-SHADE; Tanabe and Fukunaga, CEC 2014).
- *local_search*: steps along single weights of the best individual, whose length follows their success.
"""

from types import MappingProxyType
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_choice
from ordino.evolve.strategies import Floats, Seed, WeightSearch, as_fitness

TO_PBEST = "current-to-pbest/1"
BASES: Final = MappingProxyType(
    {
        "rand/1": "x_r1 + F (x_r2 - x_r3): RankDE's equation 2",
        "best/1": "x_best + F (x_r2 - x_r3)",
        "current-to-best/1": "x_i + F (x_best - x_i) + F (x_r2 - x_r3)",
        TO_PBEST: "x_i + F (x_p - x_i) + F (x_r2 - x_r3), x_p one of the best",
    }
)
"""How differential evolution makes a mutant, by name; crossover is always binomial (RankDE's equation 3)."""

ADAPTATIONS: Final = MappingProxyType(
    {"jde": "F and CR are drawn anew now and then", "shade": "F and CR are drawn around what has lately won"}
)
"""How F and CR may adapt, by name."""

FEWEST = 4
GROW, SHRINK = 1.5, 0.9  # of the local step, after a success and after a failure
FIRST_STEP = 0.1  # of the largest weight


@final
class DifferentialEvolution(WeightSearch):
    """Children are made from differences of parents; a child takes its parent's place if it is fitter.

    The parameters are those of :class:`~ordino.rankers.rankde.RankDE`; the population needs four individuals.
    ``shrink_over`` is the number of generations in which it falls to ``shrink_to``.

    Examples
    --------
    >>> search = DifferentialEvolution([[0.0], [1.0], [2.0], [4.0]])
    >>> search.tell(search.ask().sum(axis=1))
    >>> search.best.tolist(), search.best_fitness
    ([4.0], 4.0)
    """

    def __init__(
        self, population: ArrayLike, *, F: float = 0.5, CR: float = 0.5, mutation: str = "rand/1",
        self_adaptive: bool | str = False, top: float = 0.1, shrink_to: int | None = None, shrink_over: int = 0,
        local_search: int = 0, seed: Seed = 0,
    ) -> None:  # fmt: skip
        super().__init__(population, least=FEWEST, seed=seed)
        n = len(self.population)
        self.mutation = check_choice("mutation", mutation, BASES)
        self.adaptation = "jde" if self_adaptive is True else self_adaptive
        self.F, self.CR = np.full((n, 1), float(F)), np.full((n, 1), float(CR))
        self.memory = np.tile([[float(F)], [float(CR)]], n)  # (2, H) of shade: means of F and of CR that won
        self.archive = np.empty((0, self.population.shape[1]))
        self.top, self.shrink_to, self.shrink_over, self.local_search = top, shrink_to, shrink_over, local_search
        self.step = FIRST_STEP * float(np.abs(self.population).max())
        self._first_size, self._generation, self._written = n, 0, 0
        self._children: tuple[Floats, ...] | None = None
        self._near = np.empty((0, self.population.shape[1]))

    def ask(self) -> Floats:
        """The start at first, then a child of each individual and the local steps, one a row."""
        if self._children is None:
            self._children = self.population, self.F, self.CR
        elif np.isneginf(self.fitness).all():
            return self.population  # asked twice before the first tell
        else:
            self._children = self._breed()
            if self.local_search:
                self._near = self._steps()
        return np.vstack((self._children[0], self._near)) if len(self._near) else self._children[0]

    def tell(self, fitness: ArrayLike) -> None:
        """Let each child that is fitter than its parent take the parent's place."""
        assert self._children is not None, "ask() comes before tell()"
        everything = as_fitness(fitness, len(self.population) + len(self._near))
        given, near = everything[: len(self.population)], everything[len(self.population) :]
        won = given > self.fitness
        column = won[:, None]
        children, F, CR = self._children
        if self.adaptation == "shade" and np.isfinite(self.fitness).all() and won.any():
            self._remember(F[won, 0], CR[won, 0], (given - self.fitness)[won], self.population[won])
        self.F, self.CR = np.where(column, F, self.F), np.where(column, CR, self.CR)
        self.population, self.fitness = np.where(column, children, self.population), np.where(won, given, self.fitness)
        if len(near):
            self._take_step(near)
        self._note_best(self.population, self.fitness)
        self._generation += 1
        if self.shrink_to is not None:
            self._shrink()

    def _breed(self) -> tuple[Floats, Floats, Floats]:
        x, rng = self.population, self._rng
        n, n_weights = x.shape
        F, CR = self._rates()
        r1, r2, r3 = distinct_from_self(n, 3, rng).T
        if self.mutation == TO_PBEST:
            mutants = x + F * (x[self._one_of_the_best()] - x) + F * (x[r2] - self._other(r3))
        else:
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

    def _rates(self) -> tuple[Floats, Floats]:
        """F and CR of each child, shape ``(P, 1)``."""
        F, CR, rng, n = self.F, self.CR, self._rng, len(self.population)
        if self.adaptation == "jde":
            F = np.where(rng.random((n, 1)) < 0.1, rng.uniform(0.1, 1.0, (n, 1)), F)
            CR = np.where(rng.random((n, 1)) < 0.1, rng.random((n, 1)), CR)
        elif self.adaptation == "shade":
            mean_F, mean_CR = self.memory[:, rng.integers(self.memory.shape[1], size=n)]
            CR = (mean_CR + 0.1 * rng.standard_normal(n)).clip(0.0, 1.0)[:, None]
            F = mean_F + 0.1 * rng.standard_cauchy(n)
            while (low := F <= 0).any():
                F[low] = mean_F[low] + 0.1 * rng.standard_cauchy(int(low.sum()))
            F = np.minimum(F, 1.0)[:, None]
        return F, CR

    def _one_of_the_best(self) -> NDArray[np.int64]:
        """For each individual one of the fittest, among a share ``top``; of shade each draws its own share."""
        n = len(self.population)
        order = np.argsort(-self.fitness, kind="stable")
        share = self._rng.uniform(min(2 / n, 0.2), 0.2, n) if self.adaptation == "shade" else np.full(n, self.top)
        many = np.maximum(np.rint(share * n), 1.0)
        drawn: NDArray[np.int64] = order[(self._rng.random(n) * many).astype(np.int64)]
        return drawn

    def _other(self, r3: NDArray[np.int64]) -> Floats:
        """The individual that is subtracted: of shade it may also be a parent that lost."""
        if not len(self.archive):
            return self.population[r3]
        n = len(self.population)
        from_archive = self._rng.random(n) < len(self.archive) / (n + len(self.archive))
        lost = self.archive[self._rng.integers(len(self.archive), size=n)]
        return np.where(from_archive[:, None], lost, self.population[r3])

    def _remember(self, F: Floats, CR: Floats, gains: Floats, lost: Floats) -> None:
        """Write the means of what won into the memory, and keep the parents that lost."""
        weights = gains / gains.sum()
        place = self._written % self.memory.shape[1]
        self.memory[:, place] = (weights * F**2).sum() / (weights * F).sum(), (weights * CR).sum()
        self._written += 1
        together = np.vstack((self.archive, lost))
        excess = len(together) - self._first_size
        self.archive = self._rng.permutation(together)[: self._first_size] if excess > 0 else together

    def _steps(self) -> Floats:
        """The best individual with one weight changed, ``local_search`` times."""
        near = np.tile(self.best, (self.local_search, 1))
        places = self._rng.integers(near.shape[1], size=len(near))
        near[np.arange(len(near)), places] += self.step * self._rng.standard_normal(len(near))
        return near

    def _take_step(self, near: Floats) -> None:
        """Put the best step in place of the fittest individual, if it is better."""
        leader, fittest = int(near.argmax()), int(self.fitness.argmax())
        is_better = near[leader] > self.fitness[fittest]
        if is_better:
            self.population[fittest], self.fitness[fittest] = self._near[leader], near[leader]
        self.step *= GROW if is_better else SHRINK

    def _shrink(self) -> None:
        """Let the worst leave, as many as the line says."""
        assert self.shrink_to is not None
        done = min(self._generation / max(self.shrink_over, 1), 1.0)
        size = max(round(self._first_size + (self.shrink_to - self._first_size) * done), FEWEST)
        if size < len(self.population):
            kept = np.sort(np.argsort(-self.fitness, kind="stable")[:size])
            self.population, self.fitness = self.population[kept], self.fitness[kept]
            self.F, self.CR = self.F[kept], self.CR[kept]


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
