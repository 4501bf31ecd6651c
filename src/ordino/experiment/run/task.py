"""A task: one ranker with one setting on one fold, trained with one seed or with several; and what a worker does.

Everything that a worker needs is in the task, which is small: the data stays on disk and is mapped into memory. A
worker gives trials back and writes nothing.
"""

import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.errors import MissingExtraError, ParameterError
from ordino.experiment.plan.contestants import Given
from ordino.experiment.plan.ranker_entry import Entry, known_parameters
from ordino.experiment.run.scratch import scratch_folder
from ordino.experiment.store.trial import QUERY_COUNTS, Trial, installed_versions, trial_key
from ordino.experiment.store.under_way import reporting
from ordino.interrupts import all_or_nothing
from ordino.metrics import Evaluation, evaluate
from ordino.parameters import Range
from ordino.ranker import Ranker

QUERIES = 3  # of a rehearsal
BY_METRIC = ("metric", "valid")  # values of `select` by which a ranker's metric chooses on validation data


@final
@dataclass(frozen=True, kw_only=True)
class Task:
    """A ranker on a fold, with the setting and the seeds to train it with."""

    experiment: str
    dataset: str
    fold: str
    data: str  # a hash of the fold
    files: Mapping[str, Path]
    """Train, valid (if there is one) and test; and scores, of an entry that brings its own."""
    entry: Entry
    measures: tuple[str, ...]
    profile: str
    select: str
    seeds: tuple[int, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    """Parts beside the test part whose values of queries are kept."""
    keeps_models: bool = False
    keeps_scores: bool = False
    reports: Path | None = None
    """The folder in which a worker tells how far it is."""

    def __str__(self) -> str:
        seeds = "seed" if len(self.seeds) == 1 else "seeds"
        return f"{self.entry.name} on {self.fold} of {self.dataset}, {seeds} {', '.join(map(str, self.seeds))}"

    def key(self, seed: int, *, tuning: bool = False) -> str:
        """What makes the trial with this seed the same as one in the store."""
        return trial_key(
            **self.identity(), seed=seed, preset=self.entry.preset, measures=self.measures, parts=self.parts,
            select=self.select, tuning=tuning, ordino=installed_versions()["ordino"],
        )  # fmt: skip

    def identity(self) -> dict[str, Any]:
        """What a trial says of the task."""
        own = {name: getattr(self, name) for name in ("experiment", "dataset", "fold", "data", "params", "profile")}
        return own | {"ranker": self.entry.command, "label": self.entry.name, "is_tuned": self.entry.is_tuned}

    def told_params(self) -> dict[str, Any]:
        """What a trial says was set, the preset among it: without that, two settings would look the same."""
        return {**({"preset": self.entry.preset} if self.entry.preset else {}), **self.params}

    def ranker(self) -> Ranker:
        """The ranker to train: on one thread, and choosing by the plan's metric where the entry says nothing else."""
        ranker = self.entry.make(self.params)
        if "scores" in self.files:
            ranker.set_params(rows=str(self.files["scores"]))
        common = {"metric": self.select, "profile": self.profile, "seed": self.seeds[0], "n_jobs": 1}
        if self.entry.preset:
            del common["metric"], common["profile"]
        known = {name: name.rpartition("__")[2] for name in ranker.get_params() if name not in self.params}
        return ranker.set_params(**{name: common[own] for name, own in known.items() if own in common})

    def part(self, name: str) -> Dataset | None:
        """A part of the fold, if there is one."""
        return _open_part(self.files[name]) if name in self.files else None


class Measured(NamedTuple):
    """A trial, and what is kept of it beside the store."""

    trial: Trial
    model: bytes | None = None
    scores: NDArray[np.float64] | None = None
    """Of the documents of the test part, in its order."""


def measure_setting(task: Task) -> list[Measured]:
    """Train a setting with every seed, together where the ranker can do so, and measure it on test data."""
    with reporting(task.reports, task.entry.name, task.dataset, task.fold):
        fitted, trials = _fit(task, tuning=False)
        test = task.part("test")
        assert test is not None
        return [_measured(task, ranker, trial, test) for ranker, trial in zip(fitted, trials, strict=True)]


def try_setting(task: Task) -> Trial:
    """Train a setting and measure it on validation data; the test data is not even opened."""
    with reporting(task.reports, task.entry.name, task.dataset, task.fold):
        return _fit(task, tuning=True)[1][0]


def find_problems(tasks: Sequence[Task]) -> list[str]:
    """What is wrong with the parameters of the tasks' entries, a sentence each; every setting is rehearsed."""
    problems: dict[str, None] = {}
    first = {(task.dataset, task.entry.name): task for task in reversed(tasks)}
    for task in reversed(first.values()):
        for params in () if task.entry.kind else _settings_to_rehearse(task.entry):
            try:
                _rehearse(replace(task, params=params))
            except (ParameterError, MissingExtraError) as error:
                problems[f"{task.entry.name}: {error}"] = None
            except Exception:  # because there are too few queries, perhaps; if not, the trial itself will tell
                continue
    return list(problems)


def _fit(task: Task, *, tuning: bool) -> tuple[Sequence[Ranker], list[Trial]]:
    """The ranker of each seed, with what is known before the test data is seen."""
    train, valid = task.part("train"), task.part("valid")
    assert train is not None
    ranker = task.ranker()
    if isinstance(ranker, Given):
        valid = None  # nothing is chosen for it
    else:
        _rehearse_once(task)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    clock = time.perf_counter()
    fitted = _fitted(ranker, train, valid, task.seeds)
    train_seconds = (time.perf_counter() - clock) / len(task.seeds)
    trials = [
        Trial(
            **task.identity() | {"params": task.told_params()}, key=task.key(seed, tuning=tuning), seed=seed,
            is_random=one.is_random,
            versions=installed_versions(), started=started, train_seconds=train_seconds,
            chosen_by="" if valid is None else _what_chose(task, ranker),
            valid={} if valid is None else dict(_evaluated(task, one, valid, select=True)),
            history=[dict(row) for row in getattr(one, "history_", [])], feature_weights=weights_of(one),
        )
        for seed, one in zip(task.seeds, fitted, strict=True)
    ]  # fmt: skip
    return fitted, trials


def _fitted(ranker: Ranker, train: Dataset, valid: Dataset | None, seeds: Sequence[int]) -> Sequence[Ranker]:
    with all_or_nothing():
        return ranker.fit_repeats(train, seeds, valid=valid) if len(seeds) > 1 else [ranker.fit(train, valid=valid)]


def _what_chose(task: Task, ranker: Ranker) -> str:
    """The metric that validation data was used with: that of the search, or the ranker's own where it chooses by it."""
    own: str = getattr(ranker, "metric", "") if getattr(ranker, "select", "metric") in BY_METRIC else ""
    return task.select if task.entry.is_tuned else str(own)


def _measured(task: Task, ranker: Ranker, trial: Trial, test: Dataset) -> Measured:
    clock = time.perf_counter()
    scores = ranker.predict(test)
    score_seconds = time.perf_counter() - clock
    found = evaluate(test, scores, metrics=task.measures, profile=task.profile, n_jobs=1)
    others = {name: data for name in task.parts if (data := task.part(name)) is not None}
    measured = replace(
        trial,
        score_seconds=score_seconds,
        test=dict(found),
        per_query=dict(found.per_query),
        query_ids=found.query_ids,
        query_counts={name: getattr(found, name) for name in QUERY_COUNTS},
        parts={name: dict(_evaluated(task, ranker, data).per_query) for name, data in others.items()},
    )
    return Measured(measured, _model_of(ranker) if task.keeps_models else None, scores if task.keeps_scores else None)


def _evaluated(task: Task, ranker: Ranker, data: Dataset, *, select: bool = False) -> Evaluation:
    wanted = dict.fromkeys((*task.measures, *([task.select] if select else [])))
    return evaluate(data, ranker.predict(data), metrics=list(wanted), profile=task.profile, n_jobs=1)


_REHEARSED: set[str] = set()  # settings whose code this process has loaded and compiled


def _rehearse_once(task: Task) -> None:
    """Load and compile what training will use, so that a trial's seconds count learning alone."""
    if _setting(task) not in _REHEARSED:
        with suppress(Exception):  # the training itself will tell
            _rehearse(task)


def _rehearse(task: Task) -> None:
    """Fit the ranker briefly on a few queries, with one seed or with two at once, and let it score them.

    Rankers check their parameters when they are fitted: this asks the same questions, and takes little more time than
    loading what they are made of.
    """
    _REHEARSED.add(_setting(task))
    ranker = task.ranker()
    ranker.set_params(**brief_params(ranker))
    parts = {name: data for name in ("train", "valid") if (data := task.part(name)) is not None}
    few = {name: data.select_queries(np.arange(min(QUERIES, data.n_queries))) for name, data in parts.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _fitted(ranker, few["train"], few.get("valid"), task.seeds[:2])[0].predict(few["train"])


def _setting(task: Task) -> str:
    return json.dumps([task.entry.command, task.entry.preset, task.params, len(task.seeds) > 1], sort_keys=True)


def brief_params(ranker: Ranker) -> dict[str, Any]:
    """The parameters that make learning short, where the ranker has longer ones."""
    return {
        name: known.brief
        for name, known, value in known_parameters(ranker)
        if known.brief is not None and (value is None or (isinstance(value, int) and value > known.brief))
    }


def _settings_to_rehearse(entry: Entry) -> Iterator[dict[str, Any]]:
    """Every value that the entry may take, once, with all others as they come first."""
    tables: Sequence[Mapping[str, Sequence[Any]]] = entry.grids or [{}]
    if entry.trials:
        spaces = {name: space for name, space in entry.search_space().items() if name not in entry.params}
        tables = [{name: (one.low, one.high) if isinstance(one, Range) else one.values for name, one in spaces.items()}]
    for values in tables:
        first = {name: several[0] for name, several in values.items()} | dict(entry.params)
        yield first
        for name, several in values.items():
            yield from (first | {name: value} for value in several[1:])


@lru_cache(maxsize=3)
def _open_part(path: Path) -> Dataset:
    """A part of a fold, mapped into memory, its rows in the order of its queries; those of the last fold stay open."""
    return Dataset.open(path, check=False).as_grouped()  # this run has just written it


def _model_of(ranker: Ranker) -> bytes:
    from ordino.model_file import save

    with scratch_folder() as folder:
        path = folder / "model.ordino"
        save(ranker, path)
        return path.read_bytes()


def weights_of(ranker: Ranker) -> dict[str, float] | None:
    """What each feature weighs: its weight in a sum, or its share of the gain in trees; None for other rankers."""
    weigh = getattr(ranker, "feature_weights", None) or getattr(ranker, "feature_gains", None)
    return None if weigh is None else dict(weigh())
