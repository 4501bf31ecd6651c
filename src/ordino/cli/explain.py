"""``ordino explain``: what a model's features are worth, and why a document stands above another."""

from typing import Annotated

import typer

from ordino.cli.options import Json, Label, ModelFile, Profile, Qid, Seed, chosen_seed, shared_options


def explain(
    model: ModelFile,
    data: Annotated[str | None, typer.Argument(help="Labeled data, for importance by a metric or for --why.")] = None,
    why: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Two documents of a query: ids, or row numbers starting at 0."),
    ] = None,
    metric: Annotated[str | None, typer.Option("--metric", "-m", help="The metric; by default the model's.")] = None,
    profile: Profile = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often each feature is shuffled.")] = 5,
    top: Annotated[int | None, typer.Option(min=1, help="Number of features to show, most important first.")] = None,
    label: Label = None,
    qid: Qid = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Show feature weights; with DATA, the cost of shuffling each feature; with --why, why A ranks above B.

    Example: ordino explain model.ordino test.txt --top 5

    Example: ordino explain linear.ordino

    Example: ordino explain model.ordino test.txt --why 0 1
    """
    from ordino.cli.output import print_found
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
        rows = [(one.feature, f"{one.weight:.4f}") for one in weights]
        print_found(json, [one._asdict() for one in weights], ["feature", "weight"], rows)
        return
    names = getattr(ranker, "feature_names_in_", None)
    features = None if names is None else [str(name) for name in names]
    width = ranker.n_features_in_
    documents = read_data(data, label=label, qid=qid, features=features, n_features=width, labelled=why is None)
    seed = chosen_seed(seed) or 0
    if why is not None:
        pair = find_pair(documents, *why)
        found = reasons_for(ranker, pair.a, pair.b, query=pair.query, seed=seed)
        reasons = [reason for reason in found.reasons if reason.adds][:top]
        table = [(r.feature, f"{r.a:.4g}", f"{r.b:.4g}", f"{r.adds:+.4f}") for r in reasons]
        if len(table) < len(found.reasons):
            rest = found.difference - sum(reason.adds for reason in reasons)
            table.append((f"{len(found.reasons) - len(table)} others", "", "", f"{rest:+.4f}"))
        table.append(("together", "", "", f"{found.difference:+.4f}"))
        print_found(json, found.to_dict(), ["feature", *why, "adds"], table)
        return
    n_jobs = shared_options().threads
    importances = permutation_importance(
        ranker, documents, metric=metric, profile=profile, repeats=repeats, seed=seed, n_jobs=n_jobs
    )[:top]
    lines = [(one.feature, f"{one.importance:+.4f}", f"{one.deviation:.4f}") for one in importances]
    print_found(json, [one._asdict() for one in importances], ["feature", "importance", "deviation"], lines)
