"""How far from transitive a comparator is on given data, and how much that moves documents.

A comparator that is not transitive orders some triples in a circle. What a sort makes of it then depends on where it
starts and on the algorithm; an order over all pairs depends on the documents alone. SortNet (section 3) reports orders
that "seldom" differ, by 1 to 5 positions of 1000.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import mean_of_counted, query_numbers
from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.order.meeting_kernels import OUT_DEGREES
from ordino.order.meetings import all_totals
from ordino.order.network import PairNetwork
from ordino.order.orders import ORDERS, SORTS
from ordino.order.pairs import order_queries
from ordino.order.sorting import start_order
from ordino.streams import spawn_seed

Ints = NDArray[np.int64]


class Moves(NamedTuple):
    """How two orders of the same documents differ, per 1000 documents of a query: means over queries, and the worst."""

    docs: float  # documents at another position
    mean: float  # positions that a document moved
    max: float  # positions that the worst document of the worst query moved


@dataclass(frozen=True, eq=False)
class Audit:
    """What :func:`audit` found; ``print`` shows it as a table."""

    n_docs: int
    n_queries: int
    n_sampled: int  # queries of which triples were drawn
    cyclic: NDArray[np.float64]  # (n_queries,): share of cyclic triples; NaN with fewer than three documents
    moves: Mapping[str, Moves]  # against the rows ordered as they stand: "shuffles", then each other algorithm

    @property
    def cyclic_share(self) -> float:
        """The share of cyclic triples, mean over the queries with three documents or more; 0 if there is none."""
        mean = mean_of_counted(self.cyclic)
        return 0.0 if isnan(mean) else mean

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values for JSON."""
        counts = {"n_docs": self.n_docs, "n_queries": self.n_queries, "n_sampled": self.n_sampled}
        moves = {name: moves._asdict() for name, moves in self.moves.items()}
        return {**counts, "cyclic_share": self.cyclic_share, "moves": moves}

    def __str__(self) -> str:
        worst = np.nanmax(self.cyclic) if not np.isnan(self.cyclic).all() else 0.0
        rows = [
            ("documents", f"{self.n_docs:,}"),
            ("queries", f"{self.n_queries:,}, triples drawn in {self.n_sampled:,}"),
            ("cyclic triples", f"{100 * self.cyclic_share:.3g} %, worst query {100 * worst:.3g} %"),
        ]
        for name, m in self.moves.items():
            moved = f"{m.docs:.1f} of 1000 documents, by {m.mean:.2f} positions of 1000, at most {m.max:.1f}"
            rows.append((f"moved by {name}", moved))
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def audit(
    network: PairNetwork, data: Dataset, *, shuffles: int = 5, triples: int = 1_000_000,
    algorithm: str = "merge", algorithms: Sequence[str] = tuple(ORDERS), seed: int = 0, n_jobs: int | None = None,
) -> Audit:  # fmt: skip
    """Count cyclic triples, and measure how far orders differ between shuffles and between algorithms.

    Parameters
    ----------
    network, data
        The comparator, and the documents, scaled as the network wants them.
    shuffles
        How many times the documents are shuffled and ordered again.
    triples
        How many triples are drawn in a query that is too long to count them all. A query of n documents is counted
        exactly, from the number of wins d of each document as C(n, 3) - sum C(d, 2), where that takes no more
        comparisons than drawing would: up to 2,450 documents. The earlier row wins a tie, as in the sort.
    algorithm, algorithms
        The order that is audited, and those of :data:`ORDERS` that are compared with it; leave out "insertion" for
        queries of many thousands. A sort starts from the rows as they stand.
    seed, n_jobs
        The seed of shuffles and draws; how many threads work, None for the free processors.

    Documents with equal features are one to the comparator: when these change places nothing has moved.

    Examples
    --------
    >>> from ordino.layers import Layer
    >>> larger_first = PairNetwork([[1, -1]], [[-1, 1]], [0, 0], (Layer([[1, -1], [-1, 1]], [0, 0]),))
    >>> print(audit(larger_first, Dataset([[1.0], [3.0], [2.0], [3.0]], [0, 1, 0, 1]), algorithms=["heap"]))
    documents          4
    queries            1, triples drawn in 0
    cyclic triples     0 %, worst query 0 %
    moved by shuffles  0.0 of 1000 documents, by 0.00 positions of 1000, at most 0.0
    moved by heap      0.0 of 1000 documents, by 0.00 positions of 1000, at most 0.0
    """
    check_int("shuffles", shuffles, low=1)
    check_int("triples", triples, low=1)
    X, offsets = network.check_features(data.X), data.offsets
    bounds = list(pairwise(offsets.tolist()))
    alike = np.concatenate([np.empty(0, np.int64), *(_classes(X[start:stop]) for start, stop in bounds)])

    def positions(name: str, shuffle: int | None) -> Ints:
        rows = start_order(offsets, shuffle)
        start = np.arange(len(rows)) if name in SORTS else None
        order = rows[order_queries(network, X[rows], offsets, algorithm=name, start=start, n_jobs=n_jobs)]
        return np.lexsort((alike[order], query_numbers(offsets)))  # where the documents of each class stand

    usual = positions(algorithm, None)
    shuffled = [positions(algorithm, spawn_seed(seed, "shuffle", number)) for number in range(shuffles)]
    moves = {"shuffles": _moves(usual, shuffled, offsets)}
    for other in algorithms:
        if other != algorithm:
            moves[other] = _moves(usual, [positions(other, None)], offsets)
    counts = data.counts
    sampled = counts * (counts - 1) // 2 > 3 * triples
    cyclic = np.full(data.n_queries, np.nan)
    for q, (start, stop) in enumerate(bounds):
        if sampled[q]:
            cyclic[q] = sampled_share(network, X[start:stop], triples, seed)
        elif counts[q] >= 3:
            cyclic[q] = exact_share(network, X[start:stop], n_jobs)
    return Audit(data.n_docs, data.n_queries, int(sampled.sum()), cyclic, MappingProxyType(moves))


