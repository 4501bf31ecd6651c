"""Trees from features on disk are those from memory, to the last bit, and LightGBM's bins are all that they hold."""

import json
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
import sklearn

from ordino import Dataset, LambdaMART, McRank, write_shards
from ordino.boosting import bins_from_disk

N_QUERIES, LENGTH = 60, 20
ROWS = N_QUERIES * LENGTH


def normal(rng, n_features=6):
    return rng.normal(size=(ROWS, n_features)).astype(np.float32)


def sparse(rng):
    """Zero in four of five rows, each feature in others: no bundle."""
    return normal(rng) * (rng.random((ROWS, 6)) < 0.2)


def exclusive(rng):
    """In every row one feature alone is not zero: LightGBM bundles them."""
    return normal(rng) * np.eye(6, dtype=np.float32)[rng.integers(0, 6, ROWS)]


def missing(rng):
    return np.where(rng.random((ROWS, 6)) < 0.3, np.nan, normal(rng))


def same(rng):
    """Of features that are almost always the same, in the same rows, and of one that is."""
    X = normal(rng)
    X[:, 0], X[:, 1], X[:, 2] = 7.0, 0.0, 0.0
    X[5, 1:3] = 1.0
    X[6, 1:3] = np.nan
    return X


def zeros(rng):
    """Numbers that LightGBM takes for zero, and signs of zero."""
    return np.where(rng.random((ROWS, 6)) < 0.5, rng.choice([0.0, -0.0, 1e-36, -1e-36, 2e-35], (ROWS, 6)), normal(rng))


def mixed(rng):
    return np.concatenate((normal(rng), sparse(rng), exclusive(rng), np.rint(normal(rng))), axis=1)


SHAPES = {one.__name__: one for one in (normal, sparse, exclusive, missing, same, zeros, mixed)}
WAYS = {
    "plain": {},
    "few are drawn": {"options": {"bin_construct_sample_cnt": 300}},
    "shares": {"query_share": 0.5, "feature_share": 0.5},
    "extra trees": {"options": {"extra_trees": True}},
    "few bins": {"options": {"max_bin": 15}},
}


def made(shape):
    rng = np.random.default_rng(3)
    X = SHAPES[shape](rng).astype(np.float32)
    y = np.clip(np.rint(np.nan_to_num(X).sum(axis=1) + rng.normal(size=ROWS)), 0, 4)
    return Dataset(X, y, np.repeat(np.arange(N_QUERIES), LENGTH))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_trees_from_disk_are_those_from_memory(tmp_path, shape, way):
    data = made(shape)
    ranker = LambdaMART(rounds=8, min_leaf=5, **WAYS[way])
    from_disk = ranker.fit(write_shards(data, tmp_path / "s", 3)).model_
    assert from_disk == ranker.fit(data).model_
    assert "leaf_value" in from_disk


def test_levels_and_held_out_data_from_disk_too(tmp_path):
    data, valid = made("mixed").split(0.7)
    places = [write_shards(one, tmp_path / str(number), 2) for number, one in enumerate((data, valid))]
    ranker = McRank(rounds=4, min_leaf=5)
    assert ranker.fit(places[0], valid=places[1]).model_ == ranker.fit(data, valid=valid).model_


def lossy(rng, n_docs):
    """Few rows have two of four features, so few that a bundle of three may lose them; a bundle of four may not."""
    X = np.zeros((n_docs, 5), np.float32)
    X[:, 0] = rng.normal(size=n_docs)
    kind = np.arange(n_docs) % 12
    for j in range(4):
        X[kind == j, j + 1] = 1.0 + rng.random(np.sum(kind == j))
    for number, pair in enumerate(combinations(range(1, 5), 2)):
        rows = 12 * np.arange(3 * number, 3 * number + 3) + 11
        X[np.ix_(rows, pair)] = 5.0
    return X, np.where(X.max(axis=1) == 5, 4.0, X[:, 1:].max(axis=1) > 1.5)


def rare(rng, n_docs):
    """Two features that are almost always zero, but not in the same few rows."""
    X = np.zeros((n_docs, 3), np.float32)
    X[:, 0] = rng.normal(size=n_docs)
    X[1:9, 1] = [1, 1, 1, 2, 2, 2, 3, 3]
    X[1:9, 2] = [1, 2, 3, 1, 2, 3, 1, 2]
    return X, X[:, 1] + (X[:, 0] > 2)


@pytest.mark.parametrize("shape", [lossy, rare])
def test_what_a_bundle_loses_and_what_not_is_the_same_from_disk(tmp_path, shape):
    n_docs = 90_000
    rng = np.random.default_rng(5)
    X, y = shape(rng, n_docs)
    data = Dataset(X[order := rng.permutation(n_docs)], y[order], np.arange(n_docs) // 100)
    ranker = LambdaMART(rounds=3, min_leaf=1, options={"min_data_in_bin": 1})
    from_disk = ranker.fit(write_shards(data, tmp_path / "s", 2)).model_
    assert from_disk == ranker.fit(data).model_


@pytest.mark.parametrize(("shape", "asked"), [("sparse", [True]), ("exclusive", [True, False]), ("same", [False])])
def test_sparse_features_are_kept_as_the_others_where_no_bundle_is_lost(tmp_path, monkeypatch, shape, asked):
    seen = []
    empty = bins_from_disk._empty

    def look(columns, n_docs, params):
        seen.append(params.startswith(bins_from_disk.DENSE))
        return empty(columns, n_docs, params)

    monkeypatch.setattr(bins_from_disk, "_empty", look)
    monkeypatch.setattr(bins_from_disk, "RARE", 100)
    LambdaMART(rounds=2, min_leaf=5).fit(write_shards(made(shape), tmp_path / "s", 2))
    assert seen == asked


PEAK = """
import json, sys
from ordino import LambdaMART, ShardedDataset
from ordino.boosting.booster import Booster

def held():
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon"))

few, many = map(ShardedDataset, sys.argv[1:])
LambdaMART(rounds=2).fit(few)  # what is imported on the way is there now
before, seen, update = held(), [], Booster.update

def look(*given, **named):
    seen.append(held() - before)
    return update(*given, **named)

Booster.update = look
LambdaMART(rounds=2).fit(many)
print(json.dumps([max(seen), list(sys.modules)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell what a process holds")
def test_a_byte_for_each_value_and_a_few_for_each_document_are_held(tmp_path):
    """What was drawn to find the bins, what Arrow decoded and what was freed are not; nor is what trees do not need."""
    n_docs, n_features = 80_000, 136
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_docs, n_features)).astype(np.float32) * (rng.random((n_docs, n_features)) < 0.35)
    data = Dataset(X, rng.integers(0, 3, n_docs), np.arange(n_docs) // 100)
    write_shards(data.select_queries(np.arange(8)), tmp_path / "few", 4)
    write_shards(data, tmp_path / "many", 4)
    command = [sys.executable, "-c", PEAK, tmp_path / "few", tmp_path / "many"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    most, loaded = json.loads(done.stdout)
    print(most / 1e6, n_docs * (n_features + 48) / 1e6)
    assert most < n_docs * (n_features + 48) + 17e6
    unused = {"numba", "lightgbm", "scipy.stats", "sklearn.model_selection"}
    unused |= set() if sklearn.__version__.startswith("1.6.") else {"pandas"}  # which 1.6 itself uses as it starts
    assert unused.isdisjoint(loaded)
