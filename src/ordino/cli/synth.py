"""``ordino synth``: synthetic data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ordino.cli.options import Seed, chosen_seed


def synth(
    name: Annotated[str, typer.Argument(help="Name of the set; see `ordino synth list`.")],
    out: Annotated[Path | None, typer.Option(help="File to write, with one of the endings {endings}.")] = None,
    queries: Annotated[int | None, typer.Option(min=1, help="Number of queries; each set has its own default.")] = None,
    seed: Seed = None,
) -> None:
    """Make a synthetic data set with the shape of a published one.

    Example: ordino synth mq --queries 60 --seed 1 --out t.txt
    """
    from ordino.cli.output import first_line, print_table, say
    from ordino.data.files import write_data
    from ordino.data.synthetic import SYNTHETIC, synthetic

    if name == "list":
        print_table(["name", "what it is"], [(key, first_line(make)) for key, make in SYNTHETIC.items()])
        return
    if out is None:
        raise typer.BadParameter("name a file to write, for example --out data.txt", param_hint="--out")
    options = {} if queries is None else {"queries": queries}
    data = synthetic(name, seed=chosen_seed(seed) or 0, **options)
    write_data(data, out)
    say(f"{out}: {data.n_docs:,} documents, {data.n_queries:,} queries, {data.n_features} features")
