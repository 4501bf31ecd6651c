"""The frame around every page: the rail of words, the state of the store, and the keys."""

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ordino.errors import OrdinoError
from ordino.pages.environment import render
from ordino.plain import count_of
from ordino.studio.ask import Ask, State, StateError

if TYPE_CHECKING:
    from ordino.studio.app import Studio


class Entry(NamedTuple):
    """A word of the rail."""

    name: str
    title: str
    key: str = ""
    """The letter that goes there, after g."""


NAV: Mapping[str, tuple[Entry, ...]] = MappingProxyType(
    {
        "Experiment": (
            Entry("board", "Board", "b"), Entry("compare", "Compare", "c"), Entry("run", "Run", "r"),
            Entry("search", "Search", "s"), Entry("papers", "Papers", "p"),
        ),
        "One query": (Entry("query", "Query", "q"), Entry("why", "Why", "w"), Entry("judge", "Judge", "j")),
        "Data and model": (
            Entry("data", "Data", "d"), Entry("features", "Features", "f"), Entry("model", "Model", "m"),
        ),
    }
)  # fmt: skip
KEYS = (
    ("g then b c r s p q w j d f m", "go to the page of that letter"),
    ("Tab", "next control; the slope graph is one stop"),
    ("↑ ↓ Home End", "documents of the slope graph; lines of a table"),
    ("Enter", "pick the document, open the link"),
    ("x", "take the document as second of two, then Enter opens Why"),
    ("[ ]", "previous and next query, or finding"),
    ("← →", "on the brush of Compare: move it by a bar; with Shift, widen it"),
    ("Esc", "drop pick, brush or edit; close this list"),
    ("t", "light, dark, as the system"),
    ("0 to 4, u, s, Space", "on Judge: grade and go on, undo, skip, unfold the features"),
    ("?", "this list"),
)


def frame(studio: "Studio", ask: Ask, theme: str, shown: Mapping[str, Any]) -> str:
    """A page: what a view shows, or only a state."""
    state: State | None = shown.get("state")
    template = "studio/state.html" if state is not None else f"studio/{ask.page}.html"
    entries = {entry.name: entry for group in NAV.values() for entry in group}
    title = entries[ask.page].title if ask.page in entries else "Not found"
    common = {
        "page": ask.page, "title": title, "about": studio.sources.title, "nav": NAV, "keys": KEYS,
        "theme": theme if theme in ("light", "dark") else "", "link": ask.link, "here": ask.here, "ask": ask,
        "command": studio.sources.command, "store_state": _store_state(studio), "damage": None,
        "uses_vega": ask.page in ("run", "search"), "refresh": 0,
    }  # fmt: skip
    return render(template, **(common | dict(shown)))


def _store_state(studio: "Studio") -> str:
    """The store in a few words."""
    if studio.sources.store is None:
        return "no store"
    with suppress(StateError, OrdinoError), studio.store() as opened:
        n = len(opened.store)
        with opened.kept() as kept:
            from ordino.studio.runs import is_alive

            under_way = kept is not None and any(is_alive(run) for run in kept.runs()[:1])
        return f"{count_of(n, 'trial')}, {'a run is under way' if under_way else 'nothing under way'}"
    return "cannot be read"


def refusal_page(sentence: str) -> bytes:
    """The page of someone who came without the token, or by a foreign name."""
    then = "The address that `ordino studio` printed has it: open that once, and a cookie stays."
    return render("studio/refused.html", sentence=sentence, then=then).encode()
