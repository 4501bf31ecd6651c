"""The contract's own machinery: what every ranker inherits."""

import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordino import scorer
from ordino.checks import check_choice, check_int, check_real
from ordino.data.dataset import Dataset
from ordino.data.folds import QueryKFold
from ordino.data.source import canonical
from ordino.errors import DataError, OrdinoError, ParameterError
from ordino.forms import linear_scores
from ordino.progress import Steps
from ordino.ranker import Ranker
from ordino.rankers.baselines import LinearRegressionRanker
from ordino.testing import easy_data
from rankers.test_check_ranker import Slopes

# ---------------------------------------------------------------------------------------------------------------------
# Base


def test_rank_goes_query_by_query_in_order_of_first_rows():
    # coef_ is positive, so the larger feature wins; rows of query "b" are 0 and 2, of "a" 1 and 3
    ranker = Slopes().fit(Dataset([[0.0], [1.0]], [0, 1]))
    assert ranker.rank([[1.0], [5.0], [2.0], [6.0]], qid=["b", "a", "b", "a"]).tolist() == [2, 0, 3, 1]


def test_predictions_come_in_the_order_of_the_rows():
    ranker = Slopes().fit(Dataset([[0.0], [2.0]], [0, 1]))  # covariance: (-1/2 * -1 + 1/2 * 1) / 2 = 1/2
    assert ranker.predict([[4.0], [2.0], [6.0]], qid=[1, 0, 1]).tolist() == [2.0, 1.0, 3.0]


def test_a_data_set_does_as_well_as_arrays():
    data = easy_data()
    one, other = Slopes().fit(data), Slopes().fit(data.X, data.y, qid=data.qid)
    assert one.coef_.tolist() == other.coef_.tolist()
    assert one.score(data) == one.score(data.X, data.y, qid=data.qid)


def test_valid_may_be_a_data_set_or_a_tuple():
    data, valid = easy_data(), easy_data(seed=1)
    assert Slopes().fit(data, valid=valid).seen_valid_.n_docs == valid.n_docs
    assert Slopes().fit(data, valid=(valid.X, valid.y, valid.qid)).seen_valid_.n_queries == valid.n_queries


def test_scaling_is_learned_and_used_in_predict():
    data = easy_data()
    ranker = Slopes(scaling="minmax").fit(data)
    moved = data.replace(X=data.X * 4 + 2)  # scaling undoes it, but for rounding
    np.testing.assert_allclose(Slopes(scaling="minmax").fit(moved).predict(moved), ranker.predict(data), atol=1e-5)
    np.testing.assert_allclose(ranker.predict(moved), ranker.predict(data), atol=1e-5)  # it works inside each query


def test_a_scorer_turns_errors_as_score_does():
    data = easy_data()
    ranker = LinearRegressionRanker(metric="pairwise_error").fit(data)
    assert scorer("pairwise_error")(ranker, data.X, data.y, qid=data.qid) == ranker.score(data) < 0


def test_score_turns_errors_so_that_larger_is_better():
    data = easy_data()
    ranker = LinearRegressionRanker(metric="pairwise_error").fit(data)
    assert -0.5 < ranker.score(data) < 0
    assert 1 + ranker.score(data) == pytest.approx(ranker.set_params(metric="pairwise_accuracy").score(data))


def test_names_of_columns_are_kept_and_checked():
    frame = pd.DataFrame({"bm25": [0.0, 1.0], "age": [1.0, 0.0]})
    ranker = Slopes().fit(Dataset(frame, [0, 1]))
    assert ranker.feature_names_in_.tolist() == ["bm25", "age"]
    assert ranker.predict(frame).tolist() == ranker.predict(frame.to_numpy()).tolist()
    with pytest.raises(DataError, match="column 0 is 'age' but was 'bm25' in fit; give the columns in the same order"):
        ranker.predict(frame[["age", "bm25"]])
    ranker.fit(Dataset(frame.to_numpy(), [0, 1]))
    assert not hasattr(ranker, "feature_names_in_")


def test_sparse_features_are_fine():
    data = easy_data()
    ranker = Slopes().fit(data)
    assert ranker.predict(scipy.sparse.csr_matrix(data.X), qid=data.qid).tolist() == ranker.predict(data).tolist()


