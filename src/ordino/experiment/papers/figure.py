"""Pictures of results: ours with its deviation, the paper's numbers as crosses where it has some."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordino.errors import import_extra
from ordino.experiment.papers.result import Figure, Result

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 320, 240
COLORS = ["#3b6fb6", "#d1495b", "#2a9d8f", "#8d6cab", "#e9a23b", "#5b5b5b"]


def draw(result: Result) -> alt.Chart:
    """The figure of a result that has one."""
    alt = _altair()
    figure = result.figure
    assert figure is not None, f"{result.target} has no figure"
    base = alt.Chart(alt.Data(values=_points(result, figure)))
    x, y = _axes(alt, figure)
    color = alt.Undefined
    if figure.color is not None:
        color = alt.Color("color:N", title=figure.color, sort=None, scale=alt.Scale(range=COLORS))
    offset = {} if figure.color is None or figure.kind == "lines" else {"xOffset": alt.XOffset("color:N", sort=None)}
    spread = base.mark_rule().encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=_unless_bars(figure, color), **offset)
    marks = base.mark_line(point=True) if figure.kind == "lines" else base.mark_bar()
    ours = marks.encode(x=x, y=y, color=color, **offset)
    paper = (
        base.transform_filter("datum.paper !== null")
        .mark_point(shape="cross", size=60, filled=True, color="black")
        .encode(x=x, y=alt.Y("paper:Q"), **offset)
    )
    chart = alt.layer(ours, spread, paper).properties(width=WIDTH, height=HEIGHT)
    if figure.facet is not None:
        facet = alt.Facet("facet:N", title=None, sort=None, header=alt.Header(labelFontWeight="bold"))
        chart = chart.facet(facet=facet, columns=2).resolve_scale(x="independent", y="independent")
    return chart.properties(title=alt.Title(_title(result), subtitle=_legend(result), anchor="start"))


def save(result: Result, folder: Path) -> list[Path]:
    """The figure as PNG and SVG in the folder, named after the target."""
    chart = draw(result)
    paths = [folder / f"{result.target}.{ending}" for ending in ("png", "svg")]
    for path in paths:
        chart.save(path, **({"scale_factor": 2.0} if path.suffix == ".png" else {}))
    return paths


def _points(result: Result, figure: Figure) -> list[dict[str, Any]]:
    """One record for each cell."""
    place = {name: i for i, name in enumerate(result.columns)}
    points = []
    for cell in result.cells:
        deviation = result.deviation(cell) or 0.0
        label = cell.labels[place[figure.x]]
        points.append(
            {
                "x": float(label) if figure.kind == "lines" else label,
                "color": None if figure.color is None else cell.labels[place[figure.color]],
                "facet": None if figure.facet is None else cell.labels[place[figure.facet]],
                "ours": cell.mean,
                "low": cell.mean - deviation,
                "high": cell.mean + deviation,
                "paper": cell.paper,
            }
        )
    return points


def _axes(alt: Any, figure: Figure) -> tuple[Any, Any]:
    if figure.kind == "bars":
        return (
            alt.X("x:N", title=figure.x, sort=None, axis=alt.Axis(labelAngle=-40)),
            alt.Y("ours:Q", title=figure.y),
        )
    scale = alt.Scale(type="log" if figure.logarithmic else "linear", zero=False)
    return (
        alt.X("x:Q", title=figure.x, scale=scale, axis=alt.Axis(grid=False)),
        alt.Y("ours:Q", title=figure.y, scale=alt.Scale(zero=False)),
    )


def _unless_bars(figure: Figure, color: Any) -> Any:
    """Rules over bars are black, those of lines have the line's color."""
    return _altair().value("black") if figure.kind == "bars" else color


def _title(result: Result) -> str:
    return f"{result.target}: {result.title}"


def _legend(result: Result) -> str:
    text = f"ours ± {result.spread} over the {result.of}"
    return f"{text}; crosses: the paper" if any(cell.paper is not None for cell in result.cells) else text


def _altair() -> Any:
    return import_extra("altair", extra="plots", purpose="a figure")
