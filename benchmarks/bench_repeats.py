"""Repeats are a batch: five networks of one shape trained together, and one by one, in processor time.

In turns inside one process, the least of several; on data of MQ2008's shape, the networks as the papers have them. Then
thirty of DeepNet's tuned network against one, by the clock: those on both processors, this one with both to itself; on
the first fold of MQ2008 too, if ORDINO_DATA names its folder. Repeats draw pairs, masks and first weights of their own,
so they share the order and scaling of the data, but no arithmetic of training: the bound is thirty times the processor
time of one on one thread, spread over all processors. How much processor time they take against that says what it costs
to train together, also on a busy machine; the clock says it only on an idle one, so the load is told. With
``--before``, the src folder of commit b0134f3, one fit of that version stands beside it: the ten times were asked for
when one took that long.

    ORDINO_DATA=folds python benchmarks/bench_repeats.py [--before FOLDER] [--record]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from history import record
from ordino.data.dataset import Dataset
from ordino.data.folds import read_folds
from ordino.data.synthetic import synthetic
from ordino.ranker import Ranker
from ordino.rankers.deepnet import DeepNet
from ordino.rankers.ranknet import RankNet
from written import add_record, written

SEEDS = range(5)
THIRTY = 30
MADE = "MQ2008's shape"
QUERIES = 628
EARLIER = """
import sys, time
from ordino import DeepNet, synthetic
train, valid = synthetic("mq", queries={queries}, seed=0).split(0.75)
times = []
for epochs in [2, *[{epochs}] * {rounds}]:
    start = time.perf_counter()
    DeepNet.as_published(epochs=epochs).fit(train, valid=valid)
    times.append(time.perf_counter() - start)
print(min(times[1:]))
"""
SHALLOW = {"hidden": 10, "activation": "sigmoid", "initializer": "unit", "dropout": 0.0}
PLAIN: dict[str, Any] = {"patience": None, "scaling": "symlog", "dropout": 0.0}
NETWORKS: dict[str, Callable[[int], Ranker]] = {
    "RankNet, 10 hidden": lambda epochs: RankNet(hidden=10, epochs=epochs, **PLAIN),
    "RankNet, 64 and 32 hidden": lambda epochs: RankNet(hidden=(64, 32), epochs=epochs, **PLAIN),
    "CmpNN, 10 hidden": lambda epochs: DeepNet.as_published(**SHALLOW, epochs=5 * epochs),
    "CmpNN, 24, 12 and 6 hidden, dropout": lambda epochs: DeepNet.as_published(
        initializer="unit", activation="sigmoid", epochs=2 * epochs
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few epochs, once")
    parser.add_argument("--before", help="src folder of commit b0134f3")
    add_record(parser)
    args = parser.parse_args()
    with written("bench_repeats", record=args.record):
        measure(*((2, 1) if args.quick else (10, 3)), args.before)


def measure(epochs: int, rounds: int, earlier: str | None) -> None:
    train, valid = synthetic("mq", queries=QUERIES, seed=0).split(0.75)
    print(f"| network | {len(SEEDS)} together, s | one by one, s | ratio |")
    print("|---|---:|---:|---:|")
    for name, make in NETWORKS.items():
        repeats(make(1), train, valid)  # compile
        times = [(repeats(make(epochs), train, valid), alone(make(epochs), train, valid)) for _ in range(rounds)]
        together, single = (min(column) for column in zip(*times, strict=True))
        record(f"repeats of {name} together against one by one", single / together)
        print(f"| {name} | {together:.2f} | {single:.2f} | {single / together:.2f} |", flush=True)
    for place, (first, second) in {MADE: (train, valid), **real_fold()}.items():
        for n_epochs in (6 * epochs, 100 * epochs):
            thirty = thirty_against_one(place, n_epochs, rounds, first, second)
            if earlier is not None and place == MADE:
                once = one_earlier(earlier, n_epochs, rounds)
                print(
                    f"one took {once:.2f} s in the version before: thirty of ours take {thirty / once:.1f} times that"
                )


def real_fold() -> dict[str, tuple[Dataset, Dataset]]:
    """The first fold of MQ2008, if it is there."""
    folder = Path(os.environ.get("ORDINO_DATA", "")) / "MQ2008"
    if "ORDINO_DATA" not in os.environ or not folder.exists():
        return {}
    fold = read_folds(folder)[0]
    assert fold.valid is not None
    return {"MQ2008, fold 1": (fold.train, fold.valid)}


def one_earlier(source: str, epochs: int, rounds: int) -> float:
    """Seconds of one fit in another version, by the clock."""
    code = EARLIER.format(queries=QUERIES, epochs=epochs, rounds=rounds)
    environment = os.environ | {"PYTHONPATH": source}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def thirty_against_one(place: str, epochs: int, rounds: int, train: Dataset, valid: Dataset) -> float:
    """Thirty repeats against one by the clock, and how few times one they could be on this machine; their seconds."""
    ranker, n_processors = DeepNet.as_published(epochs=epochs), os.cpu_count() or 1
    single = clone(ranker).set_params(n_jobs=1)
    one, busy = np.min([spent(ranker, train, valid, 1) for _ in range(rounds)], axis=0)
    _, work = np.min([spent(single, train, valid, 1) for _ in range(rounds)], axis=0)
    thirty, busy_thirty = spent(ranker, train, valid, THIRTY)
    least = THIRTY * work / n_processors
    where = "" if place == MADE else f", {place}"
    record(f"30 repeats of DeepNet's tuned network, {epochs:,} epochs{where}, against one", one / thirty)
    record(f"30 repeats of DeepNet's tuned network, {epochs:,} epochs{where}, against the bound", least / thirty)
    print(f"{place}, {THIRTY} repeats of DeepNet's tuned network, {epochs:,} epochs: {thirty:.1f} s, one: {one:.2f} s; "
          f"ratio {thirty / one:.1f} (asked: 10; load {os.getloadavg()[0]:.1f})")  # fmt: skip
    print(f"one takes {work:.2f} s of one processor alone, so the bound of {n_processors} idle processors for thirty "
          f"is {least:.1f} s, {least / one:.1f} times one; ours takes {thirty / least:.2f} times that by the clock "
          f"and {busy_thirty / n_processors / least:.2f} times in processor time "
          f"({busy / one:.2f} processors busy with one, {busy_thirty / thirty:.2f} with thirty)")  # fmt: skip
    return float(thirty)


def spent(ranker: Ranker, train: Dataset, valid: Dataset, n_repeats: int) -> tuple[float, float]:
    """Seconds for so many seeds together, by the clock and of all processors."""
    start, busy = time.perf_counter(), time.process_time()
    ranker.fit_repeats(train, range(n_repeats), valid=valid)
    return time.perf_counter() - start, time.process_time() - busy


def repeats(ranker: Ranker, train: Dataset, valid: Dataset) -> float:
    """Seconds for all seeds together."""
    start = time.process_time()
    ranker.fit_repeats(train, SEEDS, valid=valid)
    return time.process_time() - start


def alone(ranker: Ranker, train: Dataset, valid: Dataset) -> float:
    """Seconds for one seed after the other."""
    start = time.process_time()
    for seed in SEEDS:
        clone(ranker).set_params(seed=seed).fit(train, valid=valid)
    return time.process_time() - start


if __name__ == "__main__":
    main()
