"""Networks written down a second time, in torch and in double precision: the slopes come from autograd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from loss_oracles import PAIR, torch
from ordino.networks.nets import Net
from ordino.networks.supply import PairBatch

SQUASH = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "softplus": torch.nn.functional.softplus,
    "identity": lambda z: z,
}


class TorchNet(torch.nn.Module):
    """The twin of a network of ours, with the weights that it has now."""

    def __init__(self, net: Net[Any]) -> None:
        super().__init__()
        self._activation, self._sides = net.activation, net.sides
        weights = [torch.nn.Parameter(torch.tensor(W, dtype=torch.float64)) for W in net.W]
        biases = [torch.nn.Parameter(torch.tensor(b, dtype=torch.float64)) for b in net.b]
        self.W, self.b = torch.nn.ParameterList(weights), torch.nn.ParameterList(biases)

    def forward(self, rows: Any, masks: Sequence[np.ndarray] | None = None) -> Any:
        """What the network gives for rows, (n_rows, n_outputs).

        A mask is multiplied with each hidden layer, and if there is one more, with the inputs.
        """
        h, last = torch.tensor(rows, dtype=torch.float64), len(self.W) - 1
        if masks is not None and len(masks) > last:
            h = h * torch.from_numpy(masks[last])
        for i, (W, b) in enumerate(zip(self.W, self.b, strict=True)):
            if self._sides == 2:
                W = torch.cat((W, W.roll(len(W) // 2, 0)), 1)
            h = h @ W
            if len(b):
                h = h + b.tile(self._sides)
            if i < last:
                h = SQUASH[self._activation](h)
                if masks is not None:
                    h = h * torch.from_numpy(masks[i])
        return h

    def pair_error(self, batch: PairBatch, loss: str, masks: Sequence[np.ndarray] | None = None) -> Any:
        """The mean over pairs and both outputs."""
        a, b = np.divmod(batch.codes, len(batch.X))
        outputs = self(np.concatenate((batch.X[a], batch.X[b]), axis=1), masks)
        t = torch.from_numpy(batch.target)
        return (PAIR[loss](outputs[:, 0], t, 0.0) + PAIR[loss](outputs[:, 1], 1 - t, 0.0)).mean() / 2

    def vector(self, *, slopes: bool = False) -> np.ndarray:
        """The weights, or the slopes in them, in the places of ``theta``."""
        parts = [part for layer in zip(self.W, self.b, strict=True) for part in layer if len(part)]
        return np.concatenate([(p.grad if slopes else p.detach()).numpy().ravel() for p in parts])


def distance(ours: np.ndarray, theirs: np.ndarray) -> float:
    """How far apart two vectors are, relative to the second's length."""
    return float(np.linalg.norm(ours - theirs) / (np.linalg.norm(theirs) or 1))
