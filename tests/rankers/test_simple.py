"""The simple baselines: least squares, one feature, a random order."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge

from ordino.data.dataset import Dataset
from ordino.data.folds import read_folds
from ordino.errors import ParameterError
from ordino.metrics import evaluate
from ordino.rankers import baselines
from ordino.rankers.baselines import LinearRegressionRanker, RandomRanker, SingleFeature
from ordino.testing import check_learns_easy_data, easy_data


def test_a_random_order_learns_nothing():
    check_learns_easy_data(RandomRanker(), least_ndcg=0.3)
    with pytest.raises(AssertionError):
        check_learns_easy_data(RandomRanker())


# ---------------------------------------------------------------------------------------------------------------------
# Least squares


def test_weights_are_those_of_scikit_learn(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(baselines, "BLOCK", 50)  # 180 rows: several blocks
    data = easy_data()
    X = data.X.astype(float)
    for alpha, peer in ((0, LinearRegression()), (0.7, Ridge(alpha=0.7)), (300, Ridge(alpha=300))):
        ours = LinearRegressionRanker(alpha=alpha, scaling=None).fit(data)
        np.testing.assert_allclose(ours.coef_, peer.fit(X, data.y).coef_, rtol=1e-9)


def test_more_features_than_documents_have_the_weights_of_scikit_learn_too():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(6, 9)) * np.arange(1, 10)).astype(np.float32)  # features of different sizes
    y = rng.integers(0, 3, 6).astype(float)
    for alpha in (0.7, 300.0):
        ours = LinearRegressionRanker(alpha=alpha, scaling=None).fit(Dataset(X, y))
        np.testing.assert_allclose(ours.coef_, Ridge(alpha=alpha).fit(X.astype(float), y).coef_, rtol=1e-8)


def test_a_weight_of_two_is_a_document_twice():
    X, y = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [4.0, 0.0]], [0, 1, 0, 2]
    weighted = LinearRegressionRanker(alpha=1, scaling=None).fit(Dataset(X, y, weights=[1, 2, 0, 1]))
    twice = LinearRegressionRanker(alpha=1, scaling=None).fit(Dataset([X[0], X[1], X[1], X[3]], [0, 1, 1, 2]))
    np.testing.assert_allclose(weighted.coef_, twice.coef_, rtol=1e-12)


def test_what_says_nothing_weighs_nothing():
    rng = np.random.default_rng(0)
    signal = rng.random(50)
    X = np.column_stack((signal, np.full(50, 0.1), signal)).astype(np.float32)  # a constant, and the signal twice
    coef = LinearRegressionRanker(alpha=0, scaling=None).fit(Dataset(X, 6 * X[:, 0].astype(float))).coef_
    np.testing.assert_allclose(coef, [3.0, 0.0, 3.0], atol=1e-9)  # the shortest of all solutions
    for scaling in (None, "zscore"):
        ranker = LinearRegressionRanker(scaling=scaling).fit(Dataset(np.ones((5, 2)), [0, 1, 2, 3, 4]))
        assert ranker.coef_.tolist() == [0.0, 0.0]


def test_features_of_very_different_sizes_all_count():
    rng = np.random.default_rng(0)
    X = rng.random((100, 3)) * [1e-8, 1.0, 1e8] + [0.0, 0.0, 1e9]
    y = X.astype(np.float32).astype(float) @ [1e8, 1.0, 1e-8]
    coef = LinearRegressionRanker(alpha=0, scaling=None).fit(Dataset(X, y)).coef_
    np.testing.assert_allclose(coef, [1e8, 1.0, 1e-8], rtol=1e-5)


def test_the_penalty_is_chosen_on_held_out_data():
    data, valid = easy_data(n_queries=3), easy_data(seed=1)
    ranker = LinearRegressionRanker(alpha=(0.0, 1.0, 1e6)).fit(data, valid=valid)
    reached = {a: LinearRegressionRanker(alpha=a).fit(data).score(valid) for a in (0.0, 1.0, 1e6)}
    assert reached[ranker.alpha_] == max(reached.values())
    assert [row["alpha"] for row in ranker.history_] == [0.0, 1.0, 1e6]
    assert max(row["valid"] for row in ranker.history_) == pytest.approx(max(reached.values()))
    assert ranker.coef_.tolist() == LinearRegressionRanker(alpha=ranker.alpha_).fit(data).coef_.tolist()
    assert LinearRegressionRanker(alpha=(5.0, 1.0)).fit(data).alpha_ == 5.0  # the first, without held-out data


def test_penalties_are_checked():
    with pytest.raises(ParameterError, match="alpha=-1; it must be a number, 0 or more"):
        LinearRegressionRanker(alpha=-1).fit(Dataset([[1.0]], [1]))
    with pytest.raises(ParameterError, match="alpha is empty"):
        LinearRegressionRanker(alpha=()).fit(Dataset([[1.0]], [1]))


# ---------------------------------------------------------------------------------------------------------------------
# One feature


def test_the_best_feature_and_direction_are_found():
    # query a: feature 3, falling, is right; query b the same; feature 1 is right in a only
    X = [[3.0, 0.0, 1.0], [2.0, 0.0, 2.0], [1.0, 0.0, 3.0], [1.0, 0.0, 4.0], [2.0, 0.0, 8.0]]
    ranker = SingleFeature().fit(X, [2, 1, 0, 1, 0], qid=["a", "a", "a", "b", "b"])
    assert (ranker.feature_, ranker.sign_) == (3, -1)
    assert ranker.coef_.tolist() == [0.0, 0.0, -1.0]
    assert ranker.predict(X, qid=["a"] * 5).tolist() == [-1.0, -2.0, -3.0, -4.0, -8.0]


def test_the_search_is_by_the_measure_asked_for():
    data = easy_data()
    for metric in ("map", "p@1", "pairwise_error"):
        ranker = SingleFeature(metric=metric).fit(data)
        best = max(
            SingleFeature(feature=f, sign=s, metric=metric).fit(data).score(data) for f in range(1, 5) for s in (1, -1)
        )
        assert ranker.score(data) == pytest.approx(best, abs=0.02)  # ties follow the row order


def test_a_feature_by_number_or_name():
    frame = pd.DataFrame({"age": [3.0, 1.0], "bm25": [0.0, 1.0]})
    assert SingleFeature(feature=1, sign=1).fit(Dataset(frame, [0, 1])).coef_.tolist() == [1.0, 0.0]
    assert SingleFeature(feature="bm25", sign=-1).fit(Dataset(frame, [0, 1])).coef_.tolist() == [0.0, -1.0]
    assert SingleFeature(feature="f2").fit(Dataset(frame.to_numpy(), [0, 1])).coef_.tolist() == [0.0, 1.0]
    assert SingleFeature(feature="age").fit(Dataset(frame, [0, 1])).sign_ == -1  # the direction is found
    assert SingleFeature(sign=1).fit(Dataset(frame, [0, 1])).feature_ == 2  # the feature is found


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"feature": 0}, "feature=0; it must be a whole number, from 1 to 2"),
        ({"feature": 3}, "feature=3; it must be a whole number, from 1 to 2"),
        ({"feature": "bm52"}, "unknown feature 'bm52'; did you mean 'bm25'"),
        ({"sign": 0}, "sign=0; it must be 1, -1 or None"),
        ({"sign": True}, "sign=True; it must be 1, -1 or None"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(parameters, sentence: str):
    with pytest.raises(ParameterError, match=sentence):
        SingleFeature(**parameters).fit(Dataset(pd.DataFrame({"age": [3.0, 1.0], "bm25": [0.0, 1.0]}), [0, 1]))


def test_nothing_to_choose_by_takes_the_first():
    ranker = SingleFeature(profile="directranker").fit(Dataset([[1.0, 2.0], [2.0, 1.0]], [0, 0]))  # none counts
    assert (ranker.feature_, ranker.sign_) == (1, 1)


def test_bm25_on_letor():
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        pytest.skip("ORDINO_DATA names no folder with MQ2007 and MQ2008")
    fold = read_folds(Path(folder) / "MQ2008")[0]
    bm25 = SingleFeature(feature=25, sign=1).fit(fold.train)  # of the whole document
    chance = RandomRanker().fit(fold.train)
    assert bm25.score(fold.test) > chance.score(fold.test) + 0.05


# ---------------------------------------------------------------------------------------------------------------------
# A random order


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
def test_a_score_depends_on_the_document_and_the_seed_only(seed: int, rows_seed: int):
    rng = np.random.default_rng(rows_seed)
    X = rng.random((20, 3)).astype(np.float32)
    ranker = RandomRanker(seed=seed).fit(Dataset(X, np.zeros(20)))
    rows = rng.permutation(20)[:7]
    assert ranker.predict(X[rows], qid=rng.integers(0, 3, 7)).tolist() == ranker.predict(X)[rows].tolist()


def test_scores_are_even_and_seeds_apart():
    X = np.arange(40_000, dtype=np.float32)[:, None]  # neighbors that differ in a bit or two
    first, second = (RandomRanker(seed=seed).fit(Dataset(X[:1], [0])).predict(X) for seed in (0, 1))
    counts = np.histogram(first, bins=20, range=(0, 1))[0]
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)  # five standard deviations
    for one, other in ((first, second), (first, X[:, 0]), (first[1:], first[:-1])):
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(40_000)


def test_the_expected_precision_is_the_share_of_relevant_documents():
    rng = np.random.default_rng(0)
    X, y, qid = rng.random((30_000, 2)), np.tile([1, 0, 0, 0, 0], 6000), np.repeat(np.arange(3000), 10)
    scores = RandomRanker().fit(Dataset(X, y)).predict(X)
    assert evaluate(y, scores, qid=qid, metrics="p@5")["p@5"] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5])
def test_seeds_are_checked(seed):
    with pytest.raises(ParameterError, match="seed="):
        RandomRanker(seed=seed).fit(Dataset([[1.0]], [1]))


@pytest.mark.parametrize("constant", [0.1, 77.7, 1e6 + 0.1])
def test_a_constant_feature_weighs_nothing_however_its_weighted_mean_is_rounded(constant):
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.normal(size=300), np.full(300, constant)))
    data = Dataset(X, rng.integers(0, 3, 300), np.repeat(range(10), 30), weights=rng.random(300) + 0.1)
    assert LinearRegressionRanker(scaling=None, alpha=0.0).fit(data).coef_[1] == 0
