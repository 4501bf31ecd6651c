"""RankDE (Bollegala et al., 2011), section 4: Tables 3 and 4 (six methods) and Table 5 (the learned weights)."""

from collections.abc import Iterator, Mapping
from functools import partial
from math import isnan

import numpy as np

from ordino.data.folds import Folds
from ordino.experiment.papers.letor import Row, letor_table, printed_rows
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.sortnet import MAP, RANK_SVM
from ordino.experiment.papers.target import Request, System, Target, Trials, read_paper

PROFILE = "rankde"
PRINTED = read_paper("rankde")
PROTOCOL = PRINTED["protocol"]
DIRECTION = "Only the direction of a weight vector ranks, so ours have the length of the paper's."
QUICK = {"generations": 3, "population": 10}

METHODS: Mapping[str, System] = {
    "BM25": System("single-feature", MAP | {"feature": 1, "sign": 1}),  # where it is in LETOR 2.0
    "RankSVM": RANK_SVM,
    "RankBoost": System("rank-boost", MAP, quick={"rounds": 3}),
    "SwarmRank": System("swarm-rank", MAP, quick=QUICK),
    "GPRank": System("gp-rank", MAP, quick=QUICK),
    "RankDE": System("rankde", MAP, quick=QUICK),
}
N_LETOR_4 = 46  # features of MQ2007 and MQ2008
BM25_LETOR_4 = System("single-feature", MAP | {"feature": 25, "sign": 1})  # of the whole document

PAPER = {name: printed_rows(PRINTED[name]) for name in ("TD2003", "TD2004")}
TABLE_5 = {name: None if isnan(weight) else weight for name, weight in PRINTED["table5"].items()}


def _rows(paper: str, _: str, folds: Folds) -> list[Row]:
    own = {"BM25": BM25_LETOR_4} if folds[0].train.n_features == N_LETOR_4 else {}
    return [Row(method, system, {paper: PAPER[paper][method]}) for method, system in {**METHODS, **own}.items()]


def weights(request: Request, trials: Trials) -> Iterator[Number]:
    """Table 5: the weights of RankDE, scaled to the length of the paper's, one value for each fold."""
    [name] = request.collections(("TD2003",))
    own = trials.first_of_folds(name, METHODS["RankDE"].label(request))
    found = [dict(trials.store.feature_weights(trial.key) or {}) for trial in own]
    names = sorted(found[0], key=lambda feature: int(feature[1:]))  # f1, f2, ...
    table = np.array([[one[feature] for feature in names] for one in found])  # (n_folds, n_features)
    length = np.linalg.norm([weight or 0.0 for weight in TABLE_5.values()])
    table *= length / np.linalg.norm(table, axis=1, keepdims=True)
    same_data = name == "TD2003" and len(names) == len(TABLE_5)
    features = TABLE_5 if same_data else {f"feature {j + 1}": None for j in range(len(names))}
    columns = zip(features.items(), table.T, strict=True)
    numbers = [Number((feature,), paper, tuple(column)) for (feature, paper), column in columns]
    yield from sorted(numbers, key=lambda number: -number.mean)


_table = partial(letor_table, shows="six methods on {data}", protocol=PROTOCOL, profile=PROFILE)
ALONE = _table(takes="1 h", collections=("TD2003",), rows=lambda *_: [Row("RankDE", METHODS["RankDE"])])
TARGETS = {
    "table3": _table(takes="2 h", collections=("TD2003",), rows=partial(_rows, "TD2003")),
    "table4": _table(takes="3 h", collections=("TD2004",), rows=partial(_rows, "TD2004")),
    "table5": Target(
        shows="the weights that RankDE learns", needs="TD2003", takes="1 h", plans=ALONE.plans, view=weights,
        page=Result("weights of RankDE on {data}", ("feature",), protocol=f"{PROTOCOL} {DIRECTION}", of="folds"),
    ),
}  # fmt: skip
