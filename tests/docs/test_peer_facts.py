"""What README's table says of other tools, each fact seen by running them on the same small data."""

import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.model_selection import GridSearchCV, GroupKFold

import ordino
from ordino.data.folds import QueryKFold

pytestmark = pytest.mark.filterwarnings("ignore:'force_all_finite' was renamed")  # which LightGBM 4.5 still says
DATA = ordino.synthetic("mq", queries=24, seed=1)
X, y, QID = DATA.X, DATA.y.astype(int), DATA.qid
RNG = np.random.default_rng(0)
INSIDE = np.concatenate([start + RNG.permutation(n) for start, n in zip(DATA.offsets, DATA.counts, strict=False)])
ANYHOW = RNG.permutation(len(y))
LONG = RNG.random((10_001, 2)).astype(np.float32)


def lightgbm_ranker(X, y, qid):
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMRanker(n_estimators=5, n_jobs=1, verbose=-1).fit(
        X, y, group=np.unique(qid, return_counts=True)[1]
    )


def xgboost_ranker(X, y, qid):
    return pytest.importorskip("xgboost").XGBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)


def catboost_ranker(X, y, qid):
    catboost = pytest.importorskip("catboost")
    made = catboost.CatBoostRanker(iterations=5, thread_count=1, verbose=False, allow_writing_files=False)
    return made.fit(X, y, group_id=qid)


def ordino_ranker(X, y, qid):
    return ordino.LambdaMART(rounds=5).fit(X, y, qid=qid)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # as LightGBM 4.6 says of its own arrays
@pytest.mark.parametrize("fit", [lightgbm_ranker, xgboost_ranker, catboost_ranker])
def test_the_order_of_rows_inside_queries_changes_other_models(fit):
    before, after = fit(X, y, QID), fit(X[INSIDE], y[INSIDE], QID[INSIDE])
    assert np.abs(before.predict(X) - after.predict(X)).max() > 0.01


@pytest.mark.parametrize("order", [INSIDE, ANYHOW], ids=["inside queries", "anyhow"])
def test_no_order_of_rows_changes_ours(order):
    np.testing.assert_array_equal(
        ordino_ranker(X[order], y[order], QID[order]).predict(X), ordino_ranker(X, y, QID).predict(X)
    )


@pytest.mark.parametrize(
    ("fit", "message"), [(xgboost_ranker, "must be sorted"), (catboost_ranker, "should be grouped")]
)
def test_rows_of_a_query_must_stand_together_elsewhere(fit, message):
    with pytest.raises(Exception, match=message):
        fit(X[ANYHOW], y[ANYHOW], QID[ANYHOW])


@pytest.mark.parametrize(
    ("fit", "message"), [(lightgbm_ranker, "label mappings"), (xgboost_ranker, "lesser than or equal to 31")]
)
def test_labels_above_30_or_31_are_refused_elsewhere(fit, message):
    with pytest.raises(Exception, match=message):
        fit(X, y * 40, QID)


@pytest.mark.parametrize("fit", [ordino_ranker, catboost_ranker])
def test_labels_of_40_and_80_are_learned(fit):
    assert np.ptp(fit(X, y * 40, QID).predict(X)) > 0


def test_lightgbm_refuses_a_query_of_more_than_10_000_documents():
    with pytest.raises(Exception, match="upper limit of 10000"):
        lightgbm_ranker(LONG, LONG[:, 0] > 0.9, np.zeros(len(LONG)))


@pytest.mark.parametrize("fit", [ordino_ranker, xgboost_ranker, catboost_ranker])
def test_a_query_of_10_001_documents_is_learned(fit):
    assert np.ptp(fit(LONG, (LONG[:, 0] > 0.9).astype(int), np.zeros(len(LONG), dtype=int)).predict(LONG)) > 0


def no_opinion(ranker, X, y):
    """A scorer of the user's own, for tools that bring none."""
    return 0.0


