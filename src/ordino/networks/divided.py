"""Steps of a scoring network whose documents lie on several machines: weights go out, slopes come back.

A small batch lies with one worker, or with two that stand side by side: the first of them has the beginning of the
other's documents as well, so it makes the very step of one machine. Of a large batch every worker makes slopes block
by block; they are added up in double precision, in an order that does not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.backends.crew import Bench
from ordino.data.dataset import Dataset
from ordino.data.shards import concatenate
from ordino.division import Divided
from ordino.division.divided import heads_of_sums
from ordino.estimators import clone
from ordino.judge import Judge
from ordino.layers import Layer, forward
from ordino.networks.nets import RowNet, diverging_quietly, row_errors
from ordino.networks.supply import QueryBatches, Slices
from ordino.ranker import Ranker
from ordino.reduction import GROUP, Partial, partial_of, sum_of_partials

Floats = NDArray[np.float64]
SMALL = 64  # queries of a batch that one worker makes alone


@final
class FarBatch(NamedTuple):
    """Queries ``first`` to ``last``, wherever they are, and the batch's share of the epoch."""

    supply: DividedBatches
    first: int
    last: int
    share: float

    def errors(self, nets: Sequence[RowNet]) -> list[float]:
        """The error of each network, whose ``slopes`` become those of the error."""
        return [self.supply.step(net, self.first, self.last) for net in nets]


@final
class DividedBatches:
    """Batches of whole queries that lie with the workers of a cluster."""

    def __init__(self, data: Divided, ranker: Ranker, net: RowNet, batch: int | None) -> None:
        self._data, self._slices = data, Slices(data.n_queries, batch)
        self._heads = np.concatenate(([0], heads_of_sums(data.counts, data.pairs)[1:], [data.n_queries]))
        self._is_small = self._slices.batch <= SMALL
        how = (clone(ranker), net.sizes, net.output_bias)
        data.each(set_up, *how, own=self._beyond(), lasting=True)
        self._docs = np.append(0, np.cumsum(data.counts))

    def epoch(self, rng: np.random.Generator) -> Iterator[FarBatch]:
        """Slices in random order, the same as on one machine."""
        for first, last in self._slices.epoch(rng):
            yield FarBatch(self, first, last, (last - first) / self._data.n_queries)

    def step(self, net: RowNet, first: int, last: int) -> float:
        """The error of a network on some queries; its slopes become those of the error."""
        masks, bounds = net.masks(len(net.sizes) - 2, learn=True), self._data.bounds
        own: list[Any] = []
        if self._is_small:
            worker = int(np.searchsorted(bounds, first, side="right")) - 1
            own = [(first - bounds[worker], last - bounds[worker])]
            [(error, slopes)] = self._data.each(whole_step, net.theta, masks, own=own, among=[worker])
            net.slopes[:] = slopes
            return float(error)
        cuts = np.unique(np.clip(self._heads, first, last))
        workers = [k for k, (start, stop) in enumerate(pairwise(bounds)) if start < last and stop > first]
        for start, stop in ((bounds[k], bounds[k + 1]) for k in workers):
            ours = cuts[(cuts >= start) & (cuts <= stop)]
            number = int(np.searchsorted(cuts, ours[0]))
            own.append((number, (ours - start).tolist(), int(self._docs[ours[0]] - self._docs[first])))
        found = self._data.each(slopes_of_blocks, net.theta, masks, own=own, among=workers)
        total = sum_of_partials(found, GROUP)
        total[1:] /= total[0] or 1.0  # a sum over pairs is no average
        net.slopes[:] = total[2:]
        return float(total[1])

    def _beyond(self) -> list[Dataset | None]:
        """For each worker but the last, the first queries of those after it, for batches that begin with it."""
        bounds = self._data.bounds
        if not self._is_small or len(bounds) == 2:
            return [None] * (len(bounds) - 1)
        n_more = self._slices.batch - 1
        given = self._data.each(first_queries, n_more)
        beyond: list[Dataset | None] = [None] * len(given)
        for k in range(len(given) - 1):
            last = int(np.searchsorted(bounds, bounds[k + 1] + n_more))  # who has the last of them
            more = concatenate(given[k + 1 : last + 1])
            beyond[k] = more.select_queries(np.arange(min(n_more, more.n_queries)))
        return beyond


