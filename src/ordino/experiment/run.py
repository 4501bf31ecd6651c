"""Carries out a plan on all cores, and goes on where an earlier run was stopped.

The data is written once to a folder of its own and mapped into memory by every worker process. A worker writes each
trial to the store in one transaction before it takes the next, so that a run that is killed at any moment loses at most
the trials under way. Workers have one thread each: processes that fight for cores would only slow each other down.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold
from ordino.errors import OrdinoError, ParameterError
from ordino.experiment.plan import Plan, refuse
from ordino.experiment.rehearsal import rehearse
from ordino.experiment.search import choose_setting
from ordino.experiment.store import Store
from ordino.experiment.trial import Trial, fingerprint, trial_key
from ordino.experiment.work import Task, measure_trial
from ordino.metrics import parse_metrics
from ordino.progress import Steps
from ordino.rankers.parameters import check_int

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Outcome(NamedTuple):
    """What came out of a task: a value, or what went wrong."""

    value: Any
    failure: str = ""


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
        The measured trials of the plan, and none that the store has from other plans. If some failed, all others are in
        the store, and the error that is raised tells what went wrong with each.
    """
    plan.check()
    n_jobs = check_int("n_jobs", (os.cpu_count() or 1) if n_jobs is None else n_jobs, low=1)
    with Store(store), TemporaryDirectory(prefix="ordino-") as folder:  # the store is made, or refused, before work
        tasks = _tasks(plan, Path(store), Path(folder))
        refuse(rehearse(tasks))
        tuned = [task for task in tasks if task.entry.is_tuned]
        chosen = _all(choose_setting, tuned, "settings", n_jobs, verbose)
        ready = [replace(task, params=task.entry.params) for task in tasks if not task.entry.is_tuned]
        ready += [replace(task, params=one.value) for task, one in zip(tuned, chosen, strict=False) if not one.failure]
        repeated = [replace(task, seed=seed) for task in ready for seed in _seeds(plan, task)]
        was_stopped = len(chosen) < len(tuned)
        measured = [] if was_stopped else _all(measure_trial, repeated, "trials", n_jobs, verbose)
    failures = [one.failure for one in (*chosen, *measured) if one.failure]
    if failures:
        count = "a trial" if len(failures) == 1 else f"{len(failures)} trials"
        raise OrdinoError("\n- ".join([f"{count} failed, all others are in {store}:", *failures]))
    wanted = {task.key() for task in repeated}
    with Store(store) as done:
        return [trial for trial in done.trials(plan.name) if trial.key in wanted]


def _tasks(plan: Plan, store: Path, folder: Path) -> list[Task]:
    """Every entry on every fold, whose parts are written to files that workers can map."""
    tasks = []
    for name, source in plan.sources().items():
        for number, fold in enumerate(plan.open_folds(source)):
            home = folder / trial_key(name=name, number=number)
            home.mkdir()
            files = dict(_save(fold, home))
            prints = trial_key(parts=[fingerprint(part) for part in fold[1:]])
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


def _save(fold: Fold, home: Path) -> Iterator[tuple[str, Path]]:
    for part in ("train", "valid", "test"):
        data: Dataset | None = getattr(fold, part)
        if data is not None:
            data.save(home / f"{part}.arrow")
            yield part, home / f"{part}.arrow"


def _seeds(plan: Plan, task: Task) -> Sequence[int]:
    """The seeds to repeat with; a ranker without chance, or whose own parameters fix its seeds, is trained once."""
    names = task.ranker().get_params()
    is_free = any(name.rpartition("__")[2] == "seed" and name not in task.params for name in names)
    return plan.seeds if is_free else plan.seeds[:1]


def _all(
    function: Callable[[Task], Any], tasks: Sequence[Task], label: str, n_jobs: int, verbose: bool
) -> list[Outcome]:
    """The outcome of each task, in their order; fewer where Ctrl-C came first."""
    outcomes: dict[int, Outcome] = {}
    if tasks:
        work = _here if n_jobs == 1 else partial(_in_processes, n_jobs=min(n_jobs, len(tasks)))
        with Steps(label, len(tasks), verbose=verbose, kept="what is done") as steps:
            for _, (number, outcome) in zip(steps, work(function, tasks), strict=True):
                outcomes[number] = outcome
    return [outcomes[number] for number in sorted(outcomes)]


def _here(function: Callable[[Task], Any], tasks: Sequence[Task]) -> Iterator[tuple[int, Outcome]]:
    for number, task in enumerate(tasks):
        yield number, _attempt(function, task)


def _in_processes(function: Callable[[Task], Any], tasks: Sequence[Task], n_jobs: int) -> Iterator[tuple[int, Outcome]]:
    with _one_thread_each():
        pool = ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn"), initializer=_start_worker)
        try:
            with _interrupts_waiting():
                futures = {pool.submit(_attempt, function, task): number for number, task in enumerate(tasks)}
            for future in as_completed(futures):
                yield futures[future], future.result()
            pool.shutdown()
        except BrokenProcessPool:
            raise OrdinoError(
                "a worker process died, perhaps for want of memory; run again with fewer n_jobs to go on from here"
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _attempt(function: Callable[[Task], Any], task: Task) -> Outcome:
    try:
        return Outcome(function(task))
    except OrdinoError as error:
        return Outcome(None, f"{task}: {error}")
    except Exception as error:
        return Outcome(None, f"{task}: {type(error).__name__}: {error}")


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start now use one thread in every library."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_waiting() -> Iterator[None]:
    """Ctrl-C waits, here and in processes that start now, which are to be ready for it first (not on Windows)."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:  # pragma: no cover  (in another process; the test that kills a run sees what it does)
    """A worker ends at once with Ctrl-C, and when the process that started it is gone."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
