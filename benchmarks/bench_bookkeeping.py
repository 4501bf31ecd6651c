"""What it costs to keep a record: at most 5 % of training time, and 2 s for 100 trials of 784 queries.

First: LambdaMART and RankNet with their defaults on two folds of MQ2008 (of an MQ2008-shaped set without ORDINO_DATA),
by ordino.experiment.run.driver into a store. Bookkeeping is all of the run that is not reading, training, scoring or
measuring: checks, fingerprints, shared files, history, transactions. The least of some runs counts.
Second: 100 trials with the values of 784 queries go into a new store, one transaction each, are read again and become
the terminal's table.

python benchmarks/bench_bookkeeping.py           3 runs
python benchmarks/bench_bookkeeping.py 5         more
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, final
from unittest.mock import patch

import numpy as np

from history import record
from ordino.data.folds import Folds, make_folds, read_folds
from ordino.data.synthetic import synthetic
from ordino.experiment.plan import Plan
from ordino.experiment.report.board import make_boards
from ordino.experiment.report.text import terminal
from ordino.experiment.run import run
from ordino.experiment.store import Store, StoreView, Trial
from ordino.metrics import evaluate
from ordino.ranker import Ranker

SHARE = 0.05
SECONDS = 2.0
RANKERS = ("lambda-mart", "ranknet")
MEASURES = ("ndcg@10", "map", "p@10", "mrr")
N_TRIALS, N_QUERIES = 100, 784


def folds() -> Folds:
    folder = os.environ.get("ORDINO_DATA")
    read = make_folds(synthetic("mq2008", queries=784), 5) if folder is None else read_folds(Path(folder) / "MQ2008")
    return read[:2]


@final
class Clock:
    """Adds up the seconds that wrapped functions take."""

    seconds = 0.0

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, whose calls are timed."""

        def timed(*args: Any, **options: Any) -> Any:
            start = perf_counter()
            try:
                return function(*args, **options)
            finally:
                self.seconds += perf_counter() - start

        return timed


def recorded(folder: str) -> tuple[float, float]:
    """Seconds of training, and of bookkeeping, in one run."""
    read = list(folds())
    training, others = Clock(), Clock()
    with (
        patch.object(Ranker, "fit", training.wrap(Ranker.fit)),
        patch.object(Ranker, "predict", others.wrap(Ranker.predict)),
        patch("ordino.experiment.run.task.evaluate", others.wrap(evaluate)),
    ):
        plan = Plan(data={"MQ2008": Folds(["Fold1", "Fold2"], read.__getitem__)}, rankers=RANKERS, measures=MEASURES)
        start = perf_counter()
        run(plan, Path(folder) / f"{start}.sqlite", n_jobs=1)
        total = perf_counter() - start
    return training.seconds, total - training.seconds - others.seconds


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
    terminal(make_boards(StoreView(path)))
    return perf_counter() - start


def main(repeats: int) -> bool:
    with TemporaryDirectory() as folder:
        recorded(folder)  # compiles
        training, kept = min((recorded(folder) for _ in range(repeats)), key=lambda times: times[1] / times[0])
        share = kept / training
        print(
            f"MQ2008, {' and '.join(RANKERS)}, 2 folds: training {training:.2f} s, "
            f"bookkeeping {kept:.3f} s = {share:.1%} (at most {SHARE:.0%})"
        )
        record("training against bookkeeping", training / kept)
        seconds = min(stored_and_reported(folder) for _ in range(repeats))
        print(f"{N_TRIALS} trials x {N_QUERIES} queries stored and reported: {seconds:.2f} s (at most {SECONDS} s)")
    return share <= SHARE and seconds <= SECONDS


if __name__ == "__main__":
    sys.exit(0 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 3) else 1)
