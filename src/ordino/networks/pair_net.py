r"""Networks that compare two documents: CmpNN of any depth, and a dense net without its sharing.

For a pair [x, y] a network gives two numbers before the sigmoid, the evidence for x before y and for y before x. In a
CmpNN every neuron i has a dual i' that sees the same pair the other way around: the weights from x and y, or from a
layer's neurons and their duals, are swapped, and the bias is the same (SortNet, rules 1-3; DeepNet, rules 1-5). So
:math:`N_\succ([x, y]) = N_\prec([y, x])`, whatever the weights are.

The first layer is a sum of two projections, each computed once for each document and not once for each pair, unless
features are dropped: then every pair has its own.
"""

from collections.abc import Sequence
from copy import copy
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.networks.first_kernels import LANES
from ordino.networks.first_layer import FEW_PAIRS, LINE, FirstLayer, Gathered, at_lines, crossed
from ordino.networks.nets import Floats, Net, diverging_quietly, even_parts, threshold_of, whole
from ordino.networks.pair_kernels import make_chunk
from ordino.networks.supply import PairBatch

Kept = dict[tuple[int, bool], Gathered]  # by where a chunk starts, and whether it has a row for each pair

MOST_KEPT = 1 << 22  # numbers in the rows of a batch that are kept from epoch to epoch: 16 MB
CHUNK = 4096  # pairs that one thread works on at a time
ALONE = 3 * CHUNK // 2  # pairs up to which one thread is quicker: two would wait more than they work


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
        self._kernel, self._widths = make_chunk(self.activation, loss, len(hidden) > 1), np.array(self.sizes[1:])
        self._dropped_inputs = threshold_of(input_dropout)
        numbers: Any = np.arange(len(self.theta))
        places_W, places_b = self.views(numbers)
        both = [np.tile(b, self.sides) for b in places_b] + [whole(W, self.sides).ravel() for W in places_W[1:]]
        self._places: Any = np.concatenate(both)  # of all biases, and of all weights above the first layer, in theta
        self._sharing = np.argsort(self._places, kind="stable").reshape(-1, self.sides).T  # (sides, n_own)
        self._rooms: list[_Room] = []  # a thread takes one and puts it back
        self._kept: list[tuple[NDArray[np.int64], Kept]] = []  # codes of a lasting batch, and what was gathered

    def error(self, batch: PairBatch, *, learn: bool = True) -> float:
        """The error of a batch of pairs, chunk by chunk."""
        n_pairs, n_features, masks = len(batch.codes), batch.X.shape[1], self.masks_of_pairs(learn)
        by_pair = bool(masks[1, 2]) or n_pairs < FEW_PAIRS * len(batch.X)
        given = (
            batch, by_pair, crossed(self.W[0].reshape(2, n_features, -1), self.sides), self.theta[self._places], masks,
            np.float32(learn / (2 * n_pairs)),
        )  # fmt: skip
        if n_pairs <= ALONE:
            return self._chunk(0, n_pairs, self.slopes, *given) / (2 * n_pairs)
        bounds = even_parts(n_pairs, 2 * -(-n_pairs // (2 * CHUNK)))  # as many for either of two threads
        parts = np.empty((len(bounds), len(self.slopes)), np.float32)
        work = [(start, stop, part) for (start, stop), part in zip(bounds, parts, strict=True)]
        error: float = sum(self.run(lambda one: self._chunk(one[0], one[1], one[2], *given), work)) / (2 * n_pairs)
        if learn:
            parts.sum(axis=0, out=self.slopes)
        return error

    def twin(self) -> "PairNet":
        """A network of the same kind with weights of its own: another thread may measure it while this one learns."""
        twin = copy(self)
        twin.theta = self.theta.copy()
        twin.W, twin.b = twin.views(twin.theta)
        return twin

    @diverging_quietly
    def _chunk(
        self, start: int, stop: int, slopes: Floats, batch: PairBatch, by_pair: bool, first: Floats, deep: Floats,
        masks: NDArray[np.uint32], share: np.float32,
    ) -> float:  # fmt: skip
        """The summed error of the pairs from ``start`` to ``stop``; if ``share`` is not 0, ``slopes`` get theirs."""
        try:
            room = self._rooms.pop()
        except IndexError:  # other threads have them all
            room = _Room(int(self._widths.sum()), len(deep), self.sides, first.shape[2])
        (of_hidden, of_inputs), n_neurons = masks, len(room.neurons[0])
        gathered = self._gathered(room.first, batch, start, stop, by_pair)
        reached = room.first.forward(gathered, stop - start, first, of_inputs, start, n_neurons)
        room.slopes.fill(0)
        error: float = self._kernel(
            reached, batch.target[start:stop], deep[:n_neurons], deep[n_neurons:], self._widths, self.sides, of_hidden,
            start, share, room.neurons, room.lanes, room.slopes,
        )  # fmt: skip
        if share:
            slopes[: first.size].reshape(first.shape)[:] = crossed(room.first.backward(), self.sides)
            room.slopes[self._sharing].sum(axis=0, out=slopes[first.size :])
        self._rooms.append(room)
        return error

    def _gathered(self, layer: FirstLayer, batch: PairBatch, start: int, stop: int, by_pair: bool) -> Gathered:
        """The rows of some pairs of a batch, kept for later where they come again."""
        if not batch.lasting:
            return layer.gather(batch.X, batch.codes[start:stop], by_pair, to_keep=False)
        kept = next((kept for codes, kept in self._kept if codes is batch.codes), None)
        if kept is None:
            kept = {}
            self._kept = [*self._kept[-1:], (batch.codes, kept)]
        if (start, by_pair) not in kept:
            gathered = layer.gather(batch.X, batch.codes[start:stop], by_pair, to_keep=True)
            if sum(one.rows.size for one in kept.values()) + gathered.rows.size > MOST_KEPT:
                return gathered
            kept[start, by_pair] = gathered
        return kept[start, by_pair]

    def masks_of_pairs(self, learn: bool) -> NDArray[np.uint32]:
        """Two keys and the threshold of ``is_dropped`` for the hidden neurons, and the same keys for the inputs."""
        masks = np.zeros((2, 3), np.uint32)
        if learn and (self._dropped or self._dropped_inputs):
            masks[:, :2] = self._keys.next()
            masks[0, 2], masks[1, 2] = self._dropped, self._dropped_inputs
        return masks


@final
class _Room:
    """The arrays that the steps of one thread work in."""

    def __init__(self, n_neurons: int, n_deep: int, sides: int, n_own: int) -> None:
        self.neurons = at_lines(np.zeros(3 * n_neurons * LANES + LINE, np.float32)).reshape(3, n_neurons, LANES)
        self.neurons[2] = 1
        self.lanes, self.slopes = np.zeros(LANES, np.uint32), np.empty(n_deep, np.float32)
        self.first = FirstLayer(sides, n_own)
