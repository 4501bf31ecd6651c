"""RankBoost and AdaRank against plain numpy forms of the same algorithms, in one run and for the same rounds.

An MQ2007 fold (from ORDINO_DATA; the synthetic set of that shape where it is not set). The numpy RankBoost lists its
pairs and sorts each feature once; the numpy AdaRank ranks by each feature once and measures with numpy. Both take the
same weak rankers as ours, which is counted. Fails if ours are slower.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from history import record
from ordino.boosting.stumps import bin_features
from ordino.data.dataset import Dataset
from ordino.data.letor import read_letor
from ordino.data.source import canonical
from ordino.data.synthetic import synthetic
from ordino.rankers.adarank import AdaRank
from ordino.rankers.stump_boosting import RankBoost

T = TypeVar("T")


def numpy_rankboost(data: Dataset, rounds: int, thresholds: int) -> list[tuple[int, float]]:
    """RankBoost as the paper writes it: a weight for every pair, a running sum over each sorted feature."""
    parts = []
    for start, stop in pairwise(data.offsets.tolist()):
        better, worse = np.nonzero(data.y[start:stop, None] > data.y[start:stop])
        parts.append(np.stack((better, worse)) + start)
    better, worse = np.concatenate(parts, axis=1)
    weights = np.full(len(better), 1 / len(better))
    bins = bin_features(data.X, thresholds)
    orders = np.argsort(-bins.codes.astype(np.int64), axis=0, kind="stable")  # highest first
    ends = [
        np.flatnonzero(np.diff(np.take(bins.codes[:, f], orders[:, f]).astype(np.int64)))
        for f in range(data.n_features)
    ]
    chosen = []
    for _ in range(rounds):
        potential = np.bincount(better, weights, data.n_docs) - np.bincount(worse, weights, data.n_docs)
        best, at = 0.0, (0, 0)
        for f in range(data.n_features):
            sums = np.cumsum(potential[orders[:, f]])[ends[f]]
            if len(sums) and abs(sums[k := int(np.argmax(np.abs(sums)))]) > abs(best):
                best, at = float(sums[k]), (f, int(bins.codes[orders[ends[f][k], f], f]))
        alpha = 0.5 * np.log((1 + best) / (1 - best))
        h = alpha * (bins.codes[:, at[0]] >= at[1])
        weights *= np.exp(h[worse] - h[better])
        weights /= weights.sum()
        chosen.append((at[0], float(alpha)))
    return chosen


def average_precisions(data: Dataset, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.zeros(data.n_queries)
    for q, (start, stop) in enumerate(pairwise(data.offsets.tolist())):
        relevant = data.y[start:stop][np.argsort(-scores[start:stop], kind="stable")] > 0
        if relevant.any():
            ranks = np.flatnonzero(relevant) + 1
            values[q] = np.mean(np.arange(1, len(ranks) + 1) / ranks)
    return values


def numpy_adarank(data: Dataset, rounds: int) -> list[tuple[int, float]]:
    """AdaRank-MAP as the paper writes it."""
    E = np.column_stack([average_precisions(data, data.X[:, f].astype(np.float64)) for f in range(data.n_features)])
    P = np.full(data.n_queries, 1 / data.n_queries)
    scores = np.zeros(data.n_docs)
    chosen = []
    for _ in range(rounds):
        feature = int(np.argmax(P @ E))
        alpha = 0.5 * np.log((P @ (1 + E[:, feature])) / (P @ (1 - E[:, feature])))
        scores += alpha * data.X[:, feature]
        P = np.exp(-average_precisions(data, scores))
        P /= P.sum()
        chosen.append((feature, float(alpha)))
    return chosen


def timed(action: Callable[[], T], repeats: int) -> tuple[float, T]:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a small set, no verdict")
    args = parser.parse_args()
    folder = os.environ.get("ORDINO_DATA")
    if args.quick or not folder:
        data = canonical(synthetic("mq", queries=50 if args.quick else 1017))
    else:
        data = canonical(read_letor(Path(folder) / "MQ2007/Fold1/train.txt"))
    boost = RankBoost(rounds=args.rounds, thresholds=255)
    ada = AdaRank(rounds=args.rounds, metric="map", reweighting="sum")
    boost.fit(data)  # compiled before anything is timed
    ada.fit(data)
    ours, _ = timed(lambda: boost.fit(data), args.repeats)
    plain, stumps = timed(lambda: numpy_rankboost(data, args.rounds, 255), 1)
    same = [(s.feature, s.alpha) for s in boost.stumps_]
    ada_ours, _ = timed(lambda: ada.fit(data), args.repeats)
    ada_plain, taken = timed(lambda: numpy_adarank(data, args.rounds), 1)
    ada_same = list(zip(ada.features_, ada.alphas_, strict=True))
    print(f"{data.n_docs:,} documents, {data.n_queries:,} queries, {args.rounds} rounds\n")
    print("| ranker | ours s | plain numpy s | times faster | same weak rankers |")
    print("|---|---:|---:|---:|---|")
    for name, a, b, x, y in (
        ("RankBoost", ours, plain, same, stumps),
        ("AdaRank", ada_ours, ada_plain, ada_same, taken),
    ):
        record(f"{name} against plain numpy", b / a)
        print(f"| {name} | {a:.3f} | {b:.3f} | {b / a:.1f} | {agree(x, y)} of {args.rounds} |")
    if not args.quick and (plain < ours or ada_plain < ada_ours):
        sys.exit("ours are slower than plain numpy")


def agree(one: list[tuple[int, float]], other: list[tuple[int, float]]) -> int:
    """How many rounds from the first on took the same feature with the same alpha."""
    for t, (a, b) in enumerate(zip(one, other, strict=True)):
        if a[0] != b[0] or not np.isclose(a[1], b[1], rtol=1e-6):
            return t
    return len(one)


if __name__ == "__main__":
    main()
