"""GPRank: a ranking formula by genetic programming (Yeh et al., LR4IR 2007, who call it RankGP)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice, check_int, check_real
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.evolve.evolved import FREE
from ordino.evolve.fitness import Objective
from ordino.evolve.formula import FUNCTIONS, Formula
from ordino.evolve.genetic_programming import FormulaFitness, GeneticProgramming, run_over
from ordino.evolve.loop import Generation, Run, evolve
from ordino.ranker import Ranker


@final
class GPRank(Ranker):
    """A formula over the features, bred from random ones; the measure itself is the fitness.

    A formula is a tree of functions over features and constants in [0, 1]. The winners of small tournaments exchange
    subtrees or grow new ones; the fittest lives on. Fitness is MAP, functions are ``+ - * /``, leaves are features and
    constants; the other choices follow Koza (1992), as we could not learn the paper's own.

    Parameters
    ----------
    population
        How many formulas there are.
    generations
        How often they breed, at most; Ctrl-C stops earlier and keeps the best so far.
    functions
        What formulas are made of: ``+``, ``-``, ``*``, ``/``, ``min``, ``max``, ``sqrt``.
    tournament
        How many formulas compete for each place as a parent.
    crossover, mutation
        Chance that a child exchanges a subtree with another, and that it grows a new one.
    max_depth
        The limit of a formula's depth.
    patience
        Stop after so many generations without a better best, on ``valid`` if given; None goes on to the end.
    metric, profile
        What is maximized, and how it is computed.
    scaling
        How features are scaled first, a name of ``SCALERS``, or None.
    warm_start
        Go on from where the last ``fit`` stopped.
    seed
        The same seed gives the same formula, on any number of threads.
    n_jobs
        Threads; None takes all cores.
    verbose
        Show progress on a terminal.

    Attributes
    ----------
    formula_
        The formula as text, with the features' names.
    program_
        The same in prefix notation, as ``Formula.parse`` reads it.
    history_, fitness_
        One :class:`ordino.evolve.Generation` for the start and each generation after it; the measure of the formula on
        the data by which it was chosen.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> ranker = GPRank(generations=5, population=20).fit(X, [1, 0, 0])
    >>> ranker.rank(X).tolist()[0], ranker.fitness_, ranker.formula_.count("f1") > 0
    (0, 1.0, True)
    """

    def __init__(
        self,
        *,
        population: int = 200,
        generations: int = 100,
        functions: Sequence[str] = ("+", "-", "*", "/"),
        tournament: int = 5,
        crossover: float = 0.9,
        mutation: float = 0.1,
        max_depth: int = 8,
        patience: int | None = None,
        metric: str = "map",
        profile: str = "standard",
        scaling: str | None = "minmax",
        warm_start: bool = False,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.population = population
        self.generations = generations
        self.functions = functions
        self.tournament = tournament
        self.crossover = crossover
        self.mutation = mutation
        self.max_depth = max_depth
        self.patience = patience
        self.metric = metric
        self.profile = profile
        self.scaling = scaling
        self.warm_start = warm_start
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        generations = check_int("generations", self.generations, low=0)
        patience = None if self.patience is None else check_int("patience", self.patience, low=1)
        n_jobs = None if self.n_jobs is None else check_int("n_jobs", self.n_jobs, low=1)
        with ExitStack() as stack:
            on_train, on_valid = (
                None
                if part is None
                else FormulaFitness(
                    stack.enter_context(Objective(part, self.metric, profile=self.profile, n_jobs=n_jobs)), part.X
                )
                for part in (data, valid)
            )
            assert on_train is not None
            search, before = self._go_on(on_train, data, valid)
            run = evolve(
                search,
                on_train,
                generations=generations,
                valid=on_valid,
                patience=patience,
                label="GPRank",
                verbose=self.verbose,
                before=before,
            )
            greater_is_better = on_train.objective.metric.greater_is_better
        self.program_: list[str] = run.best.words()
        self.formula_: str = run.best.text(data.feature_names)
        self.fitness_ = run.fitness if greater_is_better else -run.fitness
        self.history_: list[Generation] = run.history
        self._last = search, run, self._settings(valid)

    def _go_on(
        self, fitness: FormulaFitness, data: Dataset, valid: Dataset | None
    ) -> tuple[GeneticProgramming, Run | None]:
        """The search to run and the run that it continues: the last one if ``warm_start`` and the data is the same."""
        if self.warm_start and hasattr(self, "_last"):
            search, run, settings = self._last
            same = search.n_features == data.n_features and settings == self._settings(valid)
            if same and fitness([search.best])[0] == search.best_fitness:
                return search, run
        crossover = check_real("crossover", self.crossover, low=0, high=1)
        if isinstance(self.functions, str):
            raise ParameterError(f"functions={self.functions!r}; give a list of names, such as ('+', '*')")
        return GeneticProgramming(
            data.n_features,
            population=check_int("population", self.population, low=2),
            functions=[check_choice("function", name, FUNCTIONS) for name in self.functions],
            tournament=check_int("tournament", self.tournament, low=1),
            crossover=crossover,
            mutation=check_real("mutation", self.mutation, low=0, high=1 - crossover + 1e-12),
            max_depth=check_int("max_depth", self.max_depth, low=1),
            seed=check_int("seed", self.seed, low=0),
        ), None

    def _settings(self, valid: Dataset | None) -> str:
        """What must not change between two fits for the second to go on with the first's search."""
        fixed = {name: value for name, value in self.get_params().items() if name not in FREE}
        return repr((valid is None, sorted(fixed.items(), key=lambda item: item[0])))

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return run_over(Formula.parse(self.program_), data.X)
