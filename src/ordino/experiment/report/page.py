"""Where boards go: into text, one HTML page that needs nothing else, or figures for slides, the web and papers.

All are drawn offline. The page needs no network, no server and no other file.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ordino.checks import check_choice
from ordino.data.arrow import write_whole
from ordino.errors import DataError, ParameterError, import_extra
from ordino.experiment.report import made, text
from ordino.experiment.report.board import Board
from ordino.experiment.report.board_view import view_board, view_pairs
from ordino.experiment.report.figures import FIGURES, mean_weights
from ordino.experiment.report.plots import curves_of, versus, weights_of
from ordino.pages import environment
from ordino.plain import plain

PICTURES = ("png", "svg", "pdf")
TITLE = "Comparison of rankers"
_TEXT = {"labelFontSize": 12, "titleFontSize": 13, "labelLimit": 260}
LIGHT = {"background": "white", "view": {"stroke": None}, "axis": _TEXT, "legend": _TEXT, "font": "sans-serif"}


def html(boards: Sequence[Board], *, title: str = TITLE) -> str:
    """The page: for each board a table that sorts, the notes, every pair, and drawings.

    Drawings are SVG that is in the page. Its policy lets the browser load nothing, and run no script but its own.
    """
    style = environment.static_text("tokens.css") + environment.static_text("studio.css")
    script = environment.static_text("report.js")
    return environment.render(
        "report.html", title=title, sections=[_section(board) for board in boards], style=style, script=script,
        style_hash=_hash(style), script_hash=_hash(script),
    )  # fmt: skip


def _hash(text: str) -> str:
    """What the policy of the page knows its own style and script by."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _section(board: Board) -> dict[str, Any]:
    """What the page says of a board."""
    return {
        "board": board,
        "table": view_board(board),
        "pairs": view_pairs(board, board.measures[0]),
        "versus": versus(board),
        "curves": curves_of(board),
        "weights": weights_of(board, mean_weights),
        "is_baseline": any(
            not board.line(label).cells[name].is_best
            for name, label in board.references.items()
            if name in board.measures
        ),
        "finding": made.finding(board),
        "summary": made.summary(board),
        "settings": made.settings_of(board),
        "versions": made.versions_of(board),
        "dates": made.dates_of(board),
        "chosen_by": made.chosen_by(board),
    }


def figure_specs(board: Board) -> dict[str, dict[str, Any]]:
    """By name the Vega-Lite specification of each figure that the board has something for."""
    drawn = {name: figure.draw(board) for name, figure in FIGURES.items()}
    # Altair's own check of every value would take seconds, and its classes have checked all else
    specs = {name: chart.to_dict(validate=False) for name, chart in drawn.items() if chart is not None}
    return {name: spec | {"description": _described(name, spec, board)} for name, spec in specs.items()}


def _described(name: str, spec: Mapping[str, Any], board: Board) -> str:
    """What a figure shows, for those who do not see it."""
    figure = FIGURES[name]
    panes = ", ".join(pane["encoding"]["y"]["title"] for pane in spec.get("concat", ()))
    return f"{figure.title}, {plain(board.dataset)}: {panes or board.measures[0]}. {figure.description}"


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
    drawn = convert.vegalite_to_svg(spec, vl_version=lite_version(), config=LIGHT)
    written = []
    for kind in formats:  # the others are painted from the same drawing, which takes longest
        options = {"scale": 2} if kind == "png" else {}
        file = labeled(drawn, label_of(spec)) if kind == "svg" else getattr(convert, f"svg_to_{kind}")(drawn, **options)
        written.append(stem.with_name(f"{stem.name}.{kind}"))
        write_whole(written[-1], file)
    return written


def label_of(spec: Mapping[str, Any]) -> str:
    """What a chart shows: its description, or its title.

    Examples
    --------
    >>> label_of({"title": {"text": "Means", "subtitle": "ours"}}), label_of({"title": "Means", "description": "x"})
    ('Means', 'x')
    """
    title = spec.get("title", "")
    return str(spec.get("description") or (title.get("text", "") if isinstance(title, Mapping) else title))


def labeled(svg: str, label: str) -> str:
    """A drawing with a label for screen readers, which browsers also show under the pointer.

    Examples
    --------
    >>> labeled('<svg width="9"><g/></svg>', "a < b")
    '<svg role="img" aria-label="a &lt; b" width="9"><title>a &lt; b</title><g/></svg>'
    """
    said = escape(label)
    return re.sub(
        r"\A<svg ([^>]*)>", lambda head: f'<svg role="img" aria-label="{said}" {head[1]}><title>{said}</title>', svg
    )


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
