"""DirectRanker (Köppel et al., 2019), section 5.1: Table 1 (quality of eight methods) and Table 2 (training times)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.experiment.papers.request import Request
from ordino.experiment.papers.result import Cell, Result
from ordino.experiment.papers.training import Wanted, fit_seeds, train_ahead
from ordino.experiment.papers.trials import (
    Make,
    Protocol,
    Setting,
    Trials,
    means,
    part_of,
    ranker,
    run_setting,
)

COLLECTIONS = ("MQ2008", "MQ2007", "MSLR-WEB10K")
MEASURES = ("ndcg@10", "map")
PROFILE = "directranker"
N_SEEDS = 5
N_EVOLVED = 2

TABLE_1: Mapping[str, Mapping[str, tuple[float, float]]] = MappingProxyType(
    {
        "DirectRanker": {"MSLR-WEB10K": (0.440, 0.365), "MQ2008": (0.720, 0.636), "MQ2007": (0.540, 0.534)},
        "RankNet": {"MSLR-WEB10K": (0.157, 0.195), "MQ2008": (0.716, 0.642), "MQ2007": (0.525, 0.525)},
        "ListNet": {"MSLR-WEB10K": (0.157, 0.192), "MQ2008": (0.719, 0.647), "MQ2007": (0.526, 0.525)},
        "LambdaMART": {"MSLR-WEB10K": (0.476, 0.366), "MQ2008": (0.723, 0.624), "MQ2007": (0.531, 0.510)},
        "AdaRank": {"MSLR-WEB10K": (0.400, 0.322), "MQ2008": (0.722, 0.653), "MQ2007": (0.526, 0.527)},
        "ES-Rank": {"MSLR-WEB10K": (0.382, 0.570), "MQ2008": (0.507, 0.483), "MQ2007": (0.451, 0.470)},
        "IESR-Rank": {"MSLR-WEB10K": (0.415, 0.603), "MQ2008": (0.517, 0.494), "MQ2007": (0.455, 0.473)},
        "IESVM-Rank": {"MSLR-WEB10K": (0.224, 0.457), "MQ2008": (0.498, 0.473), "MQ2007": (0.436, 0.456)},
    }
)
"""NDCG@10 and MAP."""

TABLE_2: Mapping[str, float] = MappingProxyType(
    {
        "DirectRanker": 151.94, "RankNet": 142.27, "ListNet": 3947, "LambdaMART": 2664, "AdaRank": 1261,
        "ES-Rank": 1800, "IESR-Rank": 1957, "IESVM-Rank": 34209,
    }
)  # fmt: skip
"""Seconds on MSLR-WEB10K, a fold; of the paper's two RankNets the one made like its DirectRanker."""

NETWORK: Mapping[str, Any] = MappingProxyType(
    {
        "dropout": 0.5, "learning_rate": 3e-3, "epochs": 40, "patience": 10, "batch": 32, "scaling": "quantile",
        "quick": {"epochs": 1, "hidden": 4},
    }
)  # fmt: skip
BOOSTING: Mapping[str, Any] = MappingProxyType({"quick": {"rounds": 3}})
EVOLUTION: Mapping[str, Any] = MappingProxyType({"quick": {"generations": 3}})
Grid = Sequence[Mapping[str, Any]]
NETWORKS: Grid = ({"hidden": (100, 100), "l2": 0.01}, {"hidden": (100, 100), "l2": 1.0}, {"hidden": 30, "l2": 0.01})
TREES: Grid = ({"leaves": 7}, {"leaves": 15}, {"leaves": 31})


class Method(NamedTuple):
    """A row of the table: a ranker by name, its parameters, and how it is trained."""

    ranker: str
    params: Mapping[str, Any]
    maximizes: bool
    """Whether it learns by the measure itself, and so is trained once for each."""
    repeats: int = 1
    grid: Grid = ({},)
    """Settings, of which the one that is best on the validation part of a fold is kept there."""


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "DirectRanker": Method("directranker", NETWORK, False, N_SEEDS, NETWORKS),
        "RankNet": Method("ranknet", NETWORK, False, N_SEEDS, NETWORKS),
        "ListNet": Method("listnet", NETWORK, False, N_SEEDS, NETWORKS),
        "LambdaMART": Method("lambda-mart", BOOSTING, True, grid=TREES),
        "AdaRank": Method("ada-rank", BOOSTING, True),
        "ES-Rank": Method("es-rank", EVOLUTION, True, N_EVOLVED),
        "IESR-Rank": Method("iesr-rank", EVOLUTION, True, N_EVOLVED),
        "IESVM-Rank": Method("iesvm-rank", EVOLUTION, True, N_EVOLVED),
    }
)

PROTOCOL = (
    "Each method on the official folds, profile `directranker`: labels are made relevant or not (relevant from 1 "
    "on; on MSLR-WEB10K from 2 on), queries with nothing relevant are left out. LambdaMART, AdaRank and the "
    "evolved rankers are trained once for each measure, which they maximize and by which their round or "
    "generation is chosen on the validation part; the networks are trained once, their epoch chosen by NDCG@10. "
    "Test parts are only measured. A setting is chosen for each fold by the same measure on its validation part, with "
    "one seed: of the networks two layers of 100 with weight decay 0.01 or 1, or one of 30 with 0.01; of LambdaMART 7, "
    "15 or 31 leaves. Networks: dropout 0.5, AdamW with rate 0.003, at most 40 epochs, "
    f"{N_SEEDS} seeds; evolved rankers: 1,300 generations, {N_EVOLVED} seeds; LambdaMART and AdaRank draw nothing and "
    "have one. The paper instead searches grids, which it does not print, by cross-validation inside each training "
    "part, and took the numbers of the evolved rankers from another paper."
)

