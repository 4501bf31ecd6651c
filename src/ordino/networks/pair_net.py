r"""Networks that compare two documents: CmpNN of any depth, and a dense net without its sharing.

For a pair [x, y] a network gives two numbers before the sigmoid, the evidence for x before y and for y before x. In a
CmpNN every neuron i has a dual i' that sees the same pair the other way around: the weights from x and y, or from a
layer's neurons and their duals, are swapped, and the bias is the same (SortNet, rules 1-3; DeepNet, rules 1-5). So
:math:`N_\succ([x, y]) = N_\prec([y, x])`, whatever the weights are.

The first layer is a sum of two projections, each computed once for each document and not once for each pair, unless
features are dropped: then every pair has its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.interrupts import all_or_nothing
from ordino.layers import ACTIVATIONS, Layer
from ordino.networks.nets import Floats, Net, RowNet, diverging_quietly, even_parts, threshold_of, whole
from ordino.networks.pair_kernels import LANES, gather_inputs, make_chunk, number_documents
from ordino.networks.rates import Schedule
from ordino.networks.supply import Batch, PairBatch, random_parts
from ordino.networks.training import Learner, train
from ordino.streams import spawn_seed

CHUNK = 4096  # pairs that one thread works on at a time; with fewer, threads would wait more than they work
BATCH = 512  # pairs in a step of an auto-encoder


@final
class PairNet(Net[PairBatch]):
    """A network of two documents with two outputs, whose error is a pair's mean over them (DeepNet, 3.2).

    The output for the first document is held against the target t, the other against 1 - t, by a loss of LOSSES that is
    a function of a pair's probability: an output is the margin behind it. If ``shared``, ``hidden`` counts duals too.

    Dropout drops neurons, and ``input_dropout`` features, for each pair anew. A CmpNN drops a neuron together with its
    dual and a feature of both documents, so that swapping the documents swaps the outputs in training too.
    """

    def __init__(
        self, n_features: int, hidden: Sequence[int], *, loss: str = "ranknet", input_dropout: float = 0.0,
        **options: Any,
    ) -> None:  # fmt: skip
        super().__init__([2 * n_features, *hidden, 2], **options)
        self._kernel, self._widths = make_chunk(self.activation, loss), np.array(self.sizes[1:])
        self._dropped_inputs = threshold_of(input_dropout)
        numbers: Any = np.arange(len(self.theta))
        places_W, places_b = self.views(numbers)
        both = [np.tile(b, self.sides) for b in places_b] + [whole(W, self.sides).ravel() for W in places_W[1:]]
        self._places: Any = np.concatenate(both)  # of all biases, and of all weights above the first layer, in theta
        self._sharing = np.argsort(self._places, kind="stable").reshape(-1, self.sides).T  # (sides, n_own)
        self._rooms: list[_Room] = []  # a thread takes one and puts it back

    def error(self, batch: PairBatch, *, learn: bool = True) -> float:
        """The error of a batch of pairs, chunk by chunk."""
        n_pairs, W = len(batch.codes), self.W[0]
        first = np.concatenate((W[: len(W) // 2], W[len(W) // 2 :]), axis=1)  # (n_features, 2 n_own)
        given = batch, first, self.theta[self._places], self.masks_of_pairs(learn), np.float32(learn / (2 * n_pairs))
        if n_pairs <= CHUNK:
            return self._chunk(0, n_pairs, self.slopes, *given) / (2 * n_pairs)
        bounds = even_parts(n_pairs, -(-n_pairs // CHUNK))
        parts = np.empty((len(bounds), len(self.slopes)), np.float32)
        work = [(start, stop, part) for (start, stop), part in zip(bounds, parts, strict=True)]
        error: float = sum(self.run(lambda one: self._chunk(one[0], one[1], one[2], *given), work)) / (2 * n_pairs)
        if learn:
            parts.sum(axis=0, out=self.slopes)
        return error

    @diverging_quietly
    def _chunk(
        self, start: int, stop: int, slopes: Floats, batch: PairBatch, first: Floats, deep: Floats,
        masks: NDArray[np.uint32], share: np.float32,
    ) -> float:  # fmt: skip
        """The summed error of the pairs from ``start`` to ``stop``; if ``share`` is not 0, ``slopes`` get theirs."""
        try:
            room = self._rooms.pop()
        except IndexError:  # other threads have them all
            room = _Room(int(self._widths.sum()), len(deep))
        of_hidden, of_inputs = masks
        codes, n_neurons = batch.codes[start:stop], len(room.neurons[0])
        if of_inputs[2]:
            rows, pairs = room.places_of_inputs(len(codes), batch.X.shape[1])  # (2 n_pairs, n_features), (2, n_pairs)
            step = 0 if self.sides == 2 else batch.X.shape[1]
            gather_inputs(batch.X, codes, of_inputs, start, n_neurons, step, rows)
        else:
            rows, pairs = room.gather(batch.X, codes)  # (n_docs, n_features), (2, n_pairs)
        table, back = room.projections(len(rows), first.shape[1])  # (n_docs, 2 n_own) twice
        np.matmul(rows, first, out=table)
        room.slopes.fill(0)
        back.fill(0)
        error: float = self._kernel(
            table, pairs, batch.target[start:stop], deep[:n_neurons], deep[n_neurons:], self._widths, self.sides,
            of_hidden, start, share, room.neurons, room.lanes, back, room.slopes,
        )  # fmt: skip
        if share:
            n_first = self.W[0].size
            both = (rows.T @ back).reshape(len(first), 2, -1)  # (n_features, 2, n_own)
            slopes[:n_first].reshape(2, len(first), -1)[:] = both.swapaxes(0, 1)
            room.slopes[self._sharing].sum(axis=0, out=slopes[n_first:])
        self._rooms.append(room)
        return error

    def masks_of_pairs(self, learn: bool) -> NDArray[np.uint32]:
        """Two keys and the threshold of ``is_dropped`` for the hidden neurons, and the same keys for the inputs."""
        masks = np.zeros((2, 3), np.uint32)
        if learn and (self._dropped or self._dropped_inputs):
            masks[:, :2] = self._keys.integers(0, 2**32, 2, np.uint32)
            masks[0, 2], masks[1, 2] = self._dropped, self._dropped_inputs
        return masks


@final
class _Room:
    """The arrays that the steps of one thread work in; they grow with what they are asked for."""

    def __init__(self, n_neurons: int, n_deep: int) -> None:
        self.neurons = np.zeros((3, n_neurons, LANES), np.float32)
        self.neurons[2] = 1
        self.lanes, self.slopes = np.zeros(LANES, np.uint32), np.empty(n_deep, np.float32)
        self._mark, self._stamp = np.zeros((2, 0), np.int32), 0
        self._docs, self._pairs = np.empty(0, np.int32), np.empty((2, 0), np.int32)
        self._rows = self._table = self._back = np.empty((0, 0), np.float32)

    def gather(self, X: Floats, codes: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int32]]:
        """The rows of the documents in these pairs, and the numbers of each pair's documents among them."""
        if self._mark.shape[1] < len(X):
            self._mark, self._stamp = np.zeros((2, len(X)), np.int32), 0
        if self._pairs.shape[1] != len(codes):
            self._docs, self._pairs = np.empty(2 * len(codes), np.int32), np.empty((2, len(codes)), np.int32)
        self._stamp += 1
        n_docs = number_documents(codes, len(X), self._mark, self._stamp, self._docs, self._pairs)
        rows = self._rows_for(n_docs, X.shape[1])
        return np.take(X, self._docs[:n_docs], axis=0, out=rows, mode="clip"), self._pairs

    def places_of_inputs(self, n_pairs: int, width: int) -> tuple[Floats, NDArray[np.int32]]:
        """Rows for the two documents of every pair, yet to be filled, and their numbers."""
        return self._rows_for(2 * n_pairs, width), np.arange(2 * n_pairs, dtype=np.int32).reshape(2, -1)

    def _rows_for(self, n_rows: int, width: int) -> Floats:
        if len(self._rows) < n_rows or self._rows.shape[1] != width:
            self._rows = np.empty((n_rows, width), np.float32)
        return self._rows[:n_rows]

    def projections(self, n_docs: int, width: int) -> tuple[Floats, Floats]:
        """Places for what the first layer makes of each document, and for the slopes of it."""
        if len(self._table) < n_docs:
            self._table, self._back = np.empty((2, n_docs, width), np.float32)
        return self._table[:n_docs], self._back[:n_docs]


