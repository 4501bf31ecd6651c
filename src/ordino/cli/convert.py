"""``ordino convert``: from one file format to another, with scaling, label rules and a split by query on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ordino.cli.options import Binarize, Scaling, Seed, chosen_seed, split_names


def convert(
    source: Annotated[str, typer.Argument(help="Data file to read, or - for a pipe.")],
    targets: Annotated[
        list[Path],
        typer.Argument(help="File to write, with one of the endings {endings}; - is a pipe. Several with --split."),
    ],
    split: Annotated[
        str | None,
        typer.Option(help="Share of the queries for each file, such as 0.6,0.2,0.2; the last may be left out."),
    ] = None,
    scaling: Scaling = None,
    binarize: Binarize = None,
    drop_empty: Annotated[
        bool, typer.Option("--drop-empty", help="Leave out queries with no relevant document.")
    ] = False,
    drop: Annotated[
        str | None, typer.Option(help="Features to leave out, by name or by number from 1, such as 42,43.")
    ] = None,
    seed: Seed = None,
) -> None:
    """Write a data file in another format, or cut it into parts that share no query; endings choose the formats.

    Example: ordino convert train.txt train.arrow --scaling minmax

    Example: ordino convert all.txt train.txt test.txt --split 0.75

    Example: ordino convert all.txt fewer.txt --drop 42,43
    """
    from ordino.cli.output import say
    from ordino.data.files import read_data, write_data
    from ordino.data.prepare import binarize_labels, drop_empty_queries, drop_features
    from ordino.data.scaling import make_scaler
    from ordino.errors import ParameterError

    data = read_data(source)
    if binarize is not None:
        data = binarize_labels(data, threshold=binarize)
    if drop_empty:
        data = drop_empty_queries(data)
    if drop is not None:
        data = drop_features(data, split_names(drop))
    try:
        shares = None if split is None else [float(share) for share in split.split(",")]
    except ValueError:
        raise ParameterError(f"--split {split!r} is not a list of shares; give for example 0.6,0.2,0.2") from None
    parts = (data,) if shares is None else data.split(*shares, seed=chosen_seed(seed) or 0)
    if len(parts) != len(targets):
        raise ParameterError(
            f"there are {len(parts)} parts for {len(targets)} files; give --split one share for each file, such as "
            f"--split {','.join(['0.6', '0.2', '0.2'][: len(targets)])}"
        )
    scaler = None if scaling is None else make_scaler(scaling).fit(parts[0])  # test data must not shape the scaling
    for part, target in zip(parts, targets, strict=True):
        write_data(part if scaler is None else scaler.transform(part), target)
        say(f"{target}: {part.n_docs:,} documents, {part.n_queries:,} queries, {part.n_features} features")
