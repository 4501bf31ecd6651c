"""RankNet (Burges et al., 2005), section 6: the search engine experiment, Tables 3 to 6.

The paper's data is private, so its protocol runs on any judged collection: queries split 2/3, 1/6 and 1/6; trained on
the judged documents and a sample of the others as level 0; six rankers, each with its best epoch on validation; NDCG@15
with 95 % intervals, a Wilcoxon test of the two nets, training times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.experiment.compare.significance import wilcoxon
from ordino.experiment.papers.result import Number, Result
from ordino.experiment.papers.target import ANY_JUDGED, Request, System, Target
from ordino.experiment.papers.trials import Trials
from ordino.experiment.plan.plan import Plan
from ordino.experiment.store.trial import Values

METRIC = "ndcg@15"
UNJUDGED_PER_JUDGED = 1.3  # what 2 % of the unjudged documents come to in the paper's training set
SHARED = {"scaling": "symlog"}
EPOCHS = SHARED | {"epochs": 100}
QUICK = {"epochs": 2}
PUBLISHED = SHARED | {"metric": METRIC}

SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        "Quad PRank": System("prank", EPOCHS | {"quadratic": True}, quick=QUICK),
        "Linear PRank": System("prank", EPOCHS, quick=QUICK),
        "OAP-BPM": System("oap-bpm", EPOCHS | {"n_perceptrons": 100, "tau": 0.3}, quick=QUICK),
        "RankProp": System("rankprop", EPOCHS | {"hidden": (), "patience": None}, quick=QUICK),
        "One layer net": System("ranknet", PUBLISHED | {"hidden": ()}, "published", QUICK),
        "Two layer net": System("ranknet", PUBLISHED | {"hidden": 10}, "published", QUICK),
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


def plans(request: Request) -> list[Plan]:
    """All systems."""
    parts = _parts(request)
    return [_plan(parts.name, parts.test, SYSTEMS, request)]


def training_plans(request: Request) -> list[Plan]:
    """The two nets, measured on all documents of the training queries."""
    parts = _parts(request)
    return [_plan(_training(parts), parts.train, {name: SYSTEMS[name] for name in TABLE_5}, request)]


def _plan(name: str, test: Dataset, systems: Mapping[str, System], request: Request) -> Plan:
    parts = _parts(request)
    folds = Folds(["Fold1"], lambda _: Fold("Fold1", parts.learned, parts.valid, test))
    return request.plan({name: folds}, list(systems.values()), measures=(METRIC,), parts=("valid",))


def table3(request: Request, _: Trials) -> Result:
    """Sample sizes."""
    parts = _parts(request)
    sizes = {"Train": parts.learned, "Valid": parts.valid, "Test": parts.test}
    numbers = [
        _number((part, what), paper, (count,))
        for part, data in sizes.items()
        for what, paper, count in zip(
            ("queries", "documents"), TABLE_3[part], (data.n_queries, data.n_docs), strict=True
        )
    ]
    return _result("sample sizes", ("part", "number of"), numbers, request, digits=0)


def table4(request: Request, trials: Trials) -> Result:
    """Quality of the six systems on validation and test queries."""
    name = _parts(request).name
    found = {
        (system, part): _values(name, system, part, request, trials) for system in SYSTEMS for part in ("valid", "test")
    }
    numbers = [_number(labels, TABLE_4[labels[0]][labels[1]], values) for labels, values in found.items()]
    p = wilcoxon(found["One layer net", "test"], found["Two layer net", "test"]).p
    notes = [
        f"Wilcoxon test of the one layer and the two layer net on the test queries: p = {p:.3g} (the paper: 0.16)."
    ]
    return _result("NDCG@15 of six systems", ("system", "part"), numbers, request, notes=notes)


def table5(request: Request, trials: Trials) -> Result:
    """Quality of the two nets on all documents of the training queries."""
    name = _training(_parts(request))
    numbers = [
        _number((system,), paper, _values(name, system, "test", request, trials)) for system, paper in TABLE_5.items()
    ]
    return _result("NDCG@15 on the training queries", ("system",), numbers, request)


def table6(request: Request, trials: Trials) -> Result:
    """Training times."""
    name = _parts(request).name
    numbers = []
    for system, paper in TABLE_6.items():
        [trial] = trials.of(name, SYSTEMS[system].label(request))
        numbers.append(_number((system,), paper, (trial.train_seconds,)))
    return _result("seconds to train", ("system",), numbers, request, digits=1)


def _values(name: str, system: str, part: str, request: Request, trials: Trials) -> Values:
    """NDCG@15 of each query that counts."""
    [trial] = trials.of(name, SYSTEMS[system].label(request))
    values = trials.values(trial, METRIC, part)
    return values[~np.isnan(values)]


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


def _training(parts: Parts) -> str:
    return f"{parts.name}, training queries"


def _number(labels: tuple[str, ...], paper: float, ours: Iterable[float]) -> Number:
    return Number(labels, paper, tuple(map(float, ours)), same_data=False)


def _result(
    title: str, columns: tuple[str, ...], numbers: list[Number], request: Request, *, digits: int = 3,
    notes: list[str] | None = None,
) -> Result:  # fmt: skip
    return Result(
        f"{title}, run on {_parts(request).name}", columns, numbers, PROTOCOL.format(ratio=UNJUDGED_PER_JUDGED),
        spread="95 % interval", of="queries", digits=digits, notes=notes or [],
    )  # fmt: skip


_target = partial(Target, needs=ANY_JUDGED, takes="10 min")
TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "table3": _target(shows="queries and documents used for training, validation and test", view=table3),
        "table4": _target(
            shows="NDCG@15 of PRank, OAP-BPM, RankProp and RankNet with 95 % intervals", plans=plans, view=table4
        ),
        "table5": _target(shows="NDCG@15 of RankNet on its training queries", plans=training_plans, view=table5),
        "table6": _target(shows="training times", plans=plans, view=table6, is_timed=True),
    }
)
"""What this module reproduces."""
