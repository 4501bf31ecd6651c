"""CMARank: the weights of a linear ranker by CMA-ES, the strategy that learns which weights move together."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int, check_real
from ordino.data.dataset import Dataset
from ordino.evolve.cma import CMA
from ordino.evolve.evolved import EvolvedRanker


@final
class CMARank(EvolvedRanker):
    r"""Weights by CMA-ES (Hansen and Ostermeier, 2001), with the measure itself as fitness.

    Each generation samples weights from a normal distribution, whose mean, step size :math:`\sigma` and covariance move
    toward the fitter half. The search starts from equal weights of all features.

    Parameters
    ----------
    population
        How many samples a generation has; None for 4 + 3 ln L with L features.
    generations
        How often the distribution moves, at most; Ctrl-C stops earlier and keeps the best so far.
    sigma
        :math:`\sigma`, the first step size.
    patience
        Stop after so many generations without a better best, on ``valid`` if given; None goes on to the end.
    metric, profile
        What is maximized, and how it is computed.
    scaling
        How features are scaled first, a name of ``SCALERS``, or None.
    warm_start
        Go on from where the last ``fit`` stopped.
    seed
        The same seed gives the same weights, on any number of threads.
    n_jobs
        Threads; None takes all cores.
    verbose
        Show progress on a terminal.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> CMARank(generations=20).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    def __init__(
        self,
        *,
        population: int | None = 50,
        generations: int = 500,
        sigma: float = 0.5,
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
        self.sigma = sigma
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
    ) -> CMA:  # fmt: skip
        mean = np.full(data.n_features, 1.0 / data.n_features) if population is None else population.mean(axis=0)
        return CMA(
            mean,
            sigma=check_real("sigma", self.sigma, low=0, open_low=True),
            population=None if self.population is None else check_int("population", self.population, low=5),
            seed=check_int("seed", self.seed, low=0),
        )
