"""How much of the order over all pairs is kept where only a sample and the best meet all others.

DeepNet and SortNet learn from queries of 200 documents, of the synthetic collection `td` and of a made set, and rank
longer ones. Beside the comparisons for each document: how many of the best 100 by all pairs are among the first 100,
how many of the first 10 are in their very place, by how many places of 1,000 the documents stand elsewhere on average,
and NDCG@10 and MAP. Means over both sets and rankers, two seeds each, and three queries (one query of one seed from
20,000 documents on).

    python benchmarks/quality_long_lists.py [--lengths 2000,4000,60000] [--record]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ordino
from ordino.data.dataset import Dataset
from ordino.order import meetings, order_queries, scores_from_order
from ordino.order.pairs import TOP
from shapes import made
from written import add_record, written

PAGE = Path(__file__).parents[1] / "docs" / "sorting.md"
SETS: dict[str, Callable[[int, int], Dataset]] = {
    "td": lambda queries, docs: ordino.synthetic("td", queries=queries, docs=docs),
    "made": lambda queries, docs: made(queries, docs, 20, 0, share=0.02, noise=0.5),
}
RANKERS = (ordino.DeepNet, ordino.SortNet)
TRIED = ((512, 500), (256, 500), (128, 500), (256, 250), (meetings.SAMPLE, TOP), (64, 250), (128, 100), (64, 100))
FOUND = ("of the best 100", "of 10 in place", "places off", "NDCG@10", "MAP")
COLUMNS = ("documents", "sample", "top", "comparisons each", *FOUND)
LEARNED_FROM, BEST, FIRST = 200, 100, 10
MANY = 20_000  # documents, from which on one query must do
Order = NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", default="2000,4000,60000")
    add_record(parser)
    args = parser.parse_args()
    with written("quality_long_lists", record=args.record, page=PAGE):
        print(f"| {' | '.join(COLUMNS)} |")
        print("|---:" * len(COLUMNS) + "|")
        for n in map(int, args.lengths.split(",")):
            found = list(measured(n))
            for way in found[0]:
                figures = np.mean([one[way] for one in found], axis=0)
                sample, top = ("", "all") if way is None else way
                each = (n - 1) / 2 if way is None else comparisons(n, *way)
                print(f"| {n:,} | {sample} | {top} | {each:,.0f} | " + cells(*figures))


def cells(best: float, first: float, off: float, ndcg: float, mean_ap: float) -> str:
    return f"{best:.1f} | {first:.1f} | {off:.1f} | {ndcg:.4f} | {mean_ap:.4f} |"


def comparisons(n: int, sample: int, top: int) -> float:
    """For each of n documents, of which so many meet all others."""
    return sum(many - many * (many + 1) / 2 / n for many in (sample, top))


def measured(n: int) -> Iterator[dict[tuple[int, int] | None, tuple[float, ...]]]:
    """For every query, the figures of every way; None is that of all pairs."""
    queries, seeds = (1, 1) if n >= MANY else (3, 2)
    for make in SETS.values():
        for ranker in RANKERS:
            for seed in range(seeds):
                fitted = ranker(seed=seed).fit(make(40, LEARNED_FROM))
                data = fitted.prepared(make(queries, n))
                for q in range(queries):
                    query = data.select_queries([q])
                    yield dict(ways(fitted.network_, query))


def ways(
    network: ordino.order.PairNetwork, query: Dataset
) -> Iterator[tuple[tuple[int, int] | None, tuple[float, ...]]]:
    """Every way to order a query, and how far it is from the order over all pairs."""
    whole = order_queries(network, query.X, query.offsets, top=None)
    yield None, (BEST, FIRST, 0.0, *quality(query, whole))
    for sample, top in TRIED:
        meetings.SAMPLE = sample
        order = order_queries(network, query.X, query.offsets, top=top)
        best = float(np.isin(order[:BEST], whole[:BEST]).sum())
        in_place = float((order[:FIRST] == whole[:FIRST]).sum())
        off = float(np.abs(np.argsort(order) - np.argsort(whole)).mean() / len(order) * 1000)
        yield (sample, top), (best, in_place, off, *quality(query, order))


def quality(query: Dataset, order: Order) -> tuple[float, float]:
    values = ordino.evaluate(query, scores_from_order(order, query.offsets), metrics=("ndcg@10", "map"))
    return values["ndcg@10"], values["map"]


if __name__ == "__main__":
    main()
