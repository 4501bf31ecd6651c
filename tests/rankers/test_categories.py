"""Frames in fit and predict: names in every message, nullable numbers, categories, one-hot, pipelines."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

import ordino
from ordino import Dataset, LambdaMART, OneHot, RankAggregation, RankSVM
from ordino.data.dataframes import from_frame, to_frame
from ordino.data.scaling import MinMax, NormalQuantiles
from ordino.data.source import contents_hash, fingerprint
from ordino.errors import DataError, ModelFileError
from ordino.explain import feature_weights

RNG = np.random.default_rng(0)
N = 1200
CITIES = ["Bern", "Lima", "Oslo", "Paris", "Rome", "Wien"]
CITY = RNG.choice(CITIES, N)
WORTH = dict(zip(CITIES, [0, 1, 2, 0, 2, 0], strict=True))  # no order of the names helps
Y = np.array([WORTH[city] for city in CITY])
QID = np.arange(N) // 20
TEXT = pd.DataFrame({"price": RNG.random(N), "city": CITY})
FRAME = TEXT.astype({"city": "category"})


def ranker(**changes):
    return LambdaMART(rounds=10, n_jobs=1, **changes)


FITTED = ranker().fit(FRAME, Y, qid=QID)


@pytest.fixture
def scores():
    return FITTED.predict(FRAME, qid=QID)


def test_trees_split_by_category(scores):
    assert ordino.evaluate(Y, scores, qid=QID)["ndcg@10"] == 1
    assert FITTED.categories_in_ == {"city": tuple(CITIES)}
    assert re.search(r"^num_cat=[1-9]", FITTED.model_, re.MULTILINE)


OTHERS = {
    "other order": lambda: TEXT.assign(city=pd.Categorical(CITY, categories=CITIES[::-1])),
    "more categories": lambda: TEXT.assign(city=pd.Categorical(CITY, categories=["Aarau", *CITIES, "Zug"])),
    "text": lambda: TEXT,
    "polars enum": lambda: pl.DataFrame({"price": TEXT["price"].to_numpy(), "city": CITY}).with_columns(
        pl.col("city").cast(pl.Enum(CITIES[::-1]))
    ),
    "polars categorical": lambda: pl.DataFrame({"price": TEXT["price"].to_numpy(), "city": CITY}).with_columns(
        pl.col("city").cast(pl.Categorical)
    ),
    "arrow dictionary": lambda: pa.table({"price": TEXT["price"], "city": pa.array(CITY).dictionary_encode()}),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_every_frame_with_the_same_categories_has_the_same_scores(make, scores):
    np.testing.assert_array_equal(FITTED.predict(make(), qid=QID), scores)


@pytest.mark.parametrize("make", [make for name, make in OTHERS.items() if name != "text"])
def test_every_frame_with_the_same_categories_trains_the_same_ranker(make, scores):
    np.testing.assert_array_equal(ranker().fit(make(), Y, qid=QID).predict(FRAME, qid=QID), scores)


def test_fewer_and_unknown_categories(scores):
    some = np.flatnonzero(CITY != "Bern")
    np.testing.assert_array_equal(FITTED.predict(FRAME.iloc[some], qid=QID[some]), scores[some])
    unknown = FITTED.predict(FRAME.assign(city="Bonn"), qid=QID)
    np.testing.assert_array_equal(unknown, FITTED.predict(FRAME.assign(city=pd.Categorical([None] * N)), qid=QID))
    known = ordino.Dataset(FRAME.assign(city=pd.Categorical(["Bonn", *["Bern"] * (N - 1)])), Y, QID)
    seen = FITTED.documents(known).X[:, list(FRAME.columns).index("city")]
    assert np.isnan(seen).tolist() == [True, *[False] * (N - 1)]


def test_validation_data_is_read_by_the_categories_of_training():
    some = np.flatnonzero((CITY != "Bern") & (QID > 40))
    valid = (TEXT.iloc[some].astype({"city": "category"}), Y[some], QID[some])
    found = ranker().fit(FRAME, Y, qid=QID, valid=valid)
    assert found.history_[found.best_round_ - 1]["valid"] == 1


def test_a_model_file_keeps_the_categories(tmp_path, scores):
    ordino.save(FITTED, tmp_path / "m.ordino")
    again = ordino.load(tmp_path / "m.ordino")
    np.testing.assert_array_equal(again.predict(TEXT, qid=QID), scores)
    broken = ranker().fit(FRAME, Y, qid=QID)
    broken.categories_in_ = {"town": ("a",)}
    ordino.save(broken, tmp_path / "b.ordino")
    with pytest.raises(ModelFileError, match="categories_in_ does not fit"):
        ordino.load(tmp_path / "b.ordino")


def test_members_of_trees_take_categories_too():
    found = RankAggregation(ranker=[ranker(), ranker(leaves=4)]).fit(FRAME, Y, qid=QID)
    assert found.score(FRAME, Y, qid=QID) == 1


def test_a_data_set_keeps_categories_wherever_it_goes(tmp_path):
    data = from_frame(FRAME.assign(y=Y, q=QID), label="y", qid="q")
    assert data.categories == {"city": tuple(CITIES)}
    assert [data.categories["city"][int(code)] for code in data.X[:5, 1]] == CITY[:5].tolist()
    data.save(tmp_path / "d.arrow")
    named = {"feature_names": data.feature_names, "categories": data.categories}
    others = [Dataset.open(tmp_path / "d.arrow"), data.split(0.5)[0], data.replace(y=Y), data.replace(X=data.X)]
    others += [data.with_weights(np.ones(N)), Dataset(data.X, Y, QID, **named)]
    others += [from_frame(to_frame(data, kind), label="label", qid="qid") for kind in ("pandas", "polars", "pyarrow")]
    for other in others:
        assert other.categories == data.categories
        same = data.select_queries(np.isin(data.query_ids, other.query_ids))
        np.testing.assert_array_equal(other.X, same.X)
    assert data.replace(X=data.X[:, [0]], feature_names=["price"]).categories == {}
    numbers = Dataset(data.X, Y, QID, feature_names=data.feature_names)
    assert fingerprint(data) != fingerprint(numbers)
    assert contents_hash(data) != contents_hash(numbers)


def test_categories_that_are_numbers_are_text():
    frame = pd.DataFrame({"size": pd.Categorical([10, 9, None, 10])})
    assert Dataset(frame, [0, 1, 0, 1]).categories == {"size": ("10", "9")}
    assert np.array_equal(Dataset(frame, [0, 1, 0, 1]).X.ravel(), [0, 1, np.nan, 0], equal_nan=True)


REFUSED = {
    "text": (
        lambda: ranker().fit(TEXT, Y, qid=QID),
        "column 'city' is text; make it categorical, which",
    ),
    "dates": (
        lambda: ranker().fit(TEXT.assign(city=pd.Timestamp("2024-01-01")), Y, qid=QID),
        r"column 'city' is Datetime.*; make numbers of it, or leave it out",
    ),
    "two of text": (lambda: Dataset(TEXT.assign(b="x"), Y), "columns 'city', 'b' are text"),
    "linear": (
        lambda: RankSVM().fit(FRAME, Y, qid=QID),
        r"column 'city' is categorical, which RankSVM cannot use; put ordino.OneHot\(\) before it",
    ),
    "scaler": (lambda: MinMax().fit(FRAME), "column 'city' is categorical, which MinMax cannot use"),
    "numbers later": (lambda: FITTED.predict(FRAME.assign(city=1.0)), "column 'city' holds numbers but has categories"),
    "an array later": (lambda: FITTED.predict([[1.0, 2.0]]), "column 'city' was categorical in fit but holds numbers"),
    "categories later": (
        lambda: ranker().fit(FRAME.assign(city=1.0), Y, qid=QID).predict(FRAME),
        "column 'city' is categorical but held numbers in fit",
    ),
    "wrong numbers": (
        lambda: Dataset([[0.0], [2.0]], [0, 1], feature_names=["c"], categories={"c": ["x", "y"]}),
        "column 'c' has 2, but its 2 categories are numbered from 0",
    ),
    "no such feature": (
        lambda: Dataset([[0.0], [2.0]], [0, 1], categories={"c": ["x", "y"]}),
        "categories has 'c', which is not the name of a feature",
    ),
    "LETOR": (lambda: ordino.write_letor(Dataset(FRAME, Y, QID), "-"), "LETOR text cannot store categories"),
    "NaN": (
        lambda: RankSVM().fit(pd.DataFrame({"a": [1.0, 2.0], "stars": [np.nan, 1.0]}), [0, 1], qid=[1, 1]),
        "X has NaN in column 'stars', which RankSVM cannot use",
    ),
    "infinite": (
        lambda: Dataset(pd.DataFrame({"a": [1.0, 2.0], "stars": [np.inf, 1.0]}), [0, 1]),
        "X has inf in row 0, column 'stars', which float32 cannot hold",
    ),
}


@pytest.mark.parametrize(("act", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_called_by_its_name(act, sentence):
    with pytest.raises(DataError, match=sentence):
        act()


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "double[pyarrow]", "bool[pyarrow]"])
def test_nullable_numbers_are_numbers(dtype):
    frame = pd.DataFrame({"a": [0.5, 1.5], "stars": pd.array([1, None], dtype=dtype)})
    data = Dataset(frame, [0, 1])
    assert data.feature_names == ("a", "stars")
    assert np.array_equal(data.X, [[0.5, 1], [1.5, np.nan]], equal_nan=True)
    np.testing.assert_array_equal(MinMax().fit(frame).transform(frame), MinMax().fit(data.X).transform(data.X))


def test_replace_keeps_the_names_of_as_many_features():
    data = Dataset([[1.0, 2.0]], [0], feature_names=["a", "b"])
    assert data.replace(X=[[3.0, 4.0]]).feature_names == ("a", "b")
    assert data.replace(X=[[3.0, 4.0]], feature_names=["c", "d"]).feature_names == ("c", "d")
    assert data.replace(X=pd.DataFrame({"c": [1.0], "d": [2.0]})).feature_names == ("c", "d")
    assert data.replace(X=[[3.0]]).feature_names is None


@pytest.mark.parametrize("frame", [FRAME, TEXT], ids=["categories", "text"])
def test_one_hot_makes_a_column_for_each_category(frame):
    one_hot = OneHot().fit(frame)
    assert one_hot.get_feature_names_out().tolist() == ["price", *(f"city={city}" for city in CITIES)]
    wide = one_hot.transform(frame)
    np.testing.assert_array_equal(wide[:, 1:], CITY[:, None] == np.array(CITIES))
    np.testing.assert_array_equal(one_hot.transform(frame.assign(city="Bonn"))[:, 1:], 0)
    with pytest.raises(DataError, match="column 0 is 'city' but was 'price' in fit"):
        one_hot.transform(frame[["city", "price"]])


def test_one_hot_of_data_sets_and_arrays():
    data = Dataset(FRAME, Y, QID)
    some = Dataset(FRAME.iloc[:3], Y[:3], QID[:3])
    wide = OneHot().fit(data).transform(some)
    assert wide.feature_names == ("price", *(f"city={city}" for city in CITIES))
    np.testing.assert_array_equal(wide.X[:, 1:], CITY[:3, None] == np.array(CITIES))
    np.testing.assert_array_equal(OneHot().fit_transform(data.X), data.X)


def columns(*more):
    return ColumnTransformer([("c", OneHotEncoder(handle_unknown="ignore"), ["city"]), *more], remainder="passthrough")


PRICES = ("p", make_pipeline(SimpleImputer(), StandardScaler()), ["price"])
PIPELINES = {
    "ours": lambda: make_pipeline(OneHot(), RankSVM()),
    "one-hot": lambda: make_pipeline(columns(), RankSVM()),
    "several": lambda: make_pipeline(
        columns(("p", make_pipeline(SimpleImputer(), StandardScaler()), ["price"])), RankSVM()
    ),
    "ordinal": lambda: make_pipeline(
        ColumnTransformer([("c", OrdinalEncoder(), ["city"]), ("p", "drop", ["price"])]), ranker()
    ),
}


@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_pipelines_are_saved_without_a_pickle(make, tmp_path):
    pipeline = make()
    pipeline.fit(TEXT, Y, **{f"{pipeline.steps[-1][0]}__qid": QID})
    ordino.save(pipeline, tmp_path / "p.ordino")
    again = ordino.load(tmp_path / "p.ordino")
    np.testing.assert_array_equal(again.predict(TEXT), pipeline.predict(TEXT))
    assert len(feature_weights(again)) == again[-1].n_features_in_


def test_what_stands_inside_the_steps_of_a_file_is_checked(tmp_path):
    inner = ColumnTransformer([("p", NormalQuantiles(), ["price"])])
    pipeline = make_pipeline(inner, RankSVM()).fit(TEXT, Y, ranksvm__qid=QID)
    quantiles = pipeline[0].transformers_[0][1]
    quantiles.quantiles_ = quantiles.quantiles_[:, :1]
    ordino.save(pipeline, tmp_path / "p.ordino")
    with pytest.raises(ModelFileError, match="quantiles_ does not fit"):
        ordino.load(tmp_path / "p.ordino")
    many = make_pipeline(columns(), RankSVM()).fit(TEXT, Y, ranksvm__qid=QID)
    many[0].n_jobs = 100_000
    ordino.save(many, tmp_path / "p.ordino")
    with pytest.raises(ModelFileError, match="n_jobs does not fit"):
        ordino.load(tmp_path / "p.ordino")


@pytest.mark.parametrize("categories", [{"city": "text"}, {"city": (1, 2)}, {"town": ("a",)}, ["city"]])
def test_forged_categories_are_refused(tmp_path, categories):
    pipeline = PIPELINES["ours"]().fit(TEXT, Y, ranksvm__qid=QID)
    pipeline[0].categories_ = categories
    ordino.save(pipeline, tmp_path / "p.ordino")
    with pytest.raises(ModelFileError, match="categories_ does not fit"):
        ordino.load(tmp_path / "p.ordino")


@pytest.mark.parametrize(("name", "feature"), [("ours", "city=Oslo"), ("one-hot", "c__city_Oslo")])
def test_weights_of_a_pipeline_are_called_as_the_last_step_saw_them(name, feature):
    pipeline = PIPELINES[name]().fit(TEXT, Y, ranksvm__qid=QID)
    weights = {one.feature: one.weight for one in feature_weights(pipeline)}
    assert weights[feature] > weights[feature.replace("Oslo", "Lima")] > weights[feature.replace("Oslo", "Bern")]


@pytest.mark.parametrize(
    "step",
    [
        PCA(1), FunctionTransformer(np.log1p),
        ColumnTransformer([("n", StandardScaler(), make_column_selector(dtype_include=float))]),
    ],
)  # fmt: skip
def test_what_a_model_file_cannot_hold_is_refused_in_a_sentence(step, tmp_path):
    pipeline = make_pipeline(step, RankSVM()).fit(TEXT[["price"]], Y, ranksvm__qid=QID)
    with pytest.raises(ModelFileError, match="which a model file cannot hold") as refused:
        ordino.save(pipeline, tmp_path / "p.ordino")
    if isinstance(step, PCA):
        assert "of scikit-learn ColumnTransformer, FunctionTransformer, MaxAbsScaler" in str(refused.value)
    assert not (tmp_path / "p.ordino").exists()


def test_a_difference_of_categories_is_explained(scores):
    best, worst = int(scores[:20].argmax()), int(scores[:20].argmin())
    for query in (TEXT.iloc[:20], Dataset(FRAME.iloc[:20], Y[:20])):
        found = ordino.why(FITTED, best, worst, query=query)
        assert found.reasons[0].feature == "city"
        assert found.difference == pytest.approx(scores[best] - scores[worst])
    with pytest.raises(DataError, match="there is no row 20; the query has 20 documents, from 0"):
        ordino.why(FITTED, 20, 0, query=TEXT.iloc[:20])


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_codes_and_booleans_are_the_same_categories_however_they_are_written(frame):
    """A missing value makes 1.0 of 1 in pandas; every category was then one that training had not seen."""
    rng = np.random.default_rng(0)
    code, y, qid = rng.integers(1, 4, 60), rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    codes = pd.DataFrame({"qid": qid, "label": y, "code": code, "new": code == 2})
    ranker = LambdaMART(rounds=3, min_leaf=2).fit(Dataset.from_frame(codes, categories=["code", "new"]))
    other = codes.astype({"code": float})
    other = pl.from_pandas(other) if frame == "polars" else other
    documents = Dataset.from_frame(other, categories=["code", "new"])
    assert documents.categories["code"] == ("1.0", "2.0", "3.0")
    expected = ranker.predict(Dataset.from_frame(codes, categories=["code", "new"]))
    assert len(np.unique(expected)) == 3
    np.testing.assert_array_equal(ranker.predict(documents), expected)
