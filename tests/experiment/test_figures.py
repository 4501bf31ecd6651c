"""Figures: the numbers in them are the board's, they can be drawn as files, and no label breaks them."""

import dataclasses
import re

import numpy as np
import pytest

from ordino.errors import DataError
from ordino.experiment.compare.comparison import bootstrap_interval
from ordino.experiment.report.board import make_boards
from ordino.experiment.report.curves import CURVES, POINTS, cutoffs, learning_curves
from ordino.experiment.report.drawing import COLORS
from ordino.experiment.report.figures import FIGURES
from ordino.experiment.report.page import PICTURES, figure_specs, file_stems, write_figures
from ordino.experiment.report.plots import curves_of
from trials import made_trials

LABELS = ["LambdaMART", "RankNet", "PRank"]
HOSTILE = "</script> '\"\\ [a](b) datum.x \n \x00 " + "long " * 60
HEADS = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}


@pytest.fixture(scope="module")
def board():
    return make_boards(made_trials(LABELS))[0]


@pytest.fixture(scope="module")
def specs(board):
    return figure_specs(board)


def bare(trials):
    """Trials with nothing but the values of one measure."""
    return [
        dataclasses.replace(
            trial, history=(), feature_weights=None, per_query={"map": trial.per_query["map"]}, test={"map": 0.5}
        )
        for trial in trials
    ]


def rows_of(spec):
    """The data of a figure's first pane; Altair moves data that all panes share to the top."""
    return spec["concat"][0].get("data", spec.get("data"))["values"]


def test_a_full_store_has_every_figure(specs):
    assert list(specs) == list(FIGURES)


def test_a_bare_store_has_what_it_can():
    assert list(figure_specs(make_boards(bare(made_trials(LABELS)))[0])) == ["means", "wins", "queries"]
    assert list(figure_specs(make_boards(bare(made_trials(["alone"])))[0])) == ["means"]


def test_means_are_those_of_the_board(board, specs):
    rows = specs["means"]["data"]["values"]
    for row, line in zip(rows, board.lines, strict=True):
        assert row["label"] == line.label
        assert row["mean"] == line.cells["ndcg@10"].mean
        assert (row["low"], row["high"]) == bootstrap_interval(line.per_query["ndcg@10"], samples=1000)


def test_wins_and_losses_count_queries(board, specs):
    rows = specs["wins"]["layer"][0]["data"]["values"]
    d = board.line("PRank").per_query["ndcg@10"] - board.line("LambdaMART").per_query["ndcg@10"]
    counted = {row["outcome"]: row["queries"] for row in rows if row["label"] == "PRank"}
    assert counted == {"wins": np.sum(d > 0), "ties": np.sum(d == 0), "losses": np.sum(d < 0)}
    assert counted["ties"] == 2


def test_less_error_is_a_win():
    board = make_boards(made_trials(LABELS), measures=["pairwise_error"])[0]
    counted = {
        row["outcome"]: row["queries"]
        for row in FIGURES["wins"].draw(board).to_dict(validate=False)["layer"][0]["data"]["values"]
        if row["label"] == "PRank"
    }
    assert counted["losses"] > counted["wins"]
    assert "-1 * (datum" in FIGURES["queries"].draw(board).to_json()


def test_curves_at_k_go_by_cutoff(board, specs):
    rows = rows_of(specs["at-k"])
    assert [row["k"] for row in rows if row["label"] == "PRank"] == [1, 5, 10]
    assert rows[0]["mean"] == board.lines[0].cells["ndcg@1"].mean


def test_crowded_curves_show_the_best():
    board = make_boards(made_trials([f"ranker {i}" for i in range(CURVES + 3)]))[0]
    specs = figure_specs(board)
    for name in ("at-k", "learning"):
        shown = {row["label"] for row in rows_of(specs[name])}
        assert shown == {line.label for line in board.lines[:CURVES]}
    assert len(COLORS) == CURVES


def test_learning_curves_show_only_the_metric_that_chooses():
    row = {"train_known": 3, "valid_comparisons": 5, "rate": 0.1, "error": 2.0}
    history = [{name: value * step for name, value in row.items()} | {"valid": 0.1 * step} for step in (1, 2, 3)]
    chosen = {"LambdaMART": "map", "RankNet": "ndcg@10", "PRank": ""}
    trials = [
        dataclasses.replace(trial, history=history, chosen_by=chosen[trial.label]) for trial in made_trials(LABELS)
    ]
    panes = figure_specs(make_boards(trials)[0])["learning"]["concat"]
    assert [pane["encoding"]["y"]["title"] for pane in panes] == [
        "map on validation data", "ndcg@10 on validation data", "choosing metric on validation data",
    ]  # fmt: skip
    colors = [pane["encoding"]["color"]["scale"] for pane in panes]
    assert colors == [{"domain": [label], "range": [color]} for label, color in zip(LABELS, COLORS, strict=False)]


def test_learning_curves_of_errors_show_errors():
    """A history holds them negated, so that larger is better there."""
    history = [{"valid": -0.5, "error": 2.0}, {"valid": -0.25, "error": 1.0}]
    assert learning_curves([history], "pairwise_error") == {
        "valid": [(1, 0.5), (2, 0.25)],
        "error": [(1, 2.0), (2, 1.0)],
    }
    trials = [dataclasses.replace(one, history=history, chosen_by="pairwise_error") for one in made_trials(LABELS)]
    [board] = make_boards(trials)
    rows = figure_specs(board)["learning"]["data"]["values"]
    assert {(row["step"], row["value"]) for row in rows} == {(1, 0.5), (2, 0.25)}
    drawn = curves_of(board)[-1]
    assert drawn.title == "pairwise_error on validation data, by step"
    assert [text for _, text in drawn.grid] == ["0.3", "0.4", "0.5"]


