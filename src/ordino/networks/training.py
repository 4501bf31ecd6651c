"""The one training loop: epochs of steps by an optimizer, a rate rule, the best epoch kept, a clean stop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ordino.data.dataset import Dataset
from ordino.judge import Judge
from ordino.layers import Layer
from ordino.networks.nets import Nets
from ordino.networks.rates import RATES, Rates, Schedule
from ordino.networks.supply import Batch, Supply
from ordino.progress import Steps

WORTH_THREADS = 20_000_000  # products a step, below which torch's threads wait for each other more than they work

Floats = NDArray[np.float64]
Quality = Callable[[Any], Floats]  # how good each network of a batch is on validation data; larger is better
Watch = Callable[[Any], list[dict[str, float]]]  # numbers of each network of a batch, for its history
Step = Callable[[Tensor], None]  # moves all parameters against their gradients, by the rates of the networks


class Trained(NamedTuple):
    """One network after training: its best epoch's layers and what happened in every epoch."""

    layers: list[Layer]
    history: list[dict[str, float]]
    best_epoch: int


def quality_by_metric(judge: Judge, valid: Dataset, scores: Callable[[list[Layer]], Floats]) -> Quality:
    """The judge's metric of the scores that a network's layers give to validation data; 0 where no query counts."""
    return lambda nets: np.nan_to_num([judge.mean(valid, scores(nets.layers(m))) for m in range(len(nets))])


def quality_by_error(batch: Batch) -> Quality:
    """A small error on a batch that the networks do not learn from."""
    return torch.no_grad()(lambda nets: -batch.loss(nets(batch.X).numpy())[0])


def train(
    network: Nets, supply: Supply, schedule: Schedule, quality: Quality | None, *, watch: Watch | None = None,
    label: str = "training", verbose: bool = False,
) -> list[Trained]:  # fmt: skip
    """Train all networks of the batch together.

    With ``quality``, the epoch in which each network was best is kept, and a network is done when it has not improved
    for ``patience`` epochs; without it, the last epoch is kept. A network learns the same alone and among others: the
    order of batches is random but always the same, so that networks of different seeds can share it.
    """
    n_networks = len(network)
    rates, adjust = Rates(float(schedule.learning_rate), n_networks), RATES[schedule.rate]
    step = OPTIMIZERS[schedule.optimizer](network.parameters, schedule.l2)
    rng = np.random.default_rng(0)
    best = [network.layers(m) for m in range(n_networks)]
    best_quality = np.full(n_networks, -np.inf)
    best_epoch = np.zeros(n_networks, int)
    histories: list[list[dict[str, float]]] = [[] for _ in range(n_networks)]
    learning = np.full(n_networks, True)  # a network whose patience has ended stays as it was at its best
    earlier: list[list[Layer]] = []  # weights to which a step back of a full batch returns
    with Steps(label, schedule.epochs, verbose=verbose) as steps:
        for epoch in steps:
            before = [network.layers(m) for m in range(n_networks)] if schedule.rate == "adaptive" else []
            used = rates.now
            errors, n_steps = _one_epoch(network, supply, step, used, schedule.l1, rng)
            restore = adjust(rates, errors)
            # the error of a single step is that of the weights before it: what made it rise is the epoch before
            undone = earlier if n_steps == 1 and earlier else before
            for m in np.flatnonzero(restore).tolist():
                network.load(m, undone[m])
            earlier = [undone[m] if restore[m] else weights for m, weights in enumerate(before)]
            reached = np.full(n_networks, np.nan) if quality is None else quality(network)
            improved = learning & (quality is None or reached > best_quality)
            figures: list[dict[str, float]] = [{}] * n_networks if watch is None else watch(network)
            for m in np.flatnonzero(learning).tolist():
                row = {"epoch": epoch + 1, "error": float(errors[m]), "rate": float(used[m])} | figures[m]
                histories[m].append(row if quality is None else row | {"valid": float(reached[m])})
                if improved[m]:
                    best[m], best_epoch[m] = network.layers(m), epoch + 1
            best_quality = np.where(improved, reached, best_quality)
            steps.show(error=float(errors.mean()), **({} if quality is None else {"valid": float(best_quality.mean())}))
            if quality is not None and schedule.patience is not None:
                learning = learning & (epoch + 1 - best_epoch < schedule.patience)
                if not learning.any():
                    break
    return [Trained(best[m], histories[m], int(best_epoch[m])) for m in range(n_networks)]


def _one_epoch(
    network: Nets, supply: Supply, step: Step, rates: Floats, l1: float, rng: np.random.Generator
) -> tuple[Floats, int]:
    """All batches once; the mean error of each network, shape ``(n_networks,)``, and how many steps there were."""
    step_rates = torch.from_numpy(rates.astype(np.float32))
    errors, n_steps = np.zeros(len(rates)), 0
    for batch in supply.epoch(rng):
        for p in network.parameters:
            p.grad = None
        with _threads_for(len(batch.X) * sum(W[0].numel() for W in network.W)):
            scores = network(batch.X, training=True)  # (n_networks, n_docs)
            values, gradient = batch.loss(scores.detach().numpy())
            torch.autograd.backward(scores, torch.from_numpy(gradient))
            if l1:
                for W in network.W:
                    _gradient(W).add_(W.detach().sign(), alpha=l1)
            step(step_rates)
        errors += batch.share * values
        n_steps += 1
    return errors, n_steps


@contextmanager
def _threads_for(n_products: int) -> Iterator[None]:
    """One thread of torch's for a small step; the result does not depend on it."""
    threads = torch.get_num_threads()
    if n_products <= WORTH_THREADS:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None, "a step comes after backward()"
    return parameter.grad


def _descent(parameters: Sequence[Tensor], l2: float) -> Step:
    """Plain gradient descent: p <- p - rate * gradient, with the penalty's gradient l2 * p added."""

    @torch.no_grad()
    def step(rates: Tensor) -> None:
        for p in parameters:
            gradient = _gradient(p)
            p.sub_((gradient.add(p, alpha=l2) if l2 else gradient) * rates.view(-1, 1, 1))

    return step


def _adam(parameters: Sequence[Tensor], l2: float, *, decoupled: bool = False) -> Step:
    """Adam; decoupled makes l2 a decay of the weights beside the gradient (AdamW), not a part of it."""
    moments = [(p, torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
    counter = count(1)

    @torch.no_grad()
    def step(rates: Tensor) -> None:
        n_steps = next(counter)
        rate = (rates / (1 - 0.9**n_steps)).view(-1, 1, 1)
        correction = (1 - 0.999**n_steps) ** 0.5
        for p, mean, square in moments:
            gradient = _gradient(p)
            if l2 and decoupled:
                p.mul_(1 - rates.view(-1, 1, 1) * l2)
            elif l2:
                gradient = gradient.add(p, alpha=l2)
            mean.lerp_(gradient, 0.1)
            square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            p.sub_(rate * mean / (square.sqrt().div_(correction).add_(1e-8)))

    return step


OPTIMIZERS: Mapping[str, Callable[[Sequence[Tensor], float], Step]] = MappingProxyType(
    {"descent": _descent, "adam": _adam, "adamw": partial(_adam, decoupled=True)}
)
"""By name, what makes the function that takes a step, from the parameters, each ``(n_networks, ...)``, and l2."""
