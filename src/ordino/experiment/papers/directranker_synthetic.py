"""DirectRanker (Köppel et al., 2019), sections 4.3 and 5.2: how it depends on the data, Fig. 2a to 2d.

Each point: make a training and a test set of Gaussian classes, learn, sort 50 random samples of 50 to 150 test
documents, average NDCG@20 over the samples; five data sets give the mean and its standard error. The paper prints no
numbers for the points and not all places on the axes; two claims of its text can be checked, and are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.data.synthetic import synthetic
from ordino.experiment.papers.result import Axes, Number, Result
from ordino.experiment.papers.target import NOTHING, Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan, repeat_seeds
from ordino.streams import spawn_seed, stream

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


def plans(panel: str, request: Request) -> list[Plan]:
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


def view(panel: str, request: Request, trials: Trials) -> Result:
    """One panel of Fig. 2."""
    title = SWEEPS[panel].title
    numbers = [
        Number((point.place,), None, trials.by_fold(point.name, point.net.label(request), METRIC))
        for point in _points(panel, request)
    ]
    protocol = read_paper("directranker")["synthetic_protocol"].format(
        **USUAL, docs=f"{USUAL['size']:,}", test=N_TEST, sets=len(numbers[0].ours), samples=N_SAMPLES, fewest=FEWEST,
        most=MOST,
    )  # fmt: skip
    return Result(
        f"NDCG@20 by {title}", (title,), numbers, protocol, spread="standard error", of="data sets", digits=4,
        axes=Axes("lines", title, "NDCG@20", logarithmic=SWEEPS[panel].logarithmic), notes=_claims(panel, numbers),
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


TARGETS = {
    panel: Target(
        shows=f"NDCG@20 by {one.shows}", needs=NOTHING, takes=one.takes, plans=partial(plans, panel),
        view=partial(view, panel),
    )
    for panel, one in SWEEPS.items()
}  # fmt: skip
