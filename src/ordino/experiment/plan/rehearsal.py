"""Every setting of a plan is tried on a few queries before anything runs, so that no wrong value is told hours later.

Rankers check their parameters when they are fitted. Fitting them on three queries, with two epochs or rounds, asks the
same questions and takes little more time than loading what they are made of.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ordino.data.dataset import Dataset
from ordino.errors import MissingExtraError, ParameterError
from ordino.experiment.plan.ranker_entry import Entry
from ordino.experiment.plan.space import Range, Space
from ordino.experiment.run.task import Task, open_part
from ordino.interrupts import all_or_nothing

QUERIES = 3
BRIEF = 2
LENGTHS = (
    "epochs",
    "rounds",
    "generations",
    "max_iter",
    "restarts",
    "n_pairs",
    "n_valid_pairs",
    "pretraining",
    "bags",
    "n",
)
"""Parameters that say how long a ranker learns; none is more than :data:`BRIEF` here."""


def rehearse(tasks: Sequence[Task]) -> list[str]:
    """What is wrong with the parameters of the tasks' entries, a sentence each."""
    problems: dict[str, None] = {}
    first = {(task.dataset, task.entry.name): task for task in reversed(tasks)}
    for task in reversed(first.values()):
        for params in _settings(task.entry):
            try:
                _try(replace(task, params=params))
            except (ParameterError, MissingExtraError) as error:
                problems[f"{task.entry.name}: {error}"] = None
            except Exception:  # of too few queries, perhaps; if not, the trial itself will tell
                continue
    return list(problems)


def _try(task: Task) -> None:
    ranker = task.ranker()
    lengths = {
        name: BRIEF
        for name, value in ranker.get_params().items()
        if name.rpartition("__")[2] in LENGTHS and isinstance(value, int) and value > BRIEF
    }
    parts = {name: _few(open_part(path)) for name, path in task.files.items()}
    with warnings.catch_warnings(), all_or_nothing():
        warnings.simplefilter("ignore")
        ranker.set_params(**lengths).fit(parts["train"], valid=parts.get("valid"))


def _few(data: Dataset) -> Dataset:
    return data.select_queries(np.arange(min(QUERIES, data.n_queries)))


def _settings(entry: Entry) -> Iterator[dict[str, Any]]:
    """Every value that the plan names, once: all others as they come first. Nothing where all is left to defaults."""
    values: Mapping[str, Sequence[Any]] = entry.grid
    if entry.trials and entry.space:
        values = {name: _ends(space) for name, space in entry.search_space().items()}
    first = {name: several[0] for name, several in values.items()} | dict(entry.params)
    if first:
        yield first
    for name, several in values.items():
        for value in several[1:]:
            yield first | {name: value}


def _ends(space: Space) -> Sequence[Any]:
    return (space.low, space.high) if isinstance(space, Range) else space.values
