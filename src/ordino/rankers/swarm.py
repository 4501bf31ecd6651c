"""SwarmRank: a particle swarm flies to the weights with the highest MAP (Diaz-Aviles et al., GECCO 2009)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.evolve.evolved import EvolvedRanker, generations_param
from ordino.evolve.particle_swarm import ParticleSwarm
from ordino.evolve.population import uniform_population
from ordino.parameters import Range, param
from ordino.streams import spawned


@final
class SwarmRank(EvolvedRanker):
    r"""Weights by particle swarm optimization, with the metric itself as the height that the swarm looks for.

    .. math:: v \leftarrow w v + c_1 r_1 (p - x) + c_2 r_2 (g - x), \qquad x \leftarrow x + v

    The paper maximizes MAP over a linear combination of features; how its swarm is tuned we could not learn, so the
    factors are the usual ones (Clerc and Kennedy, 2002) and the start is that of RankDE.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    >>> SwarmRank(generations=20, population=8).fit(X, [1, 0, 0]).rank(X).tolist()[0]
    0
    """

    population: int = param(50, "The number of particles.", low=1, space=Range(10, 100, log=True))
    generations: int = generations_param(1000, "How often the particles move")
    inertia: float = param(0.7298, "w: how much a particle keeps its course.", low=0)
    cognitive: float = param(1.49618, "c1: how strongly a particle is drawn to its own best place.", low=0)
    social: float = param(1.49618, "c2: how strongly a particle is drawn to the swarm's best place.", low=0)
    max_speed: float | None = param(None, "Limit of each component of a velocity; None sets no limit.", above=0)

    def _search(
        self, data: Dataset, valid: Dataset | None, population: NDArray[np.float64] | None  # noqa: ARG002
    ) -> ParticleSwarm:  # fmt: skip
        if population is None:
            population = uniform_population(self.population, data.n_features, seed=spawned(self.seed, "population"))
        return ParticleSwarm(
            population,
            inertia=self.inertia,
            cognitive=self.cognitive,
            social=self.social,
            max_speed=self.max_speed,
            seed=spawned(self.seed, "search"),
        )
