"""``ordino bench``: compare rankers on all folds, with repeats, into a store that every report is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordino.cli.evaluate import METRICS
from ordino.cli.options import Seed, chosen_seed, ranker_names, shared_options, split_names

if TYPE_CHECKING:
    from ordino.experiment.plan import Plan
    from ordino.experiment.store import Trial

STORE = "ordino.sqlite"

Metrics = Annotated[str, typer.Option("--metrics", "-m", help="Metrics, separated by commas.")]
Profile = Annotated[str, typer.Option(help="Metric profile.")]
Select = Annotated[str, typer.Option(help="Metric for model selection on validation data; the first by default.")]
NumberOfFolds = Annotated[int, typer.Option(help="Number of folds that a file is split into.")]
Out = Annotated[str, typer.Option("--out", "-o", help="The store; a stopped run continues from it.")]
Name = Annotated[str, typer.Option(help="Name of the experiment in the store.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of worker processes; all cores by default.")]


def bench(
    data: Annotated[list[str] | None, typer.Argument(help="Folders of folds, or files to split into folds.")] = None,
    rankers: Annotated[
        str, typer.Option("--rankers", "-r", help="Ranker names, separated by commas.", autocompletion=ranker_names)
    ] = "",
    plan: Annotated[str | None, typer.Option(help="A TOML file, instead of DATA and the other options.")] = None,
    repeats: Annotated[int, typer.Option(help="Repeats of each ranker that uses randomness.")] = 1,
    seed: Seed = None,
    metrics: Metrics = METRICS,
    profile: Profile = "standard",
    select: Select = "",
    param: Annotated[list[str] | None, typer.Option("--param", "-p", help="Such as ranknet.hidden=64,32.")] = None,
    grid: Annotated[list[str] | None, typer.Option(help="Values to try, such as ranknet.l2=0.01,0.1.")] = None,
    folds: NumberOfFolds = 5,
    out: Out = STORE,
    name: Name = "bench",
    n_jobs: Jobs = None,
) -> None:
    """Train and evaluate rankers on every fold; trials that are already in the store are not repeated.

    Example: ordino bench train.txt --rankers single-feature,rank-svm --folds 3 --n-jobs 1 --out bench.sqlite
    """
    from ordino.experiment.plan import Plan

    if (plan is None) == (not data):
        raise typer.BadParameter("give DATA and --rankers, or --plan")
    if plan is not None:
        run_and_show(Plan.from_toml(plan), out, n_jobs)
        return
    tables: dict[str, dict[str, Any]] = {one: {"ranker": one} for one in split_names(rankers)}
    for flag, field in ((param, "params"), (grid, "grid")):
        for text in flag or []:
            ranker, parameter, value = parameter_of(text)
            if ranker not in tables:
                raise typer.BadParameter(f"{text!r} is about {ranker!r}, which is not among --rankers")
            tables[ranker].setdefault(field, {})[parameter] = value
    settings = {"profile": profile, "select": select, "repeats": repeats, "folds": folds, "name": name}
    run_and_show(make_plan(data or [], list(tables.values()), metrics, seed, **settings), out, n_jobs)


def make_plan(data: list[str], rankers: list[dict[str, Any]], metrics: str, seed: int | None, **settings: Any) -> Plan:
    """A plan from the options of a command."""
    from ordino.experiment.plan import Plan

    measures = split_names(metrics)
    return Plan(data=data, rankers=rankers, measures=measures, seed=chosen_seed(seed) or 0, **settings)


def run_and_show(plan: Plan, out: str, n_jobs: int | None) -> list[Trial]:
    """Carry out a plan, print its tables and give its trials."""
    from ordino.experiment.report.board import make_boards
    from ordino.experiment.report.text import terminal
    from ordino.experiment.run import FailedTrialsError, run

    said = shared_options()
    try:
        trials = run(plan, out, n_jobs=n_jobs or said.threads, verbose=not said.quiet)
    except FailedTrialsError as error:
        typer.echo(terminal(make_boards(error.trials)), nl=False)
        raise
    typer.echo(terminal(make_boards(trials)))
    typer.echo(f"{len(trials)} trials in {out}; `ordino report {out} --out page.html` draws them")
    return trials


def parameter_of(text: str) -> tuple[str, str, Any]:
    """Ranker, parameter and value of ``ranknet.hidden=64,32``."""
    from ordino.parameters import parse_value

    target, equals, value = text.partition("=")
    ranker, dot, parameter = target.partition(".")
    if not (equals and dot):
        raise typer.BadParameter(f"{text!r} is not RANKER.PARAMETER=VALUE, such as ranknet.hidden=64,32")
    return ranker, parameter, parse_value(value)
