"""Scores do not depend on the threads of numpy's products; what diverges is refused; few rows are quick."""

import time

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from ordino import CMARank, Dataset, KernelRankNet, LambdaMART, LinearRegressionRanker, McRank, RankNet, forms
from ordino.errors import DataError, NothingToLearnWarning, ParameterError
from ordino.rankers import make_ranker
from ordino.testing import easy_data
from rankers.test_contract import quick

RNG = np.random.default_rng(0)
WIDE = Dataset(RNG.normal(size=(1200, 700)), RNG.integers(0, 3, 1200), np.repeat(np.arange(10), 120))

THREADED = {
    "QR": lambda: LinearRegressionRanker(alpha=1.0),
    "eigh": lambda: CMARank(generations=2, population=6),
    "Nystroem": lambda: KernelRankNet(n_components=100, epochs=1),
    "scoring": lambda: RankNet(hidden=(64,), epochs=1),
}


@pytest.mark.parametrize("make", THREADED.values(), ids=THREADED)
def test_the_threads_of_products_change_no_bit(make):
    scores = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, "blas"):
            scores.append(make().fit(WIDE).predict(WIDE))
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("name", ["ranknet", "listnet", "deepnet", "sortnet", "lambdarank"])
@pytest.mark.parametrize("valid", [None, easy_data(seed=1)], ids=["alone", "with valid"])
def test_a_network_that_diverges_is_refused(name, valid):
    ranker = quick(name).set_params(learning_rate=1e30)
    with pytest.raises(ParameterError, match=r"diverged at learning_rate=1e\+30.*lower learning_rate"):
        ranker.fit(easy_data(), valid=valid)
    assert not hasattr(ranker, "n_features_in_")


def test_fewer_rows_than_features_take_no_minutes():
    X, y = RNG.normal(size=(200, 2000)) * RNG.uniform(0.1, 10, 2000), RNG.normal(size=200)
    start = time.perf_counter()
    for alpha in (0.0, 10.0):
        ranker = LinearRegressionRanker(alpha=alpha, scaling=None).fit(X, y, qid=[1] * 200)
        if alpha:
            expected = Ridge(alpha, solver="svd").fit(X.astype(np.float32).astype(float), y).coef_
            np.testing.assert_allclose(ranker.coef_, expected, rtol=1e-6, atol=1e-9)
        else:
            np.testing.assert_allclose(np.ptp(ranker.predict(X) - y), 0, atol=1e-6)  # through every label
    assert time.perf_counter() - start < 20


def test_what_lightgbm_refuses_is_one_sentence():
    X, y = RNG.normal(size=(40, 5)) * 1e-42, RNG.integers(0, 3, 40)
    with pytest.raises(
        DataError, match=r"^LightGBM cannot learn from this data \(.*; check that it has enough [^\n]*$"
    ):
        quick("mc-rank").set_params(classification="ordinal").fit(X, y, qid=[1] * 40)


@pytest.mark.parametrize("cls", [LambdaMART, McRank])
def test_too_few_documents_for_a_split_are_told(cls):
    X, y = RNG.normal(size=(80, 3)), RNG.integers(0, 3, 80)
    with pytest.warns(NothingToLearnWarning, match="min_leaf=50 cannot split 80 documents.*lower min_leaf"):
        cls(rounds=2).fit(X, y, qid=[1] * 80)


@pytest.mark.parametrize("name", ["lambda-mart", "mc-rank"])
def test_trees_score_on_as_many_threads_as_they_are_given(name, monkeypatch):
    asked = []
    monkeypatch.setattr(forms, "count_threads", lambda n_jobs, **_: asked.append(n_jobs) or 1)
    data = easy_data()
    for n_jobs in (None, 3):
        make_ranker(name, {"rounds": 2, "n_jobs": n_jobs}).fit(data).predict(data)
    assert asked == [None, 3]
