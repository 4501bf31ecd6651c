"""Steps down the gradient, with a rate of its own for each network along the leading axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, final

import torch
from torch import Tensor


class Optimizer(Protocol):
    """Moves parameters, each ``(n_networks, ...)``, against their gradients."""

    def step(self, rates: Tensor) -> None:
        """Move every parameter once; rates has shape ``(n_networks,)``."""


@final
class Descent:
    """Plain gradient descent: p <- p - rate * gradient, with the penalty's gradient l2 * p added."""

    def __init__(self, parameters: Sequence[Tensor], l2: float) -> None:
        self._parameters = parameters
        self._l2 = l2

    @torch.no_grad()
    def step(self, rates: Tensor) -> None:
        """One step."""
        for p in self._parameters:
            gradient = _gradient(p)
            p.sub_((gradient.add(p, alpha=self._l2) if self._l2 else gradient) * rates.view(-1, 1, 1))


@final
class Adam:
    """Adam; decoupled makes l2 a decay of the weights beside the gradient (AdamW), not a part of it."""

    def __init__(self, parameters: Sequence[Tensor], l2: float, *, decoupled: bool = False) -> None:
        self._parameters = parameters
        self._mean = [torch.zeros_like(p) for p in parameters]
        self._square = [torch.zeros_like(p) for p in parameters]
        self._l2 = l2
        self._decoupled = decoupled
        self._steps = 0

    @torch.no_grad()
    def step(self, rates: Tensor) -> None:
        """One step."""
        self._steps += 1
        rate = (rates / (1 - 0.9**self._steps)).view(-1, 1, 1)
        correction = (1 - 0.999**self._steps) ** 0.5
        for p, mean, square in zip(self._parameters, self._mean, self._square, strict=True):
            gradient = _gradient(p)
            if self._l2 and self._decoupled:
                p.mul_(1 - rates.view(-1, 1, 1) * self._l2)
            elif self._l2:
                gradient = gradient.add(p, alpha=self._l2)
            mean.lerp_(gradient, 0.1)
            square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            p.sub_(rate * mean / (square.sqrt().div_(correction).add_(1e-8)))


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None, "step() comes after backward()"
    return parameter.grad


def _adamw(parameters: Sequence[Tensor], l2: float) -> Optimizer:
    return Adam(parameters, l2, decoupled=True)


OPTIMIZERS: Mapping[str, Callable[[Sequence[Tensor], float], Optimizer]] = MappingProxyType(
    {"descent": Descent, "adam": Adam, "adamw": _adamw}
)
