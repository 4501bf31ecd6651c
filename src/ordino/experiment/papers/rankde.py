"""RankDE (Bollegala et al., 2011), section 4: six methods (Tables 3 and 4), weights (Table 5), pruning (4.6)."""

from collections.abc import Iterator, Mapping
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from ordino.data.folds import Folds
from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.letor import COLUMNS, LETOR_METRICS, WITH_ERROR, Row, printed_rows, row_number
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.rankde_arithmetic import OWN, faults
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.sortnet import MAP, RANK_SVM
from ordino.experiment.papers.target import Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan
from ordino.experiment.store.trial import TrialInfo, grouped
from ordino.metrics import evaluate

REPEATS = 5  # the paper has one
EQUATION_9 = "rankde"
PRINTED = read_paper("rankde")
QUICK = {"generations": 3, "population": 10}
OWN_BY_LETOR = "RankDE, LETOR's NDCG"
BY_QUERY = "map, by query"

_system = partial(System, repeats=REPEATS)
METHODS: Mapping[str, System] = {
    "BM25": _system("single-feature", MAP | {"feature": 1, "sign": 1}),  # where it is in LETOR 2.0
    "RankSVM": RANK_SVM,
    "RankBoost": _system("rank-boost", MAP, quick={"rounds": 3}),
    "SwarmRank": _system("swarm-rank", MAP, quick=QUICK),
    "GPRank": _system("gp-rank", MAP, quick=QUICK),
    OWN: _system("rankde", MAP, "published", QUICK),
}
N_LETOR_4 = 46  # features of MQ2007 and MQ2008
BM25_LETOR_4 = _system("single-feature", MAP | {"feature": 25, "sign": 1})  # of the whole document
N_QUERIES = {"TD2003": 50, "TD2004": 75}

PAPER = {name: printed_rows(PRINTED[name]) for name in N_QUERIES}
TABLE_5 = {name: None if isnan(weight) else weight for name, weight in PRINTED["table5"].items()}


def _is_letor_4(folds: Folds) -> bool:
    return folds[0].train.n_features == N_LETOR_4


def _rows(table: str, folds: Folds) -> list[Row]:
    own = {"BM25": BM25_LETOR_4} if _is_letor_4(folds) else {}
    return [Row(method, system, {table: PAPER[table][method]}) for method, system in {**METHODS, **own}.items()]


def _profile(method: str, folds: Folds) -> str:
    """Equation 9 for RankDE, and LETOR's tools for the others, whose numbers the paper took from LETOR."""
    letor = "letor4" if _is_letor_4(folds) else "letor3"
    return EQUATION_9 if method == OWN else letor


def method_plans(table: str, request: Request) -> list[Plan]:
    """All methods, each by the measures of its column."""
    return [
        request.plan({name: folds}, systems, measures=WITH_ERROR, parts=("train",), profile=profile)
        for name, folds in request.collections((table,)).items()
        for profile, systems in grouped((_profile(row.label, folds), row.system) for row in _rows(table, folds)).items()
    ]


def methods(table: str, request: Request, trials: Trials) -> Iterator[Number | str]:
    """Tables 3 and 4; then NDCG of RankDE by LETOR's tool, and average precision of every query."""
    for name, folds in request.collections((table,)).items():
        rows = _rows(table, folds)
        for row in rows:
            yield from (row_number(row, name, "test", metric, request, trials) for metric in LETOR_METRICS)
        own = trials.of(name, METHODS[OWN].label(request))
        yield from _by_letor(name, own, folds, trials)
        for row in rows:
            values = _average_precisions(trials.of(name, row.system.label(request)), trials)
            yield Number((name, row.label, "test", BY_QUERY), None, tuple(values.tolist()), is_by_query=True)
    yield f'The values of "{BY_QUERY}" are those of the queries, each the mean over the repeats: the paired t-test.'
    yield from faults(table, PAPER[table], N_QUERIES[table])


def _by_letor(name: str, own: list[TrialInfo], folds: Folds, trials: Trials) -> Iterator[Number]:
    """NDCG of RankDE as the other methods have it, from the fitted rankers."""
    tests = {fold.name: fold.test for fold in folds}
    metrics = [metric for metric in LETOR_METRICS if metric.startswith("ndcg")]
    found = [
        (trial.seed, evaluate(test, trials.ranker(trial).predict(test), metrics=metrics, profile=_profile("", folds)))
        for trial in own
        for test in [tests[trial.fold]]
    ]
    for metric in metrics:
        by_seed = grouped((seed, values[metric]) for seed, values in found)
        means = tuple(float(np.mean(values)) for values in by_seed.values())
        yield Number((name, OWN_BY_LETOR, "test", metric), None, means)


