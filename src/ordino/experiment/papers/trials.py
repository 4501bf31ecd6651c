"""The protocol that most tables share: settings of rankers, on every fold, with several seeds, measured on some parts.

A table is then data: a list of :class:`Setting` with the paper's numbers beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.errors import DataError
from ordino.experiment.papers.request import Request
from ordino.experiment.papers.result import Cell
from ordino.experiment.papers.training import Wanted, fit_seeds, train_ahead
from ordino.metrics import measure, parse_metric
from ordino.ranker import Ranker
from ordino.rankers import ranker_class

Paper = Mapping[str, Mapping[str, float]]
Make = Callable[[Request], Ranker]

AT_10 = tuple(range(1, 11))
LETOR_METRICS = ("map", *(f"p@{k}" for k in AT_10), *(f"ndcg@{k}" for k in AT_10))


class Setting(NamedTuple):
    """A row of a paper's table: a ranker, and what the paper says of it, by collection and by metric."""

    label: str
    make: Make
    paper: Paper = MappingProxyType({})
    repeats: int | None = None
    """How many seeds, where it is not the protocol's number."""


def ranker(name: str, *, quick: Mapping[str, Any] | None = None, **params: Any) -> Make:
    """A ranker by its name on the command line; ``quick`` holds what ``--quick`` changes."""

    def make(request: Request) -> Ranker:
        return ranker_class(name)(**(params | dict(quick or {}) if request.quick else params))

    return make


@final
@dataclass(frozen=True)
class Protocol:
    """How settings are run and measured."""

    metrics: Sequence[str]
    profile: str = "standard"
    parts: Sequence[str] = ("test",)
    repeats: int = 1

    def seeds(self, request: Request, setting: Setting) -> range:
        """Seeds of the repeats, far enough apart for rankers that use the seeds after their own as well."""
        n = request.at_most(setting.repeats or self.repeats)
        return range(request.seed, request.seed + 100 * n, 100)


class Trials(NamedTuple):
    """What one setting gave on one collection."""

    values: Mapping[tuple[str, str], np.ndarray[Any, np.dtype[np.float64]]]
    """By part and metric: the mean over the queries, shape ``(n_folds, n_seeds)``."""
    seconds: tuple[float, ...]
    """Training time of one seed on each fold."""
    rankers: list[list[Ranker]]
    """By fold and seed."""

    def by_seed(self, part: str, metric: str) -> tuple[float, ...]:
        """The mean over the folds, for each seed."""
        return tuple(self.values[part, metric].mean(axis=0).tolist())

    def by_fold(self, part: str, metric: str) -> tuple[float, ...]:
        """The mean over the seeds, for each fold."""
        return tuple(self.values[part, metric].mean(axis=1).tolist())


def run_settings(settings: Sequence[Setting], folds: Folds, protocol: Protocol, request: Request) -> list[Trials]:
    """Train each setting on every fold with every seed, choose on its validation part, measure."""
    train_ahead(
        (
            Wanted(setting.make(request), fold, protocol.seeds(request, setting))
            for fold in folds
            for setting in settings
        ),
        request,
    )
    return [_measured(setting, folds, protocol, request) for setting in settings]


def run_setting(setting: Setting, folds: Folds, protocol: Protocol, request: Request) -> Trials:
    """The same for one setting."""
    return run_settings([setting], folds, protocol, request)[0]


def run_table(
    settings: Sequence[Setting], collection: str, folds: Folds, protocol: Protocol, request: Request
) -> list[Cell]:
    """The cells of all settings on a collection."""
    trials = run_settings(settings, folds, protocol, request)
    return [cell for row, found in zip(settings, trials, strict=True) for cell in cells_of(row, collection, found)]


def _measured(setting: Setting, folds: Folds, protocol: Protocol, request: Request) -> Trials:
    seeds = protocol.seeds(request, setting)
    values: dict[tuple[str, str], list[list[float]]] = {(p, m): [] for p in protocol.parts for m in protocol.metrics}
    seconds, rankers = [], []
    for fold in folds:
        fitted, took = fit_seeds(setting.make(request), fold, seeds, request)
        seconds.append(took / len(seeds))
        rankers.append(fitted)
        for part in protocol.parts:
            data = part_of(fold, part)
            found = [means(data, one, protocol) for one in fitted]
            for metric in protocol.metrics:
                values[part, metric].append([of_seed[metric] for of_seed in found])
    return Trials({key: np.array(rows) for key, rows in values.items()}, tuple(seconds), rankers)


def part_of(fold: Fold, part: str) -> Dataset:
    """A part of a fold by name."""
    data: Dataset | None = getattr(fold, part)
    if data is None:
        raise DataError(f"{fold.name} has no validation part, which this table measures; add a vali.txt to each fold")
    return data


def means(data: Dataset, ranker: Ranker, protocol: Protocol) -> Mapping[str, float]:
    """The mean of each metric over the queries, by the name it has in the protocol."""
    rows = Dataset(data.X, data.y, data.qid)  # in the order of the queries, whatever the file's was
    found = measure(rows.y, ranker.predict(rows), rows.offsets, list(protocol.metrics), profile=protocol.profile)
    return {metric: found[str(parse_metric(metric))] for metric in protocol.metrics}


def cells_of(setting: Setting, collection: str, trials: Trials) -> list[Cell]:
    """A cell for each part and metric, labelled collection, method, part, metric; one value for each seed."""
    same_data = collection in setting.paper
    paper = setting.paper[collection] if same_data else next(iter(setting.paper.values()), {})
    return [
        Cell(
            (collection, setting.label, part, metric),
            paper.get(f"{part} {metric}"),
            trials.by_seed(part, metric),
            same_data,
        )
        for part, metric in trials.values
    ]


def at_10(name: str, figures: str, *, part: str = "test") -> dict[str, float]:
    """A row of a table: the values of a metric at 1, 2, ..., 10.

    Examples
    --------
    >>> at_10("p", "0.5 0.25")
    {'test p@1': 0.5, 'test p@2': 0.25}
    """
    return {f"{part} {name}@{k}": float(value) for k, value in enumerate(figures.split(), 1)}
