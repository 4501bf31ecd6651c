"""Trials of one label that are not one ranker are never averaged: settings get lines, what is newer replaces."""

from dataclasses import replace

import numpy as np
import pytest

from ordino.cli import main
from ordino.experiment.plan import Plan
from ordino.experiment.report.board import make_boards
from ordino.experiment.report.board_trials import choose_trials
from ordino.experiment.run import run
from ordino.experiment.store import StoreView, Trial
from ordino.testing import easy_data


def a_trial(key, value, *, label="RankNet", fold="Fold1", seed=0, dataset="toy", measures=("map",), **params):
    return Trial(
        key=key, dataset=dataset, fold=fold, ranker="ranknet", label=label, params=params, seed=seed,
        profile="standard", test=dict.fromkeys(measures, value),
        per_query={name: np.full(3, value) for name in measures}, query_ids=np.arange(3),
    )  # fmt: skip


def tuned(trial):
    return replace(trial, is_tuned=True)


def means(trials, measure="map"):
    [board] = make_boards(trials)
    return {line.label: line.cells[measure].mean for line in board.lines}


def test_settings_of_one_label_are_lines_of_their_own():
    trials = [
        a_trial("1", 0.2, seed=0, epochs=5, l2=0.1),
        a_trial("2", 0.4, seed=1, epochs=5, l2=0.1),
        a_trial("3", 0.8, seed=0, epochs=9, l2=0.1),
    ]
    assert means(trials) == {"RankNet (epochs=9)": 0.8, "RankNet (epochs=5)": pytest.approx(0.3)}
    [board] = make_boards(trials)
    assert "RankNet has been run with several settings: each is a line of its own." in board.notes


def test_settings_that_differ_between_folds_alone_are_one_ranker():
    trials = [a_trial("1", 0.2, fold="Fold1", l2=0.1), a_trial("2", 0.4, fold="Fold2", l2=0.5)]
    assert means(trials) == {"RankNet": pytest.approx(0.3)}
    assert choose_trials(trials).notes == []


def test_of_two_searches_the_last_stands():
    old = [tuned(a_trial(f"old{fold}", 0.2, label="mine", fold=fold, l2=0.1)) for fold in ("Fold1", "Fold2")]
    new = [tuned(a_trial(f"new{fold}", 0.8, label="mine", fold=fold, l2=0.5)) for fold in ("Fold1", "Fold2")]
    assert means([*old, *new]) == {"mine": 0.8}
    [board] = make_boards([*old, *new])
    assert "2 trials were made again later, with other metrics or settings: the last count." in board.notes


def test_what_was_tuned_is_told_from_what_was_not():
    trials = [a_trial("1", 0.2, label="mine", l2=0.1), tuned(a_trial("2", 0.8, label="mine", l2=0.5))]
    assert means(trials) == {"mine": 0.2, "mine, tuned": 0.8}
    assert choose_trials(trials).notes == ["mine has been run with several settings: each is a line of its own."]


def test_on_changed_data_nothing_old_is_compared():
    old = [replace(a_trial(label, 0.2, label=label), data="old") for label in ("A", "B")]
    new = replace(a_trial("3", 0.8, label="B"), data="new")
    unknown = a_trial("4", 0.4, label="C")
    elsewhere = replace(a_trial("5", 0.6, label="D", fold="Fold2"), data="old")
    assert means([*old, unknown, new, elsewhere]) == {"B": 0.8, "C": 0.4, "D": 0.6}
    assert choose_trials([*old, new]).notes == ["2 trials were made on other data of this name, and not counted here."]


def test_each_measure_is_of_the_last_trial_that_has_it():
    trials = [a_trial("1", 0.2, measures=("map", "mrr")), a_trial("2", 0.8, measures=("p@10", "map"))]
    assert [means(trials, name)["RankNet"] for name in ("map", "mrr", "p@10")] == [0.8, 0.2, 0.8]
    assert len(make_boards([*trials, replace(trials[1], key="3")])[0].lines[0].trials) == 2


def test_data_sets_are_settled_apart():
    trials = [a_trial("1", 0.2, epochs=5), a_trial("2", 0.8, dataset="other", epochs=9)]
    assert [line.label for board in make_boards(trials) for line in board.lines] == ["RankNet", "RankNet"]


def bench(store, **params):
    return bench_entry(store, params=params)


def bench_entry(store, **entry):
    entry = {"ranker": "linear-regression-ranker", **entry}
    data = {"easy": easy_data(n_queries=9)}
    return run(Plan(data=data, rankers=[entry], measures=["map"], folds=3), store, n_jobs=1)


