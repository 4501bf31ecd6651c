"""RankDE: differential evolution of a linear ranker that maximizes MAP itself (Bollegala et al., GECCO 2011)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice, check_int, check_real
from ordino.data.dataset import Dataset
from ordino.evolve.differential_evolution import BASES, DifferentialEvolution
from ordino.evolve.evolved import EvolvedRanker
from ordino.evolve.population import uniform_population
from ordino.streams import spawned


@final
class RankDE(EvolvedRanker):
    r"""Weights by differential evolution: a child that ranks better takes its parent's place (Algorithm 1).

    .. math::
        v_i = x_{r_1} + F (x_{r_2} - x_{r_3}), \qquad
        u_{ij} = v_{ij} \text{ if } \mathrm{rand}_j \le CR \text{ or } j = \mathrm{rnbr}(i), \text{ else } x_{ij}

    The defaults are the paper's (Table 2): MAP as fitness, first weights uniform in [-1, 1], features scaled to [0, 1]
    in each query (equation 5).

    Parameters
    ----------
    population
        :math:`P`, how many weight vectors there are, 4 or more.
    generations
        How often the whole population breeds, at most; Ctrl-C stops earlier and keeps the best so far.
    F, CR
        :math:`F`, the scale of the difference, and :math:`CR`, the chance of a weight to come from the mutant.
    mutation
        ``rand/1`` (the paper's equation 2), ``best/1`` or ``current-to-best/1``.
    self_adaptive
        Let every individual find its own F and CR (jDE); the ones given are where it starts.
    patience
        Stop after so many generations without a better best, on ``valid`` if given; None goes on to the end.
    metric, profile
        What is maximized, and how it is computed.
    scaling
        How features are scaled first, a name of ``SCALERS``, or None.
    warm_start
        Go on from where the last ``fit`` stopped: twice 100 generations are the same as 200.
    seed
        The same seed gives the same weights, on any number of threads.
    n_jobs
        Threads; None takes all cores.
    verbose
        Show progress on a terminal.

    Examples
    --------
    The label rises with the first feature and falls with the second.

    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> ranker = RankDE(generations=20, population=8).fit(X, [1, 0, 0])
    >>> ranker.rank(X).tolist(), ranker.fitness_, len(ranker.history_)
    ([0, 1, 2], 1.0, 21)
    """

    def __init__(
        self,
        *,
        population: int = 50,
        generations: int = 10_000,
        F: float = 0.5,
        CR: float = 0.5,
        mutation: str = "rand/1",
        self_adaptive: bool = False,
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
        self.F = F
        self.CR = CR
        self.mutation = mutation
        self.self_adaptive = self_adaptive
        self.patience = patience
        self.metric = metric
        self.profile = profile
        self.scaling = scaling
        self.warm_start = warm_start
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _search(
        self, data: Dataset, valid: Dataset | None, population: NDArray[np.float64] | None  # noqa: ARG002
    ) -> DifferentialEvolution:  # fmt: skip
        size = check_int("population", self.population, low=4)
        check_int("seed", self.seed, low=0)
        return DifferentialEvolution(
            uniform_population(size, data.n_features, seed=spawned(self.seed, "population"))
            if population is None
            else population,
            F=check_real("F", self.F, low=0, high=2, open_low=True),
            CR=check_real("CR", self.CR, low=0, high=1),
            mutation=check_choice("mutation", self.mutation, BASES),
            self_adaptive=self.self_adaptive,
            seed=spawned(self.seed, "search"),
        )