def quality_elsewhere(judge: Judge, valid: Divided, activation: str) -> Callable[[RowNet], float]:
    """The judge's metric of a network on validation data that lies with workers; 0 where no query counts."""

    def quality(net: RowNet) -> float:
        found = judge.mean_elsewhere(valid, scores_of_part, net.layers(), activation)
        return -np.inf if found == -np.inf else float(np.nan_to_num(found))

    return quality


# In a worker


def first_queries(bench: Bench, name: str, n_queries: int) -> Dataset:
    """The first queries of its part."""
    data = bench.data[name]
    return data.select_queries(np.arange(min(n_queries, data.n_queries)))


class Piece(NamedTuple):
    """What a worker needs for a step."""

    net: RowNet
    batches: QueryBatches
    beyond: Dataset | None

    def slopes(
        self, theta: NDArray[np.float32], masks: Any, first: int, last: int, row: int = 0
    ) -> tuple[float, float]:
        """The error on some queries, and how much they count; the network's slopes become those of the error."""
        data, n_queries = self.batches.data, self.batches.data.n_queries
        weights: list[float] = []
        if last > n_queries:
            assert self.beyond is not None, "a small batch that goes on with the next worker"
            own = data.select_queries(np.arange(first, n_queries))
            rest = self.beyond.select_queries(np.arange(last - n_queries))
            batch = replace(self.batches, data=concatenate([own, rest])).slice(0, last - first)
        else:
            batch = self.batches.slice(first, last, weights.append)
        self.net.theta[:] = theta
        [error] = row_errors([self.net], batch, masks=[masks], first_row=row)
        return error, sum(weights)


def set_up(bench: Bench, beyond: Dataset | None, name: str, ranker: Any, sizes: list[int], output_bias: bool) -> None:
    """Make a network of this shape, to be given weights, and batches of its part."""
    kind = {"activation": ranker.activation, "initializer": ranker.initializer, "output_bias": output_bias}
    net = RowNet(sizes, **kind, dropout=ranker.dropout, seed=0)
    bench.made["network"] = Piece(net, QueryBatches(bench.data[name], ranker._loss(), None), beyond)


@diverging_quietly
def whole_step(
    bench: Bench,
    place: tuple[int, int],
    _: str,
    theta: NDArray[np.float32],
    masks: Any,
) -> tuple[float, NDArray[np.float32]]:
    """Error and slopes of a whole batch."""
    piece: Piece = bench.made["network"]
    return piece.slopes(theta, masks, *place)[0], piece.net.slopes


@diverging_quietly
def slopes_of_blocks(
    bench: Bench,
    place: tuple[int, list[int], int],
    _: str,
    theta: NDArray[np.float32],
    masks: Any,
) -> Partial:
    """Weight, error and slopes of its blocks of a batch; the first has this number, and this many rows before it."""
    piece: Piece = bench.made["network"]
    number, cuts, row = place

    def sums(first: int, last: int) -> Floats:
        nonlocal row
        error, weight = piece.slopes(theta, masks, first, last, row)
        row += int(piece.batches.data.counts[first:last].sum())
        factor = 1.0 if piece.batches.loss.average == "sum" else weight
        return np.concatenate(([weight, factor * error], factor * piece.net.slopes.astype(np.float64)))

    return partial_of((sums(first, last) for first, last in pairwise(cuts)), GROUP, number)


def scores_of_part(data: Dataset, layers: list[Layer], activation: str) -> Floats:
    """Scores of a network."""
    return forward(data.X, layers, activation)
