"""ES-Rank and its two kin: one parent, one child, from zeros, from linear regression or from RankSVM.

Ibrahim and Landa-Silva, "ES-Rank: evolution strategy learning to rank approach" (SAC 2017), and "An evolutionary
strategy with machine learning for learning to rank in information retrieval" (Soft Computing, 2018).
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError, unknown_name
from ordino.evolve.evolution_strategy import MUTATIONS, EvolutionStrategy
from ordino.evolve.evolved import EvolvedRanker, generations_param
from ordino.parameters import param
from ordino.ranker import Ranker
from ordino.rankers import RANKERS, ranker_class

Floats = NDArray[np.float64]
Start = str | Ranker | ArrayLike
CHILDREN = "The number of children"


def start_param(default: str) -> Any:
    """The parameter ``start``."""
    return param(
        default,
        "Where the search starts: `zeros`, weights, or a linear ranker or its name, which is fitted first, on scaled "
        "features.",
    )


def mutation_param() -> Any:
    """The parameter ``mutation``."""
    return param("exp-cauchy", "How a weight is changed: exp-cauchy, gaussian, cauchy or levy.", choices=MUTATIONS)


def one_plus_one(
    ranker: ESRank | IESRRank | IESVMRank, data: Dataset, valid: Dataset | None, population: Floats | None
) -> EvolutionStrategy:
    """The search of all three, from ``start`` or from an earlier parent."""
    parent = start_weights(ranker.start, data, valid) if population is None else population
    return EvolutionStrategy(parent, mutation=ranker.mutation, seed=ranker.seed)


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
    generations: int = generations_param(1300, CHILDREN)

    _search = one_plus_one


@final
class IESRRank(EvolvedRanker):
    """ES-Rank that starts from the weights of linear regression.

    The search is that of :class:`ESRank`. The start itself is a candidate, so that the result is never worse than it on
    the data by which it is chosen.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> IESRRank(generations=50).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    start: Start = start_param("linear-regression-ranker")
    mutation: str = mutation_param()
    generations: int = generations_param(1300, CHILDREN)

    _search = one_plus_one


@final
class IESVMRank(EvolvedRanker):
    """ES-Rank that starts from the weights of a ranking support vector machine.

    The search is that of :class:`ESRank`. The start itself is a candidate, so that the result is never worse than it on
    the data by which it is chosen.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> IESVMRank(generations=50).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    start: Start = start_param("rank-svm")
    mutation: str = mutation_param()
    generations: int = generations_param(1300, CHILDREN)

    _search = one_plus_one


def start_weights(start: Start, data: Dataset, valid: Dataset | None) -> Floats:
    """Weights from which to start, shape ``(n_features,)``.

    Parameters
    ----------
    start
        ``"zeros"``, weights, or a linear ranker or its name, of which a copy is fitted on the data as it is here.

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
