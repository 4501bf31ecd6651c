"""Law: Ctrl-C ends a fit at once, whatever it is in the middle of, and what was learned so far is kept.

Not one further step begins, in no loop: no other bag, stage, member, restart or penalty. What is kept can rank, and its
history has as many rows as steps were done; where nothing is there to keep, the ranker is not fitted.
"""

from __future__ import annotations

import os
import signal
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from goldens.variants import make
from laws.test_parameters import INNER, TEST, TRAIN, VALID
from ordino.interrupts import PRESSES, counting_presses
from ordino.rankers import RANKERS

SETTINGS: dict[str, dict[str, Any]] = {name: {} for name in RANKERS} | INNER | {
    "lambda-mart": {"bags": 2, "query_share": 0.5, "rounds": 3},
    "rank-svm": {"C": (0.1, 1.0, 10.0)},
    "coordinate-ascent": {"restarts": 4},
    "deepnet": {"initializer": "autoencoders", "pretraining": 2},
    "sortnet": {"initializer": "autoencoders", "pretraining": 2, "warm_start": False},
    "nested-ranker": {"ranker": "rank-boost", "sizes": (None, 8, 4)},
}  # fmt: skip
STEPLESS = {"linear-regression-ranker", "single-feature", "random-ranker", "rank-fusion"}
THREADS = {"rank-aggregation"}
"""Whose members learn in threads, which hear of it later: tests/test_interrupts.py."""
OF_LOOPS = {"sortnet", "nested-ranker"}
"""Whose last inner loop may end with the step of the outer one that is kept."""


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many steps began before and after Ctrl-C, which is pressed as the one with the number ``at`` begins."""
    told = {"at": 0, "before": 0, "pressed": 0, "after": 0}
    real = type(PRESSES).raise_if_pressed

    def begin(self: Any, heeded: Any) -> None:
        if told["before"] == told["at"] and not told["pressed"]:
            told["pressed"] = 1
            os.kill(os.getpid(), signal.SIGINT)
        real(self, heeded)
        told["after" if told["pressed"] else "before"] += 1

    monkeypatch.setattr(type(PRESSES), "raise_if_pressed", begin)
    return told


@pytest.mark.parametrize("counted", [False, True], ids=["notebook", "command"])
@pytest.mark.parametrize("name", [name for name in RANKERS if name not in STEPLESS | THREADS])
def test_no_step_begins_after_ctrl_c(name: str, counted: bool, steps: dict[str, int]) -> None:
    steps["at"] = 10**9
    whole = make(name, SETTINGS[name]).fit(TRAIN, valid=VALID)
    n_steps = steps["before"]
    assert n_steps > 1
    for at in sorted({1, n_steps // 2, n_steps - 1}):
        steps |= {"at": at, "before": 0, "pressed": 0, "after": 0}
        ranker = make(name, SETTINGS[name])
        try:
            with counting_presses() if counted else nullcontext():
                ranker.fit(TRAIN, valid=VALID)
        except KeyboardInterrupt:
            assert not hasattr(ranker, "n_features_in_")
        else:
            assert np.isfinite(ranker.predict(TEST)).all()
            rows, all_rows = (len(getattr(one, "history_", [])) for one in (ranker, whole))
            assert rows < all_rows or rows == 0 or name in OF_LOOPS
        assert steps["after"] == 0, at
