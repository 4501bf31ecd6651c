"""Workers that stay: each has a part of the data before it, and does what it is told, as often as it is told.

Where :mod:`~ordino.backends.seam` hands out tasks to whoever is free, a crew is for work whose data is too much to be
read again and again: one training, divided. What a worker is told is a function of its bench. Calls that change the
bench for good are few; they are remembered, so that a worker that takes over from a dead one can be told them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, final

from ordino.backends.seam import Failure
from ordino.data.dataset import Dataset
from ordino.data.on_disk import Room, working_in
from ordino.errors import OrdinoError


@final
class Bench:
    """What a worker has before it: its parts of data sets by their names, on disk, and what it made of them."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.address = address  # at which other workers can speak to this one
        self._folder = TemporaryDirectory(prefix="ordino-rows-", ignore_cleanup_errors=True)
        self.room = Room(Path(self._folder.name))
        self.data: dict[str, Dataset] = {}
        self.made: dict[str, Any] = {}

    def do(self, function: Callable[..., Any], given: Sequence[Any]) -> Any:
        """What a function of this bench gives, or the failure that says what went wrong."""
        try:
            with working_in(self.room):
                return function(self, *given)
        except OrdinoError as error:
            return Failure(str(error))
        except OSError as error:
            return Failure(f"a worker cannot go on ({error.strerror or error})")
        except Exception as error:
            return Failure(f"a worker failed with {type(error).__name__}: {error}")

    def clear(self) -> None:
        """Give back memory and disk."""
        self.made.clear()
        self.data.clear()
        self.room.close()
        self._folder.cleanup()


class Crew(Protocol):
    """Several workers, each with a bench of its own."""

    def __len__(self) -> int:
        """The number of workers."""

    def each(
        self, function: Callable[..., Any], *shared: Any, own: Sequence[Any] | None = None,
        among: Sequence[int] | None = None, lasting: bool = False, once: bool = False,
    ) -> list[Any]:  # fmt: skip
        """What ``function(bench, *shared)`` gives, in the order of the workers; what fails raises its sentence.

        With ``own``, it is ``function(bench, own[i], *shared)``; with ``among``, only these workers are asked. A call
        is ``lasting`` if it changes the bench for the calls after it. One that is made ``once`` is made by all workers
        at the same time and cannot be made again: if one of them dies, an error says so.
        """

    def shrink(self, n_workers: int) -> None:
        """Let all but the first workers go."""
