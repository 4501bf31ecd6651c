"""RankNet (Burges et al., 2005), section 6: the protocol of Tables 3 to 6, on any judged collection.

The paper's data is private. Its queries are split 2/3, 1/6 and 1/6; systems learn from the judged documents and a
sample of the others as level 0, keep their best epoch on validation, and are measured by NDCG@15. Here five such splits
are made of six parts, so that no query is tested twice, and the values of all test queries are taken together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.experiment.compare.significance import wilcoxon
from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.letor import span
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import ANY_JUDGED, Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan
from ordino.experiment.store.trial import Values
from ordino.networks.rates import same_error
from ordino.streams import stream

NDCG = "ndcg@15"
N_SPLITS, N_PARTS = 5, 6
UNJUDGED_PER_JUDGED = 1.3  # what 2 % of the unjudged documents come to in the paper's training set
SHARED = {"scaling": "symlog"}
EPOCHS = SHARED | {"epochs": 100}
QUICK = {"epochs": 2}
PUBLISHED = SHARED | {"metric": NDCG}
NET = PUBLISHED | {"until": "same-error"}
Grid = Sequence[Mapping[str, Sequence[Any]]]
PERCEPTRONS: Grid = [{"tau": [0.3, 0.5, 0.7], "n_perceptrons": [50, 100, 200]}]
RATES: Grid = [{"learning_rate": [0.01, 0.03, 0.1]}]
PRINTED = read_paper("ranknet")

SYSTEMS: Mapping[str, System] = {
    "Quad PRank": System("prank", EPOCHS | {"quadratic": True}, quick=QUICK),
    "Linear PRank": System("prank", EPOCHS, quick=QUICK),
    "OAP-BPM": System("oap-bpm", EPOCHS, quick=QUICK | {"n_perceptrons": 3}, grid=PERCEPTRONS),
    "RankProp": System("rankprop", PUBLISHED | {"hidden": ()}, "published", QUICK, RATES),
    "One layer net": System("ranknet", NET | {"hidden": ()}, "published", QUICK),
    "Two layer net": System("ranknet", NET | {"hidden": 10}, "published", QUICK),
}
"""The six systems; tau and the number of perceptrons are chosen on validation, as in the paper, and so is RankProp's
rate, of which it does not speak."""


ERRORS: Mapping[str, str] = {
    "Quad PRank": "mistakes", "Linear PRank": "mistakes", "RankProp": "error",
    "One layer net": "wrong_pairs", "Two layer net": "wrong_pairs",
}  # fmt: skip
"""The training error in the history of a system; OAP-BPM's tells none."""


class Split(NamedTuple):
    """The three parts, and what of the first is learned from."""

    learned: Dataset
    train: Dataset
    valid: Dataset
    test: Dataset


def plans(request: Request, *, on_training: bool = False) -> list[Plan]:
    """All systems; or the two nets, measured on all documents of the training queries."""
    name, splits = _splits(request)

    def load(i: int) -> Fold:
        split = splits[i]
        return Fold(_name(i), split.learned, split.valid, split.train if on_training else split.test)

    data = {_training(name) if on_training else name: Folds([_name(i) for i in range(len(splits))], load)}
    systems = [SYSTEMS[system] for system in (PRINTED["table5"] if on_training else SYSTEMS)]
    return [request.plan(data, systems, measures=(NDCG,), parts=("valid",))]


def table3(request: Request, _: Trials) -> Iterator[Number]:
    """Sample sizes, of each split."""
    splits = _splits(request)[1]
    parts = {"Train": "learned", "Valid": "valid", "Test": "test"}
    for part, field in parts.items():
        n_queries, n_docs = PRINTED["table3"][part]
        data = [getattr(split, field) for split in splits]
        yield _number((part, "queries"), n_queries, (one.n_queries for one in data))
        yield _number((part, "documents"), n_docs, (one.n_docs for one in data))


def learned_pairs(request: Request) -> Iterator[str]:
    """How many pairs the nets learn from: all that there are."""
    name, splits = _splits(request)
    pairs = [sum(int((query.y[:, None] > query.y).sum()) for query in split.learned) for split in splits]
    yield f"Training pairs of {name}: {span(pairs)}, all distinct (the paper: 3,464,289)."


