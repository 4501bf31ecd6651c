"""What a page says above and below its numbers: the finding, and how the numbers were made."""

import dataclasses

import pytest

from ordino.experiment.report import made
from ordino.experiment.report.board import make_boards
from ordino.experiment.report.board_view import view_board
from trials import made_trials

LABELS = ["LambdaMART", "RankNet", "PRank"]


def board_of(*labels, **options):
    return make_boards(made_trials(labels), **options)[0]


@pytest.mark.parametrize(
    ("labels", "baseline", "sentence"),
    [
        (["A"], None, "A reaches {mean} on NDCG@10; there is nothing to compare it with."),
        (["A", "B"], None, "A is ahead of B on NDCG@10 by more than chance."),
        (["A", "B", "C"], None, "A is ahead of all two others on NDCG@10 by more than chance."),
        (["A", "B", "C"], "C", "On NDCG@10, A and B are ahead of C by more than chance."),
        (["A", "B", "C"], "B", "On NDCG@10, A is ahead of B by more than chance."),
    ],
)
def test_the_finding(labels, baseline, sentence):
    board = board_of(*labels, baseline=baseline)
    assert made.finding(board) == sentence.format(mean=f"{board.lines[0].cells['ndcg@10'].mean:.4f}")


def test_who_is_within_chance_of_the_first_is_named():
    same = made_trials(["A"])
    trials = [dataclasses.replace(one, label=label, key=label + one.key) for label in "ABCDEF" for one in same]
    assert made.finding(make_boards(trials[:4])[0]) == "A leads on NDCG@10; B is within chance of it."
    told = "A leads on NDCG@10; B, C, D and 2 others are within chance of it."
    assert made.finding(make_boards(trials)[0]) == told


def test_a_ranker_without_a_value_of_the_metric_is_not_within_chance():
    *measured, one, other = made_trials(["A", "B", "C"])
    unmeasured = [
        dataclasses.replace(trial, test={"map": trial.test["map"]}, per_query={"map": trial.per_query["map"]})
        for trial in (one, other)
    ]
    [board] = make_boards([*measured, *unmeasured], measures=["ndcg@10"])
    assert [line.label for line in board.lines] == ["A", "B", "C"]
    assert made.finding(board) == "A is ahead of B on NDCG@10 by more than chance."


def test_a_ranker_that_lacks_folds_is_not_within_chance():
    trials = made_trials(["A", "B", "C"])
    lacking = [trial for trial in trials if (trial.label, trial.fold) != ("C", "Fold2")]
    [board] = make_boards(lacking)
    assert not board.line("C").cells["ndcg@10"].is_whole
    assert made.finding(board) == "A is ahead of B on NDCG@10 by more than chance."
    assert [row.is_near for row in view_board(board).rows] == [True, False, False]
    [board] = make_boards(lacking, baseline="C")
    assert made.finding(board) == "A leads on NDCG@10; C lacks folds, so that no ranker is held against it."
    [board] = make_boards(lacking[2:])
    mean = board.line("B").cells["ndcg@10"].mean
    assert made.finding(board) == f"B reaches {mean:.4f} on NDCG@10; no other ranker has all folds."
    [board] = make_boards([trials[0], trials[3]])
    assert made.finding(board) == "No ranker has NDCG@10 on all folds, so that their means are of different queries."


def test_a_metric_that_was_measured_on_some_folds_alone_is_of_other_queries():
    first, *others = made_trials(["A", "B"])
    partly = dataclasses.replace(
        first,
        test={"ndcg@10": first.test["ndcg@10"]},
        per_query={"ndcg@10": first.per_query["ndcg@10"]},
    )
    [board] = make_boards([partly, *others], measures=["ndcg@10", "map"])
    cells = board.line("A").cells
    assert (cells["ndcg@10"].is_whole, cells["map"].is_whole) == (True, False)
    assert board.references == {**board.references, "ndcg@10": "A", "map": "B"}
    assert cells["map"].mark == board.line("B").cells["map"].mark == ""
    assert "A has map on fewer folds than others: such means carry no marks." in board.notes


def test_settings_versions_and_days():
    trials = [
        dataclasses.replace(
            trial,
            params={"leaves": 7 if trial.fold == "Fold1" else 15} if trial.label == "LambdaMART" else {},
            is_tuned=trial.label == "LambdaMART",
            chosen_by="map" if trial.label == "RankNet" else "",
            versions={"ordino": "0.1.0", "numpy": "2.3" if trial.fold == "Fold1" else "2.4"},
            started=f"2026-03-0{int(trial.fold[-1]) ** 2 + (trial.label == 'RankNet')}T10:00:00+00:00",
        )
        for trial in made_trials(LABELS)
    ]
    board = make_boards(trials)[0]
    lambda_mart, ranknet, prank = made.settings_of(board)
    assert lambda_mart.settings == "Fold1: leaves=7; Fold2: leaves=15"
    assert (ranknet.settings, ranknet.chosen_by, ranknet.folds, ranknet.seeds) == ("defaults", "map", 2, 1)
    assert prank.chosen_by == "–"
    assert made.versions_of(board) == "ordino 0.1.0, numpy 2.3 and 2.4"
    assert made.dates_of(board) == "2026-03-01 to 2026-03-05"
    assert made.summary(board) == (
        "letters. Run on 2026-03-01 to 2026-03-05 with ordino 0.1.0. "
        "Rounds, epochs and settings were chosen on validation data by map."
    )


def test_an_old_store_does_not_say():
    board = board_of(*LABELS)
    assert (made.versions_of(board), made.dates_of(board)) == (made.UNKNOWN, made.UNKNOWN)
    assert made.summary(board) == "letters."
