"""What a reproduction found: the paper's number, ours with its deviation, the difference, and the paper's claims."""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import sqrt
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from ordino.experiment.papers.claim import HEADER, Claim, Finding, find
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.page import CLAIMS, Page
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
    of_paper: str = ""
    """What of the paper stands in its column where it prints no numbers: its formula, or its theorem."""
    notes: Sequence[str] = ()
    """What was found beside the numbers."""
    target: str = ""
    data: Sequence[str] = ()
    """The collections; none where the data is made as the paper says."""
    seeds: Sequence[int] = ()
    """Of the trials, in order."""
    filled: Mapping[str, str] = field(default_factory=dict)
    """What the run filled into title and protocol."""
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
        title = CLAIMS[self.target.startswith("beyond.")]
        page = Page(
            table=markdown_table(self.header, self.rows(), n_text=len(self.columns)),
            claims=f"{title}\n\n{markdown_table(HEADER, findings, n_text=3)}" if findings else "",
            notes=self.notes, made=self._made,
        )  # fmt: skip
        return self.in_words(page, self.facts()).text

    def in_words(self, page: Page, facts: Mapping[str, Any]) -> Page:
        """A page with the words of this result around its own numbers, of which these facts are known."""
        return page._replace(
            heading=f"# {facts['target']}: {self.title}", protocol=self.protocol.strip(), choices=self.choices,
            picture="" if self.axes is None else f"![{self.title}]({facts['target']}.png)",
            about_claims=" ".join(_about_claims([claim["power"] for claim in facts["claims"]])),
            about_numbers=" ".join(self._about_numbers(facts)),
        )  # fmt: skip

    @property
    def about_numbers(self) -> list[str]:
        """Of which data the numbers are, and what the brackets and the ± of the table mean."""
        return self._about_numbers(self.facts())

    def _about_numbers(self, facts: Mapping[str, Any]) -> list[str]:
        told = [f"Run on {' and '.join(facts['data'])}."] if facts["data"] else []
        if facts["is_bracketed"]:
            told.append(BRACKETS)
        if facts["is_spread"]:
            told.append(f"± is the {self.spread} over the {self.of}.")
        return told

    @property
    def about_claims(self) -> list[str]:
        """What intervals and verdicts mean, and what power the number of values leaves."""
        return _about_claims([finding.power for finding in self.findings])

    @property
    def _made(self) -> str:
        """When, with what, and from which seeds."""
        versions = ", ".join([*(f"{name} {number}" for name, number in installed_versions().items()), *_kernels()])
        seeds = f"seeds {', '.join(map(str, self.seeds))}" if len(self.seeds) > 1 else f"seed {self.seed}"
        return (
            f"Made on {date.today()} with Python {platform.python_version()}, {versions}; {seeds}; "
            f"{self.seconds:.0f} seconds."
        )

    def facts(self) -> dict[str, Any]:
        """What the overview of all pages takes from this one, and what its words are filled with."""
        return {
            "target": self.target, "title": self.title, "data": self.data, "made": str(date.today()),
            "ordino": installed_versions()["ordino"], "seed": self.seed, "of": self.of,
            "values": max((len(one.ours) for one in self.numbers if not one.is_by_query), default=0),
            "is_bracketed": any(number.paper is not None and not number.same_data for number in self.numbers),
            "is_spread": self.is_spread, "filled": self.filled,
            "summary": summary(self), "claims": [finding.facts() for finding in self.findings],
        }  # fmt: skip

    def to_json(self) -> str:
        """The facts, beside the page."""
        return json.dumps(as_json(self.facts(), strict=True), indent=1, ensure_ascii=False) + "\n"

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
    n, own = len(found), result.of_paper
    compared = f"{count_of(n, 'value')} of the paper's {own}" if own else f"{count_of(n, 'number')} of the paper"
    low, high, mean = (f"{value:+.{result.digits}f}" for value in (min(found), max(found), np.mean(found)))
    return f"{compared}: ours are from {low} to {high} of them, {mean} on average"


def _kernels() -> list[str]:
    """What multiplies matrices: libraries choose it by the processor, and others round otherwise."""
    known = [one for one in threadpool_info() if one["user_api"] == "blas" and "architecture" in one]
    return sorted({f"{one['internal_api']} for {one['architecture']}" for one in known})


def _about_claims(powers: Sequence[float]) -> list[str]:
    percent = sorted({round(100 * power) for power in powers})
    if not percent:
        return []
    span = " to ".join(map(str, sorted({percent[0], percent[-1]})))
    return [RULE, f"Power, the probability that a claim which is true is found to be so: {span} %."]
