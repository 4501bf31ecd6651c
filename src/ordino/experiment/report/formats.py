"""The formats of a report by name, and which one a file's name asks for."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ordino.errors import ParameterError, unknown_name
from ordino.experiment.report import page, text
from ordino.experiment.report.board import Board


class Format(NamedTuple):
    """An entry of :data:`FORMATS`."""

    write: Callable[[Sequence[Board]], str]
    suffix: str | None
    """The ending of files that hold it."""
    description: str


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "terminal": Format(text.terminal, None, "tables with colors"),
        "text": Format(text.plain_text, ".txt", "the same tables without colors"),
        "markdown": Format(text.markdown, ".md", "for README files and issues"),
        "latex": Format(text.latex, ".tex", "for papers, with booktabs"),
        "csv": Format(text.comma_separated, ".csv", "every number in full precision"),
        "html": Format(page.html, ".html", "one page with charts, which works offline"),
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


def render(boards: Sequence[Board], name: str, *, title: str = page.TITLE) -> str:
    """The boards as text in a format of :data:`FORMATS`; only the page shows the title."""
    write = FORMATS[choose_format(name, None)].write
    return page.html(boards, title=title) if write is page.html else write(boards)
