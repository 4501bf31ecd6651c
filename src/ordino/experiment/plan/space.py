"""What a search draws settings from: lists of values and ranges of numbers, by parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

from ordino.errors import ParameterError
from ordino.ranker import Ranker


@final
@dataclass(frozen=True)
class Range:
    """Numbers from low to high; whole ones if both ends are, and drawn by their logarithm if ``log``."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            if isinstance(end, bool) or not isinstance(end, int | float):
                raise ParameterError(f"a range goes from {self.low!r} to {self.high!r}; both must be numbers")
        if not self.low < self.high or (self.log and self.low <= 0):
            rule = "low must be less than high" + (", and more than 0 with log" if self.log else "")
            raise ParameterError(f"a range goes from {self.low!r} to {self.high!r}; {rule}")


@final
@dataclass(frozen=True)
class Choices:
    """One of several values."""

    values: Sequence[Any]

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or len(self.values) == 0:
            raise ParameterError(f"there is nothing to choose from in {self.values!r}; give a list of values")


Space = Range | Choices

HIDDEN: Sequence[list[int]] = ([], [32], [64, 32], [100, 100])
SPACES: Mapping[str, Space] = MappingProxyType(
    {
        "learning_rate": Range(1e-4, 0.3, log=True),
        "shrinkage": Range(0.01, 0.3, log=True),
        "hidden": Choices(HIDDEN),
        "dropout": Range(0.0, 0.6),
        "l2": Range(1e-6, 0.1, log=True),
        "C": Range(1e-4, 100.0, log=True),
        "alpha": Range(0.1, 10_000.0, log=True),
        "leaves": Range(4, 63, log=True),
        "min_leaf": Range(5, 200, log=True),
        "feature_share": Range(0.3, 1.0),
        "query_share": Range(0.3, 1.0),
        "truncation": Range(5, 50, log=True),
        "population": Range(10, 100, log=True),
        "F": Range(0.1, 1.0),
        "CR": Range(0.1, 1.0),
        "scaling": Choices(("quantile", "zscore", "minmax")),
    }
)
"""What is searched by default, of the parameters that a ranker has."""


def default_space(ranker: Ranker) -> dict[str, Space]:
    """The entries of :data:`SPACES` that fit a ranker; those of a ranker inside it too.

    Examples
    --------
    >>> from ordino.rankers.ranksvm import RankSVM
    >>> default_space(RankSVM())["C"]
    Range(low=0.0001, high=100.0, log=True)
    """
    from ordino.networks.comparing import Comparator

    params = ranker.get_params()
    found: dict[str, Space] = {}
    for name, value in params.items():
        owner, _, own = name.rpartition("__")
        if own in SPACES and value is not None:
            found[name] = SPACES[own]
            if own == "hidden" and isinstance(params[owner] if owner else ranker, Comparator):
                found[name] = Choices([widths for widths in HIDDEN if widths])  # a comparator is never linear
    if not found:
        raise ParameterError(
            f"{type(ranker).__name__} has no parameter that is searched by default; say in space what to search"
        )
    return found


def check_space(given: Mapping[str, Any]) -> dict[str, Space]:
    """A space as a plan writes it: lists of values, and tables with low, high and perhaps log.

    Examples
    --------
    >>> check_space({"l2": {"low": 0.1, "high": 10, "log": True}, "hidden": [[8], [16]]})
    {'l2': Range(low=0.1, high=10, log=True), 'hidden': Choices(values=[[8], [16]])}
    """
    return {name: _space(name, one) for name, one in given.items()}


def _space(name: str, given: Any) -> Space:
    try:
        if isinstance(given, Range | Choices):
            return given
        if isinstance(given, Mapping):
            return Range(**given)
        if isinstance(given, Sequence):
            return Choices(given)
    except (ParameterError, TypeError) as error:
        raise ParameterError(f"space of {name}: {error}") from None
    raise ParameterError(f"space of {name} is {given!r}; give a list of values, or low and high")
