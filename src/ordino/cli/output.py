"""How commands print: a table on a terminal, plain text in a pipe, JSON on request."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from ordino.cli.options import shared_options
from ordino.plain import as_json


def say(sentence: str) -> None:
    """Print a line on standard error, unless --quiet was given."""
    if not shared_options().quiet:
        typer.echo(sentence, err=True)


def check_out(path: str | Path, *, pipe: bool = True) -> None:
    """Refuse a file that cannot be written, before the work begins; "-" is a pipe where the command writes to one."""
    from ordino.errors import ParameterError

    out = Path(path)
    if str(path) == "-":
        if not pipe:
            raise ParameterError("--out -: a model is not written to a pipe; name a file, such as model.ordino")
    elif out.is_dir():
        raise ParameterError(f"--out {out}: this is a folder; name a file in it")
    elif not out.parent.is_dir():
        raise ParameterError(f"--out {out}: there is no folder {out.parent}; make it first, or name another")
    elif not os.access(out.parent, os.W_OK) or (out.exists() and not os.access(out, os.W_OK)):
        raise ParameterError(f"--out {out}: it cannot be written; check permissions, or name another place")


def print_json(value: Any) -> None:
    """Print JSON, keeping key order; NaN becomes null."""
    typer.echo(json.dumps(as_json(value), indent=2, allow_nan=False))


def print_found(as_json: bool, value: Any, columns: Sequence[str], rows: Iterable[Sequence[str]], **title: str) -> None:
    """Print a value as JSON, or its rows as a table."""
    if as_json:
        print_json(value)
    else:
        print_table(columns, rows, **title)


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
    """The first line of a docstring."""
    return (thing.__doc__ or "").strip().partition("\n")[0]
