"""DirectRanker (Köppel et al., 2019): its tables on real data, and how it depends on the data.

Section 5.1 has Table 1 (quality of eight methods) and Table 2 (training times). Sections 4.3 and 5.2 have Fig. 2a to
2d, and each point of them is this: make a training and a test set of Gaussian classes, learn, sort 50 random samples of
50 to 150 test documents, average NDCG@20 over the samples; five data sets give the mean and its standard error. The
paper prints no numbers for the points and not all places on the axes; two claims of its text can be checked, and are.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.data.synthetic import synthetic
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.target import NOTHING, Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan, repeat_seeds
from ordino.experiment.store.trial import TrialInfo
from ordino.streams import spawn_seed, stream

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


METHODS: Mapping[str, System] = {
    "DirectRanker": System("directranker", NETWORK, "", QUICK, NETWORKS, N_SEEDS),
    "RankNet": System("ranknet", NETWORK, "", QUICK, NETWORKS, N_SEEDS),
    "ListNet": System("listnet", NETWORK, "", QUICK, NETWORKS, N_SEEDS),
    "LambdaMART": System("lambda-mart", quick=ROUNDS, grid=TREES),
    "AdaRank": System("ada-rank", quick=ROUNDS),
    "ES-Rank": System("es-rank", quick=GENERATIONS, repeats=N_EVOLVED),
    "IESR-Rank": System("iesr-rank", quick=GENERATIONS, repeats=N_EVOLVED),
    "IESVM-Rank": System("iesvm-rank", quick=GENERATIONS, repeats=N_EVOLVED),
}
ONCE = ("DirectRanker", "RankNet", "ListNet")  # the others learn by the metric itself: they are trained once for each


def plans(request: Request, *, collections: Sequence[str] = COLLECTIONS, by: Sequence[str] = MEASURES) -> list[Plan]:
    """The networks once, chosen by NDCG@10, and the others once for each metric, which they maximize."""
    data = {
        name: _binary(folds, 2 if name == "MSLR-WEB10K" else 1)
        for name, folds in request.collections(collections).items()
    }
    each = [system for name, system in METHODS.items() if name not in ONCE]
    runs = [([METHODS[name] for name in ONCE], by), *((each, (metric,)) for metric in by)]
    return [request.plan(data, systems, measures=measures, profile=PROFILE) for systems, measures in runs]


def table1(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Quality of all methods on the collections that are there."""
    for collection in request.collections(COLLECTIONS):
        for name, system in METHODS.items():
            label = system.label(request)
            printed = PRINTED["table1"][name].get(collection, (None, None))
            for metric, paper in zip(MEASURES, printed, strict=True):
                yield Number((collection, metric, name), paper, trials.by_fold(collection, label, metric))
                if name not in ONCE or metric == MEASURES[0]:
                    own = trials.of(collection, label, metric)
                    yield from _chosen(f"{name} on {collection}, by {metric}", own, system)


