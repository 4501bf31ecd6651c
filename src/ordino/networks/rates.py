"""How long and how fast to learn: a schedule, and the rules for a network's step size and for its last epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, final

from ordino.ranker import Ranker

SMALLEST, LARGEST = 1e-6, 1e3  # rates of the adaptive rule
History = Sequence[Mapping[str, float]]
STANDS = 10  # epochs in which the training error does not change, after which RankNet ends


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
    until: str = "all-epochs"

    @classmethod
    def of(cls, ranker: Ranker, **changes: Any) -> Schedule:
        """The schedule in a ranker's parameters, with these changes."""
        own = {one.name: getattr(ranker, one.name) for one in fields(cls) if hasattr(ranker, one.name)}
        return cls(**(own | changes))


@final
@dataclass
class Rate:
    """The step size of a network, and what a rule remembers of it."""

    now: float
    error: float = math.nan  # of the epoch before, if there was one
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

    If the error fell, the rate grows by 5 %, up to 1e3. If the error rose by more than 5 % or is no finite number, the
    weights are restored and the rate becomes 0.30 of itself, down to 1e-6; where the rate is that small already, or
    after 10 restores in a row, training goes on from where it is. ``rate.error`` is that of the last epoch which was
    not undone.

    Examples
    --------
    >>> rate = Rate(1.0)
    >>> [adaptive(rate, error) for error in (1.0, 0.5, 0.6)]
    [False, False, True]
    >>> round(rate.now, 4)  # grown once, shrunk once
    0.315
    """
    if error < rate.error:
        rate.now = min(rate.now * 1.05, LARGEST)
    elif (error > 1.05 * rate.error or not math.isfinite(error)) and rate.now > SMALLEST and rate.restores < 10:
        rate.now, rate.restores = max(rate.now * 0.30, SMALLEST), rate.restores + 1
        return True
    rate.error, rate.restores = error, 0
    return False


RATES: Mapping[str, Callable[[Rate, float], bool]] = MappingProxyType(
    {"constant": constant, "halve": halve, "adaptive": adaptive}
)
"""A rule is told the error of each epoch and adjusts the rate; it gives True if the epoch must be undone."""


def never(history: History) -> bool:  # noqa: ARG001
    """All epochs are made."""
    return False


def no_error(history: History) -> bool:
    """RankNet, section 5: until the error on the training set fell to zero."""
    return history[-1]["wrong_pairs"] == 0


def same_error(history: History) -> bool:
    """RankNet, section 6: until the training error did not change for ten subsequent epochs.

    Examples
    --------
    >>> rows = [{"wrong_pairs": 0.2}] * 11
    >>> same_error(rows[:10]), same_error(rows)
    (False, True)
    """
    return len(history) > STANDS and len({row["wrong_pairs"] for row in history[-STANDS - 1 :]}) == 1


ENDINGS: Mapping[str, Callable[[History], bool]] = MappingProxyType(
    {"all-epochs": never, "no-error": no_error, "same-error": same_error}
)
"""A rule is told what happened in each epoch so far, with the share of training pairs that were then in the wrong order
as ``wrong_pairs``, and says whether to end."""
