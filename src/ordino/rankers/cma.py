"""CMARank: the weights of a linear ranker by CMA-ES, the strategy that learns which weights move together."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.evolve.cma import CMA
from ordino.evolve.evolved import EvolvedRanker, generations_param
from ordino.parameters import Range, param


@final
class CMARank(EvolvedRanker):
    r"""Weights by CMA-ES (Hansen and Ostermeier, 2001), with the metric itself as fitness.

    Each generation samples weights from a normal distribution, whose mean, step size :math:`\sigma` and covariance move
    toward the fitter half. The search starts from equal weights of all features.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> CMARank(generations=20).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    population: int | None = param(
        50, "Samples in a generation; None takes 4 + 3 ln L with L features.", low=5, space=Range(10, 100, log=True)
    )
    generations: int = generations_param(500, "How often the distribution moves")
    sigma: float = param(0.5, "The first step size.", above=0)

    def _search(
        self, data: Dataset, valid: Dataset | None, population: NDArray[np.float64] | None  # noqa: ARG002
    ) -> CMA:  # fmt: skip
        mean = np.full(data.n_features, 1.0 / data.n_features) if population is None else population.mean(axis=0)
        return CMA(mean, sigma=self.sigma, population=self.population, seed=self.seed)
