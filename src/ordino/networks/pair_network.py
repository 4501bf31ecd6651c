r"""Networks that compare two documents, in torch: CmpNN of any depth, and a dense net without its sharing.

For a pair [x, y] a network gives two numbers before the sigmoid, the evidence for x before y and for y before x. In a
CmpNN every neuron i has a dual i' that sees the same pair the other way around: the weights from x and y, or from a
layer's neurons and their duals, are swapped, and the bias is the same (SortNet, rules 1-3; DeepNet, rules 1-5). So
:math:`N_\succ([x, y]) = N_\prec([y, x])`, whatever the weights are. Only the weights of one half of a layer exist
here; those of the duals are the same rows, rolled by half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ordino.layers import Layer
from ordino.networks.gather_kernels import gather, scatter
from ordino.networks.initializers import PAIR_INITIALIZERS
from ordino.networks.scoring_net import ACTIVATIONS, dropout_mask
from ordino.streams import spawned, stream


@dataclass(frozen=True)
class PairRows:
    """Pairs of rows of X: the documents ``X[a]`` and ``X[b]``, the same for all networks of a batch or each its own."""

    X: Tensor  # (n_docs, n_features)
    a: Tensor  # (n_pairs,) or (n_networks, n_pairs), int64
    b: Tensor  # as a

    def __len__(self) -> int:
        return self.a.shape[-1]

    def of_network(self, number: int) -> PairRows:
        """What one network of the batch sees."""
        return self if self.a.ndim == 1 else PairRows(self.X, self.a[number], self.b[number])


@final
class CmpNN:
    """Pair networks of one shape, one for each seed.

    Parameters
    ----------
    n_features
        Of one document; the network sees twice as many.
    hidden
        Neurons of each hidden layer, duals included, so even if ``shared``.
    shared
        Tie the weights of each neuron to those of its dual; False is a dense net.
    activation, initializer
        Names from ``ACTIVATIONS`` and ``PAIR_INITIALIZERS``.
    dropout
        The share of hidden neurons that is dropped in training.
    seeds
        One for each network of the batch.
    n_outputs
        Two for a comparator; an auto-encoder has as many as inputs.
    """

    def __init__(
        self,
        n_features: int,
        hidden: Sequence[int],
        *,
        shared: bool,
        activation: str,
        initializer: str,
        dropout: float,
        seeds: Sequence[int],
        n_outputs: int = 2,
    ) -> None:
        self.shared = shared
        self._squash = ACTIVATIONS[activation]
        self._dropout = dropout
        self._masks = [np.random.Generator(np.random.SFC64(spawned(seed, "masks"))) for seed in seeds]
        draw = PAIR_INITIALIZERS[initializer]
        rngs = [stream(seed, "weights") for seed in seeds]
        sizes = [2 * n_features, *hidden, n_outputs]
        self.W: list[Tensor] = []  # each (n_networks, n_in, n_out), or half of n_out if shared
        self.b: list[Tensor] = []  # each (n_networks, 1, n_out), or half of it
        for i, (n_in, n_out) in enumerate(pairwise(sizes)):
            own = n_out // 2 if shared else n_out
            drawn = np.stack([draw(rng, n_in, n_out, i == len(sizes) - 2)[:, :own] for rng in rngs])
            self.W.append(torch.from_numpy(drawn.astype(np.float32)).requires_grad_())
            self.b.append(torch.zeros(len(rngs), 1, own, requires_grad=True))

    @property
    def parameters(self) -> list[Tensor]:
        """All weights and biases that learn."""
        return [*self.W, *self.b]

    def __call__(self, pairs: PairRows, *, training: bool = False) -> Tensor:
        """Outputs before the sigmoid, shape ``(n_networks, n_pairs, n_outputs)``."""
        return self.activations(pairs, training=training)[-1]

    def activations(self, pairs: PairRows, *, training: bool = False) -> list[Tensor]:
        """What every layer gives, each ``(n_networks, n_pairs, n_out)``; the last, the outputs, before the sigmoid."""
        reached: list[Tensor] = []
        for i in range(len(self.W)):
            h = self._first(pairs) if i == 0 else _product(reached[-1], self._whole(self.W[i]))
            h = h + (torch.cat((self.b[i], self.b[i]), -1) if self.shared else self.b[i])
            if i < len(self.W) - 1:
                h = self._squash(h)
                if training and self._dropout:
                    masks = [dropout_mask(own, self._dropout, rng) for own, rng in zip(h, self._masks, strict=True)]
                    h = h * (masks[0][None] if len(masks) == 1 else torch.stack(masks))
            reached.append(h)
        return reached

    def _first(self, pairs: PairRows) -> Tensor:
        """The first layer is a sum of two projections, each computed once a document and not once a pair."""
        W = self._whole(self.W[0])
        n_features, width = W.shape[1] // 2, W.shape[2]
        left = _product(pairs.X[None], W[:, :n_features])  # (n_networks, n_docs, width)
        right = left.roll(width // 2, -1) if self.shared else _product(pairs.X[None], W[:, n_features:])
        first: Tensor = _Gather.apply(left, right, pairs.a, pairs.b)  # type: ignore[no-untyped-call]
        return first

    def _whole(self, W: Tensor) -> Tensor:
        """The weights of all neurons of a layer, the duals' after the others'."""
        return torch.cat((W, W.roll(W.shape[1] // 2, 1)), 2) if self.shared else W

    def layers(self, number: int) -> list[Layer]:
        """Network ``number`` of the batch as plain arrays with the weights of all neurons, copied."""
        with torch.no_grad():
            return [
                Layer(self._whole(W)[number].numpy().copy(), np.tile(b[number, 0].numpy(), 2 if self.shared else 1))
                for W, b in zip(self.W, self.b, strict=True)
            ]

    def load(self, number: int, layers: Sequence[Layer]) -> None:
        """Set the weights of the first layers, or of all, of one network of the batch."""
        with torch.no_grad():
            for W, b, layer in zip(self.W, self.b, layers, strict=False):
                W[number] = torch.from_numpy(layer.W[:, : W.shape[2]])
                b[number, 0] = torch.from_numpy(layer.b[: b.shape[2]])


def _product(h: Tensor, W: Tensor) -> Tensor:
    """``h @ W`` network by network: one product over the leading axis would round otherwise than a network alone."""
    of_network = [h[0]] * len(W) if len(h) == 1 else h.unbind()
    return torch.stack([own @ weights for own, weights in zip(of_network, W.unbind(), strict=True)])


class _Gather(torch.autograd.Function):
    """left[a] + right[b]; torch's own way back adds rows one tensor at a time and costs several times as much."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        ctx.n_docs = left.shape[1]
        out = torch.empty(len(left), a.shape[-1], left.shape[2])
        gather(left.numpy(), right.numpy(), _by_network(a), _by_network(b), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        a, b = ctx.saved_tensors
        left, right = torch.zeros(2, len(gradient), ctx.n_docs, gradient.shape[2])
        scatter(gradient.contiguous().numpy(), _by_network(a), _by_network(b), left.numpy(), right.numpy())
        return left, right, None, None


def _by_network(rows: Tensor) -> NDArray[np.int64]:
    """Shape (n_networks, n_pairs), or one row where all networks see the same pairs."""
    return np.atleast_2d(rows.numpy())
