"""The figure of a reproduction: bars or lines, our deviations, and crosses where the paper is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordino.errors import import_extra
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Axes, Result
from ordino.experiment.report.drawing import COLORS
from ordino.experiment.report.page import write_chart
from ordino.experiment.store.trial import grouped

WIDTH, HEIGHT = 320, 240
MOST_NAMES = 60  # bars that can all have their name below them


def save(result: Result, folder: Path) -> list[Path]:
    """The figure as PNG and SVG in the folder, named after the target."""
    return write_chart(draw(result).to_dict(), folder / result.target, ("png", "svg"))


def draw(result: Result) -> Any:
    """The figure of a result that has one: an altair chart, one panel for each value of its facet."""
    alt = import_extra("altair", extra="plots", purpose="a figure")
    axes = result.axes
    assert axes is not None, f"{result.target} has no figure"
    if axes.facet is None:
        panels = [_panel(alt, result, axes, result.numbers)]
    else:
        facets = grouped((result.label(number, axes.facet), number) for number in result.numbers)
        panels = [_panel(alt, result, axes, own).properties(title=facet) for facet, own in facets.items()]
    subtitle = f"ours ± {result.spread} over the {result.of}" if result.is_spread else "ours"
    if any(number.compared is not None for number in result.numbers):
        subtitle += "; crosses: the paper"
    if result.data:
        subtitle += f"; on {' and '.join(result.data)}"
    title = alt.Title(f"{result.target}: {result.title}", subtitle=subtitle, anchor="start", offset=16)
    return alt.concat(*panels, columns=2).resolve_scale(xOffset="independent").properties(title=title)


def _panel(alt: Any, result: Result, axes: Axes, numbers: Sequence[Number]) -> Any:
    """One set of axes: bars or a line, a rule for each deviation, crosses for the paper."""
    if axes.kind == "front":
        return _front(alt, result, axes, numbers)
    base = alt.Chart(alt.Data(values=[_point(result, axes, number) for number in numbers]))
    is_lines = axes.kind == "lines"
    if is_lines:
        scale = alt.Scale(type="log" if axes.logarithmic else "linear", zero=False, nice=False, padding=12)
        x = alt.X("x:Q", scale=scale, axis=alt.Axis(grid=False), title=axes.x_title or axes.x)
    else:
        many = len({result.label(number, axes.x) for number in numbers}) > MOST_NAMES
        axis = alt.Axis(labelAngle=0, labelOverlap=True, ticks=False) if many else alt.Axis(labelAngle=-40)
        x = alt.X("x:N", sort=None, axis=axis, title=axes.x_title or axes.x)
    shared: dict[str, Any] = {"x": x}
    color: dict[str, Any] = {}
    if axes.color is not None:
        domain = list(dict.fromkeys(result.label(number, axes.color) for number in result.numbers))
        range_ = [COLORS[i % len(COLORS)] for i in range(len(domain))]
        color["color"] = alt.Color("color:N", title=axes.color, scale=alt.Scale(domain=domain, range=range_))
        if not is_lines:
            shared["xOffset"] = alt.XOffset("color:N", scale=alt.Scale(domain=domain))
    y = alt.Y("ours:Q", title=axes.y, scale=alt.Scale(zero=not is_lines))
    marks = base.mark_line(point=True) if is_lines else base.mark_bar(color=COLORS[0])
    rules = base.mark_rule() if is_lines else base.mark_rule(color="black")
    layers = [marks.encode(y=y, **shared, **color)]
    on_top = shared | (color if is_lines else {})
    if any(result.deviation(number) for number in numbers):
        layers.append(rules.encode(y="low:Q", y2="high:Q", **on_top))
    if any(number.compared is not None for number in numbers):
        crosses = base.transform_filter("datum.paper !== null").mark_point(shape="cross", size=60, color="black")
        layers.append(crosses.encode(y="paper:Q", **on_top))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _front(alt: Any, result: Result, axes: Axes, numbers: Sequence[Number]) -> Any:
    """Points of one measure (y) against another (x, where less is better), and a line through the best of both."""
    place = result.columns.index("measure")
    rows = grouped((number.labels[:place], number) for number in numbers)
    points: list[dict[str, Any]] = []
    for labels, both in rows.items():
        mean = {number.labels[place]: number.mean for number in both}
        color = labels[result.columns.index(axes.color)] if axes.color else ""
        points.append({"x": mean[axes.x], "y": mean[axes.y], "color": color, "name": " ".join(labels[1:])})
    points.sort(key=lambda point: (point["x"], -point["y"]))
    best = -1.0
    for point in points:
        point["front"] = point["y"] > best
        best = max(best, point["y"])
    base = alt.Chart(alt.Data(values=points))
    scale = alt.Scale(type="log" if axes.logarithmic else "linear", nice=False, padding=16)
    where = {
        "x": alt.X("x:Q", title=axes.x_title or axes.x, scale=scale, axis=alt.Axis(grid=False)),
        "y": alt.Y("y:Q", title=axes.y, scale=alt.Scale(zero=False)),
    }
    domain = list(dict.fromkeys(point["color"] for point in points))
    colors = alt.Scale(domain=domain, range=list(COLORS[: len(domain)]))
    dots = base.mark_point(filled=True, size=45).encode(
        color=alt.Color("color:N", title=axes.color, scale=colors), **where
    )
    chosen = base.transform_filter("datum.front")
    line = chosen.mark_line(interpolate="step-after", color="#555555", strokeDash=[4, 3]).encode(**where)
    names = chosen.mark_text(align="left", dx=5, dy=-6, fontSize=9).encode(text="name:N", **where)
    return alt.layer(line, dots, names).properties(width=2 * WIDTH, height=HEIGHT)


def _point(result: Result, axes: Axes, number: Number) -> dict[str, Any]:
    deviation, label = result.deviation(number) or 0.0, result.label(number, axes.x)
    return {
        "x": float(label) if axes.kind == "lines" else label,
        "color": None if axes.color is None else result.label(number, axes.color),
        "ours": number.mean,
        "low": number.mean - deviation,
        "high": number.mean + deviation,
        "paper": number.compared,
    }
