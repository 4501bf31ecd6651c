"""One training on two machines of Ray: what one machine learns; a machine that is killed changes nothing."""

import re
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import ordino
from ordino import ShardedDataset, synthetic, write_shards
from ordino.backends import ray_crew
from ordino.errors import DataError, MissingExtraError, OrdinoError
from ordino.rankers import make_ranker
from shell import ordino as command

STORE = 150_000_000  # bytes of the object store of a machine


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Training data of three blocks, so that two workers have something to do; and what to choose by."""
    home = tmp_path_factory.mktemp("training")
    data, valid = synthetic("mq", queries=700, seed=1).split(0.85)
    assert data.n_docs > 20_000
    for n_shards in (1, 4, 8):
        write_shards(data, home / str(n_shards), n_shards)
    write_shards(valid, home / "valid", 2)
    return home, data, valid


SAME_BITS = {
    "rank-svm": {"scaling": "zscore", "C": [0.001, 0.01]},
    "rankde": {"generations": 10, "population": 10},
    "ranknet": {"epochs": 2},
    "listnet": {"epochs": 1, "scaling": "quantile", "hidden": ()},
}


def test_each_worker_gets_what_is_its_own(monkeypatch):
    """Asked among some of the workers, in another order than their own; without a cluster."""
    crew = ray_crew.RayCrew.__new__(ray_crew.RayCrew)
    crew._actors, crew._told = [None] * 3, [[], [], []]
    crew._cluster = SimpleNamespace(shipped=lambda _: {})
    monkeypatch.setattr(crew, "_ask", lambda number, call: number, raising=False)
    monkeypatch.setattr(crew, "_result", lambda number, call, under_way: (number, call[1], under_way), raising=False)
    assert crew.each(len, "all", own=["a", "b"], among=[2, 1], lasting=True) == [
        (2, ("a", "all"), 2), (1, ("b", "all"), 1)
    ]  # fmt: skip
    assert [len(told) for told in crew._told] == [0, 1, 1]
    assert crew.each(len, "all") == [(number, ("all",), number) for number in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("name", SAME_BITS)
def test_two_machines_learn_what_one_learns(cluster, made, name):
    home, data, valid = made
    whole = make_ranker(name, SAME_BITS[name]).fit(data, valid=valid)
    for n_shards, held_out in ((1, valid), (8, ShardedDataset(home / "valid"))):
        shards = ShardedDataset(home / str(n_shards), cluster=cluster.address)
        found = make_ranker(name, SAME_BITS[name]).fit(shards, valid=held_out)
        assert found.predict(valid).tobytes() == whole.predict(valid).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "params"), [("linear-regression-ranker", {}), ("ranknet", {"batch": None, "epochs": 5, "hidden": 16})]
)
def test_sums_in_another_order_are_the_same_to_six_digits(cluster, made, name, params):
    home, data, valid = made
    whole = make_ranker(name, params).fit(data, valid=valid).predict(valid)
    shards = ShardedDataset(home / "8", cluster=cluster.address)
    found = make_ranker(name, params).fit(shards, valid=valid).predict(valid)
    np.testing.assert_allclose(found, whole, rtol=0, atol=1e-6)
    assert np.argsort(found, kind="stable").tolist() == np.argsort(whole, kind="stable").tolist()


@pytest.mark.slow
def test_the_number_of_shards_and_nothing_else_decides_what_trees_are(cluster, made):
    home, data, valid = made
    params = {"rounds": 12, "leaves": 7}

    def trees(n_shards):
        ranker = make_ranker("lambda-mart", params)
        return ranker.fit(ShardedDataset(home / str(n_shards), cluster=cluster.address), valid=valid)

    whole = make_ranker("lambda-mart", params).fit(data, valid=valid)
    assert trees(1).predict(valid).tobytes() == whole.predict(valid).tobytes()
    four, again = trees(4), trees(4)
    assert four.model_ == again.model_
    assert [sorted(row) for row in four.history_] == [["round", "valid"]] * 12
    assert four.predict(valid).tobytes() != whole.predict(valid).tobytes()
    assert abs(four.score(valid) - whole.score(valid)) < 0.03
    more = cluster.add_node(num_cpus=2, object_store_memory=STORE)
    try:
        assert trees(4).model_ == four.model_
    finally:
        cluster.remove_node(more)


@pytest.mark.slow
def test_a_killed_machine_changes_no_bit_of_what_is_learned(cluster, made):
    home, data, _ = made
    params = {"generations": 150, "population": 20, "metric": "ndcg@10"}
    whole = make_ranker("rankde", params).fit(data)
    doomed = cluster.add_node(num_cpus=2, object_store_memory=STORE)
    crew, killed = [], []
    real = ray_crew.RayCrew.each

    def each(self, *given, **how):
        crew.append(self)
        if len(crew) == 60:
            where = machines_of(self)
            cluster.remove_node(doomed, allow_graceful=False)
            killed.append(where.count(doomed.node_id))
        return real(self, *given, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_crew.RayCrew, "each", each)
        found = make_ranker("rankde", params).fit(ShardedDataset(home / "8", cluster=cluster.address))
    assert killed[0] >= 1, "no worker was on the machine that died"
    assert len(crew) > 100, "all was done before the machine died"
    assert found.coef_.tobytes() == whole.coef_.tobytes()
    assert found.history_ == whole.history_


def machines_of(crew):
    """The machine of each worker."""
    import ray

    def where(_bench):
        import ray

        return ray.get_runtime_context().get_node_id()

    return ray.get([actor.do.remote(where, (), {}, "") for actor in crew._actors])


@pytest.mark.slow
def test_a_worker_that_dies_while_trees_grow_ends_it_in_a_sentence(cluster, made):
    import ray

    home, *_ = made

    def kill_soon(self, *given, **how):
        if how.get("once") and not killed:
            killed.append(True)
            threading.Timer(1.0, lambda: ray.kill(self._actors[1])).start()
        return real(self, *given, **how)

    killed, real = [], ray_crew.RayCrew.each
    begin = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_crew.RayCrew, "each", kill_soon)
        with pytest.raises(OrdinoError, match="a worker died in the middle of a step that all make together"):
            make_ranker("lambda-mart", {"rounds": 5000}).fit(ShardedDataset(home / "4", cluster=cluster.address))
    assert time.monotonic() - begin < 90


@pytest.mark.slow
def test_shards_reach_machines_that_do_not_see_them_and_failures_name_the_machine(cluster, made, monkeypatch):
    home, data, _ = made
    monkeypatch.setattr("ordino.backends.ray_cluster._sees", lambda _: False)
    monkeypatch.setattr("ordino.backends.ray_cluster.RayCluster.shipped", _hidden(ray_crew.RayCluster.shipped))
    found = make_ranker("rank-svm", {}).fit(ShardedDataset(home / "4", cluster=cluster.address))
    assert found.coef_.tobytes() == make_ranker("rank-svm", {}).fit(data).coef_.tobytes()


def _hidden(shipped):
    """As if workers had none of the driver's files: those that are sent go by other names."""

    def hiding(self, task):
        from pathlib import Path

        sent = shipped(self, task)
        if not sent:
            return sent
        moved = {Path("/nowhere") / path.name: one for path, one in sent.items()}
        object.__setattr__(task, "files", {key: Path("/nowhere") / path.name for key, path in task.files.items()})
        return moved

    return hiding


