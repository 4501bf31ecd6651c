"""``ordino inspect``: what is in a file."""

from __future__ import annotations

from typing import Annotated

import typer


def inspect(
    files: Annotated[list[str], typer.Argument(help="Data files, or - for LETOR text on standard input.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell rows, queries, documents a query, labels and empty queries of data files.

    Example: ordino inspect train.txt
    """
    from ordino.cli.output import print_json
    from ordino.data.sources import read_data

    summaries = {file: read_data(file).describe() for file in files}
    if json:
        print_json({file: summary.to_dict() for file, summary in summaries.items()})
        return
    typer.echo("\n\n".join(f"{file}\n{summary}" for file, summary in summaries.items()))
