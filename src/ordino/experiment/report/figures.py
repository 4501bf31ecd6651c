"""Figures of a board: one function each, from a board to an Altair chart, or None where the store has nothing to draw.

:data:`FIGURES` is the table of them; the page, the files and the documentation are made from it. Labels of rankers,
features and data sets reach a chart as data only, never as a field name or an expression, so that none can break it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from numbers import Real
from types import MappingProxyType
from typing import Any, final

import numpy as np

from ordino.errors import import_extra
from ordino.experiment.compare.comparison import bootstrap_interval
from ordino.experiment.compare.significance import differences
from ordino.experiment.report.board import Board, Line
from ordino.experiment.store.trial import grouped
from ordino.metrics import Metric, parse_metric
from ordino.plain import plain

History = Sequence[Mapping[str, Any]]
Chart = Any  # one of Altair's several chart classes; Altair is loaded when a figure is drawn
CURVES = 8
"""How many lines share a figure of curves: as many as there are distinct colors."""
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#8A8A8A")
GAIN, LOSS, SAME = "#0072B2", "#D55E00", "#B0B0B0"
POINTS = 150  # of a learning curve: more cannot be seen
COUNTERS = ("step", "epoch", "round", "iteration", "generation")
"""Names that only number the rows of a history."""
WEIGHED = 20  # features in the figure of weights
WIDTH, PANE = 820, 360  # of a figure, and of one of two side by side


@final
@dataclass(frozen=True)
class Figure:
    """An entry of :data:`FIGURES`."""

    draw: Callable[[Board], Chart | None]
    title: str
    description: str


def means(board: Board) -> Chart | None:
    """The mean of the first metric, with a 95 % interval over the queries."""
    alt = _altair()
    metric, rows = board.measures[0], []
    for line in board.lines:
        low, high = bootstrap_interval(line.per_query[metric], samples=1000)
        rows.append({"label": plain(line.label), "mean": _number(line.cells[metric].mean), "low": low, "high": high})
    labels = alt.Y("label:N", sort=_labels(board.lines), title=None)
    base = alt.Chart(alt.Data(values=rows)).encode(y=labels, tooltip=["label:N", "mean:Q", "low:Q", "high:Q"])
    bars = base.mark_rule(strokeWidth=2, color=SAME).encode(
        x=alt.X("low:Q", title=metric, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=10)), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=70, opacity=1, color=GAIN).encode(x="mean:Q")
    return (bars + points).properties(width=WIDTH, height=alt.Step(20))


def at_k(board: Board) -> Chart | None:
    """Metrics that the store holds at several cutoffs, against the cutoff."""
    alt = _altair()
    lines = board.lines[:CURVES]
    charts = []
    for family, names in cutoffs(board.all_measures).items():
        rows = [
            {"label": plain(line.label), "k": k, "mean": _number(line.cells[name].mean)}
            for line in lines
            for k, name in names
        ]
        ticks = alt.Axis(values=[k for k, _ in names], grid=False, labelFlush=False)
        scale = alt.Scale(type="log" if names[-1][0] > 20 else "linear", zero=False, nice=False, padding=12)
        x = alt.X("k:Q", title="k", axis=ticks, scale=scale)
        charts.append(_curves(lines, rows, x, "mean:Q", f"{family}@k", point={"size": 36}))
    return alt.concat(*charts, columns=2) if charts else None


def learning(board: Board) -> Chart | None:
    """What the rankers recorded while they learned, averaged over their trials."""
    alt = _altair()
    curves = {
        line.label: learning_curves(board.view.history(trial.key) for trial in line.trials) for line in board.lines
    }
    lines = [line for line in board.lines if curves[line.label]][:CURVES]
    charts = []
    for quantity in dict.fromkeys(name for line in lines for name in curves[line.label]):
        rows = [
            {"label": plain(line.label), "step": step, "value": value}
            for line in lines
            for step, value in curves[line.label].get(quantity, [])
        ]
        steps = alt.Axis(grid=False, format="~s", labelOverlap="greedy", labelSeparation=8, labelFlush=False)
        x = alt.X("step:Q", title="step", scale=alt.Scale(type="log", nice=False), axis=steps)
        charts.append(_curves(lines, rows, x, "value:Q", plain(quantity)))
    return alt.concat(*charts, columns=2) if charts else None


def wins(board: Board) -> Chart | None:
    """How many queries each line wins and loses against the reference."""
    alt = _altair()
    metric = board.measures[0]
    reference, sign = board.line(board.references[metric]), parse_metric(metric).quality(1)
    others = [line for line in board.lines if line is not reference]
    rows = []
    for line in others:
        d = sign * differences(line.per_query[metric], reference.per_query[metric])
        counts = {"wins": np.sum(d > 0), "ties": np.sum(d == 0), "losses": np.sum(d < 0)}
        rows += [
            {"label": plain(line.label), "outcome": outcome, "queries": int(n), "place": place}
            for place, (outcome, n) in enumerate(counts.items())
        ]
    if not rows:
        return None
    axis = alt.Axis(format="%", grid=False, tickCount=10)
    shares = alt.X("queries:Q", stack="normalize", title="share of queries", axis=axis)
    scale = alt.Scale(domain=["wins", "ties", "losses"], range=[GAIN, SAME, LOSS])
    outcome = alt.Color("outcome:N", title=f"against {plain(reference.label)}", scale=scale)
    y = alt.Y("label:N", sort=_labels(others), title=None)
    bars = alt.Chart(alt.Data(values=rows)).mark_bar().encode(x=shares, y=y, color=outcome, order="place:Q")
    half = alt.Chart(alt.Data(values=[{"half": 0.5}])).mark_rule(strokeDash=[4, 3]).encode(x="half:Q")
    bars = bars.encode(tooltip=["label:N", "outcome:N", "queries:Q"])
    return (bars + half).properties(width=WIDTH, height=alt.Step(20))


def queries(board: Board) -> Chart | None:
    """The gain or loss of each query between two lines, sorted; on the page any two can be chosen."""
    alt = _altair()
    if len(board.lines) < 2:
        return None
    metric, sign = board.measures[0], parse_metric(board.measures[0]).quality(1)
    columns = [line.per_query[metric] for line in board.lines]
    rows = [
        {"query": plain(str(query))} | {f"r{i}": _number(round(float(value), 5)) for i, value in enumerate(values)}
        for query, *values in zip(board.query_ids, *columns, strict=True)
    ]
    names, numbers = _labels(board.lines), list(range(len(board.lines)))
    first = alt.param(name="first", value=0, bind=alt.binding_select(options=numbers, labels=names, name="ranker "))
    second = alt.param(name="second", value=1, bind=alt.binding_select(options=numbers, labels=names, name="against "))
    labels = alt.param(name="labels", value=names)
    title = alt.Title(alt.ExprRef("labels[first] + ' against ' + labels[second]"))
    width = max(1.5, min(24.0, 0.9 * WIDTH / len(rows)))
    scale = alt.Scale(domain=[0, len(rows) + 1], nice=False)
    ranks = "queries, from the largest gain to the largest loss"
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("isValid(datum['r' + first]) && isValid(datum['r' + second])")
        .transform_calculate(gain=f"{sign} * (datum['r' + first] - datum['r' + second])")
        .transform_window(rank="row_number()", sort=[alt.SortField("gain", order="descending")])
        .mark_bar(width=width)
        .encode(
            x=alt.X("rank:Q", title=ranks, axis=alt.Axis(grid=False), scale=scale),
            y=alt.Y("gain:Q", title=f"gain in {metric}" if sign > 0 else f"fall of {metric}"),
            color=alt.condition("datum.gain > 0", alt.value(GAIN), alt.value(LOSS)),
            tooltip=["query:N", alt.Tooltip("gain:Q", format="+.4f")],
        )
    )
    return chart.add_params(first, second, labels).properties(title=title, width=WIDTH, height=260)


def weights(board: Board) -> Chart | None:
    """Feature weights, each line's largest set to 1 and averaged over its trials."""
    alt = _altair()
    lines = [(line, found) for line in board.lines if (found := _mean_weights(board, line))]
    if not lines:
        return None
    total: dict[str, float] = {}
    for _, found in lines:
        for feature, weight in found.items():
            total[feature] = total.get(feature, 0.0) + abs(weight)
    largest = sorted(total, key=lambda feature: -total[feature])[:WEIGHED]
    rows = [
        {"label": plain(line.label), "feature": plain(feature), "weight": found.get(feature, 0.0)}
        for line, found in lines
        for feature in largest
    ]
    features, of = [plain(feature) for feature in largest], _labels([line for line, _ in lines])
    chart = alt.Chart(alt.Data(values=rows)).mark_rect()
    chart = chart.encode(
        x=alt.X("feature:N", sort=features, title=None, axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("label:N", sort=of, title=None),
        color=alt.Color("weight:Q", scale=alt.Scale(scheme="blueorange", domain=[-1, 1], reverse=True)),
        tooltip=["label:N", "feature:N", alt.Tooltip("weight:Q", format="+.3f")],
    )
    return chart.properties(width=alt.Step(34), height=alt.Step(22))


FIGURES: Mapping[str, Figure] = MappingProxyType(
    {
        "means": Figure(means, "Means", "The mean of the first metric with a 95 % bootstrap interval over queries."),
        "at-k": Figure(at_k, "Metrics at k", "The best rankers at every cutoff in the store."),
        "wins": Figure(wins, "Wins and losses", "The share of queries on which a ranker beats the reference."),
        "queries": Figure(queries, "Query by query", "The difference between two rankers on every query, sorted."),
        "learning": Figure(learning, "Learning curves", "What the best rankers recorded, averaged over trials."),
        "weights": Figure(weights, "Feature weights", "The largest feature weights, scaled to at most 1."),
    }
)
"""Every figure by the name of its files."""


def _altair() -> Any:
    return import_extra("altair", extra="plots", purpose="a figure")


def _labels(lines: Sequence[Line]) -> list[str]:
    return [plain(line.label) for line in lines]


def _curves(lines: Sequence[Line], rows: list[dict[str, Any]], x: Any, y: str, title: str, **mark: Any) -> Chart:
    """A pane with a curve for each line."""
    alt = _altair()
    scale = alt.Scale(domain=_labels(lines), range=list(COLORS[: len(lines)]))
    chart = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=2, **mark)
    chart = chart.encode(x=x, y=alt.Y(y, title=title, scale=alt.Scale(zero=False)), tooltip=["label:N", x.shorthand, y])
    return chart.encode(color=alt.Color("label:N", title=None, scale=scale)).properties(width=PANE, height=260)


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return None if isnan(value) else value


