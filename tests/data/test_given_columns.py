"""What comes as Arrow tables, masked arrays, dates, huge integers or odd column names is understood or refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ordino import Dataset, LinearRegressionRanker
from ordino.errors import DataError

ARROW = pa.table({"a": [1.0, 2.0, 3.0], "b": [3.0, 1.0, 2.0]})


def test_an_arrow_table_brings_its_names():
    ranker = LinearRegressionRanker().fit(ARROW, [0, 1, 2], qid=[1, 1, 1])
    assert list(ranker.feature_names_in_) == ["a", "b"]
    with pytest.raises(DataError, match="column 0 is 'b' but was 'a' in fit"):
        ranker.predict(ARROW.select(["b", "a"]))


def test_a_mask_means_missing_in_features_and_is_refused_elsewhere():
    X = np.ma.masked_greater(np.array([[1, 2], [3, 9]]), 8)
    assert np.isnan(Dataset(X, [0, 1]).X).tolist() == [[False, False], [False, True]]
    masked = np.ma.masked_equal([0, 1], 1)
    with pytest.raises(DataError, match="y is masked in row 1; every label must be a finite number"):
        Dataset([[1.0], [2.0]], masked)
    with pytest.raises(DataError, match="qid has masked ids"):
        Dataset([[1.0], [2.0]], [0, 1], qid=masked)


def test_complex_numbers_are_no_labels():
    with pytest.raises(DataError, match="y holds complex numbers; give every label as a real one"):
        Dataset([[1.0], [2.0]], [1j, 0])


@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[s]"])
def test_dates_are_no_labels(kind):
    with pytest.raises(DataError, match=r"y holds dates or times \(.*\); give every label as a number"):
        Dataset([[1.0], [2.0]], np.array([1, 2], kind))


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[1, 2.0, 3.0], [0, 1.0, 1.0]], columns=["label", "a", "a"])
    with pytest.raises(DataError, match="two columns called 'a'; rename one of them"):
        Dataset.from_frame(frame, label="label")
    with pytest.raises(DataError, match="two columns called 'a'; rename one of them"):
        Dataset.from_frame(pa.table([[1, 0], [1.0, 2.0], [3.0, 4.0]], names=["label", "a", "a"]), label="label")


def test_columns_may_be_called_by_numbers():
    frame = pd.DataFrame({0: [1, 0], 1: [0.5, 0.25], 2: [3.0, 4.0]})
    data = Dataset.from_frame(frame, label=0)
    assert data.feature_names == ("1", "2")
    assert data.y.tolist() == [1, 0]
    with pytest.raises(DataError, match="label='zero': unknown column 'zero'"):
        Dataset.from_frame(frame, label="zero")


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"label": [1, 0], "a": [2**60 + 1, None]}),
        pl.DataFrame({"label": [1, 0], "a": [2**60 + 1, None]}),
        pd.DataFrame({"label": [1, 0], "a": pd.array([2**60 + 1, None], "Int64")}),
        pl.DataFrame({"label": [1, 0], "a": pl.Series([2**60, None], dtype=pl.Int128)}),
        pl.DataFrame({"label": [1, 0], "a": pl.Series([2**60, 2**60], dtype=pl.Int128)}),
    ],
)
def test_huge_integers_are_features(frame):
    data = Dataset.from_frame(frame, label="label")
    assert data.X[0, 0] == np.float32(2**60)


def test_a_table_without_features_is_refused():
    empty = Dataset.from_frame(pd.DataFrame({"label": [1, 0], "qid": [1, 1]}), label="label", qid="qid")
    with pytest.raises(DataError, match="there are no features to learn from"):
        LinearRegressionRanker().fit(empty)


def test_a_refit_that_is_refused_leaves_the_earlier_fit_whole():
    X = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    ranker = LinearRegressionRanker(scaling="minmax").fit(X, [0, 1], qid=[1, 1])
    before = ranker.predict(X)
    with pytest.raises(DataError, match="column 0 is 'b' but was 'a' in fit"):
        ranker.fit(X * 100 + 7, [0, 1], qid=[1, 1], valid=(X[["b", "a"]], [0, 1], [1, 1]))
    assert ranker.predict(X).tolist() == before.tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_query_ids_do_not_become_a_feature_because_nobody_named_them(make):
    columns = {"qid": [1, 1, 2, 2], "label": [1, 0, 1, 0], "a": [2.0, 1.0, 4.0, 3.0]}
    data = Dataset.from_frame(make(columns))
    assert (data.n_queries, data.feature_names) == (2, ("a",))
    renamed = make({"srch_id" if name == "qid" else name: values for name, values in columns.items()})
    with pytest.raises(DataError, match="column 'srch_id' would be a feature; name it with qid="):
        Dataset.from_frame(renamed)
    assert Dataset.from_frame(renamed, qid="srch_id").n_queries == 2
    assert Dataset.from_frame(renamed, features=["srch_id", "a"]).n_queries == 1
    with pytest.raises(DataError, match="label='label': unknown column 'label'"):
        Dataset.from_frame(make({"a": [1.0], "grade": [1]}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_queries_stay_apart_where_features_are_named(make):
    columns = {"qid": [1, 1, 2, 2], "label": [1, 0, 1, 0], "a": [2.0, 1.0, 4.0, 3.0], "judged": [True, False] * 2}
    data = Dataset.from_frame(make(columns), features=["a"])
    assert (data.query_ids.tolist(), data.feature_names) == ([1, 2], ("a",))
    assert data.judged.tolist() == [True, False] * 2
    data = Dataset.from_frame(make(columns), features=["qid", "judged"])
    assert (data.n_queries, data.judged, data.X.tolist()) == (1, None, [[1, 1], [1, 0], [2, 1], [2, 0]])
