"""What the experiments of DeepNet share: its networks, its protocol, and the numbers that it prints.

30 repeats on the five folds, 10,000 training and 5,000 validation pairs, the epoch chosen by the error on the
validation pairs (section 2.3). A table or a bar chart is a list of systems. A pair error is the share of drawn test
pairs that the *network* gets wrong, not of the pairs of the sorted list, so it is counted here, from the trained
networks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import Folds
from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.letor import WITH_ERROR, Row, letor_table, printed_rows, row_claim
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes
from ordino.experiment.papers.sortnet import TD2003
from ordino.experiment.papers.target import Request, System, Target, Trials, read_paper
from ordino.experiment.store.trial import TrialInfo, grouped
from ordino.networks.learning_sets import draw_pairs
from ordino.streams import stream

PRINTED = read_paper("deepnet")
COLLECTION = "TD2003"
REPEATS = 30
TEST_PAIRS = 10_000
PAIR_ERROR = "pairwise_error"
FEW = ("map", "p@1", "p@5", "p@10", "ndcg@5", "ndcg@10")  # what the bar charts show
ALL = ("train", "valid", "test")
QUICK = {"epochs": 2, "pretraining": 1, "n_pairs": 200, "n_valid_pairs": 100}
SHALLOW = {"hidden": 10, "activation": "sigmoid", "initializer": "unit", "dropout": 0.0}
THREE_LAYERS = (24, 12, 6)
DEPTHS = {"1 layer": (6,), "2 layers": (12, 6), "3 layers": THREE_LAYERS, "4 layers": (48, 24, 12, 6)}
BARS = Axes("bars", "measure", "mean over the queries", color="method", facet="part")
LEVEL = 0.013
"""How far two settings may lie apart that the thesis calls similar: a deviation of the MAP of its shallow network."""


def deepnet(repeats: int = REPEATS, **changes: Any) -> System:
    """The thesis' tuned network, changed in these parameters."""
    return System("deepnet", changes, "published", QUICK, repeats=repeats)


def plain(repeats: int = REPEATS, **changes: Any) -> System:
    """Sigmoids, weights uniform in [-1, 1] and no dropout, unless these parameters say otherwise."""
    return deepnet(repeats, **{**SHALLOW, **changes})


def three_layers(repeats: int = REPEATS, **changes: Any) -> System:
    """The same with layers of 24, 12 and 6."""
    return plain(repeats, hidden=THREE_LAYERS, **changes)


def _printed(what: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """What the thesis prints, by setting, then by part and metric."""
    found = printed_rows(what["test"])
    found |= {name: found[same] for name, same in PRINTED["same"].items()}
    valid = printed_rows(what["valid"], part="valid")
    return found | {name: found[name] | row for name, row in valid.items()}


PAPER = _printed(PRINTED) | {  # of the methods of LETOR it prints MAP alone
    name: TD2003.get(name, {}) | {"test map": value} for name, value in PRINTED["map"].items()
}
DEVIATIONS = _printed(PRINTED["deviations"])


def printed_row(label: str, system: System) -> Row:
    """A row with what the thesis prints under this label, if it does."""
    return Row(label, system, {COLLECTION: PAPER.get(label, {})}, {COLLECTION: DEVIATIONS.get(label, {})})


def experiment(
    shows: str, takes: str, systems: Mapping[str, System], metrics: Sequence[str] = WITH_ERROR,
    parts: Sequence[str] = ("test",), axes: Axes | None = None, *, claims: Sequence[Claim] = (),
    protocol: str = "protocol",
) -> Target:  # fmt: skip
    """A table or bar chart of these systems; the bar charts of the thesis have no numbers."""
    is_printed = axes is not BARS
    rows = [printed_row(label, system) if is_printed else Row(label, system) for label, system in systems.items()]
    table = letor_table(
        shows=shows, takes=takes, rows=lambda *_: rows, protocol=PRINTED[protocol], collections=(COLLECTION,),
        metrics=metrics, parts=parts, axes=axes, claims=claims, choices=PRINTED["choices"],
    )  # fmt: skip
    return with_pair_errors(table, systems) if PAIR_ERROR in metrics else table


def chart(shows: str, takes: str, systems: Mapping[str, System], claims: Sequence[Claim] = ()) -> Target:
    """A bar chart of validation and test part side by side."""
    return experiment(shows, takes, systems, FEW, ("valid", "test"), BARS, claims=claims)


def beats(better: str, worse: str, says: str = "", metric: str = "map", **more: Any) -> Claim:
    """The claim that one setting is better than another, with what the thesis prints of both."""
    winner, loser = (printed_row(label, plain()) for label in (better, worse))
    return row_claim(says or f"{better} is better than {worse}: {metric}", winner, loser, metric, **more)


def tested(better: str, worse: str, table: str) -> list[Claim]:
    """The two claims that the thesis tests: MAP and P@1 of one setting against another, with its own p-values."""
    p_values = PRINTED["p"][table]
    return [beats(better, worse, metric=metric, p=f"= {p_values[metric]:g}") for metric in ("map", "p@1")]


def worded(better: str, worse: str, says: str = "", **more: Any) -> Claim:
    """A claim on MAP of the test part that the thesis makes in words, or in a figure without numbers."""
    where = {"part": "test", "measure": "map"}
    labels = [{"method": label, **where} for label in (better, worse)]
    return Claim(says=says or f"{better} is better than {worse}", better=labels[0], worse=labels[1], **more)


def level(a: str, b: str, says: str = "") -> Claim:
    """The claim that two settings are similar."""
    return worded(a, b, says or f"{a} and {b} are similar", margin=LEVEL)


def with_pair_errors(table: Target, systems: Mapping[str, System]) -> Target:
    """The table with the pair errors of the networks themselves."""

    def view(request: Request, trials: Trials) -> list[Number | str]:
        collections = request.collections((COLLECTION,))

        def counted(one: Number | str) -> Number | str:
            if isinstance(one, str) or one.labels[-1] != PAIR_ERROR:
                return one
            collection, method, part, _ = one.labels
            own = trials.of(collection, systems[method].label(request))
            return one._replace(ours=pair_errors(own, collections[collection], part, trials))

        return [counted(one) for one in table.view(request, trials)]

    return replace(table, view=view)


def pair_errors(own: Sequence[TrialInfo], folds: Folds, part: str, trials: Trials) -> tuple[float, ...]:
    """The share of drawn pairs of a part that the networks of some trials get wrong: the mean over folds by seed."""
    data = {fold.name: fold.valid if part == "valid" and fold.valid is not None else fold.test for fold in folds}
    errors = grouped((trial.seed, wrong_pairs(trials.ranker(trial), data[trial.fold], trial.seed)) for trial in own)
    return tuple(float(np.mean(values)) for values in errors.values())


def wrong_pairs(ranker: Any, data: Dataset, seed: int) -> float:
    """The share of 10,000 random pairs of different labels that a comparator gets wrong, asked once, in random order.

    A pair whose outputs are equal is wrong; fewer pairs than that are all taken.
    """
    rng = stream(seed, "pair error")
    pairs = draw_pairs(data.y, data.offsets, "C", None, rng)
    if pairs.n_pairs > TEST_PAIRS:
        pairs = pairs.take(rng.choice(pairs.n_pairs, TEST_PAIRS, replace=False))
    outputs = ranker.activations(data, pairs.rows(data.n_docs).T)[-1]  # (n_pairs, 2): N> and N<
    is_right = np.where(pairs.target > 0.5, outputs[:, 0] > outputs[:, 1], outputs[:, 0] < outputs[:, 1])
    return float(1 - is_right.mean())
