"""``ordino inspect``: what is in a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ordino.cli.options import Json, shared_options


def inspect(
    files: Annotated[list[str], typer.Argument(help="Data files or model files, or - for data from a pipe.")],
    audit: Annotated[
        str | None, typer.Option(metavar="DATA", help="Measure on this data how transitive a comparator is.")
    ] = None,
    json: Json = False,
) -> None:
    """Show rows, queries, labels and empty queries of data files, and the card of model files.

    Example: ordino inspect train.txt

    Example: ordino inspect model.ordino

    Example: ordino inspect comparator.ordino --audit test.txt
    """
    from ordino.cli.output import print_json

    found = {file: _described(file) if audit is None else _audited(file, audit) for file in files}
    if json:
        print_json({file: facts for file, (facts, _) in found.items()})
        return
    typer.echo("\n\n".join(f"{file}\n{text}" for file, (_, text) in found.items()))


def _described(file: str) -> tuple[dict[str, Any], str]:
    """What is in a file, as facts and as text."""
    from ordino.data.files import read_data
    from ordino.model_file import is_model_file, read_card

    if is_model_file(file):
        card = read_card(file)
        return card, "\n".join(_lines(card, ""))
    summary = read_data(file).describe()
    return summary.to_dict(), str(summary)


def _audited(model: str, data: str) -> tuple[dict[str, Any], str]:
    """The audit of a comparator, as facts and as text."""
    from ordino.data.files import read_data
    from ordino.errors import ParameterError
    from ordino.model_file import load
    from ordino.order.audit import audit

    ranker = load(model)
    if not hasattr(ranker, "network_"):
        raise ParameterError(f"{model}: a {type(ranker).__name__} gives scores, which are always transitive")
    documents = ranker.prepared(read_data(data, n_features=ranker.n_features_in_))
    found = audit(ranker.network_, documents, n_jobs=shared_options().threads)
    return found.to_dict(), str(found)


def _lines(facts: dict[str, Any], indent: str) -> Iterator[str]:
    """A card as an outline."""
    for key, value in facts.items():
        if isinstance(value, dict):
            yield f"{indent}{key}"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}"
