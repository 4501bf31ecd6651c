"""How commands print: a table for people on a terminal, plain text in a pipe, JSON where it is asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer

from ordino.cli.options import shared_options


def say(sentence: str) -> None:
    """A line for people on standard error, unless they asked for quiet."""
    if not shared_options().quiet:
        typer.echo(sentence, err=True)


def print_json(value: Any) -> None:
    """One JSON value with sorted meaning left as given; NaN becomes null."""
    typer.echo(json.dumps(_finite(value), indent=2, allow_nan=False, default=_plain))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None) -> None:
    """A rich table on a terminal, tab-separated lines elsewhere."""
    if not sys.stdout.isatty():
        typer.echo("\t".join(columns))
        for row in rows:
            typer.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, title=title, title_justify="left", header_style="bold")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def first_line(thing: Any) -> str:
    """What a documented thing is, in its own words."""
    return (thing.__doc__ or "").strip().partition("\n")[0]


def _finite(value: Any) -> Any:
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _plain(value: Any) -> Any:
    """Numpy's arrays and numbers as Python's."""
    return _finite(value.tolist()) if hasattr(value, "tolist") else str(value)
