"""SortNet's experiments: what the paper prints, repeats, and incremental learning against random pairs."""

from types import SimpleNamespace

import numpy as np
import pytest

from ordino.data.folds import Folds
from ordino.experiment.papers import sortnet
from ordino.experiment.papers.catalogue import STORE, reproduce
from ordino.experiment.papers.incremental import BEST, METRICS, ONCE, SORTNET, _compared, _rivals
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.target import Request
from ordino.experiment.store import Store


@pytest.mark.parametrize(
    "row",
    [
        *(row.paper[name] for row in sortnet.TABLE_1 for name in ("TD2003", "TD2004")),
        *sortnet.TD2003.values(),
        *sortnet.TD2004.values(),
    ],
)
def test_at_rank_1_precision_is_ndcg(row):
    assert row["test p@1"] == row["test ndcg@1"]
    assert sum(name.startswith("test p@") for name in row) == sum(name.startswith("test ndcg@") for name in row) == 10


def test_systems_with_other_settings_have_other_labels():
    systems = [row.system for row in (*sortnet.TABLE_1, *sortnet._methods("TD2004"))]
    entries = [system.entry(Request()) for system in systems]
    settings = {(one.label, str(one.params), one.preset) for one in entries}
    assert len({label for label, *_ in settings}) == len(settings)
    assert all(one.problems() == [] for one in entries)
    assert {system.repeats for system in systems} == {5}


def test_claims_have_the_numbers_of_their_own_collection():
    on_2003, _, on_2004, _ = sortnet.TARGETS["table1"].page.claims
    assert (on_2003.difference, on_2004.difference) == (0.03, 0.04)
    assert on_2004.better["collection"] == "TD2004"
    differences = {claim.says: claim.difference for claim in sortnet.TARGETS["table2"].page.claims}
    assert differences["SortNet MAP beats AdaRank NDCG in p@10, as on TD2004"] == 0.06


def test_a_method_that_draws_nothing_has_the_same_value_in_every_repeat(folder):
    numbers = reproduce("sortnet.fig2", Request(folder, quick=True)).numbers
    of = {number.labels[1]: number.ours for number in numbers}
    assert len(of["RankBoost"]) == len(of["SortNet MAP"]) == 2
    assert of["RankBoost"][0] == of["RankBoost"][1]


def test_iterations_start_with_random_weights(folder):
    numbers = reproduce("sortnet.fig3", Request(folder, quick=True)).numbers
    first = [number for number in numbers if number.labels[0] == "TD2003"]
    assert [number.labels[1] for number in first][:2] == ["0", "1"]
    assert {len(number.ours) for number in first} == {2}  # folds


def test_the_rival_learns_from_as_many_pairs_and_is_chosen_alike(folder, tmp_path):
    result = reproduce("sortnet.incremental", Request(folder, quick=True, kept=tmp_path))
    with Store(tmp_path / STORE) as store:
        trials = store.trials("papers")
    own = [trial for trial in trials if trial.ranker == "sortnet"]
    rivals = [trial for trial in trials if trial.ranker == "deepnet"]
    expected = {name: [] for name in (SORTNET, BEST)}
    for seed in dict.fromkeys(trial.seed for trial in own):
        of_folds = {name: [] for name in expected}
        for fold in ("Fold1", "Fold2"):
            here = [one for one in own if (one.dataset, one.fold) == ("TD2003", fold)]
            steps = zip(*(one.history[1:] for one in here), strict=False)
            sizes = [round(np.mean([step["train_known"] for step in several])) for several in steps]
            of_fold = [one for one in rivals if (one.dataset, one.fold, one.seed) == ("TD2003", fold, seed)]
            assert {max(size, 1) for size in sizes} <= {one.params["n_pairs"] for one in of_fold}
            best = max(of_fold, key=lambda one: one.valid["map"])
            of_folds[BEST].append(best.test["map"])
            of_folds[SORTNET] += [one.test["map"] for one in here if one.seed == seed]
        for name, values in of_folds.items():
            expected[name].append(np.mean(values))
    found = {one.labels[1]: one.ours for one in result.numbers if one.labels[::3] == ("TD2003", "map")}
    assert list(found) == [SORTNET, BEST, ONCE]
    for name, values in expected.items():
        assert found[name] == pytest.approx(values)


@pytest.mark.parametrize(("best", "once"), [(0, "first"), (1, "first"), (2, "second"), (3, "third")])
def test_the_rival_of_one_comparator_has_the_pairs_of_the_iteration_that_sortnet_keeps(best, once):
    """Iteration 0 has learned from nothing, so that the first rival is that of iteration 1."""
    names = {"n_pairs=10": "first", "n_pairs=20": "second", "n_pairs=30": "third"}
    worth = {"sortnet": 0.9, "first": 0.1, "second": 0.2, "third": 0.3}
    steps = [{"valid": float(i == best), "train_known": 10 * i, "valid_known": i} for i in range(4)]

    def of(_, label):
        name = next((name for words, name in names.items() if words in label), "sortnet")
        test, valid = dict.fromkeys(METRICS, worth[name]), {"map": -worth[name]}
        return [SimpleNamespace(key=name, fold="Fold1", seed=0, test=test, valid=valid)]

    trials = SimpleNamespace(of=of, store=SimpleNamespace(history=lambda _: steps))
    rivals = _rivals(sortnet.sortnet(10), of("", ""), trials)
    sizes = [(one.params["n_pairs"], one.params["n_valid_pairs"]) for one in rivals]
    assert sizes == [(10, 1), (20, 2), (30, 3)]  # as many as SortNet knew in training and in validation
    assert all(one.params["distinct_pairs"] for one in rivals)
    folds = Folds(["Fold1"], lambda _: None)
    request = SimpleNamespace(quick=False, seed=0, collections=lambda _: {"TD2003": folds})
    found = list(_compared(lambda _: sortnet.sortnet(10), ("TD2003",), request, trials))
    means = {one.labels[1]: one.ours for one in found if isinstance(one, Number) and one.labels[3] == "map"}
    assert means == {SORTNET: (0.9,), BEST: (0.1,), ONCE: (worth[once],)}  # the best by validation data
    assert f"from {10 * best} pairs on average, all distinct" in found[-1]
