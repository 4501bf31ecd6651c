"""Rankers of other libraries as contestants: what they give is what the library gives, beside ours and in one table."""

import numpy as np
import pytest

from ordino import load, save
from ordino.data.source import canonical
from ordino.errors import ModelFileError
from ordino.experiment.plan import Plan
from ordino.experiment.run import run
from ordino.experiment.store import Store
from ordino.rankers import NAMES, PEERS, RANKERS, ranker_class
from ordino.testing import easy_data

TRAIN, TEST = easy_data(n_queries=30), easy_data(n_queries=10, seed=2)


def test_no_name_is_taken_twice():
    assert not PEERS.keys() & RANKERS.keys()
    assert [NAMES[entry.cls] for entry in PEERS.values()] == list(PEERS)


def test_xgboost_is_the_librarys_ranker_with_its_defaults():
    xgboost = pytest.importorskip("xgboost")
    data = canonical(TRAIN)
    expected = xgboost.XGBRanker().fit(data.X, data.y, qid=data.query_number).predict(TEST.X)
    np.testing.assert_allclose(ranker_class("xgboost")(n_jobs=1).fit(TRAIN).predict(TEST), expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # as LightGBM 4.6 says of its own arrays
def test_lightgbm_is_the_librarys_ranker_with_its_defaults():
    import lightgbm

    data = canonical(TRAIN)
    expected = lightgbm.LGBMRanker(verbosity=-1, n_jobs=1).fit(data.X, data.y, group=data.counts).predict(TEST.X)
    np.testing.assert_allclose(ranker_class("lightgbm")(n_jobs=1).fit(TRAIN).predict(TEST), expected)


def test_catboost_is_the_librarys_ranker_and_keeps_its_best_iteration():
    catboost = pytest.importorskip("catboost")
    data, held_out = canonical(TRAIN), canonical(TEST)
    options = {"iterations": 40}
    model = catboost.CatBoostRanker(verbose=False, allow_writing_files=False, random_seed=3, thread_count=1, **options)
    pool = catboost.Pool(held_out.X, held_out.y, group_id=held_out.query_number)
    model.fit(data.X, data.y, group_id=data.query_number, eval_set=pool)
    ours = ranker_class("catboost")(n_jobs=1, seed=3, options=options).fit(TRAIN, valid=TEST)
    np.testing.assert_array_equal(ours.predict(TEST), model.predict(TEST.X))


def test_xgboost_is_given_validation_data_options_and_the_seed():
    xgboost = pytest.importorskip("xgboost")
    data, held_out = canonical(TRAIN), canonical(TEST)
    options = {"early_stopping_rounds": 2, "n_estimators": 60, "subsample": 0.5}
    model = xgboost.XGBRanker(random_state=3, n_jobs=1, **options)
    watched = {"eval_set": [(held_out.X, held_out.y)], "eval_qid": [held_out.query_number]}
    expected = model.fit(data.X, data.y, qid=data.query_number, verbose=False, **watched).predict(TEST.X)
    ours = ranker_class("xgboost")(n_jobs=1, seed=3, options=options)
    np.testing.assert_allclose(ours.fit(TRAIN, valid=TEST).predict(TEST), expected, atol=1e-6)
    assert model.best_iteration < 57
    assert not np.allclose(ours.set_params(seed=4).fit(TRAIN, valid=TEST).predict(TEST), expected, atol=1e-3)


def test_lightgbm_is_given_validation_data_options_and_the_seed():
    import lightgbm

    data, held_out = canonical(TRAIN), canonical(TEST)
    options = {"early_stopping_round": 2, "metric": "ndcg", "bagging_fraction": 0.5, "bagging_freq": 1}
    own = {"objective": "lambdarank", "seed": 3, "num_threads": 1, "verbosity": -1}
    train, watched = (lightgbm.Dataset(part.X, part.y, group=part.counts) for part in (data, held_out))
    model = lightgbm.train(own | options, train, valid_sets=[watched])
    ours = ranker_class("lightgbm")(n_jobs=1, seed=3, options=options)
    np.testing.assert_allclose(ours.fit(TRAIN, valid=TEST).predict(TEST), model.predict(TEST.X))
    assert model.best_iteration < 98
    assert not np.allclose(ours.set_params(seed=4).fit(TRAIN, valid=TEST).predict(TEST), model.predict(TEST.X))


@pytest.mark.parametrize("name", PEERS)
def test_repeats_are_made_only_where_the_library_draws(name):
    pytest.importorskip(name)
    kind = ranker_class(name)
    assert kind().is_random is (name == "catboost")
    assert kind(options={"subsample": 0.5}).is_random


@pytest.mark.parametrize(
    ("name", "seed", "drawn"),
    [
        ("xgboost", "random_state", {"n_estimators": 5, "subsample": 0.5}),
        ("lightgbm", "seed", {"num_iterations": 5, "bagging_fraction": 0.5, "bagging_freq": 1}),
        ("catboost", "random_seed", {"iterations": 5}),
    ],
)
def test_options_win_over_what_is_set_otherwise(name, seed, drawn):
    pytest.importorskip(name)
    scores = [
        ranker_class(name)(n_jobs=1, seed=own, options=drawn | more).fit(TRAIN).predict(TEST)
        for own, more in ((3, {seed: 7}), (7, {}), (3, {}))
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize("name", PEERS)
def test_they_are_not_saved(name, tmp_path):
    pytest.importorskip(name)
    quick = {"iterations": 2} if name == "catboost" else None
    with pytest.raises(ModelFileError, match=r"model_ is a \w+, which a model file cannot hold"):
        save(ranker_class(name)(n_jobs=1, options=quick).fit(TRAIN), tmp_path / "m.ordino")
    with pytest.raises(ModelFileError):
        load(tmp_path / "m.ordino")


def test_they_compete_with_the_same_folds_and_measures(tmp_path):
    for name in PEERS:
        pytest.importorskip(name)
    rankers = ["rank-svm", "xgboost", "lightgbm", {"ranker": "catboost", "params": {"options": {"iterations": 20}}}]
    plan = Plan(data={"easy": easy_data(n_queries=30)}, rankers=rankers, measures=["ndcg@10", "map"], folds=3)
    trials = run(plan, tmp_path / "b.sqlite", n_jobs=1)
    assert {(trial.label, trial.fold) for trial in trials} == {
        (label, f"Fold{fold}") for label in ("RankSVM", "XGBoost", "LightGBM", "CatBoost") for fold in (1, 2, 3)
    }
    by_fold = {trial.fold: set(map(str, trial.query_ids)) for trial in trials}
    assert all(set(map(str, trial.query_ids)) == by_fold[trial.fold] for trial in trials)
    with Store(tmp_path / "b.sqlite") as store:
        versions = store.trials()[0].versions
    assert "catboost" in versions
