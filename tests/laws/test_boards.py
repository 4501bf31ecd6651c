"""Law 14: what is said of a board is said of the metric that was asked for, of all its trials, and in its direction.

Whatever takes a board is in ``SAYERS``, found by walking the modules of reports; one that is added later is met here by
itself. Other metrics in the store change nothing, nor does the order in which the trials of a fold were written; and a
metric of which less is better says the same as its opposite. Trials that are there twice change no mean.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import io
import json
import pkgutil
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, get_type_hints

import numpy as np
import pytest

from ordino.experiment import report
from ordino.experiment.report import page
from ordino.experiment.report.board import Board, make_boards
from ordino.experiment.report.board_view import view_board
from ordino.experiment.report.figures import mean_weights
from ordino.experiment.store import Trial
from ordino.pages.numbers import measure_title

LABELS = ("A", "B", "C", "D")
LESS, MORE, OTHER = "pairwise_error", "pairwise_accuracy", "map"
OF_ALL = {"text.comma_separated", "curves.at_k", "plots.curves_of"}
"""Those that show every metric of the store."""
BESIDE: dict[str, Callable[[Board], dict[str, Any]]] = {
    "board.compare_labels": lambda _: {"a": "B", "b": "C"},
    "board.shared_measures": lambda _: {"a": "B", "b": "C"},
    "board_view.view_pairs": lambda board: {"measure": board.measures[0]},
    "curves.curves_of_line": lambda board: {"line": board.lines[0]},
    "figures.mean_weights": lambda board: {"line": board.lines[0]},
    "plots.weights_of": lambda _: {"mean_weights": mean_weights},
}
"""What they take beside a board."""
WRITERS = {"page.write_figures": "what page.figure_specs gives, as files", "page.render": "the others by their names"}


def found() -> dict[str, Callable[[Board], Any]]:
    """Every public function that takes a board or several first, by its module and name."""
    sayers = {"page._section": page._section}
    for module in pkgutil.iter_modules(report.__path__):
        of = importlib.import_module(f"{report.__name__}.{module.name}")
        for name, function in inspect.getmembers(of, inspect.isfunction):
            first = next(iter(inspect.signature(function).parameters), "")
            taken = get_type_hints(function).get(first)
            if function.__module__ == of.__name__ and taken in (Board, Sequence[Board]) and not name.startswith("_"):
                sayers[f"{module.name}.{name}"] = function if taken is Board else lambda one, own=function: own([one])
    return {name: function for name, function in sayers.items() if name not in WRITERS}


SAYERS = found()


def trials(metrics: Sequence[str], seeds: Sequence[int] = (0, 1, 2)) -> list[Trial]:
    """By each metric another ranker is the best, and no two trials have anything in common."""
    made = []
    for fold in range(2):
        for seed in seeds:
            for place, label in enumerate(LABELS):
                rng = np.random.default_rng([fold, seed, place])
                wrong = np.round(64 * np.clip(0.1 + 0.06 * place + rng.normal(0, 0.05, 20), 0, 1)) / 64
                right = np.round(64 * np.clip(0.3 + 0.06 * (place**2 % 5) + rng.normal(0, 0.05, 20), 0, 1)) / 64
                values = {LESS: wrong, MORE: 1 - wrong, OTHER: right}
                own = {name: values[name] for name in metrics}
                steps = [{"epoch": i, "valid": (place + i + seed + fold) / 64} for i in range(4)]
                made.append(
                    Trial(
                        key=f"{label}{fold}{seed}", dataset="letters", fold=f"Fold{fold + 1}", ranker="ranknet",
                        label=label, params={}, seed=seed, profile="standard", data=str(fold), chosen_by="map",
                        train_seconds=(1 + seed + place**2) / 4, score_seconds=(1 + seed) / 8,
                        test={name: float(column.mean()) for name, column in own.items()}, per_query=own,
                        query_ids=np.arange(20) + 20 * fold, history=steps, started=f"2026-03-0{1 + seed}T10:00:00",
                        feature_weights={"bm25": 2.0, "length": (seed - place + fold) / 4},
                        query_counts={"n_empty": 1, "n_tied": seed, "n_short": 2, "n_left_out": 3},
                    )
                )  # fmt: skip
    return made


@cache
def board_of(measures: tuple[str, ...], stored: tuple[str, ...] = (LESS, MORE, OTHER), seeds=(0, 1, 2)) -> Board:
    """The board of these metrics, of a store that may have others."""
    [board] = make_boards(trials(stored, seeds), measures=measures)
    return replace(board, notes=[note for note in board.notes if not note.startswith("Also in the store")])


def said(name: str, board: Board) -> Any:
    """What is said of a board, as plain data: charts as their specification, numbers to nine digits."""
    more = BESIDE[name](board) if name in BESIDE else {}
    return plain(SAYERS[name](board, **more))


def plain(value: Any) -> Any:
    if isinstance(value, Board):
        return value.dataset
    if hasattr(value, "to_dict") and not is_dataclass(value):
        return plain(value.to_dict(validate=False))
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, str):
        return re.sub(r"\d+\.\d{9,}(e-\d+)?", lambda number: f"{float(number[0]):.9g}", value)
    return value if value is None or isinstance(value, bool | int) else f"{value:.9g}"


@pytest.mark.parametrize("name", [name for name in SAYERS if name not in OF_ALL])
def test_other_metrics_in_the_store_change_nothing(name):
    told, alone = said(name, board_of((OTHER,))), said(name, board_of((OTHER,), (OTHER,)))
    if name == "page._section":
        del told["curves"], alone["curves"]  # at every k of the store
    assert told == alone


@pytest.mark.parametrize("name", SAYERS)
def test_the_order_in_which_repeats_were_written_changes_nothing(name):
    both = (OTHER, LESS)
    assert said(name, board_of(both)) == said(name, board_of(both, seeds=(2, 0, 1)))


@pytest.mark.parametrize("name", ["board_view.view_pairs", "figures.wins", "made.finding", "plots.versus"])
def test_a_metric_of_which_less_is_better_says_the_same_as_its_opposite(name):
    less, more = (said(name, board_of((metric,))) for metric in (LESS, MORE))
    if name == "plots.versus":
        assert (less.pop()["sign"], more.pop()["sign"]) == (-1, 1)
    titles = {measure_title(LESS): measure_title(MORE), LESS: MORE}
    for word, other in titles.items():
        less = json.loads(json.dumps(less).replace(word, other))
    assert less == more


@pytest.mark.parametrize("metric", [OTHER, LESS, MORE])
def test_a_board_sorted_by_another_metric_is_drawn_as_if_that_were_the_first(metric):
    others = tuple(name for name in (OTHER, LESS, MORE) if name != metric)
    sorted_by, first = view_board(board_of((*others, metric)), sort=metric), view_board(board_of((metric, *others)))
    for name in ("sorted_by", "is_rising", "drawn", "ticks", "band", "away"):
        assert getattr(sorted_by, name) == getattr(first, name)
    for row, same in zip(sorted_by.rows, first.rows, strict=True):
        assert (row.label, row.dots, row.is_near) == (same.label, same.dots, same.is_near)
        assert {*row.cells} == {*same.cells}


COUNTING = {
    "text.terminal", "text.plain_text", "text.markdown", "text.latex", "page.html", "page._section", "made.settings_of",
}  # fmt: skip
"""Those in whose texts the number of trials stands, beside what the others say too."""
N_TRIALS = {12: 6, "12": "6"}


@cache
def board_of_repeats(n: int) -> Board:
    """The board of all trials, each of which is there n times, with other seeds."""
    once = trials((OTHER, LESS))
    [board] = make_boards(replace(one, key=f"{one.key} {i}", seed=one.seed + 10 * i) for i in range(n) for one in once)
    return board


@pytest.mark.parametrize("name", [name for name in SAYERS if name not in COUNTING])
def test_repeats_that_are_there_twice_change_no_mean(name):
    """Seconds, weights, counts and curves are means over trials as the metrics are, however many trials there are."""
    assert uncounted(said(name, board_of_repeats(2))) == uncounted(said(name, board_of_repeats(1)))


def uncounted(told: Any) -> Any:
    """What is said, but for the number of trials and their deviation."""
    if isinstance(told, dict):
        return {key: uncounted(one) for key, one in told.items() if key != "deviation"}
    if isinstance(told, list):
        return [uncounted(one) for one in told]
    if isinstance(told, str) and told.startswith("dataset,"):
        rows = csv.DictReader(io.StringIO(told))
        return [{key: one for key, one in row.items() if key not in ("trials", "deviation")} for row in rows]
    told = re.sub(r" ± \S+", "", told) if isinstance(told, str) else told
    return told if isinstance(told, bool) else N_TRIALS.get(told, told)
