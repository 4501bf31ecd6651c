"""Tasks worked on by this machine: in this process, or in several of one thread each.

A worker process ends with Ctrl-C, and when the process that started it is gone.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any, final

from ordino.backends.seam import ONE_THREAD, Backend, Failure, R, T, attempt
from ordino.errors import OrdinoError


def local_backend(n_jobs: int) -> Backend:
    """A backend of one job in this process, or of several worker processes."""
    return InProcess() if n_jobs == 1 else LocalProcesses(n_jobs)


@final
class InProcess:
    """One task after the other, in this process."""

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        """The results in the order of the tasks."""
        number = 0
        while number < len(tasks):
            yield number, attempt(function, tasks[number])
            number += 1

    def close(self) -> None:
        """Nothing is open."""


@final
class LocalProcesses:
    """Processes of this machine with one thread each, since threads that fight for cores are slow."""

    def __init__(self, n_jobs: int) -> None:
        self._is_busy = False
        self._pool = ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn"), initializer=_start_worker)

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        """The results as they come."""
        number = 0
        under_way: dict[Future[Any], int] = {}
        try:
            while number < len(tasks) or under_way:
                with _one_thread_each(), _interrupts_waiting():
                    while number < len(tasks):
                        under_way[self._pool.submit(attempt, function, tasks[number])] = number
                        number += 1
                self._is_busy = True
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    yield under_way.pop(future), future.result()
            self._is_busy = False
        except BrokenProcessPool:
            raise OrdinoError(
                "a worker process died, perhaps for lack of memory; run again with fewer n_jobs to continue from here"
            ) from None
        finally:
            for future in under_way:
                future.cancel()

    def close(self) -> None:
        """Stop the processes, also in the middle of a task, for which nobody waits any more."""
        workers = list((self._pool._processes or {}).values()) if self._is_busy else []
        self._pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start now use one thread in every library."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name in before:
            del os.environ[name]
        os.environ.update({name: value for name, value in before.items() if value is not None})


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

    def follow() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
