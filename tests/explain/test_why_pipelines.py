"""Pipelines are explained by the ranker at their end, in the features that it gets."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import ordino
from ordino import OneHot, RankSVM
from ordino.data.scaling import make_scaler
from ordino.errors import DataError, ParameterError
from ordino.explain import feature_weights, permutation_importance
from ordino.pipelines import score_with

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"price": RNG.random(60) * 100, "city": RNG.choice(["Bern", "Oslo", "Rome"], 60)})
Y = (FRAME["city"] == "Oslo").to_numpy() + (FRAME["price"] < 30).to_numpy()
QID = np.repeat(np.arange(10), 6)


def by_columns():
    return ColumnTransformer([("c", OneHotEncoder(), ["city"])], remainder="passthrough")


def fitted(*steps, X=FRAME):
    return make_pipeline(*steps, RankSVM()).fit(X, Y, ranksvm__qid=QID)


@pytest.mark.parametrize("steps", [(OneHot(),), (by_columns(), StandardScaler())], ids=["ours", "by columns"])
def test_the_reasons_of_a_pipeline_sum_to_the_difference_of_its_scores(steps):
    pipeline = fitted(*steps)
    found = ordino.why(pipeline, 0, 4, query=FRAME[:6])
    scores = pipeline.predict(FRAME[:6])
    assert found.difference == pytest.approx(scores[0] - scores[4], abs=1e-6)
    assert any("Oslo" in reason.feature for reason in found.reasons)


def test_features_that_keep_their_names_are_shown_as_they_were_given():
    found = ordino.why(fitted(OneHot(), X=FRAME), 0, 1, query=FRAME[:6])
    price = next(reason for reason in found.reasons if reason.feature == "price")
    assert (price.a, price.b) == pytest.approx(tuple(FRAME["price"][:2]))
    scaled = fitted(StandardScaler(), X=FRAME[["price"]].to_numpy())
    [reason] = ordino.why(scaled, [50.0], [20.0]).reasons
    assert (reason.feature, reason.a, reason.b) == ("x0", 50.0, 20.0)


def test_features_that_moved_to_another_place_are_shown_as_they_were_given():
    frame = pd.DataFrame({"one": np.zeros(60), "price": FRAME["price"], "age": RNG.random(60)})
    moved = ColumnTransformer([("keep", "passthrough", ["age", "price"])], verbose_feature_names_out=False)
    found = ordino.why(fitted(moved, X=frame), 0, 1, query=frame[:6])
    shown = {reason.feature: (reason.a, reason.b) for reason in found.reasons}
    assert shown.keys() == {"price", "age"}
    for name, values in shown.items():
        assert values == pytest.approx(tuple(frame[name][:2]))


def test_names_that_a_step_cannot_tell_are_not_guessed():
    """A step that leaves out a column and says nothing of names: those of all columns are not those of the others."""
    frame = pd.DataFrame({"one": np.zeros(60), "price": FRAME["price"], "age": RNG.random(60)})
    last_two = FunctionTransformer(lambda X: np.asarray(X)[:, 1:])
    pipeline = fitted(last_two, X=frame)
    assert {reason.feature for reason in ordino.why(pipeline, 0, 1, query=frame[:6]).reasons} == {"f1", "f2"}
    assert {one.feature for one in feature_weights(pipeline)} == {"f1", "f2"}


def test_steps_of_ours_know_the_queries_of_a_data_set():
    """A scaler inside queries in front of a ranker: scored as a whole, each query by its own documents."""
    data = ordino.Dataset(FRAME[["price"]], Y, QID)
    scaler = make_scaler("zscore").fit(data)
    pipeline = make_pipeline(scaler, RankSVM(scaling=None).fit(scaler.transform(data)))
    alone = [score_with(pipeline, data.select_queries([q])) for q in range(10)]
    np.testing.assert_array_equal(score_with(pipeline, data), np.concatenate(alone))
    importance = permutation_importance(pipeline, data, repeats=1)
    assert importance[0].importance > 0


def test_a_pipeline_that_ends_in_no_ranker_is_refused():
    plain = make_pipeline(StandardScaler(), LinearRegression()).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ParameterError, match="a LinearRegression is not a ranker"):
        ordino.why(plain, [1.0], [2.0])


def test_rows_outside_of_the_query_are_refused():
    with pytest.raises(DataError, match="there is no row 6; the query has 6 documents"):
        ordino.why(fitted(OneHot()), 0, 6, query=FRAME[:6])