def _average_precisions(own: list[TrialInfo], trials: Trials) -> Any:
    """AP of the queries of all folds, the mean over the seeds of each."""
    folds = grouped((trial.fold, trials.values(trial, "map")) for trial in own)
    return np.concatenate([np.mean(values, axis=0) for values in folds.values()])


def _beats_all(table: str) -> list[Claim]:
    """RankDE is better than every other method by a paired t-test at 0.05."""
    where = {"part": "test", "measure": BY_QUERY}
    printed = {method: row["test map"] for method, row in PAPER[table].items()}
    return [
        Claim(
            says=f"{OWN} beats {other} in MAP", better={"method": OWN} | where, worse={"method": other} | where,
            difference=round(printed[OWN] - printed[other], 3), p="< 0.05", is_paired=True,
        )
        for other in printed
        if other != OWN
    ]  # fmt: skip


def own_plans(request: Request) -> list[Plan]:
    """RankDE alone, as in Table 3."""
    return [
        request.plan({name: folds}, [METHODS[OWN]], measures=WITH_ERROR, parts=("train",), profile=EQUATION_9)
        for name, folds in request.collections(("TD2003",)).items()
    ]


def weights(request: Request, trials: Trials) -> Iterator[Number]:
    """Table 5: the weights of RankDE, scaled to the length of the paper's, one value for each fold and repeat."""
    for name, folds in request.collections(("TD2003",)).items():
        fitted: list[Any] = [trials.ranker(trial) for trial in trials.of(name, METHODS[OWN].label(request))]
        table = np.array([ranker.coef_ for ranker in fitted])  # (n_trials, n_features)
        length = np.linalg.norm([weight or 0.0 for weight in TABLE_5.values()])
        table *= length / np.linalg.norm(table, axis=1, keepdims=True)
        names: Mapping[str, float | None] = dict.fromkeys(PRINTED["letor4"]) if _is_letor_4(folds) else TABLE_5
        if len(names) != table.shape[1]:
            names = dict.fromkeys(f"feature {j + 1}" for j in range(table.shape[1]))
        columns = zip(names.items(), table.T, strict=True)
        numbers = [Number((name, one), paper, tuple(column), name == "TD2003") for (one, paper), column in columns]
        yield from sorted(numbers, key=lambda number: -number.mean)


def pruning(request: Request, trials: Trials) -> Iterator[Number]:
    """Section 4.6: MAP on the test parts when only the largest weights are kept."""
    for name, folds in request.collections(("TD2003",)).items():
        tests = {fold.name: fold.test for fold in folds}
        values = []
        for trial in trials.of(name, METHODS[OWN].label(request)):
            ranker: Any = trials.ranker(trial)
            values += [((step.kept, trial.seed), step.value) for step in ranker.pruning(tests[trial.fold])]
        means = grouped((kept, float(np.mean(of_seed))) for (kept, _), of_seed in grouped(values).items())
        yield from (Number((name, str(kept)), None, tuple(by_seed)) for kept, by_seed in means.items())


_page = partial(Result, protocol=PRINTED["protocol"], choices=PRINTED["choices"])
KEPT = Axes("lines", "weights kept", "MAP on the test parts", facet="collection")


def _table(table: str, takes: str) -> Target:
    return Target(
        shows=f"six methods on {table}", needs=table, takes=takes, plans=partial(method_plans, table),
        view=partial(methods, table), page=_page("six methods on {data}", COLUMNS, claims=_beats_all(table)),
    )  # fmt: skip


TARGETS = {
    "table3": _table("TD2003", "25 min"),
    "table4": _table("TD2004", "25 min"),
    "table5": Target(
        shows="the weights that RankDE learns", needs="TD2003", takes="12 min", plans=own_plans, view=weights,
        page=_page("weights of RankDE on {data}", ("collection", "feature"), of="folds and repeats"),
    ),
    "pruning": Target(
        shows="MAP of RankDE when only its largest weights are kept", needs="TD2003", takes="12 min", plans=own_plans,
        view=pruning, page=_page("pruned weights of RankDE on {data}", ("collection", "weights kept"), axes=KEPT),
    ),
}  # fmt: skip
