"""What a loss costs in an epoch, beside the bare matrix products of the network whose scores it judges.

720,000 documents (120 a query, five labels as in MSLR), all pairs; the network is 136-64-32-1 in float32, forward and
backward. Both are measured on one thread, by the processor time of that thread, the least of several runs; the last
column is the clock's time on all threads. ``python benchmarks/bench_losses.py [--quick]``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from history import record
from ordino.losses import LOSSES, make_loss
from timing import least_seconds

LABEL_SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]


def warm_seconds(work: Callable[[], object], repeats: int, clock: Callable[[], float] = time.thread_time) -> float:
    work()
    return least_seconds(work, repeats, clock)


def matrix_products(n_docs: int, widths: tuple[int, ...] = (136, 64, 32, 1)) -> Callable[[], None]:
    """The products that forward and backward cannot do without: per layer X W, dY W', X' dY (no dX for the input)."""
    rng = np.random.default_rng(0)
    block = 60_000  # rows at a time, as mini-batches would be
    weights = [rng.normal(size=shape).astype(np.float32) for shape in pairwise(widths)]
    layers = [rng.normal(size=(block, width)).astype(np.float32) for width in widths]

    def work() -> None:
        for _ in range(n_docs // block):
            for i, matrix in enumerate(weights):
                layers[i] @ matrix
                layers[i].T @ layers[i + 1]
                if i:
                    layers[i + 1] @ matrix.T

    return work


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a tenth of the documents, fewer repeats")
    quick = options.parse_args().quick
    n_queries, n_docs = (600, 120) if quick else (6000, 120)
    repeats = 3 if quick else 7
    rng = np.random.default_rng(0)
    total = n_queries * n_docs
    y = rng.choice(5, total, p=LABEL_SHARES).astype(float)
    scores = rng.normal(size=total).astype(np.float32)
    offsets = np.arange(n_queries + 1) * n_docs
    with threadpool_limits(1):
        net = warm_seconds(matrix_products(total), repeats)
    print(f"{total:,} documents; matrix products of 136-64-32-1 on one thread: {net * 1e3:.0f} ms\n")
    print("| loss | one thread, ms | share of the matrix products | all threads, clock, ms |\n|---|---:|---:|---:|")
    for name in LOSSES:
        epoch = partial(make_loss(name).value_and_gradient, scores, y, offsets)
        one = warm_seconds(partial(epoch, n_jobs=1), repeats)
        record(f"{name} against the network's matrix products", net / one)
        every = warm_seconds(epoch, repeats, time.perf_counter)
        print(f"| {name} | {one * 1e3:.0f} | {one / net:.2f} | {every * 1e3:.0f} |")
    n_large = 6_000 if quick else 60_000
    large_y, large_scores = rng.choice(5, n_large, p=LABEL_SHARES).astype(float), rng.normal(size=n_large)
    print(f"\nOne query of {n_large:,} documents, all pairs, one thread:\n\n| loss | seconds |\n|---|---:|")
    for name in LOSSES:
        query = partial(make_loss(name).value_and_gradient, large_scores, large_y, [0, n_large])
        print(f"| {name} | {warm_seconds(query, 1):.2f} |")


if __name__ == "__main__":
    main()
