"""First weights of a pair network by stacked auto-encoders (DeepNet, 4.3.1).

Layer after layer, a network of that layer and a linear decoder learns to give back its own input: the pairs [x, y] for
the first, what the layers below make of them for the others. The decoder shares its weights like every layer, so what
is learned keeps N>([x, y]) = N<([y, x]). An auto-encoder is a pair network with as many outputs as inputs: a layer's
neurons stand for x, their duals for y.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ordino.interrupts import all_or_nothing
from ordino.layers import Layer
from ordino.networks.pair_network import CmpNN, PairRows
from ordino.networks.rates import Schedule
from ordino.networks.supply import Batch, random_parts
from ordino.networks.training import train
from ordino.streams import spawn_seed

BATCH = 512  # pairs a step


@final
class _Reconstruction:
    """Batches of pairs whose target is the pair itself."""

    def __init__(self, pairs: PairRows) -> None:
        self._pairs = pairs

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pairs once, in random order."""
        for chosen in random_parts(len(self._pairs), BATCH, rng):
            yield self._batch(self._pairs.a[chosen], self._pairs.b[chosen])

    def _batch(self, a: Tensor, b: Tensor) -> Batch:
        x, y = self._pairs.X[a], self._pairs.X[b]
        target = torch.cat((x, y), 1).numpy()  # (n_pairs, n_inputs)

        def loss(outputs: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
            error = outputs - target
            return (error**2).mean((1, 2), dtype=np.float64), error * np.float32(2 / target.size)

        here = torch.arange(len(a))
        return Batch(PairRows(torch.cat((x, y)), here, here + len(a)), loss, len(a) / len(self._pairs))


def stacked_autoencoders(
    pairs: PairRows, hidden: Sequence[int], *, shared: bool, activation: str, schedule: Schedule, seed: int
) -> list[Layer]:
    """The hidden layers, ready to be loaded into a pair network and fine-tuned."""
    layers = []
    for number, width in enumerate(hidden):
        coder = CmpNN(
            pairs.X.shape[1],
            [width],
            shared=shared,
            activation=activation,
            initializer="glorot",
            dropout=0.0,
            seeds=[spawn_seed(seed, "auto-encoder", number)],
            n_outputs=2 * pairs.X.shape[1],
        )
        with all_or_nothing():  # half a start is none
            best = train(coder, _Reconstruction(pairs), schedule, quality=None, label="auto-encoder")[0].layers
        coder.load(0, best)
        layers.append(best[0])
        with torch.no_grad():
            h = coder.activations(pairs)[0][0]  # (n_pairs, width)
        here = torch.arange(len(h))
        pairs = PairRows(torch.cat((h[:, : width // 2], h[:, width // 2 :])), here, here + len(h))
    return layers
