"""The seam between those who have tasks and those who work on them: tasks go in, results come out as they finish.

A backend only works. What becomes of the results, such as a row in a store, is the business of whoever asked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, final

from ordino.errors import OrdinoError

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What tells every library to use one thread, since workers that fight for cores are slow."""

T = TypeVar("T")
R = TypeVar("R")


@final
@dataclass(frozen=True)
class Failure:
    """What went wrong with a task, in a sentence."""

    sentence: str


class Backend(Protocol):
    """Runs tasks and returns their results.

    A task that reads files names them in a field ``files``, a mapping to paths: a worker on another machine gets them
    there under other paths.
    """

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        """The number of each task with its result, as they finish; the caller may append tasks meanwhile."""

    def close(self) -> None:
        """Stop the workers."""


def attempt(function: Callable[[T], R], task: T) -> R | Failure:
    """The result of a task, or the sentence that says what went wrong."""
    try:
        return function(task)
    except Exception as error:
        kind = "" if isinstance(error, OrdinoError) else f"{type(error).__name__}: "
        return Failure(f"{task}: {kind}{error}")
