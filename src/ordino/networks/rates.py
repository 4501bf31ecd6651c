"""How long and how fast to learn: a schedule, and the rules by which each network's step size changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray


@final
@dataclass(frozen=True)
class Schedule:
    """How long and how fast to learn."""

    epochs: int
    learning_rate: float
    optimizer: str = "adamw"
    rate: str = "constant"
    l1: float = 0.0
    l2: float = 0.0
    patience: int | None = None


class Rate(Protocol):
    """After every epoch a rule sees the errors and says which networks go back to their weights of the epoch before."""

    rates: NDArray[np.float64]  # (n_networks,)

    def after_epoch(self, errors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Adjust the rates; True where the network's weights of the epoch before must be restored."""


@final
class Constant:
    """The rate stays as it is."""

    def __init__(self, rate: float, n_networks: int) -> None:
        self.rates = np.full(n_networks, rate)

    def after_epoch(self, errors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Nothing changes."""
        return np.zeros(len(errors), bool)


@final
class HalveOnRise:
    """RankNet, section 5: halve the rate when the epoch's mean error is greater than that of the epoch before.

    Examples
    --------
    >>> rate = HalveOnRise(0.1, 1)
    >>> for error in (1.0, 0.8, 0.9):
    ...     _ = rate.after_epoch(np.array([error]))
    >>> rate.rates.tolist()
    [0.05]
    """

    def __init__(self, rate: float, n_networks: int) -> None:
        self.rates = np.full(n_networks, rate)
        self._before = np.full(n_networks, np.inf)

    def after_epoch(self, errors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Halve where the error rose."""
        self.rates = np.where(errors > self._before, self.rates / 2, self.rates)
        self._before = errors.copy()
        return np.zeros(len(errors), bool)


@final
class Adaptive:
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

    GROW, SHRINK, TOLERANCE, HIGHEST, LOWEST, MOST_RESTORES = 1.05, 0.30, 1.05, 1e3, 1e-6, 10

    def __init__(self, rate: float, n_networks: int) -> None:
        self.rates = np.full(n_networks, rate)
        self._before = np.full(n_networks, np.nan)
        self._restores = np.zeros(n_networks, int)

    def after_epoch(self, errors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Grow where the error fell, shrink and restore where it rose too far."""
        first = np.isnan(self._before)
        fell = ~first & (errors < self._before)
        rose = ~first & ~(errors <= self.TOLERANCE * self._before)
        restore: NDArray[np.bool_] = rose & (self._restores < self.MOST_RESTORES)
        self.rates = np.where(fell, np.minimum(self.rates * self.GROW, self.HIGHEST), self.rates)
        self.rates = np.where(restore, np.maximum(self.rates * self.SHRINK, self.LOWEST), self.rates)
        self._restores = np.where(restore, self._restores + 1, 0)
        self._before = np.where(restore, self._before, errors)
        return restore


RATES: Mapping[str, Callable[[float, int], Rate]] = MappingProxyType(
    {"constant": Constant, "halve": HalveOnRise, "adaptive": Adaptive}
)
