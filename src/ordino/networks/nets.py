"""Networks in torch: several of one shape along a leading axis, one for each seed, so that repeats train together."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ordino.layers import PAIR_INITIALIZERS, Layer
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


class Nets(ABC):
    """Feed-forward networks of one shape: ``sizes`` has the neurons of each layer, from the inputs to the outputs.

    There is one network for each seed. If ``shared``, only the first half of a layer's neurons has weights of its own;
    the other half are their duals, which have the same weights rolled by half, and the same biases.
    """

    def __init__(
        self, sizes: Sequence[int], *, activation: str, initializer: str, dropout: float, seeds: Sequence[int],
        shared: bool = False,
    ) -> None:  # fmt: skip
        self.shared = shared
        self._squash = ACTIVATIONS[activation]
        self._dropout = dropout
        self._masks = [np.random.Generator(np.random.SFC64(spawned(seed, "masks"))) for seed in seeds]
        draw, rngs = PAIR_INITIALIZERS[initializer], [stream(seed, "weights") for seed in seeds]
        self.W: list[Tensor] = []  # each (n_networks, n_in, n_out), or half of n_out
        self.b: list[Tensor] = []  # each (n_networks, 1, n_out), or half of it
        for i, (n_in, n_out) in enumerate(pairwise(sizes)):
            own = n_out // 2 if shared else n_out
            drawn = np.stack([draw(rng, n_in, n_out, i == len(sizes) - 2)[:, :own] for rng in rngs])
            self.W.append(torch.from_numpy(drawn.astype(np.float32)).requires_grad_())
            self.b.append(torch.zeros(len(rngs), 1, own, requires_grad=True))

    def __len__(self) -> int:
        return len(self.W[0])

    @property
    def parameters(self) -> list[Tensor]:
        """All weights and biases that learn."""
        return [p for p in (*self.W, *self.b) if p.requires_grad]

    @abstractmethod
    def __call__(self, inputs: Any, *, training: bool = False) -> Tensor:
        """Outputs for what a batch holds, the networks along the first axis."""

    def layers(self, number: int) -> list[Layer]:
        """One of the networks as plain arrays with the weights of all neurons, copied."""
        with torch.no_grad():
            return [
                Layer(self._whole(W)[number].numpy().copy(), np.tile(b[number, 0].numpy(), 2 if self.shared else 1))
                for W, b in zip(self.W, self.b, strict=True)
            ]

    def _whole(self, W: Tensor) -> Tensor:
        """The weights of all neurons of a layer, the duals' after the others'."""
        return torch.cat((W, W.roll(W.shape[1] // 2, 1)), 2) if self.shared else W

    def load(self, number: int, layers: Sequence[Layer]) -> None:
        """Set the weights of the first layers, or of all, of one network."""
        with torch.no_grad():
            for W, b, layer in zip(self.W, self.b, layers, strict=False):
                W[number] = torch.from_numpy(layer.W[:, : W.shape[2]])
                b[number, 0] = torch.from_numpy(layer.b[: b.shape[2]])


@final
class ScoringNets(Nets):
    """Networks that score documents: one linear output.

    Its bias stays zero: it would move all scores alike, and an optimizer would follow its rounding noise.
    """

    def __init__(self, widths: Sequence[int], **options: Any) -> None:
        super().__init__([*widths, 1], **options)
        self.b[-1].requires_grad_(False)

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
