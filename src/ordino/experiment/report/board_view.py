"""A board as a page shows it: rows with their marks, intervals drawn on one axis, and every pair of rankers.

The report and the studio show the same view; the studio adds links.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan
from typing import NamedTuple, final

import numpy as np

from ordino.experiment.compare.comparison import Interval, mean_interval
from ordino.experiment.compare.significance import differences, find_test, holm
from ordino.experiment.report.board import Board, Line
from ordino.experiment.report.notes import ALPHA, BETTER, WORSE
from ordino.experiment.report.text import TableCell, mean_cell
from ordino.metrics import parse_metric
from ordino.pages.numbers import chance_is
from ordino.pages.scales import Scale

APART = 2.0
"""A line further from the rest than this many times their span does not stretch the axis."""
MOST_PAIRED = 16
"""Rankers in the matrix of every pair."""
LABEL, SECONDS = "label", "seconds"


class Dots(NamedTuple):
    """A mean with its interval, as percents of the drawing; without places where the axis does not reach it."""

    told: str
    low: str = ""
    mean: str = ""
    high: str = ""
    away: str = ""
    """On which side of the axis it lies, if the axis does not reach it."""


class Row(NamedTuple):
    """A ranker on a page."""

    label: str
    cells: Sequence[TableCell]
    dots: Dots
    is_near: bool
    """Whether it is the best by the column that sorts, or within chance of it."""
    train_seconds: float
    n_trials: int


@final
@dataclass(frozen=True)
class BoardView:
    """The table of a board, sorted."""

    rows: Sequence[Row]
    sorted_by: str
    is_rising: bool
    drawn: str
    """The measure whose intervals are drawn."""
    ticks: Sequence[tuple[str, str]]
    band: tuple[str, str] | None
    """Where the leader's interval begins, and its width."""
    away: str
    """On which side of the axis a line lies beyond it, left or right; empty if none does."""


def view_board(board: Board, *, sort: str = "", turned: bool = False, containing: str = "") -> BoardView:
    """The rows of a board, sorted by a measure (best first), by label or by seconds, in the other order if turned.

    ``containing`` hides rankers without this text in their label; their comparisons still count.
    """
    drawn = sort if sort in board.measures else board.measures[0]
    by = sort if sort in (*board.measures, LABEL, SECONDS) else drawn
    lines = [line for line in board.lines if containing.lower() in line.label.lower()]
    intervals = {line.label: mean_interval(line.per_query[drawn]) for line in lines}
    rises = parse_metric(drawn).greater_is_better
    scale = _axis([intervals[line.label] for line in lines], rises)
    leader = _best_first(board.lines, drawn)[0]
    known = [line for line in lines if not (by in board.measures and isnan(line.cells[by].mean))]
    ordered = _ordered(known, by)[:: -1 if turned else 1] + [line for line in lines if line not in known]
    dots = {line.label: _dots(line.cells[drawn].mean, intervals[line.label], scale, rises) for line in lines}
    return BoardView(
        rows=[_row(board, line, dots[line.label], drawn) for line in ordered],
        sorted_by=by,
        is_rising=turned != (by in (LABEL, SECONDS)),
        drawn=drawn,
        ticks=scale.ticks(),
        band=_band(intervals.get(leader.label), scale),
        away=next((one.away for one in dots.values() if one.away), ""),
    )


def _row(board: Board, line: Line, dots: Dots, drawn: str) -> Row:
    cells = [mean_cell(line.cells[name], board.references[name], board.n_comparisons) for name in board.measures]
    near = line.cells[drawn].is_whole and line.cells[drawn].mark != WORSE
    return Row(line.label, cells, dots, near, line.train_seconds, line.n_trials)


def _best_first(lines: Sequence[Line], measure: str) -> list[Line]:
    quality = parse_metric(measure).quality
    means = {line.label: line.cells[measure].mean for line in lines}
    return sorted(lines, key=lambda one: np.inf if isnan(means[one.label]) else -float(quality(means[one.label])))


def _ordered(lines: Sequence[Line], by: str) -> list[Line]:
    if by == LABEL:
        return sorted(lines, key=lambda one: one.label.lower())
    return sorted(lines, key=lambda one: one.train_seconds) if by == SECONDS else _best_first(lines, by)


