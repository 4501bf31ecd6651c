"""What a reproduction found: the paper's number, ours with its deviation, the difference, and the paper's claims."""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple, final

import numpy as np

from ordino.experiment.papers.claim import HEADER, Claim, Finding, find
from ordino.experiment.papers.number import Number
from ordino.experiment.report.text import csv_text, markdown_table
from ordino.experiment.store.trial import installed_versions
from ordino.plain import as_json, count_of

SPREADS: Mapping[str, Callable[[float, int], float]] = MappingProxyType(
    {
        "standard deviation": lambda std, n: std,  # noqa: ARG005
        "standard error": lambda std, n: std / sqrt(n),
        "95 % interval": lambda std, n: 1.96 * std / sqrt(n),
    }
)
"""What may stand behind the ±, made from the standard deviation of n values."""


RULE = """\
Differences are those of our means with Welch's interval, or with that of the paired differences where the values of \
both numbers belong together; d is the difference in standard deviations. All verdicts follow one rule, which the \
guide to reproduction states."""
BRACKETS = "Numbers in brackets are the paper's, on other data."


class Axes(NamedTuple):
    """How numbers become a figure: which labels go where."""

    kind: str
    """lines, bars, or front: one measure against another, with a line through what nothing beats in both."""
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
    choices: Sequence[str] = ()
    """What we chose where the paper is silent."""
    claims: Sequence[Claim] = ()
    """What the paper says of its numbers."""
    spread: str = "standard deviation"
    of: str = "repeats"
    """What the values of a number are, in the plural."""
    digits: int = 3
    axes: Axes | None = None
    notes: Sequence[str] = ()
    """What was found beside the numbers."""
    target: str = ""
    data: Sequence[str] = ()
    """The collections; none where the data is made as the paper says."""
    seeds: Sequence[int] = ()
    """Of the trials, in order."""
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

    @property
    def findings(self) -> list[Finding]:
        """The claims beside our values."""
        return list(find(self.claims, self.columns, self.numbers))

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
                ("{}" if number.same_data or number.paper is None else "({})").format(
                    text(number.paper) + text(number.paper_deviation, " ± {}")
                ),
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
        """A page: what was done and chosen, the table, the claims, what was found, and with what."""
        findings = [finding.row(self.digits) for finding in self.findings]
        parts = [
            f"# {self.target}: {self.title}",
            self.protocol,
            _section("Where the paper is silent", _bullets(self.choices)),
            "## Numbers" if self.choices or findings else "",
            markdown_table(self.header, self.rows(), n_text=len(self.columns)),
            "" if self.axes is None else f"![{self.title}]({self.target}.png)",
            _section(self._claims_title, markdown_table(HEADER, findings, n_text=3) if findings else ""),
            " ".join(self.about_claims),
            _bullets(self.notes),
            " ".join([*self.about_numbers, self._made]),
        ]
        return "\n\n".join(filter(None, parts)) + "\n"

    @property
    def about_numbers(self) -> list[str]:
        """Of which data the numbers are, and what the brackets and the ± of the table mean."""
        told = [f"Run on {' and '.join(self.data)}."] if self.data else []
        if any(number.paper is not None and not number.same_data for number in self.numbers):
            told.append(BRACKETS)
        if self.is_spread:
            told.append(f"± is the {self.spread} over the {self.of}.")
        return told

    @property
    def about_claims(self) -> list[str]:
        """What intervals and verdicts mean, and what power the number of values leaves."""
        powers = sorted({round(100 * finding.power) for finding in self.findings})
        if not powers:
            return []
        span = " to ".join(map(str, sorted({powers[0], powers[-1]})))
        return [RULE, f"Power, the probability that a claim which is true is found to be so: {span} %."]

    @property
    def _claims_title(self) -> str:
        """Beyond the papers, the claims are questions of ours."""
        return "What the paper left open" if self.target.startswith("beyond.") else "Claims of the paper"

    @property
    def _made(self) -> str:
        """When, with what, and from which seeds."""
        versions = ", ".join(f"{name} {number}" for name, number in installed_versions().items())
        seeds = f"seeds {', '.join(map(str, self.seeds))}" if len(self.seeds) > 1 else f"seed {self.seed}"
        return (
            f"Made on {date.today()} with Python {platform.python_version()}, {versions}; {seeds}; "
            f"{self.seconds:.0f} seconds."
        )

    def to_json(self) -> str:
        """What the overview of all pages takes from this one."""
        facts = {
            "target": self.target, "title": self.title, "data": self.data, "made": str(date.today()),
            "ordino": installed_versions()["ordino"], "seed": self.seed, "of": self.of,
            "values": max((len(one.ours) for one in self.numbers if not one.is_by_query), default=0),
            "summary": summary(self), "claims": [finding.facts() for finding in self.findings],
        }  # fmt: skip
        return json.dumps(as_json(facts, strict=True), indent=1, ensure_ascii=False) + "\n"

    def to_csv(self) -> str:
        """The numbers with all digits."""
        header = [*self.columns, "paper", "paper deviation", "ours", self.spread, "difference", "values"]
        rows = [
            (*one.labels, one.paper, one.paper_deviation, one.mean, self.deviation(one), one.difference, len(one.ours))
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


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
