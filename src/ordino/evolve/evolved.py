"""Evolved linear rankers: their parameters, their training, and what becomes of the metric when they are pruned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino import recurring
from ordino.data.dataset import Dataset
from ordino.division import Divided
from ordino.evolve.divided import DividedFitness
from ordino.evolve.fitness import LinearFitness, as_single, weigh
from ordino.evolve.loop import Run, Strategy, evolve
from ordino.evolve.strategies import uniform_population
from ordino.forms import Form, Linear
from ordino.given import as_dataset
from ordino.linear import name_weights, plot_weights, prune_weights, weights_text
from ordino.metrics import parse_metric
from ordino.parameters import Range, learned, param
from ordino.ranker import FeatureWeight, Ranker
from ordino.streams import spawned

if TYPE_CHECKING:
    import altair as alt

Floats = NDArray[np.float64]

FREE = frozenset(("generations", "patience", "warm_start", "n_jobs", "verbose"))
"""Parameters that control how long a search runs and on how many threads, but not the search itself."""

FITNESS = "The metric that is maximized."
PATIENCE = "Stop after this many generations without improvement (on `valid`, if given); None never stops early."


def generations_param(default: int, text: str) -> Any:
    """The parameter ``generations``."""
    return param(default, f"{text}; Ctrl-C stops early and keeps the best so far.", low=0, brief=2)


def population_param(default: int, text: str, low: int) -> Any:
    """The parameter ``population``."""
    return param(default, text, low=low, space=Range(10, 100, log=True))


def uniform_start(ranker: Any, data: Dataset | Divided, valid: Dataset | Divided | None) -> Floats:  # noqa: ARG001
    """Weights drawn uniformly from [-1, 1]."""
    return uniform_population(ranker.population, data.n_features, seed=spawned(ranker.seed, "population"))


class PruningStep(NamedTuple):
    """A ranker with some of its weights left out."""

    kept: int
    """Number of weights that are kept."""
    threshold: float
    """Weights below this size are left out."""
    value: float
    """The metric after pruning."""
    loss: float
    """How much the metric drops; negative if it improves."""


@dataclass(frozen=True, eq=False)
class SingleLinear(Linear):
    """A weighted sum in single precision: exactly the scores from which the fitness was computed."""

    def score_scaled(self, data: Dataset) -> Floats:
        """``X @ coef``, computed as for the fitness."""
        return weigh(data.X, self.coef)


class EvolvedRanker(Ranker):
    """A linear ranker whose weights are found by a search strategy, which subclasses give in :meth:`_search`.

    Fitted rankers have ``coef_``, ``history_`` (a row for the start and for each generation after it), ``population_``
    (the individuals at the end) and ``fitness_`` (the metric of ``coef_`` on the data by which it was chosen: ``valid``
    if given, else the training data).
    """

    divides = True

    coef_: Floats = learned()
    history_: list[dict[str, float]] = learned()
    fitness_: float = learned()

    generations: int = generations_param(1000, "Maximum number of generations")
    patience: int | None = recurring.patience_param(None, PATIENCE)
    metric: str = recurring.metric_param("map", FITNESS)
    profile: str = recurring.profile_param()
    scaling: str | None = recurring.scaling_param("minmax")
    missing: str | None = recurring.missing_param()
    warm_start: bool = recurring.warm_start_param()
    seed: int = recurring.seed_param()
    n_jobs: int | None = recurring.n_jobs_param()
    verbose: bool = recurring.verbose_param()

    @abstractmethod
    def _start(self, data: Dataset | Divided, valid: Dataset | Divided | None) -> Floats:
        """The first individuals, one per row."""

    @abstractmethod
    def _search(self, population: Floats) -> Strategy:
        """A new search from these individuals."""

    def _fit(self, data: Dataset | Divided, valid: Dataset | Divided | None) -> None:
        population = getattr(self, "population_", None) if self.warm_start else None

        def begin() -> Strategy:
            if population is None or population.shape[1] != data.n_features:
                return self._search(self._start(data, valid))
            return self._search(population)

        search, run = run_search(self, data, valid, LinearFitness, begin)
        self.coef_ = as_single(run.best)
        self.population_: Floats = np.array(search.population)

    def form(self) -> Form:
        """Weights of the features."""
        self._check_fitted()
        return SingleLinear(self.scaler_, self.n_inputs, self.coef_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The weights by feature name, largest first; those of all that the scaling makes of a feature are added."""
        self._check_fitted()
        return name_weights(self.feature_names(), self.by_feature(self.coef_))

    def weights_text(self) -> str:
        """The weights as a table, largest first."""
        return weights_text(self.feature_weights())

    def plot_weights(self, path: str | Path | None = None) -> alt.Chart:
        """The weights as bars, largest first; written to a file (.png, .svg, .html, .json) if a path is given."""
        return plot_weights(self.feature_weights(), path)

    def pruning(
        self, X: ArrayLike | Dataset, y: ArrayLike | None = None, *, qid: ArrayLike | Sequence[Any] | None = None
    ) -> list[PruningStep]:
        """How much the metric drops on the given data when the smallest weights are removed one by one (RankDE 4.6)."""
        self._check_fitted()
        sizes = np.sort(np.abs(self.coef_))[::-1]
        counts = range(len(sizes), 0, -1)
        data = self.prepared(as_dataset(X, y, qid))
        with LinearFitness(data, self.metric, profile=self.profile, n_jobs=self.n_jobs) as fitness:
            values = fitness([prune_weights(self.coef_, keep=kept) for kept in counts])
            sign = fitness.objective.metric.quality(1)
        return [
            PruningStep(kept, float(sizes[kept - 1]), sign * float(value), float(values[0] - value))
            for kept, value in zip(counts, values, strict=True)
        ]

    def prune(self, *, threshold: float | None = None, keep: int | None = None) -> Self:
        """A copy in which the weights whose size is below ``threshold``, or all but the ``keep`` largest, are 0.

        It has no ``fitness_``, which was that of all weights: :meth:`pruning` measures it on data.
        """
        self._check_fitted()
        pruned = copy(self)
        pruned.__dict__.pop("fitness_", None)
        pruned.coef_ = prune_weights(self.coef_, threshold=threshold, keep=keep)
        return pruned


