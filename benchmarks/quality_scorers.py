"""Scoring networks on MQ2007 and MQ2008, five official folds, beside LightGBM.

Profile ``directranker`` (labels are relevant or not, queries without a relevant document are left out). A ranker's
setting and its best epoch are chosen on the validation part by NDCG@10 in the same profile; test parts are only
measured. The seeds of a network train together; ``rank sum`` adds up the ranks that the seeds give. ``bare LightGBM``
is lambdarank with early stopping, on the rows as they stand in the file; its result depends on their order, so it is
also given with rows shuffled inside their queries, once for each seed.

A line of ``--pieces`` is what one setting gave on one fold: a run that was stopped goes on where it was, and
``--minutes`` stops it.

    ORDINO_DATA=folds python benchmarks/quality_scorers.py --pieces scorers.jsonl --out docs/results/scorers.md
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, read_folds
from ordino.metrics import evaluate
from ordino.networks.scoring import ScoringNetwork
from ordino.rankers.directranker import DirectRanker
from ordino.rankers.listwise import LambdaRank
from ordino.rankers.ranknet import RankNet
from ordino.rankers.scorer import Scorer

PROFILE = "directranker"
METRICS = ("ndcg@10", "map")
NETWORK: dict[str, Any] = {
    "hidden": (100, 100),
    "dropout": 0.5,
    "l2": 0.01,
    "learning_rate": 3e-3,
    "epochs": 40,
    "patience": 10,
    "batch": 32,
    "scaling": "zscore",
    "profile": PROFILE,
}
TREES: dict[str, Any] = {
    "model": "trees",
    "rounds": 500,
    "patience": 50,
    "leaves": 15,
    "learning_rate": 0.05,
    "scaling": None,
}

Scores = NDArray[np.float64]
Runs = tuple[float, list[Scores]]  # quality on validation data, test scores of each run
Candidate = Callable[[Fold, int], Runs]
Pieces = dict[str, dict[str, Any]]


def networks(setting: ScoringNetwork, fold: Fold, n_seeds: int) -> Runs:
    fitted = setting.fit_repeats(fold.train, range(n_seeds), valid=fold.valid)
    quality = np.mean([max(row["valid"] for row in ranker.history_) for ranker in fitted])
    return float(quality), [ranker.predict(fold.test) for ranker in fitted]


def trees(setting: Scorer, fold: Fold, n_seeds: int) -> Runs:  # noqa: ARG001
    assert fold.valid is not None
    ranker = setting.fit(fold.train, valid=fold.valid)
    return ranker.score(fold.valid), [ranker.predict(fold.test)]


def bare_lightgbm(fold: Fold, seed: int | None = None) -> Scores:
    """Scores of the test part; a seed shuffles the training rows inside their queries."""
    params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [10],
        "learning_rate": 0.05,
        "verbosity": -1,
        "seed": 0,
    }

    def of(data: Dataset, order: NDArray[np.intp], reference: lgb.Dataset | None = None) -> lgb.Dataset:
        labels = (data.y[order] > 0).astype(int)
        return lgb.Dataset(data.X[order], labels, group=data.counts, reference=reference)

    train, valid = fold.train, fold.valid
    assert valid is not None
    query = np.repeat(np.arange(train.n_queries), train.counts)
    drawn = np.arange(train.n_docs) if seed is None else np.random.default_rng(seed).random(train.n_docs)
    training = of(train, np.lexsort((drawn, query)))
    stop = lgb.early_stopping(50, verbose=False)
    held_out = of(valid, np.arange(valid.n_docs), training)
    model = lgb.train(params, training, 500, valid_sets=[held_out], callbacks=[stop])
    return np.asarray(model.predict(fold.test.X), dtype=np.float64)


def bare(fold: Fold, n_seeds: int) -> Runs:  # noqa: ARG001
    return 0.0, [bare_lightgbm(fold)]


def bare_shuffled(fold: Fold, n_seeds: int) -> Runs:
    return 0.0, [bare_lightgbm(fold, seed) for seed in range(n_seeds)]


ROWS: Mapping[str, dict[str, Candidate]] = {
    "bare LightGBM": {"": bare},
    "RankNet": {"": partial(networks, RankNet(**NETWORK))},
    "DirectRanker": {tau: partial(networks, DirectRanker(**NETWORK, output=tau)) for tau in ("tanh", "half-tanh")},
    "LambdaRank": {"": partial(networks, LambdaRank(**NETWORK))},
    "network, softmax": {"": partial(networks, Scorer(loss="softmax", **NETWORK))},
    **{
        f"trees, {loss}": {"": partial(trees, Scorer(loss=loss, loss_options=options, **TREES, profile=PROFILE))}
        for loss, options in (("ranknet", {"average": "queries"}), ("lambdarank", None), ("softmax", None))
    },
    "bare LightGBM, rows shuffled": {"": bare_shuffled},
}
"""The candidates of each row of the table by what tells them apart; validation data chooses, fold by fold."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="first fold, two seeds")
    parser.add_argument("--rows", default="", help="those whose name has this in it")
    parser.add_argument("--sets", default="MQ2008,MQ2007")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=np.inf, help="start no piece after this time")
    parser.add_argument("--pieces", type=Path, help="file to keep finished pieces in, and to go on from")
    parser.add_argument("--out", type=Path, help="write the tables to this file")
    args = parser.parse_args()
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        sys.exit("ORDINO_DATA names no folder; it must hold MQ2007 and MQ2008")
    seeds = 2 if args.quick else args.seeds
    kept = args.pieces.read_text().splitlines() if args.pieces is not None and args.pieces.exists() else []
    pieces: Pieces = {key: piece for line in kept for key, piece in json.loads(line).items()}
    end = time.monotonic() + 60 * args.minutes
    names = [name for name in ROWS if args.rows in name]
    text = ["# Scoring networks on the official folds", "", f"{date.today().isoformat()}, {versions()}; {seeds} seeds."]
    text += [
        "Made by `benchmarks/quality_scorers.py`, which has the settings. Means over the official folds in profile",
        "`directranker`; ± is the standard deviation over seeds. Epochs and settings are chosen on validation parts.",
        "Bare LightGBM depends on the order of its training rows, so it is also given with rows shuffled in queries.",
        "",
    ]
    for collection in args.sets.split(","):
        folds = list(read_folds(Path(folder) / collection))[: 1 if args.quick else None]
        for name in names:
            for fold in folds:
                for number, candidate in enumerate(ROWS[name].values()):
                    key = f"{collection} {fold.name} {name} {number} {seeds}"
                    if key in pieces or time.monotonic() > end:
                        continue
                    pieces[key] = measured(candidate, fold, seeds)
                    print(key, pieces[key], file=sys.stderr, flush=True)
                    if args.pieces is not None:
                        with args.pieces.open("a") as file:
                            print(json.dumps({key: pieces[key]}), file=file)
        text += table(collection, [fold.name for fold in folds], names, seeds, pieces)
    print("\n".join(text))
    if args.out is not None:
        args.out.write_text("\n".join(text).rstrip() + "\n")


