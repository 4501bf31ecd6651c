"""Carry out a plan on all free processors, and continue where an earlier run was stopped.

The data is written once to a folder of its own and mapped into memory by every worker. Workers give trials back; the
driver alone writes them to the store, each result in one transaction as it arrives, so that a run that is killed at any
moment loses at most the trials under way.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np

from ordino.backends import Backend, Failure, open_backend
from ordino.data.arrow import write_whole, written_whole
from ordino.data.dataset import Dataset
from ordino.data.folds import Fold
from ordino.data.source import contents_hash
from ordino.errors import OrdinoError, ParameterError
from ordino.experiment.plan.contestants import settle
from ordino.experiment.plan.plan import Plan, refuse
from ordino.experiment.plan.ranker_entry import Entry
from ordino.experiment.run.scratch import scratch_folder
from ordino.experiment.run.task import Measured, Task, find_problems, measure_setting, try_setting
from ordino.experiment.run.tuning import Search
from ordino.experiment.store.kept import Kept, kept_path
from ordino.experiment.store.rankings import listed_of
from ordino.experiment.store.store import Store
from ordino.experiment.store.trial import Trial, trial_key
from ordino.metrics import find_profile, parse_metrics
from ordino.plain import count_of
from ordino.progress import Steps
from ordino.ranker import Ranker
from ordino.threads import count_threads

R = TypeVar("R")


@final
class FailedTrialsError(OrdinoError):
    """Some trials of a plan failed; ``trials`` are the others."""

    def __init__(self, message: str, trials: Sequence[Trial]) -> None:
        super().__init__(message)
        self.trials = trials


def run(
    plan: Plan, store: str | Path, *, n_jobs: int | None = None, verbose: bool = False,
    models: str | Path | None = None, documents: bool = False, rankings: int | None = None, command: str = "",
    cluster: str | None = None,
) -> list[Trial]:  # fmt: skip
    """Carry out a plan; trials that are already in the store are not repeated.

    Parameters
    ----------
    plan
        The plan; it is checked as a whole first, and parameter values are tried on a few queries of the data.
    store
        The file that trials are written to.
    n_jobs
        Number of worker processes; None takes the free processors, 1 uses only this process. The trials are the same.
    verbose
        Show progress and the remaining time in the terminal.
    models
        A folder for the model file of each trial, named by the trial's key; by default none is kept.
    documents
        Keep the test part of each fold beside the models, so that a model can be asked about its documents.
    rankings
        Keep the scores of each trial beside the store, up to this many megabytes, for ``ordino studio``; 0 keeps only
        how far the run is, None nothing.
    command
        The line that starts the same run again.
    cluster
        The address of a Ray cluster to train on instead, or "auto" for the one that runs here. The trials are the same.

    Returns
    -------
    list of Trial
        The evaluated trials of this plan, in its order, without those of other plans in the store.

    Raises
    ------
    FailedTrialsError
        Some trials failed: the message says why, and ``trials`` holds all others, which are also in the store.
    KeyboardInterrupt
        Ctrl-C stopped the run: what is done is in the store, and the same call goes on from there.
    """
    done = carry_out(
        plan, store, n_jobs=n_jobs, verbose=verbose, models=models, documents=documents, rankings=rankings,
        command=command, cluster=cluster,
    )  # fmt: skip
    if done.was_stopped:
        raise KeyboardInterrupt
    with Store(store) as opened:
        found = {trial.key: trial for trial in opened.trials(plan.name, keys=done.keys)}
    trials = [found[key] for key in done.keys if key in found]
    if done.failures:
        count = "a trial" if done.n_failed == 1 else f"{done.n_failed} trials"
        raise FailedTrialsError("\n- ".join([f"{count} failed, all others are in {store}:", *done.failures]), trials)
    return trials


@final
@dataclass
class Done:
    """What came of a plan."""

    keys: dict[str, None] = field(default_factory=dict)
    """The measured trials that the plan asks for, in its order."""
    tuning_keys: dict[str, None] = field(default_factory=dict)
    """The trials that served to choose settings."""
    failures: list[str] = field(default_factory=list)
    n_failed: int = 0
    was_stopped: bool = False  # by Ctrl-C
    n_unkept: int = 0
    """Trials whose rankings would have gone beyond the limit."""

    def fail(self, sentence: str, n_trials: int = 1) -> None:
        """Note what went wrong with one trial, or with several at once."""
        self.failures.append(sentence)
        self.n_failed += n_trials


def carry_out(
    plan: Plan, store: str | Path, *, n_jobs: int | None = None, verbose: bool = False,
    models: str | Path | None = None, documents: bool = False, rankings: int | None = None, command: str = "",
    cluster: str | None = None,
) -> Done:  # fmt: skip
    """The same as :func:`run`, without reading the trials back and without raising what failed."""
    plan.check()
    n_jobs = count_threads(n_jobs)
    if models is not None:
        Path(models).mkdir(parents=True, exist_ok=True)
    beside = nullcontext() if rankings is None else Kept(kept_path(store), megabytes=rankings)
    with Store(store) as opened, beside as kept, scratch_folder() as folder:
        keeps: dict[str, Any] = {"keeps_models": models is not None, "keeps_scores": bool(rankings)}
        tasks = [replace(task, **keeps) for task in _tasks(plan, folder)]
        refuse(find_problems(tasks))
        if models is not None and documents:
            _keep_documents(tasks, Path(models))
        with closing(open_backend(n_jobs, cluster)) as backend:
            driver = _Driver(plan, opened, backend, verbose, None if models is None else Path(models), kept)
            tasks = driver.begin(tasks, command, folder)
            ready = driver.choose_settings(tasks)
            if not driver.done.was_stopped:
                driver.measure(ready)
            driver.end()
    return driver.done


@final
@dataclass
class _Driver:
    """Hands tasks to the workers and writes what they give back."""

    plan: Plan
    store: Store
    backend: Backend
    verbose: bool
    models: Path | None
    kept: Kept | None = None
    done: Done = field(default_factory=Done)
    run: int = 0  # its number beside the store
    failures: list[dict[str, str]] = field(default_factory=list)

    def begin(self, tasks: Sequence[Task], command: str, folder: Path) -> list[Task]:
        """Note beside the store what is to be done; the tasks as workers get them, who then tell how far they are."""
        if self.kept is None:
            return list(tasks)
        told = folder / "under-way"
        told.mkdir()
        cells = [
            {
                "dataset": one.dataset,
                "fold": one.fold,
                "label": one.entry.name,
                "profile": one.profile,
                "data": one.data,
            }
            for one in tasks
        ]
        self.run = self.kept.begin_run(self.plan.name, command, os.getpid(), str(told), cells)
        return [replace(task, reports=told) for task in tasks]

    def end(self) -> None:
        """Note beside the store that the run is over; sums that an earlier version did not write are in it now."""
        self.store.add()
        if self.kept is None:
            return
        self.kept.end_run(self.run)
        if self.done.n_unkept and self.verbose:
            n = count_of(self.done.n_unkept, "trial")
            told = f"{self.kept.path.name} has reached its limit; raise it with --rankings, and run into a new store"
            sys.stderr.write(f"the rankings of {n} were not kept: {told}\n")

    def choose_settings(self, tasks: Sequence[Task]) -> list[Task]:
        """The tasks with their settings; those that are to be chosen are tried on validation data first."""
        searches = {place: Search(task, self.store) for place, task in enumerate(tasks) if task.entry.is_tuned}
        queue: list[Task] = []
        owners: list[Search] = []

        def go_on(search: Search, found: Trial | None = None) -> None:
            try:
                if found is not None:
                    search.tell(found.key, found.valid)
                wanted = search.next_tasks()
            except OrdinoError as error:
                self.done.fail(str(error))
                return
            queue.extend(wanted)
            owners.extend([search] * len(wanted))

        def receive(number: int, found: Trial) -> None:
            self.store.add(found)
            go_on(owners[number], found)

        for search in searches.values():
            go_on(search)
        n_left = sum(search.n_left for search in searches.values())
        self._work_through(try_setting, queue, "settings", n_left, receive)
        for search in searches.values():
            self.done.tuning_keys |= dict.fromkeys(search.keys)
        chosen = {place: search.chosen for place, search in searches.items()}
        settings = [chosen.get(place, task.entry.params) for place, task in enumerate(tasks)]
        return [replace(task, params=own) for task, own in zip(tasks, settings, strict=True) if own is not None]

    def measure(self, tasks: Sequence[Task]) -> None:
        """Train and measure what the store does not have yet."""
        missing: list[Task] = []
        for task in tasks:
            ranker = task.ranker()
            seeds = _seeds(self.plan, task, ranker)
            self.done.keys |= dict.fromkeys(task.key(seed) for seed in seeds)
            left = [seed for seed in seeds if not self._is_made(task.key(seed))]
            together = type(ranker).fit_repeats is not Ranker.fit_repeats
            missing += [replace(task, seeds=tuple(some)) for some in ([left] if together else zip(left)) if some]

        def receive(number: int, found: list[Measured]) -> None:
            for one in found:
                if self.models is not None and one.model is not None:
                    write_whole(model_path(self.models, one.trial.key), one.model)
                self._keep(missing[number], one)
            self.store.add(*(one.trial for one in found))

        self._work_through(measure_setting, missing, "trials", len(missing), receive)

    def _work_through(
        self, function: Callable[[Task], R], tasks: Sequence[Task], label: str, total: int,
        receive: Callable[[int, R], None],
    ) -> None:  # fmt: skip
        """Let the workers do the tasks, which may become more on the way, and receive what they give back."""
        if not tasks:
            return
        with Steps(label, total, verbose=self.verbose, kept="what is done", announced=True) as steps:
            for _, (number, found) in zip(steps, self.backend.map(function, tasks), strict=False):
                if isinstance(found, Failure):
                    self.done.fail(found.sentence, len(tasks[number].seeds))
                    self._note_failure(tasks[number], found.sentence)
                else:
                    receive(number, found)
        self.done.was_stopped = steps.interrupted

    def _keep(self, task: Task, one: Measured) -> None:
        """Put the rankings of a trial beside the store, while there is room."""
        test = task.part("test")
        if self.kept is None or one.scores is None or test is None:
            return
        fits = self.kept.add_lists(task.data, listed_of(test))
        self.done.n_unkept += not (fits and self.kept.add_scores(one.trial.key, test.offsets, one.scores))

    def _note_failure(self, task: Task, sentence: str) -> None:
        if self.kept is not None:
            cell = {"dataset": task.dataset, "fold": task.fold, "label": task.entry.name, "sentence": sentence}
            self.failures.append(cell)
            self.kept.note_failures(self.run, self.failures)

    def _is_made(self, key: str) -> bool:
        return key in self.store and (self.models is None or model_path(self.models, key).exists())


def model_path(folder: str | Path, key: str) -> Path:
    """Where the model of a trial is kept."""
    return Path(folder) / f"{key}.ordino"


def documents_path(folder: str | Path, data: str) -> Path:
    """Where the test part of a fold is kept, by the fold's fingerprint."""
    return Path(folder) / f"{data}.arrow"


