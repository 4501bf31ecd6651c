"""Long work shows where it is, and stops cleanly.

A loop over :class:`Steps` draws a bar on a terminal and a line that is rewritten in a notebook. Elsewhere, in a log or
a pipe, it writes a plain line every few seconds. After Ctrl-C it ends as if that had been the last step, so that what
was learned so far is kept. So do the loops around it and those of threads.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Protocol, Self, final

from ordino.interrupts import PRESSES

EVERY = 5.0  # seconds between two plain lines
REDRAWN = 0.2  # seconds between two states of a line in a notebook

WATCHER: ContextVar[Callable[[int, int, Mapping[str, float]], None] | None] = ContextVar("watcher", default=None)
"""Who else is told how far a loop is: the steps done, of how many, and the figures."""


_IS_OVER: ContextVar[Callable[[], bool]] = ContextVar("is_over", default=lambda: False)


@contextmanager
def ending_when(is_over: Callable[[], bool]) -> Iterator[None]:
    """Loops over :class:`Steps` inside end after the step they are in once ``is_over``, as if it had been the last.

    Examples
    --------
    >>> with ending_when(lambda: True), Steps("counting", 3) as steps:
    ...     numbers = list(steps)
    >>> numbers, steps.interrupted
    ([0], False)
    """
    token = _IS_OVER.set(is_over)
    try:
        yield
    finally:
        _IS_OVER.reset(token)


class _Display(Protocol):
    """Where progress is shown."""

    def show(self, done: int, figures: str) -> None:
        """So many steps are done."""

    def close(self) -> None:
        """No more steps will be."""


@final
class Steps:
    """At most ``total`` steps of a long loop, shown on standard error if ``verbose``, with a clean stop.

    With ``announced``, a plain line also says that the work begins, for steps that take minutes. After Ctrl-C a line
    says what is ``kept``.

    Examples
    --------
    >>> with Steps("counting", 3) as steps:
    ...     for i in steps:
    ...         steps.show(best=i / 2)
    >>> steps.done, steps.interrupted
    (3, False)
    """

    def __init__(
        self, label: str, total: int, *, verbose: bool = False, kept: str = "the best so far", announced: bool = False
    ) -> None:
        self.label = label
        self.kept = kept
        self.total = total
        self.done = 0
        self.interrupted = False
        self._verbose, self._announced = verbose, announced
        self._figures = ""
        self._numbers: dict[str, float] = {}
        self._watcher = WATCHER.get()
        self._display: _Display | None = None

    def __enter__(self) -> Self:
        self._heeded = PRESSES.heeded
        if self._verbose:
            self._display = _display(self.label, self.total, self._announced)
        return self

    def __iter__(self) -> Iterator[int]:
        for step in range(self.total):
            PRESSES.raise_if_pressed(self._heeded)
            yield step
            self.done += 1
            if self._display is not None:
                self._display.show(self.done, self._figures)
            if self._watcher is not None:
                self._watcher(self.done, self.total, self._numbers)
            if _IS_OVER.get()():
                return

    def show(self, **figures: float) -> None:
        """Write the current figures beside the progress."""
        self._numbers = figures
        if self._display is not None:
            self._figures = "  ".join(f"{name} {value:.4f}" for name, value in figures.items())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._display is not None:
            self._display.close()
        if kind is not None and issubclass(kind, KeyboardInterrupt) and self.done:
            self.interrupted = True
            PRESSES.heed(self._heeded)
            sys.stderr.write(f"{self.label}: stopped at {self.done} of {self.total}; {self.kept} is kept\n")
        return self.interrupted


def _display(label: str, total: int, announced: bool) -> _Display:
    if sys.stderr.isatty():
        return _Bar(label, total)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return _Line(label, total, announced, in_notebook=hasattr(shell, "kernel"))


@final
class _Bar:
    """A bar on a terminal."""

    def __init__(self, label: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(label, total=total, figures="")

    def show(self, done: int, figures: str) -> None:
        self._bar.update(self._task, completed=done, figures=figures)

    def close(self) -> None:
        self._bar.stop()


@final
class _Line:
    """Plain lines, every few seconds and at the end; in a notebook one line that is rewritten."""

    def __init__(self, label: str, total: int, announced: bool, *, in_notebook: bool) -> None:
        self._label, self._total, self._in_notebook = label, total, in_notebook
        self._begun = self._shown_at = time.monotonic()
        self._state: tuple[int, str] = (0, "")
        self._written: Any = None
        if announced:
            self._write()

    def show(self, done: int, figures: str) -> None:
        self._state = done, figures
        if time.monotonic() - self._shown_at >= (REDRAWN if self._in_notebook else EVERY) or done == self._total:
            self._write()

    def close(self) -> None:
        if self._state != self._written and self._state[0]:
            self._write()
        if self._in_notebook and self._written is not None:
            sys.stderr.write("\n")

    def _write(self) -> None:
        done, figures = self._written = self._state
        self._shown_at = time.monotonic()
        seconds = self._shown_at - self._begun
        left = seconds * (self._total - done) / done if done else 0.0
        words = [f"{self._label}: {done} of {self._total}", figures, f"about {_spoken(left)} left" if left >= 1 else ""]
        text = ", ".join(filter(None, words))
        sys.stderr.write(f"\r{text:<78}" if self._in_notebook else f"{text}\n")
        sys.stderr.flush()


def _spoken(seconds: float) -> str:
    """A length of time as one would say it.

    Examples
    --------
    >>> _spoken(59), _spoken(150), _spoken(9000)
    ('59 seconds', '2 minutes', '2.5 hours')
    """
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"