DATA = easy_data()


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (
            lambda: Slopes().fit(DATA.X),
            "y is missing: fit\\(\\) requires y to be passed, but the target y is None; give one label",
        ),
        (lambda: Slopes().fit(DATA, DATA.y), "a Dataset has its own labels, queries and weights; leave out y"),
        (lambda: Slopes().fit(Dataset(DATA.X[:0], DATA.y[:0])), "there are no documents to learn from"),
        (lambda: Slopes().fit(DATA, valid=(DATA.X[:0], DATA.y[:0], [])), "valid has no documents; leave it out"),
        (lambda: Slopes().fit(DATA, valid=(DATA.X[:, :2], DATA.y, DATA.qid)), "X has 4 features but valid has 2"),
        (
            lambda: Slopes().fit(Dataset(DATA.X * np.nan, DATA.y)),
            "X has NaN in column 0, which Slopes cannot use",
        ),
        (lambda: Slopes().fit(DATA, valid=(DATA.X * np.nan, DATA.y, DATA.qid)), "valid has NaN in column 0"),
        (lambda: Slopes().fit(DATA).predict(DATA.X[:, :2]), "fitted with 4 features but the data has 2"),
        (lambda: Slopes().fit(DATA).predict(3.0), "X has shape"),
        (
            lambda: Slopes().fit(DATA).score(DATA.X, DATA.y),
            r"score\(\) needs qid=..., the query of each row",
        ),
        (lambda: Slopes(scaling="minmx").fit(DATA), "unknown scaling 'minmx'; did you mean 'minmax'?"),
    ],
    ids=range(11),
)
def test_refusals_are_sentences(action: Callable[[], object], sentence: str):
    with pytest.raises(OrdinoError, match=sentence):
        action()


@pytest.mark.parametrize("scaling", [None, "minmax"])
def test_validation_data_with_its_columns_in_another_order_is_refused(scaling):
    train = DATA.replace(feature_names=tuple("abcd"))
    valid = train.replace_features(train.X[:, ::-1], tuple("dcba"))
    with pytest.raises(DataError, match="column 0 is 'd' but was 'a' in fit; give the columns in the same order"):
        Slopes(scaling=scaling).fit(train, valid=valid)
    unnamed = DATA.replace(feature_names=None)
    assert Slopes(scaling=scaling).fit(train, valid=unnamed).seen_valid_.n_docs == unnamed.n_docs


def test_one_query_may_be_scored_without_qid():
    one = DATA.select_queries([0])
    assert 0 < Slopes().fit(one).score(Dataset(one.X, one.y)) <= 1
    assert 0 < Slopes().fit(DATA).score(one) <= 1  # a data set says itself that it is one query


def test_what_failed_to_fit_is_not_fitted():
    class Fails(Slopes):
        def _fit(self, data, valid):
            raise DataError("no")

    ranker = Fails()
    with pytest.raises(DataError):
        ranker.fit(DATA)
    with pytest.raises(NotFittedError, match="this Fails is not fitted yet; call fit first"):
        ranker.predict(DATA)


# ---------------------------------------------------------------------------------------------------------------------
# Inside scikit-learn


def test_grid_search_keeps_queries_apart_with_qid_routed():
    data = easy_data(n_queries=20)
    grid = {"power": [-1.0, 1.0]}
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(Slopes(), grid, cv=QueryKFold(4), error_score="raise")
        search.fit(data.X, data.y, qid=data.qid, groups=data.qid)
        assert search.best_params_ == {"power": 1.0}
        by_hand = [
            Slopes()
            .fit(data.X[train], data.y[train], qid=data.qid[train])
            .score(data.X[test], data.y[test], qid=data.qid[test])
            for train, test in QueryKFold(4).split(data.X, groups=data.qid)
        ]
        assert search.best_score_ == pytest.approx(np.mean(by_hand))
        assert search.best_estimator_.n_queries_in_ == 20


ROUTES_SCORE = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)
"""Whether scikit-learn tells the score of a pipeline the queries; before, cross-validation needs ordino.scorer."""


