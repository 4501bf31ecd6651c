"""RankDE: differential evolution of a linear ranker, with the metric itself as fitness (Bollegala et al., GECCO 2011).

How children are made is in :mod:`ordino.evolve.differential`.
"""

from __future__ import annotations

from typing import final

import numpy as np

from ordino.checks import check_choice
from ordino.data.dataset import Dataset
from ordino.division import Divided
from ordino.evolve.differential import ADAPTATIONS, BASES, DifferentialEvolution
from ordino.evolve.evolved import EvolvedRanker, generations_param, population_param, uniform_start
from ordino.evolve.strategies import Floats
from ordino.parameters import Range, param, settings
from ordino.recurring import warm_start_param
from ordino.streams import spawned


def check_adaptation(given: object) -> None:
    """Refuse anything but a name, True or False."""
    if not isinstance(given, bool | np.bool_):
        check_choice("self_adaptive", given, ADAPTATIONS)


@final
class RankDE(EvolvedRanker):
    r"""A linear ranker by differential evolution: a child that ranks better replaces its parent (Algorithm 1).

    .. math::
        v_i = x_{r_1} + F (x_{r_2} - x_{r_3}), \qquad
        u_{ij} = v_{ij} \text{ if } \mathrm{rand}_j \le CR \text{ or } j = \mathrm{rnbr}(i), \text{ else } x_{ij}

    The defaults are the paper's (Table 2): MAP as fitness, initial weights uniform in [-1, 1], features scaled to [0,
    1] within each query (equation 5). Only the generations are 2,000 and not 10,000: on the validation parts of seven
    data sets, no later one was better.

    Examples
    --------
    The label rises with the first feature and falls with the second.

    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> ranker = RankDE(generations=20, population=8).fit(X, [1, 0, 0], qid=[1] * 3)
    >>> ranker.rank(X).tolist(), ranker.fitness_, len(ranker.history_)
    ([0, 1, 2], 1.0, 21)
    """

    population: int = population_param(50, "P, the number of weight vectors; at least 4.", low=4)
    generations: int = generations_param(2000, "Maximum number of generations")
    F: float = param(0.5, "Scale of the difference vector.", above=0, high=2, space=Range(0.1, 1.0))
    CR: float = param(0.5, "Probability that a weight comes from the mutant.", low=0, high=1, space=Range(0.1, 1.0))
    mutation: str = param(
        "rand/1",
        "rand/1 (the paper's equation 2), best/1, current-to-best/1 or current-to-pbest/1 (toward one of the best).",
        choices=BASES,
    )
    self_adaptive: bool | str = param(
        False,
        "Let F and CR adapt, starting from the given values: jde (or True) lets every individual have its own, shade "
        "draws them around what has lately won.",
        check=check_adaptation,
    )
    top: float = param(
        0.1, "The share of the fittest that current-to-pbest/1 goes toward; shade draws its own.", above=0, high=1
    )
    shrink_to: int | None = param(
        None, "Let the population fall in a line to this size over `generations`; None keeps its size.", low=4
    )
    local_search: int = param(
        0, "Steps along single weights of the best individual that each generation tries as well.", low=0
    )
    select: str = param(
        "valid",
        "Where the individual that is kept is the best: on validation data, if given (valid), or on the training data, "
        "as line 11 of Algorithm 1 says (train).",
        choices=("valid", "train"),
    )
    warm_start: bool = warm_start_param("Continue from where the last `fit` stopped: twice 100 generations equal 200.")

    published = settings(
        population=50, generations=10_000, patience=None, F=0.5, CR=0.5, mutation="rand/1", self_adaptive=False,
        select="train", metric="map", scaling="minmax",
    )  # fmt: skip
    """Table 2, Algorithm 1 and equation 5."""

    _start = uniform_start

    def _fit(self, data: Dataset | Divided, valid: Dataset | Divided | None) -> None:
        super()._fit(data, valid if self.select == "valid" else None)

    def _search(self, population: Floats) -> DifferentialEvolution:
        return DifferentialEvolution(
            population,
            F=self.F,
            CR=self.CR,
            mutation=self.mutation,
            self_adaptive=self.self_adaptive,
            top=self.top,
            shrink_to=self.shrink_to,
            shrink_over=self.generations,
            local_search=self.local_search,
            seed=spawned(self.seed, "search"),
        )
