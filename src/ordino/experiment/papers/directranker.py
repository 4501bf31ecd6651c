"""DirectRanker (Köppel et al., 2019), section 5.1: Table 1 (quality of eight methods) and Table 2 (training times)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.experiment.papers.result import Number, Result
from ordino.experiment.papers.target import Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan
from ordino.experiment.store.trial import TrialInfo

COLLECTIONS = ("MQ2008", "MQ2007", "MSLR-WEB10K")
MEASURES = ("ndcg@10", "map")
PROFILE = "directranker"
N_SEEDS = 5
N_EVOLVED = 2

PRINTED = read_paper("directranker")

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


METHODS: Mapping[str, Method] = {
    "DirectRanker": Method(System("directranker", NETWORK, "", QUICK, NETWORKS, N_SEEDS), maximizes=False),
    "RankNet": Method(System("ranknet", NETWORK, "", QUICK, NETWORKS, N_SEEDS), maximizes=False),
    "ListNet": Method(System("listnet", NETWORK, "", QUICK, NETWORKS, N_SEEDS), maximizes=False),
    "LambdaMART": Method(System("lambda-mart", quick=ROUNDS, grid=TREES)),
    "AdaRank": Method(System("ada-rank", quick=ROUNDS)),
    "ES-Rank": Method(System("es-rank", quick=GENERATIONS, repeats=N_EVOLVED)),
    "IESR-Rank": Method(System("iesr-rank", quick=GENERATIONS, repeats=N_EVOLVED)),
    "IESVM-Rank": Method(System("iesvm-rank", quick=GENERATIONS, repeats=N_EVOLVED)),
}
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
            printed = PRINTED["table1"][name].get(collection, (None, None))
            for metric, paper in zip(MEASURES, printed, strict=True):
                numbers.append(Number((collection, metric, name), paper, trials.by_fold(collection, label, metric)))
                if method.maximizes or metric == MEASURES[0]:
                    own = trials.of(collection, label, metric)
                    notes += _chosen(f"{name} on {collection}, by {metric}", own, method.system)
    columns = ("collection", "measure", "method")
    return _result("NDCG@10 and MAP of eight methods", columns, numbers, 3, notes)


def table2(request: Request, trials: Trials) -> Result:
    """Training time of all methods, per fold and seed."""
    numbers = []
    for collection in request.collections(COLLECTIONS[::-1]):
        for name, method in METHODS.items():
            label = method.system.label(request)
            seconds = trials.by_fold(collection, label, MEASURES[0], lambda trial: trial.train_seconds)
            paper = PRINTED["table2"][name] if collection == "MSLR-WEB10K" else None
            numbers.append(Number((collection, name), paper, seconds))
    return _result("seconds to train", ("collection", "method"), numbers, 2, [TIMES])


def _chosen(who: str, trials: Sequence[TrialInfo], system: System) -> list[str]:
    """What was chosen on each fold, where there was a choice."""
    names = list(dict.fromkeys(name for grid in system.grid for name in grid))
    if not names:
        return []
    told = []
    for params in {trial.fold: trial.params for trial in trials}.values():
        values = {name: tuple(params[name]) if isinstance(params[name], list) else params[name] for name in names}
        told.append(", ".join(f"{name} {value}" for name, value in values.items()))
    return [f"{who}: {'; '.join(told)}."]


def _binary(folds: Folds, relevant_from: int) -> Folds:
    """The folds with labels 0 and 1."""

    def binary(data: Dataset) -> Dataset:
        return data.replace(y=data.y >= relevant_from)

    def load(i: int) -> Fold:
        name, train, valid, test = folds[i]
        return Fold(name, binary(train), None if valid is None else binary(valid), binary(test))

    return Folds(folds.names, load)


def _result(title: str, columns: tuple[str, ...], numbers: list[Number], digits: int, notes: Sequence[str]) -> Result:
    protocol = PRINTED["protocol"].format(n_seeds=N_SEEDS, n_evolved=N_EVOLVED)
    return Result(title, columns, numbers, protocol, spread="standard error", of="folds", digits=digits, notes=notes)


_target = partial(Target, needs="MQ2007, MQ2008, MSLR-WEB10K")
TARGETS = {
    "table1": _target(shows="NDCG@10 and MAP of eight methods", takes="30 min", plans=plans, view=table1),
    "table2": _target(
        shows="training times", takes="20 min", view=table2, is_timed=True,
        plans=partial(plans, collections=COLLECTIONS[::-1], by=MEASURES[:1]),
    ),
}  # fmt: skip