def test_cross_val_score_and_pipeline_route_qid():
    data = easy_data(n_queries=20)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), LinearRegressionRanker())
        values = cross_val_score(
            pipeline,
            data.X,
            data.y,
            cv=QueryKFold(5),
            params={"qid": data.qid, "groups": data.qid},
            scoring=None if ROUTES_SCORE else scorer("ndcg@10"),
            error_score="raise",
        )
        assert values.shape == (5,)
        assert values.min() > 0.8
        pipeline.fit(data.X, data.y, qid=data.qid)
        assert pipeline[-1].n_queries_in_ == 20
        assert pipeline.predict(data.X, qid=data.qid).shape == (data.n_docs,)
        assert pipeline.score(data.X, data.y, qid=data.qid) > 0.8


def test_a_search_that_would_pool_the_queries_is_refused():
    data = easy_data(n_queries=20)
    search = GridSearchCV(Slopes(), {"power": [1.0]}, cv=QueryKFold(4), error_score="raise")
    with pytest.raises(DataError, match=r"needs qid=.*sklearn\.set_config\(enable_metadata_routing=True\)"):
        search.fit(data.X, data.y, qid=data.qid, groups=data.qid)
    lenient = GridSearchCV(Slopes(), {"power": [1.0]}, cv=QueryKFold(4))  # scikit-learn makes warnings of our errors
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lenient.fit(data.X, data.y, qid=data.qid, groups=data.qid)
    assert any("needs qid=" in str(warning.message) for warning in told)
    assert np.isnan(lenient.best_score_)


def test_clone_and_tags():
    ranker = Slopes(power=2.0, seed=3)
    assert clone(ranker).get_params() == ranker.get_params()
    assert not ranker.__sklearn_tags__().input_tags.allow_nan


# ---------------------------------------------------------------------------------------------------------------------
# Linear scores


def test_a_document_scores_the_same_in_any_company():
    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(70_000, 7)).astype(np.float32), rng.normal(size=7)
    scores = linear_scores(X, coef)  # more than a block
    assert scores[65_530:65_540].tolist() == linear_scores(X[65_530:65_540], coef).tolist()
    np.testing.assert_allclose(scores, X.astype(float) @ coef, rtol=1e-12, atol=1e-12)


def test_feature_weights_are_named_and_sorted():
    ranker = Slopes().fit(Dataset([[0.0, 1.0], [2.0, 0.0]], [0, 1]))  # covariances 1/2 and -1/4
    assert ranker.feature_weights() == [("f1", 0.5), ("f2", -0.25)]
    ranker.fit(Dataset(pd.DataFrame({"age": [1.0, 0.0], "bm25": [0.0, 2.0]}), [0, 1]))
    assert ranker.feature_weights() == [("bm25", 0.5), ("age", -0.25)]
    with pytest.raises(NotFittedError):
        Slopes().feature_weights()


# ---------------------------------------------------------------------------------------------------------------------
# Canonical order


@given(st.integers(0, 2**32 - 1))
def test_any_order_of_rows_becomes_the_same(seed: int):
    rng = np.random.default_rng(seed)
    n_docs = int(rng.integers(1, 40))
    X = rng.integers(-1, 2, (n_docs, 2)).astype(np.float32)  # many equal rows
    y, qid, weights = rng.integers(0, 2, n_docs).astype(float), rng.integers(0, 6, n_docs), rng.integers(1, 3, n_docs)
    rows = rng.permutation(n_docs)
    one = canonical(Dataset(X, y, qid, weights=weights, doc_ids=np.arange(n_docs)))
    other = canonical(Dataset(X[rows], y[rows], qid[rows] + 100, weights=weights[rows]))
    assert one.X.tolist() == other.X.tolist()
    assert one.y.tolist() == other.y.tolist()
    assert one.weights is not None
    assert other.weights is not None
    assert one.weights.tolist() == other.weights.tolist()
    assert one.offsets.tolist() == other.offsets.tolist()
    assert one.doc_ids is not None
    assert X[one.doc_ids].tolist() == one.X.tolist()  # ids went with their rows
    assert canonical(one) is one


