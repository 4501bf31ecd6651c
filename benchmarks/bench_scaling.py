"""Scaling an MSLR-shaped matrix, against a copy of it (the limit), a numpy loop over queries and scikit-learn.

python benchmarks/bench_scaling.py            6,000 queries of 120 documents, 136 features
python benchmarks/bench_scaling.py 600        fewer queries
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import QuantileTransformer

from history import record
from ordino.data.dataset import Dataset
from ordino.data.scaling import SCALERS, make_scaler

DOCS, FEATURES, REPEATS = 120, 136, 3


def seconds(work: Callable[[], Any]) -> float:
    """The fastest of a few runs."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def numpy_minmax(data: Dataset) -> NDArray[np.float32]:
    """What one would write without a library."""
    out = np.empty_like(data.X)
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        x = data.X[start:stop]
        low, high = x.min(axis=0), x.max(axis=0)
        out[start:stop] = (x - low) / np.where(high > low, high - low, 1)
    return out


def numpy_zscore(data: Dataset) -> NDArray[np.float32]:
    """What one would write without a library; less exact, since numpy sums in float32."""
    out = np.empty_like(data.X)
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        x = data.X[start:stop]
        std = x.std(axis=0)
        out[start:stop] = (x - x.mean(axis=0)) / np.where(std > 0, std, 1)
    return out


def main(queries: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 500, (queries * DOCS, FEATURES)).astype(np.float32)
    data = Dataset(X, np.zeros(len(X)), np.repeat(np.arange(queries), DOCS))
    print(f"{data}, {X.nbytes / 2**20:,.0f} MiB")
    copy = seconds(data.X.copy)
    print(f"{'copy':<22}{copy:8.3f} s")
    for name in SCALERS:
        scaler = make_scaler(name).fit(data)
        scaler.transform(data.select_queries([0]))  # compiled before the clock starts
        time = seconds(lambda scaler=scaler: scaler.transform(data))  # type: ignore[misc]
        print(f"{name:<22}{time:8.3f} s {time / copy:8.1f} x copy")
    for name, loop in {"minmax": numpy_minmax, "zscore": numpy_zscore}.items():
        ours = seconds(lambda name=name: make_scaler(name).fit(data).transform(data))  # type: ignore[misc]
        theirs = seconds(lambda loop=loop: loop(data))  # type: ignore[misc]
        record(f"{name} against a loop in numpy", theirs / ours)
        print(f"{'numpy loop ' + name:<22}{theirs:8.3f} s {theirs / ours:8.1f} x ordino")
    part = data.select_queries(np.arange(max(1, queries // 20)))
    fitted = QuantileTransformer(output_distribution="normal", subsample=None).fit(part.X)
    theirs = seconds(lambda: fitted.transform(part.X))
    scaler = make_scaler("quantile").fit(part)
    ours = seconds(lambda: scaler.transform(part))
    record("quantile against scikit-learn", theirs / ours)
    print(f"{'sklearn quantile /20':<22}{theirs:8.3f} s {theirs / ours:8.1f} x ordino")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6000)
