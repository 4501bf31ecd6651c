"""One training over several workers: what one machine learns, whatever the number of shards and workers.

The workers here are in this process, behind the seam that Ray's actors stand behind too; those have tests of their own
(``tests/backends``). Blocks are small, so that little data has many of them.
"""

import numpy as np
import pytest

import ordino
from crews import workers_here
from ordino import Dataset, ShardedDataset, synthetic, write_shards
from ordino.data.order_statistics import find_ranks, sorted_numbers
from ordino.data.scaling import make_scaler
from ordino.data.source import canonical
from ordino.division import Divided, dividing
from ordino.errors import DataError, ParameterError
from ordino.rankers import RANKERS, make_ranker, ranker_class
from ordino.reduction import heads_of_blocks, ordered_sum, partial_sum, sum_of_partials
from ordino.svm.divided import DividedPairs
from ordino.svm.pairs import PairSums


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("ordino.reduction.BLOCK", 128)
    monkeypatch.setattr("ordino.evolve.fitness.QUERIES", 7)
    monkeypatch.setattr("ordino.evolve.divided.QUERIES", 7)
    monkeypatch.setattr("ordino.networks.divided.GROUP", 3)
    monkeypatch.setattr("ordino.division.divided.SORTED", 1000)  # a few columns at a time


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("divided")
    data, valid = synthetic("mq", queries=45, seed=1).split(0.7)
    for n_shards in (1, 8):
        write_shards(data, home / str(n_shards), n_shards)
    write_shards(valid, home / "valid", 3)
    return home, data, valid


def learn(monkeypatch, name, params, home, n_shards, n_workers, valid=None, dying=()):
    with workers_here(monkeypatch, n_workers, dying=dying) as crews:
        ranker = make_ranker(name, params).fit(ShardedDataset(home / str(n_shards), cluster="here"), valid=valid)
    assert len(crews[0].told) == n_workers, "not all workers had something to do"
    return ranker


SAME_BITS = {
    "rank-svm": {"scaling": "zscore"},
    "rank-svm hinge": {"loss": "hinge", "C": [0.01, 0.1], "pair_weights": "mean", "scaling": "quantile"},
    "rankde": {"generations": 6, "population": 10},
    "rankde ndcg": {"generations": 2, "population": 6, "metric": "ndcg@5", "profile": "directranker"},
    "iesvm-rank": {"generations": 5},
    "gp-rank": {"generations": 2, "population": 10},
    "es-rank errors": {"generations": 8, "metric": "pairwise_error"},
    "ranknet": {"epochs": 2, "hidden": 8, "dropout": 0.2},
    "ranknet wrong": {"epochs": 3, "hidden": (), "until": "same-error", "profile": "directranker"},
    "lambdarank": {"epochs": 2, "hidden": 4, "batch": 5, "missing": "median", "scaling": "quantile"},
    "scorer": {"model": "linear", "epochs": 2},
}  # fmt: skip


@pytest.mark.parametrize("case", SAME_BITS)
def test_shards_and_workers_change_no_bit(monkeypatch, made, case):
    home, data, valid = made
    name, params = case.split()[0], SAME_BITS[case]
    whole = make_ranker(name, params).fit(data, valid=valid)
    for n_shards, n_workers, held_out in ((1, 3, valid), (8, 2, ShardedDataset(home / "valid"))):
        found = learn(monkeypatch, name, params, home, n_shards, n_workers, held_out)
        assert found.predict(valid).tobytes() == whole.predict(valid).tobytes()
        assert [sorted(row) for row in found.history_] == [sorted(row) for row in whole.history_]
        assert found.history_ == whole.history_


