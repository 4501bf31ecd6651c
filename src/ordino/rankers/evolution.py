"""Linear rankers whose weights are found by evolutionary search, with the metric itself as fitness.

SwarmRank: Diaz-Aviles et al., GECCO 2009. ESRank: Ibrahim and Landa-Silva, "ES-Rank: evolution strategy learning to
rank approach" (SAC 2017); IESRRank and IESVMRank: the same, "An evolutionary strategy with machine learning for
learning to rank in information retrieval" (Soft Computing, 2018). CMARank: CMA-ES (Hansen and Ostermeier, 2001). The
search algorithms are in :mod:`ordino.evolve`.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from ordino.data.dataset import Dataset
from ordino.division import Divided
from ordino.errors import ParameterError, unknown_name
from ordino.estimators import clone
from ordino.evolve import strategies
from ordino.evolve.evolved import EvolvedRanker, generations_param, population_param, uniform_start
from ordino.evolve.strategies import Floats
from ordino.parameters import param
from ordino.ranker import Ranker
from ordino.rankers import RANKERS, ranker_class
from ordino.streams import spawned

Start = str | Ranker | ArrayLike


@final
class SwarmRank(EvolvedRanker):
    r"""A linear ranker by particle swarm optimization, with the metric itself as fitness.

    .. math:: v \leftarrow w v + c_1 r_1 (p - x) + c_2 r_2 (g - x), \qquad x \leftarrow x + v

    with :math:`r_1, r_2` uniform in [0, 1], drawn separately for each weight. The paper maximizes MAP over a linear
    combination of features. We could not find out how its swarm is tuned, so the factors are the usual ones (Clerc and
    Kennedy's constriction, 2002, which needs no speed limit) and the initial weights are drawn as in RankDE.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> SwarmRank(generations=20, population=8).fit(X, [1, 0, 0], qid=[1] * 3).rank(X).tolist()[0]
    0
    """

    population: int = population_param(50, "The number of particles.", low=1)
    generations: int = generations_param(1000, "Maximum number of moves")
    inertia: float = param(0.7298, "w: how much of its velocity a particle keeps.", low=0)
    cognitive: float = param(1.49618, "c1: how strongly a particle is drawn to its own best position.", low=0)
    social: float = param(1.49618, "c2: how strongly a particle is drawn to the swarm's best position.", low=0)
    max_speed: float | None = param(None, "Limit on each component of the velocity; None means no limit.", above=0)

    _start = uniform_start

    def _search(self, population: Floats) -> strategies.ParticleSwarm:
        return strategies.ParticleSwarm(
            population,
            inertia=self.inertia,
            cognitive=self.cognitive,
            social=self.social,
            max_speed=self.max_speed,
            seed=spawned(self.seed, "search"),
        )


@final
class CMARank(EvolvedRanker):
    r"""A linear ranker by CMA-ES, a strategy that learns which weights should change together.

    Each generation samples weights from a normal distribution, whose mean, step size :math:`\sigma` and covariance are
    updated from the fitter half. The search starts from equal weights for all features.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> CMARank(generations=20).fit(X, [1, 0, 0], qid=[1] * 3).rank(X).tolist()[0]
    0
    """

    population: int | None = population_param(
        50, "Number of samples per generation; None uses 4 + 3 ln L for L features.", low=5
    )
    generations: int = generations_param(500, "Maximum number of generations")
    sigma: float = param(0.5, "Initial step size.", above=0)

    def _start(self, data: Dataset | Divided, valid: Dataset | Divided | None) -> Floats:  # noqa: ARG002
        return np.full((1, data.n_features), 1.0 / data.n_features)

    def _search(self, population: Floats) -> strategies.CMA:
        return strategies.CMA(population.mean(axis=0), sigma=self.sigma, population=self.population, seed=self.seed)


def start_param(default: str) -> Any:
    """The parameter ``start``."""
    return param(
        default,
        "Where the search starts: `zeros`, an array of weights, or a linear ranker (or its name) that is fitted "
        "first, on the scaled features.",
    )


def mutation_param() -> Any:
    """The parameter ``mutation``."""
    return param(
        "exp-cauchy", "How a weight is changed: exp-cauchy, gaussian, cauchy or levy.", choices=strategies.MUTATIONS
    )


def given_start(
    ranker: ESRank | IESRRank | IESVMRank, data: Dataset | Divided, valid: Dataset | Divided | None
) -> Floats:
    """The weights that ``start`` stands for, shape ``(1, n_features)``."""
    return start_weights(ranker.start, data, valid)[None]


def one_plus_one(ranker: ESRank | IESRRank | IESVMRank, population: Floats) -> strategies.EvolutionStrategy:
    """The search of all three."""
    return strategies.EvolutionStrategy(population, mutation=ranker.mutation, seed=ranker.seed)


@final
class ESRank(EvolvedRanker):
    r"""A linear ranker by a (1+1) evolution strategy that starts from zero weights.

    .. math:: w_j \leftarrow w_j + \mathrm{N}(0, 1) \, \exp(\mathrm{Cauchy}(0, 1))

    for some of the weights, drawn at random; after a success the same weights are changed again. The child is kept if
    it ranks better. This is our reading of the paper (see :class:`ordino.evolve.EvolutionStrategy`).

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> ESRank(generations=50).fit(X, [1, 0, 0], qid=[1] * 3).rank(X).tolist()[0]
    0
    """

    start: Start = start_param("zeros")
    mutation: str = mutation_param()
    generations: int = generations_param(1300, "The number of children")

    _start, _search = given_start, one_plus_one


@final
class IESRRank(EvolvedRanker):
    """:class:`ESRank` that starts from linear regression; never worse than that on the data used for selection.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> IESRRank(generations=50).fit(X, [1, 0, 0], qid=[1] * 3).rank(X).tolist()[0]
    0
    """

    start: Start = start_param("linear-regression-ranker")
    mutation: str = mutation_param()
    generations: int = generations_param(1300, "The number of children")

    _start, _search = given_start, one_plus_one


@final
class IESVMRank(EvolvedRanker):
    """:class:`ESRank` that starts from RankSVM; never worse than that on the data used for selection.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> IESVMRank(generations=50).fit(X, [1, 0, 0], qid=[1] * 3).rank(X).tolist()[0]
    0
    """

    start: Start = start_param("rank-svm")
    mutation: str = mutation_param()
    generations: int = generations_param(1300, "The number of children")

    _start, _search = given_start, one_plus_one


def start_weights(start: Start, data: Dataset | Divided, valid: Any) -> Floats:
    """Initial weights, shape ``(n_features,)``; a ranker is fitted on the data without further scaling.

    Examples
    --------
    >>> data = Dataset([[1.0, 0.0], [0.0, 1.0]], [1, 0])
    >>> start_weights("zeros", data, None).tolist(), start_weights([2.0, 1.0], data, None).tolist()
    ([0.0, 0.0], [2.0, 1.0])
    """
    if isinstance(start, str) and start == "zeros":
        return np.zeros(data.n_features)
    if isinstance(start, str) and start not in RANKERS:
        raise unknown_name("start", start, ["zeros", *RANKERS])
    if isinstance(start, str) or hasattr(start, "get_params"):
        ranker = ranker_class(start)() if isinstance(start, str) else clone(start)
        if "coef_" not in getattr(ranker, "__dataclass_fields__", ()):
            raise ParameterError(f"start={start!r} is not a linear ranker; give one with coef_, such as 'rank-svm'")
        if "scaling" in ranker.get_params():
            ranker.set_params(scaling=None)  # the data has been scaled already
        given: Any = data  # a data set, or one that is divided already
        start = ranker.fit(given, valid=valid).coef_
    weights = np.array(start, np.float64)
    if weights.shape != (data.n_features,) or not np.isfinite(weights).all():
        raise ParameterError(
            f"start has shape {weights.shape}; give {data.n_features} finite weights, one for each feature"
        )
    return weights
