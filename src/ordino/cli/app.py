"""The commands under one name, and the options that all of them share."""

import os
from typing import Annotated

import typer

from ordino.cli.bench import bench, reproduce, search
from ordino.cli.data import convert, doctor, inspect, synth
from ordino.cli.evaluate import evaluate, explain, rank
from ordino.cli.export import distill, export, import_file
from ordino.cli.options import SHARED, Command, Group, Seed, Shared
from ordino.cli.report import compare, report
from ordino.cli.serve import serve
from ordino.cli.studio import studio
from ordino.cli.train import params, rankers, train
from ordino.cli.warm_up import warm_up
from ordino.versions import describe_versions

app = typer.Typer(
    name="ordino",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(describe_versions())
        raise typer.Exit


@app.callback()
def shared(
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the versions of Ordino and of what it runs on."
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result.")] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads; the free processors by default.")
    ] = None,
    seed: Seed = None,
) -> None:
    """Ordino puts things in order: learning to rank, from judged lists to a ranker in use."""
    SHARED.set(Shared(quiet, threads, seed))
    if threads is not None:  # numpy reads these when it is first loaded, which no command has done yet
        os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads)))


DATA = (synth, inspect, doctor, convert)
MODELS = (train, rank, evaluate, explain, export, import_file, distill, serve, rankers, params, warm_up)
EXPERIMENTS = (bench, search, compare, report, reproduce, studio)

for command in DATA + MODELS + EXPERIMENTS:
    app.command(cls=Command)(command)
