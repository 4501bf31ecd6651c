"""RankNet (Burges et al., 2005), section 5: learning two random ranking functions, Tables 1 and 2.

A train size of the paper counts documents, not queries: its 100 documents have 2,450 pairs when ties are counted, which
is two queries of 50. So 12,500 are 250 queries; validation and test have 100 queries each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold
from ordino.data.synthetic import synthetic
from ordino.experiment.papers.request import Request
from ordino.experiment.papers.result import Cell, Figure, Result
from ordino.experiment.papers.training import Wanted, fit_seeds, train_ahead
from ordino.metrics import evaluate

DOCS = 50  # documents a query
N_FUNCTIONS = 5  # random functions of each kind; the paper has one
PATIENCE = 25  # epochs without a better one on validation, after which none is expected

FUNCTIONS: Mapping[str, str] = MappingProxyType({"Net": "ranknet-net", "Poly": "ranknet-poly"})

TABLE_1: Mapping[tuple[str, str], Mapping[int, float]] = MappingProxyType(
    {
        ("Net", "linear"): {100: 82.39, 500: 88.86, 2500: 89.91, 12500: 90.06},
        ("Net", "two layers"): {100: 82.29, 500: 88.80, 2500: 96.94, 12500: 97.67},
        ("Poly", "linear"): {100: 59.63, 500: 66.68, 2500: 68.30, 12500: 69.00},
        ("Poly", "two layers"): {100: 59.54, 500: 66.97, 2500: 68.56, 12500: 69.27},
    }
)
HIDDEN: Mapping[str, int | tuple[int, ...]] = MappingProxyType({"linear": (), "two layers": 5})

TABLE_2: Mapping[str, Mapping[int, float]] = MappingProxyType(
    {
        "no ties": {100: 59.5, 500: 67.0, 1000: 68.1, 5000: 69.0},
        "all ties": {100: 59.6, 500: 66.9, 1000: 68.2, 5000: 68.8},
    }
)
TIES: Mapping[str, bool] = MappingProxyType({"no ties": False, "all ties": True})

PROTOCOL = (
    "The share of test pairs in the right order, in percent. {n} random functions of each kind, drawn with the "
    "seeds {first} to {last}; for each, 1,000 queries of 50 documents with 50 features, of which the first are "
    "trained on, 100 validate and 100 test. RankNet with the paper's settings (`RankNet.as_published`): first "
    "layer zero, second in ±0.1, rate halved when the error rises, 100 epochs (fewer after 25 without a better "
    "one), the best on validation kept. The paper takes a step of 0.001 for each pair; we take one step for each "
    "query, 1 times the mean over its (about 1,000) pairs."
)


class Problem(NamedTuple):
    """A kind of random function, how many of its documents are learned from, and by what net."""

    function: str
    size: int
    settings: Mapping[str, Any]


Problems = dict[tuple[str, ...], tuple[float, Problem]]
"""By the labels of a cell the paper's number and what it is a number of."""


def table1(request: Request) -> Result:
    """Linear and two-layer nets on both functions."""
    problems: Problems = {
        (function, net, str(size)): (value, Problem(function, size, {"hidden": HIDDEN[net]}))
        for (function, net), paper in TABLE_1.items()
        for size, value in _sizes(paper, request)
    }
    cells = _cells(problems, request)
    columns = ("function", "net", "train size")
    figure = Figure("lines", "train size", "pairs in order (%)", color="net", facet="function", logarithmic=True)
    return _result("ranknet.table1", "pairs in order on two random functions", columns, cells, request, figure)


def table2(request: Request) -> Result:
    """Ties as training pairs with target 1/2, on the polynomial, with ten hidden units."""
    sizes = [size for size, _ in _sizes(TABLE_2["no ties"], request)]
    problems: Problems = {
        (str(size), training): (paper[size], Problem("Poly", size, {"hidden": 10, "ties": TIES[training]}))
        for size in sizes
        for training, paper in TABLE_2.items()
    }
    cells = _cells(problems, request)
    pairs = [f"{n}: {_n_pairs(n, request.seed):,} of {n // DOCS * DOCS * (DOCS - 1) // 2:,}" for n in sizes]
    notes = [f"Pairs that are no ties, of all pairs, at each train size (first function): {'; '.join(pairs)}."]
    return _result("ranknet.table2", "training on ties", ("train size", "training"), cells, request, None, notes)


def _cells(problems: Problems, request: Request) -> list[Cell]:
    """Every problem, with the paper's number, for all random functions."""
    train_ahead((_wanted(one, seed, request) for _, one in problems.values() for seed in _seeds(request)), request)
    return [
        Cell(labels, value, tuple(_accuracy(_wanted(one, seed, request), request) for seed in _seeds(request)))
        for labels, (value, one) in problems.items()
    ]


def _wanted(problem: Problem, seed: int, request: Request) -> Wanted:
    """A net that learns one random function."""
    from ordino.rankers.ranknet import RankNet

    epochs = {"epochs": 2} if request.quick else {"patience": PATIENCE}
    net = RankNet.as_published(**problem.settings, **epochs)
    # the net's own seed must not be the function's: their first random numbers would be the same
    return Wanted(net, _fold(problem.function, problem.size, seed), [10_000 + seed])


def _accuracy(wanted: Wanted, request: Request) -> float:
    """Percent of the test pairs in order."""
    [net], _ = fit_seeds(*wanted, request)
    test = wanted.fold.test
    return 100 * evaluate(test, net.predict(test), metrics="pairwise_accuracy")["pairwise_accuracy"]


def _fold(function: str, size: int, seed: int) -> Fold:
    data = _made(function, seed)
    ranges = (range(size // DOCS), range(800, 900), range(900, 1000))
    return Fold(f"{function} {seed}", *(data.select_queries(np.array(queries)) for queries in ranges))


@lru_cache(maxsize=N_FUNCTIONS)
def _made(function: str, seed: int) -> Dataset:
    return synthetic(FUNCTIONS[function], queries=1000, docs=DOCS, seed=seed)


def _n_pairs(size: int, seed: int) -> int:
    """Pairs of documents of the same query with different levels."""
    train = _fold("Poly", size, seed).train
    return sum(int((query.y[:, None] > query.y).sum()) for query in train)


def _sizes(paper: Mapping[int, float], request: Request) -> Iterator[tuple[int, float]]:
    return ((size, value) for size, value in paper.items() if size <= 100 or not request.quick)


def _seeds(request: Request) -> range:
    return range(request.seed, request.seed + request.at_most(N_FUNCTIONS))


def _result(
    target: str,
    title: str,
    columns: tuple[str, ...],
    cells: list[Cell],
    request: Request,
    figure: Figure | None,
    notes: list[str] | None = None,
) -> Result:
    seeds = _seeds(request)
    protocol = PROTOCOL.format(n=len(seeds), first=seeds[0], last=seeds[-1])
    return Result(
        target, title, columns, cells, protocol, of="random functions", digits=2, seed=request.seed, figure=figure,
        notes=notes or [],
    )  # fmt: skip


RUNS: Mapping[str, Callable[[Request], Result]] = MappingProxyType({"table1": table1, "table2": table2})
"""What this module reproduces."""
