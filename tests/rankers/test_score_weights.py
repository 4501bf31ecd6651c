"""Weights in score() and in scikit-learn's searches, and values of queries under any name of a metric."""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import cross_validate

import ordino
from ordino import LinearRegressionRanker
from ordino.errors import DataError
from ordino.testing import easy_data

DATA = easy_data()


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_a_query_counts_by_its_weight():
    ranker = LinearRegressionRanker().fit(DATA)
    values = ordino.evaluate(DATA, ranker.predict(DATA), metrics="ndcg@10").per_query["ndcg@10"]
    weights = np.arange(1.0, 1 + DATA.n_queries)
    expected = float((values * weights).sum() / weights.sum())
    by_query = ranker.score(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights)
    by_row = ranker.score(DATA.X, DATA.y, qid=DATA.qid, sample_weight=np.repeat(weights, DATA.counts))
    assert by_query == pytest.approx(expected) == by_row
    assert by_query != pytest.approx(ranker.score(DATA))
    long_and_short = np.arange(DATA.n_docs) % 15 < np.where(DATA.qid < 6, 15, 5)  # a query does not count by its length
    some = DATA.select_docs(long_and_short)
    assert ranker.score(some.X, some.y, qid=some.qid, sample_weight=np.full(some.n_docs, 3.0)) == pytest.approx(
        ranker.score(some)
    )
    with pytest.raises(DataError, match="has a weight above 0"):
        ranker.score(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights * 0)


@pytest.mark.usefixtures("routing")
@pytest.mark.filterwarnings("ignore:LinearRegressionRanker does not use document weights")
def test_searches_pass_weights_on():
    weights = np.random.default_rng(0).random(DATA.n_docs)
    given = {"qid": DATA.qid, "sample_weight": weights}
    found = [
        cross_validate(ranker, DATA.X, DATA.y, cv=ordino.QueryKFold(3), params=given)["test_score"]
        for ranker in (LinearRegressionRanker().set_score_request(sample_weight=use) for use in (True, False))
    ]
    assert (found[0] != found[1]).any()


@pytest.mark.parametrize(("asked", "kept"), [("rbp(p=0.8)", "rbp"), ("NDCG@2", "ndcg@2"), ("precision@2", "p@2")])
def test_values_of_queries_are_found_under_any_name(asked, kept):
    found = ordino.evaluate([1, 0], [2.0, 1.0], qid=[1, 1], metrics=["rbp(p=0.8)", "ndcg@2", "p@2"])
    assert found.per_query[asked].tolist() == [found[asked]]
    assert all(asked != name or asked == kept for name in found)
    with pytest.raises(KeyError):
        found.per_query["ndcg@7"]
    with pytest.raises(KeyError):
        found.per_query["no such metric"]
