"""What a reproduction found: the paper's number, ours with its deviation, and the difference, cell by number."""

from __future__ import annotations

import csv
import io
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import sqrt
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np

from ordino.experiment.report.text import markdown_table
from ordino.experiment.store.trial import installed_versions

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
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return self.mean - self.paper if self.paper is not None and self.same_data else None


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

    title: str
    columns: tuple[str, ...]
    """What the labels of a number are."""
    numbers: Sequence[Number]
    protocol: str
    """What was done, in sentences; where it departs from the paper, how."""
    spread: str = "standard deviation"
    of: str = "repeats"
    """What the values of a number are, in the plural."""
    digits: int = 3
    axes: Axes | None = None
    """The figure, if there is one."""
    notes: Sequence[str] = ()
    """What was found beside the numbers."""
    target: str = ""
    seed: int = 0
    seconds: float = 0.0

    def deviation(self, number: Number) -> float | None:
        """What stands behind the ±; None for a single value."""
        n = len(number.ours)
        return None if n < 2 else SPREADS[self.spread](float(np.std(number.ours, ddof=1)), n)

    def rows(self) -> list[tuple[str, ...]]:
        """Labels, paper, ours ± deviation and difference, as text."""
        return [
            (
                *number.labels,
                _in_brackets(_text(number.paper, self.digits), not number.same_data),
                _text(number.mean, self.digits) + _behind(self.deviation(number), self.digits),
                _text(number.difference, self.digits, sign=True),
            )
            for number in self.numbers
        ]

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :meth:`rows`."""
        return (*self.columns, "paper", f"ours ± {self.spread}", "difference")

    def to_markdown(self) -> str:
        """A page: what was done, the table, what was found, and with what."""
        lines = [
            f"# {self.target}: {self.title}",
            "",
            self.protocol,
            "",
            markdown_table(self.header, self.rows(), n_text=len(self.columns)),
            "",
            *([] if self.axes is None else [f"![{self.title}]({self.target}.png)", ""]),
            *(f"- {note}" for note in self.notes),
            *([""] if self.notes else []),
            self._spread_sentence() + self.provenance(),
        ]
        return "\n".join(lines) + "\n"

    def _spread_sentence(self) -> str:
        """What the ± is, where there is one."""
        if all(len(number.ours) < 2 for number in self.numbers):
            return ""
        return f"± is the {self.spread} over the {self.of}. "

    def provenance(self) -> str:
        """Date, versions, seed and time, in a sentence."""
        versions = ", ".join(f"{name} {number}" for name, number in installed_versions().items())
        python = platform.python_version()
        return f"Made on {date.today()} with Python {python}, {versions}; seed {self.seed}; {self.seconds:.0f} seconds."

    def to_csv(self) -> str:
        """The numbers with all digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*self.columns, "paper", "ours", self.spread, "difference", "values"])
        for number in self.numbers:
            blank_or = [
                "" if v is None else v for v in (number.paper, number.mean, self.deviation(number), number.difference)
            ]
            writer.writerow([*number.labels, *blank_or, len(number.ours)])
        return text.getvalue()


def summary(result: Result) -> str:
    """One line on how near the paper's numbers are.

    Examples
    --------
    >>> numbers = [Number(("a",), 0.5, (0.4,)), Number(("b",), 0.5, (0.7,)), Number(("c",), None, (0.1,))]
    >>> summary(Result("", ("method",), numbers, ""))
    '2 numbers of the paper: ours are from -0.100 to +0.200 of them, +0.050 on average'
    """
    differences: list[Any] = [number.difference for number in result.numbers if number.difference is not None]
    if not differences:
        return "the paper has no numbers for this data"
    low, high, mean = (
        f"{value:+.{result.digits}f}" for value in (min(differences), max(differences), np.mean(differences))
    )
    count = "1 number" if len(differences) == 1 else f"{len(differences)} numbers"
    return f"{count} of the paper: ours are from {low} to {high} of them, {mean} on average"


def _text(value: float | None, digits: int, *, sign: bool = False) -> str:
    return "" if value is None else f"{value:{'+' if sign else ''}.{digits}f}"


def _in_brackets(text: str, of_other_data: bool) -> str:
    return f"({text})" if text and of_other_data else text


def _behind(deviation: float | None, digits: int) -> str:
    return "" if deviation is None else f" ± {deviation:.{digits}f}"
