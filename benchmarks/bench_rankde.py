"""How fast RankDE is: a generation against scipy's differential evolution and against the bare matrix product.

50 individuals, 44 weights, 30 queries of 1,000 documents, 1 % relevant; the smallest of several times each, interleaved
in one run. With ORDINO_DATA set and ``--full``, also 10,000 generations on MQ2008 fold 1. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import differential_evolution

from history import record
from ordino.data.dataset import Dataset
from ordino.data.folds import read_folds
from ordino.evolve import DifferentialEvolution, LinearFitness, uniform_population
from ordino.rankers.rankde import RankDE
from timing import least_seconds

P, L, QUERIES, DOCS, RELEVANT = 50, 44, 30, 1000, 10


def make_data() -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.random((QUERIES * DOCS, L), dtype=np.float32)
    y = np.zeros((QUERIES, DOCS))
    for row in y:
        row[rng.choice(DOCS, RELEVANT, replace=False)] = 1
    return Dataset(X, y.ravel(), np.repeat(np.arange(QUERIES), DOCS))


class NumpyMap:
    """MAP of linear rankers in numpy, written well: one product, ranks by counting, no sort of documents."""

    def __init__(self, data: Dataset) -> None:
        self.X = data.X
        self.relevant = np.array([np.flatnonzero(query.y) for query in data])  # (queries, relevant)
        self.hits = np.arange(1, RELEVANT + 1)[:, None]

    def __call__(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The negative MAP of one weight vector (L,) or of several (L, P)."""
        scores = (self.X @ weights.astype(np.float32)).reshape(QUERIES, DOCS, -1)
        total = np.zeros(scores.shape[2])
        for values, rows in zip(scores, self.relevant, strict=True):
            above = np.stack([(values > values[row]).sum(axis=0) for row in rows])  # (relevant, P)
            total += (self.hits / (np.sort(above, axis=0) + 1)).mean(axis=0)
        loss: NDArray[np.float64] = -total / QUERIES
        return loss if weights.ndim == 2 else loss[0]


def scipy_generation(loss: NumpyMap, vectorized: bool, generations: int) -> float:
    """Seconds a generation of scipy's rand1bin."""
    start = time.perf_counter()
    found = differential_evolution(
        loss, [(-1.0, 1.0)] * L, strategy="rand1bin", mutation=0.5, recombination=0.5, maxiter=generations, tol=0,
        init=uniform_population(P, L), polish=False, updating="deferred", vectorized=vectorized, rng=1,
    )  # fmt: skip
    return (time.perf_counter() - start) / (int(found.nit) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--full", action="store_true", help="also 10,000 generations on MQ2008 fold 1")
    args = parser.parse_args()
    data = make_data()
    loss = NumpyMap(data)
    weights = uniform_population(P, L)
    single = np.ascontiguousarray(weights.T, np.float32)
    names = ["RankDE", "RankDE, 1 thread", "matrix product", "scipy, vectorized", "scipy, one by one"]
    best = dict.fromkeys(names, np.inf)
    with LinearFitness(data, "map") as fitness, LinearFitness(data, "map", n_jobs=1) as alone:
        searches = {name: DifferentialEvolution(weights, seed=1) for name in names[:2]}

        def generation(name: str) -> None:
            search = searches[name]
            search.tell((fitness if name == "RankDE" else alone)(search.ask()))

        assert np.allclose(fitness(weights), -loss(weights.T), atol=2e-4), "both must measure the same"
        for _ in range(args.rounds):
            timed = {
                "RankDE": least_seconds(lambda: generation("RankDE"), 200),
                "RankDE, 1 thread": least_seconds(lambda: generation("RankDE, 1 thread"), 100),
                "matrix product": least_seconds(lambda: data.X @ single, 200),
                "scipy, vectorized": scipy_generation(loss, True, 4),
                "scipy, one by one": scipy_generation(loss, False, 1),
            }
            best = {name: min(best[name], timed[name]) for name in names}
    print("| what | ms a generation | RankDE is |\n|---|---:|---|")
    for name, time_taken in best.items():
        ratio = time_taken / best["RankDE"]
        if name.startswith("scipy"):
            record(f"RankDE against {name}", ratio)
        told = "" if name == "RankDE" else f"{ratio:.1f} times faster" if ratio > 1 else f"{1 / ratio:.2f} times slower"
        print(f"| {name} | {time_taken * 1e3:.2f} | {told} |")
    if args.full:
        if "ORDINO_DATA" not in os.environ:
            sys.exit("ORDINO_DATA is not set; name the folder that holds MQ2008")
        fold = read_folds(Path(os.environ["ORDINO_DATA"]) / "MQ2008")[0]
        taken = least_seconds(lambda: RankDE(profile="letor4").fit(fold.train, valid=fold.valid), 1)
        print(f"\n10,000 generations on MQ2008 fold 1, with validation: {taken:.1f} s")


if __name__ == "__main__":
    main()
