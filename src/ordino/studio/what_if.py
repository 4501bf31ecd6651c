"""What if a feature of a document had another value: the order then, and where the document turns."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.order.pairs import Pairs
from ordino.pages.numbers import fixed, measure_title, ordinal, short
from ordino.pages.scales import Scale
from ordino.studio.shelf import Opened
from ordino.studio.slope import PAIR, draw_orders
from ordino.studio.values import value_of

POINTS, PAIR_POINTS = 60, 20  # values of a feature that are tried; comparators look at every pair for each


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


def draw_what_if(
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


def draw_turn(model: Any, documents: Dataset, row: int, feature: str, edits: Mapping[str, float]) -> Turn | None:
    """Where the document stands for each value of a feature, all else as edited."""
    column = list(model.feature_names()).index(feature)
    values = documents.X[:, column].astype(np.float64)
    known = values[np.isfinite(values)]
    if not len(known) or not np.isfinite(values[row]):
        return None
    low, high = float(known.min()), float(known.max())
    margin = 0.05 * (high - low) or 1.0
    n_points = PAIR_POINTS if is_pairs(model) else POINTS
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


def is_pairs(model: Any) -> bool:
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
