"""``ordino evaluate``: how good an order is, by the rules of the tool of your choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ordino.cli.options import Json, Label, Qid

if TYPE_CHECKING:
    from ordino.metrics import Evaluation

METRICS = "ndcg@10,map,p@10,mrr"


def evaluate(
    first: Annotated[
        str | None,
        typer.Argument(metavar="DATA|MODEL", help="Labelled data (LETOR, Arrow, Parquet, CSV), or a model."),
    ] = None,
    second: Annotated[
        str | None, typer.Argument(metavar="SCORES|DATA", help="Scores, a number a line, or the data for a model.")
    ] = None,
    qrels: Annotated[str | None, typer.Option(help="TREC judgments, in place of DATA.")] = None,
    run: Annotated[str | None, typer.Option(help="TREC run, in place of SCORES.")] = None,
    metrics: Annotated[str, typer.Option("--metrics", "-m", help="Measures, separated by commas.")] = METRICS,
    profile: Annotated[
        str | None, typer.Option(help="Whose rules; the model's, `standard`, or `trec` with --qrels.")
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Print a line for each query as well.")] = False,
    complete: Annotated[bool, typer.Option("--complete", help="Judged queries missing in the run count 0.")] = False,
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

    names = [name.strip() for name in metrics.split(",") if name.strip()]
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
    """What a model is worth on a file of labelled data, by the profile that it was chosen by if none is given."""
    from ordino.cli.scored import score_file
    from ordino.metrics import evaluate as measure

    scored = score_file(model, data, label=label, qid=qid, labelled=True)
    rules = profile or scored.card["measure"]["profile"] or "standard"
    return measure(scored.data, scored.scores, metrics=metrics, profile=rules)


def measure_scores(
    data: str, scores: str, metrics: list[str], profile: str, *, label: str | None = None, qid: str | None = None
) -> Evaluation:
    """What a file of scores is worth on a file of labelled data."""
    from ordino.data.files import read_data
    from ordino.data.scores import read_scores
    from ordino.metrics import evaluate as measure

    documents = read_data(data, label=label, qid=qid)
    return measure(documents, read_scores(scores, n_docs=documents.n_docs), metrics=metrics, profile=profile)


def measure_run(qrels: str, run: str, metrics: list[str], profile: str, complete: bool) -> Evaluation:
    """What a TREC run is worth by TREC judgments."""
    from ordino.data.trec import join_run, read_qrels, read_run
    from ordino.metrics import evaluate as measure

    joined = join_run(read_qrels(qrels), read_run(run), complete=complete)
    return measure(joined.y, joined.scores, qid=joined.qid, doc_ids=joined.doc_ids, metrics=metrics, profile=profile)