def _keep_documents(tasks: Sequence[Task], models: Path) -> None:
    for data, file in {task.data: task.files["test"] for task in tasks}.items():
        target = documents_path(models, data)
        if not target.exists():
            with written_whole(target) as draft:
                shutil.copyfile(file, draft)


def _tasks(plan: Plan, folder: Path) -> Iterator[Task]:
    """Every entry on every fold, whose parts are written to files that workers can map into memory."""
    for name, folds in plan.collections():
        for number, fold in enumerate(folds):
            home = folder / trial_key(name=name, number=number)
            home.mkdir()
            parts = {part: own for part, own in fold._asdict().items() if isinstance(own, Dataset)}
            files = {part: home / f"{part}.arrow" for part in parts}
            for part, file in files.items():
                parts[part].save(file)
            by_id = find_profile(plan.profile).ties == "docno"
            data = trial_key(parts=[contents_hash(part, by_id=by_id) for part in fold[1:]])
            for entry in plan.entries():
                if fold.valid is None and (entry.is_tuned or "valid" in plan.parts):
                    purpose = f"tune {entry.name} on" if entry.is_tuned else "measure"
                    raise ParameterError(
                        f"{name}, {fold.name}: there is no validation part to {purpose}; add a vali.txt to each fold"
                    )
                own, competing = (files, entry) if not entry.kind else _settled(entry, fold, folds.whole, home, files)
                yield Task(
                    experiment=plan.name, dataset=name, fold=fold.name, data=data, files=own, entry=competing,
                    measures=tuple(str(one) for one in parse_metrics(plan.measures)), profile=plan.profile,
                    select=plan.selection, seeds=(plan.seed,), parts=tuple(plan.parts),
                )  # fmt: skip


def _settled(
    entry: Entry, fold: Fold, whole: Dataset | None, home: Path, files: Mapping[str, Path]
) -> tuple[dict[str, Path], Entry]:
    """The files of a fold with the scores of a contestant that is not trained, and its entry for the fold."""
    params, scores = settle(entry.ranker, fold, whole)
    own = dict(files)
    if scores is not None:
        own["scores"] = home / f"{params['contents']}.npy"
        np.save(own["scores"], scores)
    return own, replace(entry, params=params)


def _seeds(plan: Plan, task: Task, ranker: Ranker) -> Sequence[int]:
    """The seeds to repeat with; a ranker in which nothing is random, or whose seeds the plan fixes, is trained once."""
    is_free = any(name.rpartition("__")[2] == "seed" and name not in task.params for name in ranker.get_params())
    return plan.seeds_of(task.entry) if is_free and ranker.is_random else [plan.seed]
