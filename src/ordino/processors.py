"""The processors that are free: those that this process may use, less those that others keep busy."""

import os
import time
from math import floor, inf
from pathlib import Path
from typing import NamedTuple

SHORTEST, LONGEST = 0.1, 5.0  # seconds between two looks at the system that tell what goes on now
GLANCE = 0.05  # seconds to look where the last look was too long ago
SPARE = 0.25  # of a processor, that others may use of one that counts as free
_CONTROL = Path("/sys/fs/cgroup")
_BUSY = (0, 1, 2, 5, 6, 7)  # of the columns of /proc/stat: user, nice, system, interrupts, stolen


class Look(NamedTuple):
    """A look at the system: the time, and the seconds of processors that all and this process have used so far."""

    clock: float
    by_all: float
    by_this: float


def allowed_processors() -> int:
    """How many processors the system lets this process use: by affinity, container, and ``OMP_NUM_THREADS``."""
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    limits = [len(_affinity()), _quota(), int(asked) if asked.isdecimal() else inf]
    return max(1, floor(min(limits)))


def free_processors() -> int:
    """How many of them nobody else keeps busy at the moment; at least 1.

    Threads of OpenMP wait for one another by spinning, so that one that must share its processor holds up all others.
    """
    return max(1, min(allowed_processors(), floor(len(_affinity()) - _watch.others() + SPARE)))


class _Watch:
    """What others do, seen from the difference of two looks."""

    def __init__(self) -> None:
        self.last = Look(-inf, 0.0, 0.0)
        self.busy = 0.0

    def others(self) -> float:
        """How many processors others keep busy, on average since the last look."""
        age = time.monotonic() - self.last.clock
        if age < SHORTEST:
            return self.busy
        if age > LONGEST:
            self.last = look()
            time.sleep(GLANCE)
        now = look()
        used = (now.by_all - self.last.by_all) - (now.by_this - self.last.by_this)
        self.busy = max(0.0, used / (now.clock - self.last.clock))
        self.last = now
        return self.busy


_watch = _Watch()


def look() -> Look:
    """How long the processors of this process have worked so far; nothing is known of others off Linux."""
    clock, by_this = time.monotonic(), time.process_time()
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return Look(clock, by_this, by_this)
    mine = {f"cpu{number}" for number in _affinity()}
    rows = [columns for columns in map(str.split, lines) if columns[0] in mine]
    ticks = sum(int(columns[1 + at]) for columns in rows for at in _BUSY)
    return Look(clock, ticks / os.sysconf("SC_CLK_TCK"), by_this)


def _affinity() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def _quota() -> float:
    """How many processors' worth of time a container has; infinite where nobody set a limit."""
    try:
        quota, period = (_CONTROL / "cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        try:
            texts = [
                (_CONTROL / "cpu" / f"cpu.cfs_{name}_us").read_text(encoding="ascii") for name in ("quota", "period")
            ]
        except OSError:
            return inf
        quota, period = (text.strip() for text in texts)
    return inf if quota in ("max", "-1") else int(quota) / int(period)