@pytest.mark.parametrize("average", ["queries", "pairs", "sum"])
def test_large_batches_are_summed_in_double_precision_whatever_the_number_of_workers(monkeypatch, made, average):
    monkeypatch.setattr("ordino.networks.divided.SMALL", 4)
    home, data, valid = made
    rate = 1e-5 if average == "sum" else 0.05
    params = {"epochs": 5, "hidden": 8, "batch": None, "average": average, "dropout": 0.1, "learning_rate": rate}
    params["optimizer"] = "descent"  # others do not see it if slopes are a multiple of what they should be
    whole = make_ranker("ranknet", params).fit(data, valid=valid)
    found = [learn(monkeypatch, "ranknet", params, home, 8, n, valid) for n in (1, 2, 3)]
    one, two, three = (ranker.predict(valid) for ranker in found)
    assert one.tobytes() == two.tobytes() == three.tobytes()
    np.testing.assert_allclose(one, whole.predict(valid), rtol=0, atol=1e-6)
    assert np.argsort(one).tolist() == np.argsort(whole.predict(valid)).tolist()
    errors, two, three, expected = ([row["error"] for row in ranker.history_] for ranker in (*found, whole))
    assert errors == two == three  # to the last bit, which scores in single precision do not show
    np.testing.assert_allclose(errors, expected, rtol=1e-6)


def test_batches_of_some_queries_are_summed_over_those_who_have_them(monkeypatch, made):
    monkeypatch.setattr("ordino.networks.divided.SMALL", 4)
    home, data, valid = made
    params = {"epochs": 3, "hidden": (), "batch": 11, "optimizer": "descent"}
    whole = make_ranker("listnet", params).fit(data, valid=valid).predict(valid)
    found = [learn(monkeypatch, "listnet", params, home, 1, n, valid).predict(valid) for n in (1, 3)]
    assert found[0].tobytes() == found[1].tobytes()
    np.testing.assert_allclose(found[0], whole, atol=1e-6)


def test_steps_of_any_length_lead_to_the_same_sums(monkeypatch, made):
    home, data, _ = made
    w, d = np.random.default_rng(0).normal(size=(2, 46))
    ordered = canonical(data)
    here = PairSums(ordered.X, ordered.y, ordered.offsets)
    with workers_here(monkeypatch, 2), ordino.backends.open_crew("here", 2) as crew:
        [divided] = dividing.divide(crew, ShardedDataset(home / "8"))
        there = DividedPairs(divided, "sum")
        for low, high in ((-np.inf, 1.0), (0.5, 1.5)):
            found = []
            for pairs in (here, there):
                at = pairs.moved(pairs.scores(w), 0.3, pairs.scores(d))
                at = pairs.moved(at, 0.5, pairs.scores(w))
                sums = pairs.sums(at, low, high)
                found.append((sums.value, sums.shortfall, *pairs.slopes(sums), *pairs.curvature(at, sums, d)))
            assert found[0] == found[1]


def test_least_squares_of_parts_are_those_of_the_whole(monkeypatch, made):
    home, data, valid = made
    whole = make_ranker("linear-regression-ranker", {}).fit(data, valid=valid)
    for n_shards, n_workers in ((1, 1), (8, 3)):
        found = learn(monkeypatch, "linear-regression-ranker", {}, home, n_shards, n_workers, valid)
        np.testing.assert_allclose(found.predict(valid), whole.predict(valid), rtol=0, atol=1e-10)
        assert found.alpha_ == whole.alpha_


def test_trees_of_one_shard_are_those_of_memory(monkeypatch, made):
    """With more shards, LightGBM's workers must run side by side: ``tests/backends`` has them on Ray."""
    home, data, valid = made
    held_out = ShardedDataset(home / "valid")
    for params in (
        {"rounds": 6, "min_leaf": 5, "query_share": 0.8, "bags": 2},
        {"rounds": 30, "min_leaf": 5, "patience": 2, "metric": "map"},
        {"rounds": 4, "min_leaf": 5000},  # nothing can be learned
    ):
        whole = make_ranker("lambda-mart", params).fit(data, valid=valid)
        found = learn(monkeypatch, "lambda-mart", params, home, 1, 1, held_out)
        assert found.predict(valid).tobytes() == whole.predict(valid).tobytes()
        reached = [[row["valid"] for row in ranker.history_] for ranker in (found, whole)]
        np.testing.assert_allclose(*reached, rtol=0, atol=1e-11)  # values are rounded to 12 digits


