"""The store as one HTML page that needs nothing else: no network, no server, no other file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import isnan, nan
from pathlib import Path
from typing import Any

from ordino.errors import import_extra
from ordino.experiment.report.board import Board, Cell, Line
from ordino.experiment.report.figure_files import figure_specs, lite_version
from ordino.experiment.report.figures import FIGURES
from ordino.experiment.report.text import header, number

TEMPLATE = Path(__file__).with_name("page.html")


def html(boards: Sequence[Board], *, title: str = "Comparison of rankers") -> str:
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
            _section(board) | {"figures": [(len(specs) + i, FIGURES[name]) for i, name in enumerate(drawn)]}
        )
        specs += drawn.values()
    page: str = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        title=title, sections=sections, specs=json.dumps(specs).replace("<", r"\u003c"), vega=_vega()
    )
    return page


def _section(board: Board) -> dict[str, Any]:
    return {
        "dataset": board.dataset,
        "columns": header(board),
        "rows": [_row(board, line) for line in board.lines],
        "notes": board.notes,
    }


def _row(board: Board, line: Line) -> list[dict[str, Any]]:
    """Cells: what is shown, what sorts, what the pointer shows, and how it looks."""
    cells: list[dict[str, Any]] = [
        {"text": line.label, "sort": line.label},
        {"text": line.n_trials, "sort": line.n_trials},
    ]
    for name in board.measures:
        cell = line.cells[name]
        cells.append(
            {
                "text": number(replace(cell, deviation=nan)),
                "deviation": "" if isnan(cell.deviation) else f" ± {cell.deviation:.4f}",
                "sort": "" if isnan(cell.mean) else cell.mean,
                "mark": cell.mark,
                "told": _told(cell, board.references[name]),
                "is_best": cell.is_best,
            }
        )
    return [*cells, {"text": f"{line.train_seconds:.2f}", "sort": line.train_seconds}]


def _told(cell: Cell, reference: str) -> str:
    return "the reference" if isnan(cell.p) else f"p = {cell.p:.2g} against {reference}"


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    convert = import_extra("vl_convert", extra="plots", purpose="an HTML page")
    bundle: str = convert.javascript_bundle(vl_version=lite_version())
    return bundle.replace("</script", r"<\/script")  # nothing in it may end the element that it stands in
