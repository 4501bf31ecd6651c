"""DirectRanker (Köppel et al., 2019), section 4.2: its authors' grid, by cross-validation inside the training part.

Choosing needs the results of all settings on the inner parts. Instead of training in two rounds, every setting is also
trained on the whole training part, a fifth more work, and the view takes the one that the inner parts choose.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from math import ceil
from typing import Any

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds, make_folds
from ordino.experiment.papers.directranker.tables import (
    COLLECTIONS,
    MEASURES,
    PRINTED,
    PROFILE,
    binary_folds,
    learned_pairs,
    printed,
    relevant_from,
)
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan

N_INNER = 5
STEPS, BATCH = 3_000, 32
GRID = {"hidden": (10, 20, 30, 50, 100), "l2": (0.0, 0.0001, 0.001), "dropout": (0.0, 0.5)}
FIXED: Mapping[str, Any] = {
    "activation": "tanh", "output": "half-tanh", "optimizer": "adam", "learning_rate": 0.0087, "initializer": "unit",
    "dropout": 0.0, "patience": None, "hold_out": None, "batch": BATCH, "scaling": "quantile",
}  # fmt: skip


def systems(n_queries: int, request: Request) -> dict[str, System]:
    """The settings by name, trained for as many epochs as make 3,000 steps with this many queries."""
    epochs = 1 if request.quick else round(STEPS / ceil(n_queries / BATCH))
    settings = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
    return {
        ", ".join(f"{name} {value:g}" for name, value in one.items()): System(
            "directranker", {**FIXED, **one, "epochs": epochs}
        )
        for one in (settings[:: len(settings) - 1] if request.quick else settings)
    }


def plans(request: Request) -> Iterator[Plan]:
    """The settings on the inner parts of every fold, and on the fold itself."""
    how: dict[str, Any] = {"measures": MEASURES, "profile": PROFILE}
    for name, folds in _collections(request).items():
        for i, fold in enumerate(folds):
            inner = _inner(fold)
            own = systems(inner[0].train.n_queries, request).values()
            yield request.plan({_inside(name, fold): inner[: 2 if request.quick else None]}, own, **how)
            outer = Folds([fold.name], partial(_without_valid, folds, i))
            yield request.plan({name: outer}, systems(_judged(fold.train).n_queries, request).values(), **how)


def view(request: Request, trials: Trials) -> Iterator[Number | str]:
    """The test parts, with the setting that each fold's inner parts choose, by NDCG@10 and by MAP."""
    for name, folds in _collections(request).items():
        for metric in MEASURES:
            chosen, values = [], []
            for fold in folds:
                inner = systems(_inner(fold)[0].train.n_queries, request)
                means = {
                    setting: np.mean(trials.by_fold(_inside(name, fold), system.label(request), metric))
                    for setting, system in inner.items()
                }
                chosen.append(max(means, key=lambda setting: means[setting]))
                system = systems(_judged(fold.train).n_queries, request)[chosen[-1]]
                own = trials.of(name, system.label(request), metric)
                values += [trial.test[metric] for trial in own if trial.fold == fold.name]
            paper, error = (printed("DirectRanker", name, metric, table) for table in ("table1", "errors"))
            yield Number((name, metric), paper, tuple(values), paper_deviation=error)
            yield f"Chosen on {name} by {metric}: {'; '.join(chosen)}."


def _collections(request: Request) -> dict[str, Folds]:
    return {name: binary_folds(folds, relevant_from(name)) for name, folds in request.collections(COLLECTIONS).items()}


def _inner(fold: Fold) -> Folds:
    """Cross-validation inside the training part; queries with nothing relevant are left out, as the authors do."""
    return make_folds(_judged(fold.train), N_INNER, valid=False)


def _without_valid(folds: Folds, i: int, _: int) -> Fold:
    fold = folds[i]
    return fold._replace(train=_judged(fold.train), valid=None)


def _judged(data: Dataset) -> Dataset:
    return data.select_queries(np.flatnonzero(np.add.reduceat(data.y > 0, data.offsets[:-1], dtype=np.int64)))


def _inside(name: str, fold: Fold) -> str:
    return f"{name}, inside {fold.name}"


TARGETS = {
    "grid": Target(
        shows="DirectRanker by its authors' grid and inner cross-validation", needs="MQ2007, MQ2008, MSLR-WEB10K",
        takes="3 h", plans=lambda request: list(plans(request)), view=view, pairs=learned_pairs,
        page=Result(
            "", ("collection", "measure"), protocol=PRINTED["grid_protocol"], choices=PRINTED["grid_choices"],
            spread="standard error", of="folds",
        ),
    ),
}  # fmt: skip
