"""SortNet's central claim: the pairs that its own sort mis-compares teach more than as many random pairs.

SortNet is trained as published. Its rival has everything that it has (the same network, training, number of comparators
and choice by MAP on the validation part) but the choice of pairs: comparator by comparator it learns from as many
random pairs of different labels, each once, as SortNet knew in that iteration, in training and in validation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.letor import COLUMNS, WITH_ERROR
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan
from ordino.experiment.store.trial import TrialInfo, grouped

METRICS = ("map", "p@10", "ndcg@10")
SORTNET, BEST, ONCE = "SortNet", "random pairs, best of as many comparators", "random pairs, one comparator"
MEASURED: dict[str, Any] = {"measures": WITH_ERROR, "parts": ("train",), "profile": "standard"}
Own = Callable[[str], System]  # SortNet on a collection


def incremental_target(own: Own, collections: Sequence[str], **page: Any) -> Target:
    """SortNet beside comparators that learn from random pairs."""
    where = {"part": "test", "measure": "map"}
    claims = [
        Claim(
            says=f"{SORTNET} is better than {rival}", better={"method": SORTNET} | where,
            worse={"method": rival} | where,
        )
        for rival in (BEST, ONCE)
    ]  # fmt: skip
    return Target(
        shows="incremental learning against as many random pairs", needs=", ".join(collections), takes="20 min",
        plans=partial(_own_plans, own, collections), then=partial(_rival_plans, own, collections),
        view=partial(_compared, own, collections), page=Result("", COLUMNS, claims=claims, **page),
    )  # fmt: skip


def _own_plans(own: Own, collections: Sequence[str], request: Request) -> list[Plan]:
    found = request.collections(collections)
    return [request.plan({name: folds}, [own(name)], **MEASURED) for name, folds in found.items()]


def _rival_plans(own: Own, collections: Sequence[str], request: Request, trials: Trials) -> Iterator[Plan]:
    """For every fold, a comparator for each iteration."""
    for name, folds in request.collections(collections).items():
        for number, fold in enumerate(folds.names):
            rivals = _rivals(own(name), _of_fold(name, fold, own(name), request, trials), trials)
            yield request.plan({name: folds[number : number + 1]}, rivals, **MEASURED)


def _of_fold(name: str, fold: str, system: System, request: Request, trials: Trials) -> list[TrialInfo]:
    return [trial for trial in trials.of(name, system.label(request)) if trial.fold == fold]


def _rivals(own: System, of_fold: Sequence[TrialInfo], trials: Trials) -> list[System]:
    """Comparators of as many random pairs as SortNet knew in each iteration but the first, by the mean of its seeds."""
    histories = [trials.store.history(trial.key) for trial in of_fold]
    known = grouped((i, step) for history in histories for i, step in enumerate(history) if i)
    training = {"activation": "sigmoid", "initializer": "unit", "dropout": 0.0, "epochs": 300, "distinct_pairs": True}
    return [
        System(
            "deepnet",
            training
            | {"hidden": own.params["hidden"]}
            | {
                parameter: max(1, round(np.mean([step[f"{part}_known"] for step in steps])))
                for part, parameter in (("train", "n_pairs"), ("valid", "n_valid_pairs"))
            },
            "published",
            {"epochs": own.quick["epochs"]},
            repeats=own.repeats,
        )
        for steps in known.values()
    ]


def kept_iteration(history: Sequence[Mapping[str, float]]) -> int:
    """The iteration whose comparator SortNet keeps: the first that ranks the validation part best."""
    return int(np.argmax([step["valid"] for step in history]))


def _compared(own: Own, collections: Sequence[str], request: Request, trials: Trials) -> Iterator[Number | str]:
    """Means over the folds, one value for each seed."""
    for name, folds in request.collections(collections).items():
        chosen: dict[str, list[TrialInfo]] = {SORTNET: [], BEST: [], ONCE: []}
        sizes = []
        for fold in folds.names:
            of_fold = _of_fold(name, fold, own(name), request, trials)
            rivals = [_of_fold(name, fold, rival, request, trials) for rival in _rivals(own(name), of_fold, trials)]
            for place, trial in enumerate(of_fold):
                history = trials.store.history(trial.key)
                best = kept_iteration(history)
                chosen[SORTNET].append(trial)
                chosen[BEST].append(max((of_rival[place] for of_rival in rivals), key=lambda one: one.valid["map"]))
                chosen[ONCE].append(rivals[max(best, 1) - 1][place])
                sizes.append(history[best]["train_known"])
        for method, own_trials in chosen.items():
            for metric in METRICS:
                by_seed = grouped((trial.seed, trial.test[metric]) for trial in own_trials)
                means = tuple(float(np.mean(values)) for values in by_seed.values())
                yield Number((name, method, "test", metric), None, means)
        yield (
            f"The comparator that SortNet keeps on {name} has learned from {np.mean(sizes):,.0f} pairs on average, "
            "all distinct, and its rival with one comparator from as many, also distinct."
        )
