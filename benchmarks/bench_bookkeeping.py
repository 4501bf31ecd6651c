"""What it costs to keep a record: at most 5 % of training time, and 2 s for 100 trials of 784 queries.

First: LambdaMART and RankNet with their defaults on the first folds of MQ2008 (an MQ2008-shaped set without
ORDINO_DATA), by ordino.experiment.run into a store, against a bare loop that reads, trains, scores and measures the
same and keeps nothing. Runs alternate; the figure is the difference of the fastest, as a share of training time, all in
processor time, so that what else the machine does has no say.
Second: 100 trials with the values of 784 queries go into a new store, one transaction each, are read again and become
the terminal's table.

python benchmarks/bench_bookkeeping.py           3 runs of each, two folds
python benchmarks/bench_bookkeeping.py 5         more
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from ordino.data.folds import Folds, make_folds, read_folds
from ordino.data.synthetic import synthetic
from ordino.experiment.plan import Plan
from ordino.experiment.report import terminal
from ordino.experiment.run import run
from ordino.experiment.store import Store
from ordino.experiment.table import make_boards, read_trials
from ordino.experiment.trial import Trial
from ordino.metrics import evaluate
from ordino.rankers import ranker_class

SHARE = 0.05
SECONDS = 2.0
RANKERS = ("lambda-mart", "ranknet")
MEASURES = ("ndcg@10", "map", "p@10", "mrr")
N_TRIALS, N_QUERIES = 100, 784


def folds() -> Folds:
    folder = os.environ.get("ORDINO_DATA")
    read = make_folds(synthetic("mq2008", queries=784), 5) if folder is None else read_folds(Path(folder) / "MQ2008")
    return read[:2]


def bare() -> tuple[float, float]:
    """Seconds of everything and of training alone, without a record."""
    start, training = process_time(), 0.0
    for fold in folds():
        for name in RANKERS:
            ranker = ranker_class(name)()
            if "n_jobs" in ranker.get_params():
                ranker.set_params(n_jobs=1)
            clock = process_time()
            ranker.fit(fold.train, valid=fold.valid)
            training += process_time() - clock
            for part in (fold.valid, fold.test):
                assert part is not None
                evaluate(part, ranker.predict(part), metrics=MEASURES, threads=1)
    return process_time() - start, training


def recorded(folder: str) -> float:
    start = process_time()
    run(Plan(data={"MQ2008": folds()}, rankers=RANKERS, measures=MEASURES), f"{folder}/run {start}.sqlite", n_jobs=1)
    return process_time() - start


def stored_and_reported(folder: str) -> float:
    rng = np.random.default_rng(0)
    trial = Trial(
        key="", dataset="MQ2008", fold="", ranker="ranknet", label="", params={}, seed=0, profile="standard",
        query_ids=np.arange(N_QUERIES), history=[{"epoch": i, "error": 0.5, "valid": 0.5} for i in range(50)],
    )  # fmt: skip
    values = [{name: rng.random(N_QUERIES) for name in MEASURES} for _ in range(N_TRIALS)]
    path = Path(folder) / f"{perf_counter()}.sqlite"
    start = perf_counter()
    with Store(path) as store:
        for i, per_query in enumerate(values):
            means = {name: float(one.mean()) for name, one in per_query.items()}
            store.add(replace(trial, key=str(i), label=f"ranker {i // 10}", seed=i, test=means, per_query=per_query))
    terminal(make_boards(read_trials(path)))
    return perf_counter() - start


def main(repeats: int) -> bool:
    with TemporaryDirectory() as folder:
        bare(), recorded(folder)  # compiles
        runs = [(*bare(), recorded(folder)) for _ in range(repeats)]
        plain, training, kept = (min(times) for times in zip(*runs, strict=True))
        share = (kept - plain) / training
        print(
            f"MQ2008, {', '.join(RANKERS)}, 2 folds: training {training:.2f} s, bare loop {plain:.2f} s, "
            f"with store {kept:.2f} s: bookkeeping is {share:.1%} of training (at most {SHARE:.0%})"
        )
        seconds = min(stored_and_reported(folder) for _ in range(repeats))
        print(f"{N_TRIALS} trials x {N_QUERIES} queries stored and reported: {seconds:.2f} s (at most {SECONDS} s)")
    return share <= SHARE and seconds <= SECONDS


if __name__ == "__main__":
    sys.exit(0 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 3) else 1)
