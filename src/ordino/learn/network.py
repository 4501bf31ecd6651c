"""Networks that score, in torch: several of one shape along a leading axis, so that repeats train together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ordino.errors import unknown_name
from ordino.learn.layers import Layer

Initializer = Callable[[np.random.Generator, int, int, bool], "np.ndarray[tuple[int, int], np.dtype[np.float32]]"]

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = MappingProxyType(
    {
        "relu": torch.relu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "softplus": functional.softplus,
        "identity": lambda z: z,
    }
)


def _uniform(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> np.ndarray:  # noqa: ARG001
    return rng.uniform(-1, 1, (n_in, n_out)) / np.sqrt(n_in)


def _glorot(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> np.ndarray:  # noqa: ARG001
    return rng.uniform(-1, 1, (n_in, n_out)) * np.sqrt(6 / (n_in + n_out))


def _he(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> np.ndarray:
    return rng.normal(0, np.sqrt((1 if last else 2) / n_in), (n_in, n_out))


def _ranknet(rng: np.random.Generator, n_in: int, n_out: int, last: bool) -> np.ndarray:
    """The start of RankNet's section 5: the last layer uniform in [-0.1, 0.1], layers before it zero."""
    draw = rng.uniform(-0.1, 0.1, (n_in, n_out))
    return draw if last else np.zeros_like(draw)


INITIALIZERS = MappingProxyType({"uniform": _uniform, "glorot": _glorot, "he": _he, "ranknet": _ranknet})


@final
class Network:
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
        if activation not in ACTIVATIONS:
            raise unknown_name("activation", activation, ACTIVATIONS)
        if initializer not in INITIALIZERS:
            raise unknown_name("initialization", initializer, INITIALIZERS)
        self._squash = ACTIVATIONS[activation]
        self._dropout = dropout
        self._masks = torch.Generator().manual_seed(int(np.random.SeedSequence([*seeds, 1]).generate_state(1)[0]))
        sizes = [*widths, 1]
        draw = INITIALIZERS[initializer]
        rngs = [np.random.default_rng(seed) for seed in seeds]
        self.W: list[Tensor] = []  # each (n_networks, n_in, n_out)
        self.b: list[Tensor] = []  # each (n_networks, 1, n_out)
        for i, (n_in, n_out) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
            drawn = np.stack([draw(rng, n_in, n_out, i == len(sizes) - 2) for rng in rngs]).astype(np.float32)
            self.W.append(torch.from_numpy(drawn).requires_grad_())
            self.b.append(torch.zeros(len(rngs), 1, n_out).requires_grad_())

    @property
    def parameters(self) -> list[Tensor]:
        """All weights and biases."""
        return [*self.W, *self.b]

    def __call__(self, X: Tensor, *, training: bool = False) -> Tensor:
        """Scores, shape ``(n_networks, n_docs)``, of documents of shape ``(n_docs, n_features)``."""
        h = X
        for i, (W, b) in enumerate(zip(self.W, self.b, strict=True)):
            # one network is a plain product: the leading axis would cost a slower kernel
            h = torch.addmm(b[0], h, W[0]) if len(W) == 1 else torch.baddbmm(b, h.expand(len(W), *h.shape[-2:]), W)
            if i < len(self.W) - 1:
                h = self._squash(h)
                if training and self._dropout:
                    h = h * torch.empty_like(h).bernoulli_(1 - self._dropout, generator=self._masks).div_(1 - self._dropout)
        return h.reshape(len(self.W[0]), -1)

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
