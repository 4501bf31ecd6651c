"""What a reproduction found: the paper's number, ours with its deviation, and the difference, as page and figure."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import sqrt
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np

from ordino.errors import import_extra
from ordino.experiment.report.figures import COLORS
from ordino.experiment.report.page import write_chart
from ordino.experiment.report.text import csv_text, markdown_table
from ordino.experiment.store.trial import grouped, installed_versions
from ordino.plain import count_of

WIDTH, HEIGHT = 320, 240
MOST_NAMES = 60  # bars that can all have their name below them
SPREADS: Mapping[str, Callable[[float, int], float]] = MappingProxyType(
    {
        "standard deviation": lambda std, n: std,  # noqa: ARG005
        "standard error": lambda std, n: std / sqrt(n),
        "95 % interval": lambda std, n: 1.96 * std / sqrt(n),
    }
)
"""What may stand behind the ±, made from the standard deviation of n values."""


class Number(NamedTuple):
    """One number of a table or one point of a figure.

    Examples
    --------
    >>> number = Number(("Net", "linear"), 90.0, (91.0, 93.0))
    >>> number.mean, number.difference
    (92.0, 2.0)
    """

    labels: tuple[str, ...]
    paper: float | None
    """What the paper says; None where it says nothing."""
    ours: tuple[float, ...]
    """One value of each repeat (or fold, or query: the result says which)."""
    same_data: bool = True
    """Whether the paper says it of the same data; if not, its number stands in brackets and is not compared."""

    @property
    def mean(self) -> float:
        """Our number."""
        return float(np.mean(self.ours))

    @property
    def compared(self) -> float | None:
        """The paper's number, if it is of the same data."""
        return self.paper if self.same_data else None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.compared is None else self.mean - self.compared


class Axes(NamedTuple):
    """How numbers become a figure: which labels go where."""

    kind: str
    """lines or bars."""
    x: str
    y: str
    color: str | None = None
    facet: str | None = None
    x_title: str | None = None
    """The name of the x axis, where it is not that of the label."""
    logarithmic: bool = False


@final
@dataclass(frozen=True)
class Result:
    """Numbers with what one must know to read them."""

    title: str = ""
    columns: tuple[str, ...] = ()
    """What the labels of a number are."""
    numbers: Sequence[Number] = ()
    protocol: str = ""
    """What was done, in sentences; where it departs from the paper, how."""
    spread: str = "standard deviation"
    of: str = "repeats"
    """What the values of a number are, in the plural."""
    digits: int = 3
    axes: Axes | None = None
    notes: Sequence[str] = ()
    """What was found beside the numbers."""
    target: str = ""
    seed: int = 0
    seconds: float = 0.0

    @property
    def is_spread(self) -> bool:
        """Whether any number has more than one value, and so a ±."""
        return any(len(number.ours) > 1 for number in self.numbers)

    def deviation(self, number: Number) -> float | None:
        """What stands behind the ±; None for a single value."""
        n = len(number.ours)
        return None if n < 2 else SPREADS[self.spread](float(np.std(number.ours, ddof=1)), n)

    def label(self, number: Number, column: str) -> str:
        """The label of a number in a column."""
        return number.labels[self.columns.index(column)]

    def rows(self) -> list[tuple[str, ...]]:
        """Labels, paper, ours ± deviation and difference, as text."""

        def text(value: float | None, form: str = "{}") -> str:
            return "" if value is None else form.format(f"{value:.{self.digits}f}")

        return [
            (
                *number.labels,
                text(number.paper, "{}" if number.same_data else "({})"),
                text(number.mean) + text(self.deviation(number), " ± {}"),
                "" if number.difference is None else f"{number.difference:+.{self.digits}f}",
            )
            for number in self.numbers
        ]

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :meth:`rows`."""
        return (*self.columns, "paper", f"ours ± {self.spread}", "difference")

    def to_markdown(self) -> str:
        """A page: what was done, the table, what was found, and with what."""
        versions = ", ".join(f"{name} {number}" for name, number in installed_versions().items())
        parts = [
            f"# {self.target}: {self.title}",
            self.protocol,
            markdown_table(self.header, self.rows(), n_text=len(self.columns)),
            "" if self.axes is None else f"![{self.title}]({self.target}.png)",
            "\n".join(f"- {note}" for note in self.notes),
            (f"± is the {self.spread} over the {self.of}. " if self.is_spread else "")
            + f"Made on {date.today()} with Python {platform.python_version()}, {versions}; seed {self.seed}; "
            f"{self.seconds:.0f} seconds.",
        ]
        return "\n\n".join(filter(None, parts)) + "\n"

    def to_csv(self) -> str:
        """The numbers with all digits."""
        header = [*self.columns, "paper", "ours", self.spread, "difference", "values"]
        rows = [
            (*one.labels, one.paper, one.mean, self.deviation(one), one.difference, len(one.ours))
            for one in self.numbers
        ]
        return csv_text(header, rows)


def summary(result: Result) -> str:
    """One line on how near the paper's numbers are.

    Examples
    --------
    >>> numbers = [Number(("a",), 0.5, (0.4,)), Number(("b",), 0.5, (0.7,)), Number(("c",), None, (0.1,))]
    >>> summary(Result("", ("method",), numbers, ""))
    '2 numbers of the paper: ours are from -0.100 to +0.200 of them, +0.050 on average'
    """
    found = [number.difference for number in result.numbers if number.difference is not None]
    if not found:
        return "the paper has no numbers for this data"
    low, high, mean = (f"{value:+.{result.digits}f}" for value in (min(found), max(found), np.mean(found)))
    return f"{count_of(len(found), 'number')} of the paper: ours are from {low} to {high} of them, {mean} on average"


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
    title = alt.Title(f"{result.target}: {result.title}", subtitle=subtitle, anchor="start", offset=16)
    return alt.concat(*panels, columns=2).resolve_scale(xOffset="independent").properties(title=title)


def _panel(alt: Any, result: Result, axes: Axes, numbers: Sequence[Number]) -> Any:
    """One set of axes: bars or a line, a rule for each deviation, crosses for the paper."""
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
