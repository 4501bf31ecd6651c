"""SwarmRank: a particle swarm flies to the weights with the highest MAP (Diaz-Aviles et al., GECCO 2009)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int, check_real
from ordino.data.dataset import Dataset
from ordino.evolve.evolved import EvolvedRanker
from ordino.evolve.particle_swarm import ParticleSwarm
from ordino.evolve.population import uniform_population
from ordino.streams import spawned


@final
class SwarmRank(EvolvedRanker):
    r"""Weights by particle swarm optimization, with the measure itself as the height that the swarm looks for.

    .. math:: v \leftarrow w v + c_1 r_1 (p - x) + c_2 r_2 (g - x), \qquad x \leftarrow x + v

    The paper maximizes MAP over a linear combination of features; how its swarm is tuned we could not learn, so the
    factors are the usual ones (Clerc and Kennedy, 2002) and the start is that of RankDE.

    Parameters
    ----------
    population
        How many particles there are.
    generations
        How often they move, at most; Ctrl-C stops earlier and keeps the best so far.
    inertia, cognitive, social
        :math:`w, c_1, c_2`: how much a particle keeps its course, is drawn to its own best and to the swarm's best.
    max_speed
        Limit of each component of a velocity, or None.
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
    >>> SwarmRank(generations=20, population=8).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    def __init__(
        self,
        *,
        population: int = 50,
        generations: int = 1000,
        inertia: float = 0.7298,
        cognitive: float = 1.49618,
        social: float = 1.49618,
        max_speed: float | None = None,
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
        self.inertia = inertia
        self.cognitive = cognitive
        self.social = social
        self.max_speed = max_speed
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
    ) -> ParticleSwarm:  # fmt: skip
        size = check_int("population", self.population, low=1)
        check_int("seed", self.seed, low=0)
        speed = self.max_speed
        return ParticleSwarm(
            uniform_population(size, data.n_features, seed=spawned(self.seed, "population"))
            if population is None
            else population,
            inertia=check_real("inertia", self.inertia, low=0),
            cognitive=check_real("cognitive", self.cognitive, low=0),
            social=check_real("social", self.social, low=0),
            max_speed=None if speed is None else check_real("max_speed", speed, low=0, open_low=True),
            seed=spawned(self.seed, "search"),
        )
