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
from ordino.networks.coder_kernels import make_epoch, n_rows
from ordino.networks.first_kernels import LANES
from ordino.networks.first_layer import LINE, at_lines, crossed, with_difference
from ordino.networks.kernels import make_row_kernels
from ordino.networks.nets import Floats, Net, diverging_quietly
from ordino.networks.rates import Schedule
from ordino.networks.supply import random_parts
from ordino.progress import Steps
from ordino.streams import spawn_seed

BATCH = 512  # pairs in a step
WIDTH = LANES + LINE  # of rows with a number for each pair: whole pages apart, they would share few places in the cache
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
        n_in, n_own = n_inputs // self.sides, width // self.sides
        self._epoch, self._n_own = make_epoch(self.activation), n_own
        self._moments, self._n_steps = np.zeros((2, len(self.theta)), np.float32), 0  # of Adam
        self._crossed_room = np.empty((2, 2 * n_inputs * n_own), np.float32)
        self._room = at_lines(np.zeros(n_rows(self.sides, n_in, n_own) * WIDTH + LINE, np.float32)).reshape(-1, WIDTH)

    def encode(self, given: Floats) -> tuple[Floats, Floats]:
        """What hidden neurons and their duals give, and the same as sums and differences."""
        W = self.W[0]
        met = given @ crossed(W.reshape(self.sides, -1, W.shape[1]), self.sides)  # (sides, n_pairs, n_hidden)
        h = with_difference(met)
        make_row_kernels(self.activation).squash_rows(h.reshape(-1, h.shape[2]), self.b[0])
        return h, with_difference(h)

    def error(self, batch: CodedBatch, *, learn: bool = True) -> float:  # noqa: ARG002  (the slopes come with it)
        """The mean squared difference of inputs and outputs."""
        n_pairs = batch.given.shape[1]
        return self._through(batch.given, np.arange(n_pairs), n_pairs, np.empty((0, 2), np.float32))

    def learn(self, given: Floats, chosen: NDArray[np.intp], rate: float) -> float:
        """Take the steps of the chosen pairs, in batches, with Adam; the mean squared difference on the way."""
        n_batches = -(-len(chosen) // BATCH)
        numbers = np.arange(self._n_steps + 1, self._n_steps + n_batches + 1)
        self._n_steps += n_batches
        paces = np.column_stack((rate / (1 - 0.9**numbers), (1 - 0.999**numbers) ** -0.5)).astype(np.float32)
        return self._through(given, chosen, BATCH, paces)

    @diverging_quietly
    def _through(self, given: Floats, chosen: NDArray[np.intp], size: int, paces: Floats) -> float:
        missed: float = self._epoch(
            np.ascontiguousarray(given), chosen, size, self.theta, self.slopes, *self._moments, paces, self._n_own,
            self._crossed_room, self._room,
        )  # fmt: skip
        return missed / float(len(chosen) * given.shape[2])


def stacked_autoencoders(
    X: Floats, rows: NDArray[np.int64], hidden: Sequence[int], *, shared: bool, activation: str, schedule: Schedule,
    seed: int,
) -> list[Layer]:  # fmt: skip
    """What the hidden layers learned, with Adam, from pairs of rows of X, shape ``(2, n_pairs)``."""
    coders: list[Coder] = []
    for number, width in enumerate(hidden):
        n_inputs = 2 * X.shape[1] if number == 0 else hidden[number - 1]
        kind: dict[str, Any] = {"shared": shared, "activation": activation}
        supply = _CodedPairs(X, rows, tuple(coders), shared)
        for again in range(MOST_DRAWS):
            drawn = spawn_seed(seed, "auto-encoder", number, *([again] if again else []))
            coder = Coder(n_inputs, width, seed=drawn, **kind)
            with all_or_nothing():  # half a start is none
                supply.teach(coder, schedule)
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

    def teach(self, coder: Coder, schedule: Schedule) -> None:
        """Let an auto-encoder above these learn to give back all pairs, in an order that is new in each epoch."""
        rng, n_pairs = np.random.default_rng(0), self.rows.shape[1]
        with Steps("auto-encoder", schedule.epochs) as steps:
            for _ in steps:
                if self._kept is not None:
                    error = coder.learn(self._kept, rng.permutation(n_pairs), schedule.learning_rate)
                else:
                    for part in random_parts(n_pairs, BATCH, rng):
                        error = coder.learn(self._coded(part), np.arange(len(part)), schedule.learning_rate)
                steps.show(error=error)

    def is_silent(self, coder: Coder) -> bool:
        """Whether all neurons of a layer above these, and their duals, are 0 for most pairs."""
        heard = sum(int(coder.encode(self._coded(part))[0].any(axis=(0, 2)).sum()) for part in self._parts())
        return bool(heard < self.rows.shape[1] / 2)

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
