"""A model on data: ``ordino rank`` puts documents in order, ``evaluate`` measures an order, ``explain`` says why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordino.cli import options, shards
from ordino.cli.output import check_out, print_found, print_json, print_table, say

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset
    from ordino.metrics import Evaluation
    from ordino.model_file.files import Score

METRICS = "ndcg@10,map,p@10,mrr"


@options.reads_data
def rank(
    model: options.ModelFile,
    data: Annotated[
        str,
        typer.Argument(help="Documents to rank: a file (LETOR, Arrow, Parquet, CSV, JSON), shards, or - for a pipe."),
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="File to write, - for a pipe; for shards, a folder.")] = "-",
    format: Annotated[str | None, typer.Option(help="Format: {formats}; by default set by the extension.")] = None,
    cluster: options.Cluster = None,
    *,
    columns: options.Columns,
) -> None:
    """Score documents, in the order of the file: scores, a TREC run, or the input with the columns rank and score.

    A table needs no labels. Its columns are found by the names of the model's features, if these have names.

    Example: ordino rank model.ordino test.txt --out scores.txt

    Example: ordino rank model.ordino test.txt --out test.run

    Example: ordino rank model.ordino test.txt --out ranked.csv

    Example: ordino rank model.ordino shards --out ranked
    """
    from ordino.data.shards import is_sharded
    from ordino.data.trec import write_ranked

    if is_sharded(data):
        shards.refuse_columns(columns)
        shards.rank(model, data, out, format, cluster)
        return
    shards.refuse_cluster(cluster, data)
    check_out(out)
    score, _, documents, table = open_files(model, data, columns, labelled=False)
    write_ranked(documents, score(documents), out, form=format, table=table)
    if out != "-":
        say(f"{out}: {documents.n_docs:,} documents, {documents.n_queries:,} queries")


def open_files(
    model: str, source: str, columns: options.Columns, *, labelled: bool
) -> tuple[Score, dict[str, Any], Dataset, Any]:
    """A model with its card, and the documents to score with the Arrow table that they came in (or None)."""
    from ordino.model_file import load_scorer

    score, card = load_scorer(model)
    return score, card, *read_like(source, card["features"], as_in_training(card, columns), labelled=labelled)


def as_in_training(card: dict[str, Any], columns: options.Columns) -> options.Columns:
    """How data is read for a model: with the features that text was read with in training, unless others are chosen."""
    chosen = card.get("notes", {}).get("columns", {})
    if not chosen or columns.features or columns.drop:
        return columns
    features, drop = chosen["features"], chosen["drop"]
    return replace(columns, features=None if features is None else tuple(features), drop=tuple(drop))


def read_like(
    source: str, expected: dict[str, Any], columns: options.Columns, *, labelled: bool
) -> tuple[Dataset, Any]:
    """The documents of a file with the features of a model's card, and the Arrow table that they came in (or None).

    The features of a table are the columns that the model names, unless the command line chooses others; categories
    are those of the model, and text.
    """
    from ordino.data.dataset import Dataset
    from ordino.data.files import chosen_features, read_file, refuse_roles, table_data

    names = expected["names"]
    read = read_file(
        source,
        n_features=columns.text_width(expected["count"]),
        one_list=columns.one_list,
        zero_based=columns.zero_based,
        qid=columns.qid,
        doc_id=columns.doc_id,
    )
    chosen = {name: value for name, value in columns.given().items() if name != "zero_based"}
    if names is not None and not (isinstance(read, Dataset) and read.feature_names is None):
        chosen = {"features": names} | chosen
        chosen["drop"] = tuple(name for name in columns.drop if name in chosen["features"])
    if isinstance(read, Dataset):
        refuse_roles(read, source, chosen)
        return chosen_features(read, source, chosen.get("features"), chosen.get("drop", ())), None
    known = [name for name in expected.get("categories", ()) if name in read.column_names]
    chosen["categories"] = [*dict.fromkeys([*chosen.get("categories", ()), *known])]
    return table_data(read, source, labelled=labelled, has_text=True, **chosen), read


@options.reads_data
def evaluate(
    first: Annotated[str | None, typer.Argument(metavar="DATA|MODEL", help="Labeled data, or a model.")] = None,
    second: Annotated[str | None, typer.Argument(metavar="SCORES|DATA", help="Scores, one per line, or data.")] = None,
    qrels: Annotated[str | None, typer.Option(help="TREC judgments, instead of DATA.")] = None,
    run: Annotated[str | None, typer.Option(help="TREC run, instead of SCORES.")] = None,
    metrics: options.Metrics = METRICS,
    profile: options.Profile = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Also print one line per query.")] = False,
    complete: Annotated[bool, typer.Option("--complete", help="Count judged queries that the run lacks as 0.")] = False,
    cluster: options.Cluster = None,
    json: options.Json = False,
    *,
    columns: options.Columns,
) -> None:
    """Evaluate scores against labels, a model on labeled data, or a TREC run against judgments.

    Example: ordino evaluate model.ordino test.txt --metrics ndcg@10,map

    Example: ordino evaluate test.txt scores.txt --metrics ndcg@10,map --profile letor4

    Example: ordino evaluate --qrels qrels.txt --run run.txt

    Example: ordino evaluate model.ordino shards
    """
    from ordino.data.shards import is_sharded
    from ordino.model_file.container import is_model_file

    names = options.split_names(metrics)
    if first is not None and second is not None and qrels is None and run is None:
        if complete:
            raise typer.BadParameter("--complete belongs to --qrels and --run; leave it out")
        data, scorer = (second, first) if is_model_file(first) else (first, second)
        if is_sharded(data):
            shards.refuse_columns(columns)
            result = shards.evaluate(scorer, data, names, profile, cluster)
        else:
            shards.refuse_cluster(cluster, data)
            result = measure_file(data, scorer, names, profile, columns)
    elif qrels is not None and run is not None and first is None:
        if columns.given() or cluster is not None:
            raise typer.BadParameter("--qrels and --run have no columns, and are measured here: leave the others out")
        result = measure_run(qrels, run, names, profile or "trec", complete)
    else:
        raise typer.BadParameter("give DATA and SCORES, MODEL and DATA, or --qrels and --run")
    if json:
        queries = result.query_ids.tolist()
        values = {name: dict(zip(queries, column, strict=True)) for name, column in result.per_query.items()}
        print_json(result.to_dict() | ({"per_query": values} if per_query else {}))
        return
    if per_query:
        rows = zip(result.query_ids, *result.per_query.values(), strict=True)
        print_table(["query", *result], [(str(query), *(f"{value:.4f}" for value in row)) for query, *row in rows])
    typer.echo(str(result))


def measure_file(data: str, file: str, metrics: list[str], profile: str | None, columns: options.Columns) -> Evaluation:
    """Metrics of a model, or of a file of scores, on labeled data; by default in the model's profile."""
    from ordino.data.trec import read_scores
    from ordino.metrics import evaluate as measure
    from ordino.model_file.container import is_model_file
    from ordino.model_file.foreign import refuse_foreign

    for one in (file, data):
        refuse_foreign(one)
    if is_model_file(file):
        score, card, documents, _ = open_files(file, data, columns, labelled=True)
        documents, profile = documents.as_grouped(), profile or card["measure"]["profile"]
        scores = score(documents)
    else:
        documents = columns.read(data)
        scores = read_scores(file, n_docs=documents.n_docs)
    return measure(documents, scores, metrics=metrics, profile=profile or "standard")


