"""Ctrl-C that does not get lost.

Python raises KeyboardInterrupt wherever the program happens to be. A library may swallow it there, an inner loop may
end for it while the outer one goes on, and threads never hear of it. So presses are counted, and every loop over
:class:`~ordino.progress.Steps` looks at the count before it takes a step.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import final


@final
class Presses:
    """How often Ctrl-C was pressed in this process, and for how many of these a loop has ended."""

    def __init__(self) -> None:
        self.pressed = 0
        self.heeded = 0

    def raise_if_pressed(self, heeded: int = 0) -> None:
        """Raise what was swallowed, or ended an inner loop only, if it came after this many handled presses."""
        if self.pressed > heeded:
            raise KeyboardInterrupt

    def heed(self, heeded: int) -> None:
        """A loop that began when this many presses had been handled has ended for the next one.

        The loop around it shall end too, the loop after it need not; that is for the main thread to say.
        """
        self.pressed = max(self.pressed, heeded + 1)  # nobody counts outside of a command
        if threading.current_thread() is threading.main_thread():
            self.heeded = self.pressed


PRESSES = Presses()


@contextmanager
def counting_presses() -> Iterator[Presses]:
    """Counts every Ctrl-C, which does what it always does. For commands only: a library leaves signals alone."""
    PRESSES.pressed = PRESSES.heeded = 0
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):  # it never comes, or shall do nothing
        yield PRESSES
        return

    def count(number: int, frame: FrameType | None) -> None:
        PRESSES.pressed += 1
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, count)
    try:
        yield PRESSES
    finally:
        signal.signal(signal.SIGINT, before)
        PRESSES.heeded = PRESSES.pressed


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Work of which the first part must not be taken for the whole: a loop in it that Ctrl-C ended ends it as well."""
    heeded = PRESSES.heeded
    yield
    PRESSES.raise_if_pressed(heeded)


@contextmanager
def held_back() -> Iterator[None]:
    """Ctrl-C is heard when the work is done: pressed while torch is being imported, it would abort the process."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    pressed: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda _, frame: pressed.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            before(signal.SIGINT, pressed[0])
