"""RankNet (Burges et al., 2005), sections 3 and 5: Figure 1, 1,000 documents learned without an error, Tables 1 and 2.

A train size of the paper counts documents, not queries: its 100 documents have 2,450 pairs when ties are counted, which
is two queries of 50. So 12,500 are 250 queries; validation and test have 100 queries each.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.data.synthetic import synthetic
from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.ranknet import online
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.target import NOTHING, Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan, repeat_seeds
from ordino.losses import pair_loss
from ordino.posteriors import combine
from ordino.streams import spawn_seed

PAIRS = "pairwise_accuracy"
DOCS = 50  # documents a query
N_FUNCTIONS = 5  # random functions of each kind; the paper has one
VECTORS = 1_000  # documents that are learned without an error
MOST_EPOCHS = 2_000  # to learn them
MARGIN = 1.0  # points of percent within which two nets are level: more than the 0.3 by which the paper's differ

FUNCTIONS = {"Net": "ranknet-net", "Poly": "ranknet-poly"}

PRINTED = read_paper("ranknet")
TABLE_1, TABLE_2 = PRINTED["table1"], PRINTED["table2"]  # percent by the number of documents


def _net(**params: object) -> System:
    return System("ranknet", params, "published", {"epochs": 2})


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


def table1(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Linear and two-layer nets on both functions."""
    for function, nets in TABLE_1.items():
        for net, paper in nets.items():
            for size in _sizes(paper, request):
                ours = _percent(function, size, NETS[net], request, trials)
                yield Number((function, net, str(size)), paper[str(size)], ours)
    yield _told_seeds(request)


def pairs_of_table1(request: Request) -> Iterator[str]:
    """How many pairs there are to learn from; all are learned from in every epoch."""
    for function, nets in TABLE_1.items():
        sizes = _sizes(nets["linear"], request)
        pairs = [f"{size}: {_n_pairs(function, size, request.seed):,}" for size in sizes]
        yield f"Training pairs at each train size, all distinct ({function}, first function): {'; '.join(pairs)}."


