"""Every ranker that can be exported x every engine: through the emulator of the engine, the order is the same."""

import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ordino import Dataset, import_model, read_letor, synthetic
from ordino.boosting.model_text import ZERO, read_trees
from ordino.errors import ExportError
from ordino.export import TARGETS, export_model
from ordino.order.fusion import METHODS
from ordino.pipelines import score_with
from ordino.rankers import RANKERS, make_ranker, ranker_class
from ordino.testing import easy_data

NAMES = ("bm25", "page rank", "age:days", "größe")  # as people have them
BRIEF = {
    "rounds": 8, "generations": 3, "population": 6, "epochs": 2, "max_iter": 5, "restarts": 1, "sweeps": 1,
    "n_perceptrons": 3, "n_components": 5, "hidden": (6,), "min_leaf": 5, "scaling": None, "n_pairs": 100,
}  # fmt: skip

LINEAR, TREES = {"solr", "elasticsearch", "opensearch", "vespa", "ranklib", "onnx"}, set(TARGETS)
RELU, LOGISTIC = {"solr", "vespa", "onnx"}, {"solr", "elasticsearch", "opensearch", "vespa", "ranklib", "onnx"}
LEVELS = {"vespa", "onnx"}

OF_RANKER = {
    **dict.fromkeys(
        ("rank-svm", "rankde", "swarm-rank", "es-rank", "iesr-rank", "iesvm-rank", "cma-rank", "coordinate-ascent",
         "ada-rank", "prank", "oap-bpm", "linear-regression-ranker", "single-feature"), LINEAR,
    ),
    **dict.fromkeys(("rank-boost", "frank", "lambda-mart"), TREES),
    **dict.fromkeys(
        ("ranknet", "directranker", "lambdarank", "listnet", "listmle", "rankcosine", "rankprop", "scorer"), RELU
    ),
    "mc-rank": LEVELS,
}  # fmt: skip
REFUSED = (
    "sortnet",
    "deepnet",
    "dense-comparator",
    "gp-rank",
    "kernel-ranknet",
    "random-ranker",
    "nested-ranker",
    "rank-aggregation",
    "rank-fusion",
    "auto",
)


def made(name: str, changes: dict):
    known = ranker_class(name)().get_params(deep=False)
    return make_ranker(name, {key: value for key, value in BRIEF.items() if key in known} | changes)


VARIANTS = {
    **{name: (name, {}, targets) for name, targets in OF_RANKER.items()},
    "lambda-mart, bags": ("lambda-mart", {"bags": 2, "query_share": 0.5}, TREES),
    "lambda-mart, forest": ("lambda-mart", {"options": {"boosting": "rf"}, "feature_share": 0.5}, TREES),
    "lambda-mart, holes": ("lambda-mart", {}, TREES),
    "mc-rank, two levels": ("mc-rank", {}, TREES),
    "mc-rank, two levels, ordinal": ("mc-rank", {"classification": "ordinal"}, TREES),
    "mc-rank, ordinal": ("mc-rank", {"classification": "ordinal", "value": "exponential"}, LEVELS),
    "scorer, linear": ("scorer", {"model": "linear"}, LINEAR),
    "scorer, trees": ("scorer", {"model": "trees"}, TREES),
    "ranknet, linear": ("ranknet", {"hidden": ()}, LINEAR),
    "ranknet, two layers": ("ranknet", {"hidden": (6, 4), "activation": "tanh"}, LOGISTIC),
    "ranknet, sigmoid": ("ranknet", {"activation": "sigmoid"}, LOGISTIC),
    "ranknet, softplus": ("ranknet", {"activation": "softplus"}, {"vespa", "onnx"}),
    "ranknet, symlog": ("ranknet", {"scaling": "symlog"}, {"vespa", "onnx"}),
    "directranker, quantile": ("directranker", {"scaling": "quantile"}, {"onnx"}),
    "rank-svm, symlog": ("rank-svm", {"scaling": "symlog"}, {"vespa", "onnx"}),
    "rank-svm, quantile": ("rank-svm", {"scaling": "quantile"}, {"onnx"}),
    "rank-svm, median": ("rank-svm", {"missing": "median"}, {"solr", "vespa", "onnx"}),
    "rank-svm, raw": ("rank-svm", {"scaling": "raw"}, LINEAR),
    "rank-boost, symlog": ("rank-boost", {"scaling": "symlog"}, TREES),
    "rank-boost, quantile": ("rank-boost", {"scaling": "quantile"}, TREES),
    "frank, median": ("frank", {"missing": "median", "scaling": "quantile"}, TREES),
    "mean of linear ones": (
        "rank-aggregation",
        {"ranker": ["rank-svm", made("linear-regression-ranker", {})], "method": "raw_mean"},
        LINEAR,
    ),
    "mean of trees and stumps": (
        "rank-aggregation",
        {"ranker": [made("lambda-mart", {}), made("rank-boost", {})], "method": "raw_mean"},
        TREES,
    ),
    "mean of networks": (
        "rank-aggregation",
        {"ranker": ranker_class("ranknet")(epochs=1, hidden=(4, 3), scaling=None), "n": 2, "method": "raw_mean"}, RELU,
    ),
    "standard, linear": ("rank-svm", {"before": StandardScaler()}, LINEAR),
    "standard without the mean, linear": ("rank-svm", {"before": StandardScaler(with_mean=False)}, LINEAR),
    "standard without the deviation, linear": ("rank-svm", {"before": StandardScaler(with_std=False)}, LINEAR),
    "minmax, linear": ("rank-svm", {"before": MinMaxScaler()}, LINEAR),
    "robust, linear": ("rank-svm", {"before": RobustScaler()}, LINEAR),
    "largest size, linear": ("rank-svm", {"before": MaxAbsScaler()}, LINEAR),
    "one scaler after another, network": (
        "ranknet", {"before": (StandardScaler(), MinMaxScaler()), "activation": "tanh"}, LOGISTIC,
    ),
    "standard, network": ("ranknet", {"before": StandardScaler(), "activation": "tanh"}, LOGISTIC),
    "standard, mean of linear ones": (
        "rank-aggregation",
        {
            "before": StandardScaler(),
            "ranker": ["rank-svm", made("linear-regression-ranker", {})],
            "method": "raw_mean",
        },
        LINEAR,
    ),
    "minmax, trees": ("lambda-mart", {"before": MinMaxScaler()}, TREES),
}  # fmt: skip
"""Every ranker that can be exported, ways through the code that its parameters open, and who can hold them."""


