"""ES-Rank and its two kin: one parent, one child, from zeros, from linear regression or from RankSVM.

Ibrahim and Landa-Silva, "ES-Rank: evolution strategy learning to rank approach" (SAC 2017), and "An evolutionary
strategy with machine learning for learning to rank in information retrieval" (Soft Computing, 2018).
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice, check_int
from ordino.data.dataset import Dataset
from ordino.evolve.evolution_strategy import MUTATIONS, EvolutionStrategy
from ordino.evolve.evolved import EvolvedRanker
from ordino.rankers.starts import Start, start_weights


class EvolutionStrategyRanker(EvolvedRanker):
    """What the three share: a (1+1) evolution strategy from ``start``.

    Parameters
    ----------
    start
        Where the search starts: ``zeros``, weights, or a linear ranker or its name, which is fitted first.
    mutation
        How a weight is changed: ``exp-cauchy``, ``gaussian``, ``cauchy`` or ``levy``.
    generations
        How many children there are, at most; Ctrl-C stops earlier and keeps the best so far.
    patience
        Stop after so many generations without a better best, on ``valid`` if given; None goes on to the end.
    metric, profile
        What is maximized, and how it is computed.
    scaling
        How features are scaled first, a name of ``SCALERS``, or None; the start sees them scaled, too.
    warm_start
        Go on from where the last ``fit`` stopped.
    seed
        The same seed gives the same weights, on any number of threads.
    n_jobs
        Threads; None takes all cores.
    verbose
        Show progress on a terminal.
    """

    def __init__(
        self,
        *,
        start: Start = "zeros",
        mutation: str = "exp-cauchy",
        generations: int = 1300,
        patience: int | None = None,
        metric: str = "map",
        profile: str = "standard",
        scaling: str | None = "minmax",
        warm_start: bool = False,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.start = start
        self.mutation = mutation
        self.generations = generations
        self.patience = patience
        self.metric = metric
        self.profile = profile
        self.scaling = scaling
        self.warm_start = warm_start
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _search(
        self, data: Dataset, valid: Dataset | None, population: NDArray[np.float64] | None
    ) -> EvolutionStrategy:  # fmt: skip
        return EvolutionStrategy(
            start_weights(self.start, data, valid) if population is None else population,
            mutation=check_choice("mutation", self.mutation, MUTATIONS),
            seed=check_int("seed", self.seed, low=0),
        )


@final
class ESRank(EvolutionStrategyRanker):
    r"""A (1+1) evolution strategy from weights of zero.

    .. math:: w_j \leftarrow w_j + \mathrm{N}(0, 1) \, \exp(\mathrm{Cauchy}(0, 1))

    for some of the weights, drawn at random; after a success the same ones are changed again. The child stays if it
    ranks better. This is our reading of the paper (see :class:`ordino.evolve.EvolutionStrategy`).

    Its parameters are those of :class:`EvolutionStrategyRanker`.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> ESRank(generations=50).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """


@final
class IESRRank(EvolutionStrategyRanker):
    """ES-Rank that starts from the weights of linear regression.

    The search is that of :class:`ESRank`. The start itself is a candidate, so that the result is never worse than it on
    the data by which it is chosen.

    Parameters
    ----------
    start
        The ranker whose weights come first; any linear ranker, its name, or weights.
    search
        The other parameters of :class:`EvolutionStrategyRanker`.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> IESRRank(generations=50).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    def __init__(self, *, start: Start = "linear-regression-ranker", **search: Any) -> None:
        super().__init__(start=start, **search)


@final
class IESVMRank(EvolutionStrategyRanker):
    """ES-Rank that starts from the weights of a ranking support vector machine.

    The search is that of :class:`ESRank`. The start itself is a candidate, so that the result is never worse than it on
    the data by which it is chosen.

    Parameters
    ----------
    start
        The ranker whose weights come first; any linear ranker, its name, or weights.
    search
        The other parameters of :class:`EvolutionStrategyRanker`.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> IESVMRank(generations=50).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    def __init__(self, *, start: Start = "rank-svm", **search: Any) -> None:
        super().__init__(start=start, **search)