def test_a_share_that_is_held_out_is_that_of_one_machine(monkeypatch, made):
    home, data, valid = made
    for name, params in (("rank-svm", {"C": [0.01, 1.0]}), ("ranknet", {"epochs": 2, "hidden": 4})):
        whole = make_ranker(name, params).fit(data, valid=0.3)
        found = learn(monkeypatch, name, params, home, 8, 2, 0.3)
        assert found.predict(valid).tobytes() == whole.predict(valid).tobytes()
        assert found.history_ == whole.history_
        assert (found.n_queries_in_, found.longest_query_in_) == (whole.n_queries_in_, whole.longest_query_in_)


@pytest.mark.parametrize("name", ["rank-svm", "rankde", "ranknet"])
def test_a_worker_that_died_is_replaced_in_any_step(monkeypatch, made, name):
    home, data, valid = made
    params = SAME_BITS[name]
    whole = make_ranker(name, params).fit(data, valid=valid).predict(valid)
    with workers_here(monkeypatch, 2) as crews:
        make_ranker(name, params).fit(ShardedDataset(home / "8", cluster="here"), valid=valid)
    for call in range(2, crews[0].calls, max(1, crews[0].calls // 4)):
        found = learn(monkeypatch, name, params, home, 8, 2, valid, dying=[(call, call % 2)])
        assert found.predict(valid).tobytes() == whole.tobytes()


@pytest.mark.parametrize("missing", [None, "median"])
@pytest.mark.parametrize("name", ["minmax", "symlog", "quantile", "quantile+rank"])
def test_scalers_learn_what_they_learn_from_the_whole(monkeypatch, tmp_path, name, missing):
    from ordino.data.filling import make_preparation

    data = synthetic("mq", queries=12, seed=3)
    X = data.X[:, :9].copy()
    X[::7, 3] = np.nan
    X[1, 4] = np.nan  # the number of values is even in this column, or in the others
    X[:, 5] = np.nan
    X[::3, 6] = -0.0
    data = data.replace(X=X)
    shards = write_shards(data, tmp_path / "s", 3)
    whole = make_preparation(missing, make_scaler(name)).fit(data)
    for n_sorted in (1000, 1 << 20):  # a few columns at a time, or all, which are then asked for again as they are
        monkeypatch.setattr("ordino.division.divided.SORTED", n_sorted)
        with workers_here(monkeypatch, 2), ordino.backends.open_crew("here", 2) as crew:
            [divided] = dividing.divide(crew, shards)
            found = make_preparation(missing, make_scaler(name)).fit_elsewhere(divided)
        assert found.transform(data).X.tobytes() == whole.transform(data).X.tobytes()
        if missing is not None:
            assert found.medians_.tolist() == whole.medians_.tolist()
        assert (found.n_features_in_, found.n_queries_) == (whole.n_features_in_, whole.n_queries_)


def test_weights_and_names_go_along(monkeypatch, tmp_path):
    data = synthetic("mq", queries=20, seed=4)
    data = data.replace(feature_names=[f"x{j}" for j in range(46)])
    data = data.with_weights(np.random.default_rng(0).integers(1, 4, data.n_docs))
    write_shards(data, tmp_path / "3", 3)
    whole = make_ranker("rank-svm", {}).fit(data)
    found = learn(monkeypatch, "rank-svm", {}, tmp_path, 3, 2)
    assert found.coef_.tobytes() == whole.coef_.tobytes()
    assert found.feature_weights() == whole.feature_weights()
    with pytest.warns(UserWarning, match="RankDE does not use document weights"):
        learn(monkeypatch, "rankde", {"generations": 1, "population": 4}, tmp_path, 3, 2)
    plain = Dataset(data.X, data.y, data.qid, feature_names=data.feature_names)
    with pytest.warns(UserWarning, match="IESVMRank does not use document weights"):
        found = learn(monkeypatch, "iesvm-rank", {"generations": 3}, tmp_path, 3, 2)
    whole = make_ranker("iesvm-rank", {"generations": 3}).fit(plain)
    assert found.predict(data).tobytes() == whole.predict(data).tobytes()


@pytest.mark.parametrize("weighted", [False, True])
def test_features_called_like_other_columns_are_features_on_other_machines_too(monkeypatch, tmp_path, weighted):
    """One called weight is no weight, and one called doc_id is no id, though it is all 0."""
    data = synthetic("mq", queries=20, seed=4)
    names = ["doc_id", "judged" if weighted else "weight", *(f"x{j}" for j in range(44))]
    data = data.replace(X=np.where(np.arange(46) == 1, 0.0, data.X), feature_names=names)
    data = data.with_weights(1.0 + np.arange(data.n_docs) % 3) if weighted else data
    write_shards(data, tmp_path / "3", 3)
    whole = make_ranker("rank-svm", {}).fit(data)
    assert learn(monkeypatch, "rank-svm", {}, tmp_path, 3, 2).coef_.tobytes() == whole.coef_.tobytes()


def test_sums_of_parts_have_the_bits_of_the_whole():
    rng = np.random.default_rng(0)
    for n, size, width in ((0, 5, 3), (1, 5, 3), (5, 5, 3), (23, 5, 1), (64, 5, 3), (1000, 300, 1), (1000, 300, 4)):
        rows = rng.normal(size=(n, width)) * 10.0 ** rng.integers(-8, 8, (n, 1))
        for axis, table in ((0, rows), (1, np.ascontiguousarray(rows.T))):
            whole = ordered_sum(table, size, axis)
            if n <= size:
                assert whole.tobytes() == table.sum(axis=axis).tobytes()
            np.testing.assert_allclose(whole, table.sum(axis=axis))
            for _ in range(10):
                cuts = np.sort(rng.integers(0, n + 1, 3))
                parts = np.split(table, cuts, axis=axis)
                partials = [partial_sum(one, size, at, axis) for one, at in zip(parts, [0, *cuts], strict=True)]
                assert sum_of_partials(partials, size, axis).tobytes() == whole.tobytes()
                assert all(max(one.head.shape[axis], one.tail.shape[axis]) < size for one in partials)


def test_a_part_has_the_blocks_of_the_whole():
    counts = np.random.default_rng(1).integers(1, 60, 80)
    counts[[3, 40]] = 400  # longer than a block
    offsets = np.append(0, np.cumsum(counts))
    heads = heads_of_blocks(offsets)
    for first in heads[1:]:
        later = heads_of_blocks(offsets[first:] - offsets[first], int(offsets[first]))
        assert (later + first).tolist() == heads[heads >= first].tolist()


def test_values_at_ranks_are_those_of_a_sort():
    rng = np.random.default_rng(2)
    column = np.concatenate((rng.normal(size=500), rng.integers(-2, 3, 300), [np.nan] * 9, [1e-45, -3e38, 3e38]))
    column = rng.permutation(column).astype(np.float32)
    pieces = [sorted_numbers(piece) for piece in np.split(column, [0, 200, 201])]
    ranks = np.arange(np.count_nonzero(~np.isnan(column)))

    def count(asked):
        return [sum(np.searchsorted(piece, asked[0], side="right") for piece in pieces)]

    assert find_ranks(count, [ranks])[0].tolist() == np.sort(column)[: len(ranks)].tolist()


DIVIDED = {
    "ranknet", "directranker", "lambdarank", "listnet", "listmle", "rankcosine", "scorer", "rankde", "swarm-rank",
    "gp-rank", "es-rank", "iesr-rank", "iesvm-rank", "cma-rank", "rank-svm", "lambda-mart", "linear-regression-ranker",
}  # fmt: skip


QUICK = {
    "directranker": {"epochs": 2}, "lambda-mart": {"rounds": 4, "min_leaf": 5}, "linear-regression-ranker": {},
    "rank-svm": {}, "scorer": {"epochs": 2},
}  # fmt: skip


@pytest.fixture(scope="module")
def weighed(tmp_path_factory):
    """One shard of documents that do not all count alike, since trees of several need workers side by side."""
    data = synthetic("mq", queries=20, seed=4)
    data = data.with_weights(np.random.default_rng(0).integers(1, 9, data.n_docs))
    home = tmp_path_factory.mktemp("weighed")
    write_shards(data, home / "1", 1)
    return data, home


@pytest.mark.parametrize("name", sorted(name for name in DIVIDED if ranker_class(name).uses_weights))
def test_weights_count_on_other_machines_as_on_one(monkeypatch, weighed, name):
    data, home = weighed
    params = QUICK.get(name, {"epochs": 2, "hidden": 4})
    whole = make_ranker(name, params).fit(data).predict(data)
    unweighed = Dataset(data.X, data.y, data.qid)
    assert not np.allclose(whole, make_ranker(name, params).fit(unweighed).predict(data), atol=1e-6)
    found = learn(monkeypatch, name, params, home, 1, 1).predict(data)
    np.testing.assert_allclose(found, whole, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", RANKERS)
def test_a_ranker_that_cannot_be_divided_says_so_before_anything_is_opened(made, name):
    ranker, shards = ranker_class(name)(), ShardedDataset(made[0] / "8", cluster="nowhere")
    if name in DIVIDED:
        ranker._check_divides()
        return
    with pytest.raises(ParameterError, match=rf"the training of {type(ranker).__name__} cannot be divided over a cl"):
        ranker.fit(shards)


def test_trees_of_scorer_cannot_be_divided(made):
    with pytest.raises(ParameterError, match="the trees of Scorer cannot be divided"):
        ordino.Scorer(model="trees").fit(ShardedDataset(made[0] / "8", cluster="nowhere"))


def test_missing_values_are_refused_by_who_has_them(monkeypatch, tmp_path):
    data = synthetic("mq", queries=8, seed=1)
    X = data.X.copy()
    X[100, 3] = np.nan
    write_shards(data.replace(X=X), tmp_path / "2", 2)
    with pytest.raises(DataError, match="X has NaN in column 3, which RankSVM cannot use"):
        learn(monkeypatch, "rank-svm", {}, tmp_path, 2, 2)


def test_a_damaged_shard_is_named(monkeypatch, tmp_path):
    shards = write_shards(synthetic("mq", queries=8, seed=1), tmp_path / "2", 2)
    other = write_shards(synthetic("mq", queries=9, seed=2), tmp_path / "other", 2)
    size = shards.files[1].stat().st_size
    shards.files[1].write_bytes(b"\0" * size)
    with pytest.raises(DataError, match=r"shard-00001\.parquet: cannot be read .*; copy it again"):
        learn(monkeypatch, "rank-svm", {}, tmp_path, 2, 2)
    whole = ShardedDataset(tmp_path / "2", cluster="here")
    shards.files[1].write_bytes(other.files[1].read_bytes())
    with workers_here(monkeypatch, 2) as crews:
        with pytest.raises(DataError, match="this shard changed after it was written"):
            ordino.RankSVM().fit(whole)
        assert crews[0].calls == 1, "the labels alone tell"


def test_a_full_disk_of_a_worker_is_one_sentence(monkeypatch, made):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Disk", (), {"free": 1 << 20})())
    with pytest.raises(DataError, match="do not fit on this disk; set TMPDIR to a folder on a larger one"):
        learn(monkeypatch, "rank-svm", {}, made[0], 8, 2)


def test_validation_data_of_other_features_is_refused(monkeypatch, made):
    with pytest.raises(DataError, match="X has 46 features but valid has 1"):
        learn(monkeypatch, "rank-svm", {}, made[0], 8, 2, Dataset([[0.0]] * 4, [0, 1, 0, 1], qid=[1, 1, 2, 2]))


def test_queries_without_two_labels_are_warned_of(monkeypatch, tmp_path):
    write_shards(Dataset(np.eye(8), [1] * 8, qid=[1, 1, 2, 2, 3, 3, 4, 4]), tmp_path / "2", 2)
    with (
        workers_here(monkeypatch, 2),
        pytest.warns(UserWarning, match="no query has two different labels, so nothing can be learned"),
    ):
        ordino.RankSVM().fit(ShardedDataset(tmp_path / "2", cluster="here"))


def test_divided_data_knows_its_sizes(monkeypatch, made):
    home, data, _ = made
    with workers_here(monkeypatch, 3), ordino.backends.open_crew("here", 3) as crew:
        [found] = dividing.divide(crew, ShardedDataset(home / "8"))
        held = found.each(held_queries)
    assert isinstance(found, Divided)
    assert (found.n_docs, found.n_queries) == (data.n_docs, data.n_queries)
    assert held == np.diff(found.bounds).tolist()
    assert max(held) < 0.6 * sum(held)


def test_scaled_features_have_the_names_that_the_scaling_gives_them(monkeypatch, tmp_path):
    """By which formulas of genetic programming are told."""
    data = synthetic("mq", queries=20, seed=4)
    named = data.replace(X=data.X[:, :5], feature_names=["a", "b", "c", "d", "e"])
    write_shards(named, tmp_path / "3", 3)
    settings = {"generations": 2, "population": 30, "scaling": "minmax+rank"}
    whole = make_ranker("gp-rank", settings).fit(named)
    found = learn(monkeypatch, "gp-rank", settings, tmp_path, 3, 2)
    assert found.formula_ == whole.formula_
    with workers_here(monkeypatch, 2), ordino.backends.open_crew("here", 2) as crew:
        [far] = dividing.divide(crew, ShardedDataset(tmp_path / "3"))
        scaler = make_scaler("minmax+rank").fit(named)
        assert far.scaled(scaler).feature_names == tuple(scaler.get_feature_names_out())


def test_labels_that_only_some_shards_have_are_known(monkeypatch, tmp_path):
    """Or the trees would take one level for another."""
    qid = np.repeat(np.arange(12), 5)
    data = Dataset(np.random.default_rng(0).random((60, 3)), np.where(np.arange(60) % 5 == 0, qid, 0), qid)
    source = write_shards(data, tmp_path / "4", 4)
    with workers_here(monkeypatch, 4), ordino.backends.open_crew("here", 4) as crew:
        [found] = dividing.divide(crew, source, by_shard=True)
        assert ordino.LambdaMART()._labels(found).tolist() == list(range(12))


def test_every_shard_lies_with_a_worker_of_its_own_where_that_is_asked(monkeypatch, made):
    """As for trees, which LightGBM's workers grow; with a share that is held out as well."""
    home, _, _ = made
    source = ShardedDataset(home / "8", cluster="here")
    sizes = [queries for _, queries in source.sizes]
    kept, held_out = np.arange(sum(sizes))[::2], np.arange(sum(sizes))[1::2]
    for numbers, parts in ((None, [None]), ((kept, held_out), [kept, held_out])):
        with workers_here(monkeypatch, 8), dividing.divided_data(source, numbers, by_shard=True) as found:
            for data, own in zip(found, parts, strict=False):
                shard_of = np.repeat(np.arange(8), sizes)[slice(None) if own is None else own]
                assert data.each(held_queries) == np.bincount(shard_of, minlength=8).tolist()


def held_queries(bench, name):
    return bench.data[name].n_queries
