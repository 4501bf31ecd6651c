"""Carries out a plan on all cores, and goes on where an earlier run was stopped.

The data is written once to a folder of its own and mapped into memory by every worker process. A worker writes each
trial to the store in one transaction before it takes the next, so that a run that is killed at any moment loses at most
the trials under way.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import final

from ordino.checks import check_int
from ordino.data.fingerprint import contents_hash
from ordino.errors import OrdinoError, ParameterError
from ordino.experiment.plan.plan import Plan, refuse
from ordino.experiment.plan.rehearsal import rehearse
from ordino.experiment.run.task import Task, measure_trial
from ordino.experiment.run.tuning import choose_setting
from ordino.experiment.run.workers import save_parts, work_through
from ordino.experiment.store.store import Store
from ordino.experiment.store.trial import Trial, trial_key
from ordino.metrics import parse_metrics


@final
class FailedTrialsError(OrdinoError):
    """Some trials of a plan failed; ``trials`` are the others."""

    def __init__(self, message: str, trials: Sequence[Trial]) -> None:
        super().__init__(message)
        self.trials = trials


def run(plan: Plan, store: str | Path, *, n_jobs: int | None = None, verbose: bool = False) -> list[Trial]:
    """Carry out a plan; trials that are in the store already are not made again.

    Parameters
    ----------
    plan
        What to do; it is checked as a whole first, the values of parameters on a few queries of the data.
    store
        The file that the trials go to.
    n_jobs
        Worker processes; None takes the processors there are, 1 works in this process. The trials are the same.
    verbose
        Show progress and the time left on a terminal.

    Returns
    -------
    list of Trial
        The measured trials of the plan, and none that the store has from other plans.

    Raises
    ------
    FailedTrialsError
        Some failed: it tells what went wrong with each, and has all others, which are in the store.
    """
    plan.check()
    n_jobs = check_int("n_jobs", (os.cpu_count() or 1) if n_jobs is None else n_jobs, low=1)
    with Store(store), TemporaryDirectory(prefix="ordino-") as folder:  # the store is made, or refused, before work
        tasks = _tasks(plan, Path(store), Path(folder))
        refuse(rehearse(tasks))
        tuned = [task for task in tasks if task.entry.is_tuned]
        chosen = work_through(choose_setting, tuned, "settings", n_jobs, verbose)
        ready = [replace(task, params=task.entry.params) for task in tasks if not task.entry.is_tuned]
        ready += [replace(task, params=one.value) for task, one in zip(tuned, chosen, strict=False) if not one.failure]
        repeated = [replace(task, seed=seed) for task in ready for seed in _seeds(plan, task)]
        was_stopped = len(chosen) < len(tuned)
        measured = [] if was_stopped else work_through(measure_trial, repeated, "trials", n_jobs, verbose)
    failures = [one.failure for one in (*chosen, *measured) if one.failure]
    wanted = {task.key() for task in repeated}
    with Store(store) as done:
        trials = [trial for trial in done.trials(plan.name) if trial.key in wanted]
    if failures:
        count = "a trial" if len(failures) == 1 else f"{len(failures)} trials"
        raise FailedTrialsError("\n- ".join([f"{count} failed, all others are in {store}:", *failures]), trials)
    return trials


def _tasks(plan: Plan, store: Path, folder: Path) -> list[Task]:
    """Every entry on every fold, whose parts are written to files that workers can map."""
    tasks = []
    for name, folds in plan.collections():
        for number, fold in enumerate(folds):
            home = folder / trial_key(name=name, number=number)
            home.mkdir()
            files = save_parts(fold, home)
            prints = trial_key(parts=[contents_hash(part) for part in fold[1:]])
            for entry in plan.entries():
                if entry.is_tuned and fold.valid is None:
                    raise ParameterError(
                        f"{name}, {fold.name}: there is no validation part to tune {entry.name} on; add one"
                    )
                tasks.append(
                    Task(
                        store=store.absolute(),
                        experiment=plan.name,
                        dataset=name,
                        fold=fold.name,
                        fingerprint=prints,
                        files=files,
                        entry=entry,
                        measures=tuple(str(one) for one in parse_metrics(plan.measures)),
                        profile=plan.profile,
                        select=plan.selection,
                        seed=plan.seed,
                    )
                )
    return tasks


def _seeds(plan: Plan, task: Task) -> Sequence[int]:
    """The seeds to repeat with; a ranker without chance, or whose own parameters fix its seeds, is trained once."""
    names = task.ranker().get_params()
    is_free = any(name.rpartition("__")[2] == "seed" and name not in task.params for name in names)
    return plan.seeds if is_free else plan.seeds[:1]
