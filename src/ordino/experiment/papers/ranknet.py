"""RankNet (Burges et al., 2005): two random ranking functions (section 5), and a search engine (section 6).

Tables 1 and 2: a train size of the paper counts documents, not queries: its 100 documents have 2,450 pairs when ties
are counted, which is two queries of 50. So 12,500 are 250 queries; validation and test have 100 queries each.

Tables 3 to 6: the paper's data is private, so its protocol runs on any judged collection: queries split 2/3, 1/6 and
1/6; trained on the judged documents and a sample of the others as level 0; six rankers, each with its best epoch on
validation; NDCG@15 with 95 % intervals, a Wilcoxon test of the two nets, training times.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.data.synthetic import synthetic
from ordino.experiment.compare.significance import wilcoxon
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.target import ANY_JUDGED, NOTHING, Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan, repeat_seeds
from ordino.experiment.store.trial import Values
from ordino.streams import spawn_seed

PAIRS = "pairwise_accuracy"
DOCS = 50  # documents a query
N_FUNCTIONS = 5  # random functions of each kind; the paper has one
PATIENCE = 25  # epochs without a better one on validation, after which none is expected

FUNCTIONS = {"Net": "ranknet-net", "Poly": "ranknet-poly"}

PRINTED = read_paper("ranknet")
TABLE_1, TABLE_2 = PRINTED["table1"], PRINTED["table2"]  # percent by the number of documents


def _net(**params: object) -> System:
    return System("ranknet", {**params, "patience": PATIENCE}, "published", {"epochs": 2, "patience": None})


NETS = {"linear": _net(hidden=()), "two layers": _net(hidden=5)}
TRAININGS = {"no ties": _net(hidden=10, ties=False), "all ties": _net(hidden=10, ties=True)}


def function_plans(
    functions: Sequence[str], systems: Mapping[str, System], paper: Mapping[str, float], request: Request
) -> list[Plan]:
    """Every system learns every random function from samples of each size; a function is a fold."""
    seeds = _function_seeds(request)
    data = {
        _name(function, size): Folds([str(seed) for seed in seeds], partial(_fold, function, size, seeds))
        for function in functions
        for size in _sizes(paper, request)
    }
    # a net's own seed must not be the function's: their first random numbers would be the same
    return [request.plan(data, systems.values(), measures=(PAIRS,), seed=spawn_seed(request.seed, "net"))]


def table1(request: Request, trials: Trials) -> Iterator[Number]:
    """Linear and two-layer nets on both functions."""
    for function, nets in TABLE_1.items():
        for net, paper in nets.items():
            for size in _sizes(paper, request):
                ours = _percent(function, size, NETS[net], request, trials)
                yield Number((function, net, str(size)), paper[str(size)], ours)


def table2(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Ties as training pairs with target 1/2, on the polynomial, with ten hidden units."""
    sizes = _sizes(TABLE_2["no ties"], request)
    for size in sizes:
        for training, paper in TABLE_2.items():
            ours = _percent("Poly", size, TRAININGS[training], request, trials)
            yield Number((str(size), training), paper[str(size)], ours)
    pairs = [f"{n}: {_n_pairs(n, request.seed):,} of {n // DOCS * DOCS * (DOCS - 1) // 2:,}" for n in sizes]
    yield f"Pairs that are no ties, of all pairs, at each train size (first function): {'; '.join(pairs)}."


def _percent(function: str, size: int, system: System, request: Request, trials: Trials) -> tuple[float, ...]:
    """Percent of the test pairs in order, for each random function."""
    shares = trials.by_fold(_name(function, size), system.label(request), PAIRS)
    return tuple(100 * share for share in shares)


def _name(function: str, size: int) -> str:
    return f"{function}, {size} documents"


def _function_seeds(request: Request) -> list[int]:
    return repeat_seeds(request.seed, request.at_most(N_FUNCTIONS))


