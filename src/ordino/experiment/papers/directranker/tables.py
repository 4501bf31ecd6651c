"""DirectRanker (Köppel et al., 2019), section 5.1: Table 1 (quality of nine rankers) and Table 2 (training times).

The paper's RankNet of Table 1 is RankLib's, by plain descent; the one that was made like DirectRanker stands beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.letor import span
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
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


MODERN = "RankNet, made like DirectRanker"
METHODS: Mapping[str, System] = {
    "DirectRanker": System("directranker", NETWORK, "", QUICK, NETWORKS, N_SEEDS),
    "RankNet": System("ranknet", {"metric": MEASURES[0], "profile": PROFILE}, "published", QUICK, repeats=N_SEEDS),
    MODERN: System("ranknet", NETWORK, "", QUICK, NETWORKS, N_SEEDS),
    "ListNet": System("listnet", NETWORK, "", QUICK, NETWORKS, N_SEEDS),
    "LambdaMART": System("lambda-mart", {"learning_rate": 0.05}, quick=ROUNDS, grid=TREES),
    "AdaRank": System("ada-rank", quick=ROUNDS),
    "ES-Rank": System("es-rank", quick=GENERATIONS, repeats=N_EVOLVED),
    "IESR-Rank": System("iesr-rank", quick=GENERATIONS, repeats=N_EVOLVED),
    "IESVM-Rank": System("iesvm-rank", quick=GENERATIONS, repeats=N_EVOLVED),
}
ONCE = (
    "DirectRanker",
    "RankNet",
    MODERN,
    "ListNet",
)  # the others learn by the metric itself: they are trained once for each


def plans(request: Request, *, collections: Sequence[str] = COLLECTIONS, by: Sequence[str] = MEASURES) -> list[Plan]:
    """The networks once, chosen by NDCG@10, and the others once for each metric, which they maximize."""
    data = {name: binary_folds(folds, relevant_from(name)) for name, folds in request.collections(collections).items()}
    each = [system for name, system in METHODS.items() if name not in ONCE]
    runs = [([METHODS[name] for name in ONCE], by), *((each, (metric,)) for metric in by)]
    return [request.plan(data, systems, measures=measures, profile=PROFILE) for systems, measures in runs]


def printed(method: str, collection: str, metric: str, table: str = "table1") -> float | None:
    """What the paper prints in Table 1 of a method, or its standard error over the folds."""
    values = PRINTED[table].get(method, {}).get(collection)
    return None if values is None else values[MEASURES.index(metric)]


def table1(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Quality of all methods on the collections that are there."""
    for collection in request.collections(COLLECTIONS):
        for name, system in METHODS.items():
            label = system.label(request)
            for metric in MEASURES:
                paper, error = (printed(name, collection, metric, table) for table in ("table1", "errors"))
                ours = trials.by_fold(collection, label, metric)
                yield Number((collection, metric, name), paper, ours, paper_deviation=error)
                if name not in ONCE or metric == MEASURES[0]:
                    own = trials.of(collection, label, metric)
                    yield from _chosen(f"{name} on {collection}, by {metric}", own, system)
        yield from (distances(collection, metric, request, trials) for metric in MEASURES)


def distances(collection: str, metric: str, request: Request, trials: Trials) -> str:
    """How far apart the best and the worst of the methods that the paper ran are, in standard errors (section 5.1)."""
    paper: dict[str, tuple[float, float]] = {}
    ours: dict[str, tuple[float, float]] = {}
    for name in PRINTED["errors"]:
        value, error = (printed(name, collection, metric, table) for table in ("table1", "errors"))
        if value is not None and error is not None:
            paper[name] = (value, error)
        folds = trials.by_fold(collection, METHODS[name].label(request), metric)
        if len(folds) > 1:
            ours[name] = (float(np.mean(folds)), float(np.std(folds, ddof=1) / len(folds) ** 0.5))
    told = [f"{who} {_apart(of)}" for who, of in (("here", ours), ("in the paper", paper)) if of]
    return f"Best and worst of the five methods that the paper ran, {metric} on {collection}: {'; '.join(told)}."


def _apart(of: Mapping[str, tuple[float, float]]) -> str:
    best, worst = max(of, key=lambda name: of[name][0]), min(of, key=lambda name: of[name][0])
    sigmas = (of[best][0] - of[worst][0]) / hypot(of[best][1], of[worst][1])
    return f"{best} and {worst} are {sigmas:.2f} σ apart"


