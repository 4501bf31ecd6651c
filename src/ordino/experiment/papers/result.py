"""What a reproduction found: the paper's number, ours with its deviation, and the difference, cell by cell."""

from __future__ import annotations

import csv
import io
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import sqrt
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np

from ordino.experiment.store.trial import installed_versions

SPREADS: Mapping[str, Callable[[float, int], float]] = MappingProxyType(
    {
        "standard deviation": lambda std, n: std,  # noqa: ARG005
        "standard error": lambda std, n: std / sqrt(n),
        "95 % interval": lambda std, n: 1.96 * std / sqrt(n),
    }
)
"""What may stand behind the ±, made from the standard deviation of n values."""


class Cell(NamedTuple):
    """One number of a table or one point of a figure.

    Examples
    --------
    >>> cell = Cell(("Net", "linear"), 90.0, (91.0, 93.0))
    >>> cell.mean, cell.difference
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
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return self.mean - self.paper if self.paper is not None and self.same_data else None


class Figure(NamedTuple):
    """How cells become a picture: which labels go where."""

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
    """Cells with what one must know to read them."""

    target: str
    title: str
    columns: tuple[str, ...]
    """What the labels of a cell are."""
    cells: Sequence[Cell]
    protocol: str
    """What was done, in sentences; where it departs from the paper, how."""
    spread: str = "standard deviation"
    of: str = "repeats"
    """What the values of a cell are, in the plural."""
    digits: int = 3
    seed: int = 0
    seconds: float = 0.0
    figure: Figure | None = None
    notes: Sequence[str] = field(default=())
    """What was found beside the numbers."""

    def deviation(self, cell: Cell) -> float | None:
        """What stands behind the ±; None for a single value."""
        n = len(cell.ours)
        return None if n < 2 else SPREADS[self.spread](float(np.std(cell.ours, ddof=1)), n)

    def rows(self) -> list[tuple[str, ...]]:
        """Labels, paper, ours ± deviation and difference, as text."""
        return [
            (
                *cell.labels,
                _in_brackets(_number(cell.paper, self.digits), not cell.same_data),
                _number(cell.mean, self.digits) + _behind(self.deviation(cell), self.digits),
                _number(cell.difference, self.digits, sign=True),
            )
            for cell in self.cells
        ]

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :meth:`rows`."""
        return (*self.columns, "paper", f"ours ± {self.spread}", "difference")

    def to_markdown(self) -> str:
        """A page: what was done, the table, what was found, and with what."""
        width = len(self.columns)
        lines = [
            f"# {self.target}: {self.title}",
            "",
            self.protocol,
            "",
            _row(self.header),
            _row(["---"] * width + ["---:"] * 3),
            *map(_row, self.rows()),
            "",
            *([] if self.figure is None else [f"![{self.title}]({self.target}.png)", ""]),
            *(f"- {note}" for note in self.notes),
            *([""] if self.notes else []),
            self._spread_sentence() + self.provenance(),
        ]
        return "\n".join(lines) + "\n"

    def _spread_sentence(self) -> str:
        """What the ± is, where there is one."""
        if all(len(cell.ours) < 2 for cell in self.cells):
            return ""
        return f"± is the {self.spread} over the {self.of}. "

    def provenance(self) -> str:
        """Date, versions, seed and time, in a sentence."""
        versions = ", ".join(f"{name} {number}" for name, number in installed_versions().items())
        python = platform.python_version()
        return f"Made on {date.today()} with Python {python}, {versions}; seed {self.seed}; {self.seconds:.0f} seconds."

    def to_csv(self) -> str:
        """The cells with all digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*self.columns, "paper", "ours", self.spread, "difference", "values"])
        for cell in self.cells:
            blank_or = ["" if v is None else v for v in (cell.paper, cell.mean, self.deviation(cell), cell.difference)]
            writer.writerow([*cell.labels, *blank_or, len(cell.ours)])
        return text.getvalue()


def summary(result: Result) -> str:
    """One line on how near the paper's numbers are.

    Examples
    --------
    >>> cells = [Cell(("a",), 0.5, (0.4,)), Cell(("b",), 0.5, (0.7,)), Cell(("c",), None, (0.1,))]
    >>> summary(Result("x.table1", "", ("method",), cells, ""))
    '2 numbers of the paper: ours are from -0.100 to +0.200 of them, +0.050 on average'
    """
    differences: list[Any] = [cell.difference for cell in result.cells if cell.difference is not None]
    if not differences:
        return "the paper has no numbers for this data"
    low, high, mean = (
        f"{value:+.{result.digits}f}" for value in (min(differences), max(differences), np.mean(differences))
    )
    count = "1 number" if len(differences) == 1 else f"{len(differences)} numbers"
    return f"{count} of the paper: ours are from {low} to {high} of them, {mean} on average"


def _number(value: float | None, digits: int, *, sign: bool = False) -> str:
    return "" if value is None else f"{value:{'+' if sign else ''}.{digits}f}"


def _in_brackets(text: str, of_other_data: bool) -> str:
    return f"({text})" if text and of_other_data else text


def _behind(deviation: float | None, digits: int) -> str:
    return "" if deviation is None else f" ± {deviation:.{digits}f}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
