"""Plans of papers carried out without training: trials whose values are a hash of all that they say of themselves.

A view that takes the wrong part, metric, fold, seed or label then shows another number, in milliseconds.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ordino.evolve.evolved import EvolvedRanker
from ordino.experiment.papers import catalogue
from ordino.experiment.papers.target import Request, Trials
from ordino.experiment.run.driver import Done, _seeds, _tasks
from ordino.experiment.run.task import Task
from ordino.experiment.store import Store, Trial
from ordino.networks.comparing import Comparator
from ordino.networks.learning_sets import LearningSet
from ordino.ranker import Ranker

N_STEPS = 25  # rows of a history: more than any view shows


def hashed(*names: Any) -> np.random.Generator:
    """Numbers that belong to these names alone."""
    return np.random.default_rng(int(sha256(repr(names).encode()).hexdigest()[:15], 16))


def made_trial(task: Task, seed: int) -> Trial:
    """A trial of this task with values of its own for every part, metric and step."""
    who = task.dataset, task.fold, task.entry.name, str(dict(task.params)), seed, task.profile
    parts = {name: task.part(name) for name in ("train", "valid", "test") if name in task.files}

    def values(part: str) -> dict[str, Any]:
        return {metric: hashed(*who, part, metric).random(parts[part].n_queries) for metric in task.measures}

    test = values("test")
    names = [
        "best",
        "error",
        "train",
        "valid",
        *(f"{of}_{what}" for of in ("train", "valid") for what in ("known", "new")),
    ]
    names += [f"{what}_{layer}" for what in ("mean", "std") for layer in ("1", "2", "3", "4", "out")]
    last = int(hashed(*who, "still").integers(N_STEPS))  # step that changes the training error
    drawn = hashed(*who, "steps").random((N_STEPS, len(names))).tolist()
    steps = [
        {"iteration": i, "epoch": i + 1, **dict(zip(names, row, strict=True))}
        | {"train_known": 10 * i + seed % 7, "valid_known": 5 * i}
        | {"mistakes": max(last - i, 0), "wrong_pairs": max(last - i, 0) / 100}
        for i, row in enumerate(drawn)
    ]
    chosen = dict.fromkeys((*task.measures, task.select))
    return Trial(
        **task.identity(), key=task.key(seed), seed=seed, is_random=task.ranker().is_random,
        train_seconds=float(hashed(*who, "seconds").random()),
        valid={one: float(hashed(*who, "valid", one).random()) for one in chosen} if "valid" in parts else {},
        test={metric: float(column.mean()) for metric, column in test.items()}, per_query=test,
        query_ids=parts["test"].query_ids, history=steps, parts={part: values(part) for part in task.parts},
    )  # fmt: skip


def unlearned(task: Task, seed: int) -> Ranker:
    """The task's ranker as if it had learned: a network with its first weights, or weights by a formula."""
    ranker = task.ranker().with_seed(seed)
    prepared, _ = ranker._prepare(task.part("train"), None)
    if isinstance(ranker, Comparator):
        none = LearningSet(np.empty(0, np.int64), np.empty(0))
        ranker.network_ = ranker._plain(ranker._fresh(prepared.X, none, seed).layers())
    else:
        assert isinstance(ranker, EvolvedRanker)
        ranker.coef_ = hashed(task.fold, seed).random(prepared.n_features) - 0.5
    return ranker


def reproduced(name: str, request: Request, monkeypatch: Any, folder: Path) -> Any:
    """The page of a target over trials that nobody trained."""
    made: dict[str, tuple[Task, int]] = {}
    scratch = Path(tempfile.mkdtemp(dir=folder))

    def carry_out(plan: Any, store: Any, **_: Any) -> Done:
        done = Done()
        place = Path(tempfile.mkdtemp(dir=scratch))
        trials = []
        for task in _tasks(plan, place):
            first = {one: values[0] for one, values in (task.entry.grids or [{}])[0].items()}
            task = replace(task, params={**first, **task.entry.params})
            for seed in _seeds(plan, task, task.ranker()):
                made[task.key(seed)] = task, seed
                done.keys[task.key(seed)] = None
                trials.append(made_trial(task, seed))
        with Store(store) as opened:
            opened.add(*trials)
        return done

    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "carry_out", carry_out)
        patch.setattr(Trials, "ranker", lambda _, trial: unlearned(*made[trial.key]))
        return catalogue.reproduce(name, request)
