"""Why: what each feature adds to the difference of two documents, and what would happen if a value were another."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ordino.data.dataset import Dataset
from ordino.errors import OrdinoError
from ordino.explain import Why, why
from ordino.forms import Network
from ordino.order.pairs import Pairs
from ordino.pages.numbers import grade_text, listed
from ordino.studio.ask import Ask, State, StateError, as_number, missing
from ordino.studio.shelf import Opened
from ordino.studio.views.query import LISTED, find_place, open_shelf
from ordino.studio.what_if import draw_turn, draw_what_if, is_pairs

TOP = 12
"""Reasons that are listed before the others are summed up as one."""
GROUPS = 8
"""Kinds of features in a table of kinds."""
LARGEST = float(np.finfo(np.float32).max)  # value of a feature
EDIT = "edit."
"""What the name of a field begins with that holds a feature's value."""
METHODS = {
    "linear": "by its weight in the sum; the parts add up to the whole",
    "stumps": "one feature after the other; the parts add up to the whole",
    "trees": "by the SHAP values of the trees; the parts add up to the whole",
    "line": "by the gradient along the line between the two; the parts add up to the whole",
    "runs": "by letting the runs join one after the other, in all orders; the parts add up to the whole",
    "orders": "by replacing one after the other, in 64 random orders; the parts add up to the whole",
}


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    with open_shelf(studio, ask) as (shelf, measures, profile):
        places, labels = shelf.places(), shelf.labels()
        place = find_place(ask, places)
        ranker = ask.choice("ranker", labels, labels[0])
        opened = shelf.open(place, [ranker])
        model, documents = shelf.model(ranker, place), shelf.documents(place)
        studio.tell(ask, *_slowly(ranker, model))
        scores = np.asarray(model.predict(documents))
        if (changed := shelf.changed(place, documents, ranker, scores)) is not None:
            links = [("The stored rankings of this query", ask.link("query", query=place.query))]
            raise StateError(changed._replace(links=links))
    measure = ask.choice("measure", measures, measures[0])
    opened = opened._replace(scores={ranker: scores})
    order = opened.order(ranker)
    ids = [opened.doc_ids[i] for i in order]
    first, second = _pair(ask, opened, ids)
    a, b = opened.doc_ids.index(first), opened.doc_ids.index(second)
    try:
        found, member = _explained(model, a, b, documents)
    except OrdinoError as error:
        then = "Query shows its order beside the others."
        raise StateError(State(str(error)[:1].upper() + str(error)[1:] + ".", then, kind="late")) from None
    edits = _edits(ask, found)
    at = {name: ids.index(name) + 1 for name in (first, second)}
    top = ask.whole("top", TOP, 100_000)
    groups = _groups(found)
    whatif = draw_what_if(model, documents, opened, ranker, b, edits, measure, profile) if edits else None
    turning = ask.text("turn") or next(iter(edits), found.reasons[0].feature)
    is_known = turning in {reason.feature for reason in found.reasons}
    turn = draw_turn(model, documents, b, turning, edits) if is_known else None
    return {
        "place": place,
        "queries": list(places) if len(places) <= LISTED else [],
        "labels": labels,
        "ranker": ranker,
        "first": first,
        "second": second,
        "ids": ids[:200],
        "opened": opened,
        "measure": measure,
        "measures": measures,
        "found": found,
        "member": member,
        "method": METHODS.get(found.method, found.method),
        "scores": (float(scores[a]), float(scores[b])),
        "at": at,
        "grades": (float(opened.labels[a]), float(opened.labels[b])),
        "groups": groups,
        "finding": _finding(opened, a, b, at, first, second, groups, found),
        "reasons": found.reasons[:top],
        "rest": found.reasons[top:],
        "rest_adds": float(sum(r.adds for r in found.reasons[top:])),
        "edits": edits,
        "largest": max((abs(r.adds) for r in found.reasons), default=1.0) or 1.0,
        "whatif": whatif,
        "turn": turn,
        "largest_group": max((abs(adds) for _, _, adds in groups), default=1.0) or 1.0,
        "prefix": EDIT,
        "top": top,
        "is_pairs": found.method == "line" and is_pairs(model),
    }


