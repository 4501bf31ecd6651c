"""DirectRanker (Köppel et al., 2019), section 5.1: Table 1 (quality of eight methods) and Table 2 (training times)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.experiment.papers.result import Number, Result
from ordino.experiment.papers.target import Request, System, Target
from ordino.experiment.papers.trials import Trials
from ordino.experiment.plan.plan import Plan
from ordino.experiment.store.trial import TrialInfo

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

NETWORK = {
    "dropout": 0.5, "learning_rate": 3e-3, "epochs": 40, "patience": 10, "batch": 32, "scaling": "quantile"
}  # fmt: skip
QUICK = {"epochs": 1, "hidden": 4}
Grid = Sequence[Mapping[str, Sequence[Any]]]
NETWORKS: Grid = ({"hidden": [(100, 100)], "l2": [0.01, 1.0]}, {"hidden": [30], "l2": [0.01]})
TREES: Grid = ({"leaves": [7, 15, 31]},)
ROUNDS = {"rounds": 3}
GENERATIONS = {"generations": 3}


class Method(NamedTuple):
    """A row of the table."""

    system: System
    maximizes: bool = True
    """Whether it learns by the metric itself, and so is trained once for each."""


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "DirectRanker": Method(System("directranker", NETWORK, "", QUICK, NETWORKS, N_SEEDS), maximizes=False),
        "RankNet": Method(System("ranknet", NETWORK, "", QUICK, NETWORKS, N_SEEDS), maximizes=False),
        "ListNet": Method(System("listnet", NETWORK, "", QUICK, NETWORKS, N_SEEDS), maximizes=False),
        "LambdaMART": Method(System("lambda-mart", quick=ROUNDS, grid=TREES)),
        "AdaRank": Method(System("ada-rank", quick=ROUNDS)),
        "ES-Rank": Method(System("es-rank", quick=GENERATIONS, repeats=N_EVOLVED)),
        "IESR-Rank": Method(System("iesr-rank", quick=GENERATIONS, repeats=N_EVOLVED)),
        "IESVM-Rank": Method(System("iesvm-rank", quick=GENERATIONS, repeats=N_EVOLVED)),
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


def plans(request: Request, *, collections: Sequence[str] = COLLECTIONS, by: Sequence[str] = MEASURES) -> list[Plan]:
    """The networks once, chosen by NDCG@10, and the others once for each metric, which they maximize."""
    data = {
        name: _binary(folds, 2 if name == "MSLR-WEB10K" else 1)
        for name, folds in request.collections(collections).items()
    }
    once = [method.system for method in METHODS.values() if not method.maximizes]
    each = [method.system for method in METHODS.values() if method.maximizes]
    runs = [(once, by), *((each, (metric,)) for metric in by)]
    return [request.plan(data, systems, measures=measures, profile=PROFILE) for systems, measures in runs if systems]


def table1(request: Request, trials: Trials) -> Result:
    """Quality of all methods on the collections that are there."""
    numbers, notes = [], []
    for collection in request.collections(COLLECTIONS):
        for name, method in METHODS.items():
            label = method.system.label(request)
            for metric in MEASURES:
                paper = TABLE_1[name].get(collection)
                value = None if paper is None else paper[MEASURES.index(metric)]
                numbers.append(Number((collection, metric, name), value, trials.by_fold(collection, label, metric)))
                if method.maximizes or metric == MEASURES[0]:
                    own = trials.of(collection, label, metric)
                    notes += _chosen(f"{name} on {collection}, by {metric}", own, method.system)
    columns = ("collection", "measure", "method")
    return _result("NDCG@10 and MAP of eight methods", columns, numbers, 3, notes)


def table2(request: Request, trials: Trials) -> Result:
    """Training time of all methods, per fold and seed."""
    numbers = [
        Number((collection, name), TABLE_2[name] if collection == "MSLR-WEB10K" else None, _seconds(*found))
        for collection in request.collections(COLLECTIONS[::-1])
        for name, method in METHODS.items()
        for found in [(trials, collection, method.system.label(request))]
    ]
    return _result("seconds to train", ("collection", "method"), numbers, 2, [TIMES])


def _seconds(trials: Trials, collection: str, label: str) -> tuple[float, ...]:
    return trials.each_fold(collection, label, MEASURES[0], lambda trial: trial.train_seconds)


def _chosen(who: str, trials: Sequence[TrialInfo], system: System) -> list[str]:
    """What was chosen on each fold, where there was a choice."""
    names = list(dict.fromkeys(name for grid in system.grid for name in grid))
    if not names:
        return []
    folds = {trial.fold: trial.params for trial in trials}
    settings = (", ".join(f"{name} {_as_written(params[name])}" for name in names) for params in folds.values())
    return [f"{who}: {'; '.join(settings)}."]


def _as_written(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _binary(folds: Folds, relevant_from: int) -> Folds:
    """The folds with labels 0 and 1."""

    def binary(data: Dataset) -> Dataset:
        return data.replace(y=data.y >= relevant_from)

    def load(i: int) -> Fold:
        name, train, valid, test = folds[i]
        return Fold(name, binary(train), None if valid is None else binary(valid), binary(test))

    return Folds(folds.names, load)


def _result(title: str, columns: tuple[str, ...], numbers: list[Number], digits: int, notes: Sequence[str]) -> Result:
    return Result(title, columns, numbers, PROTOCOL, spread="standard error", of="folds", digits=digits, notes=notes)


NEEDS = "MQ2007, MQ2008, MSLR-WEB10K"
TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "table1": Target(
            shows="NDCG@10 and MAP of eight methods", needs=NEEDS, takes="30 min", plans=plans, view=table1
        ),
        "table2": Target(
            shows="training times", needs=NEEDS, takes="20 min",
            plans=partial(plans, collections=COLLECTIONS[::-1], by=MEASURES[:1]), view=table2, is_timed=True,
        ),
    }
)  # fmt: skip
"""What this module reproduces."""