def table2(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Training time of all methods, per fold and seed."""
    for collection in request.collections(COLLECTIONS[::-1]):
        for name, system in METHODS.items():
            seconds = trials.by_fold(collection, system.label(request), MEASURES[0], lambda trial: trial.train_seconds)
            paper = PRINTED["table2"][name] if collection == "MSLR-WEB10K" else None
            yield Number((collection, name), paper, seconds)
    yield "Seconds of one training with the setting that is kept; what choosing it takes is not counted."


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


def _binary(folds: Folds, relevant_from: int) -> Folds:
    """The folds with labels 0 and 1."""

    def binary(data: Dataset) -> Dataset:
        return data.replace(y=data.y >= relevant_from)

    def load(i: int) -> Fold:
        name, train, valid, test = folds[i]
        return Fold(name, binary(train), None if valid is None else binary(valid), binary(test))

    return Folds(folds.names, load)


METRIC = "ndcg@20"
N_SETS = 5
N_SAMPLES = 50
FEWEST, MOST = 50, 150  # documents of a sample
N_TEST = 10_000
GROUP = 100  # training documents that are compared with each other; they are drawn alike, so any grouping will do
USUAL: Mapping[str, Any] = {"classes": 5, "features": 70, "noise": 0.0, "size": 100_000}


class Sweep(NamedTuple):
    """One panel: what it shows, what varies, over which values, and about how long it takes."""

    shows: str
    varies: str
    title: str
    values: tuple[float, ...]
    takes: str = "2 min"
    logarithmic: bool = False


SWEEPS: Mapping[str, Sweep] = {
    "fig2a": Sweep("number of classes", "classes", "number of relevance classes", (2, 3, 5, 10, 15, 20)),
    "fig2b": Sweep("number of features", "features", "number of features", (5, 10, 20, 40, 70, 100)),
    "fig2c": Sweep(
        "noise on the labels", "noise", "standard deviation of the noise on the labels", (0.0, 0.25, 0.5, 0.75, 1.0)
    ),
    "fig2d": Sweep(
        "size of the training set", "size", "documents in the training set", (1_000, 3_000, 10_000, 30_000, 100_000),
        "1 min", logarithmic=True,
    ),
}  # fmt: skip


class Point(NamedTuple):
    """One point of a panel: its place on the axis, the data, and the net that learns it."""

    place: str
    name: str
    data: Mapping[str, Any]
    net: System


def sweep_plans(panel: str, request: Request) -> list[Plan]:
    """A plan for each point: as many folds as there are data sets, each of training documents and test samples."""
    seeds = repeat_seeds(request.seed, request.at_most(N_SETS))
    return [
        request.plan(
            {point.name: Folds([str(seed) for seed in seeds], partial(_fold, point.data, seeds))},
            [point.net],
            measures=(METRIC,),
            seed=spawn_seed(request.seed, "net"),
        )
        for point in _points(panel, request)
    ]


def sweep(panel: str, request: Request, trials: Trials) -> list[Number | str]:
    """One panel of Fig. 2."""
    numbers = [
        Number((point.place,), None, trials.by_fold(point.name, point.net.label(request), METRIC))
        for point in _points(panel, request)
    ]
    return [*numbers, *_claims(panel, numbers)]


def _sweep_target(panel: str, one: Sweep) -> Target:
    protocol = PRINTED["synthetic_protocol"].format(
        **USUAL, docs=f"{USUAL['size']:,}", test=N_TEST, sets="{n}", samples=N_SAMPLES, fewest=FEWEST, most=MOST
    )
    axes = Axes("lines", one.title, "NDCG@20", logarithmic=one.logarithmic)
    page = Result("", (one.title,), (), protocol, spread="standard error", of="data sets", digits=4, axes=axes)
    return Target(
        shows=f"NDCG@20 by {one.shows}", needs=NOTHING, takes=one.takes, plans=partial(sweep_plans, panel),
        view=partial(sweep, panel), page=page,
    )  # fmt: skip


def _points(panel: str, request: Request) -> Iterator[Point]:
    varies, values = SWEEPS[panel].varies, SWEEPS[panel].values
    for value in values[:2] if request.quick else values:
        data = {**USUAL, **({"size": 2_000} if request.quick else {}), varies: value}
        params = {"hidden": (70, data["classes"]), "batch": 10, "learning_rate": 3e-3, "scaling": "quantile"}
        net = System("directranker", params | {"epochs": _epochs(data["size"])}, quick={"epochs": 1})
        yield Point(f"{value:g}" if varies == "noise" else str(value), f"{varies} {value:g}", data, net)


def _fold(data: Mapping[str, Any], seeds: Sequence[int], number: int) -> Fold:
    """Step 1 of the paper's procedure for one data set, with the samples of step 3 as test part."""
    seed, size = seeds[number], data["size"]
    made = synthetic(
        "directranker", queries=(size + N_TEST) // GROUP, docs=GROUP, features=data["features"],
        classes=data["classes"], noise=data["noise"], seed=seed,
    )  # fmt: skip
    train, test = (made.select_queries(part) for part in np.split(np.arange(made.n_queries), [size // GROUP]))
    return Fold(str(seed), train, None, _samples(test, stream(seed, "samples")))


def _samples(test: Dataset, rng: np.random.Generator) -> Dataset:
    """Random subsets of the test documents, each as a query."""
    counts = rng.integers(FEWEST, MOST + 1, N_SAMPLES)
    rows = np.concatenate([rng.choice(test.n_docs, n, replace=False) for n in counts])
    return Dataset(test.X[rows], test.y[rows], np.repeat(np.arange(N_SAMPLES), counts))


def _epochs(size: int) -> int:
    """5 epochs of the usual training set; a smaller one is seen more often, 50 times at most."""
    return max(5, min(50, 300_000 // size))


def _claims(panel: str, numbers: Sequence[Number]) -> list[str]:
    """What the paper's text says of its figure, beside what ours shows."""
    first, last = numbers[0], numbers[-1]
    if panel != "fig2c":
        how = "falls" if last.mean < first.mean else "rises"
        return [f"From {first.labels[0]} to {last.labels[0]} NDCG@20 {how} by {abs(last.mean - first.mean):.3f}."]
    at = {float(number.labels[0]): number.mean for number in numbers}
    checks = [f"Noise of 0.25 costs {at[0.0] - at[0.25]:.3f} (the paper: only marginal)."] if 0.25 in at else []
    if 0.75 in at:
        checks.append(f"At noise 0.75, half of the labels wrong, it is {at[0.75]:.3f} (the paper: not below 0.80).")
    return checks


PROTOCOL = PRINTED["protocol"].format(n_seeds=N_SEEDS, n_evolved=N_EVOLVED)
_target = partial(Target, needs="MQ2007, MQ2008, MSLR-WEB10K")
_page = partial(Result, protocol=PROTOCOL, spread="standard error", of="folds")
TARGETS = {
    "table1": _target(
        shows="NDCG@10 and MAP of eight methods", takes="30 min", plans=plans, view=table1,
        page=_page("", ("collection", "measure", "method")),
    ),
    "table2": _target(
        shows="training times", takes="20 min", view=table2, is_timed=True,
        plans=partial(plans, collections=COLLECTIONS[::-1], by=MEASURES[:1]),
        page=_page("seconds to train", ("collection", "method"), digits=2),
    ),
    **{panel: _sweep_target(panel, one) for panel, one in SWEEPS.items()},
}  # fmt: skip
