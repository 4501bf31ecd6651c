"""``ordino search``: look for good parameters on validation data, fold by fold, and measure the best on test data."""

import re
from typing import Annotated, Any

import typer

from ordino.cli.bench import STORE, Jobs, Metrics, Name, NumberOfFolds, Out, Profile, Select, make_plan, run_and_show
from ordino.cli.evaluate import METRICS
from ordino.cli.options import RankerName, Seed

LOG_FROM = 50.0  # a range whose ends differ by this factor is drawn by its logarithm


def search(
    data: Annotated[list[str], typer.Argument(help="Folders of folds, or files to split into folds.")],
    ranker: RankerName,
    trials: Annotated[int, typer.Option(help="Number of settings to try on each fold.")] = 30,
    space: Annotated[list[str] | None, typer.Option(help="Search space, as l2=0.1..1 or hidden=[[8],[16]].")] = None,
    param: Annotated[list[str] | None, typer.Option("--param", "-p", help="Fixed, such as epochs=20.")] = None,
    repeats: Annotated[int, typer.Option(help="Number of repeats of the best setting.")] = 1,
    seed: Seed = None,
    metrics: Metrics = METRICS,
    profile: Profile = "standard",
    select: Select = "",
    folds: NumberOfFolds = 5,
    out: Out = STORE,
    name: Name = "search",
    n_jobs: Jobs = None,
) -> None:
    """Tune a ranker with Optuna; by default, every parameter that has a search space is tuned.

    Example: ordino search train.txt --ranker rank-svm --trials 3 --folds 3 --n-jobs 1 --out search.sqlite
    """
    from ordino.cli.output import print_table
    from ordino.parameters import parse_value

    if trials < 1:
        raise typer.BadParameter("--trials must be 1 or more")
    fixed = {parameter: parse_value(value) for parameter, value in map(_named, param or [])}
    ranges = {parameter: _range(value) for parameter, value in map(_named, space or [])}
    settings = {"profile": profile, "select": select, "repeats": repeats, "folds": folds, "name": name}
    entry = {"ranker": ranker, "params": fixed, "trials": trials, "space": ranges}
    plan = make_plan(data, [entry], metrics, seed, **settings)
    chosen = {(trial.dataset, trial.fold): trial for trial in run_and_show(plan, out, n_jobs)}
    rows = [
        (*place, f"{trial.valid[plan.selection]:.4f}", ", ".join(f"{k}={v}" for k, v in trial.params.items()))
        for place, trial in chosen.items()
    ]
    print_table(["data", "fold", f"{plan.selection} on validation", "parameters"], rows)


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
