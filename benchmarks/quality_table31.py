"""Shared weights or not: DeepNet's Table 3.1, CmpNN against a dense net of equal size, on MQ2008 and MQ2007.

The protocol was fixed before its nets met a test part, by what the thesis does (sections 2.2, 2.3 and 3.1), after a
look at validation parts of two folds. Test figures of an earlier run with other training (ADAM) were known:

- both nets have 10 hidden sigmoid neurons, first weights uniform in [-1, 1] (Table 4.4 says so of chapter 3's net),
  squared error, full batches with the adaptive rate (from 0.1), features scaled inside each query; the same 10,000
  training and 5,000 validation pairs of different labels, each in a random order; the epoch of at most 1,000 with the
  smallest error on the validation pairs. Unlike the thesis, training ends after 300 epochs without a better one;
- both are sorted by Python's sort from the same shuffled start, and asked once for two documents, [x, y] as the sort
  meets them;
- five official folds, profile directranker; 20 seeds on MQ2008 and 10 on MQ2007, which has twice the queries and takes
  twice the time (the thesis: 30), each with pairs and weights of its own. A seed's figure is the mean over the folds;
  Welch's t-test compares the figures of the seeds, and p < 0.05 in both NDCG@10 and MAP is "clearly above";
- beside them: the share of wrong answers to test pairs of different labels, in both orders; how often a net contradicts
  itself, that is gives [x, y] and [y, x] to the same side; the share of cyclic triples, each pair asked in the order of
  the rows; and the dense net asked in both orders, as the library does unless told otherwise;
- where does sharing matter? The same with 300, 1,000 and 3,000 training pairs, half as many for validation, 4 seeds.

Added after these figures had been read: "equal size" counted in weights, a CmpNN of 20 neurons (951 weights of its own,
the dense net of 10 has 952) on the same pairs, by the same tests, with as many seeds as there was time for.

Figures are kept in the JSON file --store, network by network, so that a run that was cut off goes on.

    ORDINO_DATA=folds python benchmarks/quality_table31.py --store figures.json --out docs/results/table31.md
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from datetime import date
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_ind
from sklearn.base import clone

from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, read_folds
from ordino.metrics import evaluate
from ordino.networks.comparing import Comparator
from ordino.networks.learning_sets import draw_pairs
from ordino.order import scores_from_order, sort_once
from ordino.rankers.deepnet import DeepNet, DenseComparator

PROFILE = "directranker"
SETTINGS: dict[str, Any] = DeepNet.as_published(
    hidden=10, activation="sigmoid", initializer="unit", dropout=0.0, patience=300, profile=PROFILE, n_jobs=1
).get_params()
SEEDS = {"MQ2008": 20, "MQ2007": 10}
WIDE, WIDE_SEEDS = "CmpNN, 20 neurons", {"MQ2008": 5, "MQ2007": 4}
NETS: dict[str, Comparator] = {
    "CmpNN": DeepNet(**SETTINGS),
    "dense net": DenseComparator(**SETTINGS),
    WIDE: DeepNet(**(SETTINGS | {"hidden": 20})),
}
PAIRS = 10_000
FEWER, FEWER_SEEDS = (300, 1_000, 3_000), 4
FIGURES = (
    "NDCG@10",
    "MAP",
    "pair error",
    "contradictions",
    "cyclic triples",
    "NDCG@10, both orders",
    "MAP, both orders",
)
HOW = (
    "`benchmarks/quality_table31.py`, whose first lines say how. Means over five folds ± deviation of seeds;",
    "p and the 95 % interval of the difference are Welch's over seeds. With 46 features the CmpNN has 476 weights of",
    "its own, 5 neurons whose duals share theirs, the dense net 952, and the CmpNN of 20 neurons 951.",
)
TWICE = (
    "Queries have equal shares, so that one with few pairs gives each several times, in random orders: the dense net",
    "then sees the symmetry in the data.",
)
ADAM = (
    "An earlier run, whose test figures were known when this protocol was fixed, trained both nets by Adam (60 epochs",
    "in steps of 500 pairs, Glorot's weights, 5 seeds). CmpNN against the dense net asked once: on MQ2008 0.7305 and",
    "0.7304 NDCG@10 (p = 0.9; MAP 1), on MQ2007 0.5459 and 0.5444 (p = 0.1; MAP 0.01).",
)
Store = dict[str, list[float]]  # FIGURES by set|fold|net|pairs|seed
Values = NDArray[np.float64]  # (n_seeds, n_figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="first fold, two seeds")
    parser.add_argument("--sets", default=",".join(SEEDS), help="separated by commas")
    parser.add_argument("--store", type=Path, help="keep the figures in this file, and go on from it")
    parser.add_argument("--out", type=Path, help="write the tables to this file")
    args = parser.parse_args()
    store: Store = json.loads(args.store.read_text()) if args.store and args.store.exists() else {}
    folds = {name: folds_of(name)[: 1 if args.quick else 5] for name in args.sets.split(",")}
    runs = [(name, PAIRS, seed) for seed in range(max(SEEDS.values())) for name in folds if seed < SEEDS[name]]
    runs += [(name, n_pairs, seed) for n_pairs in FEWER for seed in range(FEWER_SEEDS) for name in folds]
    for collection, n_pairs, seed in runs:
        if args.quick and seed > 1:
            continue
        start = time.process_time()
        wide = n_pairs == PAIRS and seed < WIDE_SEEDS[collection]
        for fold, name in product(folds[collection], [name for name in NETS if wide or name != WIDE]):
            key = f"{collection}|{fold.name}|{name}|{n_pairs}|{seed}"
            if key not in store:
                store[key] = measured(fold, name, n_pairs, seed)
        print(f"{collection}, {n_pairs} pairs, seed {seed}: {time.process_time() - start:.0f} s", file=sys.stderr)
        if args.store is not None:
            args.store.write_text(json.dumps(store, indent=0))
    lines = report(store, [drawn(name, of_set) for name, of_set in folds.items()])
    print("\n".join(lines))
    if args.out is not None:
        args.out.write_text("\n".join(lines) + "\n")


def folds_of(collection: str) -> list[Fold]:
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        sys.exit("ORDINO_DATA names no folder; it must hold MQ2007 and MQ2008")
    return list(read_folds(Path(folder) / collection))


def measured(fold: Fold, name: str, n_pairs: int, seed: int) -> list[float]:
    """The figures of one network on the test part, in the order of FIGURES."""
    changes = {"n_pairs": n_pairs, "n_valid_pairs": n_pairs // 2, "seed": 100 * seed}
    ranker = clone(NETS[name]).set_params(**changes).fit(fold.train, valid=fold.valid)
    once = quality(fold.test, asked_once(ranker, fold.test, seed))
    both = quality(fold.test, ranker.predict(fold.test))
    return [*once, *answers(ranker, fold.test), *both]


def asked_once(ranker: Comparator, data: Dataset, seed: int) -> NDArray[np.float64]:
    """Scores by Python's sort from a shuffled start, which is the same for both nets."""
    rng = np.random.default_rng(seed)
    start = np.concatenate([rng.permutation(np.arange(*bounds)) for bounds in pairwise(data.offsets.tolist())])
    scores = np.empty(data.n_docs)
    order = sort_once(ranker.network_, scaled(ranker, data)[start], data.offsets)
    scores[start] = scores_from_order(order, data.offsets)
    return scores


