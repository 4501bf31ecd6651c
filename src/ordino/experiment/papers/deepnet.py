"""DeepNet (Huybrechts, 2016): every table and figure of its experiments, as settings of one protocol.

30 repeats on the five folds, 10,000 training and 5,000 validation pairs, the epoch chosen by the error on the
validation pairs (section 2.3). A table or a bar chart is a list of settings; what is not of that form (percentages of
relevant documents, activations of neurons) has a function of its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.experiment.compare.significance import welch
from ordino.experiment.papers.letor import LETOR_METRICS, WITH_ERROR, Row, letor_table, printed_rows
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.papers.sortnet import BASELINES, TD2003, sortnet
from ordino.experiment.papers.target import Request, System, Target, Trials, read_paper
from ordino.experiment.plan.plan import Plan

PRINTED = read_paper("deepnet")
COLLECTION = "TD2003"
REPEATS = 30
FEW = ("map", "p@1", "p@5", "p@10", "ndcg@5", "ndcg@10")  # what the bar charts show
QUICK = {"epochs": 2, "pretraining": 1, "n_pairs": 200, "n_valid_pairs": 100}
SHALLOW = {"hidden": 10, "activation": "sigmoid", "initializer": "unit", "dropout": 0.0}
THREE_LAYERS = (24, 12, 6)
DEPTHS = {"1 layer": (6,), "2 layers": (12, 6), "3 layers": THREE_LAYERS, "4 layers": (48, 24, 12, 6)}


def deepnet(repeats: int = REPEATS, **changes: Any) -> System:
    """The thesis' tuned network, changed in these parameters."""
    return System("deepnet", changes, "published", QUICK, repeats=repeats)


def plain(repeats: int = REPEATS, **changes: Any) -> System:
    """Sigmoids, weights uniform in [-1, 1] and no dropout, unless these parameters say otherwise."""
    return deepnet(repeats, **{**SHALLOW, **changes})


LARGE = deepnet(n_pairs=100_000, n_valid_pairs=50_000)
DENSE = System("dense-comparator", {"asked": "once"}, like=plain(), repeats=REPEATS)
"""A net without shared weights, trained in the same way as the shallow comparator and asked once by the sort."""
STAGES = {"ranker": LARGE, "sizes": (None, 1000, 750, 500, 200, 100, 50, 10), "metric": "map"}
NESTED = System("nested-ranker", STAGES, quick={"sizes": (None, 10)}, repeats=REPEATS)
"""Eight stages, each of at most 100,000 pairs (section 5.2)."""
SUMMED = {"ranker": LARGE, "n": 15, "method": "rank_sum"}
AGGREGATED = System("rank-aggregation", SUMMED, quick={"n": 2}, repeats=REPEATS)
"""15 networks on pairs of their own, by rank sum (section 5.3)."""


BARS = Axes("bars", "measure", "mean over the queries", color="method", facet="part")
ONE, THREE, TUNED = "1 layer", "3 layers, dropout", "3 layers, dropout, auto-encoders, ReLU"
SETTINGS = {ONE: plain(), THREE: plain(hidden=THREE_LAYERS, dropout=0.25), TUNED: deepnet()}
ALL_METHODS: Mapping[str, System] = {
    **BASELINES,
    "SortNet MAP": sortnet(10),
    "SortNet P@10": sortnet(10, "p@10"),
    "SortNet NDCG@10": sortnet(10, "ndcg@10"),
    "SortNet - CmpNN (A)": plain(1, n_pairs=None, n_valid_pairs=None),
    "SortNet - CmpNN (B)": plain(),
    "DeepNet": deepnet(),
}
LOSSES = {"MSE": "squared", "MAE": "absolute", "log loss": "ranknet", "fidelity": "fidelity"}
ALL = ("train", "valid", "test")
DROPOUTS = tuple(i / 10 for i in range(9))
PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


def _paper() -> dict[str, dict[str, float]]:
    """What the thesis prints, by setting, then by part and metric; of the methods of LETOR it prints MAP alone."""
    found = printed_rows(PRINTED["test"])
    found |= {name: found[same] for name, same in PRINTED["same"].items()}
    found |= {name: TD2003.get(name, {}) | {"test map": value} for name, value in PRINTED["map"].items()}
    valid = printed_rows(PRINTED["valid"], part="valid")
    return found | {name: found[name] | row for name, row in valid.items()}


PAPER = _paper()


