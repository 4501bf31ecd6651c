"""Parameters that networks share, each with one meaning and one check: ``epochs: int = fields.epochs(50)``."""

from __future__ import annotations

from typing import Any

from ordino.networks.initializers import INITIALIZERS
from ordino.networks.rates import RATES
from ordino.parameters import Range, param

OPTIMIZERS = ("adamw", "adam", "descent")


def initializer() -> Any:
    """First weights of a scoring network."""
    text = (
        "First weights: he, glorot, uniform (within 1 / sqrt(inputs)), unit (uniform in [-1, 1]), or ranknet (zero, "
        "the last layer uniform in [-0.1, 0.1])."
    )
    return param("he", text, choices=INITIALIZERS)


def dropout(default: float) -> Any:
    """The share of hidden neurons dropped."""
    return param(default, "The share of hidden neurons dropped in training.", low=0, high=0.95, space=Range(0.0, 0.6))


def learning_rate(default: float | None, text: str = "The first step size; `rate` says how it changes.") -> Any:
    """The first step size."""
    return param(default, text, above=0, space=Range(1e-4, 0.3, log=True))


def rate() -> Any:
    """How the step size changes."""
    text = "How the step size changes: constant, halve (when the error rises) or adaptive (DeepNet's rule)."
    return param("constant", text, choices=RATES)


def optimizer(default: str) -> Any:
    """What makes steps of gradients."""
    return param(default, "What makes steps of gradients: adamw, adam or descent.", choices=OPTIMIZERS)


def l1() -> Any:
    """A penalty on the weights."""
    return param(0.0, "Penalty on the size of the weights; together with `l2` it makes the elastic net.", low=0)


def l2(default: float, text: str) -> Any:
    """A penalty on the squared weights."""
    return param(default, text, low=0, space=Range(1e-6, 0.1, log=True))


def epochs(default: int) -> Any:
    """How long to learn."""
    return param(default, "How many times to go through the training data.", low=1, brief=2)


def patience(default: int) -> Any:
    """When to stop early."""
    text = "With `valid`, stop after this many epochs without a better one; None never stops early."
    return param(default, text, low=1)


def batch(default: int, what: str) -> Any:
    """What a step sees."""
    return param(default, f"{what} in each step; None takes all at once.", low=1)


def average() -> Any:
    """What counts equally in a pairwise loss."""
    text = "What counts equally in a step: every query (queries) or every pair (pairs)."
    return param("queries", text, choices=("queries", "pairs"))
