"""RankNet (Burges et al., 2005), section 6: the search engine experiment, Tables 3 to 6.

The paper's data is private, so its protocol runs on any judged collection: queries split 2/3, 1/6 and 1/6; trained on
the judged documents and a sample of the others as level 0; six rankers, each with its best epoch on validation; NDCG@15
with 95 % intervals, a Wilcoxon test of the two nets, training times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.experiment.compare.significance import wilcoxon
from ordino.experiment.papers.result import Number, Result
from ordino.experiment.papers.target import ANY_JUDGED, Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan
from ordino.experiment.store.trial import Values

METRIC = "ndcg@15"
UNJUDGED_PER_JUDGED = 1.3  # what 2 % of the unjudged documents come to in the paper's training set
SHARED = {"scaling": "symlog"}
EPOCHS = SHARED | {"epochs": 100}
QUICK = {"epochs": 2}
PUBLISHED = SHARED | {"metric": METRIC}

PRINTED = read_paper("ranknet")

SYSTEMS: Mapping[str, System] = {
    "Quad PRank": System("prank", EPOCHS | {"quadratic": True}, quick=QUICK),
    "Linear PRank": System("prank", EPOCHS, quick=QUICK),
    "OAP-BPM": System("oap-bpm", EPOCHS | {"n_perceptrons": 100, "tau": 0.3}, quick=QUICK),
    "RankProp": System("rankprop", EPOCHS | {"hidden": (), "patience": None}, quick=QUICK),
    "One layer net": System("ranknet", PUBLISHED | {"hidden": ()}, "published", QUICK),
    "Two layer net": System("ranknet", PUBLISHED | {"hidden": 10}, "published", QUICK),
}
"""The six systems; the paper chose tau and the number of perceptrons on its validation set."""


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
    return [_plan(parts.name, parts.test, SYSTEMS.values(), request)]


def training_plans(request: Request) -> list[Plan]:
    """The two nets, measured on all documents of the training queries."""
    parts = _parts(request)
    return [_plan(_training(parts), parts.train, (SYSTEMS[name] for name in PRINTED["table5"]), request)]


def _plan(name: str, test: Dataset, systems: Iterable[System], request: Request) -> Plan:
    parts = _parts(request)
    folds = Folds(["Fold1"], lambda _: Fold("Fold1", parts.learned, parts.valid, test))
    return request.plan({name: folds}, systems, measures=(METRIC,), parts=("valid",))


def table3(request: Request, _: Trials) -> Result:
    """Sample sizes."""
    parts = _parts(request)
    numbers = []
    for part, data in {"Train": parts.learned, "Valid": parts.valid, "Test": parts.test}.items():
        n_queries, n_docs = PRINTED["table3"][part]
        numbers.append(_number((part, "queries"), n_queries, (data.n_queries,)))
        numbers.append(_number((part, "documents"), n_docs, (data.n_docs,)))
    return _result("sample sizes", ("part", "number of"), numbers, request, digits=0)


def table4(request: Request, trials: Trials) -> Result:
    """Quality of the six systems on validation and test queries."""
    name, printed = _parts(request).name, PRINTED["table4"]
    parts = [(system, part) for system in SYSTEMS for part in ("valid", "test")]
    found = {one: _values(name, *one, request, trials) for one in parts}
    numbers = [_number((system, part), printed[system][part], values) for (system, part), values in found.items()]
    p = wilcoxon(found["One layer net", "test"], found["Two layer net", "test"]).p
    note = f"Wilcoxon test of the one layer and the two layer net on the test queries: p = {p:.3g} (the paper: 0.16)."
    return _result("NDCG@15 of six systems", ("system", "part"), numbers, request, notes=[note])


def table5(request: Request, trials: Trials) -> Result:
    """Quality of the two nets on all documents of the training queries."""
    name, printed = _training(_parts(request)), PRINTED["table5"]
    numbers = [_number((one,), printed[one], _values(name, one, "test", request, trials)) for one in printed]
    return _result("NDCG@15 on the training queries", ("system",), numbers, request)


def table6(request: Request, trials: Trials) -> Result:
    """Training times; the paper has minutes."""
    name = _parts(request).name
    numbers = []
    for system, minutes in PRINTED["table6"].items():
        [trial] = trials.of(name, SYSTEMS[system].label(request))
        numbers.append(_number((system,), minutes * 60, (trial.train_seconds,)))
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
    notes: Sequence[str] = (),
) -> Result:  # fmt: skip
    title, protocol = f"{title}, run on {_parts(request).name}", PRINTED["search_protocol"]
    protocol = protocol.format(ratio=UNJUDGED_PER_JUDGED)
    spread, of = "95 % interval", "queries"
    return Result(title, columns, numbers, protocol, spread=spread, of=of, digits=digits, notes=notes)


_target = partial(Target, needs=ANY_JUDGED, takes="10 min")
TARGETS = {
    "table3": _target(shows="queries and documents used for training, validation and test", view=table3),
    "table4": _target(
        shows="NDCG@15 of PRank, OAP-BPM, RankProp and RankNet with 95 % intervals", plans=plans, view=table4
    ),
    "table5": _target(shows="NDCG@15 of RankNet on its training queries", plans=training_plans, view=table5),
    "table6": _target(shows="training times", plans=plans, view=table6, is_timed=True),
}
