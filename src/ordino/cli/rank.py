"""``ordino rank``: the documents of a file in the order of a model."""

from __future__ import annotations

from typing import Annotated

import typer

from ordino.cli.options import Label, Qid


def rank(
    model: Annotated[str, typer.Argument(help="Model file that `ordino train` or ordino.save wrote.")],
    data: Annotated[str, typer.Argument(help="Documents to rank (LETOR, Arrow, Parquet, CSV), or - for a pipe.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="Where to; .run, .csv, .parquet, .letor ... say how, - is a pipe.")
    ] = "-",
    format: Annotated[
        str | None, typer.Option(help="scores (a number a line), trec (a run), rows (the input with rank and score).")
    ] = None,
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
    from ordino.cli.scored import score_file
    from ordino.data.score_files import write_ranked

    scored = score_file(model, data, label=label, qid=qid, labelled=False)
    write_ranked(scored.data, scored.scores, out, form=format, table=scored.table)
    if out != "-":
        say(f"{out}: {scored.data.n_docs:,} documents, {scored.data.n_queries:,} queries")