def scaled(ranker: Comparator, data: Dataset) -> NDArray[np.float32]:
    assert ranker.scaler_ is not None
    X: NDArray[np.float32] = ranker.scaler_.transform(data).X
    return X


def quality(data: Dataset, scores: NDArray[np.float64]) -> list[float]:
    return list(evaluate(data, scores, metrics=("ndcg@10", "map"), profile=PROFILE).values())


def answers(ranker: Comparator, data: Dataset) -> tuple[float, float, float]:
    """Shares of wrong answers, of pairs with two answers that contradict each other, and of cyclic triples."""
    network, X, y = ranker.network_, scaled(ranker, data), data.y
    left, right = X @ network.left, X @ network.right
    wrong, judged, contradicted, pairs, cyclic, triples = 0, 0, 0, 0, 0, 0
    for start, stop in pairwise(data.offsets.tolist()):
        n = stop - start
        h = left[start:stop, None] + right[None, start:stop] + network.bias  # (n, n, n_hidden)
        z = (0.5 + 0.5 * np.tanh(0.5 * h)) @ network.deeper[0].W + network.deeper[0].b
        first = z[..., 0] > z[..., 1]  # of [row, column], the row comes first
        label = y[start:stop, None] - y[None, start:stop]
        wrong += int((first != (label > 0))[label != 0].sum())
        judged += int((label != 0).sum())
        different = np.triu((X[start:stop, None] != X[None, start:stop]).any(2), 1)
        contradicted += int((first == first.T)[different].sum())
        pairs += int(different.sum())
        upper = np.triu(first, 1)
        wins = upper.sum(1) + np.tril(~upper.T, -1).sum(1)
        cyclic += n * (n - 1) * (n - 2) // 6 - int((wins * (wins - 1) // 2).sum())
        triples += n * (n - 1) * (n - 2) // 6
    return wrong / judged, contradicted / pairs, cyclic / triples


