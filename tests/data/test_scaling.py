"""Scaling: figures by hand, laws over every entry of SCALERS, scikit-learn as the oracle and as the host."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from ordino import synthetic, write_shards
from ordino.data.dataset import Dataset
from ordino.data.query_features import SHORT
from ordino.data.scaling import SCALERS, MinMax, NormalQuantiles, QueryMax, ZScore, make_scaler
from ordino.errors import DataError, ParameterError

NAN = float("nan")
BY_QUERY = ["querymax", "minmax", "zscore", "rank", "qlog", "hinge", "z+rank+qlog+hinge"]
all_scalers = pytest.mark.parametrize("name", [*SCALERS, "z+rank+qlog+hinge", "raw+quantile"])

# Counts, so that every scaler takes them; a few NaN.
numbers = st.one_of(st.integers(0, 1000).map(float), st.just(NAN))
tables = hnp.array_shapes(min_dims=2, max_dims=2, max_side=12).flatmap(
    lambda shape: hnp.arrays(np.float32, shape, elements=numbers)
)


def qids(table: np.ndarray, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 3, len(table))


def column(values: list[float]) -> np.ndarray:
    return np.array(values, np.float32).reshape(-1, 1)


# By hand


def test_querymax_is_sortnets_equation_4():
    X = column([1, 3, 8, -4, 2])
    scaled = QueryMax().fit_transform(X, qid=[1, 1, 1, 2, 2])
    # query 1: mean 12 / 3 = 4, largest 8; query 2: mean -2 / 2 = -1, largest |-4| = 4
    expected = [(1 - 4) / 8, (3 - 4) / 8, (8 - 4) / 8, (-4 + 1) / 4, (2 + 1) / 4]
    np.testing.assert_allclose(scaled.ravel(), expected, rtol=1e-7)


def test_minmax_is_rankdes_equation_5():
    scaled = MinMax().fit_transform(column([2, 4, 10, -1, 1]), qid=[1, 1, 1, 2, 2])
    np.testing.assert_allclose(scaled.ravel(), [0, (4 - 2) / (10 - 2), 1, 0, 1])


def test_zscore_by_hand():
    scaled = ZScore().fit_transform(column([1, 2, 3]))
    std = np.sqrt(((1 - 2) ** 2 + 0 + (3 - 2) ** 2) / 3)
    np.testing.assert_allclose(scaled.ravel(), [-1 / std, 0, 1 / std], rtol=1e-6)


@pytest.mark.parametrize("name", BY_QUERY)
@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 3e38])
def test_a_constant_feature_and_a_single_document_become_zero(name, value):
    scaler = make_scaler(name)
    assert not scaler.fit_transform(column([value] * 7)).any()
    assert not scaler.fit_transform(column([value, 1, 2]), qid=["one", "two", "two"])[0].any()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("querymax", [-1 / 3, NAN, 1 / 3]), ("minmax", [0, NAN, 1])]
    + [(name, [-1, NAN, 1]) for name in ("zscore", "rank", "qlog", "z+rank+qlog")]
    + [("hinge", [0, NAN, 1])],
)
def test_nan_stays_and_does_not_count(name, expected):
    X = np.array([[1, NAN], [NAN, NAN], [3, NAN]], np.float32)
    scaled = make_scaler(name).fit_transform(X)
    np.testing.assert_allclose(scaled[:, 0], expected, rtol=1e-6)
    assert np.isnan(scaled[:, 1::2]).all()


def test_extreme_values_do_not_overflow():
    X = column([-3e38, 3e38, 1e-45, -1e-45])
    for name in BY_QUERY:
        assert np.isfinite(make_scaler(name).fit_transform(X, qid=[1, 1, 2, 2])).all()


def test_quantiles_by_hand():
    scaler = NormalQuantiles(std=1.0).fit(column([0, 1, 1, 1, 2]))
    # quantiles 0, 1, 1, 1, 2 at 0, 1/4, 2/4, 3/4, 1; 1 is the middle of its run, 1.5 half way from 3/4 to 1
    got = scaler.transform(column([1, 1.5, -9, 9, NAN])).ravel()
    np.testing.assert_allclose(got, [0, 1.1503494, -5.1993376, 5.1993376, NAN], rtol=1e-6)


def test_quantiles_are_those_of_what_is_known():
    known, missing = column([0, 1, 1, 1, 2]), column([NAN, 0, 1, NAN, 1, 1, 2])
    asked = column([-1, 0, 0.5, 1, 1.5, 2, NAN])
    expected = NormalQuantiles().fit(known).transform(asked)
    assert np.isfinite(expected[:-1]).all()
    np.testing.assert_allclose(NormalQuantiles().fit(missing).transform(asked), expected, rtol=1e-6)


def test_quantiles_of_a_constant_or_unknown_feature():
    scaler = NormalQuantiles().fit(np.array([[5, NAN], [5, NAN]]))
    got = scaler.transform([[5, 1], [4, NAN], [6, 2]])
    np.testing.assert_allclose(got, [[0, 0], [-1.7331125, NAN], [1.7331125, 0]], rtol=1e-6)


# Laws


@all_scalers
@given(table=tables, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_rows_come_back_in_the_order_they_were_given(name, table, seed):
    rng = np.random.default_rng(seed)
    qid, shuffled = qids(table, seed), rng.permutation(len(table))
    scaler = make_scaler(name).fit(table, qid=qid)
    straight = scaler.transform(table, qid=qid)
    mixed = make_scaler(name).fit(table[shuffled], qid=qid[shuffled]).transform(table[shuffled], qid=qid[shuffled])
    np.testing.assert_allclose(mixed, straight[shuffled], rtol=1e-5, atol=1e-6)
    assert (np.isnan(straight) == np.isnan(table)[:, scaler.sources]).all()
    assert straight.dtype == np.float32


@pytest.mark.parametrize("name", BY_QUERY)
@given(table=tables, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_a_query_does_not_depend_on_the_others(name, table, seed):
    qid = qids(table, seed)
    scaler = make_scaler(name).fit(table, qid=qid)
    whole = scaler.transform(table, qid=qid)
    for q in np.unique(qid):
        alone = scaler.transform(table[qid == q], qid=qid[qid == q])
        np.testing.assert_array_equal(alone, whole[qid == q])


@given(table=tables, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_ranges(table, seed):
    qid = qids(table, seed)
    minmax = MinMax().fit_transform(table, qid=qid)
    assert not ((minmax < 0) | (minmax > 1)).any()
    for q in np.unique(qid):
        for j in np.flatnonzero(np.nan_to_num(minmax[qid == q]).max(axis=0)):
            assert np.nanmin(minmax[qid == q, j]) == 0
            assert np.nanmax(minmax[qid == q, j]) == 1
    assert not (np.abs(QueryMax().fit_transform(table, qid=qid)) > 1).any()  # one sign: within [-1, 1]
    assert not (np.abs(QueryMax().fit_transform(table - 500, qid=qid)) > 2).any()
    assert not (np.abs(NormalQuantiles().fit_transform(table)) > 5.2 / 3).any()


@pytest.mark.parametrize("name", ["minmax", "zscore"])
@given(table=tables, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_scaling_twice_is_scaling_once(name, table, seed):
    scaler, qid = make_scaler(name), qids(table, seed)
    once = scaler.fit_transform(table, qid=qid)
    np.testing.assert_allclose(scaler.fit_transform(once, qid=qid), once, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["querymax", "minmax", "zscore"])
@given(table=tables, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_the_kernel_agrees_with_an_obvious_loop(name, table, seed):
    qid = qids(table, seed)
    expected = np.zeros(table.shape)
    for q in np.unique(qid):
        for j in range(table.shape[1]):
            x = table[qid == q, j].astype(float)
            known = x[~np.isnan(x)]
            if known.size and known.min() < known.max():
                center = known.min() if name == "minmax" else known.mean()
                spread = {"querymax": np.abs(known).max(), "minmax": np.ptp(known), "zscore": known.std()}[name]
            else:
                center, spread = known[0] if known.size else NAN, 1
            expected[qid == q, j] = (x - center) / spread
    np.testing.assert_allclose(make_scaler(name).fit_transform(table, qid=qid), expected, rtol=1e-5, atol=1e-6)


def transcribed(x: np.ndarray, kind: str) -> list[list[float]]:
    """The columns made of a query's values of one feature, as the text of each scaler says it, with numpy and scipy."""
    known = x[~np.isnan(x)]
    if kind == "zscore":
        return [(x - known.mean()) / known.std() if np.ptp(known) else x - x]
    if kind == "qlog":
        if not np.ptp(known):
            return [x - x]
        logs = np.log(1 + 100 * (x - known.min()) / (known.max() - known.min()))
        return [(logs - np.nanmean(logs)) / np.nanstd(logs)]
    place = np.full(len(x), NAN)
    if len(known) > 1:  # scipy's ranks go from 1 to n and are shared by ties
        place[~np.isnan(x)] = 2 * (rankdata(known, method="average") - 1) / (len(known) - 1) - 1
    else:
        place[~np.isnan(x)] = 0
    return [place] if kind == "rank" else [np.maximum(place - knot, 0) for knot in (0, 0.5, 0.8)]


