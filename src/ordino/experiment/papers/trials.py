"""What a target's plans left in the store, as tables and figures ask for it: by seed, by fold, by query."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import final

import numpy as np

from ordino.arrays import mean_of_counted
from ordino.experiment.run.driver import model_path
from ordino.experiment.store.store import Store
from ordino.experiment.store.trial import TrialInfo, Values
from ordino.experiment.store.view import StoreView
from ordino.model_file import load
from ordino.ranker import Ranker

AT_10 = tuple(range(1, 11))
LETOR_METRICS = ("map", *(f"p@{k}" for k in AT_10), *(f"ndcg@{k}" for k in AT_10))


@final
class Trials:
    """The trials of a target, opened one by one where a view needs more than their means."""

    def __init__(self, store: Store, keys: Iterable[str], models: Path) -> None:
        self._order = {key: place for place, key in enumerate(keys)}
        self.store = StoreView(store, keys=self._order)
        self._models = models

    @cached_property
    def all(self) -> list[TrialInfo]:
        """What is known of each, in the order of the plans, whichever was done first."""
        return sorted(self.store.trials(), key=lambda trial: self._order[trial.key])

    def of(self, dataset: str, label: str, metric: str | None = None) -> list[TrialInfo]:
        """The trials of a system on a data set that have a metric, fold by fold."""
        return [
            trial
            for trial in self.all
            if (trial.dataset, trial.label) == (dataset, label) and (metric is None or metric in trial.test)
        ]

    def mean(self, trial: TrialInfo, metric: str, part: str = "test") -> float:
        """The mean over the queries of a part."""
        if part in ("test", "valid"):
            return (trial.test if part == "test" else trial.valid)[metric]
        return mean_of_counted(self.values(trial, metric, part))

    def values(self, trial: TrialInfo, metric: str, part: str = "test") -> Values:
        """The value of each query of a part."""
        return self.store.values_of(trial.key, metric, part=part)

    def by_seed(self, dataset: str, label: str, metric: str, part: str = "test") -> tuple[float, ...]:
        """The mean over the folds, for each seed."""
        return _averaged((trial.seed, self.mean(trial, metric, part)) for trial in self.of(dataset, label, metric))

    def by_fold(self, dataset: str, label: str, metric: str) -> tuple[float, ...]:
        """The mean over the seeds, for each fold."""
        return self.each_fold(dataset, label, metric, lambda trial: trial.test[metric])

    def each_fold(
        self, dataset: str, label: str, metric: str, value: Callable[[TrialInfo], float]
    ) -> tuple[float, ...]:
        """The same for any value of a trial."""
        return _averaged((trial.fold, value(trial)) for trial in self.of(dataset, label, metric))

    def first_of_folds(self, dataset: str, label: str) -> list[TrialInfo]:
        """The trial with the first seed on each fold."""
        first: dict[str, TrialInfo] = {}
        for trial in self.of(dataset, label):
            first.setdefault(trial.fold, trial)
        return list(first.values())

    def ranker(self, trial: TrialInfo) -> Ranker:
        """The fitted ranker of a trial."""
        fitted: Ranker = load(model_path(self._models, trial.key))
        return fitted


def _averaged(values: Iterable[tuple[object, float]]) -> tuple[float, ...]:
    groups: dict[object, list[float]] = {}
    for group, value in values:
        groups.setdefault(group, []).append(value)
    return tuple(float(np.mean(group)) for group in groups.values())


def printed_rows(table: str, *, part: str = "test") -> dict[str, dict[str, float]]:
    """Rows of a paper's table by label: MAP (- if not printed), perhaps the pairwise error; P@1, P@2 ...; NDCG@1 ...

    Examples
    --------
    >>> printed_rows("RankNet | .25 | .5 .4 | .6 .7")
    {'RankNet': {'test map': 0.25, 'test p@1': 0.5, 'test p@2': 0.4, 'test ndcg@1': 0.6, 'test ndcg@2': 0.7}}
    """
    rows = {}
    for line in table.strip().splitlines():
        label, means, *at_k = (text.strip() for text in line.split("|"))
        named = [*zip(("map", "pairwise_error"), means.split(), strict=False)]
        for name, numbers in zip(("p", "ndcg"), at_k, strict=True):
            named += [(f"{name}@{k}", number) for k, number in enumerate(numbers.split(), 1)]
        rows[label] = {f"{part} {name}": float(number) for name, number in named if number != "-"}
    return rows
