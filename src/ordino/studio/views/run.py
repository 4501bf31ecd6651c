"""Run: the trials of a run, done, under way, waiting or failed; curves as they grow; the command that continues it."""

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from math import log
from typing import Any, NamedTuple

from ordino.experiment.report.curves import PARTS
from ordino.experiment.store.kept import RunRecord
from ordino.experiment.store.under_way import Report, reports
from ordino.experiment.store.view import StoreView
from ordino.metrics import parse_metric
from ordino.plain import count_of
from ordino.studio.ask import Ask, State, StateError
from ordino.studio.runs import done_trials, is_alive
from ordino.studio.sources import OpenStore

EVERY = 2
"""Seconds between two looks at a run under way."""
CURVES = 8
POINTS = 120


class Cell(NamedTuple):
    """A ranker on a fold."""

    word: str
    kind: str = ""
    title: str = ""


def view(studio: Any, ask: Ask) -> dict[str, Any]:
    """What the page shows."""
    with studio.store() as opened:
        with opened.kept() as kept:
            runs = [] if kept is None else kept.runs()
        if not runs:
            then = "Ordino notes the progress of a run beside its store since it keeps rankings. Start one:"
            code = f"ordino bench DATA --rankers … --out {opened.path.name}"
            raise StateError(State("No run of this store is known.", then, code))
        number = min(ask.whole("run", 1, len(runs)), len(runs)) - 1
        run = runs[number]
        alive = is_alive(run)
        telling = reports(run.folder) if alive else []
        done = done_trials(opened, run)
        failed = {(one["dataset"], one["fold"], one["label"]): one["sentence"] for one in run.failures}
        curves = _curves(opened, ask)
    labels = list(dict.fromkeys(task["label"] for task in run.tasks))
    columns = list(dict.fromkeys((task["dataset"], task["fold"]) for task in run.tasks))
    rows = [(label, [_cell(label, column, done, failed, telling) for column in columns]) for label in labels]
    n_done = sum((task["dataset"], task["fold"], task["label"]) in done for task in run.tasks)
    return {
        "run": run, "runs": runs, "number": number + 1, "alive": alive, "rows": rows, "columns": columns,
        "n_done": n_done, "n_tasks": len(run.tasks), "telling": [(one, time.time() - one.began) for one in telling],
        "finding": _finding(run, alive, n_done, len(failed)), "refresh": EVERY if alive else 0, "every": EVERY,
        "several": len({dataset for dataset, _ in columns}) > 1, "damage": opened.damage,
        "growing": [_spec_growing(one) for one in telling if len(one.curve) > 1], "learned": curves,
        "began": time.strftime("%Y-%m-%d %H:%M", time.localtime(run.began)),
        "took": (run.ended or time.time()) - run.began if run.ended or alive else None,
    }  # fmt: skip


def _cell(label: str, column: tuple[str, str], done: Any, failed: Any, telling: Sequence[Report]) -> Cell:
    key = (*column, label)
    for one in telling:
        if (one.dataset, one.fold, one.label) == key:
            share = f", {100 * one.done / one.total:.0f} %" if one.total else ""
            return Cell(f"{time.time() - one.began:.0f} s{share}", "pick", "under way")
    if key in done:
        return Cell("done", "", f"{done[key]:.2f} s of training")
    return Cell("failed", "error", failed[key]) if key in failed else Cell("waits", "quiet")


def _finding(run: RunRecord, alive: bool, n_done: int, n_failed: int) -> str:
    n = len(run.tasks)
    told = f"{n_done:,} of {count_of(n, 'trial')} {'is' if n == 1 else 'are'} done"
    if n_failed:
        told += f", {count_of(n_failed, 'has', 'have')} failed"
    if alive:
        return f"{told}; the run is under way."
    if n_done == n:
        return "The run has ended; all its trials are done."
    return f"The run has stopped; {told}." if run.ended is None else f"The run has ended; {told}."