def drawn(collection: str, folds: Sequence[Fold]) -> str:
    """How many of the pairs are distinct, and how many of these stand in both orders: means over the folds."""
    counts = []
    for fold in folds:
        some = draw_pairs(fold.train.y, fold.train.offsets, "C", PAIRS, np.random.default_rng([0, 1]))
        pairs = some.rows(fold.train.n_docs).T
        distinct = len(np.unique(np.sort(pairs, axis=1), axis=0))
        counts.append((distinct, len(np.unique(pairs, axis=0)) - distinct))
    distinct, twice = np.mean(counts, axis=0)
    return f"{collection}: {distinct:,.0f} of {PAIRS:,} pairs are distinct, {twice:,.0f} of them stand in both orders."


def by_seed(store: Store, collection: str, n_pairs: int, name: str) -> Values:
    """The mean over the folds for each seed that has all folds, shape ``(n_seeds, n_figures)``."""
    folds = sorted({key.split("|")[1] for key in store if key.startswith(f"{collection}|")})
    keys = [f"{collection}|{fold}|{name}|{n_pairs}|" for fold in folds]
    seeds = [seed for seed in range(len(store)) if keys and all(f"{key}{seed}" in store for key in keys)]
    figures = np.array([[store[f"{key}{seed}"] for key in keys] for seed in seeds])  # (n_seeds, n_folds, n_figures)
    return np.mean(figures, axis=1) if seeds else np.empty((0, len(FIGURES)))


def report(store: Store, notes: Sequence[str]) -> list[str]:
    lines = ["# Shared weights or not: DeepNet's Table 3.1 on MQ2008 and MQ2007", ""]
    lines += [f"{date.today().isoformat()}, Python {platform.python_version()}, numpy {np.__version__}. Made by"]
    lines += [*HOW, "", *TWICE, *notes, "", *ADAM, ""]
    for collection in SEEDS:
        dense = by_seed(store, collection, PAIRS, "dense net")
        for name in ("CmpNN", WIDE):
            cmpnn = by_seed(store, collection, PAIRS, name)
            if min(len(cmpnn), len(dense)) > 1:
                lines += [f"## {collection}, {PAIRS:,} pairs, {len(cmpnn)} seeds: {name}", ""]
                lines += [f"| figure | {name} | dense net | difference | 95 % | p |", "|---|---|---|---|---|---|"]
                lines += [row(figure, cmpnn[:, i], dense[:, i]) for i, figure in enumerate(FIGURES)] + [""]
    lines += ["## Fewer pairs", "", "| set | pairs | seeds | figure | CmpNN | dense net | difference | 95 % | p |"]
    lines += ["|---|---|---|---|---|---|---|---|---|"]
    for collection in SEEDS:
        for n_pairs in (*FEWER, PAIRS):
            cmpnn, dense = (by_seed(store, collection, n_pairs, name) for name in ("CmpNN", "dense net"))
            if min(len(cmpnn), len(dense)) > 1:
                setting = f"| {collection} | {n_pairs:,} | {len(cmpnn)} "
                lines += [setting + row(FIGURES[i], cmpnn[:, i], dense[:, i]) for i in (0, 1, 2, 3, 5)]
    return lines


def row(figure: str, cmpnn: Values, dense: Values) -> str:
    cells = [f"{values.mean():.4f} ± {values.std(ddof=1):.4f}" for values in (cmpnn, dense)]
    test = ttest_ind(cmpnn, dense, equal_var=False)
    low, high = test.confidence_interval(0.95)
    cells += [f"{cmpnn.mean() - dense.mean():+.4f}", f"{low:+.4f} to {high:+.4f}", f"{test.pvalue:.2g}"]
    return f"| {figure} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
