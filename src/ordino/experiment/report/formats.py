"""The formats of a report by name, and which one a file's name asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ordino.errors import ParameterError, unknown_name
from ordino.experiment.report.board import Board
from ordino.experiment.report.text import comma_separated, latex, markdown, terminal


class Format(NamedTuple):
    """An entry of :data:`FORMATS`."""

    write: Callable[[Sequence[Board], str], str]
    """From boards and a title to text."""
    suffix: str | None
    """The ending of files that hold it."""
    description: str


def _html(boards: Sequence[Board], title: str) -> str:
    from ordino.experiment.report.page import html

    return html(boards, title=title)


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "terminal": Format(lambda boards, _: terminal(boards), None, "tables with colors"),
        "text": Format(lambda boards, _: terminal(boards, styled=False), ".txt", "the same tables without colors"),
        "markdown": Format(lambda boards, _: markdown(boards), ".md", "for README files and issues"),
        "latex": Format(lambda boards, _: latex(boards), ".tex", "for papers, with booktabs"),
        "csv": Format(lambda boards, _: comma_separated(boards), ".csv", "every figure in full precision"),
        "html": Format(_html, ".html", "one page with charts, which works offline"),
    }
)
"""Every format by its name on the command line."""


def choose_format(name: str | None, out: str | Path | None) -> str:
    """The format of this name, else the one that the file's ending asks for, else the terminal's.

    Examples
    --------
    >>> choose_format(None, "table.tex"), choose_format("csv", "table.tex"), choose_format(None, None)
    ('latex', 'csv', 'terminal')
    """
    if name is not None:
        if name not in FORMATS:
            raise unknown_name("format", name, FORMATS)
        return name
    if out is None:
        return "terminal"
    suffix = Path(out).suffix.lower()
    for candidate, entry in FORMATS.items():
        if entry.suffix == suffix:
            return candidate
    endings = ", ".join(entry.suffix for entry in FORMATS.values() if entry.suffix)
    raise ParameterError(f"{out}: no format has this ending; use one of {endings}, or --format")


def render(boards: Sequence[Board], name: str, *, title: str = "Comparison of rankers") -> str:
    """The boards as text in a format of :data:`FORMATS`; only the page shows the title."""
    return FORMATS[choose_format(name, None)].write(boards, title)
