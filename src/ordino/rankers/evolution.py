"""Linear rankers whose weights a search without gradients finds, with the metric itself as fitness.

RankDE: Bollegala, Noman and Iba, "RankDE", GECCO 2011. SwarmRank: Diaz-Aviles et al., GECCO 2009. ESRank: Ibrahim and
Landa-Silva, "ES-Rank: evolution strategy learning to rank approach" (SAC 2017); IESRRank and IESVMRank: the same, "An
evolutionary strategy with machine learning for learning to rank in information retrieval" (Soft Computing, 2018).
CMARank: CMA-ES (Hansen and Ostermeier, 2001). :mod:`ordino.evolve` has the searches themselves.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError, unknown_name
from ordino.evolve import strategies
from ordino.evolve.evolved import EvolvedRanker, generations_param
from ordino.evolve.strategies import Floats
from ordino.parameters import Range, param
from ordino.ranker import Ranker
from ordino.rankers import RANKERS, ranker_class
from ordino.recurring import warm_start_param
from ordino.streams import spawned

Start = str | Ranker | ArrayLike


def population_param(default: int, text: str, low: int) -> Any:
    """The parameter ``population``."""
    return param(default, text, low=low, space=Range(10, 100, log=True))


def uniform_start(ranker: RankDE | SwarmRank, data: Dataset, valid: Dataset | None) -> Floats:  # noqa: ARG001
    """Weights drawn uniformly from [-1, 1]."""
    return strategies.uniform_population(ranker.population, data.n_features, seed=spawned(ranker.seed, "population"))


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

    population: int = population_param(50, "P, the number of weight vectors, 4 or more.", low=4)
    generations: int = generations_param(10_000, "How often the whole population breeds")
    F: float = param(0.5, "The scale of the difference.", above=0, high=2, space=Range(0.1, 1.0))
    CR: float = param(0.5, "The chance of each weight to come from the mutant.", low=0, high=1, space=Range(0.1, 1.0))
    mutation: str = param(
        "rand/1", "rand/1 (the paper's equation 2), best/1 or current-to-best/1.", choices=strategies.BASES
    )
    self_adaptive: bool = param(
        False, "Let every individual find its own F and CR (jDE), starting from the given ones."
    )
    warm_start: bool = warm_start_param(
        "Go on from where the last `fit` stopped: twice 100 generations are the same as 200."
    )

    _start = uniform_start

    def _search(self, population: Floats) -> strategies.DifferentialEvolution:
        return strategies.DifferentialEvolution(
            population,
            F=self.F,
            CR=self.CR,
            mutation=self.mutation,
            self_adaptive=self.self_adaptive,
            seed=spawned(self.seed, "search"),
        )


@final
class SwarmRank(EvolvedRanker):
    r"""Weights by particle swarm optimization, with the metric itself as the height that the swarm looks for.

    .. math:: v \leftarrow w v + c_1 r_1 (p - x) + c_2 r_2 (g - x), \qquad x \leftarrow x + v

    with :math:`r_1, r_2` uniform in [0, 1], anew for each weight. The paper maximizes MAP over a linear combination of
    features; how its swarm is tuned we could not learn, so the factors are the usual ones (Clerc and Kennedy's
    constriction, 2002, which needs no limit of speed) and the start is that of RankDE.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> SwarmRank(generations=20, population=8).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    population: int = population_param(50, "The number of particles.", low=1)
    generations: int = generations_param(1000, "How often the particles move")
    inertia: float = param(0.7298, "w: how much a particle keeps its course.", low=0)
    cognitive: float = param(1.49618, "c1: how strongly a particle is drawn to its own best place.", low=0)
    social: float = param(1.49618, "c2: how strongly a particle is drawn to the swarm's best place.", low=0)
    max_speed: float | None = param(None, "Limit of each component of a velocity; None sets no limit.", above=0)

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
    r"""Weights by CMA-ES, the strategy that learns which weights move together.

    Each generation samples weights from a normal distribution, whose mean, step size :math:`\sigma` and covariance move
    toward the fitter half. The search starts from equal weights of all features.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> CMARank(generations=20).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    population: int | None = population_param(
        50, "Samples in a generation; None takes 4 + 3 ln L with L features.", low=5
    )
    generations: int = generations_param(500, "How often the distribution moves")
    sigma: float = param(0.5, "The first step size.", above=0)

    def _start(self, data: Dataset, valid: Dataset | None) -> Floats:  # noqa: ARG002
        return np.full((1, data.n_features), 1.0 / data.n_features)

    def _search(self, population: Floats) -> strategies.CMA:
        return strategies.CMA(population.mean(axis=0), sigma=self.sigma, population=self.population, seed=self.seed)


def start_param(default: str) -> Any:
    """The parameter ``start``."""
    return param(
        default,
        "Where the search starts: `zeros`, weights, or a linear ranker or its name, which is fitted first, on scaled "
        "features.",
    )


def mutation_param() -> Any:
    """The parameter ``mutation``."""
    return param(
        "exp-cauchy", "How a weight is changed: exp-cauchy, gaussian, cauchy or levy.", choices=strategies.MUTATIONS
    )


def given_start(ranker: ESRank | IESRRank | IESVMRank, data: Dataset, valid: Dataset | None) -> Floats:
    """The weights that ``start`` stands for, shape ``(1, n_features)``."""
    return start_weights(ranker.start, data, valid)[None]


def one_plus_one(ranker: ESRank | IESRRank | IESVMRank, population: Floats) -> strategies.EvolutionStrategy:
    """The search of all three."""
    return strategies.EvolutionStrategy(population, mutation=ranker.mutation, seed=ranker.seed)


@final
class ESRank(EvolvedRanker):
    r"""A (1+1) evolution strategy from weights of zero.

    .. math:: w_j \leftarrow w_j + \mathrm{N}(0, 1) \, \exp(\mathrm{Cauchy}(0, 1))

    for some of the weights, drawn at random; after a success the same ones are changed again. The child stays if it
    ranks better. This is our reading of the paper (see :class:`ordino.evolve.EvolutionStrategy`).

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> ESRank(generations=50).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    start: Start = start_param("zeros")
    mutation: str = mutation_param()
    generations: int = generations_param(1300, "The number of children")

    _start, _search = given_start, one_plus_one


@final
class IESRRank(EvolvedRanker):
    """:class:`ESRank` from the weights of linear regression, which the result is never worse than where it is chosen.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> IESRRank(generations=50).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    start: Start = start_param("linear-regression-ranker")
    mutation: str = mutation_param()
    generations: int = generations_param(1300, "The number of children")

    _start, _search = given_start, one_plus_one


@final
class IESVMRank(EvolvedRanker):
    """:class:`ESRank` from the weights of RankSVM, which the result is never worse than where it is chosen.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> IESVMRank(generations=50).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    start: Start = start_param("rank-svm")
    mutation: str = mutation_param()
    generations: int = generations_param(1300, "The number of children")

    _start, _search = given_start, one_plus_one


def start_weights(start: Start, data: Dataset, valid: Dataset | None) -> Floats:
    """Weights from which to start, shape ``(n_features,)``; a ranker is fitted on the data as it is here.

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
        start = ranker.fit(data, valid=valid).coef_
    weights = np.array(start, np.float64)
    if weights.shape != (data.n_features,) or not np.isfinite(weights).all():
        raise ParameterError(
            f"start has shape {weights.shape}; give {data.n_features} finite weights, one for each feature"
        )
    return weights
