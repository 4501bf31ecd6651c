"""Figures of a board: one function each, from a board to an Altair chart, or None where the store has nothing to draw.

:data:`FIGURES` is the table of them; the page, the files and the documentation are made from it. Labels of rankers,
features and data sets reach a chart as data only, never as a field name or an expression, so that none can break it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import numpy as np

from ordino.experiment.compare.comparison import bootstrap_interval
from ordino.experiment.compare.significance import differences
from ordino.experiment.report.board import Board, Line
from ordino.experiment.report.curves import at_k, learning
from ordino.experiment.report.drawing import GAIN, LOSS, ROW, SAME, WIDTH, Chart, altair, labels_of, number
from ordino.metrics import parse_metric
from ordino.plain import plain

WEIGHED = 20  # features in the figure of weights


@final
@dataclass(frozen=True)
class Figure:
    """An entry of :data:`FIGURES`."""

    draw: Callable[[Board], Chart | None]
    title: str
    description: str


def means(board: Board) -> Chart | None:
    """The mean of the first metric, with a 95 % interval over the queries."""
    alt = altair()
    metric, rows = board.measures[0], []
    for line in board.lines:
        low, high = bootstrap_interval(line.per_query[metric], samples=1000)
        rows.append({"label": plain(line.label), "mean": number(line.cells[metric].mean), "low": low, "high": high})
    labels = alt.Y("label:N", sort=labels_of(board.lines), title=None)
    base = alt.Chart(alt.Data(values=rows)).encode(y=labels, tooltip=["label:N", "mean:Q", "low:Q", "high:Q"])
    bars = base.mark_rule(strokeWidth=2, color=SAME).encode(
        x=alt.X("low:Q", title=metric, scale=alt.Scale(zero=False)), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=70, opacity=1, color=GAIN).encode(x="mean:Q")
    return (bars + points).properties(width=WIDTH, height=ROW * len(rows))


def wins(board: Board) -> Chart | None:
    """How many queries each line wins and loses against the reference."""
    alt = altair()
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
    axis = alt.Axis(format="%", grid=False)
    shares = alt.X("queries:Q", stack="normalize", title="share of queries", axis=axis)
    scale = alt.Scale(domain=["wins", "ties", "losses"], range=[GAIN, SAME, LOSS])
    outcome = alt.Color("outcome:N", title=f"against {plain(reference.label)}", scale=scale)
    y = alt.Y("label:N", sort=labels_of(others), title=None)
    bars = alt.Chart(alt.Data(values=rows)).mark_bar().encode(x=shares, y=y, color=outcome, order="place:Q")
    half = alt.Chart(alt.Data(values=[{"half": 0.5}])).mark_rule(strokeDash=[4, 3]).encode(x="half:Q")
    bars = bars.encode(tooltip=["label:N", "outcome:N", "queries:Q"])
    return (bars + half).properties(width=WIDTH, height=ROW * len(others))


def queries(board: Board) -> Chart | None:
    """The gain or loss of each query between two lines, sorted; on the page any two can be chosen."""
    alt = altair()
    if len(board.lines) < 2:
        return None
    metric, sign = board.measures[0], parse_metric(board.measures[0]).quality(1)
    columns = [line.per_query[metric] for line in board.lines]
    rows = [
        {"query": plain(str(query))} | {f"r{i}": number(round(float(value), 5)) for i, value in enumerate(values)}
        for query, *values in zip(board.query_ids, *columns, strict=True)
    ]
    names, numbers = labels_of(board.lines), list(range(len(board.lines)))
    first = alt.param(name="first", value=0, bind=alt.binding_select(options=numbers, labels=names, name="ranker "))
    second = alt.param(name="second", value=1, bind=alt.binding_select(options=numbers, labels=names, name="against "))
    labels = alt.param(name="labels", value=names)
    title = alt.Title(alt.ExprRef("labels[first] + ' against ' + labels[second]"))
    scale = alt.Scale(domain=[0, len(rows) + 1], nice=False)
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("isValid(datum['r' + first]) && isValid(datum['r' + second])")
        .transform_calculate(gain=f"{sign} * (datum['r' + first] - datum['r' + second])")
        .transform_window(rank="row_number()", sort=[alt.SortField("gain", order="descending")])
        .transform_calculate(left="datum.rank - 0.45", right="datum.rank + 0.45", zero="0")
        .mark_bar()
        .encode(
            x=alt.X("left:Q", title="queries, largest gain first", axis=alt.Axis(grid=False), scale=scale),
            x2="right:Q",
            y=alt.Y("gain:Q", title=f"gain in {metric}" if sign > 0 else f"fall of {metric}"),
            y2="zero:Q",
            color=alt.condition("datum.gain > 0", alt.value(GAIN), alt.value(LOSS)),
            tooltip=["query:N", alt.Tooltip("gain:Q", format="+.4f")],
        )
    )
    return chart.add_params(first, second, labels).properties(title=title, width=WIDTH, height=260)


def weights(board: Board) -> Chart | None:
    """Feature weights, each line's largest set to 1 and averaged over its trials."""
    alt = altair()
    lines = [(line, found) for line in board.lines if (found := mean_weights(board, line))]
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
    features, of = [plain(feature) for feature in largest], labels_of([line for line, _ in lines])
    chart = alt.Chart(alt.Data(values=rows)).mark_rect()
    chart = chart.encode(
        x=alt.X("label:N", sort=of, title=None, axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("feature:N", sort=features, title=None),
        color=alt.Color("weight:Q", scale=alt.Scale(scheme="blueorange", domain=[-1, 1], reverse=True)),
        tooltip=["label:N", "feature:N", alt.Tooltip("weight:Q", format="+.3f")],
    )
    return chart.properties(width=alt.Step(64), height=ROW * len(features))


FIGURES: Mapping[str, Figure] = MappingProxyType(
    {
        "means": Figure(means, "Means", "The mean of the first metric with a 95 % bootstrap interval over queries."),
        "at-k": Figure(at_k, "Metrics at k", "The best rankers at every cutoff in the store."),
        "wins": Figure(wins, "Wins and losses", "The share of queries on which a ranker beats the reference."),
        "queries": Figure(queries, "Query by query", "The difference between two rankers on every query, sorted."),
        "learning": Figure(
            learning, "Learning curves", "The metric that chooses, while the best rankers learned; means over trials."
        ),
        "weights": Figure(weights, "Feature weights", "The largest feature weights, scaled to at most 1."),
    }
)
"""Every figure by the name of its files."""


def mean_weights(board: Board, line: Line) -> dict[str, float]:
    """The weights of a line by feature, scaled so that the largest of each trial is 1; empty if it has none."""
    total: dict[str, float] = {}
    known = [weights for trial in line.trials if (weights := board.view.feature_weights(trial.key))]
    for found in known:
        largest = max(map(abs, found.values())) or 1.0
        for feature, weight in found.items():
            total[feature] = total.get(feature, 0.0) + weight / largest / len(known)
    return total
