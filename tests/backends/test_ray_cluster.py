"""The same tasks on Ray: two machines made here, one of which is killed; results equal the local run's bit by bit."""

import socket
import sqlite3
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from ordino import RankSVM, save, synthetic, write_shards
from ordino.backends import ray_cluster
from ordino.backends.seam import Failure
from ordino.errors import MissingExtraError, OrdinoError
from ordino.experiment.plan import Plan
from ordino.experiment.run import run
from ordino.sharded import evaluate_shards, rank_shards
from shell import ordino as command

STORE = 150_000_000  # bytes of the object store of a machine


def plan(repeats=2, folds=3, rankers=("rank-svm", "ranknet")):
    data = {"mq": synthetic("mq", queries=24, seed=1)}
    brief = {"ranknet": {"epochs": 3}, "rankde": {"generations": 40}}
    entries = [{"ranker": name, "params": brief.get(name, {})} for name in rankers]
    return Plan(data=data, rankers=entries, measures=["ndcg@10", "map"], repeats=repeats, folds=folds)


def values(trials):
    return {trial.key: (trial.seed, {name: found.tobytes() for name, found in trial.per_query.items()}, trial.valid)
            for trial in trials}  # fmt: skip


@pytest.mark.slow
def test_a_killed_machine_loses_nothing_and_changes_no_bit(cluster, tmp_path):
    wanted = plan(repeats=14, rankers=("rankde",))
    here = run(wanted, tmp_path / "here.sqlite", n_jobs=1)
    doomed = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    killed = []

    def kill_when_some_are_done():
        while n_trials(tmp_path / "there.sqlite") < 5:
            time.sleep(0.05)
        cluster.remove_node(doomed, allow_graceful=False)
        killed.append(n_trials(tmp_path / "there.sqlite"))

    killer = threading.Thread(target=kill_when_some_are_done)
    killer.start()
    there = run(wanted, tmp_path / "there.sqlite", cluster=cluster.address)
    killer.join()
    assert killed[0] < 42, "all was done before the machine died"
    assert len(here) == len(there) == 42
    assert values(here) == values(there)


def n_trials(store):
    """The number of trials in a store that may not be there yet."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as opened, opened:
            return opened.execute("SELECT count(*) FROM trials").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.slow
def test_files_reach_machines_that_do_not_see_them(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(ray_cluster, "_sees", lambda _: False)
    monkeypatch.setattr(ray_cluster, "_work", _work_without_files)
    wanted = plan(repeats=1, rankers=("rank-svm",))
    there = run(wanted, tmp_path / "there.sqlite", cluster=cluster.address)
    assert values(there) == values(run(wanted, tmp_path / "here.sqlite", n_jobs=1))


def _work_without_files(function, task, files, job):
    """As on a machine that has no file of the driver's."""
    assert files, "nothing was sent"
    elsewhere = {Path("/nowhere") / path.name: one for path, one in files.items()}
    from dataclasses import replace

    moved = replace(task, files={part: Path("/nowhere") / Path(path).name for part, path in task.files.items()})
    here = ray_cluster.with_files_here(moved, elsewhere, job)
    assert all(str(path).startswith(str(ray_cluster._folder(job))) for path in here.files.values())
    return ray_cluster.attempt(function, here)


@pytest.mark.slow
def test_shards_are_ranked_and_measured_as_at_home(cluster, tmp_path):
    data = synthetic("mq", queries=20, seed=1)
    save(RankSVM().fit(data), tmp_path / "model.ordino")
    shards = write_shards(data, tmp_path / "shards", 4)
    here = evaluate_shards(tmp_path / "model.ordino", shards, ["map"], n_jobs=1)
    there = evaluate_shards(tmp_path / "model.ordino", shards, ["map"], cluster=cluster.address)
    assert here["map"] == there["map"]
    for name, how in (("here", {"n_jobs": 1}), ("there", {"cluster": cluster.address})):
        rank_shards(tmp_path / "model.ordino", shards, tmp_path / name, **how)
    for file in (tmp_path / "here").iterdir():
        assert file.read_bytes() == (tmp_path / "there" / file.name).read_bytes()


@pytest.mark.slow
def test_a_failure_names_the_machine(cluster, tmp_path, monkeypatch):
    backend = ray_cluster.RayCluster(cluster.address)
    try:
        [(number, found)] = backend.map(_fails, ["a task"])
    finally:
        backend.close()
    assert number == 0
    assert found == Failure(f"a task: ValueError: no (on {socket.gethostname()})")


def _fails(_):
    raise ValueError("no")


@pytest.mark.slow
def test_other_versions_are_refused_before_anything_runs(cluster, monkeypatch, tmp_path):
    monkeypatch.setattr(ray_cluster, "_versions", _older_here)
    with pytest.raises(OrdinoError, match=r"has ordino .* there, 0\.0 here; results would not be the same: install"):
        run(plan(), tmp_path / "x.sqlite", cluster=cluster.address)


def _older_here():
    found = {"python": "3", "ordino": "1.0"}
    return (
        found | {"ordino": "0.0"} if threading.current_thread() is threading.main_thread() and not _in_ray() else found
    )


def _in_ray():
    import ray

    return ray.get_runtime_context().worker.mode == ray.WORKER_MODE


def test_nobody_at_the_address_is_one_sentence(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("ray")
    from ordino import write_letor

    write_letor(synthetic("mq", queries=6, seed=1), "all.txt")
    begin = time.monotonic()
    assert command("bench", "all.txt", "--rankers", "rank-svm", "--folds", "3", "--cluster", "127.0.0.1:9") == 1
    assert time.monotonic() - begin < 60
    said = capsys.readouterr().err
    assert "--cluster 127.0.0.1:9: nobody answers there" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("address", ["here", "here:there"])
def test_an_address_has_a_port(address, tmp_path):
    pytest.importorskip("ray")
    with pytest.raises(OrdinoError, match="an address is HOST:PORT, or auto for the cluster of this machine"):
        run(plan(), tmp_path / "x.sqlite", cluster=address)


def test_without_ray_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        MissingExtraError, match=r"--cluster auto needs ray; install it with: pip install 'ordino\[cluster\]'"
    ):
        run(plan(), tmp_path / "x.sqlite", cluster="auto")
