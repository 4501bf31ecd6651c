"""A ranker comes back from its file as it was: every ranker, pipelines, users' own; and the card tells what it is."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import ordino
from ordino import Dataset, LinearRegressionRanker, RankDE, RankNet, SingleFeature
from ordino.data.scaling import SCALERS, make_scaler
from ordino.errors import DataError, ModelFileError
from ordino.linear import LinearRanker
from ordino.model_file import fingerprint, load_scorer, read_card
from ordino.model_file.classes import _OLD_HISTORIES, ESTIMATORS, present_learned
from ordino.rankers import RANKERS
from ordino.testing import easy_data
from rankers.test_contract import quick


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_gives_the_same_scores_after_save_and_load(name, tmp_path):
    data, unseen = easy_data(), easy_data(n_queries=5, seed=3)
    ranker = quick(name).fit(data)
    ordino.save(ranker, tmp_path / "model")
    again = ordino.load(tmp_path / "model")
    assert type(again) is type(ranker)
    assert repr(again.get_params()) == repr(ranker.get_params())
    np.testing.assert_array_equal(again.predict(unseen), ranker.predict(unseen))
    assert set(vars(again)) == {key for key in vars(ranker) if not key.startswith("_")}


@pytest.mark.parametrize("scaling", [None, "symlog", "minmax"])
@pytest.mark.parametrize("name", ["ranknet", "directranker", "kernel-ranknet", "rank-svm", "lambda-mart"])
def test_the_scorer_of_a_file_gives_the_scores_of_its_ranker(name, scaling, tmp_path):
    data = easy_data()
    ranker = quick(name)
    if "scaling" in ranker.get_params():
        ranker.set_params(scaling=scaling)
    ordino.save(ranker.fit(data), tmp_path / "model")
    score, _ = load_scorer(tmp_path / "model")
    mixed = ordino.Dataset(data.X[::-1], data.y[::-1], data.qid[::-1] % 5)  # rows of a query lie apart
    for one in (data, mixed):
        np.testing.assert_array_equal(score(one), ranker.predict(one))
    if not ranker.allows_nan:
        with pytest.raises(DataError, match="NaN"):
            score(data.replace(X=np.full_like(data.X, np.nan)))
    layers_are_enough = name in ("ranknet", "directranker") and scaling != "minmax"
    assert hasattr(score, "__self__") != layers_are_enough  # else it is the ranker's own predict


@pytest.mark.parametrize("scaling", SCALERS)
def test_every_scaler_is_saved_with_its_ranker(scaling, tmp_path):
    data = easy_data()
    ranker = LinearRegressionRanker(scaling=scaling).fit(data)
    ordino.save(ranker, tmp_path / "model")
    np.testing.assert_array_equal(ordino.load(tmp_path / "model").predict(data), ranker.predict(data))


@pytest.mark.filterwarnings("ignore:.*metadata.*")
@pytest.mark.parametrize("first", [make_scaler("quantile"), StandardScaler(), SimpleImputer()], ids=repr)
def test_pipelines_are_saved(first, tmp_path):
    data = easy_data()
    last = LinearRegressionRanker(scaling=None)
    pipeline = make_pipeline(first, last).fit(data.X, data.y, linearregressionranker__qid=data.qid)
    ordino.save(pipeline, tmp_path / "model")
    again = ordino.load(tmp_path / "model")
    assert isinstance(again, Pipeline)
    np.testing.assert_array_equal(again.predict(data.X), pipeline.predict(data.X))
    assert read_card(tmp_path / "model")["steps"] == [type(first).__name__, "LinearRegressionRanker"]


@pytest.mark.parametrize(
    "steps", [("passthrough",), (None,), ("passthrough", StandardScaler()), (StandardScaler(), "passthrough")]
)
def test_steps_of_a_pipeline_that_do_nothing(tmp_path, steps):
    """As a search over steps leaves them."""
    import pandas as pd

    data = easy_data()
    frame = pd.DataFrame(data.X, columns=[*"abcd"])
    named = [(f"step{number}", step) for number, step in enumerate(steps)]
    model = Pipeline([*named, ("rank", SingleFeature(feature=2))]).fit(frame, data.y, rank__qid=data.qid)
    ordino.save(model, tmp_path / "m.ordino")
    expected = model.predict(frame).tolist()
    assert ordino.load(tmp_path / "m.ordino").predict(frame).tolist() == expected
    score, card = load_scorer(tmp_path / "m.ordino")
    assert score(Dataset(data.X, data.y, data.qid)).tolist() == expected
    assert card["features"] == {"count": 4, "names": [*"abcd"]}
    assert card["steps"] == ["StandardScaler"] * (StandardScaler in map(type, steps)) + ["SingleFeature"]
    with pytest.raises(DataError, match="column 0 is 'b' but was 'a'"):
        score(Dataset(data.X, data.y, data.qid, feature_names=("b", "a", "c", "d")))
    assert ordino.export_model(model, "solr", data=Dataset(frame, data.y, data.qid)).certificate.passed


def test_feature_names_come_back_and_are_checked(tmp_path):
    data = Dataset([[1.0, 2.0], [2.0, 1.0]], [0, 1], feature_names=["bm25", "pagerank"])
    ordino.save(SingleFeature(feature="bm25").fit(data), tmp_path / "model")
    again = ordino.load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == ["bm25", "pagerank"]
    with pytest.raises(ValueError, match="'pagerank' but was 'bm25' in fit"):
        again.predict(Dataset(data.X, data.y, feature_names=["pagerank", "bm25"]))


@pytest.mark.parametrize("scaling", [None, "symlog", "minmax"])
def test_the_scorer_of_a_network_refuses_what_its_ranker_refuses(scaling, tmp_path):
    """Layers alone, or the ranker behind a scaler: other names, other columns, and names in another order."""
    data = easy_data()
    names = ["bm25", "age", "clicks", "depth"]
    named = Dataset(data.X, data.y, data.qid, feature_names=names)
    ranker = quick("ranknet").set_params(scaling=scaling).fit(named)
    ordino.save(ranker, tmp_path / "model")
    score, _ = load_scorer(tmp_path / "model")
    np.testing.assert_array_equal(score(named), ranker.predict(named))
    for X, others in ((data.X, names[::-1]), (data.X, [*names[:3], "length"]), (data.X[:, :3], names[:3])):
        sentences = []
        for predict in (score, ranker.predict):
            with pytest.raises(DataError) as refusal:
                predict(Dataset(X, data.y, data.qid, feature_names=others))
            sentences.append(str(refusal.value))
        assert sentences[0] == sentences[1]


def test_parameters_and_learned_values_keep_their_kinds(tmp_path):
    ranker = SingleFeature(feature=1).fit(Dataset([[1.0], [2.0]], [0, 1]))
    kept = {
        "number_": np.float32(0.1),
        "nan_": float("nan"),
        "inf_": -float("inf"),
        "nested_": {"rows": [(1, 2.5), (True, None)], "text": "ä" * 3000},
        "names_": np.array(["a", "bc"]),
        "empty_": np.empty((0, 3)),
        "columns_first_": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    }
    vars(ranker).update(kept)
    ordino.save(ranker, tmp_path / "model")
    again = vars(ordino.load(tmp_path / "model"))
    assert again["number_"] == np.float32(0.1)
    assert again["number_"].dtype == np.float32
    assert np.isnan(again["nan_"])
    assert again["inf_"] == -np.inf
    assert again["nested_"] == kept["nested_"]
    assert again["names_"].tolist() == ["a", "bc"]
    assert again["empty_"].shape == (0, 3)
    np.testing.assert_array_equal(again["columns_first_"], kept["columns_first_"])
    assert again["columns_first_"].flags.f_contiguous


def test_the_same_model_makes_the_same_file(tmp_path):
    for name in "ab":
        ordino.save(quick("ranknet").fit(easy_data()), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_card_tells_what_the_model_is(tmp_path):
    train, valid = easy_data(), easy_data(seed=1)
    ranker = RankNet(hidden=(8, 4), epochs=3, seed=5, scaling="quantile").fit(train, valid=valid)
    ordino.save(ranker, tmp_path / "model", data=train, valid=valid, notes={"labels": "as given"})
    card = read_card(tmp_path / "model")
    assert (card["ranker"], card["name"], card["form"], card["scaling"]) == (
        "RankNet",
        "ranknet",
        "network",
        "NormalQuantiles",
    )
    assert card["parameters"]["hidden"] == [8, 4]
    assert card["features"] == {"count": 4, "names": None}
    assert card["measure"] == {"metric": "ndcg@10", "profile": "standard"}
    assert card["seed"] == 5
    assert card["data"] == {
        "fingerprint": fingerprint(train),
        "documents": 180,
        "queries": 12,
        "labels": {"smallest": 0.0, "largest": 2.0, "levels": 3},
    }
    assert card["valid"]["fingerprint"] == fingerprint(valid) != fingerprint(train)
    assert card["learned"]["best_epoch"] == ranker.best_epoch_
    assert card["learned"]["last_history"]["epoch"] == 3
    assert card["notes"] == {"labels": "as given"}
    assert card["versions"]["ordino"] == ordino.__version__


def test_a_saved_evolution_goes_on_from_its_population(tmp_path):
    data = easy_data()
    ranker = RankDE(generations=3, population=10, warm_start=True).fit(data)
    ordino.save(ranker, tmp_path / "model")
    again = ordino.load(tmp_path / "model")
    np.testing.assert_array_equal(again.population_, ranker.population_)
    assert again.fit(data).fitness_ >= ranker.fitness_


class Favorite(LinearRanker):
    """A ranker that somebody wrote for themselves."""

    def __init__(self, *, column=0):
        self.column = column

    def _fit(self, data, valid):
        self.coef_ = np.eye(data.n_features)[self.column]


def test_a_ranker_of_your_own_is_loaded_when_you_bring_its_class(tmp_path):
    data = easy_data()
    ranker = Favorite(column=2).fit(data)
    ordino.save(ranker, tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"unknown class 'Favorite'; a ranker of your own is loaded with rankers="):
        ordino.load(tmp_path / "model")
    again = ordino.load(tmp_path / "model", rankers=[Favorite])
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))


def test_a_class_of_your_own_may_not_pose_as_one_of_ours(tmp_path):
    pretender = type("RankNet", (Favorite,), {})().fit(easy_data())
    with pytest.raises(ModelFileError, match="cannot be called RankNet"):
        ordino.save(pretender, tmp_path / "model")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda data: RankNet(), "this RankNet is not fitted yet; call fit before save"),
        (lambda data: StandardScaler(), "a StandardScaler is not a ranker"),
        (
            lambda data: Pipeline([("own", FunctionTransformer(abs)), ("rank", SingleFeature().fit(data))]),
            "steps.0.1.func is a builtin_function_or_method, which a model file cannot hold",
        ),
        (lambda data: with_learned(data, np.random.default_rng(0)), "odd_ is a Generator"),
        (lambda data: with_learned(data, np.array([1j])), "odd_ is an array of complex128"),
        (lambda data: with_learned(data, np.array([[None]])), "odd_ is an array of object"),
        (lambda data: with_learned(data, RANKERS["ranknet"]), "odd_ is a RankerEntry"),
    ],
)
def test_what_cannot_be_saved_is_refused_in_one_sentence(make, sentence, tmp_path):
    with pytest.raises(ModelFileError, match=sentence):
        ordino.save(make(easy_data()), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def with_learned(data, value):
    ranker = SingleFeature().fit(data)
    ranker.odd_ = value
    return ranker


OLD_HISTORIES = {
    "loss_history_": ([0.9, 0.5], [{"round": 0, "loss": 0.9}, {"round": 1, "loss": 0.5}]),  # before round 1, too
    "path_": (
        [{"objective": 3.0, "C": 1.0}, 2.0],
        [{"step": 1, "objective": 3.0, "C": 1.0}, {"step": 2, "objective": 2.0}],
    ),
    "mistakes_": ([7, 4], [{"epoch": 1, "mistakes": 7}, {"epoch": 2, "mistakes": 4}]),
    "stage_values_": ([0.25, 0.5], [{"stage": 1, "valid": 0.25}, {"stage": 2, "valid": 0.5}]),
    "valid_history_": ([0.5, np.nan], [{"round": 1, "valid": 0.5}, {"round": 2}]),
    "history_": ([{"epoch": 1, "reached": 0.5, "train": np.nan}], [{"epoch": 1, "valid": 0.5}]),
    "history_ by restart": ([[0.5, 0.6], [0.4]], [
        {"restart": 0, "sweep": 0, "train": 0.5}, {"restart": 0, "sweep": 1, "train": 0.6},
        {"restart": 1, "sweep": 0, "train": 0.4}]),
    "history_ by generation": ([{"best": 2.0, "mean": 1.0, "valid": 0.5}] * 2, [
        {"generation": n, "best": 2.0, "mean": 1.0, "valid": 0.5} for n in (0, 1)]),
}  # fmt: skip


@pytest.mark.parametrize("name", OLD_HISTORIES)
def test_what_earlier_versions_wrote_of_their_training_becomes_one_history(name):
    old, expected = OLD_HISTORIES[name]
    assert present_learned({"coef_": 1, name.partition(" ")[0]: old}) == {"coef_": 1, "history_": expected}


def test_several_old_histories_are_columns_of_the_same_rounds():
    assert set(OLD_HISTORIES) >= set(_OLD_HISTORIES)
    found = present_learned({"loss_history_": [0.9, 0.5], "valid_history_": [0.25]})["history_"]
    assert found == [{"round": 0, "loss": 0.9}, {"round": 1, "loss": 0.5, "valid": 0.25}]


def test_every_scaler_and_ranker_is_in_the_table():
    assert {cls.__name__ for cls in SCALERS.values()} | {entry.cls for entry in RANKERS.values()} <= set(ESTIMATORS)


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
"""

