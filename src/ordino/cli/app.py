"""The commands under one name, and the options that all of them share."""

from __future__ import annotations

from typing import Annotated

import typer

from ordino import __version__
from ordino.cli.bench import bench
from ordino.cli.compare import compare
from ordino.cli.convert import convert
from ordino.cli.doctor import doctor
from ordino.cli.evaluate import evaluate
from ordino.cli.inspect import inspect
from ordino.cli.report import report
from ordino.cli.reproduce import reproduce
from ordino.cli.search import search
from ordino.cli.synth import synth

app = typer.Typer(
    name="ordino",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ordino {__version__}")
        raise typer.Exit


@app.callback()
def shared(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Ordino puts things in order: learning to rank, from judged lists to a ranker in use."""


for command in (synth, inspect, doctor, convert, evaluate, bench, search, compare, report, reproduce):
    app.command()(command)
