"""``ordino synth``: a data set made to measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def synth(
    name: Annotated[str, typer.Argument(help="Which set; `ordino synth list` tells them all.")],
    out: Annotated[Path | None, typer.Option(help="File to write (.txt, .txt.gz, .arrow, .parquet, .csv).")] = None,
    queries: Annotated[int | None, typer.Option(min=1, help="How many queries; each set has its own default.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 0,
) -> None:
    """Make a synthetic data set with the shape of a published one.

    Example: ordino synth mq --queries 60 --seed 1 --out t.txt
    """
    from ordino.cli.output import first_line, print_table
    from ordino.data.sources import write_data
    from ordino.data.synthetic import SYNTHETIC, synthetic

    if name == "list":
        print_table(["name", "what it is"], [(key, first_line(make)) for key, make in SYNTHETIC.items()])
        return
    if out is None:
        raise typer.BadParameter("say where to write the data, for example --out data.txt", param_hint="--out")
    options = {} if queries is None else {"queries": queries}
    data = synthetic(name, seed=seed, **options)
    write_data(data, out)
    typer.echo(f"{out}: {data.n_docs:,} documents, {data.n_queries:,} queries, {data.n_features} features", err=True)
