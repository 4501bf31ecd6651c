"""Past the memory: peak memory and speed of learning and ranking from shards against the same in memory.

Every case runs in a process of its own, whose peak of resident memory the system tells. The data has the shape of
MSLR-WEB10K and is made anew, shard by shard, in the place for temporary files. Ratios are of processor time, reading
the data included. With ``--cluster``, two machines are made on this one by Ray: trials of a second each are run by a
pool of processes and by the cluster, and one training is divided over one worker and over two. With ``--record``,
docs/scale.md gets the figures, and what follows from them for 100 machines and ten billion rows. LambdaMART's trees are
also made by LightGBM alone (bare_lightgbm.py). With ``--only``, one case is run, and its line of the page written.
``python benchmarks/bench_scale.py [--gigabytes 0.3] [--only lambda-mart] [--shards FOLDER] [--cluster] [--record]``
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
from typing import Any, NamedTuple

import numpy as np

from bare_lightgbm import hash_of_trees, peak_memory

BYTES_A_QUERY = 120 * 136 * 4
SHARD = 128e6  # bytes of features in a shard
LEARNERS: dict[str, dict[str, Any]] = {
    "ranknet": {"epochs": 1}, "rank-svm": {"max_iter": 5}, "rankde": {"generations": 2},
    "linear-regression-ranker": {}, "lambda-mart": {"rounds": 5, "leaves": 15, "learning_rate": 0.05},
}  # fmt: skip
DIVIDED: dict[str, dict[str, Any]] = {
    "rank-svm": {"scaling": "zscore"}, "rankde": {"generations": 50}, "ranknet": {"epochs": 20, "batch": None},
}  # fmt: skip
DIVIDED_QUERIES, CALLS = 3000, 500
ROWS, MACHINES, CORES, NETWORK = 1e10, 100, 16, 1.25e9  # of the arithmetic; bytes a second
MOST_OVERHEAD, LEAST_GAIN = 1.1, 1.7  # of Ray over a pool of processes; of two workers over one
MARK = "What follows from them is arithmetic, not a measurement."
BASE, LEEWAY = 1.0e9, 1.2  # bytes beside one shard; how much longer ranking may take than in memory
BARE = "LightGBM alone, for the trees of lambda-mart"


def case(what: str, folder: Path, place: str) -> None:
    """Learn or rank, from memory or from shards."""
    import ordino
    from ordino.rankers import make_ranker
    from ordino.sharded import rank_shards

    begin, trees = time.process_time(), ""
    shards = ordino.ShardedDataset((folder / "shards").resolve())
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
        trees = hash_of_trees(getattr(ranker, "model_", ""))
    seconds = time.process_time() - begin
    print(json.dumps({"seconds": seconds, "peak": peak_memory(), "trees": trees}))


def in_a_process(*words: str) -> dict[str, Any]:
    """What a script said last."""
    done = subprocess.run([sys.executable, *words], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def lightgbm_alone(shards: Any, trees: str) -> tuple[str, float, None, None]:
    """The peak of LightGBM without Ordino, which must grow the same trees."""
    with tempfile.TemporaryDirectory() as name:
        folder, labels, counts = Path(name), [], []
        with (folder / "rows.f32").open("wb") as file:
            for part in shards.parts():
                file.write(np.ascontiguousarray(part.X).data)
                labels.append(part.y.astype(np.float32))
                counts.append(part.counts.astype(np.int32))
        np.save(folder / "labels.npy", np.concatenate(labels))
        np.save(folder / "counts.npy", np.concatenate(counts))
        script = Path(__file__).with_name("bare_lightgbm.py")
        found = in_a_process(str(script), name, str(LEARNERS["lambda-mart"]["rounds"]))
    if found["trees"] != trees:
        raise SystemExit("LightGBM alone grows other trees than LambdaMART, so that its peak says nothing")
    print(f"{BARE}: peak {found['peak'] / 1e9:.2f} GB; the same trees")
    return BARE, found["peak"], None, None


Line = tuple[str, float, float | None, float | None]
"""A case, its peak from shards and in memory, and processor time, shards / memory."""


class OnRay(NamedTuple):
    """What was measured on two machines of Ray with one processor each."""

    overhead: float  # of trials over a pool of two processes
    gain: float  # of trials from one process to two machines
    call: float  # seconds of the driver for a call of one worker that does nothing
    trained: dict[str, tuple[float, float]]  # seconds of learning with one worker, and with two
    rows: int  # that were learned from


def on_ray() -> OnRay:
    """Two machines of Ray: trials, and one training that is divided."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    try:
        overhead, gain = bookkeeping(made.address)
        return OnRay(overhead, gain, *training(made.address))
    finally:
        made.shutdown()  # type: ignore[no-untyped-call]


