"""The kernels of all rankers, compiled before a cold run of the whole suite: the workers share the work.

Without it the workers of pytest-xdist compile the same kernels side by side, as each comes to a test that needs them.
One worker begins with the first ranker and another with the last, so that what they compile at a time is not the same.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

MANY = 5000  # tests of a run for which it pays
PATIENCE = 180.0  # seconds to wait for the others; whoever is late compiles beside the tests


def warm(config: Any, n_tests: int) -> None:
    """Do what no other worker has begun, if nobody has for these sources, and wait for the others to end."""
    given = getattr(config, "workerinput", None)
    if given is None or n_tests < MANY:
        return
    from ordino.compiled import _STAMP, kept_in

    folder = kept_in()
    if folder is None:
        return
    known = Path(folder) / f"warm-{hashlib.sha256(repr(_STAMP).encode()).hexdigest()[:16]}"
    if known.exists():
        return
    begun = known.with_name(f"{known.name}-{given['testrunuid']}")
    begun.mkdir(exist_ok=True)
    number, count = int(given["workerid"].removeprefix("gw")), given["workercount"]
    tasks = list(enumerate(work()))
    for i, task in tasks if number % 2 == 0 else reversed(tasks):
        with suppress(FileExistsError):
            (begun / str(i)).touch(exist_ok=False)
            task()
    (begun / f"end-{number}").touch()
    until = time.monotonic() + PATIENCE
    while sum(1 for _ in begun.glob("end-*")) < count and time.monotonic() < until:
        time.sleep(0.05)
    known.touch()


def work() -> list[Callable[[], None]]:
    """Measure by every profile, and fit every variant of the goldens."""
    from goldens.variants import variants
    from ordino.metrics import PROFILES

    return [*(partial(_measure, profile) for profile in PROFILES), *(partial(_fit, variant) for variant in variants())]


def _fit(variant: Any) -> None:
    from goldens.record import scores_of

    with suppress(Exception):  # its own test tells
        scores_of(variant)


def _measure(profile: str) -> None:
    import ordino
    from goldens.record import data
    from ordino.errors import OrdinoError
    from ordino.metrics import METRICS

    test = data()[2]
    with warnings.catch_warnings(), suppress(OrdinoError):
        warnings.simplefilter("ignore")
        ordino.evaluate(test, test.X[:, 0], metrics=[one.example for one in METRICS.values()], profile=profile)
