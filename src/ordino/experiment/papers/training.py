"""What tables and figures are made from: rankers trained on folds, on all cores, each once, and kept if asked to.

A ranker is written to model files as soon as it is trained. Targets that need the same one share it, and with a folder
to keep the files in, a run that was stopped goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, final

from sklearn.base import clone

from ordino.data.folds import Fold
from ordino.errors import OrdinoError
from ordino.experiment.trial import fingerprint, installed_versions, trial_key
from ordino.experiment.work import open_part
from ordino.experiment.workers import save_parts, work_through
from ordino.interrupts import all_or_nothing
from ordino.model_file import load, read_card, save
from ordino.ranker import Ranker

if TYPE_CHECKING:
    from ordino.experiment.papers.request import Request

Key = tuple[Hashable, ...]


class Wanted(NamedTuple):
    """A ranker to train on a fold, once with each seed."""

    ranker: Ranker
    fold: Fold
    seeds: Sequence[int]

    def key(self) -> Key:
        """What makes it the same as another."""
        data = (fingerprint(self.fold.train), fingerprint(self.fold.valid))
        return (*data, type(self.ranker).__name__, repr(sorted(self.ranker.get_params().items())), *self.seeds)


class Repeats(NamedTuple):
    """One ranker on one fold, trained."""

    rankers: list[Ranker]
    """One of each seed."""
    seconds: float
    """What training them took."""


@final
@dataclass
class Trained:
    """What there is so far."""

    repeats: dict[Key, Repeats] = field(default_factory=dict)
    used: list[Key] = field(default_factory=list)
    """What was asked for, each time that it was."""
    waited: float = 0.0
    """Seconds until it was there, on however many cores."""


@final
@dataclass(frozen=True)
class Task:
    """What a worker must know."""

    ranker: Ranker
    seeds: Sequence[int]
    fold: str
    parts: dict[str, Path]
    files: list[Path]
    """The model of each seed, which is there as soon as it is trained."""

    def __str__(self) -> str:
        return f"{type(self.ranker).__name__} on {self.fold}"

    def is_done(self) -> bool:
        """Whether all is there."""
        return all(file.exists() for file in self.files)


def fit_seeds(ranker: Ranker, fold: Fold, seeds: Iterable[int], request: Request) -> Repeats:
    """One fitted ranker for each seed, trained now unless it is there already."""
    wanted = Wanted(ranker, fold, list(seeds))
    key = wanted.key()
    if key not in request.trained.repeats:
        train_ahead([wanted], request)
    request.trained.used.append(key)
    return request.trained.repeats[key]


def train_ahead(several: Iterable[Wanted], request: Request) -> None:
    """Train all that is not there yet, in as many processes as the request allows."""
    start = time.perf_counter()
    with TemporaryDirectory(prefix="ordino-") as scratch:
        tasks = dict(_tasks(several, request, Path(scratch)))
        missing = [task for task in tasks.values() if not task.is_done()]
        n_jobs = request.n_jobs if len(missing) > 1 else 1
        kept = "nothing" if request.kept is None else "what is done"
        outcomes = work_through(train, missing, "training", n_jobs, request.verbose, kept=kept)
        if len(outcomes) < len(missing):
            raise KeyboardInterrupt
        failures = [one.failure for one in outcomes if one.failure]
        if failures:
            raise OrdinoError("\n- ".join(["training failed:", *failures]))
        for key, task in tasks.items():
            seconds = read_card(task.files[0])["notes"]["seconds"]
            request.trained.repeats[key] = Repeats([load(file) for file in task.files], seconds)
    request.trained.waited += time.perf_counter() - start


def train(task: Task) -> None:
    """Fit one ranker for each seed, together where the ranker can do so, and write them down."""
    data, valid = open_part(task.parts["train"]), task.parts.get("valid")
    held_out = None if valid is None else open_part(valid)
    start = time.perf_counter()
    fitted: list[Ranker] = []
    if type(task.ranker).fit_repeats is not Ranker.fit_repeats:
        with all_or_nothing():
            fitted += task.ranker.fit_repeats(data, task.seeds, valid=held_out)
    else:
        for seed in task.seeds:
            with all_or_nothing():
                fitted.append(_seeded(task.ranker, seed).fit(data, valid=held_out))
    notes = {"seconds": time.perf_counter() - start}
    task.files[0].parent.mkdir(parents=True, exist_ok=True)
    for ranker, file in zip(fitted, task.files, strict=True):
        save(ranker, file, notes=notes)


def _tasks(several: Iterable[Wanted], request: Request, scratch: Path) -> Iterator[tuple[Key, Task]]:
    """What is not in memory yet; a fold is written for the workers where one of them needs it."""
    for wanted in several:
        key = wanted.key()
        if key in request.trained.repeats:
            continue
        home = (request.kept or scratch / "trained") / trial_key(key=key, versions=installed_versions())
        files = [home / f"{seed}.ordino" for seed in wanted.seeds]
        task = Task(wanted.ranker, wanted.seeds, wanted.fold.name, {}, files)
        if not task.is_done():
            parts = scratch / trial_key(data=key[:2])
            if not parts.exists():
                parts.mkdir()
                save_parts(wanted.fold, parts, ("train", "valid"))
            task.parts.update((file.stem, file) for file in parts.iterdir())
        yield key, task


def _seeded(ranker: Ranker, seed: int) -> Ranker:
    """A copy with this seed, in whatever it is made of."""
    copy: Ranker = clone(ranker)
    names = [name for name in copy.get_params() if name.split("__")[-1] == "seed"]
    copy.set_params(**dict.fromkeys(names, seed))
    return copy
