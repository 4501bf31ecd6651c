"""The kernels of all rankers, compiled before a cold run of the whole suite: each worker compiles a part, none twice.

Without it the workers of pytest-xdist compile the same kernels side by side, as each comes to a test that needs them.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

MANY = 5000  # tests of a run for which it pays
PATIENCE = 180.0  # seconds to wait for the others; whoever is late compiles beside the tests


def warm(config: Any, n_tests: int) -> None:
    """Compile this worker's part, if nobody has for these sources, and wait for the parts of the others."""
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
    number, count = int(given["workerid"].removeprefix("gw")), given["workercount"]
    use_part(number, count)
    parts = [known.with_name(f"{known.name}-{given['testrunuid']}-{one}") for one in range(count)]
    parts[number].touch()
    until = time.monotonic() + PATIENCE
    while not all(part.exists() for part in parts) and time.monotonic() < until:
        time.sleep(0.05)
    known.touch()


def use_part(number: int, count: int) -> None:
    """Fit every ``count``-th variant of the goldens; the last worker also measures by every profile."""
    import ordino
    from goldens.record import data, scores_of
    from goldens.variants import variants
    from ordino.errors import OrdinoError
    from ordino.metrics import METRICS, PROFILES

    for variant in list(variants())[number::count]:
        with suppress(Exception):  # its own test tells
            scores_of(variant)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for profile in PROFILES if number == count - 1 else ():
            with suppress(OrdinoError):
                test = data()[2]
                ordino.evaluate(test, test.X[:, 0], metrics=[one.example for one in METRICS.values()], profile=profile)
