"""Networks in numpy, top to bottom: where their weights lie, what they give for rows of numbers, and how they learn.

All weights of a network are one vector, and so are the slopes of its error in them: an optimizer steps once. Rows go
through in blocks whose number depends on nothing but the number of rows. A block is the work of one thread, and
gradients are added in the order of the blocks, so the result has the same bits on any number of threads.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.layers import PAIR_INITIALIZERS, Layer
from ordino.networks.kernels import drop_rows, make_row_kernels
from ordino.networks.supply import Batch
from ordino.streams import spawned, stream
from ordino.threads import Run, one_by_one

Floats = NDArray[np.float32]
B = TypeVar("B")

LEAST_ROWS = 1024  # of a block
MOST_BLOCKS = 16
WORTH_THREADS = 5_000_000  # products of a step, below which threads wait for each other more than they work
diverging_quietly = np.errstate(over="ignore", invalid="ignore")
"""A decorator: too large a rate shows in the error of the epoch, where rules of rates see it, and not in warnings."""


class Net(ABC, Generic[B]):
    """A feed-forward network: ``sizes`` has the neurons of each layer, from the inputs to the outputs.

    If ``shared``, only the first half of a layer's neurons has weights of its own. The other half are their duals,
    which have the same weights rolled by half, and the same biases.
    """

    def __init__(
        self, sizes: Sequence[int], *, activation: str, initializer: str, seed: int, dropout: float = 0.0,
        shared: bool = False, output_bias: bool = True,
    ) -> None:  # fmt: skip
        self.sizes, self.sides, self.activation = list(sizes), 2 if shared else 1, activation
        self.run: Run = one_by_one
        """How the blocks of a step are worked on."""
        self.output_bias = output_bias
        shapes = [(n_in, n_out // self.sides) for n_in, n_out in pairwise(sizes)]
        n_weights = sum((n_in + 1) * own for n_in, own in shapes) - (0 if output_bias else shapes[-1][1])
        self.theta, self.slopes, self.is_weight = np.zeros((3, n_weights), np.float32)
        """Weights and biases, (n_weights,); the slopes of the error in them; 1 for weights and 0 for biases."""
        self.W, self.b = self.views(self.theta)
        self._dropped = threshold_of(dropout)
        self._keys = Keys(seed)
        draw, rng, last = PAIR_INITIALIZERS[initializer], stream(seed, "weights"), len(shapes) - 1
        for i, flags in enumerate(self.views(self.is_weight)[0]):
            n_in, n_out = sizes[i : i + 2]
            self.W[i][:], flags[:] = draw(rng, n_in, n_out, i == last)[:, : n_out // self.sides], 1

    def views(self, vectors: Floats) -> tuple[list[Floats], list[Floats]]:
        """The weights (..., n_in, n_own) and biases (..., n_own) of each layer that lie in vectors (..., n_weights)."""
        weights, biases, start = [], [], 0
        for n_in, n_out in pairwise(self.sizes):
            own = n_out // self.sides
            middle = start + n_in * own
            weights.append(vectors[..., start:middle].reshape(*vectors.shape[:-1], n_in, own))
            biases.append(vectors[..., middle : middle + own])
            start = middle + own
        return weights, biases

    @abstractmethod
    def error(self, batch: B, *, learn: bool = True) -> float:
        """The error of a batch; if ``learn``, with neurons dropped, and ``slopes`` become those of the error."""

    def layers(self, theta: Floats | None = None) -> list[Layer]:
        """The network as plain arrays with the weights of all neurons, copied; or what it was with this ``theta``."""
        return [
            Layer(whole(W, self.sides).copy(), np.tile(b if len(b) else np.zeros(1, np.float32), self.sides))
            for W, b in zip(*self.views(self.theta if theta is None else theta), strict=True)
        ]

    def load(self, layers: Sequence[Layer]) -> None:
        """Take over the weights of the first layers, or of all."""
        for W, b, layer in zip(self.W, self.b, layers, strict=False):
            W[:], b[:] = layer.W[:, : W.shape[1]], layer.b[: len(b)]

    def masks(self, n_masks: int, learn: bool) -> NDArray[np.uint32]:
        """For each mask of a step two keys and the threshold of ``is_dropped``: shape ``(n_masks, 3)``."""
        masks = np.zeros((n_masks, 3), np.uint32)
        if learn and self._dropped:
            masks[:, 2] = self._dropped
            for mask in masks:
                mask[:2] = self._keys.next()
        return masks


@final
class Keys:
    """Random numbers from which masks are made, two at a time: many are drawn at once, which takes less time."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.SFC64(spawned(seed, "masks")))
        self._drawn: list[list[int]] = []

    def next(self) -> list[int]:
        """Two whole numbers of 32 bits."""
        if not self._drawn:
            self._drawn = self._generator.integers(0, 2**32, (128, 2), np.uint32)[::-1].tolist()
        return self._drawn.pop()


def threshold_of(dropout: float) -> np.uint32:
    """In how many of 2^32 cases a neuron is dropped."""
    return np.uint32(round(2**32 * dropout))


