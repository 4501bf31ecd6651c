"""Past the memory: peak memory and speed of learning and ranking from shards against the same in memory.

Every case runs in a process of its own, whose peak of resident memory the system tells. The data has the shape of
MSLR-WEB10K and is made anew, shard by shard, in the place for temporary files. Ratios are of processor time, reading
the data included. With ``--cluster``, two machines are made on this one by Ray, and trials of a second each are run by
a pool of processes and by the cluster. With ``--record``, docs/scale.md gets the figures, and what follows from them
for 100 machines and ten billion rows.
``python benchmarks/bench_scale.py [--gigabytes 0.3] [--cluster] [--record]``
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BYTES_A_QUERY = 120 * 136 * 4
SHARD = 128e6  # bytes of features in a shard
LEARNERS: dict[str, dict[str, Any]] = {
    "ranknet": {"epochs": 1}, "rank-svm": {"max_iter": 5}, "rankde": {"generations": 2},
    "linear-regression-ranker": {}, "lambda-mart": {"rounds": 5},
}  # fmt: skip
MOST_OVERHEAD, LEAST_GAIN = 1.1, 1.7  # of Ray over a pool of processes; of two workers over one
MARK = "What follows from them is arithmetic, not a measurement."
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
    print(json.dumps({"seconds": seconds, "peak": peak_memory()}))


def peak_memory() -> int:
    """Bytes; the system's usage counter would count what the parent process held when it started this one."""
    [line] = [one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def in_a_process(*words: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, "--case", *words], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def bookkeeping() -> tuple[float, float]:
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
    made.shutdown()  # type: ignore[no-untyped-call]
    print(f"16 trials of a second: 1 process {one:.1f} s, 2 processes {two:.1f} s, 2 machines of Ray {ray:.1f} s")
    print(f"Ray over the pool: {ray / two:.2f} (at most 1.10); from 1 to 2 workers: {one / ray:.2f} (at least 1.7)")
    return ray / two, one / ray


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
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        case(options.case[0], Path(options.case[1]), options.case[2])
        return
    from ordino.cli.shards import synthetic_parts
    from ordino.data.shards import write_shards

    fine, lines = True, []
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
            lines.append((what, disk["peak"], memory["peak"], ratio))
            speed = shards.n_docs / disk["seconds"]  # of the last one, which is ranking
        on_disk = sum(file.stat().st_size for file in shards.files) / shards.n_docs
    if options.cluster:
        overhead, gain = bookkeeping()
        fine &= overhead <= MOST_OVERHEAD and gain >= LEAST_GAIN
    if options.record:
        record(size / 1e9, n_shards, lines, speed, on_disk, (overhead, gain) if options.cluster else None)
    sys.exit(0 if fine else 1)


def record(
    size: float, n_shards: int, lines: list[tuple[str, float, float, float]], speed: float, on_disk: float,
    cluster: tuple[float, float] | None,
) -> None:  # fmt: skip
    """Write the figures, and what follows from them, into the page."""
    rows, machines, cores, network = 1e10, 100, 16, 1.25e9
    hours = rows / speed / 3600
    reading = rows * on_disk / machines / network / 60
    text = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d} with {size:.1f} GB of features in {n_shards} shards:",
        "",
        "| | peak from shards | peak in memory | processor time, shards / memory |",
        "|---|---:|---:|---:|",
        *(f"| {what} | {a / 1e9:.2f} GB | {b / 1e9:.2f} GB | {r:.2f} |" for what, a, b, r in lines),
        "",
    ]
    if cluster is not None:
        text += [
            f"16 trials of a second on two machines of Ray take {cluster[0]:.2f} times what two local processes take, "
            f"and are {cluster[1]:.2f} times as fast as one.",
            "",
        ]
    text += [
        f"One core ranks {speed:,.0f} documents of 136 features a second from shards of {on_disk:.0f} bytes a document "
        "(a linear model, reading, checking and writing included).",
        f"So ten billion rows are {hours:,.0f} hours of one core, or {60 * hours / machines / cores:,.0f} minutes of "
        f"{machines} machines with {cores} cores. Their {rows * on_disk / 1e12:.1f} TB are {reading:.0f} minutes of "
        "reading over 10 Gbit/s for each machine, side by side with the scoring. One shared disk that gives 1 GB/s "
        f"would need {rows * on_disk / 1e9 / 3600:.1f} hours: **the first bottleneck is the disk that all machines "
        "read from**, so put shards on the machines that score them, or on object storage. The driver handles one "
        "short record for "
        f"each shard, {rows * 136 * 4 / SHARD:,.0f} of {SHARD / 1e6:.0f} MB, and is idle.",
    ]
    page = Path(__file__).parents[1] / "docs" / "scale.md"
    head, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
    page.write_text(f"{head}{mark}\n\n" + "\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
