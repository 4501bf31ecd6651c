"""A target: a table or figure of a paper as plans to carry out and a view of the trials that they leave in a store."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, final

import numpy as np

from ordino.arrays import mean_of_counted
from ordino.data.dataset import Dataset
from ordino.data.folds import Folds, make_folds, read_folds
from ordino.data.synthetic import synthetic
from ordino.errors import DataError
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.plan.plan import Plan
from ordino.experiment.plan.ranker_entry import Entry
from ordino.experiment.run.driver import model_path
from ordino.experiment.store.store import Store
from ordino.experiment.store.trial import TrialInfo, Values, grouped
from ordino.experiment.store.view import StoreView
from ordino.model_file import load
from ordino.plain import count_of
from ordino.ranker import Ranker
from ordino.rankers import ranker_class

EXPERIMENT = "papers"
"""What a store calls everything that is trained for papers: targets that need the same trial share it."""
MADE: Mapping[str, str] = {"td": "td (synthetic)", "mslr": "MSLR's shape (synthetic)", "digits": "digits"}
"""Collections that are made here, and what pages call them: ``--data td`` is synthetic, with the shape of TD2003, and
``--data mslr`` with that of MSLR-WEB10K, but 300 queries; ``--data digits`` are lists of scikit-learn's handwritten
digits, with the digit as label."""
SIZES: Mapping[str, Mapping[str, int]] = {"mslr": {"queries": 300}}
NOT_SETTINGS = ("seed", "n_jobs", "verbose")
NOTHING = "nothing"
ANY_JUDGED = "any judged folder (the paper's data is private)"


@final
@dataclass(frozen=True)
class Request:
    """What a person asks for; every target understands it."""

    data: Path | None = None
    quick: bool = False
    """Run a small part of the work, to see that everything works; the numbers then mean nothing."""
    seed: int = 0
    repeats: int | None = None
    """Repeats per setting, where the paper's number takes too long; None is the target's own number."""
    kept: Path | None = field(default=None, compare=False)
    """Folder for the store and the models, from which a stopped run goes on; None keeps nothing."""
    n_jobs: int = field(default=1, compare=False)
    verbose: bool = field(default=False, compare=False)
    cluster: str | None = field(default=None, compare=False)
    """The address of a Ray cluster to train on; None trains here."""

    def at_most(self, n_repeats: int) -> int:
        """How many repeats to make where the paper makes this many."""
        return min(n_repeats, 2 if self.quick else n_repeats, self.repeats or n_repeats)

    def collections(self, names: Sequence[str]) -> dict[str, Folds]:
        """The folds of each named collection that the data folder has.

        The folder may hold the collections by name (``TD2003/Fold1``), or it may itself be one collection of any name,
        which then stands in for them under its own name: the paper has no numbers for it. If there is no folder of the
        name in :data:`MADE`, that collection is made here.
        """
        wanted = " or ".join(names)
        if self.data is not None and self.data.name in MADE:
            made = self.data.name
            folds = read_folds(self.data) if self.data.is_dir() else _make(made, quick=self.quick)
            return {MADE[made]: folds[: 2 if self.quick else None]}
        if self.data is None:
            raise DataError(f"this needs {wanted}: name its folder with --data, or other data; --data td is made here")
        found = {name: read_folds(self.data / name) for name in names if (self.data / name).is_dir()}
        if not found and not self.data.is_dir():
            raise DataError(f"{self.data}: there is no such directory; name the one that holds {wanted}")
        found = found or {self.data.resolve().name: read_folds(self.data)}
        return {name: folds[: 2 if self.quick else None] for name, folds in found.items()}

    def plan(self, data: Mapping[str, Folds], systems: Iterable[System], **fields: Any) -> Plan:
        """A plan of systems; two that are the same are trained once."""
        entries = {entry.label: entry for entry in (system.entry(self) for system in systems)}
        common: dict[str, Any] = {"name": EXPERIMENT, "seed": self.seed}
        return Plan(data=data, rankers=list(entries.values()), **(common | fields))


@cache
def _make(name: str, *, quick: bool) -> Folds:
    if name == "digits":
        return make_folds(digits(queries=10 if quick else None), seed=0)
    return make_folds(synthetic(name, **({"queries": 10} if quick else SIZES.get(name, {}))), seed=0)


def digits(queries: int | None = None, docs: int = 20) -> Dataset:
    """Scikit-learn's 1,797 handwritten digits in lists; the label is the digit, and no image is in two lists.

    Examples
    --------
    >>> digits(queries=3)
    Dataset(60 documents, 3 queries, 64 features)
    """
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[: docs * (queries or len(y) // docs)]
    return Dataset(X[order] / 16, y[order].astype(float), np.arange(len(order)) // docs)


@final
@dataclass(frozen=True)
class System:
    """A ranker with its settings, as a paper compares it with others."""

    ranker: str
    params: Mapping[str, Any] = field(default_factory=dict)
    """A system among the values stands for a ranker inside the ranker."""
    preset: str = ""
    quick: Mapping[str, Any] = field(default_factory=dict)
    """What ``--quick`` changes."""
    grid: Sequence[Mapping[str, Sequence[Any]]] = ()
    """Settings to choose from on the validation part of each fold."""
    repeats: int = 1
    like: System | None = None
    """Take over all settings of this system, of another ranker."""

    def label(self, request: Request) -> str:
        """The ranker with everything that is set, as a store names it."""
        own = {
            name: value.label(request) if isinstance(value, System) else value
            for name, value in self._own(request).items()
        }
        told = [f"{name}={value}" for name, value in own.items()]
        told += [f"like {self.like.label(request)}"] if self.like else []
        told += [f"{name} of {values}" for grid in self._grids(request) for name, values in grid.items()]
        return " ".join(filter(None, [self.ranker, self.preset, f"({', '.join(told)})" if told else ""]))

    def entry(self, request: Request) -> Entry:
        """The system in a plan."""
        params = {} if self.like is None else self.like.settings(request)
        for name, value in self._own(request).items():
            params[name] = value.ranker if isinstance(value, System) else value
            inner = value.settings(request) if isinstance(value, System) else {}
            params |= {f"{name}__{key}": one for key, one in inner.items()}
        return Entry(
            ranker=self.ranker, params=params, preset=self.preset, grid=self._grids(request),
            repeats=request.at_most(self.repeats), label=self.label(request),
        )  # fmt: skip

    def settings(self, request: Request) -> dict[str, Any]:
        """All parameters, those with the paper's or the default value too."""
        cls: Any = ranker_class(self.ranker)
        made = (cls.as_published if self.preset else cls)(**self._own(request))
        return {name: value for name, value in made.get_params(deep=False).items() if name not in NOT_SETTINGS}

    def _own(self, request: Request) -> dict[str, Any]:
        return {**self.params, **(self.quick if request.quick else {})}

    def _grids(self, request: Request) -> list[dict[str, Sequence[Any]]]:
        fixed = self.quick if request.quick else {}
        return [{name: values for name, values in grid.items() if name not in fixed} for grid in self.grid]


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
        found = [trial for trial in self.all if (trial.dataset, trial.label) == (dataset, label)]
        return [trial for trial in found if metric is None or metric in trial.test]

    def values(self, trial: TrialInfo, metric: str, part: str = "test") -> Values:
        """The value of each query of a part."""
        return self.store.values_of(trial.key, metric, part=part)

    def by_seed(self, dataset: str, label: str, metric: str, part: str = "test") -> tuple[float, ...]:
        """The mean over the folds, for each seed."""

        def mean(trial: TrialInfo) -> float:
            means = {"test": trial.test, "valid": trial.valid}.get(part)
            return mean_of_counted(self.values(trial, metric, part)) if means is None else means[metric]

        return _averaged((trial.seed, mean(trial)) for trial in self.of(dataset, label, metric))

    def by_fold(
        self, dataset: str, label: str, metric: str, value: Callable[[TrialInfo], float] | None = None
    ) -> tuple[float, ...]:
        """The mean over the seeds, for each fold: of the metric, or of any other value of a trial."""
        own = self.of(dataset, label, metric)
        return _averaged((trial.fold, trial.test[metric] if value is None else value(trial)) for trial in own)

    def first_of_folds(self, dataset: str, label: str) -> list[TrialInfo]:
        """The trial with the first seed on each fold."""
        return [first for first, *_ in grouped((trial.fold, trial) for trial in self.of(dataset, label)).values()]

    def ranker(self, trial: TrialInfo) -> Ranker:
        """The fitted ranker of a trial."""
        fitted: Ranker = load(model_path(self._models, trial.key))
        return fitted