def run_search(
    ranker: Any,
    data: Dataset | Divided,
    valid: Dataset | Divided | None,
    fitness_class: type[Any],
    begin: Callable[[], Strategy],
) -> tuple[Any, Run]:
    """Search for the individual with the best fitness; the ranker gets ``history_`` and ``fitness_``.

    A warm start with the same settings on the same data, ``valid`` too, continues the ranker's last search; otherwise
    ``begin`` makes a new one.
    """
    fixed = {name: value for name, value in ranker.get_params().items() if name not in FREE}
    settings = repr((data.n_features, valid is None, sorted(fixed.items(), key=lambda item: item[0])))
    with ExitStack() as stack:

        def fitness_on(part: Dataset | Divided) -> Any:
            if isinstance(part, Divided):
                return DividedFitness(part, fitness_class, ranker.metric, profile=ranker.profile)
            return stack.enter_context(fitness_class(part, ranker.metric, profile=ranker.profile, n_jobs=ranker.n_jobs))

        fitness, held_out = fitness_on(data), None if valid is None else fitness_on(valid)
        last: tuple[Any, Run | None, str] = getattr(ranker, "_last", (None, None, ""))
        search, before, same = last
        if (
            not ranker.warm_start
            or same != settings
            or fitness([search.best])[0] != search.best_fitness
            or (held_out is not None and before is not None and held_out([before.best])[0] != before.fitness)
        ):
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
    ranker.fitness_ = parse_metric(ranker.metric).quality(run.fitness)
    ranker._last = search, run, settings
    return search, run