@pytest.mark.parametrize("names", ["rank", "qlog", "hinge", "z+rank+qlog+hinge"])
@given(table=tables, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_features_inside_the_query_agree_with_their_transcription(names, table, seed):
    qid = qids(table, seed)
    blocks = []
    for kind in names.replace("z+", "zscore+").split("+"):
        by_query = {}
        for q in np.unique(qid):
            columns = [table[qid == q, j].astype(float) for j in range(table.shape[1])]
            by_query[q] = [transcribed(x, kind) if (~np.isnan(x)).any() else [x] * 3 for x in columns]
        for view in range(3 if kind == "hinge" else 1):
            block = np.zeros(table.shape)
            for q, made in by_query.items():
                block[qid == q] = np.transpose([views[view] for views in made])
            blocks.append(block)
    got = make_scaler(names).fit_transform(table, qid=qid)
    np.testing.assert_allclose(got, np.hstack(blocks), rtol=1e-4, atol=1e-5)


def test_places_of_long_queries_agree_with_scipy():
    x = np.random.default_rng(0).integers(0, 300, 1000).astype(np.float32)  # runs, merges and ties
    expected = 2 * (rankdata(x) - 1) / 999 - 1
    np.testing.assert_allclose(make_scaler("rank").fit_transform(x[:, None])[:, 0], expected, atol=1e-6)


@pytest.mark.parametrize("length", [1, 2, SHORT, SHORT + 1])
def test_places_counted_and_sorted_are_the_same(length: int):
    """Short queries count, long ones sort: an even longer query beside one makes both sort."""
    rng = np.random.default_rng(length)
    X = rng.integers(0, 9, (length, 5)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = NAN
    alone = make_scaler("rank").fit_transform(X)
    beside = make_scaler("rank").fit_transform(
        np.concatenate([X, np.zeros((2 * SHORT, 5), np.float32)]), qid=np.repeat([0, 1], [length, 2 * SHORT])
    )
    np.testing.assert_array_equal(alone, beside[:length])


@given(
    train=hnp.arrays(np.float32, (33, 2), elements=st.integers(-8, 8).map(float)),
    test=hnp.arrays(np.float32, (9, 2), elements=st.integers(-40, 40).map(lambda n: n / 4)),
)
@settings(deadline=None, max_examples=60)
def test_quantiles_agree_with_scikit_learn(train, test):
    varied = np.ptp(train, axis=0) > 0
    # 33 rows: shares k / 32 are exact; where they are not, scikit-learn's quantiles can miss the end of a run of equals
    theirs = QuantileTransformer(n_quantiles=33, output_distribution="normal", subsample=None).fit(train.astype(float))
    ours = NormalQuantiles().fit(train).transform(test)
    np.testing.assert_allclose(ours[:, varied], theirs.transform(test.astype(float))[:, varied] / 3, atol=1e-5)


def test_fewer_quantiles_agree_with_scikit_learn_on_normal_data():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(5000, 3)).astype(np.float32), rng.normal(size=(500, 3)).astype(np.float32)
    theirs = QuantileTransformer(n_quantiles=100, output_distribution="normal", subsample=None).fit(train)
    ours = NormalQuantiles(n_quantiles=100).fit(train).transform(test)
    np.testing.assert_allclose(ours, theirs.transform(test) / 3, atol=1e-4)
    assert ours.std() == pytest.approx(1 / 3, abs=0.03)


@all_scalers
def test_threads_and_blocks_change_nothing(name, monkeypatch):
    for module in ("scaler", "scaling"):
        monkeypatch.setattr(f"ordino.data.{module}.BLOCK_ROWS", 64)
    rng = np.random.default_rng(0)
    X, qid = rng.integers(0, 9, (1000, 5)).astype(np.float32), rng.integers(0, 40, 1000)
    one = make_scaler(name, n_jobs=1).fit_transform(X, qid=qid)
    two = make_scaler(name, n_jobs=2).fit_transform(X, qid=qid)
    monkeypatch.undo()
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, make_scaler(name).fit_transform(X, qid=qid))


