"""A request: the address is the whole state of a page, so everything a page shows is read from here."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import nan
from typing import Any, NamedTuple, final
from urllib.parse import urlencode

CARRIED = ("data", "profile")
"""Parameters that links to other pages keep."""
LONGEST = 2000  # characters of a value; no name of ours is longer


class State(NamedTuple):
    """What a page says when it has little to show: first what is the case, then what to do."""

    sentence: str
    then: str = ""
    code: str = ""
    kind: str = ""
    """Nothing for what is not there yet, ``late`` for what is known in part, ``wrong`` for what went wrong."""
    role: str = ""
    links: Sequence[tuple[str, str]] = ()


class StateError(Exception):
    """A page that shows only a state."""

    def __init__(self, state: State, status: int = 200) -> None:
        super().__init__(state.sentence)
        self.state, self.status = state, status


def missing(sentence: str, then: str = "", links: Sequence[tuple[str, str]] = ()) -> StateError:
    """There is no such thing."""
    return StateError(State(sentence, then, kind="wrong", role="alert", links=links), 404)


def refused(sentence: str, then: str = "") -> StateError:
    """What was typed cannot be used."""
    return StateError(State(sentence, then, kind="wrong", role="alert"), 400)


def as_number(name: str, typed: str, largest: float = sys.float_info.max) -> float:
    """The number that was typed for something, of this size at most.

    Examples
    --------
    >>> as_number("k", "0.5")
    0.5
    """
    found = nan
    with suppress(ValueError):
        found = float(typed)
    if abs(found) <= largest:
        return found
    then = "Nothing was changed."
    if "," in typed:
        then += f" Write the decimal point as a dot: {typed.replace(',', '.')}."
    raise refused(f"{name} must be a number; it is “{typed}”.", then)


@final
class Ask:
    """The parameters of a request, in their order.

    Examples
    --------
    >>> ask = Ask("board", [("data", "web"), ("sort", "map")])
    >>> ask.text("sort"), ask.link("compare", a="RankNet"), ask.here(sort="mrr")
    ('map', '/compare?data=web&a=RankNet', '/board?data=web&sort=mrr')
    """

    def __init__(self, page: str, given: Iterable[tuple[str, str]]) -> None:
        self.page = page
        self.given = [(name, value[:LONGEST]) for name, value in given]
        self.first = dict(reversed(self.given))

    def text(self, name: str, default: str = "") -> str:
        """The value of a parameter, or the default where it is empty."""
        return self.first.get(name) or default

    def several(self, name: str) -> list[str]:
        """All values of a parameter, also where one holds several, a line each."""
        return [one for key, value in self.given if key == name for one in value.split("\n") if one]

    def choice(self, name: str, allowed: Iterable[str], default: str = "") -> str:
        """A value that must be one of those allowed."""
        value, known = self.text(name, default), list(allowed)
        if value not in known:
            links = [(one, self.here(**{name: one})) for one in known[:6]]
            raise missing(f"There is no {name} “{value}”.", "There is:", links)
        return value

    def number(self, name: str) -> float | None:
        """A number, if one was given."""
        value = self.text(name)
        return as_number(name, value) if value else None

    def whole(self, name: str, default: int, most: int) -> int:
        """A count from 1 to ``most``."""
        value = self.number(name)
        return default if value is None else max(1, min(most, int(value)))

    def link(self, page: str, **values: Any) -> str:
        """The address of another page, about the same data."""
        kept = {name: self.first[name] for name in CARRIED if self.first.get(name)}
        return address(page, kept | values)

    def here(self, **changes: Any) -> str:
        """The address of this page with other values; None drops one."""
        kept = [(name, value) for name, value in self.given if name not in changes and value]
        return address(self.page, [*kept, *changes.items()])


def address(page: str, values: Mapping[str, Any] | Sequence[tuple[str, Any]]) -> str:
    """A page with its parameters, those without a value left out."""
    pairs = values.items() if isinstance(values, Mapping) else values
    query = urlencode([(name, value) for name, value in pairs if value is not None and value != ""])
    return f"/{page}?{query}" if query else f"/{page}"