@pytest.mark.slow
def test_a_damaged_shard_ends_training_in_a_sentence_that_names_the_machine(cluster, tmp_path):
    shards = write_shards(synthetic("mq", queries=20, seed=1), tmp_path / "s", 2)
    shards.files[1].write_bytes(b"\0" * shards.files[1].stat().st_size)
    with pytest.raises(DataError, match=r"shard-00001\.parquet: cannot be read .*; copy it again \(on "):
        make_ranker("rank-svm", {}).fit(ShardedDataset(tmp_path / "s", cluster=cluster.address))


@pytest.mark.slow
def test_the_command_writes_the_model_of_one_machine(cluster, made, tmp_path, monkeypatch, capsys):
    home, *_ = made
    monkeypatch.chdir(home)
    words = ("train", "8", "--ranker", "rank-svm", "--valid", "valid", "--param", "C=0.001,0.01")
    assert command(*words, "--out", tmp_path / "one.ordino") == 0
    assert command(*words, "--out", tmp_path / "two.ordino", "--cluster", cluster.address) == 0
    one, two = (ordino.load(tmp_path / f"{name}.ordino") for name in ("one", "two"))
    assert one.coef_.tobytes() == two.coef_.tobytes()
    said = [re.findall(r"train\s+│?\s*(0\.\d+)", part) for part in [capsys.readouterr().out]]
    assert said[0][0] == said[0][1]


def test_a_cluster_trains_on_shards_and_has_an_address(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    data = synthetic("mq", queries=6, seed=1)
    write_shards(data, "shards", 2)
    ordino.write_letor(data, "all.txt")
    for words, code, sentence in (
        (("all.txt", "--cluster", "auto"), 2, "a cluster works on shards, and all.txt is a file"),
        (("shards", "--cluster", "127.0.0.1:9"), 1, "--cluster 127.0.0.1:9: nobody answers there"),
        (("shards", "--cluster", "here"), 1, "an address is HOST:PORT, or auto for the cluster of this machine"),
    ):
        assert command("train", *words, "--ranker", "rank-svm", "--out", "m.ordino") == code
        said = " ".join(capsys.readouterr().err.replace("│", " ").split())
        assert sentence in said
        assert "Traceback" not in said
    assert not (tmp_path / "m.ordino").exists()


def test_training_without_ray_says_what_to_install(monkeypatch, tmp_path):
    write_shards(synthetic("mq", queries=6, seed=1), tmp_path / "s", 2)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"needs ray; install it with: pip install 'ordino\[cluster\]'"):
        ordino.RankSVM().fit(ShardedDataset(tmp_path / "s", cluster="auto"))