def training(address: str) -> tuple[float, dict[str, tuple[float, float]], int]:
    """Learn from one shard, which is one worker's, and from two; what a call costs the driver."""
    import ordino
    from ordino.backends import open_crew
    from ordino.rankers import make_ranker

    with open_crew(address, 2) as crew:
        crew.each(nothing)
        begin = time.perf_counter()
        for _ in range(CALLS):
            crew.each(nothing)
        call = (time.perf_counter() - begin) / CALLS / len(crew)
    data = ordino.synthetic("mslr", queries=DIVIDED_QUERIES, seed=2)
    found: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for n_shards in (1, 2):
            ordino.write_shards(data, Path(folder) / str(n_shards), n_shards)
        for name, params in DIVIDED.items():
            seconds = []
            for n_shards in (1, 2):
                shards = ordino.ShardedDataset(Path(folder) / str(n_shards), cluster=address)
                begin = time.perf_counter()
                make_ranker(name, params).fit(shards)
                seconds.append(time.perf_counter() - begin)
            found[name] = seconds[0], seconds[1]
            print(f"{name} divided: 1 worker {seconds[0]:.1f} s, 2 workers {seconds[1]:.1f} s")
    print(f"a call of a worker: {1000 * call:.2f} ms of the driver")
    return call, found, data.n_docs


def nothing(_: object) -> None:
    """A call that does nothing."""


def bookkeeping(address: str) -> tuple[float, float]:
    """Trials of a second: one process, two processes, and a Ray cluster of two machines with one processor each."""
    from ordino.backends import open_backend
    from ordino.backends.seam import Backend

    def clock(backend: Backend) -> float:
        list(backend.map(spin, [0.01] * 4))  # workers start
        begin = time.perf_counter()
        list(backend.map(spin, [1.0] * 16))
        seconds = time.perf_counter() - begin
        backend.close()
        return seconds

    one, two, ray = clock(open_backend(1)), clock(open_backend(2)), clock(open_backend(2, address))
    print(f"16 trials of a second: 1 process {one:.1f} s, 2 processes {two:.1f} s, 2 machines of Ray {ray:.1f} s")
    print(f"Ray over the pool: {ray / two:.2f} (at most 1.10); from 1 to 2 workers: {one / ray:.2f} (at least 1.7)")
    return ray / two, one / ray


def settings(name: str) -> str:
    """The settings of a divided training, as one reads them."""
    return ", ".join(f"`{key}={value}`" for key, value in DIVIDED[name].items())


def one_training(ray: OnRay) -> list[str]:
    """What one training on all rows would cost the machines and the driver, by arithmetic."""
    from ordino.evolve.fitness import QUERIES
    from ordino.reduction import BLOCK, GROUP

    workers = MACHINES * CORES
    queries = ROWS / 120
    calls = workers * ray.call
    loose = 2 * (GROUP - 1) + ROWS / BLOCK / workers / GROUP  # rows of sums that a worker sends
    svm = workers * loose * 136 * 8
    de = workers * (2 * (QUERIES - 1) + queries / workers / QUERIES) * 50 * 8
    return [
        f"One training that is divided over {workers:,} workers costs the driver {1000 * ray.call:.2f} ms for each "
        f"call of a worker (measured), so {calls:.1f} s for a step of all of them. For a step of RankSVM it also gets "
        f"{svm / 1e6:,.0f} MB of sums, {svm / NETWORK:.1f} s over 10 Gbit/s; for a generation of RankDE with 50 "
        f"individuals {de / 1e9:.1f} GB, {de / NETWORK:.1f} s. It keeps two numbers for each query, "
        f"{16 * queries / 1e9:.1f} GB. A worker has {ROWS / workers / 1e6:.1f} million rows, "
        f"{ROWS / workers * 136 * 4 / 1e9:.1f} GB on its disk. **The first bottleneck of a divided training is the "
        "driver**, as soon as the workers need less time for their rows than these seconds: use fewer workers with "
        "more rows each; if that is not enough, workers of one machine should add up their sums before they are sent. "
        "Networks with small batches gain nothing from more workers, since one step waits for the other; "
        "`batch=None` or batches of thousands of queries do.",
    ]


