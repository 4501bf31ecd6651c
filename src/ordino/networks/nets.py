"""Networks in numpy, top to bottom: where their weights lie, what they give for rows of numbers, and how they learn.

All weights of a network are one vector, and so are the slopes of its error in them: an optimizer steps once. Rows go
through in blocks whose number depends on nothing but the number of rows. A block is the work of one thread, and
gradients are added in the order of the blocks, so the result has the same bits on any number of threads.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.layers import PAIR_INITIALIZERS, Layer
from ordino.networks.kernels import make_row_kernels
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
        self._output_bias = output_bias
        shapes = [(n_in, n_out // self.sides) for n_in, n_out in pairwise(sizes)]
        n_weights = sum((n_in + 1) * own for n_in, own in shapes) - (0 if output_bias else shapes[-1][1])
        self.theta, self.slopes, self.is_weight = np.zeros((3, n_weights), np.float32)
        """Weights and biases, (n_weights,); the slopes of the error in them; 1 for weights and 0 for biases."""
        self.W, self.b = self._views(self.theta)
        self._dropped = np.uint32(round(2**32 * dropout))
        self._keys = np.random.Generator(np.random.SFC64(spawned(seed, "masks")))
        draw, rng, last = PAIR_INITIALIZERS[initializer], stream(seed, "weights"), len(shapes) - 1
        for i, flags in enumerate(self._views(self.is_weight)[0]):
            n_in, n_out = sizes[i : i + 2]
            self.W[i][:], flags[:] = draw(rng, n_in, n_out, i == last)[:, : n_out // self.sides], 1

    def _views(self, vector: Floats) -> tuple[list[Floats], list[Floats]]:
        """The weights (n_in, n_own) and biases (n_own,) of each layer that lie in a vector."""
        weights, biases, start = [], [], 0
        for n_in, n_out in pairwise(self.sizes):
            own = n_out // self.sides
            middle = start + n_in * own
            weights.append(vector[start:middle].reshape(n_in, own))
            biases.append(vector[middle : middle + own])
            start = middle + own
        return weights, biases

    @abstractmethod
    def error(self, batch: B, *, learn: bool = True) -> float:
        """The error of a batch; if ``learn``, with neurons dropped, and ``slopes`` become those of the error."""

    def layers(self) -> list[Layer]:
        """The network as plain arrays with the weights of all neurons, copied."""
        return [
            Layer(whole(W, self.sides).copy(), np.tile(b if len(b) else np.zeros(1, np.float32), self.sides))
            for W, b in zip(self.W, self.b, strict=True)
        ]

    def load(self, layers: Sequence[Layer]) -> None:
        """Take over the weights of the first layers, or of all."""
        for W, b, layer in zip(self.W, self.b, layers, strict=False):
            W[:], b[:] = layer.W[:, : W.shape[1]], layer.b[: len(b)]

    def _masks(self, n_masks: int, learn: bool) -> NDArray[np.uint32]:
        """For each mask of a step two keys and the threshold of ``is_dropped``: shape ``(n_masks, 3)``."""
        masks = np.zeros((n_masks, 3), np.uint32)
        if learn and self._dropped:
            masks[:, :2] = self._keys.integers(0, 2**32, (n_masks, 2), np.uint32)
            masks[:, 2] = self._dropped
        return masks


def whole(W: Floats, sides: int) -> Floats:
    """The weights of all neurons of a layer, the duals' after the others'."""
    return W if sides == 1 else np.concatenate((W, np.roll(W, len(W) // 2, axis=0)), axis=1)


def folded(slopes: Floats) -> Floats:
    """The slopes in the weights that neurons share with their duals, from those in the weights of all neurons."""
    own = slopes.shape[1] // 2
    shared: Floats = slopes[:, :own] + np.roll(slopes[:, own:], len(slopes) // 2, axis=0)
    return shared


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
    """A network of rows of numbers: it scores documents, or gives back what it was given (an auto-encoder)."""

    def __init__(self, sizes: Sequence[int], **options: Any) -> None:
        super().__init__(sizes, **options)
        self._kernels = make_row_kernels(self.activation)
        self._rooms: list[Floats] = []

    def error(self, batch: Batch, *, learn: bool = True) -> float:
        """The error of a batch of rows."""
        X, masks = batch.X, self._masks(len(self.sizes) - 2, learn)
        weights, biases = self._whole()
        h, d = self._room(len(X))
        blocks = list(enumerate(even_parts(len(X), min(-(-len(X) // LEAST_ROWS), MOST_BLOCKS))))
        run = self.run if len(X) * len(self.theta) > WORTH_THREADS else one_by_one

        @diverging_quietly
        def forward(block: tuple[int, tuple[int, int]]) -> None:
            start, stop = block[1]
            seen = X[start:stop]  # (n_rows, n_in)
            for i, W in enumerate(weights):
                out = h[i][start:stop]  # (n_rows, n_out)
                np.matmul(seen, W, out=out)
                if i < len(masks):
                    self._kernels.squash_rows(out, biases[i], masks[i], start)
                elif self._output_bias:
                    out += biases[i]
                seen = out

        run(forward, blocks)
        value, slope = batch.loss(h[-1][: len(X)])
        if not learn:
            return value
        parts = self.slopes[None] if len(blocks) == 1 else np.empty((len(blocks), len(self.slopes)), np.float32)

        @diverging_quietly
        def backward(block: tuple[int, tuple[int, int]]) -> None:
            number, (start, stop) = block
            slopes_W, slopes_b = self._views(parts[number])
            above = slope[start:stop]  # (n_rows, n_out)
            for i in reversed(range(len(weights))):
                seen = h[i - 1][start:stop] if i else X[start:stop]  # (n_rows, n_in)
                if self.sides == 1:
                    np.matmul(seen.T, above, out=slopes_W[i])
                else:
                    slopes_W[i][:] = folded(seen.T @ above)
                if i == 0:
                    break
                below = d[i - 1][start:stop]  # (n_rows, n_in)
                if above.shape[1] == 1:  # three times as fast as the product of a column and a row
                    np.multiply(above, weights[i][:, 0], out=below)
                else:
                    np.matmul(above, weights[i].T, out=below)
                total = np.empty(below.shape[1], np.float32)
                self._kernels.slope_rows(below, seen, masks[i - 1], start, total)
                slopes_b[i - 1][:] = total.reshape(self.sides, -1).sum(axis=0)
                above = below
            if self._output_bias:
                slopes_b[-1][:] = slope[start:stop].sum(axis=0).reshape(self.sides, -1).sum(axis=0)

        run(backward, blocks)
        if len(blocks) > 1:
            parts.sum(axis=0, out=self.slopes)
        return value

    def _whole(self) -> tuple[list[Floats], list[Floats]]:
        """Weights and biases of all neurons."""
        if self.sides == 1:
            return self.W, self.b
        return [whole(W, self.sides) for W in self.W], [np.tile(b, 2) for b in self.b]

    def _room(self, n_rows: int) -> tuple[list[Floats], list[Floats]]:
        """What each layer gives, and the slopes of what each hidden layer gets: kept from step to step."""
        if not self._rooms or len(self._rooms[0]) < n_rows:
            self._rooms = [np.empty((n_rows, width), np.float32) for width in (*self.sizes[1:], *self.sizes[1:-1])]
        return self._rooms[: len(self.sizes) - 1], self._rooms[len(self.sizes) - 1 :]
