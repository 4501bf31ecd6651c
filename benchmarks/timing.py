"""The time that something takes: the least of several runs, which a busy machine disturbs least."""

from __future__ import annotations

import time
from collections.abc import Callable


def least_seconds(action: Callable[[], object], repeats: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest repeat."""
    times = []
    for _ in range(repeats):
        start = clock()
        action()
        times.append(clock() - start)
    return min(times)
