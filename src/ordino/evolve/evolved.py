"""What linear rankers that evolve share: the run, its history, resuming, pruning, the weights as text and picture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.evolve.fitness import LinearFitness, as_single, weigh
from ordino.evolve.loop import Generation, Run, Strategy, evolve
from ordino.evolve.weights import PruningStep, prune_weights, pruning_steps, weights_chart, weights_text
from ordino.linear import LinearRanker
from ordino.ranker import as_dataset

if TYPE_CHECKING:
    import altair as alt


FREE = frozenset(("generations", "patience", "warm_start", "n_jobs", "verbose"))
"""Parameters that say how long a search goes on and on how many threads, not what it is."""


class EvolvedRanker(LinearRanker):
    """A linear ranker whose weights a strategy searches for; subclasses say which, in :meth:`_search`.

    Fitted rankers have ``coef_``, ``history_`` (one :class:`Generation` for the start and each generation after it),
    ``population_`` (the individuals at the end) and ``fitness_`` (the measure of ``coef_`` on the data by which it was
    chosen: ``valid`` if given, else the training data).
    """

    generations: int
    patience: int | None
    metric: str
    profile: str
    warm_start: bool
    n_jobs: int | None
    verbose: bool

    @abstractmethod
    def _search(self, data: Dataset, valid: Dataset | None, population: NDArray[np.float64] | None) -> Strategy:
        """A new search, from the given population if there is one."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        generations = check_int("generations", self.generations, low=0)
        patience = None if self.patience is None else check_int("patience", self.patience, low=1)
        n_jobs = None if self.n_jobs is None else check_int("n_jobs", self.n_jobs, low=1)
        settings: dict[str, Any] = {"profile": self.profile, "n_jobs": n_jobs}
        with (
            LinearFitness(data, self.metric, **settings) as fitness,
            nullcontext() if valid is None else LinearFitness(valid, self.metric, **settings) as held_out,
        ):
            search, before = self._go_on(fitness, data, valid)
            run = evolve(
                search,
                fitness,
                generations=generations,
                valid=held_out,
                patience=patience,
                label=type(self).__name__,
                verbose=self.verbose,
                before=before,
            )
        self.coef_ = as_single(run.best)
        self.fitness_ = run.fitness if fitness.objective.metric.greater_is_better else -run.fitness
        self.history_: list[Generation] = run.history
        self.population_: NDArray[np.float64] = np.array(search.population)  # type: ignore[attr-defined]
        self._last = search, run, self._settings(valid)

    def _go_on(self, fitness: LinearFitness, data: Dataset, valid: Dataset | None) -> tuple[Strategy, Run | None]:
        """The search to run and the run that it continues: the last one if ``warm_start`` and the data is the same."""
        population: NDArray[np.float64] | None = getattr(self, "population_", None) if self.warm_start else None
        if population is not None and population.shape[1] != data.n_features:
            population = None
        if population is not None and hasattr(self, "_last"):
            search, run, settings = self._last
            if settings == self._settings(valid) and fitness([search.best])[0] == search.best_fitness:
                return search, run
        return self._search(data, valid, population), None

    def _settings(self, valid: Dataset | None) -> str:
        """What must not change between two fits for the second to go on with the first's search."""
        fixed = {name: value for name, value in self.get_params().items() if name not in FREE}
        return repr((valid is None, sorted(fixed.items(), key=lambda item: item[0])))

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return weigh(data.X, self.coef_)  # the very scores that the fitness was measured with

    def weights_text(self) -> str:
        """The weights as a table, largest first."""
        return weights_text(self.feature_weights())

    def plot_weights(self, path: str | Path | None = None) -> alt.Chart:
        """The weights as bars, largest first; written to a file (.png, .svg, .html, .json) if a path is given."""
        return weights_chart(self.feature_weights(), path)

    def pruning(
        self, X: ArrayLike | Dataset, y: ArrayLike | None = None, *, qid: ArrayLike | Sequence[Any] | None = None
    ) -> list[PruningStep]:
        """What it costs to leave out the smallest weights, one more at each step, on the given data (RankDE 4.6)."""
        self._check_fitted()
        data = as_dataset(X, y, qid)
        return pruning_steps(
            self.coef_, self._scaled(self._checked(data, None)), metric=self.metric, profile=self.profile
        )

    def prune(self, *, threshold: float | None = None, keep: int | None = None) -> Self:
        """A copy of this ranker without its small weights.

        Parameters
        ----------
        threshold
            Weights whose size is below this become 0.
        keep
            Only so many of the largest stay.
        """
        self._check_fitted()
        pruned = copy(self)
        pruned.coef_ = prune_weights(self.coef_, threshold=threshold, keep=keep)
        return pruned