@pytest.mark.parametrize(
    ("scoring", "message"), [(None, "should have a 'score' method"), (no_opinion, "Sum of query counts")]
)
def test_a_search_fails_in_lightgbm_with_a_scorer_and_without(scoring, message):
    ranker = pytest.importorskip("lightgbm").LGBMRanker(n_estimators=2, n_jobs=1, verbose=-1)
    search = GridSearchCV(ranker, {"num_leaves": [4]}, cv=GroupKFold(3), scoring=scoring, error_score="raise")
    with pytest.raises(Exception, match=message):
        search.fit(X, y, groups=QID, group=DATA.counts)


def test_a_search_needs_a_scorer_of_your_own_in_catboost():
    catboost = pytest.importorskip("catboost")
    ranker = catboost.CatBoostRanker(iterations=2, thread_count=1, verbose=False, allow_writing_files=False)
    search = GridSearchCV(ranker, {"depth": [2]}, cv=GroupKFold(3), error_score="raise")
    with pytest.raises(Exception, match="group_id must be initialized"):
        search.fit(X, y, groups=QID, group_id=QID)
    assert search.set_params(scoring=no_opinion).fit(X, y, groups=QID, group_id=QID).best_score_ == 0.0


def test_a_search_pools_the_queries_in_xgboost_unless_qid_is_a_column():
    """NDCG of each fold by hand, all rows as one list and query by query, is what the two searches report."""
    ranker = pytest.importorskip("xgboost").XGBRanker(n_estimators=5, n_jobs=1, max_depth=3)
    folds = list(GroupKFold(3).split(X, y, QID))
    pooled, by_query = [], []
    for train, test in folds:
        scores = ranker.fit(X[train], y[train], qid=QID[train]).predict(X[test])
        for found, qid in ((pooled, None), (by_query, QID[test])):
            found.append(ordino.evaluate(y[test], scores, qid=qid, metrics=["ndcg@32"], profile="xgboost")["ndcg@32"])
    search = GridSearchCV(ranker, {"max_depth": [3]}, cv=folds, error_score="raise")
    try:
        found = search.fit(X, y, qid=QID).best_score_
    except ValueError as error:  # newer versions refuse it
        found, refused = np.mean(pooled), str(error)
    else:
        refused = "column `qid` is required"
    assert found == pytest.approx(np.mean(pooled))
    assert "column `qid` is required" in refused
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]).assign(qid=QID)
    assert search.fit(frame, y).best_score_ == pytest.approx(np.mean(by_query))
    assert np.mean(by_query) > np.mean(pooled) + 0.3


def test_a_search_means_queries_here():
    folds = list(QueryKFold(3).split(X, y, QID))
    ranker = ordino.LinearRegressionRanker(alpha=1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(ranker, {"alpha": [1.0]}, cv=folds).fit(X, y, qid=QID)
    by_query = [
        ordino.evaluate(
            y[test], ranker.fit(X[train], y[train], qid=QID[train]).predict(X[test], qid=QID[test]), qid=QID[test]
        )["ndcg@10"]
        for train, test in folds
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_query))


@pytest.fixture
def allrank(monkeypatch):
    """allRank's modules by name; what it imports for cloud storage, logs and images is not used here."""
    pytest.importorskip("allrank")
    for name, members in (
        ("torchvision", {"transforms": None}),
        ("torchvision.transforms", {"Compose": None}),
        ("gcsfs", {}),
        ("pkg_resources", {"Requirement": None, "resource_filename": None}),
    ):
        stand_in = ModuleType(name)
        stand_in.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, stand_in)
    return lambda name: import_module(f"allrank.{name}")


def test_a_query_with_nothing_relevant_counts_1_in_allrank(allrank):
    """For LightGBM, XGBoost and CatBoost: tests/reference/test_metrics_boosters.py."""
    torch = pytest.importorskip("torch")
    assert allrank("models.metrics").ndcg(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.0, 0.0]])).tolist() == [[1.0]]


def test_allrank_cuts_rows_by_the_sizes_of_queries(allrank):
    """Query 1 has rows 0 and 2, but gets rows 0 and 1."""
    data = allrank("data.dataset_loading").LibSVMDataset(
        csr_matrix([[1.0], [2.0], [3.0]]), np.array([1, 2, 0]), np.array([1, 2, 1])
    )
    assert data.X_by_qid[0].ravel().tolist() == [1.0, 2.0]
