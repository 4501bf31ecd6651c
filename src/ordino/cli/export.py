"""Models that come and go: ``ordino export`` to an engine, ``import`` from a tool, ``distill`` into a simpler one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordino.cli import options
from ordino.cli.evaluate import as_in_training, read_like
from ordino.cli.output import check_out, print_found, say

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset


@options.reads_data
def export(
    model: options.ModelFile,
    to: Annotated[str, typer.Option("--to", help="The engine: {engines}.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to; it is made if needed.")],
    data: Annotated[str | None, typer.Option(help="Documents whose order must be the same in the engine.")] = None,
    name: Annotated[str, typer.Option(help="Name of the model in the engine.")] = "ordino",
    lift: Annotated[
        bool, typer.Option("--lift", help="Add a constant to trees, so that no score is negative.")
    ] = False,
    json: options.Json = False,
    *,
    columns: options.Columns,
) -> None:
    """Write a model for a search engine, with a certificate that the engine will rank the same.

    An emulator of the engine reads the written files and scores the rows of --data, and rows that are made for the
    model: its thresholds, one step around them, missing values, extremes. The exit code is 1 if an order changes where
    the engine could have told the documents apart.

    Example: ordino export linear.ordino --to solr --out solr-model --data test.txt

    Example: ordino export linear.ordino --to opensearch --out opensearch-model --name my_model
    """
    from ordino.export import export_model
    from ordino.export.page import rows_of, verdict
    from ordino.model_file import load, read_card

    _check_folder(out)
    ranker = load(model)
    documents = None if data is None else _like(read_card(model), data, columns)
    found = export_model(ranker, to, out, data=documents, name=name, lift=lift)
    certificate = found.certificate
    print_found(json, certificate.to_dict(), ["what was found", "probes", "data"], rows_of(certificate))
    say(f"{out}: {', '.join(sorted(found.files))}")
    for line in (certificate.relation[0].upper() + certificate.relation[1:] + ".", *certificate.notes):
        say(line)
    for command in found.commands:
        say(f"  {command}")
    say(verdict(certificate))
    if not certificate.passed:
        raise typer.Exit(1)


def _check_folder(out: Path) -> None:
    from ordino.errors import ParameterError

    if out.exists() and not out.is_dir():
        raise ParameterError(f"--out {out}: this is a file; name a folder")
    nearest = next(one for one in (out, *out.absolute().parents) if one.is_dir())
    check_out(nearest / "model.json", pipe=False)


def _like(card: dict[str, Any], source: str, columns: options.Columns, *, labelled: bool = False) -> Dataset:
    """The documents of a file with the features of a model's card."""
    return read_like(source, card["features"], as_in_training(card, columns), labelled=labelled)[0]


def import_file(
    file: Annotated[Path, typer.Argument(help="Model file of the other tool.")],
    source: Annotated[str, typer.Option("--from", help="The tool that wrote it: {tools}.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Number of features of a document, if the file names only some.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Read a model of RankLib (text), LightGBM (text) or XGBoost (JSON) and write it as an Ordino model.

    It then ranks, is evaluated, explained and exported like any other; it cannot be trained further.

    Example: ordino import ranklib.txt --from ranklib --n-features 46 --out imported.ordino
    """
    from ordino.imports import import_model
    from ordino.model_file import read_card, save

    check_out(out, pipe=False)
    ranker = import_model(file, source, n_features=n_features)
    save(ranker, out, notes={"imported": file.name})
    card = read_card(out)
    rows = [("model", ranker.source), ("kind", card["form"]), ("features", str(ranker.n_features_in_))]
    print_found(json, card, ["what", "value"], rows)
    say(f"{out}: {type(ranker).__name__}")


import_file.__name__ = "import"  # a word that Python keeps for itself


@options.reads_data
def distill(
    model: options.ModelFile,
    into: Annotated[str, typer.Option(help="The student: {students}.")],
    data: Annotated[str, typer.Option(help="Documents to learn the model's order from; labels serve only to measure.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
    test: Annotated[
        str | None, typer.Option(help="Labeled data to measure on; by default a quarter of --data.")
    ] = None,
    param: options.Param = None,
    seed: options.Seed = None,
    json: options.Json = False,
    *,
    columns: options.Columns,
) -> None:
    """Teach the order of any model to one that search engines can hold, and measure what is lost.

    The student learns from the scores of the model, never from labels; what is lost is measured on other queries.

    Example: ordino distill comparator.ordino --into rank-svm --data all.txt --out student.ordino
    """
    from ordino.cli.train import parsed_params
    from ordino.distilling import distill as teach
    from ordino.model_file import load, read_card, save

    check_out(out, pipe=False)
    teacher, card = load(model), read_card(model)
    params = parsed_params(into, param or [])
    documents = _like(card, data, columns, labelled=True)
    held_out = None if test is None else _like(card, test, columns, labelled=True)
    found = teach(teacher, into, documents, test=held_out, seed=options.chosen_seed(seed) or 0, params=params)
    notes = {"teacher": Path(model).name, "distilled": found.to_dict()}
    save(found.student, out, notes=notes | as_in_training(card, columns).noted(documents))
    rows = [
        (f"{found.loss.measure} of the teacher", f"{found.loss.mean_a:.4f}"),
        (f"{found.loss.measure} of the student", f"{found.loss.mean_b:.4f}"),
        ("lost", f"{found.loss.difference:+.4f}"),
        ("95 % interval", f"{found.loss.interval.low:+.4f} to {found.loss.interval.high:+.4f}"),
        ("queries", f"{found.queries:,}"),
        ("orders that change", f"{found.orders_changed:,}"),
        ("queries with another document on top", f"{found.tops_changed:,}"),
        ("pairs that stay in order", f"{found.pairs_kept:.1%}"),
    ]
    print_found(json, found.to_dict(), ["what", "value"], rows)
    say(f"{out}: {type(found.student).__name__}")