def test_both_zeros_are_one():
    """The sign of a zero, which no comparison shows, moves no document."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        X, y = rng.integers(0, 2, (12, 2)).astype(np.float32), rng.integers(0, 3, 12).astype(float)
        turned = np.where((X == 0) & (rng.random(X.shape) < 0.5), np.float32(-0.0), X)
        negative = np.where((y == 0) & (rng.random(12) < 0.5), -0.0, y)
        plus, minus = (canonical(Dataset(*given, doc_ids=np.arange(12))) for given in ((X, y), (turned, negative)))
        assert np.signbit(turned).any()
        assert plus.X.tolist() == minus.X.tolist()
        assert plus.y.tolist() == minus.y.tolist()


def test_labels_and_weights_take_part():
    # the same two features with labels swapped between the queries are other data
    X = [[1.0], [1.0], [2.0], [2.0]]
    one = canonical(Dataset(X, [0, 1, 1, 0], [0, 0, 1, 1]))
    other = canonical(Dataset(X, [1, 0, 0, 1], [0, 0, 1, 1]))
    assert one.y.tolist() == other.y.tolist()


# ---------------------------------------------------------------------------------------------------------------------
# Parameters


@pytest.mark.parametrize("value", [0, 11, 2.0, True, "3", None])
def test_whole_numbers(value: object):
    assert check_int("k", np.int64(3), low=1, high=10) == 3
    with pytest.raises(ParameterError, match=r"k=.*; it must be a whole number, from 1 to 10"):
        check_int("k", value, low=1, high=10)


@pytest.mark.parametrize("value", [0, -1, 2.5, float("nan"), float("inf"), True, "1", None])
def test_numbers(value: object):
    assert check_real("C", np.float32(0.5), low=0, high=2, open_low=True) == 0.5
    assert check_real("C", 0, low=0) == 0.0
    with pytest.raises(ParameterError, match=r"C=.*; it must be a number, more than 0 and at most 2"):
        check_real("C", value, low=0, high=2, open_low=True)


def test_limits_are_told():
    with pytest.raises(ParameterError, match=r"C=-1; it must be a number, 0 or more$"):
        check_real("C", -1, low=0)
    with pytest.raises(ParameterError, match=r"C=0; it must be a number, more than 0$"):
        check_real("C", 0, low=0, open_low=True)
    with pytest.raises(ParameterError, match=r"C=inf; it must be a number, 0 or more$"):
        check_real("C", float("inf"), low=0)


def test_choices():
    assert check_choice("loss", "hinge", ("hinge", "squared")) == "hinge"
    with pytest.raises(ParameterError, match="unknown loss 'hing'; did you mean 'hinge'"):
        check_choice("loss", "hing", ("hinge", "squared"))


# ---------------------------------------------------------------------------------------------------------------------
# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_drawn_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch):
    for stream, drawn in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with Steps("counting", 3, verbose=True) as steps:
            for i in steps:
                steps.show(best=i / 2)
        assert "counting" in stream.getvalue()
        assert "best 1.0000" in stream.getvalue()
        assert ("\u2501\u2501\u2501" in stream.getvalue()) == drawn
    quiet = Terminal()
    monkeypatch.setattr(sys, "stderr", quiet)
    with Steps("counting", 1) as steps:
        list(steps)
    assert quiet.getvalue() == ""


def test_control_c_ends_the_loop_and_keeps_what_is_done(capsys: pytest.CaptureFixture[str]):
    with Steps("counting", 9) as steps:
        for i in steps:
            if i == 4:
                raise KeyboardInterrupt
    assert (steps.done, steps.interrupted) == (4, True)
    assert capsys.readouterr().err == "counting: stopped at 4 of 9; the best so far is kept\n"


def test_control_c_before_anything_is_done_goes_on_up():
    with pytest.raises(KeyboardInterrupt):
        _count(stop_at=0, error=KeyboardInterrupt)


def test_other_errors_go_on_up():
    with pytest.raises(ZeroDivisionError):
        _count(stop_at=3, error=ZeroDivisionError)


def _count(stop_at: int, error: type[BaseException]) -> None:
    with Steps("counting", 9) as steps:
        for i in steps:
            if i == stop_at:
                raise error


def test_no_ranker_module_imports_torch_or_lightgbm_at_its_top():
    home = Path(sys.modules[Ranker.__module__].__file__ or "").parent
    for path in home.glob("*.py"):
        for line in path.read_text().splitlines():
            assert not line.startswith(("import torch", "from torch", "import lightgbm", "from lightgbm")), path.name
