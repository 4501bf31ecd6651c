"""Experiments: ``ordino bench`` compares rankers, ``search`` tunes one, ``reproduce`` runs a paper's table again."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordino.cli.evaluate import METRICS
from ordino.cli.options import (
    Cluster,
    Columns,
    RankerName,
    Seed,
    chosen_seed,
    command_line,
    ranker_names,
    reads_data,
    shared_options,
    split_names,
)  # fmt: skip
from ordino.cli.output import check_out, print_table, say
from ordino.interrupts import PRESSES

if TYPE_CHECKING:
    from ordino.experiment.papers.result import Result
    from ordino.experiment.plan import Plan
    from ordino.experiment.store import Trial

STORE = "ordino.sqlite"
LOG_FROM = 50.0  # a range whose ends differ by this factor is drawn by its logarithm

Metrics = Annotated[str, typer.Option("--metrics", "-m", help="Metrics, separated by commas.")]
Profile = Annotated[str, typer.Option(help="Metric profile.")]
Select = Annotated[str, typer.Option(help="Metric for model selection on validation data; the first by default.")]
NumberOfFolds = Annotated[int, typer.Option(help="Number of folds that a file is split into.")]
Out = Annotated[str, typer.Option("--out", "-o", help="The store; a stopped run continues from it.")]
Name = Annotated[str, typer.Option(help="Name of the experiment in the store.")]
Rankings = Annotated[
    int, typer.Option(min=0, help="Megabytes of rankings to keep beside the store for the studio; 0 keeps none.")
]
Models = Annotated[
    bool, typer.Option("--models", help="Keep models and test documents beside the store, for the studio's Why.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of worker processes; the free processors by default.")]


@reads_data
def bench(
    data: Annotated[list[str] | None, typer.Argument(help="Folders of folds, or files to split into folds.")] = None,
    rankers: Annotated[
        str,
        typer.Option(
            "--rankers",
            "-r",
            help="Ranker names, model files or score files, separated by commas.",
            autocompletion=ranker_names,
        ),
    ] = "",
    plan: Annotated[str | None, typer.Option(help="A TOML file, instead of DATA and the other options.")] = None,
    repeats: Annotated[int, typer.Option(help="Repeats of each ranker that uses randomness.")] = 1,
    seed: Seed = None,
    metrics: Metrics = METRICS,
    profile: Profile = "standard",
    select: Select = "",
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="A parameter, such as ranknet.hidden=64,32.")
    ] = None,
    grid: Annotated[list[str] | None, typer.Option(help="Values to choose from, such as ranknet.l2=0.01,0.1.")] = None,
    folds: NumberOfFolds = 5,
    out: Out = STORE,
    name: Name = "bench",
    rankings: Rankings = 1000,
    models: Models = False,
    n_jobs: Jobs = None,
    cluster: Cluster = None,
    *,
    columns: Columns,
) -> None:
    """Train and evaluate rankers on every fold; trials that are already in the store are not repeated.

    A saved model, a TREC run or a file with one score per row competes as it is; {fold} in its name is the fold's name.

    Example: ordino bench train.txt --rankers single-feature,rank-svm --folds 3 --n-jobs 1 --out bench.sqlite

    Example: ordino bench test.txt --rankers rank-svm,model.ordino,scores.txt --folds 3 --n-jobs 1 --out bench2.sqlite
    """
    from ordino.experiment.plan import Plan

    if (plan is None) == (not data):
        raise typer.BadParameter("give DATA and --rankers, or --plan")
    if plan is not None:
        if columns.given():
            raise typer.BadParameter("--plan has its own `columns`: write qid, label and the others there")
        run_and_show(Plan.from_toml(plan), out, n_jobs, cluster, rankings, models)
        return
    tables: dict[str, dict[str, Any]] = {one: {"ranker": one} for one in split_names(rankers)}
    for flag, field in ((param, "params"), (grid, "grid")):
        for text in flag or []:
            ranker, parameter, value = parameter_of(text)
            if ranker not in tables:
                raise typer.BadParameter(f"{text!r} is about {ranker!r}, which is not among --rankers")
            tables[ranker].setdefault(field, {})[parameter] = value
    settings = {"profile": profile, "select": select, "repeats": repeats, "folds": folds, "name": name}
    settings["columns"] = columns.given()
    planned = make_plan(data or [], list(tables.values()), metrics, seed, **settings)
    run_and_show(planned, out, n_jobs, cluster, rankings, models)


@reads_data
def search(
    data: Annotated[list[str], typer.Argument(help="Folders of folds, or files to split into folds.")],
    ranker: RankerName,
    trials: Annotated[int, typer.Option(help="Number of settings to try on each fold.")] = 30,
    space: Annotated[list[str] | None, typer.Option(help="Search space, as l2=0.1..1 or hidden=[[8],[16]].")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="A parameter to fix, such as epochs=20.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Number of repeats of the best setting.")] = 1,
    seed: Seed = None,
    metrics: Metrics = METRICS,
    profile: Profile = "standard",
    select: Select = "",
    folds: NumberOfFolds = 5,
    out: Out = STORE,
    name: Name = "search",
    rankings: Rankings = 1000,
    models: Models = False,
    n_jobs: Jobs = None,
    cluster: Cluster = None,
    *,
    columns: Columns,
) -> None:
    """Tune a ranker with Optuna; by default, every parameter that has a search space is tuned.

    Example: ordino search train.txt --ranker rank-svm --trials 3 --folds 3 --n-jobs 1 --out search.sqlite
    """
    from ordino.errors import import_extra
    from ordino.parameters import parse_value

    import_extra("optuna", extra="search", purpose="ordino search")
    if trials < 1:
        raise typer.BadParameter("--trials must be 1 or more")
    fixed = {parameter: parse_value(value) for parameter, value in map(_named, param or [])}
    ranges = {parameter: _range(value) for parameter, value in map(_named, space or [])}
    settings = {"profile": profile, "select": select, "repeats": repeats, "folds": folds, "name": name}
    settings["columns"] = columns.given()
    entry = {"ranker": ranker, "params": fixed, "trials": trials, "space": ranges}
    plan = make_plan(data, [entry], metrics, seed, **settings)
    made = run_and_show(plan, out, n_jobs, cluster, rankings, models)
    chosen = {(trial.dataset, trial.fold): trial for trial in made}
    rows = [
        (*place, f"{trial.valid[plan.selection]:.4f}", ", ".join(f"{k}={v}" for k, v in trial.params.items()))
        for place, trial in chosen.items()
    ]
    print_table(["data", "fold", f"{plan.selection} on validation", "parameters"], rows)


def make_plan(data: list[str], rankers: list[dict[str, Any]], metrics: str, seed: int | None, **settings: Any) -> Plan:
    """A plan from the options of a command."""
    from ordino.experiment.plan import Plan

    measures = split_names(metrics)
    return Plan(data=data, rankers=rankers, measures=measures, seed=chosen_seed(seed) or 0, **settings)


def run_and_show(
    plan: Plan, out: str, n_jobs: int | None, cluster: str | None, rankings: int, models: bool
) -> list[Trial]:
    """Carry out a plan, print its tables and give its trials."""
    from ordino.errors import OrdinoError
    from ordino.experiment.run import FailedTrialsError, run
    from ordino.experiment.store.kept import models_folder

    said = shared_options()
    check_out(out)
    try:
        trials = run(
            plan, out, n_jobs=n_jobs or said.threads, verbose=not said.quiet, rankings=rankings, documents=models,
            models=models_folder(out) if models else None, command=command_line(), cluster=cluster,
        )  # fmt: skip
    except FailedTrialsError as error:
        typer.echo(_tables(out, error.trials), nl=False)
        raise
    except (KeyboardInterrupt, OrdinoError) as error:  # a press may also come out as an error of what it hit
        if isinstance(error, OrdinoError) and not PRESSES.pressed:
            raise
        say(f"ordino: stopped; what is done is in {out}, and the same command goes on from there")
        raise typer.Exit(130) from None
    typer.echo(_tables(out, trials))
    typer.echo(f"{len(trials)} trials in {out}; look at them with `ordino studio {out}`")
    return trials


def _tables(out: str, trials: Sequence[Trial]) -> str:
    """The boards of these trials of a store."""
    from ordino.experiment.report.board import make_boards
    from ordino.experiment.report.text import terminal
    from ordino.experiment.store import Store, StoreView

    with Store(out) as store:
        return terminal(make_boards(StoreView(store, keys=[trial.key for trial in trials])))


def parameter_of(text: str) -> tuple[str, str, Any]:
    """Ranker, parameter and value of ``ranknet.hidden=64,32``."""
    from ordino.parameters import parse_value

    target, equals, value = text.partition("=")
    ranker, dot, parameter = target.partition(".")
    if not (equals and dot):
        raise typer.BadParameter(f"{text!r} is not RANKER.PARAMETER=VALUE, such as ranknet.hidden=64,32")
    return ranker, parameter, parse_value(value)


def _named(text: str) -> tuple[str, str]:
    parameter, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not PARAMETER=VALUE")
    return parameter, value


def _range(text: str) -> Any:
    """A range from ``low..high``, or a list of values."""
    from ordino.parameters import parse_value

    ends = re.fullmatch(r"(.+?)\.\.(.+)", text)
    if ends is None:
        return parse_value(text)
    low, high = parse_value(ends[1]), parse_value(ends[2])
    is_wide = isinstance(low, int | float) and isinstance(high, int | float) and low > 0 and high / low >= LOG_FROM
    return {"low": low, "high": high, "log": is_wide}


def reproduce(
    targets: Annotated[
        list[str] | None, typer.Argument(help="Tables and figures, such as ranknet.table1; see --list.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List every target with its data and time.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with the collections, or with Fold1, Fold2, ...; td, mslr and digits are made."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only check that it runs; the numbers mean nothing.")] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The first seed; the same seed gives the same numbers.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="At most this many repeats per setting.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page (.md), its numbers (.csv, .json) and figure (.png, .svg).")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(help="Folder for the store and the models; a stopped run continues from it.")
    ] = None,
    n_jobs: Jobs = None,
    cluster: Cluster = None,
) -> None:
    """Reproduce a table or figure of a paper: the paper's number, ours with its deviation, the difference.

    Example: ordino reproduce --list

    Example: ordino reproduce ranknet.table2 --quick
    """
    from ordino.experiment.papers import catalogue
    from ordino.experiment.papers.target import Request
    from ordino.experiment.run.scratch import scratch_folder
    from ordino.threads import count_threads

    if list_:
        rows = [(name, target.shows, target.needs, target.takes) for name, target in catalogue.TARGETS.items()]
        print_table(["target", "what it shows", "data it needs", "takes about"], rows)
        return
    if not targets:
        raise typer.BadParameter("name a target, for example ranknet.table1; --list shows them all")
    said = shared_options()
    n_jobs = n_jobs or said.threads or (1 if quick else count_threads(None))
    with scratch_folder() as scratch:  # one store for all: what two targets need is trained once
        first = chosen_seed(seed) or 0
        request = Request(data, quick, first, repeats, keep or scratch, n_jobs, not said.quiet, cluster)
        for name in targets:
            try:
                result = catalogue.reproduce(name, request)
            except KeyboardInterrupt:
                rest = "" if keep is None else f"; the same command goes on from what is in {keep}"
                sys.stderr.write(f"ordino: {name} was stopped{rest}\n")
                raise typer.Exit(130) from None
            _show(result, out)


def _show(result: Result, out: Path | None) -> None:
    from ordino.data.arrow import write_whole
    from ordino.experiment.papers.claim import HEADER
    from ordino.experiment.papers.figure import save
    from ordino.experiment.papers.result import summary
    from ordino.plain import count_of

    typer.echo(f"{result.target}: {result.title}")
    print_table(result.header, result.rows())
    if result.findings:
        print_table(HEADER, [finding.row(result.digits) for finding in result.findings])
    beside = (*result.about_numbers, *result.about_claims, *result.notes)
    for line in (*beside, f"{summary(result)}; {count_of(round(result.seconds), 'second')}"):
        typer.echo(line)
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    pictures = [] if result.axes is None else save(result, out)
    texts = {"md": result.to_markdown(), "csv": result.to_csv(), "json": result.to_json()}
    for ending, text in texts.items():
        write_whole(out / f"{result.target}.{ending}", text)
    for path in (*(out / f"{result.target}.{ending}" for ending in texts), *pictures):
        typer.echo(f"{path}: written", err=True)
