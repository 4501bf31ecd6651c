"""Weights come from the model, importances from shuffling inside queries."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from ordino import Dataset, LinearRegressionRanker, OneHot, SingleFeature
from ordino.errors import DataError, ParameterError
from ordino.explain import feature_weights, permutation_importance
from ordino.rankers import RANKERS
from ordino.testing import easy_data
from rankers.test_contract import quick

BASE = Dataset([[2.0, 1.0], [1.0, 1.0]] * 3, [1, 0] * 3, np.repeat([7, 8, 9], 2))


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_has_weights_or_says_what_to_do(name):
    ranker = quick(name).fit(easy_data())
    try:
        weights = feature_weights(ranker)
    except ParameterError as error:
        assert "give data, and permutation importance tells" in str(error)  # noqa: PT017
        return
    assert {one.feature for one in weights} == {"f1", "f2", "f3", "f4"}
    sizes = [abs(one.weight) for one in weights]
    assert sizes == sorted(sizes, reverse=True)


def test_importance_is_what_the_measure_loses():
    """With two documents a query, a shuffle keeps or swaps them: MRR of a query is 1 or 1/2, so a swap costs 1/2."""
    ranker = SingleFeature(feature=1).fit(BASE)
    first, second = permutation_importance(ranker, BASE, metric="mrr", repeats=200)
    assert (first.feature, second.feature) == ("f1", "f2")
    assert first.importance == pytest.approx(0.5 * 0.5, abs=0.03)  # half of the shuffles swap
    assert first.deviation == pytest.approx(0.25 / np.sqrt(3), abs=0.03)  # of the mean of three queries
    assert (second.importance, second.deviation) == (0, 0)


def test_a_feature_that_is_the_same_in_a_query_has_no_importance():
    data = Dataset(np.column_stack((BASE.X[:, 0], BASE.qid)), BASE.y, BASE.qid)
    importance = {one.feature: one.importance for one in permutation_importance(quick("ranknet").fit(data), data)}
    assert importance["f2"] == 0


def test_a_measure_of_errors_is_turned_round():
    data = easy_data()
    found = permutation_importance(LinearRegressionRanker().fit(data), data, metric="pairwise_error")
    assert found[0].feature == "f1"
    assert found[0].importance > 0.1


@pytest.mark.parametrize("scaling", [None, "minmax", "zscore+rank"])
def test_shuffling_after_scaling_is_shuffling_before(scaling):
    """One feature alone, with all that the scaling makes of it, and the others as they are."""
    data = easy_data()
    ranker = LinearRegressionRanker(scaling=scaling).fit(data)
    importances = permutation_importance(ranker, data, repeats=1, seed=3, n_jobs=1)
    found = {one.feature: one.importance for one in importances}
    query = np.repeat(np.arange(data.n_queries), data.counts)
    for j in range(data.n_features):
        drawn = np.lexsort((np.random.default_rng((3, j, 0)).random(data.n_docs), query))
        X = data.X.copy()
        X[:, j] = X[drawn, j]
        assert found[f"f{j + 1}"] == pytest.approx(ranker.score(data) - ranker.score(data.replace(X=X)), abs=1e-9), j


def test_the_number_of_threads_does_not_count():
    data = easy_data()
    ranker = quick("lambda-mart").fit(data)
    one, two = (permutation_importance(ranker, data, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one == two


def test_data_that_cannot_tell_is_refused():
    ranker = SingleFeature(feature=1).fit(BASE)
    empty = Dataset(BASE.X, np.zeros(6), BASE.qid)
    with pytest.raises(DataError, match="the data has no query that ndcg@10 in profile 'directranker' counts"):
        permutation_importance(ranker, empty, metric="ndcg@10", profile="directranker")


def test_metric_and_profile_are_those_of_the_ranker_unless_others_are_asked_for():
    rng = np.random.default_rng(0)
    data = Dataset(rng.random((60, 3)), rng.integers(0, 5, 60), np.repeat(np.arange(6), 10))
    ranker = LinearRegressionRanker(metric="ndcg@3", profile="sklearn").fit(data)

    def found(**how):
        return [one.importance for one in permutation_importance(ranker, data, repeats=2, **how)]

    assert found() == found(metric="ndcg@3") == found(profile="sklearn")
    assert found() != found(profile="standard")
    assert found() != found(metric="map")


def test_importances_have_the_names_of_the_data_or_else_those_that_the_ranker_learned():
    names = ["bm25", "age"]
    named = Dataset(BASE.X, BASE.y, BASE.qid, feature_names=names)
    for fitted, data, expected in (
        (named, named, names),
        (named, BASE, names),
        (BASE, named, names),
        (BASE, BASE, ["f1", "f2"]),
    ):
        ranker = SingleFeature(feature=1).fit(fitted)
        assert [one.feature for one in permutation_importance(ranker, data, metric="mrr", repeats=1)] == expected


def test_weights_of_a_pipeline_have_the_names_that_its_steps_give():
    frame = pd.DataFrame({"price": [1.0, 2.0, 3.0, 4.0], "city": ["Bern", "Oslo", "Bern", "Oslo"]})
    pipeline = make_pipeline(OneHot(), LinearRegressionRanker()).fit(
        frame, [0, 1, 0, 1], linearregressionranker__qid=[1, 1, 2, 2]
    )
    assert {one.feature for one in feature_weights(pipeline)} == {"price", "city=Bern", "city=Oslo"}
