"""``ordino report``: what a store holds, as a table, a page and figures."""

from pathlib import Path
from typing import Annotated

import typer

from ordino.cli.options import split_names
from ordino.experiment.compare.tests import TESTS
from ordino.experiment.report.formats import FORMATS

Test = Annotated[str, typer.Option(help=f"Significance test: {', '.join(TESTS)}.")]
"""The option --test of every command that has it."""


def report(
    store: Annotated[str, typer.Argument(help="A store that `ordino bench` wrote.")],
    format: Annotated[
        str | None, typer.Option(help=f"{', '.join(FORMATS)}; by default the ending of --out decides.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file instead of printing.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Write every figure as PNG, SVG and PDF to this folder.")] = None,
    metrics: Annotated[str | None, typer.Option("--metrics", "-m", help="To show; the first one sorts.")] = None,
    baseline: Annotated[str | None, typer.Option(help="Label to compare with; by default each column's best.")] = None,
    test: Test = "wilcoxon",
    experiment: Annotated[str | None, typer.Option(help="Show only the trials of this experiment.")] = None,
) -> None:
    """Report a store: means, deviations, significance, figures, or one HTML page that works offline.

    Example: ordino report bench.sqlite --metrics ndcg@10,map --baseline RankNet --test paired-t

    Example: ordino report bench.sqlite --out report.html

    Example: ordino report bench.sqlite --format latex --out table.tex --figures figures
    """
    from ordino.experiment.report.board import make_boards
    from ordino.experiment.report.formats import choose_format, render
    from ordino.experiment.store import StoreView

    chosen = choose_format(format, out)
    with StoreView(store, experiment=experiment) as view:
        measures = None if metrics is None else split_names(metrics)
        boards = make_boards(view, measures=measures, baseline=baseline, test=test)
        text = render(boards, chosen, title=Path(store).stem)
        if out is None:
            typer.echo(text, nl=False)
        else:
            out.write_text(text, encoding="utf-8")
            typer.echo(f"{out}: written", err=True)
        if figures is not None:
            from ordino.experiment.report.page import write_figures

            typer.echo(f"{figures}: {len(write_figures(boards, figures))} figures written", err=True)
