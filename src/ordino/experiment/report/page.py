"""Where boards go: into text, one HTML page that needs nothing else, or figures for slides, the web and papers.

All are drawn offline. The page needs no network, no server and no other file.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ordino.checks import check_choice
from ordino.data.arrow import write_whole
from ordino.errors import DataError, ParameterError, import_extra
from ordino.experiment.report import text
from ordino.experiment.report.board import Board
from ordino.experiment.report.figures import FIGURES
from ordino.plain import plain

TEMPLATE = Path(__file__).with_name("page.html")
PICTURES = ("png", "svg", "pdf")
TITLE = "Comparison of rankers"
_TEXT = {"labelFontSize": 12, "titleFontSize": 13, "labelLimit": 260}
LIGHT = {"background": "white", "view": {"stroke": None}, "axis": _TEXT, "legend": _TEXT, "font": "sans-serif"}


def html(boards: Sequence[Board], *, title: str = TITLE) -> str:
    """The page: for each board a table that sorts, the notes, and every figure.

    Charts are drawn by Vega in the reader's browser, from scripts that lie in the page itself. Its policy forbids the
    browser to load anything from anywhere.
    """
    jinja2 = import_extra("jinja2", extra="plots", purpose="an HTML page")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    sections: list[dict[str, Any]] = []
    specs: list[dict[str, Any]] = []
    for board in boards:
        drawn = figure_specs(board)
        sections.append(
            {
                "dataset": board.dataset,
                "columns": text.header(board),
                "rows": text.table_rows(board),
                "notes": board.notes,
                "figures": [(len(specs) + i, FIGURES[name]) for i, name in enumerate(drawn)],
            }
        )
        specs += drawn.values()
    page: str = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        title=title, sections=sections, specs=json.dumps(specs).replace("<", r"\u003c"), vega=_vega()
    )
    return page


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    convert = import_extra("vl_convert", extra="plots", purpose="an HTML page")
    bundle: str = convert.javascript_bundle(vl_version=lite_version())
    return bundle.replace("</script", r"<\/script")  # nothing in it may end the element that it stands in


def figure_specs(board: Board) -> dict[str, dict[str, Any]]:
    """By name the Vega-Lite specification of each figure that the board has something for."""
    drawn = {name: figure.draw(board) for name, figure in FIGURES.items()}
    # Altair's own check of every value would take seconds, and its classes have checked all else
    return {name: chart.to_dict(validate=False) for name, chart in drawn.items() if chart is not None}


def write_figures(boards: Sequence[Board], folder: str | Path, *, formats: Sequence[str] = PICTURES) -> list[Path]:
    """Write every figure of every board as ``<data set>-<profile>-<figure>.<format>``; give the paths.

    The folder is made if there is none.
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise DataError(f"{target}: is a file; figures need a folder")
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for stem, board in zip(file_stems(boards), boards, strict=True):
        for name, spec in figure_specs(board).items():
            spec.setdefault("title", f"{FIGURES[name].title}, {plain(board.dataset)}")
            written += write_chart(spec, target / f"{stem}-{name}", formats)
    return written


def write_chart(spec: dict[str, Any], stem: Path, formats: Sequence[str] = PICTURES) -> list[Path]:
    """Draw a Vega-Lite specification as files with this name and the ending of each format."""
    convert = import_extra("vl_convert", extra="plots", purpose="a figure")
    written = []
    for kind in formats:
        options = {"scale": 2} if kind == "png" else {}
        drawn = getattr(convert, f"vegalite_to_{kind}")(spec, vl_version=lite_version(), config=LIGHT, **options)
        written.append(stem.with_name(f"{stem.name}.{kind}"))
        write_whole(written[-1], drawn)
    return written


def file_stems(boards: Sequence[Board]) -> list[str]:
    """A file name for each board, made of letters, digits, dots and dashes; no two are the same."""
    stems: list[str] = []
    for board in boards:
        stem = re.sub(r"[^A-Za-z0-9.]+", "-", f"{board.dataset}-{board.profile}").strip("-.")
        stems.append(stem if stem not in stems else f"{stem}-{len(stems) + 1}")
    return stems


def lite_version() -> str:
    """The version of Vega-Lite that Altair writes, as vl-convert names it."""
    version: str = import_extra("altair", extra="plots", purpose="a figure").SCHEMA_VERSION
    return ".".join(version.split(".")[:2])


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
        "html": Format(html, ".html", "one page with charts, which works offline"),
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
        return check_choice("format", name, FORMATS)
    if out is None:
        return "terminal"
    suffix = Path(out).suffix.lower()
    for candidate, entry in FORMATS.items():
        if entry.suffix == suffix:
            return candidate
    endings = ", ".join(entry.suffix for entry in FORMATS.values() if entry.suffix)
    raise ParameterError(f"{out}: no format has this extension; use one of {endings}, or --format")


def render(boards: Sequence[Board], name: str, *, title: str = TITLE) -> str:
    """The boards as text in a format of :data:`FORMATS`; only the page shows the title."""
    write = FORMATS[choose_format(name, None)].write
    return html(boards, title=title) if write is html else write(boards)
