"""``ordino reproduce``: a paper's table or figure, run again beside the paper's own numbers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordino.cli.options import shared_options

if TYPE_CHECKING:
    from ordino.experiment.papers.result import Result


def reproduce(
    targets: Annotated[list[str] | None, typer.Argument(help="Which, for example ranknet.table1; see --list.")] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Tell every target, what it needs and how long it takes.")
    ] = False,
    data: Annotated[Path | None, typer.Option(help="Folder with the collections, or with Fold1, Fold2, ...")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only see that it runs; the numbers mean nothing.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="The first seed; the same seed gives the same numbers.")] = 0,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="At most so many seeds of each setting; the page says so.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the table (.md, .csv) and figure (.png, .svg).")] = None,
    keep: Annotated[
        Path | None, typer.Option(help="Folder for what was trained; a stopped run goes on from there.")
    ] = None,
    n_jobs: Annotated[int | None, typer.Option(min=1, help="Processes that train; all cores by default.")] = None,
) -> None:
    """Run a table or figure of a paper again: paper, ours with its deviation, difference.

    Example: ordino reproduce --list

    Example: ordino reproduce ranknet.table2 --quick
    """
    from ordino.cli.output import print_table
    from ordino.experiment.papers.catalogue import TARGETS
    from ordino.experiment.papers.catalogue import reproduce as run
    from ordino.experiment.papers.request import Request
    from ordino.experiment.papers.result import summary

    if list_:
        rows = [(name, target.shows, target.needs, target.takes) for name, target in TARGETS.items()]
        print_table(["target", "what it shows", "data it needs", "takes about"], rows)
        return
    if not targets:
        raise typer.BadParameter("name a target, for example ranknet.table1; --list tells them all")
    said = shared_options()
    cores = 1 if quick else os.cpu_count() or 1
    # one request for all: what two targets need is trained once
    request = Request(
        data, quick, seed, repeats, kept=keep, n_jobs=n_jobs or said.threads or cores, verbose=not said.quiet
    )
    for name in targets:
        try:
            result = run(name, request)
        except KeyboardInterrupt:
            rest = "" if keep is None else f"; the same command goes on from what is in {keep}"
            sys.stderr.write(f"ordino: {name} was stopped{rest}\n")
            raise typer.Exit(130) from None
        typer.echo(f"{result.target}: {result.title}")
        print_table(result.header, result.rows())
        for line in (*result.notes, f"{summary(result)}; {result.seconds:.0f} seconds"):
            typer.echo(line)
        if out is not None:
            for path in _write(result, out):
                typer.echo(f"{path}: written", err=True)


def _write(result: Result, folder: Path) -> list[Path]:
    from ordino.experiment.papers.figure import save

    folder.mkdir(parents=True, exist_ok=True)
    page, values = folder / f"{result.target}.md", folder / f"{result.target}.csv"
    pictures = [] if result.figure is None else save(result, folder)
    page.write_text(result.to_markdown(), encoding="utf-8")
    values.write_text(result.to_csv(), encoding="utf-8")
    return [page, values, *pictures]
