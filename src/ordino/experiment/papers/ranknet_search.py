"""RankNet (Burges et al., 2005), section 6: the search engine experiment, Tables 3 to 6.

The paper's data is private, so its protocol runs on any judged collection: queries split 2/3, 1/6 and 1/6; trained on
the judged documents and a sample of the others as level 0; six rankers, each with its best epoch on validation; NDCG@15
with 95 % intervals, a Wilcoxon test of the two nets, training times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold
from ordino.experiment.compare.significance import wilcoxon
from ordino.experiment.papers.request import Request
from ordino.experiment.papers.result import Cell, Result
from ordino.experiment.papers.training import Wanted, fit_seeds, train_ahead
from ordino.experiment.papers.trials import Make, ranker
from ordino.metrics import parse_metric

METRIC = "ndcg@15"
UNJUDGED_PER_JUDGED = 1.3  # what 2 % of the unjudged documents come to in the paper's training set
SHARED: Mapping[str, Any] = MappingProxyType({"metric": METRIC, "scaling": "symlog"})
EPOCHS: Mapping[str, Any] = MappingProxyType({"epochs": 100, "quick": {"epochs": 2}})


def _net(hidden: int | tuple[int, ...]) -> Make:
    def make(request: Request) -> Any:
        from ordino.rankers.ranknet import RankNet

        return RankNet.as_published(hidden=hidden, **SHARED, **({"epochs": 2} if request.quick else {}))

    return make


SYSTEMS: Mapping[str, Make] = MappingProxyType(
    {
        "Quad PRank": ranker("prank", quadratic=True, **SHARED, **EPOCHS),
        "Linear PRank": ranker("prank", **SHARED, **EPOCHS),
        "OAP-BPM": ranker("oap-bpm", n_perceptrons=100, tau=0.3, **SHARED, **EPOCHS),
        "RankProp": ranker("rankprop", hidden=(), patience=None, **SHARED, **EPOCHS),
        "One layer net": _net(()),
        "Two layer net": _net(10),
    }
)
"""The six systems; the paper chose tau and the number of perceptrons on its validation set."""

TABLE_3 = MappingProxyType(
    {"Train": (11_336, 384_314), "Valid": (2_834, 2_726_714), "Test": (2_834, 2_715_175)}
)  # fmt: skip
TABLE_4: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "Quad PRank": {"valid": 0.379, "test": 0.327},
        "Linear PRank": {"valid": 0.410, "test": 0.412},
        "OAP-BPM": {"valid": 0.455, "test": 0.454},
        "RankProp": {"valid": 0.459, "test": 0.460},
        "One layer net": {"valid": 0.479, "test": 0.477},
        "Two layer net": {"valid": 0.489, "test": 0.488},
    }
)
TABLE_5: Mapping[str, float] = MappingProxyType({"One layer net": 0.479, "Two layer net": 0.500})
TABLE_6: Mapping[str, float] = MappingProxyType(
    {
        "Linear PRank": 11 * 60, "RankProp": 23 * 60, "One layer net": 67 * 60, "Two layer net": 351 * 60,
        "OAP-BPM": 623 * 60, "Quad PRank": 2392 * 60,
    }
)  # fmt: skip
"""Seconds on a machine of 2005."""

PROTOCOL = (
    "The protocol of section 6 on other data than the paper's: all queries of the first fold, shuffled, 2/3 to "
    "train on, 1/6 to validate, 1/6 to test. Documents with label 0 stand for the paper's unjudged ones: training "
    "sees a random part of them, {ratio} for each judged one. sign(x) log(1 + |x|) of the features, 100 epochs, "
    "the best by NDCG@15 on validation kept."
)


class Parts(NamedTuple):
    """The three parts, and what of the first is trained on."""

    name: str
    learned: Dataset
    train: Dataset
    valid: Dataset
    test: Dataset


class System(NamedTuple):
    """A trained system: NDCG@15 of each query of each part, and its training time."""

    values: Mapping[str, NDArray[np.float64]]
    seconds: float


def table3(request: Request) -> Result:
    """Sample sizes."""
    parts = _parts(request)
    sizes = {"Train": parts.learned, "Valid": parts.valid, "Test": parts.test}
    cells = [
        _cell((part, what), paper, (count,))
        for part, data in sizes.items()
        for what, paper, count in zip(
            ("queries", "documents"), TABLE_3[part], (data.n_queries, data.n_docs), strict=True
        )
    ]
    return _result("table3", "sample sizes", ("part", "number of"), cells, request, digits=0)


def table4(request: Request) -> Result:
    """Quality of the six systems on validation and test queries."""
    found = _systems(request)
    cells = [
        _cell((name, part), TABLE_4[name][part], system.values[part])
        for name, system in found.items()
        for part in ("valid", "test")
    ]
    p = wilcoxon(found["One layer net"].values["test"], found["Two layer net"].values["test"]).p
    notes = [
        f"Wilcoxon test of the one layer and the two layer net on the test queries: p = {p:.3g} (the paper: 0.16)."
    ]
    return _result("table4", "NDCG@15 of six systems", ("system", "part"), cells, request, notes=notes)


def table5(request: Request) -> Result:
    """Quality of the two nets on all documents of the training queries."""
    found = _systems(request)
    cells = [_cell((name,), paper, found[name].values["train"]) for name, paper in TABLE_5.items()]
    return _result("table5", "NDCG@15 on the training queries", ("system",), cells, request)


def table6(request: Request) -> Result:
    """Training times."""
    found = _systems(request.alone())
    cells = [_cell((name,), paper, (found[name].seconds,)) for name, paper in TABLE_6.items()]
    return _result("table6", "seconds to train", ("system",), cells, request, digits=1)


def _systems(request: Request) -> dict[str, System]:
    """All systems, trained."""
    parts = _parts(request)
    fold, seeds = Fold(parts.name, parts.learned, parts.valid, parts.test), [request.seed]
    metric = parse_metric(METRIC)
    train_ahead((Wanted(make(request), fold, seeds) for make in SYSTEMS.values()), request)
    found = {}
    for name, make in SYSTEMS.items():
        [fitted], seconds = fit_seeds(make(request), fold, seeds, request)
        values = {}
        for part in ("train", "valid", "test"):
            data: Dataset = getattr(parts, part)
            measured = metric.per_query(data.y, fitted.predict(data), data.offsets)
            values[part] = measured[~np.isnan(measured)]
        found[name] = System(values, seconds)
    return found


@cache
def _parts(request: Request) -> Parts:
    name, folds = next(iter(request.collections(("search",)).items()))
    pieces = [part for part in folds[0][1:] if part is not None]
    whole = Dataset(*(np.concatenate(columns) for columns in zip(*((p.X, p.y, p.qid) for p in pieces), strict=True)))
    train, valid, test = whole.split(2 / 3, 1 / 6, 1 / 6, seed=request.seed)
    is_judged = train.y > 0
    share = min(1.0, UNJUDGED_PER_JUDGED * is_judged.sum() / max(1, (~is_judged).sum()))
    drawn = np.random.default_rng(request.seed).random(train.n_docs) < share
    return Parts(name, train.select_docs(is_judged | drawn), train, valid, test)


def _cell(labels: tuple[str, ...], paper: float, ours: Iterable[float]) -> Cell:
    return Cell(labels, paper, tuple(map(float, ours)), same_data=False)


def _result(
    table: str, title: str, columns: tuple[str, ...], cells: list[Cell], request: Request, *,
    digits: int = 3, notes: list[str] | None = None,
) -> Result:  # fmt: skip
    return Result(
        f"ranknet.{table}", f"{title}, run on {_parts(request).name}", columns, cells,
        PROTOCOL.format(ratio=UNJUDGED_PER_JUDGED), spread="95 % interval", of="queries", digits=digits,
        seed=request.seed, notes=notes or [],
    )  # fmt: skip


RUNS: Mapping[str, Callable[[Request], Result]] = MappingProxyType(
    {"table3": table3, "table4": table4, "table5": table5, "table6": table6}
)
"""What this module reproduces."""
