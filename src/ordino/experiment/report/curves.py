"""Figures of curves: metrics against the cutoff, and learning curves; both show the best lines of a board."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from ordino.experiment.report.board import Board, Line
from ordino.experiment.report.drawing import COLORS, PANE, Chart, altair, labels_of, number
from ordino.experiment.store.trial import grouped
from ordino.metrics import Metric, parse_metric
from ordino.plain import plain

History = Sequence[Mapping[str, Any]]
CURVES = 8
"""How many lines share a figure of curves: as many as there are distinct colors."""
POINTS = 150  # of a learning curve: more cannot be seen
COUNTERS = ("step", "epoch", "round", "iteration", "generation")
"""Names that only number the rows of a history."""
PARTS: Mapping[str, str] = MappingProxyType({"valid": "validation data", "train": "training data"})
"""What histories call the metric that chooses, by the data it was measured on; nothing else in them is drawn."""


def at_k(board: Board) -> Chart | None:
    """Metrics that the store holds at several cutoffs, against the cutoff."""
    alt = altair()
    lines = board.lines[:CURVES]
    charts = []
    for family, names in cutoffs(board.all_measures).items():
        rows = [
            {"label": plain(line.label), "k": k, "mean": number(line.cells[name].mean)}
            for line in lines
            for k, name in names
        ]
        ticks = alt.Axis(values=[k for k, _ in names], grid=False, labelFlush=False)
        scale = alt.Scale(type="log" if names[-1][0] > 20 else "linear", zero=False, nice=False, padding=12)
        x = alt.X("k:Q", title="k", axis=ticks, scale=scale)
        charts.append(_curves(lines, rows, x, "mean:Q", f"{family}@k", point={"size": 36}))
    return alt.concat(*charts, columns=2) if charts else None


def learning(board: Board) -> Chart | None:
    """The metric that chooses, as it changed while the rankers learned, averaged over their trials."""
    alt = altair()
    curves = {line.label: curves_of_line(board, line) for line in board.lines}
    lines = [line for line in board.lines if set(PARTS) & set(curves[line.label])][:CURVES]
    rows = grouped(
        (_measured(line, part), {"label": plain(line.label), "step": step, "value": value})
        for part in PARTS
        for line in lines
        for step, value in curves[line.label].get(part, [])
    )
    steps = alt.Axis(grid=False, format="~s", labelOverlap="greedy", labelSeparation=8, labelFlush=False)
    x = alt.X("step:Q", title="step", scale=alt.Scale(type="log", nice=False), axis=steps)
    charts = [_curves(lines, found, x, "value:Q", title) for title, found in rows.items()]
    return alt.concat(*charts, columns=2).resolve_scale(color="independent") if charts else None


def _measured(line: Line, part: str) -> str:
    """What a curve of this line shows: the metric, and the data."""
    return f"{what_chose(line) or 'choosing metric'} on {PARTS[part]}"


def what_chose(line: Line) -> str:
    """The metric that chose on validation data, if the store says."""
    return next((trial.chosen_by for trial in line.trials if trial.chosen_by), "")


def curves_of_line(board: Board, line: Line) -> dict[str, list[tuple[int, float]]]:
    """The learning curves of a line."""
    return learning_curves((board.view.history(trial.key) for trial in line.trials), what_chose(line))


def _curves(lines: Sequence[Line], rows: list[dict[str, Any]], x: Any, y: str, title: str, **mark: Any) -> Chart:
    """A pane with a curve for each line that has one; in all panes a line has the same color."""
    alt = altair()
    there = {row["label"] for row in rows}
    colors = {label: color for label, color in zip(labels_of(lines), COLORS, strict=False) if label in there}
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    chart = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=2, **mark)
    chart = chart.encode(x=x, y=alt.Y(y, title=title, scale=alt.Scale(zero=False)), tooltip=["label:N", x.shorthand, y])
    return chart.encode(color=alt.Color("label:N", title=None, scale=scale)).properties(width=PANE, height=260)


def cutoffs(measures: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """Metrics at two or more cutoffs: by family the cutoffs, rising, each with the metric's name.

    Examples
    --------
    >>> cutoffs(["ndcg@10", "map", "ndcg@5", "p@5"])
    {'ndcg': [(5, 'ndcg@5'), (10, 'ndcg@10')]}
    """
    parsed = [(parse_metric(name), name) for name in measures]
    families = grouped(
        (str(Metric(metric.name, 1, metric.parameters)).removesuffix("@1"), (metric.k, name))
        for metric, name in parsed
        if metric.k is not None
    )
    return {family: sorted(names) for family, names in families.items() if len(names) > 1}


def learning_curves(histories: Iterable[History], metric: str = "") -> dict[str, list[tuple[int, float]]]:
    """By quantity the points ``(step, mean over the trials)``, steps from 1, at most :data:`POINTS`.

    In a history larger is better: a ``metric`` that counts errors stands there negated, and comes as it is.

    A trial that has ended counts with the last it recorded: if it fell out of the mean, a curve would jump to where
    the rest is. What never changes, such as a fixed learning rate, is no curve.

    Examples
    --------
    >>> learning_curves([[{"epoch": 0, "loss": 3.0}, {"epoch": 1, "loss": 2.0}], [{"epoch": 0, "loss": 5.0}]])
    {'loss': [(1, 4.0), (2, 3.5)]}
    """
    sign = parse_metric(metric).quality(1) if metric else 1
    kept = [history for history in histories if history]
    names = dict.fromkeys(name for history in kept for row in history for name in row if name not in COUNTERS)
    curves = {}
    for name in names:
        steps = np.unique(np.geomspace(1, max(map(len, kept)), POINTS).round().astype(int))
        values = [[_value(history, step - 1, name) for step in steps.tolist()] for history in kept]
        if any(len(set(of_trial) - {None}) > 1 for of_trial in values):
            curves[name] = [
                (step, (sign if name in PARTS else 1) * float(np.mean(there)))
                for step, *at_step in zip(steps.tolist(), *values, strict=True)
                if (there := [value for value in at_step if value is not None])
            ]
    return curves


def _value(history: History, place: int, name: str) -> float | None:
    """The number at this place of a history, or at its end if it is shorter; None if that is not finite."""
    value = history[min(place, len(history) - 1)].get(name)
    return float(value) if isinstance(value, Real) and np.isfinite(float(value)) else None
