"""The commands for data files: ``ordino synth``, ``inspect`` (of model files too), ``doctor`` and ``convert``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordino.cli.options import Binarize, Columns, Json, Scaling, Seed, chosen_seed, reads_data, shared_options
from ordino.cli.output import check_out, first_line, print_found, print_json, print_table, say
from ordino.cli.shards import synthetic_parts
from ordino.cli.shards import write as write_shards
from ordino.plain import plain

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset


def synth(
    name: Annotated[str, typer.Argument(help="Name of the data set; see `ordino synth list`.")],
    out: Annotated[
        Path | None,
        typer.Option(help="File to write, with one of the extensions {endings}; with --folds, a folder."),
    ] = None,
    queries: Annotated[int | None, typer.Option(min=1, help="Number of queries; the default depends on NAME.")] = None,
    folds: Annotated[
        int | None, typer.Option(min=3, help="Write this many folds as LETOR does: OUT/Fold1/train.txt, vali.txt, ...")
    ] = None,
    shards: Annotated[
        int | None, typer.Option(min=1, help="Write a folder of this many shards, for data of any size.")
    ] = None,
    seed: Seed = None,
) -> None:
    """Make a synthetic data set with the shape of a published one.

    Example: ordino synth mq --queries 60 --seed 1 --out t.txt

    Example: ordino synth td --queries 5 --folds 5 --out td

    Example: ordino synth mq --queries 60 --shards 4 --out many
    """
    from ordino.data.folds import make_folds, write_folds
    from ordino.data.synthetic import SYNTHETIC, synthetic

    if name == "list":
        print_table(["name", "what it is"], [(key, first_line(make)) for key, make in SYNTHETIC.items()])
        return
    if out is None:
        raise typer.BadParameter("name a file to write, for example --out data.txt", param_hint="--out")
    options = {} if queries is None else {"queries": queries}
    chosen = chosen_seed(seed) or 0
    if shards is not None:
        if queries is None or folds is not None:
            raise typer.BadParameter("--shards needs --queries, and goes without --folds")
        write_shards(synthetic_parts(name, queries, chosen), out, shards)
        return
    data = synthetic(name, seed=chosen, **options)
    if folds is None:
        _write(data, out)
    else:
        write_folds(make_folds(data, folds, seed=chosen), out)
        say(
            f"{out}: {folds} folds of {data.n_docs:,} documents, {data.n_queries:,} queries, {data.n_features} features"
        )


def _write(data: Dataset, path: Path) -> None:
    from ordino.data.files import write_data

    write_data(data, path)
    say(f"{path}: {data.n_docs:,} documents, {data.n_queries:,} queries, {data.n_features} features")


@reads_data
def inspect(
    files: Annotated[list[str], typer.Argument(help="Data files or model files, or - for data from a pipe.")],
    audit: Annotated[str | None, typer.Option(metavar="DATA", help="Measure how transitive a comparator is.")] = None,
    json: Json = False,
    *,
    columns: Columns,
) -> None:
    """Show the documents, queries and labels of data files, and the card of model files.

    Example: ordino inspect train.txt

    Example: ordino inspect model.ordino

    Example: ordino inspect comparator.ordino --audit test.txt
    """
    found = {file: _described(file, columns) if audit is None else _audited(file, audit, columns) for file in files}
    if json:
        print_json({file: facts for file, (facts, _) in found.items()})
    else:
        typer.echo("\n\n".join(f"{file}\n{text}" for file, (_, text) in found.items()))


def _described(file: str, columns: Columns) -> tuple[dict[str, Any], str]:
    """What is in a file, as facts and as text."""
    from ordino.model_file import is_model_file, read_card

    if is_model_file(file):
        card = read_card(file)
        return card, "\n".join(_lines(card, ""))
    summary = columns.read(file).describe()
    return summary.to_dict(), str(summary)


def _audited(model: str, data: str, columns: Columns) -> tuple[dict[str, Any], str]:
    """The audit of a comparator, as facts and as text."""
    from ordino.cli.evaluate import as_in_training, read_like
    from ordino.errors import ParameterError
    from ordino.model_file import load, read_card
    from ordino.order.audit import audit

    ranker = load(model)
    if not hasattr(ranker, "network_"):
        raise ParameterError(f"{model}: a {type(ranker).__name__} gives scores, which are always transitive")
    card = read_card(model)
    documents, _ = read_like(data, card["features"], as_in_training(card, columns), labelled=True)
    found = audit(
        ranker.network_, ranker.prepared(documents), algorithm=ranker.algorithm, n_jobs=shared_options().threads
    )
    return found.to_dict(), str(found)


def _lines(facts: dict[str, Any], indent: str) -> Iterator[str]:
    """A card as an outline."""
    for key, value in facts.items():
        if isinstance(value, dict):
            yield plain(f"{indent}{key}")
            yield from _lines(value, indent + "  ")
        else:
            yield plain(f"{indent}{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}")


@reads_data
def doctor(
    files: Annotated[list[str], typer.Argument(help="Data files that belong together, such as train.txt test.txt.")],
    json: Json = False,
    *,
    columns: Columns,
) -> None:
    """Find problems that would hurt training or comparison, each with a fix; the exit code is 1 if any error is found.

    Example: ordino doctor train.txt test.txt
    """
    from ordino.data.doctor import examine, format_findings, without_queries
    from ordino.errors import NoQueriesError

    read, findings = {}, []
    for file in files:
        try:
            read[file] = columns.read(file)
        except NoQueriesError:
            read[file] = replace(columns, one_list=True).read(file)
            findings.append(without_queries(file, read[file].n_docs))
    findings += examine(read)
    if findings or json:
        rows = [(found.severity, found.where, found.what, found.fix) for found in findings]
        print_found(json, [asdict(found) for found in findings], ["severity", "where", "what", "fix"], rows)
    else:
        typer.echo(format_findings(findings))
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


@reads_data
def convert(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE TARGET...",
            help="Data file to read, or - for a pipe (not with --run). File to write: {endings}; several with --split.",
        ),
    ],
    run: Annotated[
        list[str] | None, typer.Option(help="Make data from TREC runs, as name=file; repeatable, in place of SOURCE.")
    ] = None,
    qrels: Annotated[str | None, typer.Option(help="TREC judgments for --run; without them all labels are 0.")] = None,
    unjudged: Annotated[str, typer.Option(help="Documents without a judgment, with --run: {unjudged}.")] = "zero",
    split: Annotated[
        str | None, typer.Option(help="Share of queries for each file, such as 0.6,0.2,0.2; the last is optional.")
    ] = None,
    scaling: Scaling = None,
    binarize: Binarize = None,
    drop_empty: Annotated[bool, typer.Option("--drop-empty", help="Drop queries with nothing relevant.")] = False,
    shards: Annotated[
        int | None, typer.Option(min=1, help="Write a folder of this many shards, for data larger than memory.")
    ] = None,
    seed: Seed = None,
    *,
    columns: Columns,
) -> None:
    """Convert a data file to another format, chosen by the extension, or split it into parts that share no query.

    With --run, runs of several retrievers become one data set: score, rank, reciprocal rank and "missing" of each run
    are the features of a document. --features then names files with more, found by doc_id, qid or both.

    Example: ordino convert train.txt train.arrow --scaling minmax

    Example: ordino convert all.txt train.txt test.txt --split 0.75

    Example: ordino convert all.txt fewer.txt --drop 42,43

    Example: ordino convert all.txt shards --shards 4

    Example: ordino convert --run bm25=run.txt --run dense=other-run.txt --qrels qrels.txt hybrid.parquet
    """
    from ordino.data.parts import read_parts
    from ordino.data.prepare import binarize_labels, drop_empty_queries
    from ordino.data.scaling import make_scaler
    from ordino.errors import ParameterError

    targets = [Path(file) for file in (files if run else files[1:])]
    if not targets:
        raise typer.BadParameter("name the file to read and the file to write", param_hint="SOURCE TARGET...")
    if run is None and (qrels is not None or unjudged != "zero"):
        raise typer.BadParameter("--qrels and --unjudged belong to --run; give runs as --run name=file")
    if run is not None and (wrong := sorted({*columns.given()} - {"qid", "doc_id", "features", "drop"})):
        names = ", ".join(f"--{name.replace('_', '-')}" for name in wrong)
        raise typer.BadParameter(f"{names} says how DATA is read; runs have no such columns: leave it out")
    if shards is not None:
        if split is not None or scaling is not None or run is not None or len(targets) != 1:
            raise ParameterError(
                "--shards writes one folder, without --split, --scaling and --run: a ranker scales shards itself"
            )
        parts = read_parts(files[0], **columns.given())
        if binarize is not None:
            parts = (binarize_labels(part, threshold=binarize) for part in parts)
        write_shards(map(drop_empty_queries, parts) if drop_empty else parts, targets[0], shards)
        return
    for target in targets:
        check_out(target)
    data = columns.read(files[0]) if run is None else _joined(run, qrels, unjudged, columns)
    if binarize is not None:
        data = binarize_labels(data, threshold=binarize)
    if drop_empty:
        data = drop_empty_queries(data)
    try:
        shares = None if split is None else [float(share) for share in split.split(",")]
    except ValueError:
        raise ParameterError(f"--split {split!r} is not a list of shares; give for example 0.6,0.2,0.2") from None
    pieces = (data,) if shares is None else data.split(*shares, seed=chosen_seed(seed) or 0)
    if len(pieces) != len(targets):
        example = ",".join(["0.6", "0.2", "0.2"][: len(targets)])
        fix = f"give --split one share for each file, such as --split {example}"
        raise ParameterError(f"there are {len(pieces)} parts for {len(targets)} files; {fix}")
    scaler = None if scaling is None else make_scaler(scaling).fit(pieces[0])  # test data must not shape the scaling
    for part, target in zip(pieces, targets, strict=True):
        _write(part if scaler is None else scaler.transform(part), target)


def _joined(runs: list[str], qrels: str | None, unjudged: str, columns: Columns) -> Dataset:
    """The data set of several runs, with more features from files; says how much of what is relevant they found."""
    from ordino.data.prepare import drop_features
    from ordino.data.runs import from_runs
    from ordino.data.trec import read_qrels
    from ordino.errors import ParameterError

    named: dict[str, str] = {}
    for word in runs:
        name, equals, path = word.partition("=")
        if not equals or not name or not path:
            raise ParameterError(f"--run {word!r} has no name; write name=file, such as bm25=bm25.run")
        if name in named:
            raise ParameterError(f"--run {name} is given twice; give every run its own name")
        named[name] = path
    judgments = None if qrels is None else read_qrels(qrels)
    keys = {"qid": columns.qid or "qid", "doc_id": columns.doc_id or "doc_id"}
    data = from_runs(named, judgments, unjudged=unjudged, features=columns.features, **keys)
    if judgments is not None and data.judged is not None:
        n_relevant = sum(label > 0 for query in data.query_ids.tolist() for label in judgments[query].values())
        found, judged = int((data.y > 0).sum()), int(data.judged.sum())
        share = f"{judged:,} of {data.n_docs:,} are judged"
        say(f"the runs retrieved {found:,} of {n_relevant:,} relevant documents; {share}")
    return drop_features(data, columns.drop) if columns.drop else data
