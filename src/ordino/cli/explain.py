"""``ordino explain``: what a model's features are worth, and why a document stands above another."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ordino.cli.options import Json, Label, Qid, Seed


def explain(
    model: Annotated[str, typer.Argument(help="Model file that `ordino train` or ordino.save wrote.")],
    data: Annotated[
        str | None, typer.Argument(help="Labelled data, for importance by a measure, or for --why.")
    ] = None,
    why: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Two documents of a query: ids, or rows of the file from 0."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", "-m", help="The measure; the model's own if not said.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Whose rules; the model's own if not said.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often each feature is shuffled.")] = 5,
    top: Annotated[int | None, typer.Option(min=1, help="Only so many features, the weightiest.")] = None,
    label: Label = None,
    qid: Qid = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Tell the weights of the features; with DATA what shuffling each costs; with --why what sets two documents apart.

    Example: ordino explain model.ordino test.txt --top 5

    Example: ordino explain linear.ordino

    Example: ordino explain model.ordino test.txt --why 0 1
    """
    from ordino.cli.options import chosen_seed, shared_options
    from ordino.cli.output import print_json, print_table
    from ordino.data.files import read_data
    from ordino.explain import feature_weights, permutation_importance
    from ordino.explain import why as reasons_for
    from ordino.explain.why import find_pair
    from ordino.model_file import load

    ranker = load(model)
    if data is None:
        if why is not None:
            raise typer.BadParameter("--why needs the DATA that the documents are in")
        weights = feature_weights(ranker)[:top]
        if json:
            print_json([weight._asdict() for weight in weights])
            return
        print_table(["feature", "weight"], [(one.feature, f"{one.weight:.4f}") for one in weights])
        return
    documents = read_data(
        data,
        label=label,
        qid=qid,
        features=_names(ranker),
        n_features=ranker.n_features_in_,
        labelled=why is None,
    )
    if why is not None:
        pair = find_pair(documents, *why)
        found = reasons_for(ranker, pair.a, pair.b, query=pair.query, seed=chosen_seed(seed) or 0)
        if json:
            print_json(found.to_dict())
            return
        reasons = [reason for reason in found.reasons if reason.adds][:top]
        rows = [(r.feature, f"{r.a:.4g}", f"{r.b:.4g}", f"{r.adds:+.4f}") for r in reasons]
        if len(rows) < len(found.reasons):
            rest = found.difference - sum(reason.adds for reason in reasons)
            rows.append((f"{len(found.reasons) - len(rows)} others", "", "", f"{rest:+.4f}"))
        print_table(["feature", why[0], why[1], "adds"], [*rows, ("together", "", "", f"{found.difference:+.4f}")])
        return
    importances = permutation_importance(
        ranker,
        documents,
        metric=metric,
        profile=profile,
        repeats=repeats,
        seed=chosen_seed(seed) or 0,
        n_jobs=shared_options().threads,
    )[:top]
    if json:
        print_json([one._asdict() for one in importances])
        return
    table = [(one.feature, f"{one.importance:+.4f}", f"{one.deviation:.4f}") for one in importances]
    print_table(["feature", "importance", "deviation"], table)


def _names(ranker: Any) -> list[str] | None:
    names = getattr(ranker, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
