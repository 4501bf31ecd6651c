"""How fast LETOR text is read, and in how much memory, beside scikit-learn, XGBoost and the time to look at the bytes.

    python benchmarks/bench_read_letor.py                   # 0.7 GB, as large as the training part of an MSLR fold
    python benchmarks/bench_read_letor.py --megabytes 50    # a quick look

The file has the shape of MSLR-WEB10K: 136 features (counts, ratios, idf, tf-idf moments, BM25, log likelihoods, link
counts), 110 documents a query. Every reader runs in a process of its own, which first reads a small file, so that
neither compiling nor importing counts; the time is the least of the repeats, memory what the process grew by.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from history import record
from ordino.data.dataset import Dataset
from ordino.data.letor import read_letor

Reader = Callable[[str], Any]
_LINE = 1_226  # bytes in a line, about


def mslr_like(n_docs: int, seed: int = 0) -> NDArray[np.float64]:
    """Features that look like those of MSLR-WEB10K when printed, shape ``(n_docs, 136)``."""
    rng = np.random.default_rng(seed)

    def counts(n: int, mean: float) -> NDArray[np.float64]:
        return np.floor(rng.exponential(mean, (n_docs, n)))

    def reals(n: int, mean: float) -> NDArray[np.float64]:
        return np.round(rng.exponential(mean, (n_docs, n)), 6)

    def some(values: NDArray[np.float64], share: float) -> NDArray[np.float64]:
        return np.where(rng.random(values.shape) < share, values, 0)  # anchors and urls are often empty

    columns = [
        counts(5, 1.5),  # covered query terms
        np.round(rng.integers(0, 4, (n_docs, 5)) / 3, 6),  # their share
        some(counts(5, 300), 0.7),  # stream length
        reals(5, 12),  # idf
        *(some(counts(5, mean), 0.6) for mean in (9, 3, 6)),  # term frequency: sum, min, max
        *(some(reals(5, mean), 0.6) for mean in (4, 9)),  # mean, variance
        *(some(reals(5, mean), 0.6) for mean in (0.05, 0.02, 0.03, 0.02, 0.001)),  # normalized by length
        *(some(reals(5, mean), 0.6) for mean in (60, 20, 40, 30, 300)),  # tf-idf
        counts(5, 0.7),  # boolean model
        some(reals(5, 0.4), 0.7),  # vector space model
        some(reals(5, 15), 0.7),  # BM25
        -reals(15, 12),  # language models
        counts(2, 20),  # slashes and length of the url
        some(counts(2, 40), 0.5),  # links in and out
        counts(1, 60_000),  # PageRank
        counts(2, 9_000),  # SiteRank, quality
        counts(1, 30),
        some(counts(3, 9), 0.1),  # clicks
    ]
    return np.concatenate(columns, axis=1)


def write_file(path: Path, megabytes: int) -> None:
    """Write about so many megabytes: some thousand documents again and again, under new labels and query ids."""
    n_docs, n_different, per_query = megabytes * 1_000_000 // _LINE, 22_000, 110
    documents = [
        " ".join(f"{f}:{_shown(value)}" for f, value in enumerate(values, 1))
        for values in mslr_like(n_different).tolist()
    ]
    labels = np.random.default_rng(1).choice(5, n_docs, p=[0.52, 0.32, 0.13, 0.02, 0.01]).tolist()
    with path.open("w") as file:
        file.writelines(
            f"{label} qid:{15 * (row // per_query) + 1} {documents[row % n_different]}\n"
            for row, label in enumerate(labels)
        )


def _shown(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def bytes_only(path: str) -> None:
    """The limit: bring the bytes in and count the lines, one thread."""
    subprocess.run(["wc", "-l", path], check=True, stdout=subprocess.DEVNULL)


def ordino(path: str, threads: int) -> Dataset:
    return read_letor(path, n_jobs=threads)


def sklearn(path: str) -> Any:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(path, query_id=True)


def xgboost(path: str, threads: int) -> Any:
    import xgboost

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # text input is deprecated there
        return xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads)


READERS: dict[str, Reader] = {
    "ordino, 2 threads": lambda path: ordino(path, 2),
    "ordino, 1 thread": lambda path: ordino(path, 1),
    "wc -l": bytes_only,
    "xgboost, 1 thread": lambda path: xgboost(path, 1),
    "xgboost, 2 threads": lambda path: xgboost(path, 2),
    "scikit-learn": sklearn,
}


def resident(key: str) -> int:
    """VmRSS (now) or VmHWM (the most so far) of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this benchmark measures memory where /proc/self/status tells it: on Linux")


def measure(name: str, path: str, small: str, repeats: int) -> dict[str, float]:
    """Time and memory of one reader, in this process."""
    read = READERS[name]
    cpu_started = time.process_time()
    read(small)
    first = time.process_time() - cpu_started
    before = resident("VmRSS")
    seconds, cpu_seconds = [], []
    for _ in range(repeats):
        started, cpu_started = time.perf_counter(), time.process_time()
        data = read(path)
        seconds.append(time.perf_counter() - started)
        cpu_seconds.append(time.process_time() - cpu_started)
        del data
    return {
        "first": first,
        "seconds": min(seconds),
        "cpu_seconds": min(cpu_seconds),
        "grown": resident("VmHWM") - before,
    }


def in_process(arguments: list[str], environment: dict[str, str]) -> dict[str, float] | str:
    run = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, env=environment)
    if run.returncode:
        return (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
    result: dict[str, float] = json.loads(run.stdout.strip().splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=700)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure[0], args.measure[1], args.measure[2], args.repeats)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder, "large.txt"), Path(folder, "small.txt")
        write_file(path, args.megabytes)
        write_file(small, 1)
        size = path.stat().st_size
        data = read_letor(path)
        arrays = data.X.nbytes + data.y.nbytes + data.qid.nbytes
        print(f"{size / 1e6:,.0f} MB, {data!r}, arrays of {arrays / 1e6:,.0f} MB")
        del data
        empty_cache = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder, "cache"))}
        compiled = in_process(["--measure", "ordino, 1 thread", str(small), str(small)], empty_cache)
        if isinstance(compiled, dict):
            print(f"first use after installing (compiles the kernels): {compiled['first']:.1f} s of CPU\n")
        print(
            f"{'reader':20}{'seconds':>9}{'of CPU':>8}{'MB/s':>7}{'times ordino':>14}{'memory / (arrays + file)':>26}"
        )
        best = 0.0
        for name in READERS:
            repeats = "1" if name == "scikit-learn" and size > 200e6 else str(args.repeats)
            result = in_process(["--measure", name, str(path), str(small), "--repeats", repeats], dict(os.environ))
            if isinstance(result, str):
                print(f"{name:20}left out: {result}")
                continue
            best = best or result["seconds"]
            is_child = name == "wc -l"
            cpu = "" if is_child else f"{result['cpu_seconds']:.2f}"
            memory = "" if is_child else f"{result['grown'] / (arrays + size):.2f}"
            speed, ratio = size / 1e6 / result["seconds"], result["seconds"] / best
            if ratio != 1:
                record(f"reading LETOR text against {name}", ratio)
            print(f"{name:20}{result['seconds']:9.2f}{cpu:>8}{speed:7.0f}{ratio:14.2f}{memory:>26}", flush=True)


if __name__ == "__main__":
    main()
