"""Missing values on request: filled in by medians of the training data, which go with the model."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer

import ordino
from ordino.data.filling import MedianFilled
from ordino.data.scaling import SCALERS, make_scaler
from ordino.errors import DataError, ParameterError
from ordino.model_file import read_card
from ordino.testing import easy_data

WHOLE = easy_data()
rng = np.random.default_rng(0)
X = np.where(rng.random(WHOLE.X.shape) < 0.2, np.float32(np.nan), WHOLE.X)
HOLES = WHOLE.replace(X=X)


@pytest.mark.parametrize("scaling", [None, *SCALERS])
def test_as_if_an_imputer_stood_before_it(scaling, tmp_path):
    ranker = ordino.LinearRegressionRanker(missing="median", scaling=scaling).fit(HOLES)
    filled = SimpleImputer(strategy="median").fit(X).transform(X).astype(np.float32)
    by_hand = WHOLE.replace(X=filled)
    expected = ordino.LinearRegressionRanker(scaling=scaling).fit(by_hand).predict(by_hand)
    np.testing.assert_allclose(ranker.predict(HOLES), expected, rtol=1e-5, atol=1e-6)
    ordino.save(ranker, tmp_path / "model")
    np.testing.assert_array_equal(ordino.load(tmp_path / "model").predict(HOLES), ranker.predict(HOLES))
    inner = None if scaling is None else type(make_scaler(scaling)).__name__
    assert read_card(tmp_path / "model")["scaling"] == ("MedianFilled" if inner is None else f"MedianFilled, {inner}")


@pytest.mark.parametrize("ranker", [ordino.RankNet(epochs=1), ordino.SortNet(epochs=1, max_iter=1), ordino.RankSVM()])
def test_other_families_too(ranker):
    ranker.set_params(missing="median")
    scores = ranker.fit(HOLES, valid=HOLES).predict(HOLES)
    assert np.isfinite(scores).all()
    part = HOLES[0].X
    np.testing.assert_array_equal(ranker.rank(part), np.argsort(-scores[: len(part)], kind="stable"))


def test_medians_are_those_of_training():
    ranker = ordino.LinearRegressionRanker(missing="median").fit(HOLES)
    a = np.full((2, 4), np.nan, np.float32)
    b = np.stack([np.nanmedian(X, axis=0)] * 2)
    np.testing.assert_array_equal(ranker.predict(a), ranker.predict(b))


def test_a_feature_that_training_never_saw_is_0():
    scaler = MedianFilled(inner=make_scaler("quantile")).fit(np.full((3, 1), np.nan))
    assert scaler.medians_.tolist() == [0.0]
    assert scaler.transform([[np.nan]]).tolist() == [[0.0]]


def test_without_it_the_sentence_names_it():
    with pytest.raises(DataError, match=r"which RankSVM cannot use; use missing='median'"):
        ordino.RankSVM().fit(HOLES)
    with pytest.raises(ParameterError, match="missing"):
        ordino.RankSVM(missing="mean").fit(HOLES)