def table2(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Ties as training pairs with target 1/2, on the polynomial, with ten hidden units."""
    sizes = _sizes(TABLE_2["no ties"], request)
    for size in sizes:
        for training, paper in TABLE_2.items():
            ours = _percent("Poly", size, TRAININGS[training], request, trials)
            yield Number((str(size), training), paper[str(size)], ours)
    yield _told_seeds(request)


def pairs_of_table2(request: Request) -> Iterator[str]:
    """How many pairs there are with and without ties."""
    sizes = _sizes(TABLE_2["no ties"], request)
    pairs = [f"{n}: {_n_pairs('Poly', n, request.seed):,} of {n // DOCS * DOCS * (DOCS - 1) // 2:,}" for n in sizes]
    told = "Training pairs that are no ties, of all pairs, at each train size, all distinct (first function)"
    yield f"{told}: {'; '.join(pairs)}."


def _percent(function: str, size: int, system: System, request: Request, trials: Trials) -> tuple[float, ...]:
    """Percent of the test pairs in order, for each random function."""
    shares = trials.by_fold(_name(function, size), system.label(request), PAIRS)
    return tuple(100 * share for share in shares)


def _name(function: str, size: int) -> str:
    return f"{function}, {size} documents"


def _function_seeds(request: Request) -> list[int]:
    return repeat_seeds(request.seed, request.at_most(N_FUNCTIONS))


def _told_seeds(request: Request) -> str:
    return f"Seeds of the random functions: {', '.join(map(str, _function_seeds(request)))}."


def _fold(function: str, size: int, seeds: Sequence[int], number: int) -> Fold:
    data = _made(function, seeds[number])
    ranges = (range(size // DOCS), range(800, 900), range(900, 1000))
    return Fold(str(seeds[number]), *(data.select_queries(np.array(queries)) for queries in ranges))


@lru_cache(maxsize=N_FUNCTIONS)
def _made(function: str, seed: int) -> Dataset:
    return synthetic(FUNCTIONS[function], queries=1000, docs=DOCS, seed=seed)


def _n_pairs(function: str, size: int, seed: int) -> int:
    """Pairs of documents of the same query with different levels."""
    return len(online.ordered_pairs(_fold(function, size, [seed], 0).train))


def _sizes(paper: Mapping[str, float], request: Request) -> list[int]:
    return [size for size in map(int, paper) if size <= 100 or not request.quick]


def vectors(request: Request, _: Trials) -> Iterator[Number | str]:
    """A net of the function's own shape learns 1,000 documents without an error, a step after each pair."""
    found: dict[str, list[float]] = {"training": [], "validation": [], "test": []}
    epochs = []
    for number, seed in enumerate(seeds := _function_seeds(request)):
        train, valid, test = _fold("Net", VECTORS, seeds, number)[1:]
        assert valid is not None
        how = {"hidden": 10, "epochs": 2 if request.quick else MOST_EPOCHS, "seed": spawn_seed(seed, "net")}
        history = [(online.pair_error(one.net, valid), one) for one in online.learn(train, **how)]
        error, best = min(history, key=lambda one: one[0])
        found["training"].append(100 * history[-1][1].train_error)
        found["validation"].append(100 * error)
        found["test"].append(100 * online.pair_error(best.net, test))
        epochs.append(len(history))
    for part, errors in found.items():
        yield Number((part,), PRINTED["vectors"][part], tuple(errors))
    n_perfect = sum(error == 0 for error in found["training"])
    yield f"{n_perfect} of {len(epochs)} nets learned all pairs; the last epochs were {', '.join(map(str, epochs))}."
    yield _told_seeds(request)


def pairs_of_vectors(request: Request) -> Iterator[str]:
    """How many pairs each net learns."""
    pairs = [f"{_n_pairs('Net', VECTORS, seed):,}" for seed in _function_seeds(request)]
    yield f"Training pairs, all distinct: {', '.join(pairs)} (the paper: {PRINTED['vectors']['pairs']:,})."


def fig1(request: Request, _: Trials) -> Iterator[Number | str]:
    """Left: the cost of a pair by the difference of its scores. Right: what two equal probabilities combine to."""
    step = 2 if request.quick else 0.5
    margins = np.arange(-5, 5 + step, step)
    for target in (0.0, 0.5, 1.0):
        values, _slopes = pair_loss("ranknet")(margins, target)
        formula = -target * margins + np.log(1 + np.exp(margins))
        for o, ours, paper in zip(margins.tolist(), values.tolist(), formula.tolist(), strict=True):
            yield Number(("cost of o", f"target {target:g}", f"{o:g}"), paper, (ours,))
    P = np.linspace(0, 1, 21)
    combined = combine(P, P)
    formula = P**2 / (1 + 2 * P**2 - 2 * P)
    for p, ours, paper in zip(P.tolist(), combined.tolist(), formula.tolist(), strict=True):
        yield Number(("combined probability", "P", f"{p:.2f}"), paper, (ours,))
    same = ", ".join(f"{p:g}" for p, ours in zip(P, combined, strict=True) if abs(ours - p) < 1e-9)
    yield f"The combined probability is P itself at P = {same} (the paper: at 0, 0.5 and 1 only)."
    low, high = (combined < P)[(P > 0) & (P < 0.5)].all(), (combined > P)[(P > 0.5) & (P < 1)].all()
    yield f"It is below P between 0 and 0.5: {low}; above P between 0.5 and 1: {high} (the paper: both)."


def _beats(function: str, size: int) -> Claim:
    """Two layers beat one."""
    places = [{"function": function, "net": net, "train size": str(size)} for net in ("two layers", "linear")]
    two, one = (TABLE_1[function][net][str(size)] for net in ("two layers", "linear"))
    says = f"two layers beat one on the random net, {size:,} documents"
    return Claim(says=says, better=places[0], worse=places[1], difference=round(two - one, 9), is_paired=True)


def _level(says: str, better: Mapping[str, str], worse: Mapping[str, str]) -> Claim:
    return Claim(says=says, better=better, worse=worse, margin=MARGIN, is_paired=True)


NO_GAIN = [
    _level(
        f"a second layer changes nothing on the polynomial, {int(size):,} documents",
        *({"function": "Poly", "net": net, "train size": size} for net in ("two layers", "linear")),
    )
    for size in TABLE_1["Poly"]["linear"]
]
TIES = [_level("training on ties changes little", {"training": "all ties"}, {"training": "no ties"})]
_learned = partial(
    Result, "", protocol=PRINTED["protocol"], choices=PRINTED["choices"], of="random functions", digits=2
)
SIZES = Axes("lines", "train size", "pairs in order (%)", color="net", facet="function", logarithmic=True)
CURVES = Axes("lines", "x", "value", color="curve", facet="panel", x_title="o = f(a) - f(b), and P")
TARGETS = {
    "fig1": Target(
        shows="the cost of a pair, and what two probabilities combine to", needs=NOTHING, takes="1 s", view=fig1,
        page=Result(
            "", ("panel", "curve", "x"), protocol=PRINTED["figure_protocol"], of_paper="formula", digits=4, axes=CURVES
        ),
    ),
    "vectors": Target(
        shows="1,000 documents learned without an error", needs=NOTHING, takes="3 min", view=vectors,
        pairs=pairs_of_vectors,
        page=Result(
            "pairs in the wrong order (%)", ("part",), protocol=PRINTED["vectors_protocol"],
            choices=PRINTED["choices"], of="random functions", digits=2,
        ),
    ),
    "table1": Target(
        shows="pairs in order on a random net and a random polynomial", needs=NOTHING, takes="10 min",
        plans=partial(function_plans, tuple(FUNCTIONS), NETS, TABLE_1["Net"]["linear"]), view=table1,
        pairs=pairs_of_table1,
        page=_learned(
            ("function", "net", "train size"), axes=SIZES, claims=[*(_beats("Net", n) for n in (2500, 12500)), *NO_GAIN]
        ),
    ),
    "table2": Target(
        shows="training on ties", needs=NOTHING, takes="2 min",
        plans=partial(function_plans, ("Poly",), TRAININGS, TABLE_2["no ties"]), view=table2,
        pairs=pairs_of_table2,
        page=_learned(("train size", "training"), claims=TIES),
    ),
}  # fmt: skip
