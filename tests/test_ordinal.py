"""OrdinalClassifier: scikit-learn's own checks, thresholds against its logistic regression, and what is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordino import (
    AutoRanker,
    LinearRegressionRanker,
    NestedRanker,
    OrdinalClassifier,
    RankAggregation,
    RankFusion,
    RankNet,
)
from ordino.errors import ParameterError
from ordino.ordinal import fit_thresholds, probabilities

QUICK = RankNet(hidden=16, epochs=60, learning_rate=0.02)


OTHER_ARRAYS = {"check_array_api_input": "would need SCIPY_ARRAY_API=1 before anything is imported"}


@parametrize_with_checks([OrdinalClassifier(QUICK, folds=2)], expected_failed_checks=lambda _: OTHER_ARRAYS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def graded(n=400, seed=3):
    """Three classes along a line, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X @ [2.0, -1.0, 0.0] + rng.logistic(size=n), [-1.5, 1.0])


def test_two_classes_are_logistic_regression():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300)
    grades = (scores + rng.logistic(size=300) > 0.5).astype(int)
    slope, thresholds = fit_thresholds(scores, grades)
    theirs = LogisticRegression(C=1e6).fit(scores[:, None], grades)
    assert slope == pytest.approx(theirs.coef_[0, 0], rel=2e-3)
    assert thresholds == pytest.approx(-theirs.intercept_, abs=5e-3)
    np.testing.assert_allclose(
        probabilities(scores, slope, thresholds), theirs.predict_proba(scores[:, None]), atol=2e-3
    )


def test_probabilities_are_calibrated_and_classes_keep_their_order():
    X, y = graded()
    model = OrdinalClassifier(LinearRegressionRanker(alpha=1.0)).fit(X[:300], y[:300])
    found = model.predict_proba(X[300:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (np.diff(model.thresholds_) > 0).all()
    assert model.slope_ > 0
    np.testing.assert_allclose(found.mean(axis=0), np.bincount(y[300:]) / 100, atol=0.08)
    assert model.score(X[300:], y[300:]) > 0.55
    names = np.array(["a", "b", "c"])
    assert OrdinalClassifier(LinearRegressionRanker(alpha=1.0)).fit(X, names[y]).classes_.tolist() == ["a", "b", "c"]


def test_thresholds_come_from_rows_that_the_ranker_had_not_seen():
    X, y = graded(60)
    sure = OrdinalClassifier(QUICK, folds=1).fit(X, y).slope_
    careful = OrdinalClassifier(QUICK, folds=5).fit(X, y).slope_
    assert careful < sure
    assert OrdinalClassifier(QUICK, seed=1).fit(X, y).slope_ != careful


def test_what_is_refused():
    X, y = graded(40)
    with pytest.raises(ParameterError, match="SortNet gives places in a list, not scores"):
        OrdinalClassifier("sortnet").fit(X, y)
    with pytest.raises(ParameterError, match="list_size=1"):
        OrdinalClassifier(list_size=1).fit(X, y)
    with pytest.raises(ParameterError, match="folds=0"):
        OrdinalClassifier(folds=0).fit(X, y)


def test_the_rankers_scaling_by_list_is_left_out():
    X, y = graded(80)
    model = OrdinalClassifier(RankNet(hidden=4, epochs=5, scaling="zscore")).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X)[:1], model.predict_proba(X[:1]))
    assert clone(model).ranker.scaling == "zscore"


def test_units_of_features_change_nothing_and_the_ranker_keeps_its_own_settings():
    X, y = graded(80)
    given = LinearRegressionRanker(alpha=50.0, metric="map")
    one, other = (OrdinalClassifier(given).fit(some, y) for some in (X, X * [1.0, 50.0, 0.01] + [3.0, 0.0, 9.0]))
    np.testing.assert_allclose(one.ranker_.coef_, other.ranker_.coef_, rtol=1e-4, atol=1e-6)
    assert one.ranker_.get_params() == given.get_params() | {"scaling": None}


def test_the_ranker_learns_from_lists_of_the_size_asked_for():
    X, y = graded(400)
    fitted = [OrdinalClassifier(QUICK, list_size=n, folds=1).fit(X, y).ranker_ for n in (20, 150, 1000)]
    assert [one.n_queries_in_ for one in fitted] == [20, 3, 1]
    assert [one.longest_query_in_ for one in fitted] == [20, 134, 400]


def test_the_class_is_the_most_probable_one():
    X, y = graded()
    model = OrdinalClassifier(LinearRegressionRanker(alpha=1.0)).fit(X, y)
    found = model.predict_proba(X)
    assert model.predict(X).tolist() == model.classes_[found.argmax(axis=1)].tolist()
    scores = np.array([0.0])
    flat = probabilities(scores, 1.0, np.array([-0.1, 0.1]))  # the middle class is never the most probable
    assert flat.argmax() != 1


def test_the_seed_draws_folds_and_lists():
    X, y = graded(120)
    lists = [OrdinalClassifier(QUICK, list_size=10, folds=1, seed=seed).fit(X, y).ranker_ for seed in (0, 1)]
    assert lists[0].predict(X, qid=np.zeros(120)).tolist() != lists[1].predict(X, qid=np.zeros(120)).tolist()
    folds = [OrdinalClassifier("linear-regression-ranker", seed=seed).fit(X, y).slope_ for seed in (0, 1)]
    assert folds[0] != folds[1]
    slopes = {OrdinalClassifier("linear-regression-ranker", folds=n).fit(X, y).slope_ for n in (1, 2, 5, 10)}
    assert len(slopes) == 4


def test_every_fold_has_its_share_of_every_class(monkeypatch):
    """What is scored has been learned from rows of all classes: each row is left out once, with its like."""
    X, y = graded(60)
    y[:] = np.repeat([0, 1, 2], [40, 15, 5])
    learned, found = OrdinalClassifier._learned, []

    def noted(self, scaled, grades):
        found.append(np.bincount(grades, minlength=3).tolist())
        return learned(self, scaled, grades)

    monkeypatch.setattr(OrdinalClassifier, "_learned", noted)
    OrdinalClassifier(LinearRegressionRanker()).fit(X, y)
    assert found == [[40, 15, 5], *[[32, 12, 4]] * 5]


@pytest.mark.parametrize(
    "ranker",
    [
        NestedRanker("linear-regression-ranker", sizes=(None, 10)),
        RankAggregation("linear-regression-ranker", n=2, resample="queries"),
        RankAggregation("linear-regression-ranker", n=2, resample="queries", method="raw_mean"),
        RankFusion(),
        AutoRanker(trials=1, folds=2),
    ],
    ids=["nested", "rank_sum", "scaled by list", "fusion", "auto"],
)
def test_rankers_whose_scores_depend_on_the_other_rows_are_refused(ranker):
    X, y = graded(100)
    with pytest.raises(ParameterError, match="gives places in a list, not scores"):
        OrdinalClassifier(ranker, list_size=20).fit(X, y)


def test_an_aggregation_of_rankers_that_score_rows_gives_a_row_the_same_class_alone():
    X, y = graded(100)
    members = RankAggregation(LinearRegressionRanker(scaling=None), n=2, resample="documents", method="raw_mean")
    model = OrdinalClassifier(members, folds=2).fit(X, y)
    assert np.concatenate([model.predict(row[None]) for row in X[:20]]).tolist() == model.predict(X[:20]).tolist()
