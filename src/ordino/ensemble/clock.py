"""How much time is left: of the wall clock, or of this process's processors."""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import final

CLOCKS: Mapping[str, Callable[[], float]] = MappingProxyType({"wall": time.monotonic, "processor": time.process_time})
"""Clocks by name, in seconds: the one on the wall, or the processor time of all threads of this process."""


@final
class Clock:
    """A budget of seconds that began with the clock; None is without end, so that nothing depends on the time.

    Examples
    --------
    >>> Clock(None).is_over(), Clock(0.0).is_over()
    (False, True)
    """

    def __init__(self, seconds: float | None, kind: str = "wall") -> None:
        self._now = CLOCKS[kind]
        self._begun = self._now()
        self.seconds = seconds

    @property
    def used(self) -> float:
        """Seconds since the beginning."""
        return self._now() - self._begun

    @property
    def left(self) -> float:
        """Seconds until the end."""
        return float("inf") if self.seconds is None else self.seconds - self.used

    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.left <= 0

    def slice(self, share: float) -> "Clock":
        """A clock for a share of what is left."""
        part = Clock(None if self.seconds is None else max(self.left, 0.0) * share)
        part._now, part._begun = self._now, self._now()
        return part
