"""RankDE: differential evolution of a linear ranker that maximizes MAP itself (Bollegala et al., GECCO 2011)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.evolve.differential_evolution import BASES, DifferentialEvolution
from ordino.evolve.evolved import EvolvedRanker, generations_param
from ordino.evolve.population import uniform_population
from ordino.parameters import Range, param
from ordino.recurring import warm_start_param
from ordino.streams import spawned


@final
class RankDE(EvolvedRanker):
    r"""Weights by differential evolution: a child that ranks better takes its parent's place (Algorithm 1).

    .. math::
        v_i = x_{r_1} + F (x_{r_2} - x_{r_3}), \qquad
        u_{ij} = v_{ij} \text{ if } \mathrm{rand}_j \le CR \text{ or } j = \mathrm{rnbr}(i), \text{ else } x_{ij}

    The defaults are the paper's (Table 2): MAP as fitness, first weights uniform in [-1, 1], features scaled to [0, 1]
    in each query (equation 5).

    Examples
    --------
    The label rises with the first feature and falls with the second.

    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> ranker = RankDE(generations=20, population=8).fit(X, [1, 0, 0])
    >>> ranker.rank(X).tolist(), ranker.fitness_, len(ranker.history_)
    ([0, 1, 2], 1.0, 21)
    """

    population: int = param(50, "P, the number of weight vectors, 4 or more.", low=4, space=Range(10, 100, log=True))
    generations: int = generations_param(10_000, "How often the whole population breeds")
    F: float = param(0.5, "The scale of the difference.", above=0, high=2, space=Range(0.1, 1.0))
    CR: float = param(0.5, "The chance of each weight to come from the mutant.", low=0, high=1, space=Range(0.1, 1.0))
    mutation: str = param("rand/1", "rand/1 (the paper's equation 2), best/1 or current-to-best/1.", choices=BASES)
    self_adaptive: bool = param(
        False, "Let every individual find its own F and CR (jDE), starting from the given ones."
    )
    warm_start: bool = warm_start_param(
        "Go on from where the last `fit` stopped: twice 100 generations are the same as 200."
    )

    def _search(
        self, data: Dataset, valid: Dataset | None, population: NDArray[np.float64] | None  # noqa: ARG002
    ) -> DifferentialEvolution:  # fmt: skip
        if population is None:
            population = uniform_population(self.population, data.n_features, seed=spawned(self.seed, "population"))
        return DifferentialEvolution(
            population,
            F=self.F,
            CR=self.CR,
            mutation=self.mutation,
            self_adaptive=self.self_adaptive,
            seed=spawned(self.seed, "search"),
        )
