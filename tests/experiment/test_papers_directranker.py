"""DirectRanker's experiments: samples, claims about figures, grids, distances in sigma, Theorem 3."""

from pathlib import Path

import numpy as np
import pytest

from ordino import Dataset
from ordino.data.folds import Fold, Folds, make_folds, write_folds
from ordino.experiment.papers.directranker import grid, order, synthetic, tables
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.target import Request, System, Trials
from ordino.experiment.run.driver import carry_out
from ordino.experiment.store import Store


def test_samples_are_50_queries_of_50_to_150_test_documents():
    X = np.arange(1200.0)[:, None]
    samples = synthetic._samples(Dataset(X, np.zeros(1200)), np.random.default_rng(0))
    assert samples.n_queries == 50
    assert samples.counts.min() >= 50
    assert samples.counts.max() <= 150
    assert samples.X.max() > samples.X.min() + 1000  # from all of the test documents


def test_no_document_is_both_learned_from_and_tested_on():
    fold = synthetic._fold({"classes": 3, "features": 4, "noise": 0.0, "size": 2_000}, [0], 0)
    assert (fold.train.n_docs, fold.valid, fold.test.n_queries) == (2_000, None, 50)
    learned, tested = ({row.tobytes() for row in part.X} for part in (fold.train, fold.test))
    assert not learned & tested


def test_a_data_set_of_a_panel_has_the_classes_features_and_noise_of_its_point():
    point = {"classes": 3, "features": 4, "noise": 0.0, "size": 2_000}
    clear, noisy, other = (
        synthetic._fold(point | changes, [7, 8], number) for changes, number in (({}, 0), ({"noise": 0.75}, 0), ({}, 1))
    )
    assert (clear.name, clear.train.n_features, set(clear.train.y)) == ("7", 4, {0, 1, 2})
    assert (other.name, np.array_equal(other.train.X, clear.train.X)) == ("8", False)
    np.testing.assert_array_equal(noisy.train.X, clear.train.X)
    assert np.mean(noisy.train.y != clear.train.y) == pytest.approx(
        1 / 3, abs=0.05
    )  # half of the inner class, 1/4 else


@pytest.mark.parametrize(("size", "epochs"), [(1_000, 50), (10_000, 30), (100_000, 5)])
def test_small_training_sets_are_seen_more_often(size, epochs):
    assert synthetic._epochs(size) == epochs


def test_the_words_about_noise_are_checked():
    numbers = [Number(("c", noise), None, (v,)) for noise, v in (("0", 0.99), ("0.25", 0.98), ("0.75", 0.85))]
    falls = "c: from 0 to 0.75 it falls by 0.140."
    assert list(synthetic._words("fig2c", numbers)) == [
        falls,
        "Noise of 0.25 costs 0.010 (the paper: only marginal).",
        "At noise 0.75, half of the labels wrong, it is 0.850 (the paper: not below 0.80).",
    ]
    assert list(synthetic._words("fig2a", numbers)) == [falls]


@pytest.mark.parametrize("panel", synthetic.SWEEPS)
def test_claims_about_a_figure_name_places_on_its_axis(panel):
    places = {point.place for point in synthetic._points(panel, Request())}
    for claim in synthetic.CLAIMS[panel]:
        assert {*claim.better.values(), *claim.worse.values()} <= places


def test_best_and_worst_are_as_far_apart_as_the_paper_says():
    errors = {name: tables.printed(name, "MQ2008", "ndcg@10", "errors") for name in tables.PRINTED["errors"]}
    paper = {name: (tables.printed(name, "MQ2008", "ndcg@10"), error) for name, error in errors.items()}
    assert tables._apart(paper) == "LambdaMART and RankNet are 0.54 σ apart"  # section 5.1
    mslr = [tables.printed(name, "MSLR-WEB10K", "ndcg@10") for name in ("LambdaMART", "DirectRanker")]
    assert mslr == [0.476, 0.440]


