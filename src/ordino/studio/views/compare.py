"""Compare: two rankers query by query: wins and losses as bars that can be brushed, test, effect, what moved most."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.experiment.compare.comparison import Comparison
from ordino.experiment.compare.significance import TESTS
from ordino.experiment.compare.unpaired import UnpairedComparisons
from ordino.experiment.report.board import Board, compare_labels
from ordino.experiment.report.notes import BETTER
from ordino.experiment.store.rankings import Facts
from ordino.metrics import parse_metric
from ordino.pages.numbers import fixed, measure_title, signed, spelled
from ordino.pages.scales import Scale, round_ticks, span_of
from ordino.studio.ask import Ask, State, StateError, missing
from ordino.studio.sources import OpenStore
from ordino.studio.views.board import chosen_board, chosen_group

Floats = NDArray[np.float64]
PAGE = 25
"""Queries of a table."""
MOST_BARS = 240
"""Bars of the plot; with more queries a bar stands for several."""
MOST_DOTS = 600
"""Dots of a plot of what is known of queries."""
ZERO, REACH, TOP = 163.0, 150.0, 13.0  # of the bars, in px


class Moved(NamedTuple):
    """A query in which the two differ."""

    query: str
    difference: float
    a: float
    b: float
    size: int | None
    relevant: float | None
    highest: float | None


class Bar(NamedTuple):
    """A bar of the plot, as attributes of SVG."""

    kind: str
    value: str
    x: str
    width: str
    y: str
    height: str


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    with studio.store() as opened:
        group, groups = chosen_group(opened, ask)
        board = chosen_board(opened, ask, group)
        labels = [line.label for line in board.lines]
        if len(labels) < 2:
            then = "Run the same command with another name after --rankers; what is done already is not done again."
            raise StateError(State("One ranker is in the store; two are needed to compare.", then))
        a = _label(ask, "a", labels, labels[0])
        b = _label(ask, "b", labels, next(one for one in labels if one != a))
        key = (group.dataset, group.profile, tuple(board.measures), board.test, a, b)
        found = opened.remembered("comparisons", lambda: compare_labels(board, a, b, quick=True), *key)
        facts = _facts(opened, board)
    common = {
        "group": group, "groups": groups, "board": board, "labels": labels, "a": a, "b": b, "tests": TESTS,
        "damage": opened.damage, "found": found, "n_measures": spelled(len(found)),
        "notes": [note for note in board.notes if not note.startswith((BETTER, "Also"))],
    }  # fmt: skip
    if isinstance(found, UnpairedComparisons):
        return common | {"is_paired": False, "shared": board.measures, "measure": board.measures[0]}
    shared = [each.measure for each in found]
    measure = ask.text("measure", shared[0])
    if measure in board.measures and measure not in shared:
        raise missing(f"{a} and {b} have no query in common on {measure_title(measure)}.", "They share:", [
            (measure_title(each), ask.here(measure=each)) for each in shared
        ])  # fmt: skip
    measure = ask.choice("measure", shared, shared[0])
    one = next(each for each in found if each.measure == measure)
    sign = parse_metric(measure).quality(1)
    left, right = board.line(a).per_query[measure], board.line(b).per_query[measure]
    both = np.flatnonzero(~np.isnan(left - right))
    d = sign * (left[both] - right[both])
    d[np.abs(d) <= 1e-12] = 0.0
    order = np.argsort(-d, kind="stable")
    low, high = ask.number("low"), ask.number("high")
    is_brushed = low is not None or high is not None
    low, high = (-np.inf if low is None else low), (np.inf if high is None else high)
    picked = order[(d[order] >= min(low, high)) & (d[order] <= max(low, high))]
    if not is_brushed:
        picked = order[np.argsort(-np.abs(d[order]), kind="stable")]
    elif len(picked) and np.median(d[picked]) < 0:
        picked = picked[::-1]
    start = min(max(0, ask.whole("from", 1, 10**9) - 1), max(0, len(picked) - 1))
    rows = [_moved(board, facts, int(both[i]), float(d[i]), left, right) for i in picked[start : start + PAGE]]
    return common | {
        "is_paired": True, "measure": measure, "one": one, "rows": rows,
        "finding": _finding(one, a, b, sign, _leaning(board, measure, a, b)),
        "n_queries": len(d), "n_picked": len(picked), "is_brushed": is_brushed, "start": start, "page_size": PAGE,
        "low": ask.text("low"), "high": ask.text("high"), "low_value": low, "high_value": high,
        "bars": _bars(d[order], low, high, is_brushed), "largest": float(np.max(np.abs(d), initial=0)) or 1.0,
        "plots": _plots(facts, both, d, picked if is_brushed else order), "measures": _by_measure(found),
        "shared": shared, "sign": sign, "unit": _unit(board, a, b),
        "family": f"Holm’s correction for the {spelled(len(found))} measures below",
    }  # fmt: skip


def _label(ask: Ask, name: str, labels: Sequence[str], default: str) -> str:
    value = ask.text(name, default)
    if value not in labels:
        raise missing(f"There is no ranker “{value}” on this board.", "There is:", [
            (one, ask.here(**{name: one})) for one in labels[:6]
        ])  # fmt: skip
    return value


def _unit(board: Board, a: str, b: str) -> str:
    """What the test was made over, where that is not queries."""
    if TESTS[board.test].is_paired:
        return ""
    n = [line.n_trials for line in (board.line(a), board.line(b))]
    return f" over the means of {spelled(n[0])} and {spelled(n[1])} trials"


def _leaning(board: Board, measure: str, a: str, b: str) -> float:
    """Positive if the test over queries favors a; 0 for a test that does not compare queries."""
    test = TESTS[board.test]
    return test.function(*(board.line(one).per_query[measure] for one in (a, b))).leaning if test.is_paired else 0.0


def _finding(one: Comparison, a: str, b: str, sign: float, leaning: float) -> tuple[str, tuple[str, str, str, str]]:
    """Which sentence the page opens with: its kind, and its pieces."""
    title, ahead = measure_title(one.measure), sign * one.difference
    wins, losses = (one.n_above, one.n_below) if sign > 0 else (one.n_below, one.n_above)
    if one.p_alone >= 0.05:
        return "chance", (a, b, title, f"{wins:,} wins, {losses:,} losses")
    if leaning * one.difference < 0:  # ranks see another one ahead than the means do
        return "apart", (*((a, b) if ahead > 0 else (b, a)), title, "")
    first, second = (a, b) if ahead > 0 else (b, a)
    won = wins if ahead > 0 else losses
    return "ahead", (first, second, f"{won:,} of {one.n_queries:,}", f"{fixed(abs(ahead), 3)} {title}")


def _facts(opened: OpenStore, board: Board) -> Facts | None:
    """What is known of each query of the board, in its order; None if nothing was kept."""
    folds = {trial.fold: trial for line in board.lines for trial in line.trials}

    def make() -> Facts | None:
        with opened.kept() as kept:
            found = {fold: kept.facts(trial.data) for fold, trial in folds.items()} if kept is not None else {}
        if not found or any(one is None for one in found.values()):
            return None
        queries = opened.view.fold_queries([trial.key for trial in folds.values()])
        place = {query: i for i, query in enumerate(board.query_ids)}
        columns = np.full((3, len(place)), np.nan)
        for fold, of in queries.items():
            known = found[fold]
            if known is None or len(known.sizes) != len(of):
                return None
            columns[:, [place[query] for query in of]] = np.array([*known])
        return Facts(*columns)

    facts: Facts | None = opened.remembered("facts", make, board.dataset, board.profile)
    return facts


def _moved(board: Board, facts: Facts | None, i: int, d: float, left: Floats, right: Floats) -> Moved:
    known: tuple[Any, Any, Any] = (None, None, None)
    if facts is not None and isfinite(facts.sizes[i]):
        size = int(facts.sizes[i])
        known = size, float(facts.relevant[i]) / max(size, 1), float(facts.highest[i])
    return Moved(str(board.query_ids[i]), d, float(left[i]), float(right[i]), *known)


def _bars(d: Floats, low: float, high: float, is_brushed: bool) -> dict[str, Any]:
    """The sorted differences as bars, each a query or the mean of several that follow one another."""
    n = max(1, min(MOST_BARS, len(d)))
    parts = [part for part in np.array_split(d, n) if len(part)]
    values = [float(part.mean()) for part in parts]
    up, down = max(max(values, default=0), 0), max(-min(values, default=0), 0)
    unit = REACH / max(up, down, 1e-12)
    zero = TOP + up * unit
    step = 100 / n
    bars = []
    for i, value in enumerate(values):
        height = max(abs(value) * unit, 1.0)
        kind = "bar" if value == 0 else "a" if value > 0 else "b"
        y = zero - height if value > 0 else zero
        place = f"{i * step + 0.11 * step:.3f}%", f"{0.78 * step:.3f}%"
        bars.append(Bar(kind, f"{value:.6f}", *place, f"{y:.1f}", f"{height:.1f}"))
    inside = [i for i, value in enumerate(values) if low - 1e-12 <= value <= high + 1e-12]
    brush = (f"{inside[0] * step:.3f}%", f"{(inside[-1] - inside[0] + 1) * step:.3f}%") if inside else None
    wins, losses, total = int(np.sum(d > 0)), int(np.sum(d < 0)), max(len(d), 1)
    ticks = [value for value in round_ticks(-down, up, 4) if value]
    lines = [(round(zero - value * unit, 1), signed(value, 2).rstrip("0")) for value in ticks]
    return {
        "bars": bars, "zero": f"{zero:.1f}", "height": f"{zero + down * unit + 24:.0f}", "lines": lines,
        "each": -(-len(d) // n), "wins": wins, "losses": losses, "equal": len(d) - wins - losses,
        "wins_x": f"{50 * wins / total:.2f}%", "equal_x": f"{50 * (total + wins - losses) / total:.2f}%",
        "losses_x": f"{max(100 * (total - losses) / total - 1, 22):.2f}%", "brush": brush if is_brushed else None,
    }  # fmt: skip


def _plots(facts: Facts | None, both: NDArray[np.intp], d: Floats, picked: NDArray[np.intp]) -> list[Any]:
    """Differences against what is known of the queries: size, share of relevant documents, highest grade."""
    if facts is None or not len(d) or not np.isfinite(facts.sizes[both]).all():
        return []
    chosen = set(picked.tolist())
    shown = np.arange(len(d)) if len(d) <= MOST_DOTS else np.linspace(0, len(d) - 1, MOST_DOTS).astype(int)
    sizes, relevant, highest = (np.asarray(column)[both].astype(float) for column in facts)
    low, high = span_of(d)
    reach = max(high, 0) - min(low, 0) or 1.0

    def y_of(value: float) -> str:
        return f"{12 + 140 * (max(high, 0) - value) / reach:.1f}"

    top = max(1.0, float(highest.max()))
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(d))
    small, large = float(max(1, sizes.min())), float(sizes.max())
    kinds = [
        ("Documents of the query, by logarithm", Scale(0.9 * small, 1.1 * max(large, small + 1), log=True), sizes),
        ("Share of relevant documents", Scale(-0.08, 1.08), relevant / np.maximum(sizes, 1)),
        ("Highest grade of the query", Scale(-0.5, top + 0.5), highest + jitter),
    ]
    plots = []
    for title, scale, values in kinds:
        dots = [
            (
                "a" if d[i] > 0 else "b" if d[i] < 0 else "bar",
                scale.percent(float(values[i])),
                y_of(float(d[i])),
                i in chosen,
            )
            for i in shown.tolist()
        ]
        ticks = scale.ticks()
        if title.startswith("Share"):
            ticks = [(scale.percent(share), f"{share:.0%}".replace("%", " %")) for share in (0, 0.25, 0.5, 0.75, 1)]
        elif title.startswith("Highest"):
            ticks = [(scale.percent(grade), f"{grade}") for grade in range(int(top) + 1)][:7]
        plots.append({"title": title, "dots": dots, "ticks": ticks, "zero": y_of(0.0)})
    return plots


def _by_measure(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Each measure with its interval on one axis."""
    low, high = span_of([end for one in found for end in (*one.interval, 0.0)])
    scale = Scale(low, high if high > low else low + 1e-9, 4, 96)
    return [
        {
            "one": one, "low": scale.percent(one.interval.low), "high": scale.percent(one.interval.high),
            "mean": scale.percent(one.difference), "zero": scale.percent(0.0), "ticks": scale.ticks(3),
            "is_sure": one.interval.low > 0 or one.interval.high < 0,
        }
        for one in found
    ]  # fmt: skip