def table4(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Quality of the six systems on validation and test queries."""
    name, printed = _splits(request)[0], PRINTED["table4"]
    parts = [(system, part) for system in SYSTEMS for part in ("valid", "test")]
    found = {one: _values(name, *one, request, trials) for one in parts}
    for (system, part), values in found.items():
        deviation = printed[system]["interval"] if part == "test" else None
        yield _number((system, part), printed[system][part], values, deviation)
    p = wilcoxon(found["One layer net", "test"], found["Two layer net", "test"]).p
    yield f"Wilcoxon test of the one layer and the two layer net on the test queries: p = {p:.3g} (the paper: 0.16)."
    perceptrons = _chosen(name, "OAP-BPM", "tau {tau}, N {n_perceptrons}", request, trials)
    yield f"OAP-BPM, chosen on the validation part of each split: {perceptrons} (the paper: tau 0.3, N 100)."
    rates = _chosen(name, "RankProp", "{learning_rate}", request, trials)
    yield f"RankProp's rate, chosen on the validation part of each split: {rates}."
    yield f"Epochs until the training error stood still, on each split: {_ends(name, request, trials)}."


def _chosen(name: str, system: str, form: str, request: Request, trials: Trials) -> str:
    """What was chosen of a system's grid on each split."""
    own = trials.of(name, SYSTEMS[system].label(request))
    return "; ".join(form.format(**trial.params) for trial in own)


def _ends(name: str, request: Request, trials: Trials, systems: Sequence[str] = tuple(ERRORS)) -> str:
    """When ten epochs in a row had left the training error as it was, for those whose history tells it."""

    def end(key: str, error: str) -> str:
        rows = [{"wrong_pairs": row[error]} for row in trials.store.history(key)]
        return next((str(n) for n in range(1, len(rows) + 1) if same_error(rows[:n])), "never")

    own = {system: trials.of(name, SYSTEMS[system].label(request)) for system in systems}
    ends = {system: [end(trial.key, ERRORS[system]) for trial in own[system]] for system in systems}
    return "; ".join(f"{system} {', '.join(epochs)}" for system, epochs in ends.items())


def table5(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Quality of the two nets on all documents of the training queries."""
    name = _training(_splits(request)[0])
    ends = _ends(name, request, trials, tuple(PRINTED["table5"]))
    yield f"Epochs until the training error stood still, on each split: {ends}."
    for system, (paper, interval) in PRINTED["table5"].items():
        yield _number((system,), paper, _values(name, system, "test", request, trials), interval)


def table6(request: Request, trials: Trials) -> Iterator[Number]:
    """Training times; the paper has minutes."""
    name = _splits(request)[0]
    for system, minutes in PRINTED["table6"].items():
        own = trials.of(name, SYSTEMS[system].label(request))
        yield _number((system,), minutes * 60, (trial.train_seconds for trial in own))


def _values(name: str, system: str, part: str, request: Request, trials: Trials) -> Values:
    """NDCG@15 of each query of all splits."""
    own = trials.of(name, SYSTEMS[system].label(request))
    return np.concatenate([trials.values(trial, NDCG, part) for trial in own])


@cache
def _splits(request: Request) -> tuple[str, tuple[Split, ...]]:
    """The name of the collection, and its splits; queries without a judged document are left out."""
    name, folds = next(iter(request.collections(("judged data",)).items()))
    pieces = [part for part in folds[0][1:] if part is not None]
    whole = Dataset(*(np.concatenate(columns) for columns in zip(*((p.X, p.y, p.qid) for p in pieces), strict=True)))
    n_judged = np.add.reduceat(whole.y > 0, whole.offsets[:-1], dtype=np.int64)
    dealt = np.array_split(stream(request.seed, "splits").permutation(np.flatnonzero(n_judged)), N_PARTS)
    return name, tuple(_split(whole, dealt[i:] + dealt[:i], request, i) for i in range(request.at_most(N_SPLITS)))


def _split(whole: Dataset, parts: list[Values], request: Request, number: int) -> Split:
    """Test on the first of the parts, validate on the second, learn from the others."""
    test, valid, train = (whole.select_queries(np.sort(p)) for p in (*parts[:2], np.concatenate(parts[2:])))
    is_judged = train.y > 0
    share = min(1.0, UNJUDGED_PER_JUDGED * is_judged.sum() / max(1, (~is_judged).sum()))
    drawn = stream(request.seed, "unjudged", number).random(train.n_docs) < share
    return Split(train.select_docs(is_judged | drawn), train, valid, test)


def _name(i: int) -> str:
    return f"Split{i + 1}"


def _training(name: str) -> str:
    return f"{name}, training queries"


def _number(labels: tuple[str, ...], paper: float, ours: Iterable[float], deviation: float | None = None) -> Number:
    return Number(labels, paper, tuple(map(float, ours)), same_data=False, paper_deviation=deviation)


def _claim(better: str, worse: str, p: str = "") -> Claim:
    """One system beats another on the test queries."""
    difference = round(PRINTED["table4"][better]["test"] - PRINTED["table4"][worse]["test"], 9)
    where = [{"system": system, "part": "test"} for system in (better, worse)]
    says = f"{better} beats {worse}"
    return Claim(says=says, better=where[0], worse=where[1], difference=difference, p=p, is_paired=True)


CLAIMS = [
    _claim("Two layer net", "One layer net", "= 0.16"), _claim("One layer net", "RankProp"),
    _claim("One layer net", "OAP-BPM"), _claim("One layer net", "Linear PRank"), _claim("RankProp", "Linear PRank"),
    _claim("Linear PRank", "Quad PRank"),
]  # fmt: skip
_searched = partial(Target, needs=ANY_JUDGED, takes="30 min", pairs=learned_pairs)
PROTOCOL = PRINTED["search_protocol"].format(ratio=UNJUDGED_PER_JUDGED, n=N_SPLITS)
_measured = partial(
    Result, protocol=PROTOCOL, choices=PRINTED["search_choices"], spread="95 % interval", of="queries of all splits"
)
TARGETS = {
    "table3": _searched(
        shows="queries and documents used for training, validation and test", view=table3, takes="1 s",
        page=_measured("sample sizes", ("part", "number of"), digits=0, of="splits"),
    ),
    "table4": _searched(
        shows="NDCG@15 of PRank, OAP-BPM, RankProp and RankNet with 95 % intervals", plans=plans, view=table4,
        page=_measured("NDCG@15 of six systems, run on {data}", ("system", "part"), claims=CLAIMS),
    ),
    "table5": _searched(
        shows="NDCG@15 of RankNet on its training queries", view=table5, plans=partial(plans, on_training=True),
        page=_measured("NDCG@15 of RankNet, run on {data}", ("system",)),
    ),
    "table6": _searched(
        shows="training times", plans=plans, view=table6, is_timed=True,
        page=_measured("seconds to train, run on {data}", ("system",), digits=1, of="splits"),
    ),
}  # fmt: skip
