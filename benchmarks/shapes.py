"""Made data sets that differ in shape, for benchmarks that must not be fitted to the two real ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import ordino
from ordino.data.dataset import Dataset

SEED = 0


def made(
    n_queries: int, n_docs: int, n_features: int, seed: int, *, share: float = 0.25, noise: float = 1.0
) -> Dataset:
    """Queries with features of their own level and spread, some of which make the label, by sums and by thresholds."""
    rng = np.random.default_rng(seed)
    rows, qid = n_queries * n_docs, np.repeat(np.arange(n_queries), n_docs)
    X = rng.normal(size=(rows, n_features)).astype(np.float32)
    n_useful = max(n_features // 5, 3)
    hidden = X[:, :n_useful] @ rng.normal(size=n_useful) / np.sqrt(n_useful) + (X[:, 0] > 1) - (X[:, 1] > 0.5)
    hidden = hidden + noise * rng.normal(size=rows)
    cuts = np.quantile(hidden, [1 - share, 1 - share / 3])
    shown = X * rng.lognormal(0, 0.5, (n_queries, n_features))[qid] + rng.normal(0, 2, (n_queries, n_features))[qid]
    return Dataset(shown, np.digitize(hidden, cuts).astype(float), qid)


class Shape(NamedTuple):
    """A shape: how many queries it has for learning, and how to make any number of queries of it, by a seed."""

    n_queries: int
    draw: Callable[[int, int], Dataset]

    def make(self, n_queries: int, seed: int = SEED) -> Dataset:
        """So many queries."""
        return self.draw(n_queries, seed)


SHAPES: dict[str, Shape] = {
    "like MQ2007": Shape(240, lambda n, seed: ordino.synthetic("mq", queries=n, seed=1 + seed)),
    "like MSLR": Shape(120, lambda n, seed: ordino.synthetic("mslr", queries=n, seed=1 + seed)),
    "like TD2003": Shape(50, lambda n, seed: made(n, 1000, 44, seed, share=0.01)),
    "few queries": Shape(24, lambda n, seed: made(n, 40, 30, seed)),
    "many documents": Shape(20, lambda n, seed: made(n, 2000, 20, seed)),
    "sparse relevance": Shape(300, lambda n, seed: made(n, 60, 40, seed, share=0.02)),
    "noisy labels": Shape(300, lambda n, seed: made(n, 30, 40, seed, noise=4.0)),
    "5 features": Shape(300, lambda n, seed: made(n, 30, 5, seed)),
    "700 features": Shape(120, lambda n, seed: made(n, 30, 700, seed)),
    "5 documents a query": Shape(200, lambda n, seed: made(n, 5, 20, seed)),
}
"""By name. The last is for AutoRanker alone, which is asked to work on it."""
