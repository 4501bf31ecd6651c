"""Sums over trials: a board made from them is the board of the trials, and where they do not fit, nobody reads them."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from ordino.experiment.report.board import make_boards
from ordino.experiment.report.text import comma_separated
from ordino.experiment.store import Store, StoreView
from ordino.experiment.store.sums import setting_of
from trials import made_trials


def with_data(trials):
    """As if they were run: each fold has the fingerprint of its data."""
    return [replace(trial, data=f"data of {trial.fold}", ranker=f"ranker-{trial.label}".lower()) for trial in trials]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        for trial in with_data(made_trials(["A", "B", "C"], seeds=(0, 1, 2))):
            store.add(trial)
    return path


def board_of(path):
    """All that a board says, in full precision."""
    with StoreView(path) as view:
        boards = make_boards(view)
        return comma_separated(boards), [line.per_query for line in boards[0].lines]


def board_of_values(path):
    """What each query has, read from the trials alone."""
    copy = path.with_name("copy.sqlite")
    shutil.copy(path, copy)
    execute(copy, "DELETE FROM sums")
    return board_of(copy)[1]


def execute(path, command, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(command, values).fetchall()


def spoil_values(path):
    """What is measured of each query can no longer be read, so that only sums can be."""
    execute(path, "UPDATE query_values SET numbers = zeroblob(8)")


def test_a_board_of_sums_is_the_board_of_the_trials(path):
    text, values = board_of(path)
    execute(path, "DROP TABLE sums")
    plain, read = board_of(path)
    assert text == plain
    for one, other in zip(values, read, strict=True):
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_values_are_not_read_where_there_are_sums(path):
    text, _ = board_of(path)
    spoil_values(path)
    assert board_of(path)[0] == text


def test_queries_without_a_value_are_counted(tmp_path):
    first, *others = with_data(made_trials(["A", "B"], folds=1, seeds=(0, 1)))
    first.per_query["map"][3] = np.nan
    with Store(tmp_path / "s.sqlite") as store:
        store.add(first, *others)
    spoil_values(tmp_path / "s.sqlite")
    with StoreView(tmp_path / "s.sqlite") as view:
        [board] = make_boards(view)
    column = board.line("A").per_query["map"]
    assert column[3] == others[0].per_query["map"][3]
    assert column[4] == (first.per_query["map"][4] + others[0].per_query["map"][4]) / 2


def test_trials_that_came_later_are_added(path):
    """Another version wrote them, which knows no sums."""
    later = with_data(made_trials(["A", "B", "C"], seeds=(0, 1, 2, 3)))
    kept = execute(path, "SELECT * FROM sums")
    with Store(path) as store:
        store.add(*later)
    whole, _ = board_of(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM sums")
        connection.executemany("INSERT INTO sums VALUES (?, ?, ?, ?, ?, ?)", kept)
    assert board_of(path)[0] == whole


def test_a_setting_that_is_measured_anew_begins_anew(path):
    again = [
        replace(trial, key=f"again {trial.key}", per_query={name: own / 2 for name, own in trial.per_query.items()},
                test={name: mean / 2 for name, mean in trial.test.items()})
        for trial in with_data(made_trials(["A", "B", "C"], seeds=(0, 1, 2)))
    ]  # fmt: skip
    with Store(path) as store:
        store.add(*again)
    text, values = board_of(path)
    for one, other in zip(values, board_of_values(path), strict=True):
        assert all(np.array_equal(one[name], other[name]) for name in one)
    spoil_values(path)
    assert board_of(path)[0] == text


@pytest.mark.parametrize("harm", ["totals = zeroblob(length(totals))", "trials = '{}'", "counts = x'00'", "sum = 1"])
def test_damaged_sums_are_not_read(path, harm):
    text, _ = board_of(path)
    execute(path, f"UPDATE sums SET {harm}")
    assert board_of(path)[0] == text


def test_one_fingerprint_of_two_lists_of_queries_is_not_trusted(tmp_path):
    trials = with_data(made_trials(["A", "B"], folds=1))
    trials[1] = replace(trials[1], query_ids=trials[1].query_ids[::-1])
    with Store(tmp_path / "s.sqlite") as store:
        store.add(*trials)
    with StoreView(tmp_path / "s.sqlite") as view:
        [board] = make_boards(view)
    there = [board.query_ids.index(query) for query in trials[1].query_ids.tolist()]
    assert np.array_equal(board.line("B").per_query["map"][there], trials[1].per_query["map"])


def test_a_store_of_an_earlier_version_gets_its_sums_with_the_next_run(path):
    text, _ = board_of(path)
    execute(path, "DROP TABLE sums")
    execute(path, "DROP TABLE test_queries")
    with Store(path) as store:
        store.add()
    spoil_values(path)
    assert board_of(path)[0] == text


def test_reading_an_earlier_store_leaves_it_as_it_is(path):
    execute(path, "DROP TABLE sums")
    execute(path, "DROP TABLE test_queries")
    board_of(path)
    assert execute(path, "SELECT count(*) FROM sqlite_master WHERE name = 'sums'") == [(0,)]


def test_the_lines_of_a_board_need_the_first_metric_alone(path):
    with StoreView(path) as view:
        [whole], [first] = make_boards(view), make_boards(view, only_first=True)
    assert len(whole.measures) > 1
    assert first.measures == whole.measures
    assert [line.label for line in first.lines] == [line.label for line in whole.lines]
    for line, other in zip(first.lines, whole.lines, strict=True):
        assert [trial.key for trial in line.trials] == [trial.key for trial in other.trials]
        assert list(line.cells) == list(line.per_query) == whole.measures[:1]
        assert line.cells[whole.measures[0]].mean == other.cells[whole.measures[0]].mean


def test_trials_that_differ_in_more_than_seed_and_label_are_not_summed_together():
    one = made_trials(["A"])[0]
    others = {
        "dataset": "z",
        "profile": "trec",
        "fold": "Fold9",
        "data": "f",
        "ranker": "y",
        "is_tuned": True,
        "params": {"C": 1},
    }
    changed = [replace(one, **{name: value}) for name, value in others.items()]
    assert len({setting_of(trial) for trial in (one, *changed)}) == 1 + len(others)
    assert setting_of(replace(one, seed=one.seed + 1, label="B")) == setting_of(one)