def whole(W: Floats, sides: int) -> Floats:
    """The weights of all neurons of a layer, the duals' after the others'."""
    return W if sides == 1 else np.concatenate((W, np.roll(W, len(W) // 2, axis=0)), axis=1)


def even_parts(n: int, n_parts: int) -> list[tuple[int, int]]:
    """Where each of about equal parts of n things starts and stops.

    Examples
    --------
    >>> even_parts(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    return list(pairwise(n * part // n_parts for part in range(n_parts + 1)))


@final
class RowNet(Net[Batch]):
    """A network of rows of numbers, which scores documents."""

    def __init__(self, sizes: Sequence[int], **options: Any) -> None:
        super().__init__(sizes, **options)
        self._rooms: list[Floats] = []
        self.alone = [W[None] for W in self.W], [b[None] for b in self.b], self.views(self.slopes[None])
        """Weights, biases, and the slopes in both, as those of several networks of which this is the only one."""

    def error(self, batch: Batch, *, learn: bool = True) -> float:
        """The error of a batch of rows."""
        return row_errors([self], batch, learn=learn)[0]

    def room(self, n_nets: int, n_rows: int) -> tuple[list[Floats], list[Floats]]:
        """What each layer of several networks gives, and the slopes of what each hidden layer gets; kept for later."""
        n_layers = len(self.sizes) - 1
        if not self._rooms or len(self._rooms[0]) != n_nets or self._rooms[0].shape[1] < n_rows:
            widths = (*self.sizes[1:], *self.sizes[1:-1])
            self._rooms = [np.empty((n_nets, n_rows, width), np.float32) for width in widths]
        return self._rooms[:n_layers], self._rooms[n_layers:]


@diverging_quietly
def row_errors(
    nets: Sequence[RowNet], batch: Batch, *, learn: bool = True, masks: Sequence[NDArray[np.uint32]] | None = None,
    first_row: int = 0,
) -> list[float]:  # fmt: skip
    """The error of each of several networks of one shape; if ``learn``, their ``slopes`` become those of the error.

    ``masks`` say which neurons are dropped, if the networks are not to draw them; ``first_row`` is the number of the
    first row where the batch is a part of one.

    The products of a network are the same matrices as if it were alone, so they have the same bits.
    """
    first, X = nets[0], batch.X
    n_nets, n_rows, n_hidden = len(nets), len(X), len(first.sizes) - 2
    weights, biases, _ = first.alone
    if n_nets > 1:
        weights = [np.stack([net.W[i] for net in nets]) for i in range(n_hidden + 1)]  # each (n_nets, n_in, n_out)
        biases = [np.stack([net.b[i] for net in nets]) for i in range(n_hidden + 1)]  # each (n_nets, n_out)
    masks = masks or [net.masks(n_hidden, learn) for net in nets]  # each (n_hidden, 3)
    kernels, (h, d) = make_row_kernels(first.activation), first.room(n_nets, n_rows)
    blocks = list(enumerate(even_parts(n_rows, min(-(-n_rows // LEAST_ROWS), MOST_BLOCKS))))
    is_much = len(blocks) > 1 and n_rows * len(first.theta) > WORTH_THREADS

    def run(work: Callable[[Any], None]) -> None:
        if is_much:
            first.run(diverging_quietly(work), blocks)
        else:
            one_by_one(work, blocks)

    def forward(block: tuple[int, tuple[int, int]]) -> None:
        start, stop = block[1]
        seen = X[None, start:stop]  # (1, n_rows, n_in)
        for i, W in enumerate(weights):
            out = h[i][:, start:stop]  # (n_nets, n_rows, n_out)
            np.matmul(seen, W, out=out)
            if i < n_hidden:
                for own, bias, mask in zip(out, biases[i], masks, strict=True):
                    kernels.squash_rows(own, bias)
                    if mask[i, 2]:
                        drop_rows(own, mask[i], first_row + start)
            elif first.output_bias:
                out += biases[i][:, None]
            seen = out

    run(forward)
    values, slope = batch.errors(h[-1][:, :n_rows])
    if not learn:
        return values
    only = len(blocks) == n_nets == 1
    parts = None if only else np.empty((len(blocks), n_nets, len(first.theta)), np.float32)

    def backward(block: tuple[int, tuple[int, int]]) -> None:
        number, (start, stop) = block
        slopes_W, slopes_b = first.alone[2] if parts is None else first.views(parts[number])
        above = slope[:, start:stop]  # (n_nets, n_rows, n_out)
        for i in reversed(range(n_hidden + 1)):
            seen = h[i - 1][:, start:stop] if i else X[None, start:stop]  # (n_nets or 1, n_rows, n_in)
            np.matmul(seen.swapaxes(1, 2), above, out=slopes_W[i])
            if i == 0:
                break
            below = d[i - 1][:, start:stop]  # (n_nets, n_rows, n_in)
            if above.shape[2] == 1:  # three times as fast as the product of a column and a row
                np.multiply(above, weights[i].swapaxes(1, 2), out=below)
            else:
                np.matmul(above, weights[i].swapaxes(1, 2), out=below)
            total = np.empty((n_nets, below.shape[2]), np.float32)
            for m, mask in enumerate(masks):
                if mask[i - 1, 2]:
                    drop_rows(below[m], mask[i - 1], first_row + start)
                kernels.slope_rows(below[m], seen[m], np.float32(1 - mask[i - 1, 2] / 2**32), total[m])
            slopes_b[i - 1][:] = total
            above = below
        if first.output_bias:
            slope[:, start:stop].sum(axis=1, out=slopes_b[-1])

    run(backward)
    if parts is not None:
        for net, own in zip(nets, parts.sum(axis=0), strict=True):
            net.slopes[:] = own
    return values