def _fold(function: str, size: int, seeds: Sequence[int], number: int) -> Fold:
    data = _made(function, seeds[number])
    ranges = (range(size // DOCS), range(800, 900), range(900, 1000))
    return Fold(str(seeds[number]), *(data.select_queries(np.array(queries)) for queries in ranges))


@lru_cache(maxsize=N_FUNCTIONS)
def _made(function: str, seed: int) -> Dataset:
    return synthetic(FUNCTIONS[function], queries=1000, docs=DOCS, seed=seed)


def _n_pairs(size: int, seed: int) -> int:
    """Pairs of documents of the same query with different levels."""
    train = _fold("Poly", size, [seed], 0).train
    return sum(int((query.y[:, None] > query.y).sum()) for query in train)


def _sizes(paper: Mapping[str, float], request: Request) -> list[int]:
    return [size for size in map(int, paper) if size <= 100 or not request.quick]


NDCG = "ndcg@15"
UNJUDGED_PER_JUDGED = 1.3  # what 2 % of the unjudged documents come to in the paper's training set
SHARED = {"scaling": "symlog"}
EPOCHS = SHARED | {"epochs": 100}
QUICK = {"epochs": 2}
PUBLISHED = SHARED | {"metric": NDCG}


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


def search_plans(request: Request, *, on_training: bool = False) -> list[Plan]:
    """All systems; or the two nets, measured on all documents of the training queries."""
    parts = _parts(request)
    name, test = (_training(parts), parts.train) if on_training else (parts.name, parts.test)
    folds = Folds(["Fold1"], lambda _: Fold("Fold1", parts.learned, parts.valid, test))
    systems = [SYSTEMS[system] for system in (PRINTED["table5"] if on_training else SYSTEMS)]
    return [request.plan({name: folds}, systems, measures=(NDCG,), parts=("valid",))]


def table3(request: Request, _: Trials) -> Iterator[Number]:
    """Sample sizes."""
    parts = _parts(request)
    for part, data in {"Train": parts.learned, "Valid": parts.valid, "Test": parts.test}.items():
        n_queries, n_docs = PRINTED["table3"][part]
        yield _number((part, "queries"), n_queries, (data.n_queries,))
        yield _number((part, "documents"), n_docs, (data.n_docs,))


def table4(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Quality of the six systems on validation and test queries."""
    name, printed = _parts(request).name, PRINTED["table4"]
    parts = [(system, part) for system in SYSTEMS for part in ("valid", "test")]
    found = {one: _values(name, *one, request, trials) for one in parts}
    for (system, part), values in found.items():
        yield _number((system, part), printed[system][part], values)
    p = wilcoxon(found["One layer net", "test"], found["Two layer net", "test"]).p
    yield f"Wilcoxon test of the one layer and the two layer net on the test queries: p = {p:.3g} (the paper: 0.16)."


def table5(request: Request, trials: Trials) -> Iterator[Number]:
    """Quality of the two nets on all documents of the training queries."""
    name = _training(_parts(request))
    for system, paper in PRINTED["table5"].items():
        yield _number((system,), paper, _values(name, system, "test", request, trials))


def table6(request: Request, trials: Trials) -> Iterator[Number]:
    """Training times; the paper has minutes."""
    name = _parts(request).name
    for system, minutes in PRINTED["table6"].items():
        [trial] = trials.of(name, SYSTEMS[system].label(request))
        yield _number((system,), minutes * 60, (trial.train_seconds,))


def _values(name: str, system: str, part: str, request: Request, trials: Trials) -> Values:
    """NDCG@15 of each query that counts."""
    [trial] = trials.of(name, SYSTEMS[system].label(request))
    values = trials.values(trial, NDCG, part)
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


_learned = partial(Result, "", protocol=PRINTED["protocol"], of="random functions", digits=2)
SIZES = Axes("lines", "train size", "pairs in order (%)", color="net", facet="function", logarithmic=True)
_searched = partial(Target, needs=ANY_JUDGED, takes="10 min")
PROTOCOL = PRINTED["search_protocol"].format(ratio=UNJUDGED_PER_JUDGED)
_measured = partial(Result, protocol=PROTOCOL, spread="95 % interval", of="queries")
TARGETS = {
    "table1": Target(
        shows="pairs in order on a random net and a random polynomial", needs=NOTHING, takes="5 min",
        plans=partial(function_plans, tuple(FUNCTIONS), NETS, TABLE_1["Net"]["linear"]), view=table1,
        page=_learned(("function", "net", "train size"), axes=SIZES),
    ),
    "table2": Target(
        shows="training on ties", needs=NOTHING, takes="1 min",
        plans=partial(function_plans, ("Poly",), TRAININGS, TABLE_2["no ties"]), view=table2,
        page=_learned(("train size", "training")),
    ),
    "table3": _searched(
        shows="queries and documents used for training, validation and test", view=table3,
        page=_measured("sample sizes", ("part", "number of"), digits=0),
    ),
    "table4": _searched(
        shows="NDCG@15 of PRank, OAP-BPM, RankProp and RankNet with 95 % intervals", plans=search_plans, view=table4,
        page=_measured("NDCG@15 of six systems, run on {data}", ("system", "part")),
    ),
    "table5": _searched(
        shows="NDCG@15 of RankNet on its training queries", view=table5,
        plans=partial(search_plans, on_training=True),
        page=_measured("NDCG@15 of RankNet, run on {data}", ("system",)),
    ),
    "table6": _searched(
        shows="training times", plans=search_plans, view=table6, is_timed=True,
        page=_measured("seconds to train, run on {data}", ("system",), digits=1),
    ),
}  # fmt: skip
