"""Parallel coordinates: a line a setting, an axis a parameter, and the ranges that were brushed.

Every axis runs over the range that was tried: by logarithm where that is wide, by their order where values are no
numbers. A range of such an axis is given by the numbers of its values, from 1.
"""

import json
from collections.abc import Mapping, Sequence
from math import isfinite, log
from typing import Any, NamedTuple

from ordino.pages.numbers import MINUS
from ordino.studio.ask import Ask, refused

TOP, HEIGHT = 44.0, 220.0  # of the axes, in px
LEFT, RIGHT = 7.0, 93.0  # percent of the width
WIDE_RANGE = 50.0
"""An axis is logarithmic if its largest value is this many times the least."""
AXES = 7
"""Parameters that are drawn."""
MOST_LINES = 600
WHERE = "where"
"""The parameter of an address that holds a range: name, least and largest, with colons between."""


class Range(NamedTuple):
    """A stretch of an axis that was brushed."""

    name: str
    low: float
    high: float

    @property
    def text(self) -> str:
        """As an address has it."""
        return f"{self.name}:{self.low:g}:{self.high:g}"


class Axis(NamedTuple):
    """An axis with its place and what stands beside it."""

    name: str
    title: str
    x: float
    low: float
    high: float
    is_log: bool
    ticks: Sequence[tuple[float, str]]
    brush: tuple[float, float] | None
    """Where the range that was brushed begins, and how high it is."""
    told: str
    """That range in words."""


class Parallel(NamedTuple):
    """A drawing."""

    axes: Sequence[Axis]
    lines: Sequence[tuple[str, str, str]]
    """The points, the class and the title of each line, the best on top."""
    n_lines: int
    n_left_out: int


def text_of(value: Any) -> str:
    """A value of a parameter."""
    return f"{value:.4g}".replace("-", MINUS) if isinstance(value, float) else json.dumps(value)


def numbers_of(values: Sequence[Any]) -> tuple[list[float], list[str]]:
    """Values as numbers; what is no number by its place among the others, which are then told, too.

    Examples
    --------
    >>> numbers_of([0.5, 2]), numbers_of(["zscore", None, "zscore"])
    (([0.5, 2.0], []), ([1.0, 2.0, 1.0], ['"zscore"', 'null']))
    """
    if all(isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) for value in values):
        return [float(value) for value in values], []
    texts = [json.dumps(value) for value in values]
    kinds = sorted(set(texts))
    return [kinds.index(text) + 1.0 for text in texts], kinds


def ranges_of(ask: Ask, columns: Mapping[str, Sequence[float]]) -> list[Range]:
    """The ranges of an address, one an axis: the last counts."""
    found: dict[str, Range] = {}
    for text in ask.several(WHERE):
        name, *ends = text.rsplit(":", 2)
        try:
            low, high = sorted(float(end) for end in ends)
        except ValueError:
            raise refused(f"{WHERE} must be a name and two numbers with colons between; it is “{text}”.") from None
        if name in columns:
            found[name] = Range(name, low, high)
    if (axis := ask.text("axis")) in columns:
        low_, high_ = ask.number("low"), ask.number("high")
        column = columns[axis]
        ends_ = (min(column) if low_ is None else low_, max(column) if high_ is None else high_)
        if low_ is not None or high_ is not None:
            found[axis] = Range(axis, min(ends_), max(ends_))
    return list(found.values())


def is_inside(row: Mapping[str, float], ranges: Sequence[Range]) -> bool:
    """Whether a setting lies in all ranges, whose ends are rounded as an address has them."""
    return all(one.low - _slack(one) <= row[one.name] <= one.high + _slack(one) for one in ranges)


def _slack(one: Range) -> float:
    return 1e-5 * max(abs(one.low), abs(one.high))


def draw_parallel(
    titles: Mapping[str, str], given: Mapping[str, Sequence[Any]], best_first: Sequence[int], names: Sequence[str],
    ranges: Sequence[Range],
) -> Parallel:  # fmt: skip
    """The drawing: an axis for each title, a line for each setting, named in ``names``."""
    columns = {name: numbers_of(given[name]) for name in titles}
    step = (RIGHT - LEFT) / max(1, len(titles) - 1)
    brushed = {one.name: one for one in ranges}
    axes, heights = [], {}
    for i, (name, title) in enumerate(titles.items()):
        values, kinds = columns[name]
        axis, heights[name] = _axis(name, title, round(LEFT + i * step, 2), values, kinds, brushed.get(name))
        axes.append(axis)
    rows = [{name: columns[name][0][i] for name in titles} for i in range(len(names))]
    kinds_of = _kinds(rows, best_first, ranges)
    shown = sorted(best_first, key=lambda i: kinds_of[i] == "")[:MOST_LINES][::-1]
    lines = []
    for i in shown:
        points = " ".join(f"{axis.x:g},{heights[axis.name][i]:g}" for axis in axes)
        lines.append((points, kinds_of[i], names[i]))
    return Parallel(axes, lines, len(lines), len(names) - len(lines))


def _kinds(rows: Sequence[Mapping[str, float]], best_first: Sequence[int], ranges: Sequence[Range]) -> dict[int, str]:
    """The class of each line: what is picked, or the best tenth where nothing is."""
    if ranges:
        return {i: "picked" if is_inside(row, ranges) else "dim" for i, row in enumerate(rows)}
    best = set(best_first[: max(1, len(rows) // 10)])
    return {i: "best" if i in best else "" for i in range(len(rows))}


def _axis(
    name: str, title: str, x: float, values: Sequence[float], kinds: Sequence[str], brushed: Range | None
) -> tuple[Axis, list[float]]:
    low, high = min(values), max(values)
    is_log = low > 0 and high / low >= WIDE_RANGE and not kinds

    def y_of(value: float) -> float:
        ends = [log(max(one, 1e-300)) if is_log else one for one in (low, high, value)]
        share = 0.5 if ends[1] == ends[0] else (ends[2] - ends[0]) / (ends[1] - ends[0])
        return round(TOP + HEIGHT * (1 - min(1.0, max(0.0, share))), 1)

    ticks = [(y_of(i + 1), text[:14]) for i, text in enumerate(kinds[:8])]
    if not kinds:
        ticks = [(y_of(one), f"{one:.4g}".replace("-", MINUS)) for one in dict.fromkeys((low, high))]
    brush, told = None, ""
    if brushed is not None:
        top, bottom = y_of(brushed.high), y_of(brushed.low)
        brush = (round(top - 5, 1), round(max(bottom - top, 0) + 10, 1))
        inside = [text for i, text in enumerate(kinds) if brushed.low <= i + 1 <= brushed.high]
        ends = f"{brushed.low:.4g} to {brushed.high:.4g}".replace("-", MINUS)
        told = f"{title} {', '.join(inside) or 'none'}" if kinds else f"{title} from {ends}"
    return Axis(name, title, x, low, high, is_log, ticks, brush, told), [y_of(value) for value in values]
