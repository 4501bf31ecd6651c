"""Genetic programming of formulas (Koza, 1992): tournaments, subtree crossover, subtree mutation, an elite.

Written here because DEAP, the maintained package, draws from Python's global random state, which a library must not
touch, and runs trees as Python functions; here a compiled kernel runs them over all documents.
"""

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_choice
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.evolve.fitness import ROWS, Objective, as_chunks
from ordino.evolve.formula import FUNCTIONS, Formula
from ordino.evolve.kernels import CHUNK, CONSTANT, run_formula
from ordino.evolve.strategies import Seed, as_fitness
from ordino.metrics import Metric, Profile

FIRST_DEPTH = 4  # of the deepest formulas at the start


@final
class GeneticProgramming:
    """A population of formulas; the winners of tournaments are crossed and mutated, and the fittest lives on.

    The parameters are those of :class:`~ordino.rankers.gp.GPRank`; ``constants`` is the interval from which constants
    are drawn, or None for none. The first formulas have depths from 1 to 4, half of them full trees, half grown (Koza's
    ramped half and half).

    Examples
    --------
    >>> str(GeneticProgramming(2, population=4, functions=("+",), constants=None).ask()[0])
    'f2 + f2'
    """

    def __init__(
        self,
        n_features: int,
        *,
        population: int = 200,
        functions: Sequence[str] = ("+", "-", "*", "/"),
        constants: tuple[float, float] | None = (0.0, 1.0),
        tournament: int = 5,
        crossover_rate: float = 0.9,
        mutation_rate: float = 0.1,
        max_depth: int = 8,
        seed: Seed = 0,
    ) -> None:
        for name in functions:
            check_choice("function", name, FUNCTIONS)
        if not functions or population < 2 or crossover_rate + mutation_rate > 1:
            raise ParameterError(
                f"functions={functions!r}, population={population}, crossover_rate={crossover_rate}, "
                f"mutation_rate={mutation_rate}; give at least one function, at least two formulas, and rates that sum "
                "to at most 1"
            )
        self.n_features, self.functions, self.constants = n_features, tuple(functions), constants
        self.tournament, self.crossover_rate, self.mutation_rate = tournament, crossover_rate, mutation_rate
        self.max_depth = max_depth
        self._rng = np.random.default_rng(seed)
        self.population = [self._grow(1 + i // 2 % FIRST_DEPTH, full=i % 2 == 0) for i in range(population)]
        self.fitness = np.full(population, -np.inf)
        self.best, self.best_fitness = self.population[0], -np.inf
        self._told = False

    def ask(self) -> list[Formula]:
        """The first population, then the next one."""
        if self._told:
            fittest = self.population[int(self.fitness.argmax())]
            self.population = [fittest, *(self._child() for _ in self.population[1:])]
            self._told = False
        return self.population

    def tell(self, fitness: ArrayLike) -> None:
        """Take the fitness of the population; of equally fit formulas the shorter is the better."""
        self.fitness = as_fitness(fitness, len(self.population))
        sizes = np.array([len(tree) for tree in self.population])
        leader = int(np.lexsort((sizes, -self.fitness))[0])
        if self.fitness[leader] > self.best_fitness:
            self.best, self.best_fitness = self.population[leader], float(self.fitness[leader])
        self._told = True

    def _child(self) -> Formula:
        parent, lot = self._select(), self._rng.random()
        if lot < self.crossover_rate:
            other = self._select()
            twig = other.cut(self._node(other))
        elif lot < self.crossover_rate + self.mutation_rate:
            twig = self._grow(int(self._rng.integers(0, 3)), full=False)
        else:
            return parent
        child = parent.graft(self._node(parent), twig)
        return child if child.depth <= self.max_depth else parent

    def _select(self) -> Formula:
        drawn = self._rng.integers(len(self.population), size=self.tournament)
        winner: int = min(drawn.tolist(), key=lambda i: (-self.fitness[i], len(self.population[i])))
        return self.population[winner]

    def _node(self, tree: Formula) -> int:
        """A node to cut at: nine times in ten one with a function, as Koza has it."""
        inner = np.flatnonzero((tree.codes < 0) & (tree.codes != CONSTANT))
        if len(inner) and self._rng.random() < 0.9:
            return int(self._rng.choice(inner))
        return int(self._rng.integers(len(tree)))

    def _grow(self, depth: int, *, full: bool) -> Formula:
        """A random tree, every leaf at ``depth`` (full) or at most there."""
        codes: list[int] = []
        values: list[float] = []
        waiting = [depth]
        while waiting:
            left = waiting.pop()
            value = 0.0
            if left > 0 and (full or not codes or self._rng.random() < 0.7):
                function = FUNCTIONS[self.functions[self._rng.integers(len(self.functions))]]
                codes.append(function.code)
                waiting += [left - 1] * function.arity
            elif self.constants is not None and self._rng.random() < 0.2:
                codes.append(CONSTANT)
                value = float(self._rng.uniform(*self.constants))
            else:
                codes.append(int(self._rng.integers(self.n_features)))
            values.append(value)
        return Formula(codes, values)


@final
class FormulaFitness:
    """The fitness of formulas on a data set: called with formulas, it gives one number for each.

    The parameters are those of :class:`Objective`. Formulas of the generation before are not run again.
    """

    def __init__(
        self, data: Dataset, metric: str | Metric, *, profile: str | Profile = "standard", n_jobs: int | None = None
    ) -> None:
        self.objective = Objective(data, metric, profile=profile, n_jobs=n_jobs)
        bounds = [(data.offsets[first], data.offsets[last]) for first, last in self.objective.blocks]
        self._chunks = [as_chunks(data.X[begin:end]) for begin, end in bounds]
        self._known: dict[tuple[bytes, bytes], float] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:  # noqa: PYI036
        self.objective.__exit__(*error)

    def __call__(self, formulas: Sequence[Formula]) -> NDArray[np.float64]:
        """The metric's mean over the queries for each formula."""
        keys = [(tree.codes.tobytes(), tree.constants.tobytes()) for tree in formulas]
        new = {key: tree for key, tree in zip(keys, formulas, strict=True) if key not in self._known}
        if new:
            found = self.objective.mean(self.per_query(list(new.values())))
            self._known.update(zip(new, found.tolist(), strict=True))
        values = np.array([self._known[key] for key in keys])
        self._known = dict(zip(keys, values.tolist(), strict=True))  # the present generation is memory enough
        return values

    def per_query(self, formulas: Sequence[Formula]) -> NDArray[np.float64]:
        """The metric of each query for each formula, shape ``(P, n_queries)``."""
        deepest = max(len(tree) for tree in formulas) // 2 + 2

        def scores_of(b: int) -> NDArray[np.float64]:
            chunks = self._chunks[b]
            scores = np.empty((len(formulas), len(chunks) * CHUNK))
            stack = np.empty((deepest, CHUNK))
            for p, tree in enumerate(formulas):
                run_formula(tree.codes, tree.constants, chunks, stack, scores[p])
            return scores

        return self.objective.per_query(scores_of, len(formulas))


def run_over(tree: Formula, X: NDArray[np.float32]) -> NDArray[np.float64]:
    """What a formula makes of each row of X.

    Examples
    --------
    >>> run_over(Formula.parse("- 0 1".split()), np.array([[3.0, 1.0], [0.5, 1.0]], np.float32)).tolist()
    [2.0, -0.5]
    """
    found = np.empty(len(X))
    stack = np.empty((len(tree) // 2 + 2, CHUNK))
    for start in range(0, len(X), ROWS):
        chunks = as_chunks(X[start : start + ROWS])
        scores = np.empty(len(chunks) * CHUNK)
        run_formula(tree.codes, tree.constants, chunks, stack, scores)
        found[start : start + ROWS] = scores[: min(ROWS, len(X) - start)]
    return found