def exact_share(network: PairNetwork, X: NDArray[np.float32], n_jobs: int | None = None) -> float:
    """The share of cyclic triples among all of a query; any other has a document that beats both others."""
    wins = all_totals(network, X, np.array([0, len(X)]), n_jobs)[OUT_DEGREES]
    n_triples = len(X) * (len(X) - 1) * (len(X) - 2) // 6
    return 1 - int((wins * (wins - 1) // 2).sum()) / n_triples


def sampled_share(network: PairNetwork, X: NDArray[np.float32], triples: int, seed: int) -> float:
    """The share of cyclic triples among those drawn, ``triples`` of them."""
    rng, n = np.random.default_rng(seed), len(X)
    drawn = np.stack([rng.integers(n - taken, size=triples) for taken in range(3)])
    drawn[1] += drawn[1] >= drawn[0]  # distinct: each number counts only what is still free
    low, high = np.minimum(drawn[0], drawn[1]), np.maximum(drawn[0], drawn[1])
    drawn[2] += drawn[2] >= low
    drawn[2] += drawn[2] >= high
    cycles = network.kernels.count_cycles(network.packed.plan, *network.lay_out(X), np.sort(drawn.T, axis=1))
    return float(cycles / triples)


def _classes(X: NDArray[np.float32]) -> Ints:
    """A number for each document of a query; documents with equal features have the same number."""
    return np.unique(X, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _moves(usual: Ints, others: list[Ints], offsets: Ints) -> Moves:
    counts = np.diff(offsets)
    alive = counts > 0
    if not alive.any():
        return Moves(0.0, 0.0, 0.0)
    starts, share = offsets[:-1][alive], 1000 / counts[alive]
    distances = [abs(other - usual) for other in others]
    return Moves(
        float(np.mean([np.add.reduceat(d > 0, starts, dtype=np.int64) * share for d in distances])),
        float(np.mean([np.add.reduceat(d, starts) / counts[alive] * share for d in distances])),
        float(np.max([np.maximum.reduceat(d, starts) * share for d in distances])),
    )
