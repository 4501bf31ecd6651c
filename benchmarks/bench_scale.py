"""Past the memory: peak memory and speed of learning and ranking from shards against the same in memory.

Every case runs in a process of its own, whose peak of resident memory the system tells. The data has the shape of
MSLR-WEB10K and is made anew, shard by shard, in the place for temporary files. Ratios are of processor time, reading the
data included. With ``--cluster``, two machines are made on this one by Ray, and trials of a second each are run by a pool of
processes and by the cluster.
``python benchmarks/bench_scale.py [--gigabytes 0.3] [--cluster]``
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BYTES_A_QUERY = 120 * 136 * 4
SHARD = 128e6  # bytes of features in a shard
LEARNERS: dict[str, dict[str, Any]] = {
    "ranknet": {"epochs": 1}, "rank-svm": {"max_iter": 5}, "rankde": {"generations": 2},
    "linear-regression-ranker": {}, "lambda-mart": {"rounds": 5},
}  # fmt: skip
BASE, LEEWAY = 1.0e9, 1.2  # bytes beside one shard; how much longer ranking may take than in memory


def case(what: str, folder: Path, place: str) -> None:
    """Learn or rank, from memory or from shards."""
    import ordino
    from ordino.rankers import make_ranker
    from ordino.sharded import rank_shards

    begin = time.process_time()
    shards = ordino.ShardedDataset(folder / "shards")
    if place == "memory":
        from ordino.data.shards import concatenate

        data = concatenate(list(shards.parts()))
    if what == "rank":
        if place == "memory":
            from ordino.data.trec import write_ranked

            write_ranked(data, ordino.load(folder / "model.ordino").predict(data), str(folder / "whole.txt"))
        else:
            rank_shards(folder / "model.ordino", shards, folder / "ranked", n_jobs=1)
    else:
        ranker = make_ranker(what, LEARNERS[what]).fit(data if place == "memory" else shards)
        if what == "rank-svm" and place == "shards":
            ordino.save(ranker, folder / "model.ordino")
    seconds = time.process_time() - begin
    print(json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def in_a_process(*words: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, "--case", *words], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def bookkeeping() -> bool:
    """Trials of a second: one process, two processes, and a Ray cluster of two machines with one processor each."""
    from ray.cluster_utils import Cluster

    from ordino.backends import open_backend
    from ordino.backends.seam import Backend

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)

    def clock(backend: Backend) -> float:
        list(backend.map(spin, [0.01] * 4))  # workers start
        begin = time.perf_counter()
        list(backend.map(spin, [1.0] * 16))
        seconds = time.perf_counter() - begin
        backend.close()
        return seconds

    one, two, ray = clock(open_backend(1)), clock(open_backend(2)), clock(open_backend(2, made.address))
    made.shutdown()
    print(f"16 trials of a second: 1 process {one:.1f} s, 2 processes {two:.1f} s, 2 machines of Ray {ray:.1f} s")
    print(
        f"Ray over the pool of processes: {ray / two:.2f} (at most 1.10); from 1 to 2 workers: {one / ray:.2f} (at least 1.7)"
    )
    return ray / two <= 1.1 and one / ray >= 1.7


def spin(seconds: float) -> float:
    """Keep a processor busy, by its own clock."""
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        pass
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=0.3)
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        case(options.case[0], Path(options.case[1]), options.case[2])
        return
    from ordino.cli.shards import synthetic_parts
    from ordino.data.shards import write_shards

    fine = True
    with tempfile.TemporaryDirectory() as name:
        folder, n_queries = Path(name), int(options.gigabytes * 1e9 / BYTES_A_QUERY)
        n_shards = max(2, round(options.gigabytes * 1e9 / SHARD))
        shards = write_shards(synthetic_parts("mslr", n_queries, 1), folder / "shards", n_shards)
        size = shards.n_docs * shards.n_features * 4
        print(f"{shards}: {size / 1e9:.2f} GB of features")
        allowed = BASE + 1.5 * size / n_shards
        for what in (*LEARNERS, "rank"):
            memory, disk = (in_a_process(what, name, place) for place in ("memory", "shards"))
            ratio = disk["seconds"] / memory["seconds"]
            print(
                f"{what}: peak {disk['peak'] / 1e9:.2f} GB from shards (at most {allowed / 1e9:.2f}), "
                f"{memory['peak'] / 1e9:.2f} GB in memory; processor time {ratio:.2f} times that in memory"
            )
            fine &= disk["peak"] <= allowed and (what != "rank" or ratio <= LEEWAY)
    if options.cluster:
        fine &= bookkeeping()
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