# Contract


@all_scalers
def test_a_data_set_comes_back_as_a_data_set(name):
    data = Dataset([[1, 4], [2, 8], [3, 1]], [0, 1, 2], ["b", "a", "b"], feature_names=["x", "z"], doc_ids=[7, 8, 9])
    scaled = make_scaler(name).fit_transform(data)
    plain = make_scaler(name).fit_transform(data.X, qid=data.qid)
    np.testing.assert_array_equal(scaled.X, plain)
    assert scaled.feature_names == tuple(make_scaler(name).fit(data).get_feature_names_out())
    assert len(scaled.feature_names) == scaled.n_features
    assert scaled.doc_ids.tolist() == [7, 9, 8]
    assert scaled.restore(scaled.y).tolist() == [0, 1, 2]
    with pytest.raises(ParameterError, match="a Dataset knows its queries; leave out qid"):
        make_scaler(name).fit(data, qid=[1, 2, 3])


@all_scalers
def test_scalers_are_scikit_learn_transformers(name):
    scaler = make_scaler(name, n_jobs=2)
    assert repr(clone(scaler).get_params()) == repr(scaler.get_params())
    with pytest.raises(NotFittedError):
        scaler.transform([[1.0]])
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    scaled = scaler.fit(frame).set_output(transform="pandas").transform(frame)
    assert [one.split()[0] for one in scaled.columns] == [["a", "b"][j] for j in scaler.sources]
    fitted = {key: value for key, value in vars(scaler).items() if key.endswith("_") and not key.startswith("_")}
    assert all(isinstance(value, int | np.ndarray) for value in fitted.values())


