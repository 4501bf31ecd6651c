r"""Networks that compare two documents, in torch: CmpNN of any depth, and a dense net without its sharing.

For a pair [x, y] a network gives two numbers before the sigmoid, the evidence for x before y and for y before x. In a
CmpNN every neuron i has a dual i' that sees the same pair the other way around: the weights from x and y, or from a
layer's neurons and their duals, are swapped, and the bias is the same (SortNet, rules 1-3; DeepNet, rules 1-5). So
:math:`N_\succ([x, y]) = N_\prec([y, x])`, whatever the weights are. Only the weights of one half of a layer exist
here; those of the duals are the same rows, rolled by half.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ordino.interrupts import all_or_nothing
from ordino.layers import Layer
from ordino.networks.gather_kernels import gather, scatter
from ordino.networks.nets import Nets, dropout_mask
from ordino.networks.rates import Schedule
from ordino.networks.supply import Batch, PairRows, random_parts
from ordino.networks.training import train
from ordino.streams import spawn_seed

BATCH = 512  # pairs in a step of an auto-encoder


@final
class CmpNN(Nets):
    """Networks of pairs: those of two documents have two outputs, an auto-encoder has as many as inputs.

    If ``shared``, the weights of each neuron are tied to those of its dual, and ``hidden`` counts the duals too; else
    the networks are dense.
    """

    def __init__(self, n_features: int, hidden: Sequence[int], *, n_outputs: int = 2, **options: Any) -> None:
        super().__init__([2 * n_features, *hidden, n_outputs], **options)

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
                    h = h * torch.stack(masks)
            reached.append(h)
        return reached

    def _first(self, pairs: PairRows) -> Tensor:
        """The first layer is a sum of two projections, each computed once for each document, not each pair."""
        W = self._whole(self.W[0])
        n_features, width = W.shape[1] // 2, W.shape[2]
        left = _product(pairs.X[None], W[:, :n_features])  # (n_networks, n_docs, width)
        right = left.roll(width // 2, -1) if self.shared else _product(pairs.X[None], W[:, n_features:])
        first: Tensor = _Gather.apply(left, right, pairs.a, pairs.b)  # type: ignore[no-untyped-call]
        return first


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
        gather(left.numpy(), right.numpy(), np.atleast_2d(a), np.atleast_2d(b), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        a, b = ctx.saved_tensors
        left, right = torch.zeros(2, len(gradient), ctx.n_docs, gradient.shape[2])
        scatter(gradient.contiguous().numpy(), np.atleast_2d(a), np.atleast_2d(b), left.numpy(), right.numpy())
        return left, right, None, None


def stacked_autoencoders(
    pairs: PairRows, hidden: Sequence[int], *, shared: bool, activation: str, schedule: Schedule, seed: int
) -> list[Layer]:
    """First weights of the hidden layers of a pair network, learned without labels (DeepNet, 4.3.1).

    Layer after layer, a network of that layer and a linear decoder learns to give back its own input: the pairs [x, y]
    for the first, what the layers below make of them for the others. The decoder shares its weights like every layer,
    so that what is learned keeps N>([x, y]) = N<([y, x]): a layer's neurons stand for x, their duals for y.
    """
    layers = []
    for number, width in enumerate(hidden):
        n_inputs, own_seed = pairs.X.shape[1], spawn_seed(seed, "auto-encoder", number)
        coder = CmpNN(
            n_inputs, [width], shared=shared, n_outputs=2 * n_inputs, activation=activation, initializer="glorot",
            dropout=0.0, seeds=[own_seed],
        )  # fmt: skip
        with all_or_nothing():  # half a start is none
            best = train(coder, _Reconstruction(pairs), schedule, quality=None, label="auto-encoder")[0].layers
        coder.load(0, best)
        layers.append(best[0])
        with torch.no_grad():
            h = coder.activations(pairs)[0][0]  # (n_pairs, width)
        pairs = _side_by_side(h[:, : width // 2], h[:, width // 2 :])
    return layers


def _side_by_side(x: Tensor, y: Tensor) -> PairRows:
    """Each row of x with the same row of y."""
    here = torch.arange(len(x))
    return PairRows(torch.cat((x, y)), here, here + len(x))


@final
@dataclass(frozen=True)
class _Reconstruction:
    """Batches of pairs whose target is the pair itself."""

    pairs: PairRows

    def epoch(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pairs once, in random order."""
        return map(self._chunk, random_parts(len(self.pairs), BATCH, rng))

    def _chunk(self, chosen: NDArray[np.intp]) -> Batch:
        x, y = self.pairs.X[self.pairs.a[chosen]], self.pairs.X[self.pairs.b[chosen]]
        target = torch.cat((x, y), 1).numpy()  # (n_pairs, n_inputs)

        def loss(outputs: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
            error = outputs - target
            return (error**2).mean((1, 2), dtype=np.float64), error * np.float32(2 / target.size)

        return Batch(_side_by_side(x, y), loss, len(chosen) / len(self.pairs))
