"""What the thesis chooses on validation data: dropout by depth (Fig. 4.3), first weights and activations (4.3.3).

The choice is made over all folds, by the mean MAP of their validation parts, as the thesis prints one choice for all.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.deepnet.deep import DROPOUTS
from ordino.experiment.papers.deepnet.protocol import (
    BARS,
    COLLECTION,
    DEPTHS,
    FEW,
    PRINTED,
    REPEATS,
    THREE_LAYERS,
    deepnet,
    plain,
    worded,
)
from ordino.experiment.papers.letor import COLUMNS, WITH_ERROR, Row, letor_table, pair_notes, row_number
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import Request, System, Target, Trials
from ordino.experiment.plan.plan import Plan

CHOOSING = 5  # repeats of each dropout among which one is chosen
PARTS = ("valid", "test")
MEASURED = {"measures": WITH_ERROR, "parts": ("train",), "profile": "standard"}


def _dropped(depth: str, p: float, repeats: int = REPEATS) -> System:
    return plain(repeats, hidden=DEPTHS[depth], dropout=p)


def _plan(request: Request, systems: Sequence[System], collection: str) -> Plan:
    return request.plan({collection: request.collections((COLLECTION,))[collection]}, systems, **MEASURED)


def dropout_plans(request: Request) -> list[Plan]:
    """Every depth with every dropout, a few times."""
    systems = [_dropped(depth, p, CHOOSING) for depth in DEPTHS for p in DROPOUTS]
    return [_plan(request, systems, name) for name in request.collections((COLLECTION,))]


def chosen_plans(request: Request, trials: Trials) -> list[Plan]:
    """Every depth without dropout, and with that which is best on the validation parts."""
    return [
        _plan(
            request,
            [_dropped(depth, p) for depth in DEPTHS for p in (0.0, best_dropout(name, depth, request, trials))],
            name,
        )
        for name in request.collections((COLLECTION,))
    ]


def best_dropout(collection: str, depth: str, request: Request, trials: Trials) -> float:
    """The dropout above 0 with the highest MAP on the validation parts, by the repeats that every dropout has."""

    def quality(p: float) -> float:
        values = trials.by_seed(collection, _dropped(depth, p).label(request), "map", "valid")
        return float(np.mean(values[: request.at_most(CHOOSING)]))

    return max(DROPOUTS[1:], key=quality)


def tuned_dropout(request: Request, trials: Trials) -> Iterator[Number | str]:
    """Fig. 4.3: each depth without dropout and with its best."""
    for name in request.collections((COLLECTION,)):
        chosen = {depth: best_dropout(name, depth, request, trials) for depth in DEPTHS}
        for depth, p in chosen.items():
            rows = Row(depth, _dropped(depth, 0.0)), Row(f"{depth}, dropout", _dropped(depth, p))
            for row in rows:
                for part in PARTS:
                    yield from (row_number(row, name, part, metric, request, trials) for metric in FEW)
        yield f"Dropout chosen on {name}: {', '.join(f'{depth} {p:g}' for depth, p in chosen.items())}."


def dropout_pairs(request: Request) -> Iterator[str]:
    """The pairs that every depth learns from, whatever its dropout."""
    for name, folds in request.collections((COLLECTION,)).items():
        yield from pair_notes(name, folds, [_dropped(depth, 0.0) for depth in DEPTHS], request)


INITIALIZERS = {"uniform": "unit", "Glorot": "glorot", "He": "he", "auto-encoders": "autoencoders"}
ACTIVATIONS = {"sigmoid": "sigmoid", "tanh": "tanh", "ReLU": "relu", "softplus": "softplus"}
BEST = ("auto-encoders", "ReLU")
GRID = {
    f"{first}, {activation}": deepnet(
        hidden=THREE_LAYERS, dropout=0.25, initializer=INITIALIZERS[first], activation=ACTIVATIONS[activation]
    )
    for first in INITIALIZERS
    for activation in ACTIVATIONS
}


def _best_of_grid(numbers: Sequence[Number]) -> list[str]:
    """Which setting is the best on the validation parts of each collection."""
    held_out = [number for number in numbers if number.labels[2] == "valid"]
    found = {}
    for number in sorted(held_out, key=lambda one: one.mean):
        found[number.labels[0]] = f"{number.labels[1]} (MAP {number.mean:.3f})"
    return [
        f"Best on the validation parts of {name}: {setting}; in the thesis: {', '.join(BEST)}."
        for name, setting in found.items()
    ]


def _grid_claims() -> list[Claim]:
    """No change of the first weights alone, or of the activation alone, does better on the validation parts."""
    first, activation = BEST
    others = [f"{one}, {activation}" for one in INITIALIZERS if one != first]
    others += [f"{first}, {one}" for one in ACTIVATIONS if one != activation]
    where = {"part": "valid", "measure": "map"}
    return [
        Claim(
            says=f"{', '.join(BEST)} is better than {other} on the validation part",
            better={"method": ", ".join(BEST)} | where, worse={"method": other} | where,
        )
        for other in others
    ]  # fmt: skip


TARGETS = {
    "fig4.3": Target(
        shows="1 to 4 hidden layers with dropout tuned for each", needs=COLLECTION, takes="90 min", plans=dropout_plans,
        then=chosen_plans, view=tuned_dropout, pairs=dropout_pairs,
        page=Result(
            "", COLUMNS, protocol=PRINTED["of_dropout"], choices=PRINTED["choices"], axes=BARS,
            claims=[
                *(worded(f"{depth}, dropout", depth, difference=PRINTED["dropout_gain"]) for depth in DEPTHS),
                *(worded(f"{depth}, dropout", "1 layer, dropout") for depth in ("3 layers", "4 layers")),
            ],
        ),
    ),
    "section4.3.3": letor_table(
        shows="four kinds of first weights and four activations", takes="2 h", collections=(COLLECTION,),
        rows=lambda *_: [Row(label, system) for label, system in GRID.items()], protocol=PRINTED["protocol"],
        metrics=("map",), parts=PARTS, notes=_best_of_grid, claims=_grid_claims(), choices=PRINTED["choices"],
    ),
}  # fmt: skip