def test_a_setting_that_was_chosen_is_not_taken_for_a_fixed_one(tmp_path):
    store = tmp_path / "store.sqlite"
    bench_entry(store, label="mine", params={"alpha": 1.0})
    bench_entry(store, label="mine", grid={"alpha": [1.0]})
    assert {line.label for line in make_boards(StoreView(store))[0].lines} == {"mine", "mine, tuned"}


def test_a_run_gives_the_trials_of_its_plan_alone_and_a_report_tells_settings_apart(tmp_path, capsys):
    store = tmp_path / "store.sqlite"
    first, second = bench(store, alpha=1.0), bench(store, alpha=1e6)
    assert [trial.params for trial in second] == [{"alpha": 1e6}] * 3
    assert [trial.key for trial in bench(store, alpha=1.0)] == [trial.key for trial in first]
    labels = [f"LinearRegressionRanker (alpha={alpha})" for alpha in (1.0, 1e6)]
    assert {line.label for line in make_boards(StoreView(store))[0].lines} == set(labels)
    with pytest.raises(SystemExit) as stop:
        main(["compare", str(store), *labels])
    assert not stop.value.code
    assert labels[0] in capsys.readouterr().out


def test_two_rankers_of_one_label_are_two_lines():
    found = choose_trials(
        [a_trial("1", 0.5, label="mine"), replace(a_trial("2", 0.5, label="mine"), ranker="rank-svm")]
    )
    assert [one.label for one in found.trials] == ["mine (ranknet)", "mine (rank-svm)"]


def test_measures_of_two_runs_are_of_one_trial():
    [board] = make_boards([a_trial("1", 0.5), a_trial("2", 0.25, measures=("mrr",))])
    line = board.line("RankNet")
    assert (line.n_trials, line.cells["map"].mean, line.cells["mrr"].mean) == (1, 0.5, 0.25)


def repeats(label, values, *, folds=("Fold1", "Fold2", "Fold3")):
    """By fold and seed the values of the queries."""
    return [
        replace(
            a_trial(f"{label}/{fold}/{seed}", float(np.mean(values(fold, seed))), label=label, fold=fold, seed=seed),
            per_query={"map": np.asarray(values(fold, seed), float)},
        )
        for fold in range(len(folds))
        for seed in range(10)
    ]


def test_copies_are_no_sample():
    """Ten repeats of a ranker without chance are three trials: Welch's test must not see thirty."""
    first = repeats("A", lambda fold, seed: [0.2 + 0.1 * fold, 0.5, 0.5])
    second = repeats("B", lambda fold, seed: [0.3 + 0.1 * fold, 0.6, 0.55])
    [copied] = make_boards([*first, *second], test="welch")
    [single] = make_boards([one for one in (*first, *second) if one.seed == 0], test="welch")
    for label in "AB":
        assert repr(copied.line(label).cells) == repr(single.line(label).cells)  # with NaN for NaN
        assert copied.line(label).n_trials == 3
    assert "All repeats of A are equal on every query, so they count as one trial." in copied.notes
    assert "repeats" not in " ".join(single.notes)


def test_repeats_that_differ_on_one_query_of_one_fold_are_repeats():
    def values(fold, seed):
        return [0.5, 0.25, 0.75] if (fold, seed) == (1, 3) else [0.5, 0.5, 0.5]  # with the same mean

    [board] = make_boards(repeats("A", values))
    assert board.line("A").n_trials == 30


def test_copies_keep_every_metric():
    copies = [a_trial("1", 0.5, seed=0), a_trial("2", 0.5, seed=1), a_trial("3", 0.25, seed=1, measures=("mrr",))]
    line = make_boards(copies)[0].line("RankNet")
    assert (line.cells["map"].mean, line.cells["mrr"].mean) == (0.5, 0.25)


def test_a_ranker_in_which_nothing_is_random_is_named():
    trials = [*repeats("A", lambda fold, seed: [0.1 * seed, 0.5, 0.5]), a_trial("B", 0.5, label="B")]
    [board] = make_boards([*trials[:-1], replace(trials[-1], is_random=False)])
    assert "No randomness in B: one trial on each fold." in board.notes
    assert not any("random" in note for note in make_boards(trials)[0].notes)


def test_copies_are_told_by_the_test_part_whatever_else_is_stored():
    """The values of training queries are others than those of test queries, and may differ where these do not."""
    trials = [
        replace(one, parts={"train": {"map": np.array([0.125 * one.seed, 1.0])}})
        for one in repeats("A", lambda fold, seed: [0.2 + 0.1 * fold, 0.5, 0.5])
    ]
    assert make_boards(trials)[0].line("A").n_trials == 3
