"""``ordino reproduce``: a paper's table or figure, run again beside the paper's own numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from ordino.cli.options import shared_options
from ordino.cli.output import print_table

if TYPE_CHECKING:
    from ordino.experiment.papers.result import Result


def reproduce(
    targets: Annotated[
        list[str] | None, typer.Argument(help="Tables and figures, such as ranknet.table1; see --list.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List every target, its data and its time.")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder with the collections, or with Fold1, Fold2, ...")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only see that it runs; the numbers mean nothing.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="The first seed; the same seed gives the same numbers.")] = 0,
    repeats: Annotated[int | None, typer.Option(min=1, help="At most this many repeats per setting.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the table (.md, .csv) and figure (.png, .svg).")] = None,
    keep: Annotated[
        Path | None, typer.Option(help="Folder for the store of trials and the models; a stopped run goes on from it.")
    ] = None,
    n_jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; all cores by default.")] = None,
) -> None:
    """Run a table or figure of a paper again: paper, ours with its deviation, difference.

    Example: ordino reproduce --list

    Example: ordino reproduce ranknet.table2 --quick
    """
    from ordino.experiment.papers import catalogue
    from ordino.experiment.papers.target import Request
    from ordino.threads import count_threads

    if list_:
        rows = [(name, target.shows, target.needs, target.takes) for name, target in catalogue.TARGETS.items()]
        print_table(["target", "what it shows", "data it needs", "takes about"], rows)
        return
    if not targets:
        raise typer.BadParameter("name a target, for example ranknet.table1; --list shows them all")
    said = shared_options()
    n_jobs = n_jobs or said.threads or (1 if quick else count_threads(None))
    with TemporaryDirectory(prefix="ordino-") as scratch:  # one store for all: what two targets need is trained once
        request = Request(data, quick, seed, repeats, keep or Path(scratch), n_jobs, verbose=not said.quiet)
        for name in targets:
            try:
                result = catalogue.reproduce(name, request)
            except KeyboardInterrupt:
                rest = "" if keep is None else f"; the same command goes on from what is in {keep}"
                sys.stderr.write(f"ordino: {name} was stopped{rest}\n")
                raise typer.Exit(130) from None
            _show(result, out)


def _show(result: Result, out: Path | None) -> None:
    from ordino.experiment.papers.result import save, summary

    typer.echo(f"{result.target}: {result.title}")
    print_table(result.header, result.rows())
    for line in (*result.notes, f"{summary(result)}; {result.seconds:.0f} seconds"):
        typer.echo(line)
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    page, values = out / f"{result.target}.md", out / f"{result.target}.csv"
    pictures = [] if result.axes is None else save(result, out)
    page.write_text(result.to_markdown(), encoding="utf-8")
    values.write_text(result.to_csv(), encoding="utf-8")
    for path in (page, values, *pictures):
        typer.echo(f"{path}: written", err=True)
