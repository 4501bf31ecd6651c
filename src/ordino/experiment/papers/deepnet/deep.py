"""Chapter 4 of DeepNet: depth, dropout, penalties, first weights and activations, and all methods side by side."""

from collections.abc import Mapping, Sequence

from ordino.experiment.papers.deepnet.protocol import (
    ALL,
    COLLECTION,
    DEPTHS,
    PAPER,
    PRINTED,
    REPEATS,
    beats,
    chart,
    deepnet,
    experiment,
    level,
    plain,
    tested,
    three_layers,
    worded,
)
from ordino.experiment.papers.letor import LETOR_METRICS, Row
from ordino.experiment.papers.result import Axes
from ordino.experiment.papers.sortnet import BASELINES, sortnet, with_known_pairs
from ordino.experiment.papers.target import System, Target

ONE, THREE, TUNED = "1 layer", "3 layers, dropout", "3 layers, dropout, auto-encoders, ReLU"
SETTINGS = {ONE: plain(), THREE: three_layers(dropout=0.25), TUNED: deepnet()}
SORTNET_ITERATIONS = 30  # Appendix B
ALL_METHODS: Mapping[str, System] = {
    **BASELINES,
    "SortNet MAP": sortnet(10, max_iter=SORTNET_ITERATIONS),
    "SortNet P@10": sortnet(10, "p@10", max_iter=SORTNET_ITERATIONS),
    "SortNet NDCG@10": sortnet(10, "ndcg@10", max_iter=SORTNET_ITERATIONS),
    "SortNet - CmpNN (A)": plain(1, n_pairs=None, n_valid_pairs=None),
    "SortNet - CmpNN (B)": plain(),
    "DeepNet": deepnet(),
}
DROPOUTS = tuple(i / 10 for i in range(9))
FINE_DROPOUTS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
FINE_PENALTIES = (5e-5, 1e-4, 2e-4, 3e-4, 4e-4, 5e-4)
BY_DROPOUT = Axes("lines", "method", "MAP", color="part", x_title="dropout")
BY_PENALTY = Axes("lines", "method", "MAP", color="part", x_title="L2 penalty", logarithmic=True)
L2 = PRINTED["l2"]


def _some(methods: Mapping[str, System], *names: str) -> dict[str, System]:
    return {name: methods[name] for name in names}


def _penalties() -> dict[str, System]:
    """No penalty, dropout, and every size of L2, L1 and both together."""
    kinds = {"L2": ("l2",), "L1": ("l1",), "elastic net": ("l1", "l2")}
    return {
        "no penalty": three_layers(),
        "dropout 0.25": three_layers(dropout=0.25),
        **{
            f"{kind} {size:g}": three_layers(REPEATS, **dict.fromkeys(names, size))
            for kind, names in kinds.items()
            for size in PENALTIES
        },
    }


def behind(metric: str) -> list[str]:
    """The methods that DeepNet is ahead of in the thesis' tables."""
    printed = {name: PAPER[name][f"test {metric}"] for name in ALL_METHODS if f"test {metric}" in PAPER[name]}
    return [name for name, value in printed.items() if value < printed["DeepNet"]]


def of_all_methods(shows: str, metrics: Sequence[str]) -> Target:
    """A table of all methods by some metrics."""
    rows = [Row(name, system) for name, system in ALL_METHODS.items()]
    claims = [beats("DeepNet", other, metric=metrics[0]) for other in behind(metrics[0])]
    table = experiment(f"{shows} of all methods", "35 min", ALL_METHODS, metrics, claims=claims)
    return with_known_pairs(table, (COLLECTION,), lambda *_: rows)


TARGETS = {
    "fig4.2": chart(
        "1 to 4 hidden layers", "25 min", {name: plain(hidden=sizes) for name, sizes in DEPTHS.items()},
        [level(name, "1 layer") for name in list(DEPTHS)[1:]],
    ),
    "fig4.4": experiment(
        "MAP by dropout", "1 h", {str(p): three_layers(dropout=p) for p in DROPOUTS}, ("map",), ALL, BY_DROPOUT,
        claims=[worded("0.2", "0.0"), worded("0.3", "0.0"), worded("0.2", "0.8")],
    ),
    "fig4.4.fine": experiment(
        "MAP by dropout between 0.1 and 0.4", "45 min", {str(p): three_layers(dropout=p) for p in FINE_DROPOUTS},
        ("map",), ALL, BY_DROPOUT, claims=[worded("0.25", "0.1"), worded("0.25", "0.4")],
    ),
    "fig4.7": experiment(
        "MAP by L2 penalty", "35 min", {f"{l2:g}": three_layers(l2=l2) for l2 in PENALTIES}, ("map",), ALL, BY_PENALTY,
        claims=[
            worded("0.0001", "0.01", difference=round(L2["best"] - L2["strongest"], 3)),
            worded("0.0001", "1e-06", "an L2 penalty of 0.0001 is better than nearly none"),
        ],
    ),
    "fig4.7.fine": experiment(
        "MAP by L2 penalty between 0.00005 and 0.0005, and with dropout", "45 min",
        {"dropout 0.25": three_layers(dropout=0.25)} | {f"{l2:g}": three_layers(l2=l2) for l2 in FINE_PENALTIES},
        ("map",), ALL, Axes("bars", "method", "MAP", color="part"),
        claims=[worded("dropout 0.25", f"{l2:g}") for l2 in FINE_PENALTIES],
    ),
    "section4.2.2": experiment(
        "L2, L1 and elastic net against dropout", "2 h", _penalties(), ("map",), ("valid", "test"),
        claims=[
            worded("dropout 0.25", "L2 0.0001", difference=round(L2["dropout"] - L2["best"], 3)),
            *(
                worded("dropout 0.25", f"{kind} {size:g}")
                for kind in ("L1", "elastic net")
                for size in PENALTIES
            ),
        ],
    ),
    "table4.2": experiment(
        "one layer, and three layers with dropout", "10 min", _some(SETTINGS, ONE, THREE),
        claims=tested(THREE, ONE, "table4.2"),
    ),
    "table4.3": experiment(
        "sigmoid, and ReLU after stacked auto-encoders", "15 min", _some(SETTINGS, THREE, TUNED),
        claims=tested(TUNED, THREE, "table4.3"),
    ),
    "table4.4": experiment(
        "the three settings side by side", "20 min", SETTINGS, LETOR_METRICS,
        claims=[beats(TUNED, ONE), beats(TUNED, ONE, metric="p@1"), beats(THREE, ONE), beats(TUNED, THREE)],
    ),
    "fig4.10": experiment(
        "MAP of shallow and deep comparators", "15 min",
        _some(ALL_METHODS, "SortNet - CmpNN (A)", "SortNet - CmpNN (B)", "DeepNet"), ("map",),
        axes=Axes("bars", "method", "MAP on the test part"), claims=[beats("DeepNet", "SortNet - CmpNN (B)")],
    ),
    "table4.5": of_all_methods("MAP", ("map",)),
    "table4.6": of_all_methods("P@n", LETOR_METRICS[1:11]),
    "table4.7": of_all_methods("NDCG@n", LETOR_METRICS[11:]),
}  # fmt: skip
