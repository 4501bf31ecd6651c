"""RankSVM's sums where the documents lie on several machines: each makes those of its blocks, in one order.

The solver is the same, and so are the bits. A call says all that is needed: scores are given by the steps that led to
them, from which a machine that took over from a dead one makes them again; the others remember the last ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from ordino.backends.crew import Bench
from ordino.division import Divided
from ordino.reduction import GROUP, Partial, partial_sum, sum_of_partials
from ordino.svm.pairs import HingeSums, PairSums, Vector, document_weights

T = TypeVar("T")
REMEMBERED = 4  # of each kind, by a machine


class Step(NamedTuple):
    """A step along a direction."""

    length: float
    direction: Vector


Steps = tuple[Step, ...]  # that led to some scores, from 0


class FarSums(NamedTuple):
    """Sums over pairs after these steps; what belongs to documents stays where they are."""

    steps: Steps
    low: float
    high: float
    value: float
    shortfall: float


@final
class DividedPairs:
    """The pairs of documents that lie on several machines, as the solver sees them."""

    def __init__(self, data: Divided, pairs: str) -> None:
        self.n_features = data.n_features
        self._data = data
        places = zip(data.docs_before, data.blocks_before, strict=True)
        data.each(set_up, pairs, data.n_pairs, own=list(places), lasting=True)

    def scores(self, w: Vector) -> Steps:
        """The way to the scores of these weights."""
        return (Step(1.0, w),)

    def moved(self, scores: Steps, length: float, change: Steps) -> Steps:
        """The way after one more step."""
        return (*scores, Step(length, change[0].direction))

    def sums(self, scores: Steps, low: float, high: float) -> FarSums:
        """Sums over all pairs."""
        value, shortfall = self._sum(sums_of_part, scores, low, high)
        return FarSums(scores, low, high, float(value), float(shortfall))

    def slopes(self, at: FarSums) -> Vector:
        """Minus half the derivative of ``at.value`` by the weights of features."""
        return self._sum(slopes_of_part, at.steps, at.low, at.high)

    def curvature(self, scores: Steps, at: FarSums, v: Vector) -> Vector:
        """Half the second derivative of ``at.value`` by the weights of features, times v."""
        return self._sum(curvature_of_part, scores, at.low, at.high, v)

    def _sum(self, function: Callable[..., Partial], *given: Any) -> Vector:
        return sum_of_partials(self._data.each(function, *given), GROUP)


@final
class Piece:
    """The pairs of one machine, with the scores and sums that it made last."""

    def __init__(self, pairs: PairSums, first_block: int) -> None:
        self.pairs, self.first_block = pairs, first_block
        self._known: dict[str, OrderedDict[Any, Any]] = {}

    def scores(self, steps: Steps) -> Vector:
        """The scores after these steps, added one after another."""

        def make() -> Vector:
            *before, last = steps
            change = self._remembered("change", last.direction.tobytes(), lambda: self.pairs.scores(last.direction))
            return self.pairs.moved(self.scores(tuple(before)), last.length, change) if before else change

        return self._remembered("scores", _key(steps), make)

    def sums(self, steps: Steps, low: float, high: float) -> tuple[Vector, HingeSums]:
        """Sums of blocks and of documents."""
        key = (_key(steps), low, high)
        return self._remembered("sums", key, lambda: self.pairs.sums_of_blocks(self.scores(steps), low, high))

    def partial(self, rows: Vector) -> Partial:
        """What these rows, one for each block, say about the sum of all."""
        return partial_sum(rows, GROUP, self.first_block)

    def _remembered(self, kind: str, key: Any, make: Callable[[], T]) -> T:
        known = self._known.setdefault(kind, OrderedDict())
        if key not in known:
            known[key] = make()
        known.move_to_end(key)
        found: T = known[key]
        while len(known) > REMEMBERED:
            known.popitem(last=False)
        return found


def set_up(bench: Bench, place: tuple[int, int], name: str, pairs: str, n_pairs: float) -> None:
    """In a worker: the pairs of its documents."""
    data, (docs_before, first_block) = bench.data[name], place
    weights = document_weights(data, pairs, n_pairs)
    made = PairSums(data.X, data.y, data.offsets, weights, 1, docs_before)
    bench.made["pairs"] = Piece(made, first_block)


def sums_of_part(bench: Bench, _: str, steps: Steps, low: float, high: float) -> Partial:
    """In a worker: value and shortfall of its blocks."""
    piece: Piece = bench.made["pairs"]
    return piece.partial(piece.sums(steps, low, high)[0])


def slopes_of_part(bench: Bench, _: str, steps: Steps, low: float, high: float) -> Partial:
    """In a worker: the slopes of its blocks."""
    piece: Piece = bench.made["pairs"]
    return piece.partial(piece.pairs.features_of_blocks(piece.sums(steps, low, high)[1].slope))


def curvature_of_part(bench: Bench, _: str, steps: Steps, low: float, high: float, v: Vector) -> Partial:
    """In a worker: the curvature of its blocks, times v."""
    piece: Piece = bench.made["pairs"]
    at = piece.sums(steps, low, high)[1]
    return piece.partial(piece.pairs.features_of_blocks(piece.pairs.curved(piece.scores(steps), at, v)))


def _key(steps: Steps) -> tuple[Any, ...]:
    return tuple((step.length, np.ascontiguousarray(step.direction).tobytes()) for step in steps)
