"""Which order should a comparator make? Quality, stability and time of every one of ORDERS.

DeepNet and SortNet learn for a few epochs, with several seeds, on MQ2008 and MQ2007 (folder ORDINO_DATA, fold 1) and on
the 50 queries of 1,000 documents of the synthetic collection `td`. Every order then ranks documents that were not
learned from (the validation parts; the last 20 queries), from several shuffled starts. NDCG@10 and MAP are means over
these starts; moved is how many of 1,000 documents change places between starts, and by how many places at most. Times
are of the processor, summed over threads, so that a busy machine changes little.

    ORDINO_DATA=folds python benchmarks/quality_order.py [--seeds 3] [--store figures.json] [--out docs/sorting.md]
    python benchmarks/quality_order.py --sets "td (synthetic)" --out docs/sorting.md

With ``--sets`` only these are measured, and the tables of the others stay on the page as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ordino.data.dataset import Dataset
from ordino.data.folds import read_folds
from ordino.data.synthetic import synthetic
from ordino.metrics import evaluate
from ordino.networks.comparing import Comparator
from ordino.order import ORDERS, SORTS, audit, order_queries, scores_from_order
from ordino.order.sorting import start_order
from ordino.rankers.deepnet import DeepNet
from ordino.rankers.sortnet import SortNet

BEGIN, END = "<!-- written by benchmarks/quality_order.py -->\n", "<!-- end of what the script writes -->\n"
SETS = ("MQ2008", "MQ2007", "td (synthetic)")
RANKERS: dict[str, Callable[[int], Comparator]] = {
    "DeepNet": lambda seed: DeepNet(epochs=8, patience=None, algorithm="merge", seed=seed),
    "SortNet": lambda seed: SortNet(epochs=8, max_iter=4, patience=None, algorithm="merge", seed=seed),
}
METRICS = ("ndcg@10", "map")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--store", type=Path, help="keep the figures in this file, and go on from it")
    parser.add_argument("--out", type=Path, help="write the tables between the marks of this page")
    args = parser.parse_args()
    store: dict[str, Any] = json.loads(args.store.read_text()) if args.store and args.store.exists() else {}

    def keep(key: str, figures: Any) -> None:
        store[key] = figures
        print(key, figures, file=sys.stderr)
        if args.store is not None:
            args.store.write_text(json.dumps(store, indent=1))

    for name in args.sets:
        learn, judge = parts_of(name)
        if f"ms|{name}" not in store:
            keep(f"ms|{name}", milliseconds(RANKERS["DeepNet"](0).set_params(epochs=1).fit(learn), judge))
        for seed in range(args.seeds):
            for ranker, make in RANKERS.items():
                if f"{name}|{ranker}|{seed}" not in store:
                    fitted = make(seed).fit(learn)
                    keep(f"{name}|{ranker}|{seed}", figures_of(fitted, judge, args.shuffles))
    tables = report(store, args.sets)
    print("\n\n".join(tables.values()))
    if args.out is not None:
        before, _, rest = args.out.read_text().partition(BEGIN)
        kept, _, after = rest.partition(END)
        about = f"Means over DeepNet and SortNet with {args.seeds} seeds each and {args.shuffles} starts."
        shown = "\n\n".join([about, *(by_title(kept) | tables).values()])
        args.out.write_text(f"{before}{BEGIN}{shown}\n{END}{after}")


def parts_of(name: str) -> tuple[Dataset, Dataset]:
    """What is learned from, and what is ranked to choose an order: never a test part."""
    if name == SETS[-1]:
        learn, judge = synthetic("td", seed=1).split(0.6, 0.4, seed=1)
        return learn, judge
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        sys.exit("ORDINO_DATA names no folder; it must hold MQ2007 and MQ2008")
    fold = next(iter(read_folds(Path(folder) / name)))
    assert fold.valid is not None
    return fold.train, fold.valid


def figures_of(fitted: Comparator, judge: Dataset, shuffles: int) -> dict[str, dict[str, Any]]:
    """By order: quality from each start, documents moved and their farthest move, of 1,000."""
    data, figures = fitted.prepared(judge), {}
    for name in ORDERS:
        quality = []
        for seed in range(shuffles):
            rows = start_order(data.offsets, seed)
            begin = np.arange(len(rows)) if name in SORTS else None
            order = order_queries(fitted.network_, data.X[rows], data.offsets, algorithm=name, start=begin)
            values = evaluate(data, scores_from_order(rows[order], data.offsets), metrics=METRICS)
            quality.append([values[metric] for metric in METRICS])
        moves = audit(fitted.network_, data, algorithm=name, algorithms=(), shuffles=shuffles).moves["shuffles"]
        figures[name] = {"quality": quality, "moved": moves.docs, "farthest": moves.max}
    return figures


def milliseconds(fitted: Comparator, judge: Dataset) -> dict[str, float]:
    """What every order takes for 1,000 documents, the best of some times."""
    data, figures = fitted.prepared(judge), {}
    for name in ORDERS:
        taken = [processor_seconds(fitted, data, name) for _ in range(5)]
        figures[name] = 1e6 * min(taken) / data.n_docs
    return figures


def processor_seconds(fitted: Comparator, data: Dataset, algorithm: str) -> float:
    """What an order takes."""
    start = time.process_time()
    order_queries(fitted.network_, data.X, data.offsets, algorithm=algorithm)
    return time.process_time() - start


def report(store: dict[str, Any], sets: Sequence[str]) -> dict[str, str]:
    """A table for each set, by title."""
    columns = ("order", "NDCG@10", "MAP", "MAP, worst to best start", "moved of 1,000", "by at most", "ms of 1,000")
    tables = {}
    for name in sets:
        runs = [figures for key, figures in store.items() if key.startswith(f"{name}|")]
        lines = [f"**{name}**", "", *header(columns)]
        for order in ORDERS:
            quality = np.array([run[order]["quality"] for run in runs])  # (n_runs, n_starts, n_metrics)
            ndcg, mean_ap = quality.mean(axis=(0, 1))
            worst, best = quality[:, :, 1].min(axis=1).mean(), quality[:, :, 1].max(axis=1).mean()
            moved, ms = np.mean([run[order]["moved"] for run in runs]), store[f"ms|{name}"][order]
            farthest = max(run[order]["farthest"] for run in runs)
            lines.append(
                f"| {order} | {ndcg:.4f} | {mean_ap:.4f} | {worst:.4f} to {best:.4f} | {moved:.0f} | {farthest:.0f} "
                f"| {ms:.1f} |"
            )
        tables[lines[0]] = "\n".join(lines)
    return tables


def by_title(tables: str) -> dict[str, str]:
    """The tables of today's sets that stand on a page already, by title."""
    titles = [f"**{name}**" for name in SETS]
    parts = {part.partition("\n")[0]: part.rstrip() for part in re.split(r"^(?=\*\*)", tables, flags=re.MULTILINE)}
    return {title: parts[title] for title in titles if title in parts}


def header(columns: tuple[str, ...]) -> list[str]:
    return [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]


if __name__ == "__main__":
    main()
