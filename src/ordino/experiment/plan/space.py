"""What a search draws settings from: lists of values and ranges of numbers, by parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ordino.errors import ParameterError
from ordino.parameters import Choices, Parameter, Range, Space, parameters_of
from ordino.ranker import Ranker


def known_parameters(ranker: Ranker) -> Iterator[tuple[str, Parameter, Any]]:
    """Every parameter of a ranker with its value, those of rankers inside it as ``ranker__hidden``."""
    params = ranker.get_params()
    for name, value in params.items():
        owner, _, own = name.rpartition("__")
        known = parameters_of(type(params[owner] if owner else ranker)).get(own)
        if known is not None:
            yield name, known, value


def default_space(ranker: Ranker) -> dict[str, Space]:
    """Where a search looks by default: the spaces that a ranker's parameters have; those of rankers inside it too.

    Examples
    --------
    >>> from ordino.rankers.ranksvm import RankSVM
    >>> default_space(RankSVM())["C"]
    Range(low=0.0001, high=100.0, log=True)
    """
    found = {
        name: known.space
        for name, known, value in known_parameters(ranker)
        if known.space is not None and value is not None
    }
    if not found:
        raise ParameterError(
            f"{type(ranker).__name__} has no parameter that is searched by default; name some in the search space"
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