@cache
def data(seed: int) -> Dataset:
    """Documents with negative, large and integer features, and several equal ones."""
    plain = easy_data(n_queries=10, n_docs=12, seed=seed)
    X = plain.X * np.array([1, 1000, -3, 1], np.float32)
    X[:, 3] = np.round(4 * X[:, 3])
    return Dataset(X, plain.y, plain.qid, feature_names=NAMES)


@cache
def holed(seed: int) -> Dataset:
    X = data(seed).X.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    return data(seed).replace(X=X)


def fitted(variant: str, train: Dataset):
    name, changes, _ = VARIANTS[variant]
    changes = dict(changes)
    before = changes.pop("before", None)
    if before is None:
        return made(name, changes).fit(train)
    before = make_pipeline(*map(clone, before if isinstance(before, tuple) else (before,))).fit(train.X)
    scaled = Dataset(before.transform(train.X), train.y, train.qid)
    if train.feature_names is not None:
        before[0].feature_names_in_ = np.array(train.feature_names, dtype=object)
    return Pipeline([*before.steps, ("ranker", made(name, changes).fit(scaled))])


@cache
def ranker_of(variant: str):
    train = holed(0) if has_holes(variant) else data(0)
    return fitted(variant, train.replace(y=train.y > 0) if "two levels" in variant else train)


def has_holes(variant: str) -> bool:
    return "median" in variant or "holes" in variant


