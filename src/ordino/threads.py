"""How many threads work, and work that is shared among them; results never depend on their number."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from multiprocessing import parent_process
from threading import Lock, local
from typing import Any, TypeVar

from ordino.checks import check_n_jobs
from ordino.processors import free_processors

Block = TypeVar("Block")
Result = TypeVar("Result")
Run = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""Calls a function on each of several blocks; results in the order of the blocks."""


def count_threads(n_jobs: int | None, *, enough: bool = True) -> int:
    """The number of threads or processes to work with: those asked for, or as many as are worth it if None.

    None is one thread where there is not ``enough`` work for more, in a thread or process that is itself one of
    several that share some work, and elsewhere one for each processor that is free now.

    Examples
    --------
    >>> count_threads(3), count_threads(None, enough=False)
    (3, 1)
    >>> count_threads(0)
    Traceback (most recent call last):
    ordino.errors.ParameterError: n_jobs=0; it must be a whole number, 1 or more, or None for as many as are worth it
    """
    chosen = check_n_jobs(n_jobs)
    if chosen is not None:
        return chosen
    is_shared = getattr(_here, "is_worker", False) or parent_process() is not None
    return free_processors() if enough and not is_shared else 1


_here = local()


def enter_worker() -> None:
    """From here on this thread is one of several that share some work: what it calls starts no others by itself."""
    _here.is_worker = True


def thread_pool(n_threads: int) -> ThreadPoolExecutor:
    """Threads that share some work; what they call starts no others unless it is told to."""
    return ThreadPoolExecutor(n_threads, initializer=enter_worker)


def was_forked() -> bool:
    """Whether this process was forked from one that had Ordino loaded: what threads that one had are gone here."""
    return _forked


def _note_fork() -> None:
    global _forked
    _forked = True


_forked = False
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def one_by_one(work: Callable[[Block], Result], blocks: Sequence[Block]) -> list[Result]:
    """Call ``work`` on every block in this thread."""
    return [work(block) for block in blocks]


@contextmanager
def worker_threads(n_jobs: int | None, n_blocks: int) -> Iterator[Run]:
    """Threads that stay for several rounds of work; none where one block, or one thread, is all there is."""
    threads = min(count_threads(n_jobs, enough=n_blocks > 1), n_blocks)
    if threads <= 1:
        yield one_by_one
        return
    with thread_pool(threads - 1) as pool:
        yield lambda work, blocks: _share(pool, threads - 1, work, blocks)


def _share(pool: ThreadPoolExecutor, n_others: int, work: Callable[[Any], Any], blocks: Sequence[Any]) -> list[Any]:
    """The calling thread and those of a pool each take the next block until none is left; results in order.

    A thread that waits for work wakes up late: meanwhile the calling one works.
    """
    if len(blocks) == 1:
        return one_by_one(work, blocks)
    results, left = [None] * len(blocks), iter(range(len(blocks)))  # its next number is given out once

    def take() -> None:
        try:
            for place in left:
                results[place] = work(blocks[place])
        except BaseException:
            deque(left, maxlen=0)  # nobody begins another block
            raise

    others = [pool.submit(take) for _ in range(min(n_others, len(blocks) - 1))]
    was_worker = getattr(_here, "is_worker", False)
    _here.is_worker = True
    try:
        take()
    finally:
        _here.is_worker = was_worker
        begun = [other for other in others if not other.cancel()]  # one that is still asleep has nothing left to do
        wait(begun)
    for other in begun:
        other.result()
    return results


def run_blocks(work: Callable[[Block], Result], blocks: Sequence[Block], n_jobs: int | None) -> list[Result]:
    """Call ``work`` on every block; results in the order of the blocks."""
    if len(blocks) == 1:
        check_n_jobs(n_jobs)
        return one_by_one(work, blocks)
    with worker_threads(n_jobs, len(blocks)) as run:
        return run(work, blocks)


BRINGING_BLAS = ("scipy.linalg", "torch")
"""Modules that bring a library for matrix products of their own."""


@lru_cache(maxsize=1)
def _libraries(_: tuple[bool, ...]) -> Any:
    """The libraries that are loaded; looking for them takes milliseconds, so it is done again only after an import."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


class _Products:
    """Numpy's matrix products on the thread that asks for them, while anybody is inside."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    @contextmanager
    def on_one_thread(self) -> Iterator[None]:
        """Work is shared block by block, not inside a product: one that is cut for several threads rounds otherwise."""
        with self._lock:
            if self._inside == 0:
                self._limit = _libraries(tuple(name in sys.modules for name in BRINGING_BLAS)).limit(
                    limits=1, user_api="blas"
                )
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._limit.restore_original_limits()


products = _Products()
"""A setting of the whole process, so that there is one."""
