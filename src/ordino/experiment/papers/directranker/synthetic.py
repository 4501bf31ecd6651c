"""DirectRanker (Köppel et al., 2019), sections 4.3 and 5.2: Fig. 2a to 2d, how it depends on the data.

A point is this: make a training and a test set of Gaussian classes, learn, sort 50 random samples of 50 to 150 test
documents, average NDCG@20 over the samples; five data sets give the mean and its standard error. The paper prints no
numbers for the points; what its text says of them are the claims.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.data.synthetic import synthetic
from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.target import NOTHING, Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan, repeat_seeds
from ordino.experiment.store.trial import grouped
from ordino.streams import spawn_seed, stream

PRINTED = read_paper("directranker")

METRIC = "ndcg@20"
N_SETS = 5
N_SAMPLES = 50
FEWEST, MOST = 50, 150  # documents of a sample
N_TEST = 10_000
GROUP = 100  # training documents that are compared with each other; they are drawn alike, so any grouping will do
USUAL: Mapping[str, Any] = {"classes": 5, "features": 70, "noise": 0.0, "size": 100_000}


class Sweep(NamedTuple):
    """One panel: what varies over which values, and what tells its curves apart."""

    shows: str
    varies: str
    title: str
    values: tuple[float, ...]
    curves: str = ""
    """What else varies, if there is more than one curve."""
    kinds: tuple[int, ...] = (0,)
    takes: str = "15 min"
    logarithmic: bool = False


SWEEPS: Mapping[str, Sweep] = {
    "fig2a": Sweep(
        "number of classes", "classes", "number of relevance classes", tuple(range(2, 20)), "features", (40, 70)
    ),
    "fig2b": Sweep(
        "number of features", "features", "number of features", tuple(range(2, 100, 5)), "classes", (5, 10)
    ),
    "fig2c": Sweep(
        "noise on the labels", "noise", "standard deviation of the noise on the labels",
        (*(i / 10 for i in range(3)), 0.25, *(i / 10 for i in range(3, 8)), 0.75, 0.8, 0.9, 1.0), takes="6 min",
    ),
    "fig2d": Sweep(
        "size of the training set", "size", "documents in the training set",
        (100, 200, 400, 1_100, 3_300, 10_100, 31_700, 100_100, 316_300), "features", (40, 70), logarithmic=True,
    ),
}  # fmt: skip
"""The axes of the authors' repository (2022); noise has the two levels of the text, 0.25 and 0.75, beside its steps of
0.1, and training sets have whole hundreds of documents and end where the memory of a small machine does."""


class Point(NamedTuple):
    """One point of a panel: curve and place on the axis, the data, and the net that learns it."""

    curve: str
    place: str
    name: str
    data: Mapping[str, Any]
    net: System


def sweep_plans(panel: str, request: Request) -> list[Plan]:
    """A plan for each point: as many folds as there are data sets, each of training documents and test samples."""
    seeds = _seeds(request)
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
        Number((point.curve, point.place), None, trials.by_fold(point.name, point.net.label(request), METRIC))
        for point in _points(panel, request)
    ]
    seeds = f"Seeds of the data sets: {', '.join(map(str, _seeds(request)))}."
    return [*numbers, *_words(panel, numbers), seeds]


def learned_pairs(panel: str, request: Request) -> Iterator[str]:
    """How many pairs there are to learn from at both ends of each curve."""
    seeds = _seeds(request)
    for curve, own in grouped((point.curve, point) for point in _points(panel, request)).items():
        ends = (own[0], own[-1])
        told = [f"{_neighbors(_fold(point.data, seeds, 0).train):,} at {point.place}" for point in ends]
        yield f"Training pairs of neighboring classes, all distinct ({curve}, first data set): {', '.join(told)}."


def _neighbors(data: Dataset) -> int:
    """Pairs of documents of the same query with no class of the query between theirs."""
    counts = [np.unique(query.y, return_counts=True)[1] for query in data]
    return sum(int(own[1:] @ own[:-1]) for own in counts)


def _seeds(request: Request) -> list[int]:
    return repeat_seeds(request.seed, request.at_most(N_SETS))


def _sweep_target(panel: str, one: Sweep) -> Target:
    protocol = PRINTED["synthetic_protocol"].format(
        **USUAL, docs=f"{USUAL['size']:,}", test=N_TEST, sets="{n}", samples=N_SAMPLES, fewest=FEWEST, most=MOST
    )
    axes = Axes("lines", one.title, "NDCG@20", color="curve", logarithmic=one.logarithmic)
    page = Result(
        "", ("curve", one.title), (), protocol, PRINTED["synthetic_choices"], CLAIMS.get(panel, ()),
        spread="standard error", of="data sets", digits=4, axes=axes,
    )  # fmt: skip
    return Target(
        shows=f"NDCG@20 by {one.shows}", needs=NOTHING, takes=one.takes, plans=partial(sweep_plans, panel),
        view=partial(sweep, panel), pairs=partial(learned_pairs, panel), page=page,
    )  # fmt: skip


def _points(panel: str, request: Request) -> Iterator[Point]:
    _, varies, _, values, curves, kinds, *_ = SWEEPS[panel]
    for kind in kinds:
        for value in values[:2] if request.quick else values:
            data = {**USUAL, **({"size": 2_000} if request.quick else {}), varies: value}
            if curves:
                data[curves] = kind
            params = {"hidden": (70, data["classes"]), "batch": 10, "learning_rate": 3e-3, "scaling": "quantile"}
            params |= {"dropout": 0.0, "hold_out": None, "epochs": _epochs(data["size"])}
            net = System("directranker", params, quick={"epochs": 1})
            curve = f"{kind} {curves}" if curves else "5 classes, 70 features"
            place = f"{value:g}" if varies == "noise" else str(value)
            yield Point(curve, place, f"{varies} {value:g}, {curve}", data, net)


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


def _words(panel: str, numbers: Sequence[Number]) -> Iterator[str]:
    """What the paper's text says of its figure in numbers, beside what ours shows."""
    for curve, own in grouped((number.labels[0], number) for number in numbers).items():
        first, last = own[0], own[-1]
        how = "falls" if last.mean < first.mean else "rises"
        yield f"{curve}: from {first.labels[1]} to {last.labels[1]} it {how} by {abs(last.mean - first.mean):.3f}."
    if panel == "fig2c":
        at = {number.labels[1]: number.mean for number in numbers}
        if "0.75" in at:
            yield f"Noise of 0.25 costs {at['0'] - at['0.25']:.3f} (the paper: only marginal)."
            yield f"At noise 0.75, half of the labels wrong, it is {at['0.75']:.3f} (the paper: not below 0.80)."


def _ends(panel: str, says: str, better: str, worse: str) -> Claim:
    """The claim that a curve of a panel is higher at one place than at another."""
    x = SWEEPS[panel].title
    return Claim(says=says, better={x: better}, worse={x: worse})


CLAIMS: Mapping[str, Sequence[Claim]] = {
    "fig2a": [_ends("fig2a", "more classes are harder: 2 against 19", "2", "19")],
    "fig2b": [_ends("fig2b", "more features help: 97 against 2", "97", "2")],
    "fig2c": [
        _ends("fig2c", "large noise costs much: 0.25 against 0.75", "0.25", "0.75"),
        Claim(
            says="noise of 0.25 costs only marginally (within 0.02)", margin=0.02,
            better={SWEEPS["fig2c"].title: "0.25"}, worse={SWEEPS["fig2c"].title: "0"},
        ),
    ],
    "fig2d": [_ends("fig2d", "more documents help: 100,100 against 1,100", "100100", "1100")],
}  # fmt: skip
TARGETS = {panel: _sweep_target(panel, one) for panel, one in SWEEPS.items()}