def test_a_data_set_comes_back_also_where_frames_are_asked_for():
    data = Dataset([[1.0], [3.0]], [0, 1])
    with sklearn.config_context(transform_output="pandas"):
        assert MinMax().fit_transform(data).X.tolist() == [[0], [1]]


@all_scalers
def test_another_number_of_features_is_refused(name):
    scaler = make_scaler(name).fit(np.zeros((2, 46)))
    with pytest.raises(
        DataError,
        match=r"is expecting 46 features as input: the scaler was fitted with 46 features but the data has 136$",
    ):
        scaler.transform(np.zeros((2, 136)))


def test_another_order_of_columns_is_refused():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    scaler = MinMax().fit(frame)
    with pytest.raises(DataError, match="column 0 is 'b' but was 'a' in fit; give the columns in the same order"):
        scaler.transform(frame[["b", "a"]])
    scaler.fit(frame.to_numpy()).transform(frame[["b", "a"]])  # names of an earlier fit are forgotten


@pytest.mark.parametrize("name", BY_QUERY)
def test_pooling_the_queries_in_silence_is_refused(name):
    scaler = make_scaler(name).fit([[1.0], [2.0]], qid=[1, 2])
    with pytest.raises(
        DataError, match=r"but fit\(\) had 2 queries; pass qid=\.\.\., or in a pipeline enable metadata"
    ):
        scaler.transform([[1.0], [2.0]])
    make_scaler(name).fit([[1.0], [2.0]]).transform([[1.0]])  # one query from the start: nothing to pool


