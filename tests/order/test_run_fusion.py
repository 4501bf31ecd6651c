"""Fusion of lists that lack documents: by hand, as laws over every rule, and as a ranker that learns nothing."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino import AutoRanker, Dataset, RankFusion, load, save
from ordino.errors import DataError, ModelFileError, ParameterError
from ordino.order.run_fusion import RUN_METHODS, fuse_runs

NAN = np.nan
# ranks 1 2 3 - and - 1.5 1.5 3; scores from 0 to 1: 1 .5 0 - and - 1 1 0
SCORES = np.array([[9.0, 5.0, 1.0, NAN], [NAN, 0.5, 0.5, 0.1]])
ONE = np.array([0, 4])
BY_HAND = {
    "rrf": [1 / 61, 1 / 62 + 1 / 61.5, 1 / 63 + 1 / 61.5, 1 / 63],
    "isr": [1, 2 * (1 / 4 + 1 / 1.5**2), 2 * (1 / 9 + 1 / 1.5**2), 1 / 9],
    "combsum": [1, 1.5, 1, 0],
    "combmnz": [1, 3, 2, 0],
    "combmax": [1, 1, 1, 0],
    "borda": [4 + 1, 3 + 3.5, 2 + 3.5, 1 + 2],  # a missing document has the one rank that is left
}


@pytest.mark.parametrize("method", BY_HAND)
def test_by_hand(method):
    assert fuse_runs(SCORES, ONE, method) == pytest.approx(BY_HAND[method])


@pytest.mark.parametrize("method", ["combsum", "combmnz", "combmax"])
def test_a_list_of_equal_scores_is_as_good_as_the_best_of_another(method):
    """The first run finds two documents and cannot tell them apart, the second finds one of another query."""
    scores = np.array([[5.0, 5.0, np.nan, np.nan], [np.nan, np.nan, np.nan, 0.1]])
    found = fuse_runs(scores, np.array([0, 3, 4]), method)
    assert found[[0, 1, 3]].tolist() == [1.0, 1.0, 1.0]
    assert found[2] <= 0


def test_zscore_by_hand():
    # 9 5 1 1: mean 4, deviation sqrt(11); .1 .5 .5 .1: mean .3, deviation .2
    expected = [((9 - 4) / 11**0.5 - 1) / 2, (1 / 11**0.5 + 1) / 2, (-3 / 11**0.5 + 1) / 2, (-3 / 11**0.5 - 1) / 2]
    assert fuse_runs(SCORES, ONE, "zscore") == pytest.approx(expected)


def test_kemeny_contradicts_the_lists_in_the_fewest_pairs():
    lists = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [NAN, 1.0, 2.0]])
    assert np.argsort(-fuse_runs(lists, np.array([0, 3]), "kemeny")).tolist() == [0, 1, 2]


@st.composite
def lists(draw):
    counts = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    n_runs, n_docs = draw(st.integers(1, 3)), sum(counts)
    cells = st.sampled_from([NAN, 0.0, 1.0, 2.0, 5.0])
    values = draw(st.lists(cells, min_size=n_runs * n_docs, max_size=n_runs * n_docs))
    return np.array(values, float).reshape(n_runs, n_docs), np.concatenate(([0], np.cumsum(counts)))


@pytest.mark.parametrize("method", RUN_METHODS)
@given(given_lists=lists())
def test_laws(method, given_lists):
    scores, offsets = given_lists
    fused = fuse_runs(scores, offsets, method)
    assert np.isfinite(fused).all()
    for start, stop in pairwise(offsets):  # queries do not touch each other
        alone = fuse_runs(scores[:, start:stop], np.array([0, stop - start]), method)
        np.testing.assert_allclose(fused[start:stop], alone, atol=1e-9)
    np.testing.assert_allclose(fused, fuse_runs(2 * scores + 3, offsets, method), atol=1e-9)  # units mean nothing


@pytest.mark.parametrize("method", RUN_METHODS)
def test_what_nobody_retrieved_stands_last(method):
    """Below the last of a list; where the last of a list counts nothing, beside it."""
    nan = np.nan
    scores = np.array([[3.0, 2.0, 1.0, nan], [nan, 5.0, 4.0, nan]])
    *found, last = fuse_runs(scores, np.array([0, 4]), method)
    assert last <= min(found) if method in ("combsum", "combmnz", "zscore") else last < min(found)


def data():
    table = {"bm25": {"q": {"a": 9.0, "b": 5.0, "c": 1.0}}, "dense": {"q": {"b": 0.5, "c": 0.5, "d": 0.1}}}
    return Dataset.from_runs(table, {"q": {"b": 1}})


@pytest.mark.parametrize("method", BY_HAND)
def test_the_ranker_takes_the_scores_of_runs_and_what_they_miss(method):
    fitted = RankFusion(method=method).fit(data())
    assert fitted.runs_ == ["bm25_score", "dense_score"]
    assert fitted.predict(data()) == pytest.approx(BY_HAND[method])


def test_missing_values_are_documents_that_were_not_retrieved():
    table = Dataset(SCORES.T, [0, 1, 0, 0], feature_names=["bm25", "dense"])
    assert RankFusion().fit(table).predict(table) == pytest.approx(BY_HAND["rrf"])
    assert RankFusion(k=0).fit(table).predict(table) == pytest.approx([1, 1 / 2 + 1 / 1.5, 1 / 3 + 1 / 1.5, 1 / 3])


@pytest.mark.parametrize("options", [{}, {"k": 5.0}, {"method": "combsum"}, {"method": "borda"}], ids=str)
def test_what_each_run_adds_makes_the_scores_together(options):
    fitted = RankFusion(**options).fit(data())
    added = fitted.by_run(data())
    assert added.feature_names == ("bm25_score", "dense_score")
    assert added.X.sum(axis=1) == pytest.approx(fitted.predict(data()), rel=1e-6)


def test_labels_are_not_looked_at():
    one = RankFusion().fit(data())
    other = RankFusion().fit(data().replace(y=[3, 0, 0, 1]))
    np.testing.assert_array_equal(one.predict(data()), other.predict(data()))
    assert not one.is_random


def test_features_are_chosen_by_name():
    fitted = RankFusion(features=["dense_score"]).fit(data())
    assert fitted.predict(data()) == pytest.approx([0, 1 / 61.5, 1 / 61.5, 1 / 63])
    with pytest.raises(ParameterError, match="did you mean 'dense_score'"):
        RankFusion(features=["dense_scor"]).fit(data())
    assert RankFusion(features="dense_score").fit(data()).runs_ == ["dense_score"]
    with pytest.raises(ParameterError, match="name at least one feature"):
        RankFusion(features=[]).fit(data())


def test_a_model_file_whose_parts_do_not_fit_is_refused(tmp_path):
    fitted = RankFusion().fit(data())
    fitted.columns_ = [0, 99]
    save(fitted, tmp_path / "bad.ordino")
    with pytest.raises((DataError, ModelFileError), match="columns_ does not fit"):
        load(tmp_path / "bad.ordino").predict(data())


def runs_of(useful: float, n_queries: int = 40):
    """Two runs of 12 documents; the label follows the first by this share, and the second not at all."""
    rng = np.random.default_rng(5)
    first, second, luck = rng.random((3, n_queries, 12)).astype(np.float32)
    labels = (useful * first + (1 - useful) * luck > 0.7).astype(int)
    table = [
        {f"q{q}": {f"d{d}": float(score) for d, score in enumerate(row)} for q, row in enumerate(one)}
        for one in (first, second, labels)
    ]
    qrels = {q: {d: int(label) for d, label in row.items()} for q, row in table[2].items()}
    return Dataset.from_runs({"one": table[0], "two": table[1]}, qrels)


@pytest.mark.parametrize(("useful", "falls"), [(0.0, True), (0.9, False)])
def test_automatic_falls_back_to_fusion_where_no_gain_is_shown(useful, falls, tmp_path):
    whole = runs_of(useful)
    ranker = AutoRanker(trials=2, folds=2).fit(whole)
    assert ([row["ranker"] for row in ranker.members_] == ["rank-fusion"]) is falls
    fused = RankFusion().fit(whole)
    assert np.array_equal(ranker.rank(whole), fused.rank(whole)) is falls
    if falls:
        assert ranker.quality_["mean"] == pytest.approx(fused.score(whole), abs=0.01)  # ties fall otherwise
    save(ranker, tmp_path / "auto.ordino")
    np.testing.assert_array_equal(load(tmp_path / "auto.ordino").predict(whole), ranker.predict(whole))