def versions() -> str:
    libraries = ", ".join(f"{library} {version(library)}" for library in ("numpy", "numba", "lightgbm"))
    return f"Python {platform.python_version()}, {libraries}"


def measured(candidate: Candidate, fold: Fold, n_seeds: int) -> dict[str, Any]:
    start = time.perf_counter()
    quality, scores = candidate(fold, n_seeds)
    seconds = time.perf_counter() - start
    together = test_values(fold.test, rank_sum(fold.test, scores)) if len(scores) > 1 else None
    return {
        "valid": quality,
        "test": [test_values(fold.test, s) for s in scores],
        "rank sum": together,
        "seconds": round(seconds, 1),
    }


def test_values(test: Dataset, scores: Scores) -> list[float]:
    result = evaluate(test, scores, metrics=METRICS, profile=PROFILE)
    return [round(result[name], 5) for name in METRICS]


def rank_sum(test: Dataset, scores: list[Scores]) -> Scores:
    total = np.zeros(test.n_docs)
    for start, stop in zip(test.offsets[:-1], test.offsets[1:], strict=True):
        for one in scores:
            total[start:stop] += rankdata(one[start:stop])
    return total


def table(collection: str, folds: list[str], names: list[str], n_seeds: int, pieces: Pieces) -> list[str]:
    lines = [
        f"## {collection}",
        "",
        "| ranker | NDCG@10 | MAP | chosen, fold by fold | seconds |",
        "|---|---|---|---|---|",
    ]
    for name in names:
        keys = [[f"{collection} {fold} {name} {i} {n_seeds}" for i in range(len(ROWS[name]))] for fold in folds]
        if not all(key in pieces for of_fold in keys for key in of_fold):
            continue  # stopped before it was done
        chosen = [max(of_fold, key=lambda key: float(pieces[key]["valid"])) for of_fold in keys]
        labels = ", ".join(list(ROWS[name])[of_fold.index(key)] for of_fold, key in zip(keys, chosen, strict=True))
        seconds = sum(pieces[key]["seconds"] for of_fold in keys for key in of_fold)
        runs = np.mean([pieces[key]["test"] for key in chosen], axis=0)  # (n_runs, n_metrics)
        lines.append(f"| {name} | {cells(runs)} | {labels.strip(', ')} | {seconds:.0f} |")
        if len(runs) > 1 and "LightGBM" not in name:
            together = np.mean([[pieces[key]["rank sum"]] for key in chosen], axis=0)
            lines.append(f"| {name}, rank sum of {len(runs)} | {cells(together)} | | |")
    return [*lines, ""]


def cells(runs: NDArray[np.float64]) -> str:
    spread = [f" ± {s:.4f}" if len(runs) > 1 else "" for s in runs.std(axis=0)]
    return " | ".join(f"{mean:.4f}{s}" for mean, s in zip(runs.mean(axis=0), spread, strict=True))


if __name__ == "__main__":
    main()
