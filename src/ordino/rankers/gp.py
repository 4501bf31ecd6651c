"""GPRank: a ranking formula by genetic programming (Yeh et al., LR4IR 2007, who call it RankGP)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ordino import recurring
from ordino.checks import check_choice, check_real
from ordino.data.dataset import Dataset
from ordino.division import Divided
from ordino.errors import ParameterError
from ordino.evolve.evolved import FITNESS, PATIENCE, generations_param, run_search
from ordino.evolve.formula import FUNCTIONS, Formula
from ordino.evolve.genetic_programming import FormulaFitness, GeneticProgramming, run_over
from ordino.forms import require
from ordino.parameters import Range, learned, param
from ordino.ranker import Ranker


def check_functions(given: object) -> None:
    """Refuse anything but a list of function names."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ParameterError(f"functions={given!r}; give a list of names, such as ('+', '*')")
    for name in given:
        check_choice("function", name, FUNCTIONS)


@final
class GPRank(Ranker):
    """A formula over the features, evolved from random ones with the metric itself as fitness.

    A formula is a tree of functions over features and constants in [0, 1]. The winners of small tournaments exchange
    subtrees or grow new ones; the fittest survives. The fitness is MAP and the functions are ``+ - * /``; the other
    choices follow Koza (1992), because we could not find out the paper's own.

    Attributes
    ----------
    formula_
        The formula as text, with the features' names.
    program_
        The same in prefix notation, as ``Formula.parse`` reads it.
    history_
        A row for the start and for each generation after it.
    fitness_
        The metric of the formula on the data used for selection.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> ranker = GPRank(generations=5, population=20).fit(X, [1, 0, 0], qid=[1] * 3)
    >>> ranker.rank(X).tolist()[0], ranker.fitness_, ranker.formula_.count("f1") > 0
    (0, 1.0, True)
    """

    divides = True
    renamed: ClassVar[Mapping[str, str]] = {"crossover": "crossover_rate", "mutation": "mutation_rate"}

    history_: list[dict[str, float]] = learned()
    fitness_: float = learned()

    population: int = param(200, "Number of formulas.", low=2, space=Range(10, 100, log=True))
    generations: int = generations_param(100, "Maximum number of generations")
    functions: Sequence[str] = param(
        ("+", "-", "*", "/"), f"Functions that formulas may use: any of {' '.join(FUNCTIONS)}.", check=check_functions
    )
    tournament: int = param(5, "Number of formulas that compete to become a parent.", low=1)
    crossover_rate: float = param(0.9, "Probability that a child exchanges a subtree with another.", low=0, high=1)
    mutation_rate: float = param(
        0.1, "Probability that a child grows a new subtree; the two rates must sum to at most 1.", low=0, high=1
    )
    max_depth: int = param(8, "Maximum depth of a formula.", low=1)
    patience: int | None = recurring.patience_param(None, PATIENCE)
    metric: str = recurring.metric_param("map", FITNESS)
    profile: str = recurring.profile_param()
    scaling: str | None = recurring.scaling_param("minmax")
    missing: str | None = recurring.missing_param()
    warm_start: bool = recurring.warm_start_param()
    seed: int = recurring.seed_param()
    n_jobs: int | None = recurring.n_jobs_param()
    verbose: bool = recurring.verbose_param()

    def _fit(self, data: Dataset | Divided, valid: Dataset | Divided | None) -> None:
        check_real("mutation_rate", self.mutation_rate, low=0, high=1 - self.crossover_rate + 1e-12)
        names = ("population", "functions", "tournament", "crossover_rate", "mutation_rate", "max_depth", "seed")
        settings = {name: getattr(self, name) for name in names}
        _, run = run_search(self, data, valid, FormulaFitness, lambda: GeneticProgramming(data.n_features, **settings))
        self.program_: list[str] = run.best.words()
        self.formula_: str = run.best.text(data.feature_names)

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return run_over(Formula.parse(self.program_), data.X)

    def _check_learned(self) -> None:
        """The words are exactly one tree, over features that there are."""
        words, missing = self.program_, 1  # nodes that are still to come, in prefix order
        require(isinstance(words, list) and all(isinstance(word, str) for word in words), "program_")
        try:
            codes = Formula.parse(words).codes.tolist()
        except (ValueError, OverflowError):
            codes = [self.n_inputs]
        for word, code in zip(words, codes, strict=False):
            require(missing > 0 and code < self.n_inputs, "program_")
            missing += FUNCTIONS[word].arity - 1 if word in FUNCTIONS else -1
        require(missing == 0, "program_")
