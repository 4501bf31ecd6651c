"""Every table and figure of the five papers that can be reproduced, what lies beyond them, and how to run one."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ordino.checks import check_choice
from ordino.errors import OrdinoError
from ordino.experiment.papers import beyond, deepnet, directranker, rankde, ranknet, sortnet
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import Request, Target, Trials
from ordino.experiment.plan.plan import Plan
from ordino.experiment.run.driver import carry_out
from ordino.experiment.run.scratch import scratch_folder
from ordino.experiment.store.store import Store
from ordino.plain import count_of

STORE, MODELS = "trials.sqlite", "models"
"""What the folder of ``--keep`` holds."""

TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        f"{paper.__name__.rpartition('.')[2]}.{name}": target
        for paper in (ranknet, sortnet, deepnet, directranker, rankde, beyond)
        for name, target in paper.TARGETS.items()
    }
)
"""Everything that ``ordino reproduce`` can run, by name."""


def reproduce(name: str, request: Request) -> Result:
    """Carry out the plans of a target and show what they left in the store.

    The seconds of the result are those of all its trials, as if one was made after the other, and of the view.
    """
    target = TARGETS[check_choice("target", name, TARGETS)]
    with scratch_folder() as folder:
        if request.kept is None or target.is_timed:
            # times are those of one machine, of one training after the other
            here: dict[str, Any] = {"n_jobs": 1, "cluster": None} if target.is_timed else {}
            result = _reproduce(target, replace(request, **here), folder)
        else:
            result = _reproduce(target, request, request.kept)
    notes = list(result.notes)
    if request.repeats:
        most = count_of(request.repeats, "repeat")
        notes.append(f"Run with `--repeats {request.repeats}`: at most {most} per setting.")
    if request.quick:
        notes.append("A run with `--quick`, which only checks that everything works: the numbers mean nothing.")
    return replace(result, target=name, notes=notes)


def _reproduce(target: Target, request: Request, folder: Path) -> Result:
    folder.mkdir(parents=True, exist_ok=True)
    keys: dict[str, None] = {}
    tuning_keys: dict[str, None] = {}

    def train(plans: Iterable[Plan]) -> None:
        for plan in plans:
            how: dict[str, Any] = {"n_jobs": request.n_jobs, "verbose": request.verbose, "cluster": request.cluster}
            done = carry_out(plan, folder / STORE, models=folder / MODELS, **how)
            if done.was_stopped:
                raise KeyboardInterrupt
            if done.failures:
                raise OrdinoError("\n- ".join(["training failed:", *done.failures]))
            keys.update(done.keys)
            tuning_keys.update(done.tuning_keys)

    train(target.plans(request))
    with Store(folder / STORE) as store:
        further = list(target.then(request, Trials(store, keys, folder / MODELS)))
    train(further)
    start = time.perf_counter()
    with Store(folder / STORE) as store:
        result = target.result(request, Trials(store, keys, folder / MODELS))
        seconds = store.seconds([*keys, *tuning_keys])
    return replace(result, seconds=seconds + time.perf_counter() - start)
