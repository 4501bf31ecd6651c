"""The formats of a report by name, and which one a file's name asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ordino.errors import ParameterError, unknown_name

if TYPE_CHECKING:
    from ordino.experiment.report.board import Board


class Format(NamedTuple):
    """An entry of :data:`FORMATS`."""

    writer: str
    """The function of this package that turns boards and a title into text; loaded when it is used."""
    suffix: str | None
    """The ending of files that hold it."""
    description: str


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "terminal": Format("text.terminal", None, "tables with colors"),
        "text": Format("text.plain_text", ".txt", "the same tables without colors"),
        "markdown": Format("text.markdown", ".md", "for README files and issues"),
        "latex": Format("text.latex", ".tex", "for papers, with booktabs"),
        "csv": Format("text.comma_separated", ".csv", "every number in full precision"),
        "html": Format("page.html", ".html", "one page with charts, which works offline"),
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
    raise ParameterError(f"{out}: no format has this extension; use one of {endings}, or --format")


def render(boards: Sequence[Board], name: str, *, title: str = "Comparison of rankers") -> str:
    """The boards as text in a format of :data:`FORMATS`; only the page shows the title."""
    module, _, function = FORMATS[choose_format(name, None)].writer.partition(".")
    write = getattr(import_module(f"ordino.experiment.report.{module}"), function)
    text: str = write(boards, title=title) if name == "html" else write(boards)
    return text