def stacked_autoencoders(
    X: Floats, rows: NDArray[np.int64], hidden: Sequence[int], *, shared: bool, activation: str, schedule: Schedule,
    seed: int,
) -> list[Layer]:  # fmt: skip
    """First weights of the hidden layers of a pair network, learned without labels (DeepNet, 4.3.1).

    Layer after layer, a network of that layer and a linear decoder learns to give back its own input: the pairs [x, y]
    for the first, what the layers below make of them for the others. The decoder shares its weights like every layer,
    so that what is learned keeps N>([x, y]) = N<([y, x]): a layer's neurons stand for x, their duals for y.
    ``rows``, shape ``(2, n_pairs)``, are those of X that make up the pairs.
    """
    layers: list[Layer] = []
    for number, width in enumerate(hidden):
        supply = _Reconstruction(X, rows, tuple(layers), activation)
        n_inputs = 2 * X.shape[1] if number == 0 else hidden[number - 1]
        coder = RowNet(
            [n_inputs, width, n_inputs], shared=shared, activation=activation, initializer="glorot",
            seed=spawn_seed(seed, "auto-encoder", number),
        )  # fmt: skip
        with all_or_nothing():  # half a start is none
            [trained] = train([Learner(coder, supply, schedule)], schedule.epochs, label="auto-encoder")
        layers.append(trained.layers[0])
    return layers


@final
@dataclass(frozen=True)
class _Reconstruction:
    """Batches of what the layers below make of pairs, which the network learns to give back."""

    X: Floats
    rows: NDArray[np.int64]
    below: tuple[Layer, ...]
    activation: str

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pairs once, in random order."""
        return map(self._chunk, random_parts(self.rows.shape[1], BATCH, rng))

    def _chunk(self, chosen: NDArray[np.intp]) -> Batch:
        target = np.concatenate(self.X[self.rows[:, chosen]], axis=1)  # (n_pairs, n_inputs)
        for W, b in self.below:
            target = ACTIVATIONS[self.activation](target @ W + b)

        def loss(outputs: Floats) -> tuple[float, Floats]:
            missed = outputs - target
            return float((missed**2).mean(dtype=np.float64)), missed * np.float32(2 / target.size)

        return Batch(target, loss, len(chosen) / self.rows.shape[1])
