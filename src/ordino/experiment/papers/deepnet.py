"""DeepNet (Huybrechts, 2016): every table and figure of its experiments, as settings of one protocol.

30 repeats on the five folds, 10,000 training and 5,000 validation pairs, the epoch chosen by the error on the
validation pairs (section 2.3). A table or a bar chart is a list of settings; what is not of that form (percentages of
relevant documents, activations of neurons) has a function of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ordino.experiment.papers.deepnet_numbers import PAPER
from ordino.experiment.papers.request import Request
from ordino.experiment.papers.result import Cell, Figure, Result
from ordino.experiment.papers.sortnet import BASELINES, sortnet
from ordino.experiment.papers.training import Wanted, fit_seeds, train_ahead
from ordino.experiment.papers.trials import (
    LETOR_METRICS,
    Make,
    Protocol,
    Setting,
    run_table,
)
from ordino.experiment.significance import welch
from ordino.ranker import Ranker
from ordino.rankers import ranker_class

COLLECTION = "TD2003"
REPEATS = 30
WITH_ERROR = (*LETOR_METRICS, "pairwise_error")  # the thesis: of 10,000 random pairs; here: of all pairs of a query
FEW = ("map", "p@1", "p@5", "p@10", "ndcg@5", "ndcg@10")  # what the bar charts show
QUICK: Mapping[str, Any] = MappingProxyType({"epochs": 2, "pretraining": 1, "n_pairs": 200, "n_valid_pairs": 100})
SHALLOW: Mapping[str, Any] = MappingProxyType(
    {"hidden": 10, "activation": "sigmoid", "initializer": "unit", "dropout": 0.0}
)
DEPTHS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"1 layer": (6,), "2 layers": (12, 6), "3 layers": (24, 12, 6), "4 layers": (48, 24, 12, 6)}
)


def deepnet(**changes: Any) -> Make:
    """The thesis' tuned network, changed in these parameters."""

    def make(request: Request) -> Ranker:
        from ordino.rankers.deepnet import DeepNet

        return DeepNet.as_published(**{**changes, **(QUICK if request.quick else {})})

    return make


def plain(**changes: Any) -> Make:
    """Sigmoids, weights uniform in [-1, 1] and no dropout, unless these parameters say otherwise."""
    return deepnet(**{**SHALLOW, **changes})


def dense(request: Request) -> Ranker:
    """A net without shared weights, trained in the same way as the shallow comparator and asked once by the sort."""
    from ordino.rankers.deepnet import DenseComparator

    return DenseComparator(asked="once", **plain()(request).get_params())


def nested(request: Request) -> Ranker:
    """Eight stages, each of at most 100,000 pairs (section 5.2)."""
    sizes = (None, 10) if request.quick else (None, 1000, 750, 500, 200, 100, 50, 10)
    return ranker_class("nested-ranker")(LARGE(request), sizes, metric="map")


def aggregated(request: Request) -> Ranker:
    """15 networks on pairs of their own, by rank sum (section 5.3)."""
    return ranker_class("rank-aggregation")(LARGE(request), 2 if request.quick else 15, method="rank_sum")


LARGE = deepnet(n_pairs=100_000, n_valid_pairs=50_000)


class Experiment(NamedTuple):
    """A table or bar chart."""

    shows: str
    settings: Mapping[str, Make]
    metrics: Sequence[str] = WITH_ERROR
    parts: Sequence[str] = ("test",)
    figure: Figure | None = None
    compared: tuple[str, str] | None = None
    """Two settings whose MAP and P@1 Welch's test compares (section 2.4)."""


BARS = Figure("bars", "measure", "mean over the queries", color="method", facet="part")
ONE, THREE, TUNED = "1 layer", "3 layers, dropout", "3 layers, dropout, auto-encoders, ReLU"
SETTINGS: Mapping[str, Make] = MappingProxyType(
    {ONE: plain(), THREE: plain(hidden=(24, 12, 6), dropout=0.25), TUNED: deepnet()}
)
ALL_METHODS: Mapping[str, Make] = MappingProxyType(
    {
        **BASELINES,
        "SortNet MAP": sortnet(10),
        "SortNet P@10": sortnet(10, "p@10"),
        "SortNet NDCG@10": sortnet(10, "ndcg@10"),
        "SortNet - CmpNN (A)": plain(n_pairs=None, n_valid_pairs=None),
        "SortNet - CmpNN (B)": plain(),
        "DeepNet": deepnet(),
    }
)
LOSSES = MappingProxyType({"MSE": "squared", "MAE": "absolute", "log loss": "ranknet", "fidelity": "fidelity"})
ONCE = frozenset(ALL_METHODS) - {"SortNet - CmpNN (B)", "DeepNet"}  # what the thesis takes from others, and (A)
DROPOUTS = tuple(i / 10 for i in range(9))
PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


def _chart(shows: str, settings: Mapping[str, Make]) -> Experiment:
    """A bar chart of validation and test part side by side."""
    return Experiment(shows, settings, FEW, ("valid", "test"), BARS)


