"""How long and how fast to learn: a schedule, and the rules by which each network's step size changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

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


class Rate(ABC):
    """The step size of each network, shape ``(n_networks,)``, and the rule by which it changes."""

    def __init__(self, rate: float, n_networks: int) -> None:
        self.rates = np.full(n_networks, rate)
        self._before = np.full(n_networks, np.nan)  # the errors of the epoch before

    @abstractmethod
    def after_epoch(self, errors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Adjust the rates; True where the network's weights of the epoch before must be restored."""


@final
class Constant(Rate):
    """The rate stays as it is."""

    def after_epoch(self, errors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Nothing changes."""
        return np.zeros(len(errors), bool)


@final
class HalveOnRise(Rate):
    """RankNet, section 5: halve the rate when the epoch's mean error is greater than that of the epoch before.

    Examples
    --------
    >>> rate = HalveOnRise(0.1, 1)
    >>> for error in (1.0, 0.8, 0.9):
    ...     _ = rate.after_epoch(np.array([error]))
    >>> rate.rates.tolist()
    [0.05]
    """

    def after_epoch(self, errors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Halve where the error rose."""
        self.rates = np.where(errors > self._before, self.rates / 2, self.rates)
        self._before = errors.copy()
        return np.zeros(len(errors), bool)


@final
class Adaptive(Rate):
    """DeepNet, Algorithm 1, with R = error(i) / error(i-1) as its prose says.

    Error fell: rate x 1.05, up to 1e3. Error rose past R = 1.05: restore the weights and rate x 0.30, down to 1e-6, at
    most 10 restores in a row. In between: go on.

    Examples
    --------
    >>> rate = Adaptive(1.0, 1)
    >>> [bool(rate.after_epoch(np.array([error]))[0]) for error in (1.0, 0.5, 0.6)]
    [False, False, True]
    >>> round(float(rate.rates[0]), 4)  # grown once, shrunk once
    0.315
    """

    def __init__(self, rate: float, n_networks: int) -> None:
        super().__init__(rate, n_networks)
        self._restores = np.zeros(n_networks, int)

    def after_epoch(self, errors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Grow where the error fell, shrink and restore where it rose too far."""
        rose = ~np.isnan(self._before) & ~(errors <= 1.05 * self._before)
        restore: NDArray[np.bool_] = rose & (self._restores < 10)
        self.rates = np.where(errors < self._before, np.minimum(self.rates * 1.05, 1e3), self.rates)
        self.rates = np.where(restore, np.maximum(self.rates * 0.30, 1e-6), self.rates)
        self._restores = np.where(restore, self._restores + 1, 0)
        self._before = np.where(restore, self._before, errors)
        return restore


RATES: Mapping[str, type[Rate]] = MappingProxyType({"constant": Constant, "halve": HalveOnRise, "adaptive": Adaptive})
