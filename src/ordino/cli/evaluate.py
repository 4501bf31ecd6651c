"""``ordino evaluate``: how good an order is, by any tool's metric conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ordino.cli.options import Json, Label, Metrics, Qid, split_names

if TYPE_CHECKING:
    from ordino.metrics import Evaluation

METRICS = "ndcg@10,map,p@10,mrr"


def evaluate(
    first: Annotated[
        str | None,
        typer.Argument(metavar="DATA|MODEL", help="Labelled data (LETOR, Arrow, Parquet, CSV), or a model."),
    ] = None,
    second: Annotated[
        str | None, typer.Argument(metavar="SCORES|DATA", help="Scores, one number per line, or the data for a model.")
    ] = None,
    qrels: Annotated[str | None, typer.Option(help="TREC judgments, instead of DATA.")] = None,
    run: Annotated[str | None, typer.Option(help="TREC run, instead of SCORES.")] = None,
    metrics: Metrics = METRICS,
    profile: Annotated[
        str | None,
        typer.Option(help="Metric profile: {profiles}; by default the model's, `standard`, or `trec` with --qrels."),
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Also print one line per query.")] = False,
    complete: Annotated[bool, typer.Option("--complete", help="Count judged queries missing in the run as 0.")] = False,
    label: Label = None,
    qid: Qid = None,
    json: Json = False,
) -> None:
    """Measure scores against labels, a model on labelled data, or a TREC run against judgments.

    Example: ordino evaluate model.ordino test.txt --metrics ndcg@10,map

    Example: ordino evaluate test.txt scores.txt --metrics ndcg@10,map --profile letor4

    Example: ordino evaluate --qrels qrels.txt --run run.txt
    """
    from ordino.cli.output import print_json, print_table
    from ordino.model_file.container import is_model_file

    names = split_names(metrics)
    if first is not None and second is not None and qrels is None and run is None:
        if is_model_file(first):
            result = measure_model(first, second, names, profile, label=label, qid=qid)
        else:
            result = measure_scores(first, second, names, profile or "standard", label=label, qid=qid)
    elif qrels is not None and run is not None and first is None:
        result = measure_run(qrels, run, names, profile or "trec", complete)
    else:
        raise typer.BadParameter("give DATA and SCORES, MODEL and DATA, or --qrels and --run")
    if json:
        values = {
            name: dict(zip(result.query_ids.tolist(), column, strict=True)) for name, column in result.per_query.items()
        }
        print_json(result.to_dict() | ({"per_query": values} if per_query else {}))
        return
    if per_query:
        columns = ["query", *result]
        rows = zip(result.query_ids, *result.per_query.values(), strict=True)
        print_table(columns, [(str(query), *(f"{value:.4f}" for value in row)) for query, *row in rows])
    typer.echo(str(result))


def measure_model(
    model: str, data: str, metrics: list[str], profile: str | None, *, label: str | None = None, qid: str | None = None
) -> Evaluation:
    """Metrics of a model on a file of labelled data; by default in the profile that the model was selected with."""
    from ordino.cli.rank import open_files
    from ordino.metrics import evaluate as measure

    scorer, card, documents, _ = open_files(model, data, label=label, qid=qid, labelled=True)
    documents = documents.as_grouped()
    rules = profile or card["measure"]["profile"] or "standard"
    return measure(documents, scorer.predict(documents), metrics=metrics, profile=rules)


def measure_scores(
    data: str, scores: str, metrics: list[str], profile: str, *, label: str | None = None, qid: str | None = None
) -> Evaluation:
    """Metrics of a file of scores on a file of labelled data."""
    from ordino.data.files import read_data
    from ordino.data.trec import read_scores
    from ordino.metrics import evaluate as measure

    documents = read_data(data, label=label, qid=qid)
    return measure(documents, read_scores(scores, n_docs=documents.n_docs), metrics=metrics, profile=profile)


def measure_run(qrels: str, run: str, metrics: list[str], profile: str, complete: bool) -> Evaluation:
    """Metrics of a TREC run by TREC judgments."""
    from ordino.data.trec import join_run, read_qrels, read_run
    from ordino.metrics import evaluate as measure

    joined = join_run(read_qrels(qrels), read_run(run), complete=complete)
    return measure(joined.y, joined.scores, qid=joined.qid, doc_ids=joined.doc_ids, metrics=metrics, profile=profile)
