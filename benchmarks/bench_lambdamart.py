"""What our contract costs LambdaMART: fit() against bare lightgbm.train with the same trees, at most 5 % more.

Both grow the same number of rounds and measure NDCG@10 on validation data after each: ours with our measure, LightGBM
with its own. Runs alternate, and the ratio is that of the fastest. Data: fold 1 of MQ2007 from the folder named by
ORDINO_DATA (an MQ2007-shaped set without it), and an MSLR-shaped sample.

python benchmarks/bench_lambdamart.py           5 runs of each
python benchmarks/bench_lambdamart.py 3         fewer
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import perf_counter

import lightgbm as lgb

from history import record
from ordino.data.dataset import Dataset
from ordino.data.folds import read_folds
from ordino.data.synthetic import synthetic
from ordino.rankers.lambdamart import LambdaMART

LIMIT = 1.05
ROUNDS = {"MQ2007": 300, "MSLR": 50}
LEAVES = {"MQ2007": 15, "MSLR": 63}


def ours(train: Dataset, valid: Dataset, rounds: int, leaves: int) -> float:
    start = perf_counter()
    LambdaMART(rounds=rounds, leaves=leaves, learning_rate=0.05, patience=rounds).fit(train, valid=valid)
    return perf_counter() - start


def bare(train: Dataset, valid: Dataset, rounds: int, leaves: int) -> float:
    params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "verbosity": -1}
    params |= {"num_leaves": leaves, "min_data_in_leaf": 50, "learning_rate": 0.05}
    start = perf_counter()
    learn, held_out = (lgb.Dataset(data.X, data.y, group=data.counts) for data in (train, valid))
    lgb.train(params, learn, rounds, valid_sets=[held_out])
    return perf_counter() - start


def collections() -> dict[str, tuple[Dataset, Dataset]]:
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        first, second = synthetic("mq2007", queries=1356).split(0.75)
    else:
        fold = read_folds(Path(folder) / "MQ2007")[0]
        assert fold.valid is not None
        first, second = fold.train, fold.valid
    train, valid = synthetic("mslr", queries=600).split(0.75)
    return {"MQ2007": (first, second), "MSLR": (train, valid)}


def main(repeats: int) -> bool:
    within = True
    for name, (train, valid) in collections().items():
        rounds, leaves = ROUNDS[name], LEAVES[name]
        ours(train, valid, 2, leaves)  # compiles the measure
        runs = [(bare(train, valid, rounds, leaves), ours(train, valid, rounds, leaves)) for _ in range(repeats)]
        plain, wrapped = (min(times) for times in zip(*runs, strict=True))
        ratio = wrapped / plain
        within &= ratio <= LIMIT
        record(f"LambdaMART against bare LightGBM, {name}", 1 / ratio)
        print(
            f"{name}: {train}, {rounds} rounds of {leaves} leaves: bare {plain:.2f} s, ours {wrapped:.2f} s, "
            f"ratio {ratio:.3f} (at most {LIMIT})",
            flush=True,
        )
    return within


if __name__ == "__main__":
    sys.exit(0 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 5) else 1)