def table2(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Training time of all methods, per fold and seed."""
    for collection in request.collections(COLLECTIONS[::-1]):
        for name, system in METHODS.items():
            seconds = trials.by_fold(collection, system.label(request), MEASURES[0], lambda trial: trial.train_seconds)
            paper = PRINTED["table2"][name] if collection == "MSLR-WEB10K" else None
            yield Number((collection, name), paper, seconds)
    yield "Seconds of one training with the setting that is kept; what choosing it takes is not counted."


def learned_pairs(request: Request) -> Iterator[str]:
    """How many pairs there are to learn from: all of a relevant and another document of a query."""
    for name, folds in request.collections(COLLECTIONS).items():
        counts = [sum(_n_pairs(query.y) for query in fold.train) for fold in binary_folds(folds, relevant_from(name))]
        yield (
            f"Training pairs on {name}: {span(counts)} in a fold, all distinct; nets that learn from pairs see each of "
            "them in every epoch."
        )


def _n_pairs(y: NDArray[np.float64]) -> int:
    n_relevant = int(y.sum())
    return n_relevant * (len(y) - n_relevant)


def _chosen(who: str, trials: Sequence[TrialInfo], system: System) -> Iterator[str]:
    """What was chosen on each fold, where there was a choice."""
    names = list(dict.fromkeys(name for grid in system.grid for name in grid))
    if not names:
        return
    told = []
    for params in {trial.fold: trial.params for trial in trials}.values():
        values = {name: tuple(params[name]) if isinstance(params[name], list) else params[name] for name in names}
        told.append(", ".join(f"{name} {value}" for name, value in values.items()))
    yield f"{who}: {'; '.join(told)}."


def relevant_from(collection: str) -> int:
    """The smallest label of a relevant document."""
    return 2 if collection == "MSLR-WEB10K" else 1


def binary_folds(folds: Folds, relevant_from: int) -> Folds:
    """The folds with labels 0 and 1."""

    def binary(data: Dataset) -> Dataset:
        return data.replace(y=data.y >= relevant_from)

    def load(i: int) -> Fold:
        name, train, valid, test = folds[i]
        return Fold(name, binary(train), None if valid is None else binary(valid), binary(test))

    return Folds(folds.names, load)


def _claim(worse: str, collection: str, metric: str) -> Claim:
    """DirectRanker beats another method, fold by fold."""
    better, other = printed("DirectRanker", collection, metric), printed(worse, collection, metric)
    assert better is not None
    assert other is not None
    where = {"collection": collection, "measure": metric}
    return Claim(
        says=f"DirectRanker beats {worse}, {metric} on {collection}", better={"method": "DirectRanker", **where},
        worse={"method": worse, **where}, difference=round(better - other, 9), is_paired=True,
    )  # fmt: skip


CLAIMS = [
    *(_claim(worse, "MQ2007", metric) for worse in ("RankNet", "ListNet", "LambdaMART") for metric in MEASURES),
    _claim("RankNet", "MQ2008", "ndcg@10"), _claim("ListNet", "MQ2008", "ndcg@10"),
    _claim("LambdaMART", "MQ2008", "map"),
    *(
        Claim(
            says=f"RankNet made like DirectRanker beats RankNet, {metric}", is_paired=True,
            better={"method": MODERN, "measure": metric}, worse={"method": "RankNet", "measure": metric},
        )
        for metric in MEASURES
    ),
]  # fmt: skip
"""Where DirectRanker is ahead in Table 1, and what modern training gains; the paper itself calls the differences on
these two sets insignificant."""
_target = partial(Target, needs="MQ2007, MQ2008, MSLR-WEB10K", pairs=learned_pairs)
_page = partial(Result, protocol=PRINTED["protocol"], choices=PRINTED["choices"], spread="standard error", of="folds")
TARGETS = {
    "table1": _target(
        shows="NDCG@10 and MAP of nine rankers", takes="40 min", plans=plans, view=table1,
        page=_page("", ("collection", "measure", "method"), claims=CLAIMS),
    ),
    "table2": _target(
        shows="training times", takes="20 min", view=table2, is_timed=True,
        plans=partial(plans, collections=COLLECTIONS[::-1], by=MEASURES[:1]),
        page=_page("seconds to train", ("collection", "method"), digits=2),
    ),
}  # fmt: skip