def _curves(opened: OpenStore, ask: Ask) -> dict[str, Any] | None:
    """The metric that chose, while the rankers of the last trials learned."""
    rows = opened.store.rows(
        "SELECT key, label, dataset, fold, chosen_by FROM trials WHERE test <> '{}' AND history <> '[]' "
        "ORDER BY number DESC LIMIT 200"
    )
    fold = ask.text("fold", rows[0][3] if rows else "")
    drawn: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}  # by data set and metric, then by ranker
    view_ = StoreView(opened.store)
    for key, label, dataset, of, metric in rows:
        curves = drawn.setdefault((dataset, metric), {})
        if of != fold or label in curves or len(curves) == CURVES:
            continue
        sign = parse_metric(metric).quality(1) if metric else 1  # in a history larger is better
        with suppress(Exception):
            history = view_.history(key)
            part = next(part for part in PARTS if any(isinstance(row.get(part), int | float) for row in history))
            known = [(i + 1, row[part]) for i, row in enumerate(history) if isinstance(row.get(part), int | float)]
            if len(known) < 2:  # one value makes no curve
                continue
            step = max(1, len(known) // POINTS)
            curves[label] = [
                {"ranker": label, "step": i, "value": round(sign * value, 5)} for i, value in known[::step]
            ]
    told = sorted((group for group, curves in drawn.items() if curves), key=lambda group: not group[1])
    if not told:
        return None
    metric, labels = told[0][1], list(drawn[told[0]])  # of one data set and metric, which the store tells if it can
    points = [point for curve in drawn[told[0]].values() for point in curve]
    chosen = metric or "the choosing metric"
    return {
        "fold": fold,
        "labels": labels,
        "metric": chosen,
        "folds": sorted({row[3] for row in rows}),
        "spec": _spec(points, "ranker", chosen),
    }


def _spec(points: list[dict[str, Any]], by: str, title: str) -> str:
    """Lines in grey, one picked by pointing; each is named at its end."""
    values = [point["value"] for point in points]
    names = _apart(list({point[by]: point for point in points}.values()), max(values) - min(values))
    return json.dumps(
        {
            "data": {"values": points},
            "width": "container",
            "height": 240,
            "layer": [
                {
                    "mark": {"type": "line"},
                    "params": [{"name": "picked", "select": {"type": "point", "fields": [by], "on": "pointerover"}}],
                    "encoding": {
                        "x": {
                            "field": "step",
                            "type": "quantitative",
                            "title": "step",
                            "scale": {"type": "symlog", "nice": False},
                        },
                        "y": {"field": "value", "type": "quantitative", "title": None, "scale": {"zero": False}},
                        "detail": {"field": by},
                        "color": {"condition": {"param": "picked", "empty": False, "value": "@pick"}, "value": "@rule"},
                        "strokeWidth": {"condition": {"param": "picked", "empty": False, "value": 3}, "value": 1.5},
                        "tooltip": [{"field": by}, {"field": "step"}, {"field": "value", "format": ".4f"}],
                    },
                },
                _names(names, by, {"stroke": "@ground", "strokeWidth": 4, "strokeJoin": "round"}),
                _names(names, by, {"color": "@quiet"}),
            ],
            "description": f"{title} while the rankers learned",
        }
    )


def _names(names: list[dict[str, Any]], by: str, style: dict[str, Any]) -> dict[str, Any]:
    """The names of curves; drawn first in the color of the page, they keep the lines at a distance."""
    return {
        "data": {"values": names},
        "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 12} | style,
        "encoding": {
            "x": {"field": "step", "type": "quantitative"},
            "y": {"field": "value", "type": "quantitative"},
            "text": {"field": by},
        },
    }


def _apart(ends: list[dict[str, Any]], span: float) -> list[dict[str, Any]]:
    """Where the names of curves stand: at their ends, or below a name that is in the way."""
    room, reach = 0.07 * (span or 1.0), log(max(one["step"] for one in ends) + 1) or 1.0
    placed: list[dict[str, Any]] = []
    for one in sorted(ends, key=lambda end: -end["value"]):
        y = one["value"]
        for other in placed:
            if abs(log(one["step"] + 1) - log(other["step"] + 1)) < 0.25 * reach and other["value"] - y < room:
                y = other["value"] - room
        placed.append(one | {"value": y})
    return placed


def _spec_growing(one: Report) -> str:
    """The curve of a trial under way."""
    values = [{"step": step, "value": value} for step, value in one.curve]
    return json.dumps(
        {
            "data": {"values": values},
            "width": "container",
            "height": 120,
            "title": f"{one.label} on {one.fold}",
            "mark": {"type": "line", "color": "@pick", "strokeWidth": 2},
            "encoding": {
                "x": {
                    "field": "step",
                    "type": "quantitative",
                    "title": None,
                    "scale": {"domain": [0, max(one.total, values[-1]["step"])], "nice": False},
                },
                "y": {"field": "value", "type": "quantitative", "title": None, "scale": {"zero": False}},
            },
            "description": f"{one.figures} of {one.label} on {one.fold}, {one.done} of {one.total} steps done",
        }
    )