LOAD = """
import numpy as np, ordino
X = np.load("X.npy")
for name in ("linear", "network"):
    np.save(name + "-again.npy", ordino.load(name).predict(X))
"""


def run_without(names, code, folder):
    """Run a program in which packages of these names are not installed."""
    start = WITHOUT.replace("{names}", repr(names))
    subprocess.run([sys.executable, "-c", start + code], cwd=folder, check=True)


def test_linear_and_network_models_score_without_the_training_extras(tmp_path):
    data = easy_data()
    np.save(tmp_path / "X.npy", data.X)
    rankers = {
        "linear": LinearRegressionRanker(scaling=None).fit(data),
        "network": quick("ranknet").set_params(scaling="symlog").fit(data),
    }
    for name, ranker in rankers.items():
        ordino.save(ranker, tmp_path / name)
    run_without({"torch", "lightgbm", "cmaes", "altair"}, LOAD, tmp_path)
    for name, ranker in rankers.items():
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}-again.npy"), ranker.predict(data.X))


SCORE = """
import numpy as np
from ordino.data.dataset import Dataset
from ordino.model_file import load_scorer
X = np.load("X.npy")
np.save("again.npy", load_scorer("network")[0](Dataset(X, np.zeros(len(X)))))
"""


@pytest.mark.parametrize("scaling", [None, "symlog"])
def test_a_network_scores_with_numpy_alone(scaling, tmp_path):
    data = easy_data()
    np.save(tmp_path / "X.npy", data.X)
    ranker = quick("ranknet").set_params(scaling=scaling).fit(data)
    ordino.save(ranker, tmp_path / "network")
    run_without({"torch", "lightgbm", "sklearn", "scipy", "numba", "pandas"}, SCORE, tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "again.npy"), ranker.predict(data.X))


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "model"
    ordino.save(SingleFeature(feature=1).fit(easy_data()), path)
    before = path.read_bytes()

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(ValueError, match="cannot be written"):
        ordino.save(SingleFeature(feature=2).fit(easy_data()), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