def spin(seconds: float) -> float:
    """Keep a processor busy, by its own clock."""
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        pass
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=0.3)
    parser.add_argument("--only", choices=list(LEARNERS))
    parser.add_argument("--shards", type=Path, help="shards that were made before")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        case(options.case[0], Path(options.case[1]), options.case[2])
        return
    from ordino.cli.shards import synthetic_parts
    from ordino.data.shards import ShardedDataset, write_shards

    fine, lines = True, list[Line]()
    with tempfile.TemporaryDirectory() as name:
        folder, n_queries = Path(name), int(options.gigabytes * 1e9 / BYTES_A_QUERY)
        n_shards = max(2, round(options.gigabytes * 1e9 / SHARD))
        if options.shards is None:
            shards = write_shards(synthetic_parts("mslr", n_queries, 1), folder / "shards", n_shards)
        else:
            (folder / "shards").symlink_to(options.shards.resolve())
            shards = ShardedDataset(options.shards)
            n_shards = len(shards)
        size = shards.n_docs * shards.n_features * 4
        print(f"{shards}: {size / 1e9:.2f} GB of features")
        allowed = BASE + size / n_shards
        for what in (*LEARNERS, "rank") if options.only is None else (options.only,):
            memory, disk = (in_a_process(__file__, "--case", what, name, place) for place in ("memory", "shards"))
            ratio = disk["seconds"] / memory["seconds"]
            print(
                f"{what}: peak {disk['peak'] / 1e9:.2f} GB from shards (at most {allowed / 1e9:.2f}), "
                f"{memory['peak'] / 1e9:.2f} GB in memory; processor time {ratio:.2f} times that in memory"
            )
            fine &= disk["peak"] <= allowed and (what != "rank" or ratio <= LEEWAY)
            lines.append((what, disk["peak"], memory["peak"], ratio))
            if what == "lambda-mart":
                lines.append(lightgbm_alone(shards, disk["trees"]))
            speed = shards.n_docs / disk["seconds"]  # of the last one, which is ranking
        on_disk = sum(file.stat().st_size for file in shards.files) / shards.n_docs
    ray = on_ray() if options.cluster else None
    if ray is not None:
        fine &= ray.overhead <= MOST_OVERHEAD and ray.gain >= LEAST_GAIN
    if options.record and options.only is not None:
        record_lines(f"with {size / 1e9:.1f} GB of features in {n_shards} shards", lines)
    elif options.record:
        record(size / 1e9, n_shards, lines, speed, on_disk, ray)
    sys.exit(0 if fine else 1)


def row(what: str, shards: float, memory: float | None, ratio: float | None) -> str:
    """A line of the table."""
    others = " | |" if memory is None else f" {memory / 1e9:.2f} GB | {ratio:.2f} |"
    return f"| {what} | {shards / 1e9:.2f} GB |{others}"


def record_lines(measured: str, lines: list[Line]) -> None:
    """Write some lines of the table anew; the page must have been written with the same data."""
    page = Path(__file__).parents[1] / "docs" / "scale.md"
    text = page.read_text(encoding="utf-8")
    if measured not in text:
        raise SystemExit(f"docs/scale.md has no figures {measured}; leave out --only")
    new = {line[0]: row(*line) for line in lines}
    kept: list[str] = []
    for old in text.splitlines():
        name = old.split(" | ")[0].removeprefix("| ")
        kept += new.values() if name == lines[0][0] else [] if name in new else [old]
    page.write_text("\n".join(kept) + "\n", encoding="utf-8")


def record(
    size: float, n_shards: int, lines: list[Line], speed: float, on_disk: float,
    ray: OnRay | None,
) -> None:  # fmt: skip
    """Write the figures, and what follows from them, into the page."""
    rows, machines, cores = ROWS, MACHINES, CORES
    hours = rows / speed / 3600
    reading = rows * on_disk / machines / NETWORK
    text = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d} with {size:.1f} GB of features in {n_shards} shards:",
        "",
        "| | peak from shards | peak in memory | processor time, shards / memory |",
        "|---|---:|---:|---:|",
        *(row(*line) for line in lines),
        "",
    ]
    if ray is not None:
        text += [
            f"16 trials of a second on two machines of Ray take {ray.overhead:.2f} times what two local processes "
            f"take, and are {ray.gain:.2f} times as fast as one. One training on {ray.rows:,} rows, divided, in "
            "seconds of the clock, with reading and the start of the workers:",
            "",
            "| | 1 worker | 2 workers |",
            "|---|---:|---:|",
            *(f"| {name} {settings(name)} | {one:.1f} | {two:.1f} |" for name, (one, two) in ray.trained.items()),
            "",
        ]
    text += [
        f"One core ranks {speed:,.0f} documents of 136 features a second from shards of {on_disk:.0f} bytes a document "
        "(a linear model, reading, checking and writing included).",
        f"So ten billion rows are {hours:,.0f} hours of one core, or {3600 * hours / machines / cores:,.0f} seconds of "
        f"{machines} machines with {cores} cores. Their {rows * on_disk / 1e12:.1f} TB are {reading:.0f} seconds of "
        "reading over 10 Gbit/s for each machine, side by side with the scoring. One shared disk that gives 1 GB/s "
        f"would need {rows * on_disk / 1e9 / 3600:.1f} hours: **the first bottleneck is the disk that all machines "
        "read from**, so put shards on the machines that score them, or on object storage. The driver handles one "
        "short record for "
        f"each shard, {rows * 136 * 4 / SHARD:,.0f} of {SHARD / 1e6:.0f} MB, and is idle.",
    ]
    if ray is not None:
        text += ["", *one_training(ray)]
    page = Path(__file__).parents[1] / "docs" / "scale.md"
    head, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
    page.write_text(f"{head}{mark}\n\n" + "\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
