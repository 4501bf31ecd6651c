"""Stacked auto-encoders: first weights of the hidden layers of a pair network, learned without labels (DeepNet, 4.3.1).

Layer after layer, a network of that layer and a linear decoder learns to give back its own input: the pairs [x, y] for
the first, what the layers below make of them for the others. The decoder shares its weights like every layer, so that
what is learned keeps N>([x, y]) = N<([y, x]): a layer's neurons stand for x, their duals for y. Few rectified neurons
may all be 0 for most pairs, so that no slope ever reaches them or what is below them: such a layer is drawn again.

As in :mod:`ordino.networks.first_layer`, what has a dual is computed as a sum and a difference: arrays are
(sides, n_pairs, n_own), with a + b and a - b where there are two sides, and what is given where there is one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.interrupts import all_or_nothing
from ordino.layers import Layer
from ordino.networks.first_layer import crossed, with_difference
from ordino.networks.kernels import make_row_kernels
from ordino.networks.nets import Floats, Net
from ordino.networks.rates import Schedule
from ordino.networks.supply import random_parts
from ordino.networks.training import Learner, train
from ordino.streams import spawn_seed

BATCH = 512  # pairs in a step
MOST_DRAWS = 10  # of a layer that says nothing
MOST_KEPT = 1 << 22  # numbers that the coders below give for all pairs, up to which they are kept: 16 MB


class CodedBatch(NamedTuple):
    """The pairs that a step learns to give back, and the batch's share of the epoch."""

    given: Floats  # (sides, n_pairs, n_own)
    share: float


@final
class Coder(Net[CodedBatch]):
    """An auto-encoder: a hidden layer, and a linear one that gives back what it was given."""

    def __init__(self, n_inputs: int, width: int, **options: Any) -> None:
        super().__init__([n_inputs, width, n_inputs], initializer="glorot", **options)

    def encode(self, given: Floats) -> tuple[Floats, Floats]:
        """What hidden neurons and their duals give, and the same as sums and differences."""
        met = given @ self._crossed(self.W[0])  # (sides, n_pairs, n_hidden)
        h = with_difference(met)
        make_row_kernels(self.activation).squash_rows(h.reshape(-1, h.shape[2]), self.b[0])
        return h, with_difference(h)

    def error(self, batch: CodedBatch, *, learn: bool = True) -> float:
        """The mean squared difference of inputs and outputs."""
        given = batch.given
        h, codes = self.encode(given)
        decoder = self._crossed(self.W[1])
        missed: Floats = codes @ decoder  # half of the sums and differences, where there are two sides
        missed[0] += self.b[1]
        missed -= given if self.sides == 1 else given * np.float32(0.5)
        error: float = float(np.vdot(missed, missed)) / missed[0].size
        if not learn:
            return error
        missed *= np.float32(2 / missed[0].size)
        (encoder_slopes, decoder_slopes), (first_b, second_b) = self.views(self.slopes)
        self._keep(decoder_slopes, codes.swapaxes(1, 2) @ missed)
        np.matmul(np.ones(len(missed[0]), np.float32), missed[0], out=second_b)  # faster than a sum of rows
        d = with_difference(missed @ decoder.swapaxes(1, 2))  # (sides, n_pairs, n_hidden)
        wide = (-1, d.shape[2])
        make_row_kernels(self.activation).slope_rows(d.reshape(wide), h.reshape(wide), np.float32(1), first_b)
        self._keep(encoder_slopes, given.swapaxes(1, 2) @ with_difference(d))
        return error

    def _crossed(self, W: Floats) -> Floats:
        return crossed(W.reshape(self.sides, -1, W.shape[1]), self.sides)

    def _keep(self, slopes: Floats, found: Floats) -> None:
        slopes.reshape(found.shape)[:] = crossed(found, self.sides)


def stacked_autoencoders(
    X: Floats, rows: NDArray[np.int64], hidden: Sequence[int], *, shared: bool, activation: str, schedule: Schedule,
    seed: int,
) -> list[Layer]:  # fmt: skip
    """What the hidden layers learned from pairs of rows of X, shape ``(2, n_pairs)``."""
    coders: list[Coder] = []
    for number, width in enumerate(hidden):
        n_inputs = 2 * X.shape[1] if number == 0 else hidden[number - 1]
        kind: dict[str, Any] = {"shared": shared, "activation": activation}
        supply = _CodedPairs(X, rows, tuple(coders), shared)
        for again in range(MOST_DRAWS):
            drawn = spawn_seed(seed, "auto-encoder", number, *([again] if again else []))
            coder = Coder(n_inputs, width, seed=drawn, **kind)
            with all_or_nothing():  # half a start is none
                [trained] = train([Learner(coder, supply, schedule)], schedule.epochs, label="auto-encoder", n_jobs=1)
            coder.load(trained.layers)
            if not supply.is_silent(coder):
                break
        coders.append(coder)
    return [coder.layers()[0] for coder in coders]


@final
@dataclass(frozen=True)
class _CodedPairs:
    """Batches of what the coders below, which learn no more, make of pairs."""

    X: Floats
    rows: NDArray[np.int64]
    below: tuple[Coder, ...]
    shared: bool

    def epoch(self, rng: np.random.Generator) -> Iterator[CodedBatch]:
        """All pairs once, in random order."""
        return map(self._batch, random_parts(self.rows.shape[1], BATCH, rng))

    def is_silent(self, coder: Coder) -> bool:
        """Whether all neurons of a layer above these, and their duals, are 0 for most pairs."""
        heard = sum(int(coder.encode(self._coded(part))[0].any(axis=(0, 2)).sum()) for part in self._parts())
        return bool(heard < self.rows.shape[1] / 2)

    def _batch(self, chosen: NDArray[np.intp]) -> CodedBatch:
        given = self._coded(chosen) if self._kept is None else np.take(self._kept, chosen, axis=1)
        return CodedBatch(given, len(chosen) / self.rows.shape[1])

    @cached_property
    def _kept(self) -> Floats | None:
        """What is made of all pairs, if that is not too much to keep."""
        n_pairs = self.rows.shape[1]
        n_numbers = n_pairs * (self.below[-1].sizes[1] if self.below else 2 * self.X.shape[1])
        if n_numbers > MOST_KEPT:
            return None
        return np.concatenate([self._coded(part) for part in self._parts()], axis=1)

    def _parts(self) -> Iterator[NDArray[np.intp]]:
        """The pairs in their order, batch by batch."""
        n_pairs = self.rows.shape[1]
        return (np.arange(start, min(start + BATCH, n_pairs)) for start in range(0, n_pairs, BATCH))

    def _coded(self, chosen: NDArray[np.intp]) -> Floats:
        pairs = self.X[self.rows[:, chosen]]  # (2, n_pairs, n_features)
        given = with_difference(pairs) if self.shared else np.concatenate(pairs, axis=1)[None]
        for coder in self.below:
            _, given = coder.encode(given)
        return given