@pytest.mark.parametrize("name", [*sorted(set(SCALERS) - set(BY_QUERY)), "raw+symlog"])
def test_scalers_of_single_documents_need_no_qid(name):
    scaler = make_scaler(name).fit([[1.0], [2.0]], qid=[1, 2])
    assert scaler.transform([[1.0]]).shape == (1, scaler.n_features_out)


class Last(BaseEstimator):
    """A ranker's place in a pipeline."""

    def fit(self, X, y=None):
        self.seen_ = X
        return self

    def predict(self, X):
        return X


@pytest.mark.parametrize("name", BY_QUERY)
def test_a_pipeline_routes_qid_to_the_scaler(name):
    X, qid = np.array([[1.0], [2.0], [3.0], [7.0]]), [1, 2, 2, 1]
    expected = make_scaler(name).fit_transform(X, qid=qid)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(make_scaler(name), Last()).fit(X, np.zeros(4), qid=qid)
        np.testing.assert_array_equal(pipeline[-1].seen_, expected)
        np.testing.assert_array_equal(pipeline.predict(X, qid=qid), expected)
        with pytest.raises(DataError, match="metadata routing"):
            pipeline.predict(X)


@all_scalers
def test_no_rows(name):
    empty = np.zeros((0, 3))
    if "quantile" in name:
        with pytest.raises(DataError, match="the data has no rows"):
            make_scaler(name).fit(empty)
    else:
        assert make_scaler(name).fit_transform(empty).shape[0] == 0


def test_the_input_is_not_changed():
    X = np.array([[1, 2], [3, 4]], np.float32)
    for name in SCALERS:
        make_scaler(name).fit_transform(X)
    assert X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("zcore", {}, r"unknown scaling 'zcore'; did you mean 'zscore'\?"),
        ("z+rnk", {}, r"unknown scaling 'rnk'; did you mean 'rank'\?"),
        ("z+rank+zscore", {}, r"scaling='z\+rank\+zscore' names a scaler twice; name each once"),
        ("none", {}, "scaling='none' no longer exists; use scaling=None"),
        ("logcount", {}, "scaling='logcount' no longer exists; use scaling='symlog'"),
        ("minmax", {"n_job": 1}, r"unknown parameter of scaling 'minmax': 'n_job'; did you mean 'n_jobs'\?"),
        ("minmax", {"n_jobs": 0}, "n_jobs=0; it must be a whole number, 1 or more"),
        ("quantile", {"n_quantiles": 1}, "n_quantiles=1; it must be a whole number, 2 or more"),
        ("quantile", {"std": 0}, "std=0; it must be a number, more than 0"),
    ],
)
def test_wrong_parameters_are_told_in_a_sentence(name, params, message):
    with pytest.raises(ParameterError, match=message):
        make_scaler(name, **params).fit([[1.0]])


def test_the_table_is_read_only_and_documented():
    with pytest.raises(TypeError):
        SCALERS["mine"] = MinMax  # type: ignore[index]
    page = (Path(__file__).parents[2] / "docs" / "data-preparation.md").read_text()
    for name, scaler in SCALERS.items():
        assert f"| `{name}` |" in page
        assert scaler.__doc__


def test_a_scaler_that_reads_shards_knows_the_queries_of_all(tmp_path):
    data = synthetic("mq", queries=7, docs=3, seed=0)
    shards = write_shards(data, tmp_path / "s", 3)
    assert make_scaler("zscore").fit(shards).n_queries_ == make_scaler("zscore").fit(data).n_queries_ == 7
