"""Pictures of results: ours with its deviation, the paper's numbers as crosses where they are of the same data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordino.errors import import_extra
from ordino.experiment.papers.result import Cell, Figure, Result

WIDTH, HEIGHT = 320, 240
MOST_NAMES = 60  # bars that can all have their name below them
COLORS = ("#3b6fb6", "#d1495b", "#2a9d8f", "#8d6cab", "#e9a23b", "#5b5b5b")


def save(result: Result, folder: Path) -> list[Path]:
    """The figure as PNG and SVG in the folder, named after the target."""
    chart = draw(result)
    png, svg = (folder / f"{result.target}.{ending}" for ending in ("png", "svg"))
    chart.save(png, scale_factor=2.0)
    chart.save(svg)
    return [png, svg]


def draw(result: Result) -> Any:
    """The figure of a result that has one: an altair chart, one panel for each value of its facet."""
    alt = import_extra("altair", extra="plots", purpose="a figure")
    figure = result.figure
    assert figure is not None, f"{result.target} has no figure"
    colors = [] if figure.color is None else list(_by_label(result, figure.color))
    if figure.facet is None:
        panels = [_panel(alt, result, figure, result.cells, colors)]
    else:
        panels = [
            _panel(alt, result, figure, cells, colors).properties(title=facet)
            for facet, cells in _by_label(result, figure.facet).items()
        ]
    text = f"{result.target}: {result.title}"
    subtitle = "ours"
    if any(len(cell.ours) > 1 for cell in result.cells):
        subtitle += f" ± {result.spread} over the {result.of}"
    if any(_paper(cell) is not None for cell in result.cells):
        subtitle += "; crosses: the paper"
    chart = alt.concat(*panels, columns=2).resolve_scale(xOffset="independent")
    return chart.properties(title=alt.Title(text, subtitle=subtitle, anchor="start", offset=16))


def _panel(alt: Any, result: Result, figure: Figure, cells: Sequence[Cell], colors: list[str]) -> Any:
    """One set of axes: bars or a line, a rule for each deviation, crosses for the paper."""
    base = alt.Chart(alt.Data(values=[_point(result, figure, cell) for cell in cells]))
    is_lines = figure.kind == "lines"
    if is_lines:
        scale = alt.Scale(type="log" if figure.logarithmic else "linear", zero=False, nice=False, padding=12)
        x = alt.X("x:Q", scale=scale, axis=alt.Axis(grid=False), title=figure.x_title or figure.x)
    else:
        many = len({_label(result, cell, figure.x) for cell in cells}) > MOST_NAMES
        axis = alt.Axis(labelAngle=0, labelOverlap=True, ticks=False) if many else alt.Axis(labelAngle=-40)
        x = alt.X("x:N", sort=None, axis=axis, title=figure.x_title or figure.x)
    shared: dict[str, Any] = {"x": x}
    color: dict[str, Any] = {}
    if figure.color is not None:
        range_ = [COLORS[i % len(COLORS)] for i in range(len(colors))]
        color["color"] = alt.Color("color:N", title=figure.color, scale=alt.Scale(domain=colors, range=range_))
        if not is_lines:
            shared["xOffset"] = alt.XOffset("color:N", scale=alt.Scale(domain=colors))
    y = alt.Y("ours:Q", title=figure.y, scale=alt.Scale(zero=not is_lines))
    marks = base.mark_line(point=True) if is_lines else base.mark_bar(color=COLORS[0])
    rules = base.mark_rule() if is_lines else base.mark_rule(color="black")
    layers = [marks.encode(y=y, **shared, **color)]
    if any(result.deviation(cell) for cell in cells):
        layers.append(rules.encode(y="low:Q", y2="high:Q", **shared, **(color if is_lines else {})))
    if any(_paper(cell) is not None for cell in cells):
        crosses = base.transform_filter("datum.paper !== null").mark_point(shape="cross", size=60, color="black")
        layers.append(crosses.encode(y="paper:Q", **shared, **(color if is_lines else {})))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _point(result: Result, figure: Figure, cell: Cell) -> dict[str, Any]:
    """A cell as a record."""
    deviation = result.deviation(cell) or 0.0
    label = _label(result, cell, figure.x)
    return {
        "x": float(label) if figure.kind == "lines" else label,
        "color": None if figure.color is None else _label(result, cell, figure.color),
        "ours": cell.mean,
        "low": cell.mean - deviation,
        "high": cell.mean + deviation,
        "paper": _paper(cell),
    }


def _by_label(result: Result, column: str) -> dict[str, list[Cell]]:
    """The cells of each label of a column, in order."""
    found: dict[str, list[Cell]] = {}
    for cell in result.cells:
        found.setdefault(_label(result, cell, column), []).append(cell)
    return found


def _label(result: Result, cell: Cell, column: str) -> str:
    return cell.labels[result.columns.index(column)]


def _paper(cell: Cell) -> float | None:
    return cell.paper if cell.same_data else None
