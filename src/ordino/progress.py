"""Long work shows where it is, and stops cleanly.

A loop over :class:`Steps` draws a bar on a terminal (nothing in a pipe or a log file), and after Ctrl-C it ends as
if that had been the last step, so that what was learned so far is kept. So do the loops around it and those of threads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self, final

from ordino.interrupts import PRESSES

if TYPE_CHECKING:
    from rich.progress import Progress


@final
class Steps:
    """At most ``total`` steps of a long loop, with a bar (if ``verbose``, on a terminal) and a clean stop.

    After Ctrl-C a line says what is ``kept``.

    Examples
    --------
    >>> with Steps("counting", 3) as steps:
    ...     for i in steps:
    ...         steps.show(best=i / 2)
    >>> steps.done, steps.interrupted
    (3, False)
    """

    def __init__(self, label: str, total: int, *, verbose: bool = False, kept: str = "the best so far") -> None:
        self.label = label
        self.kept = kept
        self.total = total
        self.done = 0
        self.interrupted = False
        self._bar = _bar() if verbose and sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        self._heeded = PRESSES.heeded
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self.label, total=self.total, figures="")
        return self

    def __iter__(self) -> Iterator[int]:
        for step in range(self.total):
            PRESSES.raise_if_pressed(self._heeded)
            yield step
            self.done += 1
            if self._bar is not None:
                self._bar.advance(self._task)

    def show(self, **figures: float) -> None:
        """Write the current figures beside the bar."""
        if self._bar is not None:
            self._bar.update(self._task, figures="  ".join(f"{name} {value:.4f}" for name, value in figures.items()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._bar is not None:
            self._bar.stop()
        if kind is not None and issubclass(kind, KeyboardInterrupt) and self.done:
            self.interrupted = True
            PRESSES.heed(self._heeded)
            sys.stderr.write(f"{self.label}: stopped at {self.done} of {self.total}; {self.kept} is kept\n")
        return self.interrupted


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
        console=Console(stderr=True),
        transient=True,
    )