def _averaged(values: Iterable[tuple[int | str, float]]) -> tuple[float, ...]:
    return tuple(float(np.mean(group)) for group in grouped(values).values())


@final
@dataclass(frozen=True, kw_only=True)
class Target:
    """A table or figure that can be run again."""

    shows: str
    needs: str
    """The data to name with ``--data``; any folder of the same shape will do."""
    takes: str
    """About how long on two cores."""
    page: Result
    """What stands around the numbers, in which {data}, {folds}, {repeats}, {n}, {seed} and {seeds} are filled in.

    Without a title of its own it has what the target shows.
    """
    view: Callable[[Request, Trials], Iterable[Number | str]]
    """From the trials to the numbers, and to sentences about them."""
    plans: Callable[[Request], Iterable[Plan]] = lambda _: ()
    """What has to be trained."""
    then: Callable[[Request, Trials], Iterable[Plan]] = lambda *_: ()
    """What has to be trained after that, as the trials of the plans decide it."""
    pairs: Callable[[Request], Iterable[str]] = lambda _: ()
    """Sentences about the training pairs that need no trials, only the data and the seed: how many are distinct."""
    is_timed: bool = False
    """Whether it shows training times, for which one ranker is trained after the other, and everything anew."""

    def result(self, request: Request, trials: Trials) -> Result:
        """The page with the numbers of these trials."""
        found = list(self.view(request, trials))
        numbers = [one for one in found if isinstance(one, Number)]
        folds = grouped({(trial.dataset, trial.fold): None for trial in trials.all})
        n = max((len(one.ours) for one in numbers if not one.is_by_query), default=0)
        data = self._data(request, numbers, list(folds))
        facts = {"data": " and ".join(data), "folds": count_of(max(map(len, folds.values()), default=0), "fold")}
        seeds = list(dict.fromkeys(trial.seed for trial in trials.all))
        facts |= {"n": str(n), "repeats": count_of(n, "repeat"), "seed": str(request.seed)}
        facts |= {"seeds": count_of(len(seeds), "seed")}
        return replace(
            self.words(facts), numbers=numbers, seed=request.seed, data=data, seeds=seeds,
            notes=[*(one for one in found if isinstance(one, str)), *self.pairs(request)],
        )  # fmt: skip

    def words(self, filled: Mapping[str, str]) -> Result:
        """The page without numbers, its title and protocol filled in with what a run knows."""
        title, protocol = (text.format(**filled) for text in (self.page.title or self.shows, self.page.protocol))
        return replace(self.page, title=title, protocol=protocol, filled=filled)

    def _data(self, request: Request, numbers: Sequence[Number], trained_on: Sequence[str]) -> Sequence[str]:
        """The collections: those that the numbers name, else those of the trials, else the folder that was given."""
        if "collection" in self.page.columns:
            place = self.page.columns.index("collection")
            return list(dict.fromkeys(number.labels[place] for number in numbers))
        if self.needs == NOTHING:
            return ()
        return trained_on or list(request.collections((self.needs,)))


@cache
def read_paper(name: str) -> Mapping[str, Any]:
    """What a paper's TOML file says: the protocol, our choices, and the numbers that the paper prints, by table."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
