"""``ordino report``: what a store holds, as a table, a page and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    store: Annotated[str, typer.Argument(help="A store of trials, as `ordino bench` writes it.")],
    format: Annotated[
        str | None, typer.Option(help="terminal, text, markdown, latex, csv or html; else by --out.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file instead of printing.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Write every figure as PNG, SVG and PDF to this folder.")] = None,
    metrics: Annotated[
        str | None, typer.Option("--metrics", "-m", help="Measures to show; the first one ranks.")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Label to compare with; else the best of each column.")] = None,
    test: Annotated[str, typer.Option(help="wilcoxon, paired-t, fisher or welch.")] = "wilcoxon",
    experiment: Annotated[str | None, typer.Option(help="Only the trials of this experiment.")] = None,
) -> None:
    """Report a store: means, deviations, significance, pictures, or one HTML page that works offline.

    Example: ordino report bench.sqlite --metrics ndcg@10,map --baseline RankNet --test paired-t

    Example: ordino report bench.sqlite --out report.html

    Example: ordino report bench.sqlite --format latex --out table.tex --figures figures
    """
    from ordino.experiment.report.board import make_boards, read_trials
    from ordino.experiment.report.formats import choose_format, render

    chosen = choose_format(format, out)
    measures = None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()]
    boards = make_boards(read_trials(store, experiment=experiment), measures=measures, baseline=baseline, test=test)
    text = render(boards, chosen, title=Path(store).stem)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
        typer.echo(f"{out}: written", err=True)
    if figures is not None:
        from ordino.experiment.report.figure_files import write_figures

        typer.echo(f"{figures}: {len(write_figures(boards, figures))} figures written", err=True)
