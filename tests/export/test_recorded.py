"""The emulators give the scores that the engines' own classes gave: all rows, to the last bit of single precision."""

import json
from pathlib import Path

import numpy as np
import pytest

from ordino import import_model, read_letor
from ordino.export import TARGETS

ENGINES = Path(__file__).parents[1] / "fixtures" / "engines"
NAMES = [f"f{j}" for j in range(1, 9)]


def rows_and_scores(engine: str, name: str):
    X = np.genfromtxt(ENGINES / engine / "X.csv", delimiter=",").astype(np.float32)
    return X, np.genfromtxt(ENGINES / engine / f"{name}.scores")


def assert_equal_in_single(found, wanted, n_rows=894):
    assert len(found) == len(wanted) == n_rows
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))


@pytest.mark.parametrize("name", ["linear", "trees", "trees-normalized", "network"])
def test_solr(name):
    X, wanted = rows_and_scores("solr", name)
    text = (ENGINES / "solr" / f"{name}.json").read_text()
    assert_equal_in_single(TARGETS["solr"].score({"model.json": text}, X, NAMES).scores, wanted)


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])
@pytest.mark.parametrize(
    ("name", "kind"), [("linear", "linear"), ("xgboost", "xgboost+json"), ("xgboost-raw", "xgboost+json+raw")]
)
def test_the_plugin(engine, name, kind):
    X, wanted = rows_and_scores("opensearch", name)
    definition = (ENGINES / "opensearch" / f"{name}.json").read_text()
    body = {"model": {"name": "m", "model": {"type": f"model/{kind}", "definition": definition}}}
    features = {"featureset": {"features": [{"name": name} for name in NAMES]}}
    files = {"model.json": json.dumps(body), "featureset.json": json.dumps(features)}
    assert_equal_in_single(TARGETS[engine].score(files, X, NAMES).scores, wanted)


MODELS = sorted(path.name.partition(".")[0] for path in (ENGINES / "ranklib").glob("*.model.txt"))
TEST = read_letor(ENGINES / "ranklib" / "test.txt")


def ranklib(name: str):
    return ENGINES / "ranklib" / f"{name}.model.txt", np.genfromtxt(ENGINES / "ranklib" / f"{name}.scores")[:, 2]


def test_there_are_nine_models_of_ranklib():
    assert len(MODELS) == 9


@pytest.mark.parametrize("name", MODELS)
def test_ranklib(name):
    path, wanted = ranklib(name)
    found = TARGETS["ranklib"].score({"model.txt": path.read_text()}, TEST.X, NAMES).scores
    assert_equal_in_single(found, wanted, 300)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-16)  # networks are double, to an ulp of the logistic


@pytest.mark.parametrize("name", MODELS)
def test_imported_models_of_ranklib_score_as_ranklib_does(name):
    path, wanted = ranklib(name)
    np.testing.assert_allclose(import_model(path, "ranklib").predict(TEST), wanted, rtol=0, atol=5e-7)


@pytest.mark.parametrize("kind", ["xgboost", "xgboost-raw"])
def test_imported_models_of_xgboost_score_as_the_plugin_does(kind, tmp_path):
    """Leaves are the same; the plugin leaves the base score out, which is the same for every document.

    In a dump, XGBoost's f0 is the first feature: there the columns begin with one that no split asks for.
    """
    X, wanted = rows_and_scores("opensearch", kind)
    ranker = import_model(ENGINES / "opensearch" / f"{kind}.json", "xgboost")
    off = ranker.predict(X if kind == "xgboost-raw" else np.column_stack((X[:, 0], X))) - wanted
    assert np.ptp(off) < 5e-6
