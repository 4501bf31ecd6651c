"""One trial from beginning to end: open the data, train, score, measure, write down.

What is here runs in the worker processes of :mod:`ordino.experiment.run.driver`; everything that it needs is in a
:class:`Task`, which is small, since the data stays on disk and is mapped into memory.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, final

from ordino.data.dataset import Dataset
from ordino.errors import OrdinoError
from ordino.experiment.plan.ranker_entry import Entry
from ordino.experiment.store.store import Store
from ordino.experiment.store.trial import QUERY_COUNTS, Trial, installed_versions, trial_key
from ordino.interrupts import all_or_nothing
from ordino.metrics import evaluate, parse_metric
from ordino.ranker import Ranker


@final
@dataclass(frozen=True, kw_only=True)
class Task:
    """A ranker on a fold: with one setting and seed, or with the settings of its entry to choose from."""

    store: Path
    experiment: str
    dataset: str
    fold: str
    fingerprint: str
    files: Mapping[str, Path]  # train, valid (if there is one) and test
    entry: Entry
    measures: tuple[str, ...]
    profile: str
    select: str
    seed: int
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.entry.name} on {self.fold} of {self.dataset}, seed {self.seed}"

    def key(self, *, tuning: bool = False) -> str:
        """What makes this trial the same as one in the store."""
        return trial_key(
            experiment=self.experiment,
            dataset=self.dataset,
            fold=self.fold,
            data=self.fingerprint,
            ranker=self.entry.command,
            label=self.entry.name,
            params=self.params,
            seed=self.seed,
            measures=self.measures,
            profile=self.profile,
            select=self.select,
            tuned=self.entry.is_tuned,
            tuning=tuning,
            ordino=installed_versions()["ordino"],
        )

    def ranker(self) -> Ranker:
        """The ranker to train: on one thread, and choosing by the plan's measure where the entry says nothing else."""
        ranker = self.entry.make(self.params)
        common = {"metric": self.select, "profile": self.profile, "seed": self.seed, "n_jobs": 1}
        ranker.set_params(
            **{
                name: common[name.rpartition("__")[2]]
                for name in ranker.get_params()
                if name.rpartition("__")[2] in common and name not in self.params
            }
        )
        return ranker


def measure_trial(task: Task) -> None:
    """Train a setting, measure it on test data, and add it to the store, unless it is there."""
    with Store(task.store) as store:
        if task.key() not in store:
            store.add(_trained(task, tuning=False))


def try_setting(task: Task, store: Store) -> float:
    """The selection measure of a setting on validation data, larger is better; from the store if it is there."""
    known = store.find(task.key(tuning=True))
    if known is None:
        known = _trained(task, tuning=True)
        store.add(known)
    reached = known.valid[task.select]
    if reached != reached:
        raise OrdinoError(f"{task}: no validation query counts for {task.select} in profile {task.profile!r}")
    return reached if parse_metric(task.select).greater_is_better else -reached


def _trained(task: Task, *, tuning: bool) -> Trial:
    """A trial with all that is known of it; one for tuning never sees the test data."""
    train, valid = open_part(task.files["train"]), task.files.get("valid")
    held_out = None if valid is None else open_part(valid)
    ranker = task.ranker()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    clock = time.perf_counter()
    with all_or_nothing():
        ranker.fit(train, valid=held_out)
    train_seconds = time.perf_counter() - clock
    trial = Trial(
        key=task.key(tuning=tuning),
        experiment=task.experiment,
        dataset=task.dataset,
        fold=task.fold,
        ranker=task.entry.command,
        label=task.entry.name,
        params=task.params,
        seed=task.seed,
        profile=task.profile,
        is_tuned=task.entry.is_tuned,
        data=task.fingerprint,
        versions=installed_versions(),
        started=started,
        train_seconds=train_seconds,
        valid={} if held_out is None else dict(_measured(task, held_out, ranker)),
        history=history_of(ranker),
        feature_weights=weights_of(ranker),
    )
    if tuning:
        return trial
    test = open_part(task.files["test"])
    clock = time.perf_counter()
    scores = ranker.predict(test)
    score_seconds = time.perf_counter() - clock
    found = evaluate(test, scores, metrics=task.measures, profile=task.profile, threads=1)
    return replace(
        trial,
        score_seconds=score_seconds,
        test=dict(found),
        per_query=found.per_query,
        query_ids=found.query_ids,
        query_counts={name: getattr(found, name) for name in QUERY_COUNTS},
    )


def _measured(task: Task, data: Dataset, ranker: Ranker) -> Mapping[str, float]:
    wanted = dict.fromkeys((*task.measures, task.select))
    return evaluate(data, ranker.predict(data), metrics=list(wanted), profile=task.profile, threads=1)


@lru_cache(maxsize=3)
def open_part(path: Path) -> Dataset:
    """A part of a fold, mapped into memory; the parts of the last fold stay open."""
    return Dataset.open(path)


def history_of(ranker: Ranker) -> list[dict[str, Any]]:
    """What a ranker wrote down in each epoch, generation or round, as rows.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> history_of(SimpleNamespace(valid_history_=[0.5, 0.75]))
    [{'round': 1, 'valid': 0.5}, {'round': 2, 'valid': 0.75}]
    """
    rows = getattr(ranker, "history_", [])
    if rows and isinstance(rows[0], dict):
        return [dict(row) for row in rows]
    if rows and hasattr(rows[0], "_asdict"):
        return [{"generation": number, **row._asdict()} for number, row in enumerate(rows)]
    return [{"round": number + 1, "valid": value} for number, value in enumerate(getattr(ranker, "valid_history_", []))]


def weights_of(ranker: Ranker) -> dict[str, float] | None:
    """What each feature weighs: its weight in a sum, or its share of the gain in trees; None for other rankers."""
    weigh = getattr(ranker, "feature_weights", None) or getattr(ranker, "feature_gains", None)
    return None if weigh is None else dict(weigh())