def _some(methods: Mapping[str, Make], *names: str) -> dict[str, Make]:
    return {name: methods[name] for name in names}


EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        "table3.1": Experiment(
            "a dense net and the comparator",
            {"dense": dense, "CmpNN": plain()},
            parts=("valid", "test"),
            compared=("CmpNN", "dense"),
        ),
        "fig3.2": _chart("four losses", {name: plain(loss=loss) for name, loss in LOSSES.items()}),
        "fig3.3": _chart("five kinds of training pairs", {kind: plain(pairs=kind) for kind in "ABCDE"}),
        "fig4.2": _chart("1 to 4 hidden layers", {name: plain(hidden=widths) for name, widths in DEPTHS.items()}),
        "fig4.3": _chart(
            "1 to 4 hidden layers with dropout 0.25",
            {name: plain(hidden=widths, dropout=0.25) for name, widths in DEPTHS.items()},
        ),
        "fig4.4": Experiment(
            "MAP by dropout",
            {str(p): plain(hidden=(24, 12, 6), dropout=p) for p in DROPOUTS},
            ("map",),
            ("train", "valid", "test"),
            Figure("lines", "method", "MAP", color="part", x_title="dropout"),
        ),
        "fig4.7": Experiment(
            "MAP by L2 penalty",
            {f"{l2:g}": plain(hidden=(24, 12, 6), l2=l2) for l2 in PENALTIES},
            ("map",),
            ("train", "valid", "test"),
            Figure("lines", "method", "MAP", color="part", x_title="L2 penalty", logarithmic=True),
        ),
        "table4.2": Experiment(
            "one layer, and three layers with dropout", _some(SETTINGS, ONE, THREE), compared=(THREE, ONE)
        ),
        "table4.3": Experiment(
            "sigmoid, and ReLU after stacked auto-encoders", _some(SETTINGS, THREE, TUNED), compared=(TUNED, THREE)
        ),
        "table4.4": Experiment("the three settings side by side", SETTINGS, LETOR_METRICS, compared=(TUNED, ONE)),
        "fig4.10": Experiment(
            "MAP of shallow and deep comparators",
            _some(ALL_METHODS, "SortNet - CmpNN (A)", "SortNet - CmpNN (B)", "DeepNet"),
            ("map",),
            figure=Figure("bars", "method", "MAP on the test part"),
        ),
        "table4.5": Experiment("MAP of all methods", ALL_METHODS, ("map",)),
        "table4.6": Experiment("P@n of all methods", ALL_METHODS, LETOR_METRICS[1:11]),
        "table4.7": Experiment("NDCG@n of all methods", ALL_METHODS, LETOR_METRICS[11:]),
        "table5.1": Experiment(
            "ten times as many pairs",
            {"10,000 pairs": deepnet(), "100,000 pairs": LARGE},
            compared=("100,000 pairs", "10,000 pairs"),
        ),
        "table5.2": Experiment(
            "nested ranker and rank aggregation",
            {"extensive learning set": LARGE, "multiple nested ranker": nested, "rank aggregation": aggregated},
            LETOR_METRICS,
            compared=("rank aggregation", "extensive learning set"),
        ),
    }
)

PROTOCOL = (
    "The protocol of sections 2.2 and 2.3: {folds}, {repeats} with new pairs and weights (one of "
    "the methods that the thesis took from others), 10,000 training and 5,000 validation pairs in equal shares of "
    "every query, 1,000 epochs of full batches with the adaptive rate, the epoch with the smallest error on the "
    "validation pairs; features scaled inside each query. NDCG has the discount log(1 + j). Where the thesis "
    "tunes dropout for each depth (Fig. 4.3), it is 0.25 here, its choice for three layers. A dense net is asked once "
    "for two documents, in the order in which Python's sort meets them."
)


OF_QUERIES = "The share of documents labelled above 0 in each query of the test parts; nothing is trained."
OF_NEURONS = (
    "A network of 24, 12 and 6 sigmoids of each kind, trained on the first fold as in section 2.3 (10,000 pairs, 1,000 "
    "epochs of full batches, the epoch with the smallest error on 5,000 validation pairs), and what its neurons give "
    "for 200 random pairs of documents of each query of the test part."
)


def run(target: str, request: Request) -> Result:
    """A table or bar chart of settings."""
    experiment = EXPERIMENTS[target]
    protocol = Protocol(experiment.metrics, parts=experiment.parts, repeats=REPEATS)
    cells: list[Cell] = []
    n_folds = 0
    for collection, folds in request.collections((COLLECTION,)).items():
        n_folds = len(folds)
        printed = {} if experiment.figure is BARS else PAPER  # the bar charts have no numbers
        settings = [
            Setting(label, make, {COLLECTION: printed.get(label, {})}, repeats=1 if label in ONCE else None)
            for label, make in experiment.settings.items()
        ]
        cells += run_table(settings, collection, folds, protocol, request)
    notes = [] if experiment.compared is None else [_tested(cells, *experiment.compared)]
    repeats = max(len(cell.ours) for cell in cells)
    protocol_text = PROTOCOL.format(folds=_count(n_folds, "fold"), repeats=_count(repeats, "repeat"))
    columns = ("collection", "method", "part", "measure")
    return Result(
        f"deepnet.{target}", experiment.shows, columns, cells, protocol_text, seed=request.seed,
        figure=experiment.figure, notes=notes,
    )  # fmt: skip