def assert_same_order(ranker, to: str, test: Dataset) -> None:
    found = export_model(ranker, to, data=test)
    scored = TARGETS[to].score(
        found.files, test.X, test.feature_names or [f"f{j}" for j in range(1, test.n_features + 1)]
    )
    own = score_with(ranker, test.as_grouped())
    tolerance = 2e-6 * max(np.abs(own).max(), 1.0)  # what single precision may tie or swap
    for start, stop in zip(test.offsets[:-1], test.offsets[1:], strict=True):
        mine, theirs = own[start:stop], scored.scores[start:stop]
        above = mine[:, None] > mine + tolerance
        assert (theirs[:, None] > theirs)[above].all()
    assert found.certificate.passed, found.certificate
    assert found.certificate.data.queries == test.n_queries


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_engine_ranks_as_the_ranker_does(variant, to):
    ranker, targets = ranker_of(variant), VARIANTS[variant][2]
    if to in targets:
        test = holed(1) if has_holes(variant) and TARGETS[to].knows_missing else data(1)
        return assert_same_order(ranker, to, test)
    with pytest.raises(ExportError) as refusal:
        export_model(ranker, to)
    sentence = str(refusal.value)
    assert re.search(r"ordino (serve|distill)|export to one of: ", sentence)  # a way out
    assert TARGETS[to].title in sentence
    return None


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("before", [None, MaxAbsScaler()], ids=["plain", "scaled"])
def test_trees_part_zeros_from_what_is_below_and_above(to, before):
    """LightGBM takes numbers that are next to nothing for 0, and has thresholds there."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(120, 2)) * [1, 1000]).astype(np.float32)
    train = Dataset(X, (X > 0).sum(axis=1), np.repeat(np.arange(12), 10))
    ranker = made("lambda-mart", {})
    if before is not None:
        ranker = make_pipeline(before, ranker).fit(X, train.y, lambdamart__qid=train.qid)
        return assert_same_order(ranker, to, train)
    ranker.fit(train)
    thresholds = np.concatenate([tree.threshold for tree in read_trees(ranker.model_).trees])
    assert {*thresholds} & {-ZERO}
    return assert_same_order(ranker, to, train)


def test_every_ranker_is_exported_or_refused():
    assert set(RANKERS) == set(OF_RANKER) | set(REFUSED)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_exact_is_refused_with_two_ways_out(name):
    changes = (
        {"ranker": "linear-regression-ranker", "resample": "queries", "n": 2} if name == "rank-aggregation" else {}
    )
    changes |= {"ranker": "linear-regression-ranker"} if name == "nested-ranker" else {}
    changes |= {"trials": 1, "folds": 2} if name == "auto" else {}
    ranker = made(name, changes).fit(easy_data(n_queries=4))
    for to in TARGETS:
        with pytest.raises(ExportError, match=r"`ordino serve`.*`ordino distill`"):
            export_model(ranker, to)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "raw_mean"])
def test_aggregation_by_the_whole_list_is_refused(method):
    ranker = made("rank-aggregation", {"ranker": ["rank-svm", "linear-regression-ranker"], "method": method})
    with pytest.raises(ExportError, match=r"raw_mean.*`ordino serve`.*`ordino distill`"):
        export_model(ranker.fit(easy_data(n_queries=4)), "solr")


@pytest.mark.parametrize("scaling", ["querymax", "minmax", "zscore", "rank", "qlog", "hinge", "raw+rank"])
def test_scaling_by_query_is_refused_with_two_ways_out(scaling):
    ranker = made("rank-boost", {"scaling": scaling}).fit(easy_data(n_queries=4))
    with pytest.raises(ExportError, match=r"all documents of the query.*`ordino serve`.*`ordino distill`"):
        export_model(ranker, "solr")


MQ2008 = Path(os.environ.get("ORDINO_DATA", "nowhere")) / "MQ2008" / "Fold1"


@cache
def fold(part: str) -> Dataset:
    return read_letor(MQ2008 / f"{part}.txt")


@cache
def ranker_of_fold(variant: str):
    train = fold("train")
    return fitted(variant, train.replace(y=train.y > 0) if "two levels" in variant else train)


@pytest.mark.slow
@pytest.mark.skipif(not MQ2008.is_dir(), reason="ORDINO_DATA names no folder with MQ2008/Fold1")
@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_engine_ranks_mq2008_as_the_ranker_does(variant, to):
    if to in VARIANTS[variant][2]:
        assert_same_order(ranker_of_fold(variant), to, fold("test"))


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("model", ["lambdamart", "rankboost", "ranknet", "listnet", "linear-regression"])
def test_imported_models_go_on_to_every_engine(model, to):
    """From RankLib's file to another engine's."""
    folder = Path(__file__).parents[1] / "fixtures" / "engines" / "ranklib"
    ranker = import_model(folder / f"{model}.model.txt", "ranklib")
    if to in (TREES if model in ("lambdamart", "rankboost") else LOGISTIC):
        return assert_same_order(ranker, to, read_letor(folder / "test.txt"))
    with pytest.raises(ExportError):
        export_model(ranker, to)
    return None


@pytest.mark.parametrize("offset", [0, 10, 100_000])
@pytest.mark.parametrize("before", [StandardScaler(), MinMaxScaler(), RobustScaler(), MaxAbsScaler()], ids=repr)
@pytest.mark.parametrize(("scaling", "to"), [("quantile", "onnx"), ("symlog", "onnx"), ("symlog", "vespa")])
def test_a_scaler_of_the_ranker_sees_the_scaler_before_it_to_the_last_bit(before, offset, scaling, to):
    """Quantiles have jumps, and a logarithm of what is left of large numbers shows how their mean was rounded."""
    plain = synthetic("mq", queries=20, seed=1)
    data = plain.replace(X=plain.X + offset * np.random.default_rng(0).random(plain.n_features).astype(np.float32))
    scaler = clone(before).fit(data.X)
    scaled = data.replace(X=scaler.transform(data.X))
    ranker = ranker_class("ranknet")(epochs=2, hidden=(8,), activation="tanh", scaling=scaling).fit(scaled)
    assert_same_order(Pipeline([("scaler", scaler), ("ranker", ranker)]), to, data)
