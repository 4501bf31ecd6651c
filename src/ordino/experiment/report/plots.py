"""Drawings of a board for the page: curves with their names at the end, and two rankers query by query.

Everything is worked out here as attributes of SVG, x in percent and y in pixels, so that one drawing fits every width
and needs no script.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ordino.experiment.compare.significance import differences
from ordino.experiment.report.board import Board, Line
from ordino.experiment.report.curves import CURVES, PARTS, curves_of_line, cutoffs, what_chose
from ordino.experiment.store.trial import grouped
from ordino.metrics import parse_metric
from ordino.pages.numbers import measure_title
from ordino.pages.scales import Scale, round_ticks, span_of, tick_text

POINTS = 40
"""Of a curve: more cannot be seen."""
TOP, BOTTOM, RIGHT = 14.0, 196.0, 80.0
LETTERS = 14.0  # px between two names
HELD = 60_000
"""Values that the page holds so that any two rankers can be chosen."""
WEIGHED = 15
MOST_BARS = 240


class Curve(NamedTuple):
    """A line with its name."""

    label: str
    lines: Sequence[tuple[str, str, str, str]]
    end_y: str
    name_y: str


class Curves(NamedTuple):
    """Several lines over one axis."""

    title: str
    curves: Sequence[Curve]
    grid: Sequence[tuple[str, str]]
    ticks: Sequence[tuple[str, str]]
    told: str


def draw_curves(title: str, curves: Mapping[str, Sequence[tuple[float, float]]], *, log: bool, told: str) -> Curves:
    """Lines by label, each a list of points."""
    xs = [x for points in curves.values() for x, _ in points]
    low, high = span_of(y for points in curves.values() for _, y in points)
    x = Scale(min(xs), max(max(xs), min(xs) + 1e-9), 5, RIGHT, log=log)
    y = Scale(low, high if high > low else low + 1e-9, BOTTOM, TOP)
    drawn: list[tuple[str, list[tuple[str, str, str, str]], float]] = []
    for label, points in curves.items():
        few = [points[i] for i in sorted({int(i) for i in np.linspace(0, len(points) - 1, min(POINTS, len(points)))})]
        ends = [(x.percent(a), f"{y.at(b):.1f}") for a, b in few]
        drawn.append((label, [(*ends[i], *ends[i + 1]) for i in range(len(ends) - 1)], y.at(few[-1][1])))
    names = _apart([end for *_, end in drawn])
    values = round_ticks(low, high, 4)
    grid = [(f"{y.at(value):.1f}", tick_text(value, values)) for value in values]
    made = [
        Curve(label, lines, f"{end:.1f}", f"{at:.1f}") for (label, lines, end), at in zip(drawn, names, strict=True)
    ]
    return Curves(title, made, grid, x.ticks(5), told)


def _apart(ends: Sequence[float]) -> list[float]:
    """Where to write names so that none covers another, near where their lines end."""
    order = sorted(range(len(ends)), key=lambda i: ends[i])
    places = [0.0] * len(ends)
    last = -np.inf
    for i in order:
        places[i] = last = max(ends[i], last + LETTERS)
    last = BOTTOM + 4 + LETTERS
    for i in reversed(order):  # pushed up again where the last names would leave the drawing
        places[i] = last = min(places[i], last - LETTERS)
    return places


def curves_of(board: Board) -> list[Curves]:
    """Metrics against their cutoffs, and how the best rankers learned."""
    found = []
    best = board.lines[:CURVES]
    for family, names in cutoffs(board.all_measures).items():
        points = {
            line.label: [(k, line.cells[name].mean) for k, name in names if not np.isnan(line.cells[name].mean)]
            for line in best
        }
        points = {label: own for label, own in points.items() if len(own) > 1}
        if points:
            title = f"{measure_title(family)} at k"
            told = f"{title} of the best rankers, by k; the figures are in the CSV of this report."
            found.append(draw_curves(title, points, log=names[-1][0] > 20, told=told))
    return found + _learning(board, best)


def _learning(board: Board, lines: Sequence[Line]) -> list[Curves]:
    """A drawing for each part and each metric that chose, as values of two metrics have no axis in common."""
    histories = {line.label: curves_of_line(board, line) for line in lines}
    by_metric = grouped((what_chose(line), line.label) for line in lines)
    found = []
    for (part, words), (chosen, labels) in product(PARTS.items(), by_metric.items()):
        points = {label: own for label in labels if len(own := histories[label].get(part, ())) > 1}
        if points:
            title = f"{measure_title(chosen) if chosen else 'The choosing metric'} on {words}, by step"
            told = f"{title}: mean over the trials of a ranker; steps are epochs, rounds or generations, by logarithm."
            found.append(draw_curves(title, points, log=True, told=told))
    return found


class Versus(NamedTuple):
    """Two rankers query by query, as bars; and the values of all, where they are few enough to be chosen among."""

    first: str
    second: str
    bars: Sequence[tuple[str, str, str, str, str]]
    zero: str
    told: str
    values: Mapping[str, Any]


def versus(board: Board) -> Versus | None:
    """The two best rankers, query by query."""
    if len(board.lines) < 2:
        return None
    metric = board.measures[0]
    sign = parse_metric(metric).quality(1)
    a, b = board.lines[:2]
    d = np.sort(sign * differences(a.per_query[metric], b.per_query[metric]))[::-1]
    if not len(d):
        return None
    few = [float(part.mean()) for part in np.array_split(d, min(MOST_BARS, len(d)))]
    up, down = max(max(few), 0.0), max(-min(few), 0.0)
    unit = 150 / max(up, down, 1e-12)
    zero, step = 8 + up * unit, 100 / len(few)
    bars = []
    for i, value in enumerate(few):
        height = max(abs(value) * unit, 1.0)
        top = zero - height if value > 0 else zero
        kind = "bar" if value == 0 else "a" if value > 0 else "b"
        bars.append((kind, f"{(i + 0.11) * step:.3f}%", f"{0.78 * step:.3f}%", f"{top:.1f}", f"{height:.1f}"))
    wins, losses = int(np.sum(d > 0)), int(np.sum(d < 0))
    told = (
        f"{a.label} wins {wins:,}, {b.label} wins {losses:,}, {len(d) - wins - losses:,} equal, of {len(d):,} queries."
    )
    fits = len(board.lines) * len(board.query_ids) <= HELD
    columns = {
        line.label: [None if np.isnan(v) else round(float(v), 4) for v in line.per_query[metric]]
        for line in board.lines
    }
    return Versus(a.label, b.label, bars, f"{zero:.1f}", told, {"sign": sign, "columns": columns} if fits else {})


class Weights(NamedTuple):
    """The largest weights of features, by ranker."""

    rankers: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float]]]


def weights_of(board: Board, mean_weights: Any) -> Weights | None:
    """The features that weigh most in the best rankers that have weights, each scaled to at most 1."""
    found = {line.label: own for line in board.lines if (own := mean_weights(board, line))}
    some = dict(list(found.items())[:4])
    if not some:
        return None
    total: dict[str, float] = {}
    for own in some.values():
        for feature, weight in own.items():
            total[feature] = total.get(feature, 0.0) + abs(weight)
    largest = sorted(total, key=lambda feature: -total[feature])[:WEIGHED]
    return Weights(list(some), [(feature, [own.get(feature, 0.0) for own in some.values()]) for feature in largest])
