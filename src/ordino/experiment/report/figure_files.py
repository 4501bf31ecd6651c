"""Figures as files: PNG for slides, SVG for the web, PDF for papers; all drawn offline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordino.errors import DataError, import_extra
from ordino.experiment.report.board import Board
from ordino.experiment.report.figures import FIGURES
from ordino.experiment.report.text import plain

FORMATS = ("png", "svg", "pdf")
_TEXT = {"labelFontSize": 12, "titleFontSize": 13, "labelLimit": 260}
LIGHT = {"background": "white", "view": {"stroke": None}, "axis": _TEXT, "legend": _TEXT, "font": "sans-serif"}


def figure_specs(board: Board) -> dict[str, dict[str, Any]]:
    """By name the Vega-Lite specification of each figure that the board has something for."""
    drawn = {name: figure.draw(board) for name, figure in FIGURES.items()}
    # Altair's own check of every value would take seconds, and its classes have checked all else
    return {name: chart.to_dict(validate=False) for name, chart in drawn.items() if chart is not None}


def write_figures(boards: Sequence[Board], folder: str | Path, *, formats: Sequence[str] = FORMATS) -> list[Path]:
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


def write_chart(spec: dict[str, Any], stem: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw a Vega-Lite specification as files with this name and the ending of each format."""
    convert = import_extra("vl_convert", extra="plots", purpose="a figure")
    written = []
    for kind in formats:
        options = {"scale": 2} if kind == "png" else {}
        drawn = getattr(convert, f"vegalite_to_{kind}")(spec, vl_version=lite_version(), config=LIGHT, **options)
        written.append(stem.with_name(f"{stem.name}.{kind}"))
        written[-1].write_bytes(drawn.encode() if isinstance(drawn, str) else drawn)
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
