"""Repeats are a batch: five networks of one shape trained together, and one by one, in processor time.

In turns inside one process, the least of several; on data of MQ2008's shape, the networks as the papers have them.

    python benchmarks/bench_repeats.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from sklearn.base import clone

from history import record
from ordino.data.dataset import Dataset
from ordino.data.synthetic import synthetic
from ordino.ranker import Ranker
from ordino.rankers.deepnet import DeepNet
from ordino.rankers.ranknet import RankNet

SEEDS = range(5)
SHALLOW = {"hidden": 10, "activation": "sigmoid", "initializer": "unit", "dropout": 0.0}
NETWORKS: dict[str, Callable[[int], Ranker]] = {
    "RankNet, 10 hidden": lambda epochs: RankNet(hidden=10, epochs=epochs, patience=None),
    "RankNet, 64 and 32 hidden": lambda epochs: RankNet(hidden=(64, 32), epochs=epochs, patience=None),
    "CmpNN, 10 hidden": lambda epochs: DeepNet.as_published(**SHALLOW, epochs=5 * epochs),
    "CmpNN, 24, 12 and 6 hidden, dropout": lambda epochs: DeepNet.as_published(
        initializer="unit", activation="sigmoid", epochs=2 * epochs
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few epochs, once")
    args = parser.parse_args()
    epochs, rounds = (2, 1) if args.quick else (10, 3)
    train, valid = synthetic("mq", queries=628, seed=0).split(0.75)
    print(f"| network | {len(SEEDS)} together, s | one by one, s | ratio |")
    print("|---|---:|---:|---:|")
    for name, make in NETWORKS.items():
        repeats(make(1), train, valid)  # compile
        times = [(repeats(make(epochs), train, valid), alone(make(epochs), train, valid)) for _ in range(rounds)]
        together, single = (min(column) for column in zip(*times, strict=True))
        record(f"repeats of {name} together against one by one", single / together)
        print(f"| {name} | {together:.2f} | {single:.2f} | {single / together:.2f} |", flush=True)


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
