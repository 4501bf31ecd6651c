"""Work on all cores: tasks go to processes of one thread each, since processes that fight for cores are slow.

A worker ends with Ctrl-C and when the process that started it is gone. What a task leaves behind, it writes to disk
itself, so that a run that is killed loses at most the tasks under way.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold
from ordino.errors import OrdinoError
from ordino.progress import Steps

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
Task = TypeVar("Task")
"""Small, for it is sent to the worker; what is written out tells a person which one failed."""


class Outcome(NamedTuple):
    """What came out of a task: a value, or what went wrong."""

    value: Any
    failure: str = ""


def work_through(
    function: Callable[[Task], Any],
    tasks: Sequence[Task],
    label: str,
    n_jobs: int,
    verbose: bool,
    *,
    kept: str = "what is done",
) -> list[Outcome]:
    """The outcome of each task, in their order; fewer where Ctrl-C came first."""
    outcomes: dict[int, Outcome] = {}
    if tasks:
        work = _here if n_jobs == 1 else partial(_in_processes, n_jobs=min(n_jobs, len(tasks)))
        with Steps(label, len(tasks), verbose=verbose, kept=kept) as steps:
            for _, (number, outcome) in zip(steps, work(function, tasks), strict=True):
                outcomes[number] = outcome
    return [outcomes[number] for number in sorted(outcomes)]


def save_parts(fold: Fold, home: Path, parts: Sequence[str] = ("train", "valid", "test")) -> dict[str, Path]:
    """Write parts of a fold, as far as it has them, to files that workers can map into memory."""
    files = {}
    for part in parts:
        data: Dataset | None = getattr(fold, part)
        if data is not None:
            files[part] = home / f"{part}.arrow"
            data.save(files[part])
    return files


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
