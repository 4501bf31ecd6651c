"""What learning makes small: pure functions of scores, labels and offsets, with their gradients.

``make_loss("ranknet").value_and_gradient(scores, y, offsets)`` gives a value and a gradient for scores that came from
anywhere: a linear model, a network, trees (:func:`~ordino.losses.trees_objective.lightgbm_objective`). ``LOSSES`` has
every loss by name; :func:`pair_loss` gives the functions behind the pairwise ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ordino.errors import ParameterError, unknown_name
from ordino.losses.base import Loss
from ordino.losses.lambdas import LambdaLoss
from ordino.losses.listwise import ListwiseLoss
from ordino.losses.pairwise import PairwiseLoss, pair_loss

__all__ = ["LOSSES", "Loss", "LossEntry", "make_loss", "pair_loss"]


class LossEntry(NamedTuple):
    """One line of ``LOSSES``."""

    name: str
    family: str
    """pairwise, listwise or lambda."""
    formula: str
    """For a pair: m margin, p = 1 / (1 + exp(-m)), t target; for a list: s scores, y labels."""
    description: str
    parameters: Mapping[str, Any]
    """What may be set, with the defaults."""
    make: Callable[..., Loss]


_OF_PAIRS = {"pairs": "all", "average": "pairs", "max_pairs": None, "seed": 0}
_WITH_TARGETS = {"ties": False, "target": 1.0, "target_by": "pair", **_OF_PAIRS}


def _pairwise(name: str, formula: str, description: str, parameters: dict[str, Any]) -> LossEntry:
    return LossEntry(name, "pairwise", formula, description, MappingProxyType(parameters), PairwiseLoss)


def _listwise(name: str, formula: str, description: str, **parameters: Any) -> LossEntry:
    return LossEntry(name, "listwise", formula, description, MappingProxyType(parameters), ListwiseLoss)


_ENTRIES = (
    _pairwise("ranknet", "-t m + log(1 + exp(m))", "cross entropy of a pair's order (RankNet, eq. 3)", _WITH_TARGETS),
    _pairwise("fidelity", "1 - sqrt(t p) - sqrt((1 - t)(1 - p))", "fidelity of a pair's order (FRank); bounded, "
              "zero at best", _WITH_TARGETS),
    _pairwise("squared", "(t - p)^2", "squared error of a pair's probability (SortNet, DeepNet)", _WITH_TARGETS),
    _pairwise("absolute", "abs(t - p)", "absolute error of a pair's probability (DeepNet)", _WITH_TARGETS),
    _pairwise("directranker", "y_i (1 - tau(m))^2", "DirectRanker's cost of pairs of neighboring labels",
              {"activation": "identity", **_OF_PAIRS, "pairs": "neighbors"}),
    _pairwise("hinge", "max(0, 1 - m)", "what RankSVM minimizes", _OF_PAIRS),
    _pairwise("squared-hinge", "max(0, 1 - m)^2", "hinge without the kink", _OF_PAIRS),
    _pairwise("exponential", "exp(-m)", "what RankBoost minimizes; a straight line below m = -30", _OF_PAIRS),
    _listwise("listnet", "-sum softmax(y) log softmax(s)", "cross entropy of who comes first (ListNet, top one)"),
    _listwise("listmle", "sum log(exp(s_i) + sum of lower exp(s_j)) - s_i", "likelihood of the labels' order"),
    _listwise("rankcosine", "(1 - cos(y, s)) / 2", "angle between scores and labels (RankCosine)", center=False,
              smoothing=0.01),
    _listwise("softmax", "-sum gain / total log softmax(s)", "cross entropy of gains and scores", gain="linear"),
    _listwise("approx-ndcg", "1 - NDCG of soft ranks", "NDCG made smooth (ApproxNDCG)", gain="exponential", alpha=10.0),
    LossEntry("lambdarank", "lambda", "abs(delta of the measure) log(1 + exp(-m))",
              "pairs weighed by what their swap changes in a measure (LambdaRank)",
              MappingProxyType({"metric": "ndcg@10", "gain": "exponential", "relevant": 1.0}), LambdaLoss),
)  # fmt: skip

LOSSES: Mapping[str, LossEntry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
"""Every loss by name."""


def make_loss(name: str, **parameters: Any) -> Loss:
    """A loss of ``LOSSES`` with these parameters; the others have their defaults.

    Examples
    --------
    Two documents, the better one ahead by 1: a hinge is content, a squared error of 1 - p is not yet.

    >>> value, gradient = make_loss("hinge").value_and_gradient([3.0, 2.0], [1, 0], [0, 2])
    >>> value, gradient.tolist()
    (0.0, [0.0, 0.0])

    The worse one ahead by 1: the hinge is 1 - (-1), and pulls both with 1.

    >>> value, gradient = make_loss("hinge").value_and_gradient([2.0, 3.0], [1, 0], [0, 2])
    >>> value, gradient.tolist()
    (2.0, [-1.0, 1.0])
    >>> make_loss("hinge", ties=True)
    Traceback (most recent call last):
    ordino.errors.ParameterError: hinge has no parameter 'ties'; it has: average, max_pairs, pairs, seed
    """
    if name not in LOSSES:
        raise unknown_name("loss", name, LOSSES)
    entry = LOSSES[name]
    for parameter in parameters:
        if parameter not in entry.parameters:
            has = ", ".join(sorted(entry.parameters)) or "none"
            raise ParameterError(f"{name} has no parameter {parameter!r}; it has: {has}")
    chosen = {**entry.parameters, **parameters}
    return entry.make(**chosen) if name == "lambdarank" else entry.make(name=name, **chosen)
