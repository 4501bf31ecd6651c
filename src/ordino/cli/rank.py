"""``ordino rank``: the documents of a file in the order of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordino.cli.options import Label, Qid

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset
    from ordino.model_file.files import Scoring


def rank(
    model: Annotated[str, typer.Argument(help="Model file written by `ordino train` or ordino.save.")],
    data: Annotated[str, typer.Argument(help="Documents to rank (LETOR, Arrow, Parquet, CSV), or - for a pipe.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="File to write; its ending chooses the format. - is a pipe.")
    ] = "-",
    format: Annotated[str | None, typer.Option(help="{formats}; by default what the ending stands for.")] = None,
    label: Label = None,
    qid: Qid = None,
) -> None:
    """Score documents, in the order of the file: scores, a TREC run, or the input with the columns rank and score.

    A table needs no labels. Its columns are found by the names of the model's features, if these have names.

    Example: ordino rank model.ordino test.txt --out scores.txt

    Example: ordino rank model.ordino test.txt --out test.run

    Example: ordino rank model.ordino test.txt --out ranked.csv
    """
    from ordino.cli.output import say
    from ordino.data.trec import write_ranked

    scorer, _, documents, table = open_files(model, data, label=label, qid=qid, labelled=False)
    write_ranked(documents, scorer.predict(documents), out, form=format, table=table)
    if out != "-":
        say(f"{out}: {documents.n_docs:,} documents, {documents.n_queries:,} queries")


def open_files(
    model: str, source: str, *, label: str | None, qid: str | None, labelled: bool
) -> tuple[Scoring, dict[str, Any], Dataset, Any]:
    """A model with its card, and the documents to score with the Arrow table that they came in (or None).

    The features of a table are the columns that the model names.
    """
    from ordino.data.dataset import Dataset
    from ordino.data.files import read_file, table_data
    from ordino.model_file import load_scorer

    scorer, card = load_scorer(model)
    features = card["features"]
    read = read_file(source, n_features=features["count"])
    if isinstance(read, Dataset):
        return scorer, card, read, None
    data = table_data(read, source, features=features["names"], labelled=labelled, label=label, qid=qid)
    return scorer, card, data, read