TIMES = "Seconds of one training with the setting that is kept; what choosing it takes is not counted."


def table1(request: Request) -> Result:
    """Quality of all methods on the collections that are there."""
    cells, notes = [], []
    for collection, folds in request.collections(COLLECTIONS).items():
        binary = _binary(folds, 2 if collection == "MSLR-WEB10K" else 1)
        for method, how in METHODS.items():
            runs = [(metric,) for metric in MEASURES] if how.maximizes else [MEASURES]
            for metrics in runs:
                trials, chosen = _run(method, metrics, binary, request)
                notes += _told(f"{method} on {collection}, by {metrics[0]}", chosen)
                for metric in metrics:
                    paper = TABLE_1[method].get(collection)
                    value = None if paper is None else paper[MEASURES.index(metric)]
                    cells.append(Cell((collection, metric, method), value, trials.by_fold("test", metric)))
    columns = ("collection", "measure", "method")
    return _result("directranker.table1", "NDCG@10 and MAP of eight methods", columns, cells, request, 3, notes)


def table2(request: Request) -> Result:
    """Training time of all methods, a fold and seed."""
    alone, cells = request.alone(), []
    for collection, folds in request.collections(COLLECTIONS[::-1]).items():
        binary = _binary(folds, 2 if collection == "MSLR-WEB10K" else 1)
        for method in METHODS:
            seconds = _run(method, MEASURES[:1], binary, alone)[0].seconds
            cells.append(Cell((collection, method), TABLE_2[method] if collection == "MSLR-WEB10K" else None, seconds))
    columns, notes = ("collection", "method"), [TIMES]
    return _result("directranker.table2", "seconds to train", columns, cells, request, 2, notes)


def _run(
    method: str, metrics: tuple[str, ...], folds: Folds, request: Request
) -> tuple[Trials, list[Mapping[str, Any]]]:
    """What a method gives, and the setting that it has on each fold."""
    how = METHODS[method]
    makes = [ranker(how.ranker, metric=metrics[0], profile=PROFILE, **params, **how.params) for params in how.grid]
    best = _best(makes, metrics[0], folds, request) if len(makes) > 1 else [0] * len(folds)
    settings = [Setting(method, make, repeats=how.repeats) for make in makes]
    protocol = Protocol(metrics, PROFILE)
    seeds = protocol.seeds(request, settings[0])
    train_ahead((Wanted(makes[i](request), fold, seeds) for fold, i in zip(folds, best, strict=True)), request)
    trials = [run_setting(settings[i], folds[at : at + 1], protocol, request) for at, i in enumerate(best)]
    values = {key: np.concatenate([one.values[key] for one in trials]) for key in trials[0].values}
    seconds = tuple(second for one in trials for second in one.seconds)
    return Trials(values, seconds, [fitted for one in trials for fitted in one.rankers]), [how.grid[i] for i in best]


def _best(makes: Sequence[Make], metric: str, folds: Folds, request: Request) -> list[int]:
    """The setting that is best on the validation part of each fold, with one seed."""
    seeds, protocol = [request.seed], Protocol((metric,), PROFILE)
    train_ahead((Wanted(make(request), fold, seeds) for fold in folds for make in makes), request)
    best = []
    for fold in folds:
        valid = part_of(fold, "valid")
        fitted = [fit_seeds(make(request), fold, seeds, request).rankers[0] for make in makes]
        best.append(int(np.argmax([means(valid, one, protocol)[metric] for one in fitted])))
    return best


def _told(who: str, chosen: list[Mapping[str, Any]]) -> list[str]:
    """What was chosen, fold by fold, where there was a choice."""
    if not any(chosen):
        return []
    settings = (", ".join(f"{name} {value}" for name, value in params.items()) for params in chosen)
    return [f"{who}: {'; '.join(settings)}."]


def _binary(folds: Folds, relevant_from: int) -> Folds:
    """The folds with labels 0 and 1."""

    def binary(data: Dataset) -> Dataset:
        return data.replace(y=data.y >= relevant_from)

    def load(i: int) -> Fold:
        name, train, valid, test = folds[i]
        return Fold(name, binary(train), None if valid is None else binary(valid), binary(test))

    return Folds(folds.names, load)


def _result(
    target: str, title: str, columns: tuple[str, ...], cells: list[Cell], request: Request, digits: int,
    notes: Sequence[str] = (),
) -> Result:  # fmt: skip
    return Result(
        target, title, columns, cells, PROTOCOL, spread="standard error", of="folds", digits=digits, seed=request.seed,
        notes=notes,
    )  # fmt: skip


RUNS: Mapping[str, Callable[[Request], Result]] = MappingProxyType({"table1": table1, "table2": table2})
"""What this module reproduces."""