def _mean_weights(board: Board, line: Line) -> dict[str, float]:
    """The weights of a line by feature, scaled so that the largest of each trial is 1; empty if it has none."""
    total: dict[str, float] = {}
    known = [weights for trial in line.trials if (weights := board.view.feature_weights(trial.key))]
    for found in known:
        largest = max(map(abs, found.values())) or 1.0
        for feature, weight in found.items():
            total[feature] = total.get(feature, 0.0) + weight / largest / len(known)
    return total


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


def learning_curves(histories: Iterable[History]) -> dict[str, list[tuple[int, float]]]:
    """By quantity the points ``(step, mean over the trials)``, steps from 1, at most :data:`POINTS`.

    A trial that has ended counts with the last it recorded: if it fell out of the mean, a curve would jump to where
    the rest is. What never changes, such as a fixed learning rate, is no curve.

    Examples
    --------
    >>> learning_curves([[{"epoch": 0, "loss": 3.0}, {"epoch": 1, "loss": 2.0}], [{"epoch": 0, "loss": 5.0}]])
    {'loss': [(1, 4.0), (2, 3.5)]}
    """
    kept = [history for history in histories if history]
    names = dict.fromkeys(name for history in kept for row in history for name in row if name not in COUNTERS)
    curves = {}
    for name in names:
        steps = np.unique(np.geomspace(1, max(map(len, kept)), POINTS).round().astype(int))
        values = [[_value(history, step - 1, name) for step in steps.tolist()] for history in kept]
        if any(len(set(of_trial) - {None}) > 1 for of_trial in values):
            curves[name] = [
                (step, float(np.mean(there)))
                for step, *at_step in zip(steps.tolist(), *values, strict=True)
                if (there := [value for value in at_step if value is not None])
            ]
    return curves


def _value(history: History, place: int, name: str) -> float | None:
    """The number at this place of a history, or at its end if it is shorter; None if that is not finite."""
    value = history[min(place, len(history) - 1)].get(name)
    return float(value) if isinstance(value, Real) and np.isfinite(float(value)) else None
