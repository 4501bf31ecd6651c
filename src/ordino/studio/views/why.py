"""Why: what each feature adds to the difference of two documents, and what would happen if a value were another."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.errors import OrdinoError
from ordino.explain import Why, why
from ordino.order.pairs import Pairs
from ordino.pages.numbers import fixed, grade_text, listed, measure_title, ordinal, short
from ordino.pages.scales import Scale
from ordino.studio.ask import Ask, State, StateError, missing, refused
from ordino.studio.shelf import Opened
from ordino.studio.slope import PAIR, draw_orders
from ordino.studio.views.query import LISTED, find_place, open_shelf, value_of

TOP = 12
"""Reasons that are listed before the others are told as one."""
GROUPS = 8
"""Kinds of features in a table of kinds."""
POINTS, PAIR_POINTS = 60, 20  # values of a feature that are tried; comparators look at every pair for each
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


class Turn(NamedTuple):
    """Where a document stands for each value of a feature, as a drawing."""

    feature: str
    steps: Sequence[tuple[str, str, float, float]]
    grid: Sequence[tuple[float, int]]
    now: tuple[str, float, str]
    edited: tuple[str, float, str] | None
    rug: Sequence[str]
    ticks: Sequence[tuple[str, str]]
    told: str


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
    whatif = _what_if(model, documents, opened, ranker, b, edits, measure, profile) if edits else None
    turning = ask.text("turn") or next(iter(edits), found.reasons[0].feature)
    is_known = turning in {reason.feature for reason in found.reasons}
    turn = _turn(model, documents, b, turning, edits) if is_known else None
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
        "is_pairs": found.method == "line" and _is_pairs(model),
    }


def _slowly(ranker: str, model: Any) -> tuple[str, str]:
    """What the page says while it is under way."""
    how = {"line": "along a line", "orders": "in random orders"}
    kind = "line" if _is_pairs(model) else "orders"
    return (
        f"Explaining {len(model.feature_names()):,} features …",
        f"{ranker} is explained {how[kind]}, which takes a few seconds.",
    )


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
        try:
            number = float(value)
            if not np.isfinite(np.float32(number)):
                raise ValueError
        except ValueError:
            then = "Nothing was changed."
            if "," in value:
                then += f" Write the decimal point as a dot: {value.replace(',', '.')}."
            raise refused(f"{feature} must be a number; it is “{value}”.", then) from None
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


def _scored(model: Any, documents: Dataset, row: int, changes: Sequence[Mapping[int, float]]) -> NDArray[np.float64]:
    """The scores of the query, once for each change of the values of a row, shape ``(n_changes, n_docs)``."""
    X = np.tile(documents.X, (len(changes), 1))
    n = documents.n_docs
    for i, change in enumerate(changes):
        for column, value in change.items():
            X[i * n + row, column] = value
    data = Dataset(
        X,
        np.zeros(len(X)),
        np.repeat(np.arange(len(changes)), n),
        feature_names=documents.feature_names,
        categories=documents.categories,
    )
    return np.asarray(model.predict(data)).reshape(len(changes), n)


def _columns(model: Any, edits: Mapping[str, float]) -> dict[int, float]:
    names = list(model.feature_names())
    columns = {names.index(feature): value for feature, value in edits.items()}
    marks = dict(zip(model.columns_, model.marks_, strict=True)) if hasattr(model, "marks_") else {}
    found = {marks[column]: 0.0 for column in columns if marks.get(column, -1) >= 0}  # a run that scores it has it
    return columns | found


def _place_of(scores: NDArray[np.float64], row: int) -> int:
    return int(np.flatnonzero(np.argsort(-scores, kind="stable") == row)[0]) + 1


def _what_if(
    model: Any, documents: Dataset, opened: Opened, ranker: str, row: int, edits: Mapping[str, float], measure: str,
    profile: str,
) -> dict[str, Any]:  # fmt: skip
    """The order after the edits, beside the one now."""
    after = _scored(model, documents, row, [_columns(model, edits)])[0]
    before = opened.scores[ranker]
    places = _place_of(before, row), _place_of(after, row)
    values = value_of(measure, profile, opened, before), value_of(measure, profile, opened, after)
    orders = {"Now": np.argsort(-before, kind="stable"), "After the edit": np.argsort(-after, kind="stable")}
    graph = draw_orders(opened, orders, dict(zip(orders, values, strict=True)), 10, PAIR, [opened.doc_ids[row]])
    moved = "rise" if values[1] > values[0] else "fall" if values[1] < values[0] else "stay"
    told = f"{measure_title(measure)} of this query would " + (
        f"{moved} from {fixed(values[0])} to {fixed(values[1])}" if moved != "stay" else f"stay {fixed(values[0])}"
    )
    stand = (
        f"{ordinal(places[1])} instead of {ordinal(places[0])}"
        if places[0] != places[1]
        else f"{ordinal(places[0])} as now"
    )
    return {"graph": graph, "stand": stand, "told": told, "places": places}


def _turn(model: Any, documents: Dataset, row: int, feature: str, edits: Mapping[str, float]) -> Turn | None:
    """Where the document stands for each value of a feature, all else as edited."""
    column = list(model.feature_names()).index(feature)
    values = documents.X[:, column].astype(np.float64)
    known = values[np.isfinite(values)]
    if not len(known) or not np.isfinite(values[row]):
        return None
    low, high = float(known.min()), float(known.max())
    margin = 0.05 * (high - low) or 1.0
    n_points = PAIR_POINTS if _is_pairs(model) else POINTS
    spaced_out = np.linspace(low - margin, high + margin, n_points).tolist()
    tried = sorted({*spaced_out, float(values[row]), *([edits[feature]] if feature in edits else [])})
    others = {name: value for name, value in edits.items() if name != feature}
    scored = _scored(model, documents, row, [_columns(model, {**others, feature: value}) for value in tried])
    places = [_place_of(scores, row) for scores in scored]
    scale = Scale(tried[0], tried[-1], 6, 96)
    best, worst = min(places), max(places)
    span = max(1, worst - best)

    def y_of(place: int) -> float:
        return round(14 + 88 * (place - best) / span, 1) if worst > best else 58.0

    steps: list[tuple[str, str, float, float]] = []
    changes: list[tuple[float, int]] = [(tried[0], places[0])]
    for i in range(1, len(tried)):
        middle = (tried[i - 1] + tried[i]) / 2
        if places[i] != places[i - 1]:
            steps.append(
                (scale.percent(changes[-1][0]), scale.percent(middle), y_of(places[i - 1]), y_of(places[i - 1]))
            )
            steps.append((scale.percent(middle), scale.percent(middle), y_of(places[i - 1]), y_of(places[i])))
            changes.append((middle, places[i]))
    steps.append((scale.percent(changes[-1][0]), scale.percent(tried[-1]), y_of(places[-1]), y_of(places[-1])))
    grid = [(y_of(place), place) for place in sorted({best, worst, *(place for _, place in changes)})]
    spaced = [one for i, one in enumerate(grid) if i in (0, len(grid) - 1) or one[0] - grid[i - 1][0] >= 14][:6]
    now = tried.index(float(values[row]))
    edited = tried.index(edits[feature]) if feature in edits else None
    told = _told_turn(changes)
    rug = [scale.percent(float(value)) for value in np.delete(known, np.flatnonzero(known == values[row])[:1])[:300]]
    mark = (scale.percent(tried[now]), y_of(places[now]), short(values[row]))
    return Turn(
        feature,
        steps,
        spaced,
        mark,
        None if edited is None else (scale.percent(tried[edited]), y_of(places[edited]), short(edits[feature])),
        rug,
        scale.ticks(4),
        told,
    )


def _is_pairs(model: Any) -> bool:
    """Whether a ranker compares documents, or may have members that do: scoring then takes every pair."""
    return hasattr(model, "rankers_") or isinstance(model.form(), Pairs)


def _told_turn(changes: Sequence[tuple[float, int]]) -> str:
    """The curve in words."""
    if len(changes) == 1:
        return f"It stays {ordinal(changes[0][1])} whatever the value."
    if len(changes) > 4:
        return f"It goes from {ordinal(changes[0][1])} to {ordinal(changes[-1][1])} in {len(changes) - 1} turns."
    turns = ", ".join(f"{ordinal(place)} from about {short(value)} on" for value, place in changes[1:])
    return f"It is {ordinal(changes[0][1])} for the least values, {turns}."