def relevant_share(request: Request) -> Result:
    """Fig. 2.1: the percentage of relevant documents of each query."""
    folds = next(iter(request.collections((COLLECTION,)).values()))
    shares = [100 * float((query.y > 0).mean()) for fold in folds for query in fold.test]
    cells = [Cell((str(number),), None, (share,)) for number, share in enumerate(shares, 1)]
    figure = Figure("bars", "query", "relevant documents (%)")
    title = "share of relevant documents of each query"
    return Result("deepnet.fig2.1", title, ("query",), cells, OF_QUERIES, seed=request.seed, figure=figure)


def activations(target: str, variants: Mapping[str, Mapping[str, Any]], request: Request) -> Result:
    """Fig. 4.5 and 4.8: the mean activation of every hidden neuron, on pairs of the first fold's test part."""
    cells = []
    for variant, layers in _reached(variants, request).items():
        for number, layer in enumerate(layers[:-1], 1):
            for neuron, mean in enumerate(layer.mean(axis=0), 1):
                cells.append(Cell((variant, f"hidden layer {number}", str(neuron)), None, (float(mean),)))
    figure = Figure("bars", "neuron", "mean activation", color="variant", facet="layer")
    title, columns = f"mean activations: {', '.join(variants)}", ("variant", "layer", "neuron")
    return Result(f"deepnet.{target}", title, columns, cells, OF_NEURONS, seed=request.seed, figure=figure)


def layer_activations(request: Request) -> Result:
    """Fig. 4.6: mean and deviation of the activations of each layer under a strong and a weak penalty."""
    variants = {"L2 0.01": {"l2": 0.01}, "L2 0.0001": {"l2": 0.0001}}
    cells = []
    for variant, layers in _reached(variants, request).items():
        names = [*(f"hidden layer {i + 1}" for i in range(len(layers) - 1)), "output"]
        for name, layer in zip(names, layers, strict=True):
            cells.append(Cell((variant, name), None, tuple(layer.ravel().tolist())))
    figure = Figure("bars", "layer", "activation", color="variant")
    title, columns, of = "activations of each layer by L2 penalty", ("variant", "layer"), "neurons and pairs"
    return Result("deepnet.fig4.6", title, columns, cells, OF_NEURONS, of=of, seed=request.seed, figure=figure)


def _reached(
    variants: Mapping[str, Mapping[str, Any]], request: Request
) -> dict[str, list[np.ndarray[Any, np.dtype[np.float32]]]]:
    """What every layer of a trained net of 24, 12 and 6 neurons gives for random pairs of test documents."""
    fold = next(iter(request.collections((COLLECTION,)).values()))[0]
    rng = np.random.default_rng(request.seed)
    starts = np.repeat(fold.test.offsets[:-1], 200)
    pairs = starts[:, None] + rng.integers(0, np.repeat(fold.test.counts, 200)[:, None], (len(starts), 2))
    nets = {variant: plain(hidden=(24, 12, 6), **changes)(request) for variant, changes in variants.items()}
    train_ahead([Wanted(net, fold, [request.seed]) for net in nets.values()], request)
    found = {}
    for variant, net in nets.items():
        [fitted], _ = fit_seeds(net, fold, [request.seed], request)
        found[variant] = fitted.activations(fold.test, pairs)
    return found


def _tested(cells: list[Cell], a: str, b: str) -> str:
    """Welch's test of two settings on the test part, as section 2.4 has it; it needs two repeats of each."""
    said = []
    for metric in ("map", "p@1"):
        of = {cell.labels[1]: cell.ours for cell in cells if cell.labels[2:] == ("test", metric)}
        if min(len(of[a]), len(of[b])) < 2:
            return f"Welch's test of {a} against {b} needs more than one repeat."
        difference = np.mean(of[a]) - np.mean(of[b])
        said.append(f"{metric} {difference:+.3f}, p = {welch(of[a], of[b]).p:.2g}")
    return f"Welch's test of {a} against {b}: {'; '.join(said)}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


RUNS: Mapping[str, Callable[[Request], Result]] = MappingProxyType(
    {
        "fig2.1": relevant_share,
        **{target: partial(run, target) for target in EXPERIMENTS},
        "fig4.5": partial(activations, "fig4.5", {"no dropout": {}, "dropout 0.25": {"dropout": 0.25}}),
        "fig4.6": layer_activations,
        "fig4.8": partial(activations, "fig4.8", {"no L2": {}, "L2 0.0001": {"l2": 0.0001}}),
    }
)
"""What this module reproduces."""