def _experiment(
    shows: str, takes: str, systems: Mapping[str, System], metrics: Sequence[str] = WITH_ERROR,
    parts: Sequence[str] = ("test",), axes: Axes | None = None, *, compared: tuple[str, str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What makes a table or bar chart; Welch's test compares MAP and P@1 of two systems (section 2.4)."""
    paper = {} if axes is BARS else PAPER  # the bar charts have no numbers
    rows = [Row(label, system, {COLLECTION: paper.get(label, {})}) for label, system in systems.items()]
    return {
        "shows": shows, "takes": takes, "rows": lambda *_: rows, "metrics": metrics, "parts": parts, "axes": axes,
        "notes": lambda numbers: [] if compared is None else [_tested(numbers, *compared)],
    }  # fmt: skip


def _chart(shows: str, takes: str, systems: Mapping[str, System]) -> dict[str, Any]:
    """A bar chart of validation and test part side by side."""
    return _experiment(shows, takes, systems, FEW, ("valid", "test"), BARS)


def _some(methods: Mapping[str, System], *names: str) -> dict[str, System]:
    return {name: methods[name] for name in names}


def _tested(numbers: Sequence[Number], a: str, b: str) -> str:
    """Welch's test of two settings on the test part, as section 2.4 has it; it needs two repeats of each."""
    said = []
    for metric in ("map", "p@1"):
        of = {number.labels[1]: number.ours for number in numbers if number.labels[2:] == ("test", metric)}
        if min(len(of[a]), len(of[b])) < 2:
            return f"Welch's test of {a} against {b} needs more than one repeat."
        difference = np.mean(of[a]) - np.mean(of[b])
        said.append(f"{metric} {difference:+.3f}, p = {welch(of[a], of[b]).p:.2g}")
    return f"Welch's test of {a} against {b}: {'; '.join(said)}."


EXPERIMENTS: Mapping[str, Mapping[str, Any]] = {
    "table3.1": _experiment(
        "a dense net and the comparator", "1 h", {"dense": DENSE, "CmpNN": plain()}, parts=("valid", "test"),
        compared=("CmpNN", "dense"),
    ),
    "fig3.2": _chart("four losses", "2 h", {name: plain(loss=loss) for name, loss in LOSSES.items()}),
    "fig3.3": _chart("five kinds of training pairs", "3 h", {kind: plain(pairs=kind) for kind in "ABCDE"}),
    "fig4.2": _chart("1 to 4 hidden layers", "5 h", {name: plain(hidden=sizes) for name, sizes in DEPTHS.items()}),
    "fig4.3": _chart(
        "1 to 4 hidden layers with dropout 0.25", "5 h",
        {name: plain(hidden=widths, dropout=0.25) for name, widths in DEPTHS.items()},
    ),
    "fig4.4": _experiment(
        "MAP by dropout", "11 h", {str(p): plain(hidden=THREE_LAYERS, dropout=p) for p in DROPOUTS}, ("map",), ALL,
        Axes("lines", "method", "MAP", color="part", x_title="dropout"),
    ),
    "fig4.7": _experiment(
        "MAP by L2 penalty", "6 h", {f"{l2:g}": plain(hidden=THREE_LAYERS, l2=l2) for l2 in PENALTIES}, ("map",),
        ALL, Axes("lines", "method", "MAP", color="part", x_title="L2 penalty", logarithmic=True),
    ),
    "table4.2": _experiment(
        "one layer, and three layers with dropout", "2 h", _some(SETTINGS, ONE, THREE), compared=(THREE, ONE)
    ),
    "table4.3": _experiment(
        "sigmoid, and ReLU after stacked auto-encoders", "3 h", _some(SETTINGS, THREE, TUNED),
        compared=(TUNED, THREE),
    ),
    "table4.4": _experiment(
        "the three settings side by side", "4 h", SETTINGS, LETOR_METRICS, compared=(TUNED, ONE)
    ),
    "fig4.10": _experiment(
        "MAP of shallow and deep comparators", "3 h",
        _some(ALL_METHODS, "SortNet - CmpNN (A)", "SortNet - CmpNN (B)", "DeepNet"), ("map",),
        axes=Axes("bars", "method", "MAP on the test part"),
    ),
    "table4.5": _experiment("MAP of all methods", "5 h", ALL_METHODS, ("map",)),
    "table4.6": _experiment("P@n of all methods", "5 h", ALL_METHODS, LETOR_METRICS[1:11]),
    "table4.7": _experiment("NDCG@n of all methods", "5 h", ALL_METHODS, LETOR_METRICS[11:]),
    "table5.1": _experiment(
        "ten times as many pairs", "16 h", {"10,000 pairs": deepnet(), "100,000 pairs": LARGE},
        compared=("100,000 pairs", "10,000 pairs"),
    ),
    "table5.2": _experiment(
        "nested ranker and rank aggregation", "days",
        {"extensive learning set": LARGE, "multiple nested ranker": NESTED, "rank aggregation": AGGREGATED},
        LETOR_METRICS, compared=("rank aggregation", "extensive learning set"),
    ),
}  # fmt: skip


def relevant_share(request: Request, _: Trials) -> Iterator[Number]:
    """Fig. 2.1: the percentage of relevant documents of each query."""
    folds = next(iter(request.collections((COLLECTION,)).values()))
    shares = [100 * float((query.y > 0).mean()) for fold in folds for query in fold.test]
    yield from (Number((str(number),), None, (share,)) for number, share in enumerate(shares, 1))


Nets = Mapping[str, System]
_net = partial(plain, 1, hidden=THREE_LAYERS)
DROPPED: Nets = {"no dropout": _net(), "dropout 0.25": _net(dropout=0.25)}
STRONG: Nets = {"L2 0.01": _net(l2=0.01), "L2 0.0001": _net(l2=0.0001)}
PENALIZED: Nets = {"no L2": _net(), "L2 0.0001": _net(l2=0.0001)}


def net_plans(nets: Nets, request: Request) -> list[Plan]:
    """Nets of 24, 12 and 6 neurons on the first fold."""
    data = {name: folds[:1] for name, folds in request.collections((COLLECTION,)).items()}
    return [request.plan(data, nets.values(), measures=WITH_ERROR, parts=("train",))]


def activations(nets: Nets, request: Request, trials: Trials) -> Iterator[Number]:
    """Fig. 4.5 and 4.8: the mean activation of every hidden neuron, on pairs of the first fold's test part."""
    for variant, layers in _reached(nets, request, trials):
        for place, layer in enumerate(layers[:-1], 1):
            for neuron, mean in enumerate(layer.mean(axis=0), 1):
                yield Number((variant, f"hidden layer {place}", str(neuron)), None, (float(mean),))


def layer_activations(nets: Nets, request: Request, trials: Trials) -> Iterator[Number]:
    """Fig. 4.6: mean and deviation of the activations of each layer under a strong and a weak penalty."""
    for variant, layers in _reached(nets, request, trials):
        names = [*(f"hidden layer {i + 1}" for i in range(len(layers) - 1)), "output"]
        for name, layer in zip(names, layers, strict=True):
            yield Number((variant, name), None, tuple(layer.ravel().tolist()))


def _reached(nets: Nets, request: Request, trials: Trials) -> Iterator[tuple[str, list[NDArray[np.float32]]]]:
    """What every layer of each trained net gives for random pairs of test documents."""
    [(name, folds)] = request.collections((COLLECTION,)).items()
    test = folds[0].test
    rng = np.random.default_rng(request.seed)
    starts = np.repeat(test.offsets[:-1], 200)
    pairs = starts[:, None] + rng.integers(0, np.repeat(test.counts, 200)[:, None], (len(starts), 2))
    for variant, net in nets.items():
        [trial] = trials.of(name, net.label(request))
        yield variant, trials.ranker(trial).activations(test, pairs)


_table = partial(letor_table, protocol=PRINTED["protocol"], collections=(COLLECTION,))
_target = partial(Target, needs=COLLECTION, takes="20 min")
_page = partial(Result, protocol=PRINTED["of_neurons"])
QUERIES = Result("", ("query",), protocol=PRINTED["of_queries"], axes=Axes("bars", "query", "relevant documents (%)"))
NEURONS = Axes("bars", "neuron", "mean activation", color="variant", facet="layer")
LAYERS = Axes("bars", "layer", "activation", color="variant")
BY_NEURON = _page("", ("variant", "layer", "neuron"), axes=NEURONS)
BY_LAYER = _page("", ("variant", "layer"), of="neurons and pairs", axes=LAYERS)


def _of_nets(shows: str, nets: Nets, view: Callable[[Nets, Request, Trials], Iterator[Number]], page: Result) -> Target:
    return _target(shows=shows, plans=partial(net_plans, nets), view=partial(view, nets), page=page)


TARGETS = {
    "fig2.1": _target(shows="share of relevant documents of each query", view=relevant_share, page=QUERIES),
    **{name: _table(**experiment) for name, experiment in EXPERIMENTS.items()},
    "fig4.5": _of_nets("mean activations with and without dropout", DROPPED, activations, BY_NEURON),
    "fig4.6": _of_nets("activations of each layer by L2 penalty", STRONG, layer_activations, BY_LAYER),
    "fig4.8": _of_nets("mean activations with and without L2 penalty", PENALIZED, activations, BY_NEURON),
}