def test_a_drawing_has_a_label(board, tmp_path):
    write_figures([board], tmp_path, formats=["svg"])
    for name, figure in FIGURES.items():
        drawn = (tmp_path / f"letters-standard-{name}.svg").read_text(encoding="utf-8")
        label = re.match(r'<svg role="img" aria-label="([^"]+)"[^>]*><title>([^<]+)</title>', drawn)
        assert label[1] == label[2]
        assert label[1].startswith(f"{figure.title}, letters: ")


def test_weights_are_shares_of_the_largest(specs):
    rows = {(row["label"], row["feature"]): row["weight"] for row in specs["weights"]["data"]["values"]}
    assert rows["LambdaMART", "bm25"] == 1.0
    assert rows["LambdaMART", "pagerank"] == -1.0 / 2.0
    assert rows["PRank", "bm25"] == 0.0
    assert rows["PRank", "pagerank"] == -1.0


def test_weights_of_zero_are_no_division():
    trials = [dataclasses.replace(trial, feature_weights={"a": 0.0}) for trial in made_trials(["A"])]
    assert figure_specs(make_boards(trials)[0])["weights"]["data"]["values"][0]["weight"] == 0.0


def test_queries_that_were_left_out_are_null():
    trials = made_trials(["A", "B"])
    trials[0].per_query["ndcg@10"][3] = np.nan
    rows = figure_specs(make_boards(trials)[0])["queries"]["data"]["values"]
    assert sum(row["r0"] is None for row in rows) == 1


def test_cutoffs_keep_parameters_apart():
    assert cutoffs(["rbp(p=0.9)@5", "rbp@5", "rbp(p=0.9)@10", "map", "p@5"]) == {
        "rbp(p=0.9)": [(5, "rbp(p=0.9)@5"), (10, "rbp(p=0.9)@10")]
    }


def test_a_learning_curve_does_not_jump_where_a_trial_ends():
    short, long = made_trials(["RankNet"])[:2]
    short = dataclasses.replace(short, history=[{"valid": 0.2}])
    long = dataclasses.replace(long, history=[{"valid": 0.6}, {"valid": 0.8}])
    assert learning_curves([short.history, long.history]) == {
        "valid": [(1, pytest.approx(0.4)), (2, pytest.approx(0.5))]
    }


def test_what_is_fixed_in_each_trial_is_no_learning_curve():
    trials = [
        dataclasses.replace(trial, history=[{"rate": rate}] * length)
        for trial, rate, length in zip(made_trials(["RankNet", "PRank"])[:3], (0.1, 0.1, 0.3), (2, 4, 3), strict=True)
    ]
    assert learning_curves(trial.history for trial in trials) == {}


def test_learning_curves_leave_out_what_is_no_number_or_never_changes():
    trial = dataclasses.replace(
        made_trials(["A"])[0],
        history=[
            {"loss": 1.0, "valid": None, "note": "x", "rate": 0.01},
            {"loss": float("nan"), "valid": 0.5, "rate": 0.01},
            {"loss": 0.25, "valid": 0.75, "rate": 0.01},
        ],
    )
    assert learning_curves([trial.history]) == {"loss": [(1, 1.0), (3, 0.25)], "valid": [(2, 0.5), (3, 0.75)]}
    assert learning_curves([()]) == {}


def test_long_histories_are_thinned():
    trial = dataclasses.replace(made_trials(["A"])[0], history=[{"best": i / 5000} for i in range(5000)])
    steps = [step for step, _ in learning_curves([trial.history])["best"]]
    assert len(steps) <= POINTS
    assert (steps[0], steps[-1]) == (1, 5000)


@pytest.mark.parametrize("kind", PICTURES)
def test_every_figure_can_be_drawn(board, kind, tmp_path):
    written = write_figures([board], tmp_path / "deep" / "figures", formats=[kind])
    assert [path.name for path in written] == [f"letters-standard-{name}.{kind}" for name in FIGURES]
    for path in written:
        assert path.read_bytes().startswith(HEADS[kind])
        assert path.stat().st_size > 3000


def test_hostile_labels_are_drawn_as_text(tmp_path):
    trials = [
        dataclasses.replace(trial, dataset="../../etc/x", feature_weights={HOSTILE: 1.0, "b.c[0]": 0.5})
        for trial in made_trials([HOSTILE, "B"])
    ]
    written = write_figures(make_boards(trials), tmp_path, formats=["svg"])
    assert {path.parent for path in written} == {tmp_path}
    assert "etc-x-standard-means.svg" in {path.name for path in written}
    for path in written:
        assert "</script> '" not in path.read_text()


def test_boards_get_names_of_their_own(board):
    other = dataclasses.replace(board, dataset="letters!")
    assert file_stems([board, other]) == ["letters-standard", "letters-standard-2"]


def test_a_file_is_no_folder(board, tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(DataError, match="is a file; figures need a folder"):
        write_figures([board], tmp_path / "x")
