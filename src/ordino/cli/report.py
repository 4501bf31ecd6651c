"""What a store says: ``ordino report`` shows it as tables, a page and figures, ``ordino compare`` two rankers of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordino.cli.evaluate import METRICS
from ordino.cli.options import Columns, Json, Profile, Test, reads_data, split_names
from ordino.cli.output import check_out, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ordino.experiment.compare.comparison import Comparisons
    from ordino.experiment.compare.unpaired import UnpairedComparisons
    from ordino.metrics import Evaluation


def report(
    store: Annotated[str, typer.Argument(help="A store that `ordino bench` wrote.")],
    format: Annotated[
        str | None, typer.Option(help="Format: {reports}; by default set by the extension of --out.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file instead of printing.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Write every figure as PNG, SVG and PDF to this folder.")] = None,
    metrics: Annotated[
        str | None, typer.Option("--metrics", "-m", help="Metrics to show; the first one sorts the rows.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Label to compare the others with; by default the best in each column.")
    ] = None,
    test: Test = "wilcoxon",
    experiment: Annotated[str | None, typer.Option(help="Show only the trials of this experiment.")] = None,
) -> None:
    """Report a store: means, deviations, significance, figures, or one HTML page that works offline.

    Example: ordino report bench.sqlite --metrics ndcg@10,map --baseline RankNet --test paired-t

    Example: ordino report bench.sqlite --out report.html

    Example: ordino report bench.sqlite --format latex --out table.tex --figures figures
    """
    from ordino.data.arrow import write_whole
    from ordino.errors import import_extra
    from ordino.experiment.report.board import make_boards
    from ordino.experiment.report.page import choose_format, render, write_figures
    from ordino.experiment.store import StoreView

    chosen = choose_format(format, out)
    if out is not None:
        check_out(out)
    for module in ("altair", "vl_convert") if figures is not None else ():
        import_extra(module, extra="plots", purpose="a figure")
    if chosen == "html":
        import_extra("jinja2", extra="plots", purpose="an HTML page")
    with StoreView(store, experiment=experiment) as view:
        measures = None if metrics is None else split_names(metrics)
        boards = make_boards(view, measures=measures, baseline=baseline, test=test)
        text = render(boards, chosen, title=Path(store).stem)
        if out is None:
            typer.echo(text, nl=False)
        else:
            write_whole(out, text)
            typer.echo(f"{out}: written", err=True)
        if figures is not None:
            typer.echo(f"{figures}: {len(write_figures(boards, figures))} figures written", err=True)


@reads_data
def compare(
    things: Annotated[list[str], typer.Argument(metavar="[STORE] A B", help="A store and two labels, or files.")],
    data: Annotated[str | None, typer.Option(help="Labeled data; the files are models or scores.")] = None,
    qrels: Annotated[str | None, typer.Option(help="TREC judgments; the files are TREC runs.")] = None,
    metrics: Annotated[str | None, typer.Option("--metrics", "-m", help="Metrics, separated by commas.")] = None,
    profile: Profile = None,
    test: Test = "wilcoxon",
    json: Json = False,
    *,
    columns: Columns,
) -> None:
    """Compare two rankers query by query: difference, interval, p-value, effect size, wins; or several in one table.

    Example: ordino compare bench.sqlite RankNet LambdaMART --metrics ndcg@10,map

    Example: ordino compare scores.txt other.txt --data test.txt --test fisher

    Example: ordino compare model.ordino scores.txt --data test.txt

    Example: ordino compare model.ordino linear.ordino scores.txt --data test.txt

    Example: ordino compare run.txt other-run.txt --qrels qrels.txt
    """
    names = None if metrics is None else split_names(metrics)
    found: Mapping[str, Comparisons | UnpairedComparisons]
    if things[0].endswith(".ordino") and data is None:
        raise typer.BadParameter(f"models are compared on data: ordino compare {' '.join(things[:2])} --data test.txt")
    if len(things) == 3 and data is None and qrels is None and profile is None:
        found = _of_store(things[0], things[1], things[2], names, test)
    elif len(things) >= 2 and (data is None) != (qrels is None):
        if data is not None:
            profile = profile or _profile_of(things)
        evaluations = {
            path: _measured(path, data, qrels, names or METRICS.split(","), profile, columns) for path in things
        }
        if len(evaluations) > 2:
            _print_several(evaluations, Path(data or str(qrels)).name, test, json)
            return
        found = _of_files(evaluations, test)
    else:
        raise typer.BadParameter("give STORE A B, or two files or more with --data or --qrels")
    if json:
        print_json({title: [comparison.to_dict() for comparison in several] for title, several in found.items()})
        return
    for title, several in found.items():
        _print(title, several, test)


def _profile_of(files: list[str]) -> str:
    """The profile of the models among files; they are measured by one."""
    from ordino.errors import ParameterError
    from ordino.model_file import read_card
    from ordino.model_file.container import is_model_file

    found = {file: read_card(file)["measure"]["profile"] for file in files if is_model_file(file)}
    profiles = {file: profile for file, profile in found.items() if profile is not None}
    if len(set(profiles.values())) > 1:
        told = ", ".join(f"{file} by {profile}" for file, profile in profiles.items())
        raise ParameterError(f"the models were chosen by several profiles ({told}); choose one with --profile")
    return next(iter(profiles.values()), "standard")


def _of_store(
    store: str, a: str, b: str, metrics: list[str] | None, test: str
) -> dict[str, Comparisons | UnpairedComparisons]:
    from ordino.errors import DataError
    from ordino.experiment.report.board import compare_labels, make_boards
    from ordino.experiment.store import StoreView

    with StoreView(store) as view:
        boards = make_boards(view, measures=metrics, test=test, labels=(a, b))
    both = [board for board in boards if {a, b} == {line.label for line in board.lines}]
    if not both:
        raise DataError(f"{store}: {a} and {b} were never run on the same data and profile; run `ordino bench` on both")
    return {
        f"{a} against {b} on {board.dataset} (profile {board.profile})": compare_labels(board, a, b) for board in both
    }


def _measured(
    path: str, data: str | None, qrels: str | None, metrics: list[str], profile: str | None, columns: Columns
) -> Evaluation:
    from ordino.cli.evaluate import measure_file, measure_run

    if data is None:
        return measure_run(str(qrels), path, metrics, profile or "trec", complete=False)
    return measure_file(data, path, metrics, profile, columns)


def _of_files(evaluations: dict[str, Evaluation], test: str) -> dict[str, Comparisons]:
    from ordino.experiment.compare.comparison import compare_evaluations

    (a, left), *others = evaluations.items()
    b, right = others[0] if others else (a, left)  # the same file twice
    return {f"{a} against {b} (profile {left.profile})": compare_evaluations(left, right, test=test)}


def _print_several(evaluations: dict[str, Evaluation], data: str, test: str, json: bool) -> None:
    """A table as of a bench: each file a line, tested against the best of each column."""
    from ordino.experiment.report.board import make_boards
    from ordino.experiment.report.text import mean_cell
    from ordino.experiment.store import Trial

    trials = [
        Trial(
            key=path, dataset=data, fold=data, ranker="", label=path, params={}, seed=0, profile=found.profile,
            is_random=False, test=dict(found), per_query=dict(found.per_query), query_ids=found.query_ids,
        )
        for path, found in evaluations.items()
    ]  # fmt: skip
    (board,) = make_boards(trials, test=test)
    cells = {line.label: {name: line.cells[name] for name in board.measures} for line in board.lines}
    if json:
        print_json(
            {
                label: {name: asdict(cell) | {"comparisons": board.n_comparisons} for name, cell in own.items()}
                for label, own in cells.items()
            }
        )
        return
    rows = [
        [label, *(f"{mean_cell(cell, '').text} {cell.mark}".rstrip() for cell in own.values())]
        for label, own in cells.items()
    ]
    print_table(["file", *board.measures], rows)
    typer.echo("\n".join(board.notes))


def _print(title: str, several: Comparisons | UnpairedComparisons, test: str) -> None:
    from ordino.experiment.compare.comparison import Comparisons
    from ordino.experiment.compare.significance import find_test

    typer.echo(title)
    print_table(several.columns(), several.rows())
    made = find_test(test if isinstance(several, Comparisons) else "welch")
    typer.echo(f"{made.title}: {several.note()}")
