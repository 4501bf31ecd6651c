"""How long and how fast to learn: a schedule, and the rules by which a network's step size changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, final

from ordino.ranker import Ranker


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
@dataclass
class Rate:
    """The step size of a network, and what a rule remembers of it."""

    now: float
    error: float = math.nan  # of the epoch before
    restores: int = 0  # in a row


def constant(rate: Rate, error: float) -> bool:  # noqa: ARG001
    """The rate stays as it is."""
    return False


def halve(rate: Rate, error: float) -> bool:
    """RankNet, section 5: halve the rate when the epoch's mean error is greater than that of the epoch before.

    Examples
    --------
    >>> rate = Rate(0.1)
    >>> [halve(rate, error) for error in (1.0, 0.8, 0.9)]
    [False, False, False]
    >>> rate.now
    0.05
    """
    if error > rate.error:
        rate.now /= 2
    rate.error = error
    return False


def adaptive(rate: Rate, error: float) -> bool:
    """DeepNet, Algorithm 1, with R = error(i) / error(i-1) as its prose says.

    Error fell: rate x 1.05, up to 1e3. Error rose past R = 1.05: restore the weights and rate x 0.30, down to 1e-6, at
    most 10 restores in a row. In between: go on.

    Examples
    --------
    >>> rate = Rate(1.0)
    >>> [adaptive(rate, error) for error in (1.0, 0.5, 0.6)]
    [False, False, True]
    >>> round(rate.now, 4)  # grown once, shrunk once
    0.315
    """
    if error < rate.error:
        rate.now = min(rate.now * 1.05, 1e3)
    rose = not math.isnan(rate.error) and not error <= 1.05 * rate.error
    if rose and rate.restores < 10:
        rate.now, rate.restores = max(rate.now * 0.30, 1e-6), rate.restores + 1
        return True
    rate.error, rate.restores = error, 0
    return False


RATES: Mapping[str, Callable[[Rate, float], bool]] = MappingProxyType(
    {"constant": constant, "halve": halve, "adaptive": adaptive}
)
"""After an epoch with this error, a rule adjusts the rate; True if the weights before the epoch must be restored."""
