"""Drawings of the page and dots of a board: every place is that of its number, and the numbers are the board's."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ordino.experiment.compare.comparison import mean_interval
from ordino.experiment.report import plots
from ordino.experiment.report.board import make_boards
from ordino.experiment.report.board_view import view_board
from ordino.experiment.report.figures import mean_weights
from ordino.pages.scales import Scale
from trials import made_trials

LABELS = ["A", "B", "C", "D", "E"]


@pytest.fixture(scope="module")
def board():
    """Each trial has a history and weights of its own."""
    trials = [
        replace(
            one,
            history=[
                {"valid": 0.5 + 0.1 * LABELS.index(one.label) + 0.01 * step * int(one.fold[-1])} for step in range(5)
            ],
            feature_weights={
                "x": 4.0 / (1 + LABELS.index(one.label)),
                "y": -2.0,
                "z": 1.0 * int(one.fold[-1]),
                "w": 0.5,
            },
        )
        for one in made_trials(LABELS)
    ]
    return make_boards(trials, measures=["ndcg@10", "pairwise_error"])[0]


def percents(*texts):
    return [float(text.removesuffix("%")) for text in texts]


def test_dots_stand_where_their_numbers_are(board):
    for metric in board.measures:
        view = view_board(board, sort=metric)
        numbers, places = [], []
        for row in view.rows:
            line = board.line(row.label)
            low, high = mean_interval(line.per_query[metric])
            numbers += [low, line.cells[metric].mean, high]
            places += percents(row.dots.low, row.dots.mean, row.dots.high)
            mean = line.cells[metric].mean
            assert row.dots.told == f"{mean:.4f}, 95 % interval {low:.4f} to {high:.4f}"
        slope, start = np.polyfit(numbers, places, 1)
        assert slope > 0
        assert places == pytest.approx(slope * np.array(numbers) + start, abs=0.01)
        best = min(board.lines, key=lambda line: line.cells[metric].mean * (1 if metric == "pairwise_error" else -1))
        low, high = mean_interval(best.per_query[metric])
        assert percents(*view.band) == pytest.approx([slope * low + start, slope * (high - low)], abs=0.05)


def test_a_curve_goes_through_its_points_and_has_its_name_at_its_end():
    given = {"up": [(1, 0.0), (2, 0.5), (3, 1.0)], "level": [(1, 0.25), (3, 0.25)]}
    drawn = plots.draw_curves("title", given, log=False, told="told")
    up, level = drawn.curves
    x, y = Scale(1, 3, 5, plots.RIGHT), Scale(0.0, 1.0, plots.BOTTOM, plots.TOP)
    ends = [(x.percent(a), f"{y.at(b):.1f}") for a, b in given["up"]]
    assert up.lines == [(*one, *other) for one, other in pairwise(ends)]
    assert (up.label, up.end_y, level.end_y) == ("up", f"{plots.TOP:.1f}", f"{y.at(0.25):.1f}")
    assert [float(at) for at, _ in drawn.grid] == pytest.approx([y.at(float(text)) for _, text in drawn.grid], abs=0.1)
    turned = plots.draw_curves("", given, log=True, told="").curves[0].lines
    assert percents(turned[0][2])[0] == pytest.approx(5 + (plots.RIGHT - 5) * np.log(2) / np.log(3), abs=0.01)


def test_names_of_curves_that_end_together_stand_one_below_the_other():
    ends = [100.0, 100.0, 101.0, 195.0, 196.0]
    places = plots._apart(ends)
    assert np.diff(places).min() >= plots.LETTERS - 1e-9
    assert max(places) <= plots.BOTTOM + 4
    assert plots._apart([50.0, 20.0]) == [50.0, 20.0]


def test_curves_are_of_the_means_at_each_k_and_of_all_trials(board):
    at_k, learned = plots.curves_of(board)
    assert at_k.title == "NDCG at k"
    points = {line.label: [(k, line.cells[f"ndcg@{k}"].mean) for k in (1, 5, 10)] for line in board.lines}
    assert at_k.curves == plots.draw_curves("", points, log=False, told="").curves
    steps = {  # the mean over both folds
        line.label: [(step + 1, 0.5 + 0.1 * LABELS.index(line.label) + 0.015 * step) for step in range(5)]
        for line in board.lines
    }
    assert learned.curves == plots.draw_curves("", steps, log=True, told="").curves
    assert learned.title.endswith("on validation data, by step")


def test_histories_that_different_metrics_chose_by_share_no_axis():
    chosen = {"A": "ndcg@10", "B": "map", "C": "ndcg@10"}
    [board] = make_boards([replace(one, chosen_by=chosen[one.label]) for one in made_trials(list(chosen))])
    learned = [found for found in plots.curves_of(board) if "by step" in found.title]
    assert [(found.title, [one.label for one in found.curves]) for found in learned] == [
        ("NDCG@10 on validation data, by step", ["A", "C"]),
        ("MAP on validation data, by step", ["B"]),
    ]


def test_bars_are_the_gains_of_the_best_over_the_second_largest_first(board):
    found = plots.versus(board)
    a, b = (board.line(label).per_query["ndcg@10"] for label in (found.first, found.second))
    assert (found.first, found.second) == ("A", "B")
    d = np.sort(a - b)[::-1]
    unit = 150 / np.abs(d).max()
    heights = [float(height) for *_, height in found.bars]
    assert heights == pytest.approx(np.maximum(np.abs(d) * unit, 1.0), abs=0.06)
    assert [kind for kind, *_ in found.bars] == ["a" if one > 0 else "b" if one < 0 else "bar" for one in d]
    zero = float(found.zero)
    tops = [float(top) for *_, top, _ in found.bars]
    assert tops == pytest.approx(np.where(d > 0, zero - np.maximum(d * unit, 1.0), zero), abs=0.11)
    assert found.told == (
        f"A wins {(d > 0).sum()}, B wins {(d < 0).sum()}, {(d == 0).sum()} equal, of {len(d)} queries."
    )
    assert found.values["columns"]["C"] == pytest.approx(board.line("C").per_query["ndcg@10"], abs=5e-5)


def test_the_largest_weights_of_the_best_four_come_first(board):
    found = plots.weights_of(board, mean_weights)
    assert found.rankers == ["A", "B", "C", "D"]
    # by hand: every trial's largest is 1; x is 4, 2, 4/3 and 1, y is -2, z is 1 in the first fold and 2 in the second
    largest = [4.0, 2.0, 2.0, 2.0]
    own = {"x": [4.0, 2.0, 4 / 3, 1.0], "y": [-2.0] * 4, "z": [1.5] * 4, "w": [0.5] * 4}
    for feature, values in found.rows:
        assert values == pytest.approx([value / most for value, most in zip(own[feature], largest, strict=True)])
    assert [feature for feature, _ in found.rows] == ["y", "x", "z", "w"]  # 3.5, 3.17, 2.6, 0.9 in total