def _axis(intervals: Sequence[Interval], rises: bool) -> Scale:
    """An axis that holds all intervals but those far below the rest; far above, of a metric where less is better."""
    turned = intervals if rises else [Interval(-one.high, -one.low) for one in intervals]
    known = sorted((one for one in turned if not isnan(one.low)), key=lambda one: -one.high)
    if not known:
        return Scale(0.0, 1.0, 4, 96)
    low, high = known[0]
    for one in known[1:]:
        if low - one.low > APART * (high - low):
            break
        low = min(low, one.low)
    low, high = (low, high) if rises else (-high, -low)
    return Scale(low, high if high > low else low + 1e-9, 3, 97)


def _dots(mean: float, interval: Interval, scale: Scale, rises: bool) -> Dots:
    if isnan(mean):
        return Dots("no value")
    told = (
        f"{mean:.4f}" if isnan(interval.low) else f"{mean:.4f}, 95 % interval {interval.low:.4f} to {interval.high:.4f}"
    )
    if isnan(interval.low):
        return Dots(told)
    if mean < scale.low if rises else mean > scale.high:
        return Dots(told, away="left" if rises else "right")
    return Dots(told, scale.percent(interval.low), scale.percent(mean), scale.percent(interval.high))


def _band(interval: Interval | None, scale: Scale) -> tuple[str, str] | None:
    if interval is None or isnan(interval.low):
        return None
    return scale.percent(interval.low), f"{scale.at(interval.high) - scale.at(interval.low):.4g}%"


class Pair(NamedTuple):
    """How a ranker stands against another."""

    other: str
    wins: int
    losses: int
    mark: str
    told: str


class Pairs(NamedTuple):
    """Every pair of rankers by one measure."""

    measure: str
    labels: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Pair | None]]]
    """By ranker the pair with each of the labels; None where it meets itself."""
    n_pairs: int
    n_queries: int
    n_left_out: int
    """Rankers beyond :data:`MOST_PAIRED`."""
    test: str
    """The test's title: that of the board, or Wilcoxon's where that does not compare queries."""


def view_pairs(board: Board, measure: str) -> Pairs | None:
    """Wins, losses and marks of every pair, Holm-corrected for all of them; None with fewer than three rankers."""
    lines = _best_first(board.lines, measure)[:MOST_PAIRED]
    if len(lines) < 3:
        return None
    values = {line.label: line.per_query[measure] for line in lines}
    test = find_test(board.test if find_test(board.test).is_paired else "wilcoxon")
    sign = parse_metric(measure).quality(1)
    met = list(combinations(values, 2))
    outcomes = [test.function(values[a], values[b]) for a, b in met]
    p = holm([outcome.p for outcome in outcomes])
    cells: dict[tuple[str, str], Pair] = {}
    for (a, b), outcome, chance in zip(met, outcomes, p.tolist(), strict=True):
        d = sign * differences(values[a], values[b])
        ahead = sign * outcome.leaning
        mark = "" if chance >= ALPHA or ahead * d.mean() <= 0 else BETTER if ahead > 0 else WORSE
        wins, losses = int(np.count_nonzero(d > 0)), int(np.count_nonzero(d < 0))
        cells[a, b] = _pair(a, b, wins, losses, len(d), mark, chance, len(met))
        back = {BETTER: WORSE, WORSE: BETTER}.get(mark, "")
        cells[b, a] = _pair(b, a, losses, wins, len(d), back, chance, len(met))
    rows = [(a, [cells.get((a, b)) for b in values]) for a in values]
    return Pairs(measure, list(values), rows, len(met), len(board.query_ids), len(board.lines) - len(lines), test.title)


def _pair(a: str, b: str, wins: int, losses: int, n: int, mark: str, p: float, n_pairs: int) -> Pair:
    stands = {BETTER: ", ahead", WORSE: ", behind"}.get(mark, "")
    told = f"{a} wins {wins}, loses {losses} of {n} against {b}{stands}; {chance_is(p)}, corrected for {n_pairs} pairs"
    return Pair(b, wins, losses, mark, told)
