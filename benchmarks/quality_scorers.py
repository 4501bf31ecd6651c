"""Scoring networks on the official folds of MQ2007 and MQ2008, profile directranker, several seeds.

Reads the folder named by ORDINO_DATA. For each fold and ranker, the setting (of a small grid) and the epoch are chosen
on the validation part by NDCG@10 in the same profile; test parts are only measured. The seeds of a ranker train
together. ``rank sum`` adds up the ranks that the seeds give. ``bare LightGBM`` is lambdarank with early stopping.

    ORDINO_DATA=folds python benchmarks/quality_scorers.py --out docs/results/scorers.md
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, read_folds
from ordino.metrics import evaluate
from ordino.rankers.directranker import DirectRanker
from ordino.rankers.lambdarank import LambdaRank
from ordino.rankers.listmle import ListMLE
from ordino.rankers.listnet import ListNet
from ordino.rankers.network import NetworkRanker
from ordino.rankers.rankcosine import RankCosine
from ordino.rankers.ranknet import RankNet

PROFILE = "directranker"
METRICS = ("ndcg@10", "map")
COMMON: dict[str, Any] = {
    "hidden": (100, 100),
    "dropout": 0.5,
    "epochs": 60,
    "patience": 15,
    "batch": 32,
    "profile": PROFILE,
}
GRID: dict[str, list[NetworkRanker]] = {
    "ranknet": [RankNet(**COMMON, learning_rate=rate, l2=0.01) for rate in (1e-3, 3e-3)],
    "directranker": [
        DirectRanker(**COMMON, output=output, learning_rate=1e-3, l2=0.01) for output in ("identity", "tanh")
    ],
    "lambdarank": [LambdaRank(**COMMON, learning_rate=rate, l2=0.01) for rate in (1e-3, 3e-3)],
    "listnet": [ListNet(**COMMON, learning_rate=1e-3, l2=0.01)],
    "listmle": [ListMLE(**COMMON, learning_rate=1e-3, l2=0.01)],
    "rankcosine": [RankCosine(**COMMON, learning_rate=1e-3, l2=0.01)],
}
Scores = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="first fold, two seeds")
    parser.add_argument("--rankers", default=",".join(GRID), help="separated by commas")
    parser.add_argument("--sets", default="MQ2008,MQ2007")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write the tables to this file")
    args = parser.parse_args()
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        sys.exit("ORDINO_DATA names no folder; it must hold MQ2007 and MQ2008")
    seeds = 2 if args.quick else args.seeds
    lines = [
        f"{date.today().isoformat()}, Python {platform.python_version()}, torch {torch.__version__}, {seeds} seeds",
        "",
    ]
    for collection in args.sets.split(","):
        folds = list(read_folds(Path(folder) / collection))[: 1 if args.quick else None]
        lines += table(collection, folds, args.rankers.split(","), seeds)
    print("\n".join(lines))
    if args.out is not None:
        args.out.write_text("# Scoring networks on the official folds\n\n" + "\n".join(lines) + "\n")


def table(collection: str, folds: list[Fold], names: list[str], n_seeds: int) -> list[str]:
    values: dict[str, list[NDArray[np.float64]]] = {}  # of each row: one array (n_runs, n_metrics) a fold
    seconds = dict.fromkeys(names, 0.0)
    for fold in folds:
        train, valid, test = fold.train, fold.valid, fold.test
        assert valid is not None
        for name in names:
            start = time.perf_counter()
            scores = learned(GRID[name], train, valid, test, n_seeds)
            seconds[name] += time.perf_counter() - start
            values.setdefault(name, []).append(np.array([measured(test, s) for s in scores]))
            values.setdefault(f"{name}, rank sum", []).append(np.array([measured(test, rank_sum(test, scores))]))
            print(collection, fold.name, name, values[name][-1].mean(0).round(4), file=sys.stderr, flush=True)
        values.setdefault("bare LightGBM", []).append(np.array([measured(test, bare_lightgbm(train, valid, test))]))
    rows = [f"## {collection}", "", "| ranker | NDCG@10 | MAP | seconds |", "|---|---|---|---|"]
    for name, of_folds in values.items():
        runs = np.mean(of_folds, axis=0)  # (n_runs, n_metrics), averaged over folds
        cells = [
            f"{m:.4f}" + (f" ± {s:.4f}" if len(runs) > 1 else "")
            for m, s in zip(runs.mean(0), runs.std(0), strict=True)
        ]
        rows.append(f"| {name} | {' | '.join(cells)} | {f'{seconds[name]:.0f}' if name in seconds else ''} |")
    return [*rows, ""]


def learned(grid: list[NetworkRanker], train: Dataset, valid: Dataset, test: Dataset, n_seeds: int) -> list[Scores]:
    """Test scores of each seed, in the setting that is best on validation data over all seeds."""
    best, chosen = -1.0, []
    for setting in grid:
        fitted = setting.fit_repeats(train, range(n_seeds), valid=valid)
        quality = float(np.mean([max(row["valid"] for row in ranker.history_) for ranker in fitted]))
        if quality > best:
            best, chosen = quality, fitted
    return [ranker.predict(test) for ranker in chosen]


def measured(test: Dataset, scores: Scores) -> list[float]:
    result = evaluate(test, scores, metrics=METRICS, profile=PROFILE)
    return [result[name] for name in METRICS]


def rank_sum(test: Dataset, scores: list[Scores]) -> Scores:
    total = np.zeros(test.n_docs)
    for start, stop in zip(test.offsets[:-1], test.offsets[1:], strict=True):
        for one in scores:
            total[start:stop] += rankdata(one[start:stop])
    return total


def bare_lightgbm(train: Dataset, valid: Dataset, test: Dataset) -> Scores:
    def of(data: Dataset, reference: lgb.Dataset | None = None) -> lgb.Dataset:
        return lgb.Dataset(data.X, (data.y > 0).astype(int), group=data.counts, reference=reference)

    training = of(train)
    params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [10],
        "learning_rate": 0.05,
        "verbosity": -1,
        "seed": 0,
    }
    stop = lgb.early_stopping(50, verbose=False)
    model = lgb.train(params, training, 500, valid_sets=[of(valid, training)], callbacks=[stop])
    return np.asarray(model.predict(test.X), dtype=np.float64)


if __name__ == "__main__":
    main()
