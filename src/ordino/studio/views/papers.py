"""Papers: each table and figure of the papers beside ours, from the results of `ordino reproduce`."""

import csv
import json
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ordino.experiment.papers.catalogue import TARGETS
from ordino.pages.numbers import MINUS, fixed, signed, spelled
from ordino.studio.ask import Ask, State, StateError

NUMBERS = ("paper", "paper deviation", "ours", "standard deviation", "difference", "values")
PAGE = 60
"""Rows of a table."""


class Row(NamedTuple):
    """A cell of the paper's table, with ours."""

    names: list[str]
    paper: str
    paper_deviation: str
    ours: str
    deviation: str
    difference: str
    is_beyond: bool
    """Whether the difference is beyond twice the spreads of the paper and of ours together."""
    values: str


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    folder = _folder(studio)
    files = {
        str(path.relative_to(folder).with_suffix("")): path
        for path in sorted(folder.rglob("*.csv"))
        if path.stem in TARGETS
    }
    if not files:
        then = "Make some with ordino reproduce, and name their folder:"
        raise StateError(
            State(f"There are no results of papers in {folder.name}.", then, "ordino reproduce TARGET --out FOLDER")
        )
    order = list(TARGETS)
    names = sorted(files, key=lambda one: (order.index(files[one].stem), one))
    name = ask.choice("target", names, names[0])
    rows, columns = _read(files[name])
    target = TARGETS[files[name].stem]
    told = _told(files[name].with_suffix(".json"))
    compared = [row for row in rows if row.difference != "–"]
    beyond = sum(row.is_beyond for row in compared)
    start = min(ask.whole("from", 1, 10**6), max(1, len(rows))) - 1
    return {
        "names": names,
        "name": name,
        "rows": rows[start : start + PAGE],
        "start": start,
        "page_size": PAGE,
        "n_rows": len(rows),
        "columns": columns,
        "target": target,
        "told": told,
        "finding": _finding(files[name].stem, target.shows, len(compared), beyond),
        "stem": files[name].stem,
        "has_figure": files[name].with_suffix(".svg").is_file(),
        "claims": told.get("claims", []),
    }


def _folder(studio: Any) -> Path:
    folder: Path | None = studio.sources.results
    if folder is None:
        then = "Results of ordino reproduce lie in the folder of its --out. Name it:"
        raise StateError(State("No results of papers were named.", then, f"{studio.sources.command} --results FOLDER"))
    return folder


def _read(path: Path) -> tuple[list[Row], list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    columns = [name for name in (lines[0] if lines else {}) if name not in NUMBERS]
    return [_row(line, columns) for line in lines], columns


def _row(line: dict[str, str], columns: list[str]) -> Row:
    numbers = {name: _number(line.get(name, "")) for name in NUMBERS}
    difference, ours, paper = numbers["difference"], numbers["ours"], numbers["paper"]
    digits = 2 if max(abs(ours or 0), abs(paper or 0)) >= 10 else 4
    spread = ((numbers["paper deviation"] or 0.0) ** 2 + (numbers["standard deviation"] or 0.0) ** 2) ** 0.5
    beyond = difference is not None and spread > 0 and abs(difference) > 2 * spread
    return Row(
        [line[name] for name in columns],
        fixed(paper, digits),
        _spread(numbers["paper deviation"], digits),
        fixed(ours, digits),
        _spread(numbers["standard deviation"], digits),
        "–" if difference is None else signed(difference, digits),
        beyond,
        (line.get("values") or "").replace("-", MINUS),
    )


def _spread(value: float | None, digits: int) -> str:
    return "" if value is None else f" ± {value:.{digits}f}"


def _number(text: str | None) -> float | None:
    with suppress(TypeError, ValueError):
        found = float(text or "")
        return found if found == found else None
    return None


def _told(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def _finding(stem: str, shows: str, compared: int, beyond: int) -> str:
    if not compared:
        return f"{stem}, {shows}: the paper has no numbers for this data."
    if not beyond:
        return f"{stem}, {shows}: no number of ours lies beyond the spread of the paper’s {spelled(compared)}."
    return f"{stem}, {shows}: {spelled(beyond)} of {spelled(compared)} numbers lie beyond the spread of both."


def figure(studio: Any, ask: Ask) -> tuple[bytes, str, str]:
    """The drawing of a target."""
    folder = _folder(studio)
    name = ask.text("target")
    files = {
        str(path.relative_to(folder).with_suffix("")): path for path in folder.rglob("*.svg") if path.stem in TARGETS
    }
    return files[ask.choice("target", files, name)].read_bytes(), "image/svg+xml", "figure.svg"
