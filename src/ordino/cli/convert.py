"""``ordino convert``: from one file format to another, with scaling and label rules on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def convert(
    source: Annotated[str, typer.Argument(help="Data file to read, or - for a pipe.")],
    target: Annotated[Path, typer.Argument(help="File to write (.txt, .txt.gz, .arrow, .parquet, .csv); - is a pipe.")],
    scale: Annotated[str | None, typer.Option(help="Scale the features: a name such as minmax or zscore.")] = None,
    binarize: Annotated[float | None, typer.Option(help="Labels from this value on become 1, others 0.")] = None,
    drop_empty: Annotated[
        bool, typer.Option("--drop-empty", help="Leave out queries with no relevant document.")
    ] = False,
) -> None:
    """Write a data file in another format; the formats are known by their endings.

    Example: ordino convert train.txt train.arrow --scale minmax
    """
    from ordino.cli.output import say
    from ordino.data.prepare import binarize_labels, drop_empty_queries
    from ordino.data.scaling import make_scaler
    from ordino.data.sources import read_data, write_data

    data = read_data(source)
    if binarize is not None:
        data = binarize_labels(data, threshold=binarize)
    if drop_empty:
        data = drop_empty_queries(data)
    if scale is not None:
        data = make_scaler(scale).fit(data).transform(data)
    write_data(data, target)
    say(f"{target}: {data.n_docs:,} documents, {data.n_queries:,} queries, {data.n_features} features")