def _slowly(ranker: str, model: Any) -> tuple[str, str]:
    """What the page says while it is under way."""
    along = not hasattr(model, "rankers_") and isinstance(model.form(), Pairs | Network)
    then = (
        f"{ranker} is explained along a line, which takes a few seconds."
        if along
        else "The first look at a model loads and compiles what it is made of."
    )
    return f"Explaining {len(model.feature_names()):,} features …", then


def _explained(model: Any, a: int, b: int, documents: Dataset) -> tuple[Why, str]:
    """Why a stands above or below b; of a ranker that ranks by the orders of its members, by one that agrees most."""
    if not hasattr(model, "rankers_"):
        return why(model, a, b, query=documents), ""
    scores = np.asarray(model.predict(documents))
    sign = 1.0 if scores[a] >= scores[b] else -1.0
    told: list[tuple[float, Why, str]] = []
    for member in model.rankers_:
        with suppress(OrdinoError):
            spread = float(np.std(np.asarray(member.predict(documents)))) or 1.0
            found = why(member, a, b, query=documents)
            told.append((sign * found.difference / spread, found, type(member).__name__))
    if not told:
        return why(model, a, b, query=documents), ""
    _, best, name = max(told, key=lambda one: one[0])
    return best, name


def _pair(ask: Ask, opened: Opened, ids: Sequence[str]) -> tuple[str, str]:
    """The two documents: those asked for, or the first two."""
    if len(ids) < 2:
        raise StateError(State("This query has one document; two are needed to compare."))
    first = ask.text("a", ids[0])
    second = ask.text("b", next(one for one in ids if one != first))
    for one in (first, second):
        if one not in opened.doc_ids:
            raise missing(f"There is no document {one} in query {opened.place.query}.", "", [
                ("Its rankings", ask.link("query", query=opened.place.query))
            ])  # fmt: skip
    if first == second:
        second = next(one for one in ids if one != first)
    return first, second


def _edits(ask: Ask, found: Why) -> dict[str, float]:
    """The values that differ from the stored ones."""
    stored = {reason.feature: reason.b for reason in found.reasons}
    edits = {}
    for name, value in ask.given:
        feature = name.removeprefix(EDIT)
        if name == feature or feature not in stored or not value.strip():
            continue
        number = as_number(feature, value, LARGEST)
        if np.float32(number) != np.float32(stored[feature]):
            edits[feature] = number
    return edits


def _groups(found: Why) -> list[tuple[str, int, float]]:
    """What features of one kind add together; a kind is what names have before their first underscore."""
    kinds: dict[str, list[float]] = {}
    for reason in found.reasons:
        head, underscore, _ = reason.feature.partition("_")
        kinds.setdefault(head + underscore if underscore else "", []).append(reason.adds)
    if len(kinds) < 2 or len(kinds) > GROUPS or "" in kinds:
        return []
    return sorted(((kind, len(adds), float(sum(adds))) for kind, adds in kinds.items()), key=lambda one: -one[2])


def _finding(
    opened: Opened, a: int, b: int, at: Mapping[str, int], first: str, second: str,
    groups: Sequence[tuple[str, int, float]], found: Why,
) -> dict[str, str]:  # fmt: skip
    """The sentence of the page, in pieces."""
    stands = "above" if at[first] < at[second] else "below"
    grades = grade_text(opened.labels[a]), grade_text(opened.labels[b])
    upper, lower = (a, b) if stands == "above" else (b, a)
    if opened.labels[a] == opened.labels[b]:
        told = f"; both have grade {grades[0]}"
    elif opened.labels[upper] > opened.labels[lower]:
        told = ", as their grades have it"
    else:
        told = f", against their grades of {grades[0]} and {grades[1]}"
    sign = 1 if found.difference >= 0 else -1
    if groups:
        speaking = [kind.rstrip("_") for kind, _, adds in groups[::sign] if sign * adds > 0]
        against = [kind.rstrip("_") for kind, _, adds in groups[::-sign] if sign * adds < 0]
    else:
        speaking = [reason.feature for reason in found.reasons if sign * reason.adds > 0][:2]
        against = [reason.feature for reason in found.reasons if sign * reason.adds < 0][:1]
    because = ""
    if speaking:
        together = "together " if len(speaking[:3]) > 1 else ""
        verb = "outweigh" if len(speaking[:3]) > 1 else "outweighs"
        because = (
            f": {listed(speaking[:3])} {together}{verb} {listed(against[:2])}"
            if against
            else f": {listed(speaking[:3])}"
        )
    return {"stands": stands, "told": told, "because": because}
