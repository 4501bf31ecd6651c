"""The one training loop: epochs of steps, a rate rule, the best epoch kept, a clean stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ordino.layers import Layer
from ordino.networks.nets import Nets
from ordino.networks.optimizers import OPTIMIZERS, Optimizer
from ordino.networks.rates import RATES, Schedule
from ordino.networks.supply import Supply
from ordino.progress import Steps

WORTH_THREADS = 20_000_000  # products a step, below which torch's threads wait for each other more than they work


Quality = Callable[[Any], NDArray[np.float64]]
"""How good each network of a batch is on validation data; larger is better."""

Watch = Callable[[Any], list[dict[str, float]]]
"""Numbers of each network of a batch, for its history."""


@dataclass(frozen=True)
class Trained:
    """One network after training: its best epoch's layers and what happened in every epoch."""

    layers: list[Layer]
    history: list[dict[str, float]]
    best_epoch: int


def train(
    network: Nets,
    supply: Supply,
    schedule: Schedule,
    *,
    quality: Quality | None,
    watch: Watch | None = None,
    label: str = "training",
    verbose: bool = False,
) -> list[Trained]:
    """Train all networks of the batch together.

    With ``quality``, the epoch in which each network was best is kept, and a network is done when it has not improved
    for ``patience`` epochs; without it, the last epoch is kept. A network learns the same alone and among others: the
    order of batches is random but always the same, so that networks of different seeds can share it.
    """
    count = len(network)
    rule = RATES[schedule.rate](float(schedule.learning_rate), count)
    optimizer = OPTIMIZERS[schedule.optimizer](network.parameters, schedule.l2)
    rng = np.random.default_rng(0)
    best = [network.layers(m) for m in range(count)]
    best_quality = np.full(count, -np.inf)
    best_epoch = np.zeros(count, int)
    histories: list[list[dict[str, float]]] = [[] for _ in range(count)]
    learning = np.full(count, True)  # a network whose patience has ended stays as it was at its best
    earlier: list[list[Layer]] = []  # weights to which a step back of a full batch returns
    with Steps(label, schedule.epochs, verbose=verbose) as steps:
        for epoch in steps:
            before = [network.layers(m) for m in range(count)] if schedule.rate == "adaptive" else []
            errors, n_steps = _one_epoch(network, supply, optimizer, rule.rates, schedule.l1, rng)
            rates = rule.rates
            restore = rule.after_epoch(errors)
            # the error of a single step is that of the weights before it: what made it rise is the epoch before
            undone = earlier if n_steps == 1 and earlier else before
            for m in np.flatnonzero(restore).tolist():
                network.load(m, undone[m])
            earlier = [undone[m] if restore[m] else weights for m, weights in enumerate(before)]
            reached = np.full(count, np.nan) if quality is None else quality(network)
            improved = learning & (quality is None or reached > best_quality)
            figures: list[dict[str, float]] = [{}] * count if watch is None else watch(network)
            for m in np.flatnonzero(learning).tolist():
                row = {"epoch": epoch + 1, "error": float(errors[m]), "rate": float(rates[m])} | figures[m]
                histories[m].append(row if quality is None else row | {"valid": float(reached[m])})
                if improved[m]:
                    best[m], best_epoch[m] = network.layers(m), epoch + 1
            best_quality = np.where(improved, reached, best_quality)
            steps.show(error=float(errors.mean()), **({} if quality is None else {"valid": float(best_quality.mean())}))
            if quality is not None and schedule.patience is not None:
                learning = learning & (epoch + 1 - best_epoch < schedule.patience)
                if not learning.any():
                    break
    return [Trained(best[m], histories[m], int(best_epoch[m])) for m in range(count)]


def _one_epoch(
    network: Nets,
    supply: Supply,
    optimizer: Optimizer,
    rates: NDArray[np.float64],
    l1: float,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], int]:
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
                    assert W.grad is not None
                    W.grad.add_(W.detach().sign(), alpha=l1)
            optimizer.step(step_rates)
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
