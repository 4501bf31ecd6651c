"""How the cost of a fit grows with the length of lists: the same rows in lists of 50 and in lists of 4,000.

Every ranker learns briefly (few epochs, rounds or generations) from 16,000 rows of 10 features, once with 320 queries
and once with 4, with a validation part of the same shape, and ranks the rows. Processor seconds of all threads, the
least of some runs taken in turns, everything compiled before; a ratio above 10 is a miss. n log n is 2.1, and as much
again where short lists have a quicker sort; a cost in the pairs of a query would be 80.

    python benchmarks/bench_lengths.py [--rankers sortnet,frank] [--repeats 3] [--record]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from functools import partial

import numpy as np

from history import record
from ordino.data.dataset import Dataset
from ordino.experiment.run.task import brief_params
from ordino.rankers import RANKERS, ranker_class
from timing import least_seconds
from written import add_record, written

ROWS, FEATURES = 16_000, 10
SHORT, LONG = 50, 4000
MOST = 10.0  # times the seconds in short lists
LEFT_OUT = ("random-ranker", "nested-ranker", "rank-aggregation", "auto")  # without a fit of their own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rankers", default=",".join(name for name in RANKERS if name not in LEFT_OUT))
    parser.add_argument("--repeats", type=int, default=3)
    add_record(parser)
    args = parser.parse_args()
    missed = []
    with written("bench_lengths", record=args.record):
        print(f"| ranker | seconds in lists of {SHORT} | in lists of {LONG:,} | times |")
        print("|---|---:|---:|---:|")
        for name in args.rankers.split(","):
            short, long = seconds(name, args.repeats)
            record(f"{name} in short lists against long ones", short / long)
            missed += [name] * (long > MOST * short)
            print(f"| {name} | {short:.3f} | {long:.3f} | {long / short:.1f} |", flush=True)
        print(f"more than {MOST:g} times: {', '.join(missed) or 'none'}")
    sys.exit(int(bool(missed)))


def seconds(name: str, repeats: int) -> tuple[float, float]:
    """Of learning and ranking in short and in long lists."""
    learn(name, lists(SHORT, 10 * SHORT))
    short, long = (partial(learn, name, lists(n_docs, ROWS)) for n_docs in (SHORT, LONG))
    times = [[least_seconds(action, 1, time.process_time) for action in (short, long)] for _ in range(repeats)]
    least = np.min(times, axis=0)
    return float(least[0]), float(least[1])


def learn(name: str, data: Dataset) -> None:
    """A short training, followed on the same data as a validation part, and a ranking."""
    ranker = ranker_class(name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker.set_params(**brief_params(ranker)).fit(data, valid=data).predict(data)


def lists(n_docs: int, rows: int) -> Dataset:
    """Rows in lists of so many documents; the label is seen through noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, FEATURES)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=rows), [1, 2])
    return Dataset(X, y, np.arange(rows) // n_docs)


if __name__ == "__main__":
    main()