@pytest.mark.parametrize("name", tables.COLLECTIONS)
def test_labels_are_binary_from_the_label_that_the_paper_says(name, tmp_path):
    """Section 4.1: relevant is what has 2 or more in MSLR-WEB10K, and what has 1 or more in the others."""
    graded = Dataset(np.zeros((25, 1)), np.arange(25) % 5, np.arange(25) // 5)
    write_folds(make_folds(graded, 5), tmp_path / name)
    for plan in tables.plans(Request(tmp_path)):
        [(_, folds)] = plan.collections()
        for part in folds[0][1:]:
            assert (
                part.y.tolist()
                == (np.tile([0, 0, 1, 1, 1] if name == "MSLR-WEB10K" else [0, 1, 1, 1, 1], 5)[: part.n_docs]).tolist()
            )


def test_the_authors_grid_has_30_settings_of_3000_steps():
    systems = grid.systems(470, Request())
    assert len(systems) == 30
    settings = next(iter(systems.values())).settings(Request())
    assert settings["epochs"] * -(-470 // settings["batch"]) == 3000


def test_the_grid_learns_and_chooses_from_queries_with_something_relevant_and_tests_on_all():
    y = np.arange(60) % 4 == 0  # of two documents a query, one in every second query is relevant
    data = Dataset(np.arange(60.0)[:, None], y, np.arange(60) // 2)
    relevant = {int(query) for query in data.qid[data.y > 0]}
    assert len(relevant) == 15
    fold = Fold("Fold1", data, data, data)
    inner, outer = grid._inner(fold), grid._without_valid(Folds(["Fold1"], lambda _: fold), 0, 0)
    assert len(inner) == 5
    for one in inner:
        assert one.valid is None
        assert set(one.train.query_ids) | set(one.test.query_ids) == relevant
    assert (set(outer.train.query_ids), outer.valid, outer.test) == (relevant, None, data)


def test_the_inner_parts_choose_the_setting(folder, tmp_path):
    request = Request(folder, quick=True)
    keys = {}
    for plan in grid.plans(request):
        done = carry_out(plan, tmp_path / "s.sqlite", n_jobs=1)
        keys |= done.keys
    with Store(tmp_path / "s.sqlite") as store:
        trials = Trials(store, keys, tmp_path)
        numbers = [one for one in grid.view(request, trials) if isinstance(one, Number)]
        fold = grid._collections(request)["MQ2008"][0]
        inner = [trial for trial in trials.all if trial.dataset == "MQ2008, inside Fold1"]
        assert {trial.fold for trial in inner} == {"Fold1", "Fold2"}
        means = {}
        for trial in inner:
            means.setdefault((trial.params["hidden"], trial.params["dropout"]), []).append(trial.test["ndcg@10"])
        best = max(means, key=lambda setting: np.mean(means[setting]))
        outer = [trial for trial in trials.all if (trial.dataset, trial.fold) == ("MQ2008", fold.name)]
        [kept] = [trial for trial in outer if (trial.params["hidden"], trial.params["dropout"]) == best]
    assert numbers[0].labels == ("MQ2008", "ndcg@10")
    assert numbers[0].ours[0] == kept.test["ndcg@10"]


def test_the_construction_of_theorem_3_orders_any_points():
    rng = np.random.default_rng(0)
    classes, points = rng.integers(0, 30, 200), rng.uniform(-1, 1, (200, 2))
    g = order.build(classes)
    assert np.array_equal(np.sign(g[:, None] - g), np.sign(classes[:, None] - classes))
    assert order.continuous(points, g, points) == pytest.approx(g)
    far = points + 10
    assert not order.continuous(points, g, far).any()
    assert order.wrong_pairs(g, classes) == 0
    assert order.wrong_pairs(-g, classes) == 100


def test_labels_become_relevant_or_not(folder):
    folds = make_folds(Dataset(np.zeros((5, 1)), [0, 1, 2, 3, 4], qid=range(5)), 5)
    fold = tables.binary_folds(folds, 2)[0]
    labels = np.concatenate([fold.train.y, fold.valid.y, fold.test.y])
    assert sorted(labels) == [0, 0, 1, 1, 1]


def test_a_setting_is_chosen_on_the_validation_part_of_each_fold(tmp_path):
    y, qid = [1, 0, 0, 0], ["a", "a", "empty", "empty"]
    first, second = (Dataset([[i, 1 - i], [1 - i, i]] * 2, y, qid) for i in (1, 0))  # by the feature that is right
    folds = Folds(["1", "2"], [Fold("1", second, first, second), Fold("2", first, second, first)].__getitem__)
    system = System("single-feature", grid=[{"feature": [1, 2], "sign": [1]}])
    request = Request()
    plan = request.plan({"both": folds}, [system], measures=("map",), profile="directranker")
    done = carry_out(plan, tmp_path / "s.sqlite", n_jobs=1, models=tmp_path)
    with Store(tmp_path / "s.sqlite") as store:
        trials = Trials(store, done.keys, tmp_path)
        own = trials.of("both", system.label(request), "map")
        assert [trial.params["feature"] for trial in own] == [1, 2]
        # where the other feature is right; nothing of the empty query
        assert trials.by_fold("both", system.label(request), "map") == (0.5, 0.5)
    assert [*tables._chosen("one", own, system)] == ["one: feature 1, sign 1; feature 2, sign 1."]
    assert [*tables._chosen("other", own, System("single-feature"))] == []


@pytest.mark.slow
def test_the_methods_of_table_1_on_real_folds_are_near_the_paper(real_folds, tmp_path):
    request, system = Request(real_folds), tables.METHODS["AdaRank"]
    folds = tables.binary_folds(request.collections(("MQ2008",))["MQ2008"][:1], 1)
    plan = request.plan({"MQ2008": folds}, [system], measures=("ndcg@10",), profile="directranker")
    done = carry_out(plan, tmp_path / "s.sqlite", n_jobs=1)
    with Store(tmp_path / "s.sqlite") as store:
        trials = Trials(store, done.keys, tmp_path)
        assert abs(np.mean(trials.by_fold("MQ2008", system.label(request), "ndcg@10")) - 0.722) < 0.08


@pytest.fixture
def real_folds():
    import os

    if "ORDINO_DATA" not in os.environ:
        pytest.skip("ORDINO_DATA names no folder with MQ2008")
    return Path(os.environ["ORDINO_DATA"])
