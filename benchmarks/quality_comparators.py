"""Rankers that compare: SortNet and DeepNet on real folds, and SortNet's choice of pairs.

Reads the folder named by ORDINO_DATA. On MQ2008 and MQ2007: five official folds, profile directranker, several seeds;
setting, epoch and iteration are chosen on the validation part, test parts are only measured. The last part needs no
files: on the synthetic collection `td`, SortNet against the same comparators trained on as many random pairs. Figures
are kept in the JSON file --store, fold by fold, so that parts can run one by one and a run that was cut off goes on.
Rows of the page --out that were not run again stay as they are.

    ORDINO_DATA=folds python benchmarks/quality_comparators.py --store figures.json --out docs/results/comparators.md
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ordino.data.dataset import Dataset
from ordino.data.folds import read_folds
from ordino.data.synthetic import synthetic
from ordino.metrics import evaluate
from ordino.networks.comparing import Comparator
from ordino.rankers.deepnet import DeepNet
from ordino.rankers.sortnet import SortNet

PROFILE = "directranker"
METRICS = ("ndcg@10", "map")
BEST: dict[str, Any] = {
    "hidden": 40,
    "dropout": 0.5,
    "learning_rate": 5e-3,
    "epochs": 15,
    "batch": 2000,
    "scaling": "zscore",
    "profile": PROFILE,
}
GRID: dict[str, list[Comparator]] = {
    "DeepNet": [DeepNet(profile=PROFILE)],
    "SortNet": [SortNet(**BEST, max_iter=8)],
}
PARTS = {"deepnet": ["DeepNet"], "sortnet": ["SortNet"]}
TD: dict[str, Any] = {"hidden": 20, "max_iter": 8, "epochs": 25, "batch": 500, "metric": "map"}
Scores = NDArray[np.float64]
Figures = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="first fold, two seeds")
    parser.add_argument("--parts", default=",".join([*PARTS, "td"]), help="separated by commas")
    parser.add_argument("--sets", default="MQ2008,MQ2007")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--store", type=Path, help="keep the figures in this file, and go on from it")
    parser.add_argument("--out", type=Path, help="write the tables to this file")
    args = parser.parse_args()
    seeds = 2 if args.quick else args.seeds
    store: Figures = json.loads(args.store.read_text()) if args.store and args.store.exists() else {}

    def keep(key: str, make: Callable[[], Any]) -> None:
        if key not in store:
            start = time.perf_counter()
            store[key] = make()
            print(
                f"{key}: {np.mean(store[key], axis=0).round(4)}, {time.perf_counter() - start:.0f} s", file=sys.stderr
            )
            if args.store is not None:
                args.store.write_text(json.dumps(store, indent=1))

    parts = args.parts.split(",")
    for collection in args.sets.split(","):
        names = [name for part in parts for name in PARTS.get(part, [])]
        for fold in folds_of(collection, 1 if args.quick else 5) if names else ():
            for name in names:
                measure_fold(collection, fold, name, seeds, keep)
    if "td" in parts:
        for seed in range(1, seeds + 1):  # set 0 was looked at while TD was settled
            keep(f"td|{seed}", partial(incremental_or_random, seed))
    lines = report(store, args.out.read_text().splitlines() if args.out and args.out.exists() else [])
    print("\n".join(lines))
    if args.out is not None:
        args.out.write_text("\n".join(lines) + "\n")


def folds_of(collection: str, most: int) -> Iterator[Any]:
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        sys.exit("ORDINO_DATA names no folder; it must hold MQ2007 and MQ2008")
    yield from list(read_folds(Path(folder) / collection))[:most]


def measure_fold(
    collection: str, fold: Any, name: str, seeds: int, keep: Callable[[str, Callable[[], Any]], None]
) -> None:
    """Test figures of each seed, in the setting that is best on validation data over all seeds."""

    def learned() -> list[list[float]]:
        best, chosen = -np.inf, []
        for setting in GRID[name]:
            rankers = [
                clone(setting).set_params(seed=100 * seed).fit(fold.train, valid=fold.valid) for seed in range(seeds)
            ]
            quality = float(np.mean([measured(fold.valid, ranker.predict(fold.valid))[0] for ranker in rankers]))
            if quality > best:
                best, chosen = quality, rankers
        return [measured(fold.test, ranker.predict(fold.test)) for ranker in chosen]

    keep(f"{collection}|{fold.name}|{name}", learned)


def measured(data: Dataset, scores: Scores) -> list[float]:
    result = evaluate(data, scores, metrics=METRICS, profile=PROFILE)
    return [result[name] for name in METRICS]


def incremental_or_random(seed: int) -> list[list[float]]:
    """Test figures of SortNet, and of the best of as many comparators trained on as many random pairs each.

    The control has all that SortNet has (iterations, new weights, training, choice by validation) but its choice of
    pairs: iteration by iteration it draws as many pairs of different labels as SortNet knew.
    """
    train, valid, test = synthetic("td", seed=seed).split(0.6, 0.2, seed=seed)
    sortnet = SortNet(**TD, profile=PROFILE, seed=100 * seed).fit(train, valid=valid)
    settings = {name: value for name, value in sortnet.get_params().items() if name in DeepNet().get_params()}
    best, chosen = -np.inf, None
    for row in sortnet.history_[1:]:
        control = DeepNet(**settings, select="pairs").set_params(
            n_pairs=row["train_known"], n_valid_pairs=row["valid_known"], seed=100 * seed + int(row["iteration"]) - 1
        )
        quality = control.fit(train, valid=valid).score(valid)
        if quality > best:
            best, chosen = quality, control
    assert chosen is not None
    known = float(sortnet.history_[-1]["train_known"])
    return [[*measured(test, ranker.predict(test)), known] for ranker in (sortnet, chosen)]


def report(store: Figures, before: list[str]) -> list[str]:
    """The page; what the store does not have stays as it was before."""
    lines = ["# Comparators: SortNet and DeepNet", ""]
    lines += [f"{date.today().isoformat()}, Python {platform.python_version()}, numpy {np.__version__}. Made by", ""]
    lines[-2] += (
        " `benchmarks/quality_comparators.py`, whose first lines say how. Means over folds ± deviation of seeds."
    )
    lines += [
        "DeepNet has its defaults, SortNet the settings in BEST, the same in all folds. They were found on validation",
        "parts of several folds, which are test parts of other folds: the rows flatter a little. Only the epoch and",
        "the iteration are chosen fold by fold.",
        "",
    ]
    for collection in ("MQ2008", "MQ2007"):
        earlier = section(before, collection)
        names = dict.fromkeys(key.split("|")[2] for key in store if key.startswith(collection))
        runs = {
            name: np.mean([value for key, value in store.items() if key.split("|")[::2] == [collection, name]], axis=0)
            for name in names
        }
        n_folds = len({key.split("|")[1] for key in store if key.startswith(collection)})
        if runs:
            lines += [
                f"## {collection}, folds: {n_folds}",
                "",
                "| ranker | NDCG@10 | MAP | seeds |",
                "|---|---|---|---|",
            ]
        for name, run in runs.items():
            cells = [f"{m:.4f} ± {s:.4f}" for m, s in zip(run.mean(0), run.std(0), strict=True)]
            lines.append(f"| {name} | {' | '.join(cells)} | {len(run)} |")
        rows = [line for line in earlier[4:] if line.startswith("| ") and line.split(" | ")[0][2:] not in runs]
        lines += [*rows, ""] if runs else earlier
    td = np.array([value for key, value in store.items() if key.startswith("td|")])  # (n_seeds, 2, 3)
    if len(td):
        lines += [f"## td (synthetic), {len(td)} sets of 30 + 10 + 10 queries", ""]
        lines += ["| pairs | NDCG@10 | MAP | pairs at the end |", "|---|---|---|---|"]
        for name, of_sets in zip(("mis-compared (SortNet)", "as many at random"), td.swapaxes(0, 1), strict=True):
            ndcg, mean_ap, known = of_sets.mean(0)
            lines.append(f"| {name} | {ndcg:.4f} | {mean_ap:.4f} | {known:,.0f} |")
        ahead = (td[:, 0, :2] > td[:, 1, :2]).sum(0)
        lines += ["", f"SortNet is ahead in {ahead[0]} (NDCG@10) and {ahead[1]} (MAP) of {len(td)} sets.", ""]
    return lines if len(td) else [*lines, *section(before, "td")]


def section(page: list[str], name: str) -> list[str]:
    """The lines of a page from the heading that begins with this name up to the next; none if there is no such."""
    begin = next((i for i, line in enumerate(page) if line.startswith(f"## {name}")), len(page))
    end = next((i for i, line in enumerate(page) if i > begin and line.startswith("## ")), len(page))
    return page[begin:end]


if __name__ == "__main__":
    main()