def measure_run(qrels: str, run: str, metrics: list[str], profile: str, complete: bool) -> Evaluation:
    """Metrics of a TREC run by TREC judgments."""
    from ordino.data.trec import join_run, read_qrels, read_run
    from ordino.metrics import evaluate as measure

    joined = join_run(read_qrels(qrels), read_run(run), complete=complete)
    return measure(joined.y, joined.scores, qid=joined.qid, doc_ids=joined.doc_ids, metrics=metrics, profile=profile)


@options.reads_data
def explain(
    model: options.ModelFile,
    data: Annotated[str | None, typer.Argument(help="Labeled data, for importance by a metric or for --why.")] = None,
    why: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Two documents of a query: ids, or row numbers starting at 0."),
    ] = None,
    metric: Annotated[str | None, typer.Option("--metric", "-m", help="The metric; by default the model's.")] = None,
    profile: options.Profile = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often each feature is shuffled.")] = 5,
    top: Annotated[int | None, typer.Option(min=1, help="Number of features to show, most important first.")] = None,
    seed: options.Seed = None,
    json: options.Json = False,
    *,
    columns: options.Columns,
) -> None:
    """Show feature weights; with DATA, the cost of shuffling each feature; with --why, why A ranks above B.

    For an AutoRanker, its members and how much each of them adds are shown first.

    Example: ordino explain model.ordino test.txt --top 5

    Example: ordino explain linear.ordino

    Example: ordino explain model.ordino test.txt --why 0 1
    """
    from ordino.ensemble.summary import MEMBER_COLUMNS
    from ordino.explain import feature_weights, permutation_importance
    from ordino.explain import why as reasons_for
    from ordino.explain.why import find_pair
    from ordino.model_file import load, read_card
    from ordino.pipelines import last_step

    ranker = load(model)
    if data is None:
        if why is not None:
            raise typer.BadParameter("--why needs the DATA that the documents are in")
        weights = feature_weights(ranker)[:top]
        shown: Any = [one._asdict() for one in weights]
        last = last_step(ranker)
        if hasattr(last, "summary"):  # an ensemble: its members come first
            summary = last.summary()
            shown = summary.to_dict() | {"features": shown}
            if not json:
                say(summary.told_quality)
                print_table(MEMBER_COLUMNS, summary.member_rows())
        print_found(json, shown, ["feature", "weight"], [(one.feature, f"{one.weight:.4f}") for one in weights])
        return
    card = read_card(model)
    documents, _ = read_like(data, card["features"], as_in_training(card, columns), labelled=why is None)
    seed = options.chosen_seed(seed) or 0
    if why is not None:
        pair = find_pair(documents, *why)
        found = reasons_for(ranker, pair.a, pair.b, query=pair.query, seed=seed)
        reasons = [reason for reason in found.reasons if reason.adds][:top]
        table = [(r.feature, f"{r.a:.4g}", f"{r.b:.4g}", f"{r.adds:+.4f}") for r in reasons]
        if len(table) < len(found.reasons):
            rest = found.difference - sum(reason.adds for reason in reasons)
            table.append((f"{len(found.reasons) - len(table)} others", "", "", f"{rest:+.4f}"))
        table.append(("together", "", "", f"{found.difference:+.4f}"))
        table += [(f"by {member}", "", "", f"{adds:+.4f}") for member, adds in found.members]
        print_found(json, found.to_dict(), ["feature", *why, "adds"], table)
        return
    n_jobs = options.shared_options().threads
    importances = permutation_importance(
        ranker, documents, metric=metric, profile=profile, repeats=repeats, seed=seed, n_jobs=n_jobs
    )[:top]
    lines = [(one.feature, f"{one.importance:+.4f}", f"{one.deviation:.4f}") for one in importances]
    print_found(json, [one._asdict() for one in importances], ["feature", "importance", "deviation"], lines)
