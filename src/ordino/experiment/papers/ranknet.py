"""RankNet (Burges et al., 2005), section 5: learning two random ranking functions, Tables 1 and 2.

A train size of the paper counts documents, not queries: its 100 documents have 2,450 pairs when ties are counted, which
is two queries of 50. So 12,500 are 250 queries; validation and test have 100 queries each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.data.synthetic import synthetic
from ordino.experiment.papers.result import Axes, Number, Result
from ordino.experiment.papers.target import NOTHING, Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan, repeat_seeds
from ordino.streams import spawn_seed

METRIC = "pairwise_accuracy"
DOCS = 50  # documents a query
N_FUNCTIONS = 5  # random functions of each kind; the paper has one
PATIENCE = 25  # epochs without a better one on validation, after which none is expected

FUNCTIONS = {"Net": "ranknet-net", "Poly": "ranknet-poly"}

PRINTED = read_paper("ranknet")
TABLE_1 = {
    (function, net): {int(size): percent for size, percent in row.items()}
    for function, rows in PRINTED["table1"].items()
    for net, row in rows.items()
}
TABLE_2 = {
    training: {int(size): percent for size, percent in row.items()} for training, row in PRINTED["table2"].items()
}


def _net(**params: object) -> System:
    return System("ranknet", {**params, "patience": PATIENCE}, "published", {"epochs": 2, "patience": None})


NETS = {"linear": _net(hidden=()), "two layers": _net(hidden=5)}
TRAININGS = {"no ties": _net(hidden=10, ties=False), "all ties": _net(hidden=10, ties=True)}


def plans(
    functions: Sequence[str], systems: Mapping[str, System], paper: Mapping[int, float], request: Request
) -> list[Plan]:
    """Every system learns every random function from samples of each size; a function is a fold."""
    seeds = _function_seeds(request)
    data = {
        _name(function, size): Folds([str(seed) for seed in seeds], partial(_fold, function, size, seeds))
        for function in functions
        for size in _sizes(paper, request)
    }
    # a net's own seed must not be the function's: their first random numbers would be the same
    return [request.plan(data, systems.values(), measures=(METRIC,), seed=spawn_seed(request.seed, "net"))]


def table1(request: Request, trials: Trials) -> Result:
    """Linear and two-layer nets on both functions."""
    numbers = [
        Number((function, net, str(size)), paper[size], _percent(function, size, NETS[net], request, trials))
        for (function, net), paper in TABLE_1.items()
        for size in _sizes(paper, request)
    ]
    axes = Axes("lines", "train size", "pairs in order (%)", color="net", facet="function", logarithmic=True)
    return _result("pairs in order on two random functions", ("function", "net", "train size"), numbers, request, axes)


def table2(request: Request, trials: Trials) -> Result:
    """Ties as training pairs with target 1/2, on the polynomial, with ten hidden units."""
    sizes = _sizes(TABLE_2["no ties"], request)
    numbers = [
        Number((str(size), training), paper[size], _percent("Poly", size, TRAININGS[training], request, trials))
        for size in sizes
        for training, paper in TABLE_2.items()
    ]
    pairs = [f"{n}: {_n_pairs(n, request.seed):,} of {n // DOCS * DOCS * (DOCS - 1) // 2:,}" for n in sizes]
    notes = [f"Pairs that are no ties, of all pairs, at each train size (first function): {'; '.join(pairs)}."]
    return _result("training on ties", ("train size", "training"), numbers, request, notes=notes)


def _percent(function: str, size: int, system: System, request: Request, trials: Trials) -> tuple[float, ...]:
    """Percent of the test pairs in order, for each random function."""
    shares = trials.by_fold(_name(function, size), system.label(request), METRIC)
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


def _sizes(paper: Mapping[int, float], request: Request) -> list[int]:
    return [size for size in paper if size <= 100 or not request.quick]


def _result(
    title: str, columns: tuple[str, ...], numbers: list[Number], request: Request, axes: Axes | None = None,
    notes: Sequence[str] = (),
) -> Result:  # fmt: skip
    protocol = PRINTED["protocol"].format(n=len(_function_seeds(request)), seed=request.seed)
    return Result(title, columns, numbers, protocol, of="random functions", digits=2, axes=axes, notes=notes)


TARGETS = {
    "table1": Target(
        shows="pairs in order on a random net and a random polynomial", needs=NOTHING, takes="5 min",
        plans=partial(plans, tuple(FUNCTIONS), NETS, TABLE_1["Net", "linear"]), view=table1,
    ),
    "table2": Target(
        shows="training on ties", needs=NOTHING, takes="1 min",
        plans=partial(plans, ("Poly",), TRAININGS, TABLE_2["no ties"]), view=table2,
    ),
}  # fmt: skip
