"""Networks that score, in torch: several of one shape along a leading axis, so that repeats train together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ordino.layers import Layer
from ordino.networks.initializers import INITIALIZERS
from ordino.streams import spawned, stream

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = MappingProxyType(
    {
        "relu": torch.relu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "softplus": functional.softplus,
        "identity": lambda z: z,
    }
)


def dropout_mask(h: Tensor, share: float, rng: np.random.Generator) -> Tensor:
    """Zero for dropped neurons (in steps of 1/256, a byte of randomness each), else what keeps the mean."""
    dropped = round(256 * share)
    drawn = rng.integers(0, 256, h.numel(), dtype=np.uint8)
    kept = torch.from_numpy((drawn >= dropped).view(np.int8)).view(h.shape)
    return kept.to(torch.float32).mul_(256 / (256 - dropped))


@final
class ScoringNets:
    """Feed-forward networks with one linear output, one for each seed.

    Parameters
    ----------
    widths
        Neurons of each layer, from the inputs to the last hidden layer.
    activation, initializer
        Names from ``ACTIVATIONS`` and ``INITIALIZERS``.
    dropout
        The share of hidden neurons that is dropped in training.
    seeds
        One for each network of the batch.
    """

    def __init__(
        self, widths: Sequence[int], *, activation: str, initializer: str, dropout: float, seeds: Sequence[int]
    ) -> None:
        self._squash = ACTIVATIONS[activation]
        self._dropout = dropout
        self._masks = [np.random.Generator(np.random.SFC64(spawned(seed, "masks"))) for seed in seeds]
        sizes = [*widths, 1]
        draw = INITIALIZERS[initializer]
        rngs = [stream(seed, "weights") for seed in seeds]
        self.W: list[Tensor] = []  # each (n_networks, n_in, n_out)
        self.b: list[Tensor] = []  # each (n_networks, 1, n_out)
        for i, (n_in, n_out) in enumerate(pairwise(sizes)):
            drawn = np.stack([draw(rng, n_in, n_out, i == len(sizes) - 2) for rng in rngs]).astype(np.float32)
            self.W.append(torch.from_numpy(drawn).requires_grad_())
            # the output has no bias: it would move all scores alike, and an optimizer would follow its rounding noise
            self.b.append(torch.zeros(len(rngs), 1, n_out, requires_grad=i < len(sizes) - 2))

    @property
    def parameters(self) -> list[Tensor]:
        """All weights and biases that learn."""
        return [*self.W, *self.b[:-1]]

    def __call__(self, X: Tensor, *, training: bool = False) -> Tensor:
        """Scores, shape ``(n_networks, n_docs)``, of documents of shape ``(n_docs, n_features)``."""
        layers = zip(*(W.unbind() for W in self.W), strict=True), zip(*(b.unbind() for b in self.b), strict=True)
        scores = []
        # network by network: a product over the leading axis would round otherwise than that of a network alone
        for weights, biases, masks in zip(*layers, self._masks, strict=True):
            h = X
            for i, (W, b) in enumerate(zip(weights, biases, strict=True)):
                h = torch.addmm(b, h, W)
                if i < len(weights) - 1:
                    h = self._squash(h)
                    if training and self._dropout:
                        h = h * dropout_mask(h, self._dropout, masks)
            scores.append(h[:, 0])
        return torch.stack(scores)

    def layers(self, number: int) -> list[Layer]:
        """Network ``number`` of the batch as plain arrays, copied."""
        return [
            Layer(W.detach()[number].numpy().copy(), b.detach()[number, 0].numpy().copy())
            for W, b in zip(self.W, self.b, strict=True)
        ]

    def load(self, number: int, layers: Sequence[Layer]) -> None:
        """Set the weights of one network of the batch."""
        with torch.no_grad():
            for W, b, layer in zip(self.W, self.b, layers, strict=True):
                W[number] = torch.from_numpy(layer.W)
                b[number, 0] = torch.from_numpy(layer.b)
