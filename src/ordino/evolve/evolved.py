"""Linear rankers that evolve: their parameters, their run, and the weights as a table, as a picture and pruned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.dataset import Dataset
from ordino.evolve.fitness import LinearFitness, as_single, weigh
from ordino.evolve.loop import Run, Strategy, evolve
from ordino.evolve.weights import PruningStep, prune_weights, pruning_steps, weights_chart, weights_text
from ordino.forms import Form, Linear
from ordino.linear import name_weights
from ordino.parameters import learned, param
from ordino.ranker import FeatureWeight, Ranker, as_dataset
from ordino.recurring import (
    metric_param,
    n_jobs_param,
    patience_param,
    profile_param,
    scaling_param,
    seed_param,
    verbose_param,
    warm_start_param,
)

if TYPE_CHECKING:
    import altair as alt

FREE = frozenset(("generations", "patience", "warm_start", "n_jobs", "verbose"))
"""Parameters that say how long a search goes on and on how many threads, not what it is."""

FITNESS = "The metric that is maximized."
PATIENCE = "Stop after this many generations without a better best, on `valid` if given; None never stops early."


def generations_param(default: int, text: str) -> Any:
    """The parameter ``generations``."""
    return param(default, f"{text}, at most; Ctrl-C stops earlier and keeps the best so far.", low=0, brief=2)


@dataclass(frozen=True, eq=False)
class SingleLinear(Linear):
    """A weighted sum in single precision: the very scores that the fitness was measured with."""

    def score_scaled(self, data: Dataset) -> NDArray[np.float64]:
        """``X @ coef`` with the arithmetic of the fitness."""
        return weigh(data.X, self.coef)


class EvolvedRanker(Ranker):
    """A linear ranker whose weights a strategy searches for; subclasses say which, in :meth:`_search`.

    Fitted rankers have ``coef_``, ``history_`` (a row for the start and for each generation after it), ``population_``
    (the individuals at the end) and ``fitness_`` (the metric of ``coef_`` on the data by which it was chosen: ``valid``
    if given, else the training data).
    """

    coef_: NDArray[np.float64] = learned()
    history_: list[dict[str, float]] = learned()
    fitness_: float = learned()

    generations: int = generations_param(1000, "How often the population breeds")
    patience: int | None = patience_param(None, PATIENCE)
    metric: str = metric_param("map", FITNESS)
    profile: str = profile_param()
    scaling: str | None = scaling_param("minmax")
    warm_start: bool = warm_start_param()
    seed: int = seed_param()
    n_jobs: int | None = n_jobs_param()
    verbose: bool = verbose_param()

    @abstractmethod
    def _search(self, data: Dataset, valid: Dataset | None, population: NDArray[np.float64] | None) -> Strategy:
        """A new search, from the given population if there is one."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        population = getattr(self, "population_", None) if self.warm_start else None
        if population is not None and population.shape[1] != data.n_features:
            population = None
        search, run = run_search(
            self,
            data,
            valid,
            fitness_of=lambda part: LinearFitness(part, self.metric, profile=self.profile, n_jobs=self.n_jobs),
            begin=lambda: self._search(data, valid, population),
        )
        self.coef_ = as_single(run.best)
        self.population_: NDArray[np.float64] = np.array(search.population)

    def form(self) -> Form:
        """Weights of the features."""
        self._check_fitted()
        return SingleLinear(self.scaler_, self.n_features_in_, self.coef_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The weights by feature name, largest first."""
        self._check_fitted()
        return name_weights(self.feature_names(), self.coef_)

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
        data = self.prepared(as_dataset(X, y, qid))
        return pruning_steps(self.coef_, data, metric=self.metric, profile=self.profile)

    def prune(self, *, threshold: float | None = None, keep: int | None = None) -> Self:
        """A copy of this ranker without its small weights.

        Parameters
        ----------
        threshold
            Weights whose size is below this become 0.
        keep
            How many of the largest weights stay.
        """
        self._check_fitted()
        pruned = copy(self)
        pruned.coef_ = prune_weights(self.coef_, threshold=threshold, keep=keep)
        return pruned


def run_search(
    ranker: Any,
    data: Dataset,
    valid: Dataset | None,
    *,
    fitness_of: Callable[[Dataset], Any],
    begin: Callable[[], Strategy],
) -> tuple[Any, Run]:
    """Search for the best individual; the ranker gets ``history_`` and ``fitness_``.

    A warm start with the same settings on the same data goes on with the ranker's last search; else a new one begins.

    Parameters
    ----------
    fitness_of
        The fitness on a data set, as a context that is called with individuals.
    begin
        Gives a new strategy.
    """
    fixed = {name: value for name, value in ranker.get_params().items() if name not in FREE}
    settings = repr((data.n_features, valid is None, sorted(fixed.items(), key=lambda item: item[0])))
    with ExitStack() as stack:
        fitness = stack.enter_context(fitness_of(data))
        held_out = None if valid is None else stack.enter_context(fitness_of(valid))
        last: tuple[Any, Run | None, str] = getattr(ranker, "_last", (None, None, ""))
        search, before, same = last
        if not ranker.warm_start or same != settings or fitness([search.best])[0] != search.best_fitness:
            search, before = begin(), None
        run = evolve(
            search,
            fitness,
            generations=ranker.generations,
            valid=held_out,
            patience=ranker.patience,
            label=type(ranker).__name__,
            verbose=ranker.verbose,
            before=before,
        )
    ranker.history_ = run.history
    ranker.fitness_ = run.fitness if fitness.objective.metric.greater_is_better else -run.fitness
    ranker._last = search, run, settings
    return search, run
