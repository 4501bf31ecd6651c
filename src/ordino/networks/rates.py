"""How long and how fast to learn: a schedule, and the rules by which each network's step size changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.ranker import Ranker

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@final
@dataclass(frozen=True)
class Schedule:
    """How long and how fast to learn; the fields are named like the parameters of rankers."""

    epochs: int
    learning_rate: float
    optimizer: str = "adamw"
    rate: str = "constant"
    l1: float = 0.0
    l2: float = 0.0
    patience: int | None = None

    @classmethod
    def of(cls, ranker: Ranker, **changes: Any) -> Schedule:
        """The schedule in a ranker's parameters, with these changes."""
        return cls(**({one.name: getattr(ranker, one.name) for one in fields(cls)} | changes))


@final
class Rates:
    """The step size of each network of a batch, and what a rule remembers of it."""

    def __init__(self, rate: float, n_networks: int) -> None:
        self.now = np.full(n_networks, rate)
        self.errors = np.full(n_networks, np.nan)  # of the epoch before
        self.restores = np.zeros(n_networks, int)  # in a row


def constant(rates: Rates, errors: Floats) -> Flags:  # noqa: ARG001
    """The rate stays as it is."""
    return np.zeros(len(errors), bool)


def halve(rates: Rates, errors: Floats) -> Flags:
    """RankNet, section 5: halve the rate when the epoch's mean error is greater than that of the epoch before.

    Examples
    --------
    >>> rates = Rates(0.1, 1)
    >>> for error in (1.0, 0.8, 0.9):
    ...     _ = halve(rates, np.array([error]))
    >>> rates.now.tolist()
    [0.05]
    """
    rates.now = np.where(errors > rates.errors, rates.now / 2, rates.now)
    rates.errors = errors.copy()
    return np.zeros(len(errors), bool)


def adaptive(rates: Rates, errors: Floats) -> Flags:
    """DeepNet, Algorithm 1, with R = error(i) / error(i-1) as its prose says.

    Error fell: rate x 1.05, up to 1e3. Error rose past R = 1.05: restore the weights and rate x 0.30, down to 1e-6, at
    most 10 restores in a row. In between: go on.

    Examples
    --------
    >>> rates = Rates(1.0, 1)
    >>> [bool(adaptive(rates, np.array([error]))[0]) for error in (1.0, 0.5, 0.6)]
    [False, False, True]
    >>> round(float(rates.now[0]), 4)  # grown once, shrunk once
    0.315
    """
    rose = ~np.isnan(rates.errors) & ~(errors <= 1.05 * rates.errors)
    restore: Flags = rose & (rates.restores < 10)
    rates.now = np.where(errors < rates.errors, np.minimum(rates.now * 1.05, 1e3), rates.now)
    rates.now = np.where(restore, np.maximum(rates.now * 0.30, 1e-6), rates.now)
    rates.restores = np.where(restore, rates.restores + 1, 0)
    rates.errors = np.where(restore, rates.errors, errors)
    return restore


RATES: Mapping[str, Callable[[Rates, Floats], Flags]] = MappingProxyType(
    {"constant": constant, "halve": halve, "adaptive": adaptive}
)
"""After an epoch with these errors, a rule adjusts the rates; True where the weights before it must be restored."""
