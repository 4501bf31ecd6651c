"""Chapter 3 of DeepNet: shared weights or a dense net (Table 3.1), losses (Fig. 3.2), kinds of pairs (Fig. 3.3)."""

from ordino.experiment.papers.deepnet.protocol import (
    PAIR_ERROR,
    REPEATS,
    beats,
    chart,
    experiment,
    level,
    plain,
    tested,
    worded,
)
from ordino.experiment.papers.target import System

DENSE = System("dense-comparator", {"asked": "once"}, like=plain(), repeats=REPEATS)
"""A net without shared weights, trained in the same way as the shallow comparator and asked once by the sort."""
TWICE = "CmpNN, 10 neurons and 10 duals"
NETS = {"dense": DENSE, "CmpNN": plain(), TWICE: plain(hidden=20)}
"""Both readings of "10 hidden neurons": with their duals, and without."""
LOSSES = {"MSE": "squared", "MAE": "absolute", "log loss": "ranknet", "fidelity": "fidelity"}
MIXES = ("C", "B66", "B75", "D66", "D75", "E66", "E75")

SYMMETRY = (
    *tested("CmpNN", "dense", "table3.1"),
    beats("CmpNN", "dense", metric=PAIR_ERROR, smaller_is_better=True),
    worded(TWICE, "dense", f"{TWICE}, is better than dense: map"),
)

TARGETS = {
    "table3.1": experiment(
        "a dense net and the comparator", "15 min", NETS, parts=("valid", "test"), claims=SYMMETRY
    ),
    "fig3.2": chart(
        "four losses", "15 min", {name: plain(loss=loss) for name, loss in LOSSES.items()},
        [worded("MSE", "MAE"), level("log loss", "MSE"), level("fidelity", "MSE")],
    ),
    "fig3.3": chart(
        "five kinds of training pairs", "20 min", {kind: plain(pairs=kind) for kind in "ABCDE"},
        [worded("C", other) for other in "ABDE"],
    ),
    "fig3.3.mixes": chart(
        "pairs of different labels alone, or as 66 % or 75 % of a mix", "25 min",
        {kind: plain(pairs=kind) for kind in MIXES}, [worded("C", other) for other in MIXES[1:]],
    ),
}  # fmt: skip
