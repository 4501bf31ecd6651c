"""The one training loop: epochs of steps by an optimizer, a rate rule, the best epoch kept, a clean stop."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.judge import Judge
from ordino.layers import Layer
from ordino.networks.nets import MOST_BLOCKS, Net, diverging_quietly
from ordino.networks.optimizers import OPTIMIZERS
from ordino.networks.rates import RATES, Rate, Schedule
from ordino.networks.supply import Supply
from ordino.progress import Steps
from ordino.threads import one_by_one, products, worker_threads

Floats = NDArray[np.float64]
Quality = Callable[[Any], float]  # how good a network is on validation data; larger is better
Watch = Callable[[Any], dict[str, float]]  # numbers of a network for its history


class Trained(NamedTuple):
    """A network after training: its best epoch's layers and what happened in every epoch."""

    layers: list[Layer]
    history: list[dict[str, float]]
    best_epoch: int


def quality_by_metric(judge: Judge, valid: Dataset, scores: Callable[[list[Layer]], Floats]) -> Quality:
    """The judge's metric of the scores that a network's layers give to validation data; 0 where no query counts."""
    return lambda net: float(np.nan_to_num(judge.mean(valid, scores(net.layers()))))


def quality_by_error(batch: Any) -> Quality:
    """A small error on a batch that the network does not learn from."""
    return lambda net: -net.error(batch, learn=False)


@final
class Learner:
    """A network that learns, epoch by epoch, and keeps its best one.

    With ``quality``, the epoch in which the network was best is kept, and it is done when it has not improved for
    ``patience`` epochs; without it, the last epoch is kept.
    """

    def __init__(
        self, net: Net[Any], supply: Supply[Any], schedule: Schedule, quality: Quality | None = None,
        watch: Watch | None = None,
    ) -> None:  # fmt: skip
        self.net, self._supply, self._schedule, self._quality, self._watch = net, supply, schedule, quality, watch
        self._rate, self._adjust = Rate(float(schedule.learning_rate)), RATES[schedule.rate]
        self._step = OPTIMIZERS[schedule.optimizer](len(net.theta), schedule.l2)
        self._rng = np.random.default_rng(0)  # orders the batches of all networks alike
        self._earlier: NDArray[np.float32] | None = None  # weights to which a step back of a full batch returns
        self.best, self.best_quality, self.best_epoch = net.layers(), -np.inf, 0
        self.history: list[dict[str, float]] = []
        self.done = False

    @diverging_quietly
    def epoch(self) -> None:
        """Go through the training data once."""
        before = self.net.theta.copy() if self._schedule.rate == "adaptive" else None
        used, number = self._rate.now, len(self.history) + 1
        error, n_steps = self._all_batches()
        # the error of a single step is that of the weights before it: what made it rise is the epoch before
        undone = self._earlier if n_steps == 1 and self._earlier is not None else before
        if self._adjust(self._rate, error) and undone is not None:
            self.net.theta[:], self._earlier = undone, undone
        else:
            self._earlier = before
        row = {"epoch": number, "error": error, "rate": used} | (self._watch(self.net) if self._watch else {})
        reached = -np.inf
        if self._quality is not None:
            reached = row["valid"] = self._quality(self.net)
        self.history.append(row)
        if self._quality is None or reached > self.best_quality:
            self.best, self.best_quality, self.best_epoch = self.net.layers(), reached, number
        patience = self._schedule.patience
        self.done = self._quality is not None and patience is not None and number - self.best_epoch >= patience

    def _all_batches(self) -> tuple[float, int]:
        """Their mean error and number."""
        net, l1, error, n_steps = self.net, self._schedule.l1, 0.0, 0
        for batch in self._supply.epoch(self._rng):
            error += batch.share * net.error(batch)
            if l1:
                net.slopes += np.float32(l1) * net.is_weight * np.sign(net.theta)
            self._step(net.theta, net.slopes, self._rate.now)
            n_steps += 1
        return float(error), n_steps

    @property
    def trained(self) -> Trained:
        """What was learned."""
        return Trained(self.best, self.history, self.best_epoch)


def train(
    learners: Sequence[Learner], n_epochs: int, *, label: str = "training", verbose: bool = False,
    n_jobs: int | None = None,
) -> list[Trained]:  # fmt: skip
    """Train networks side by side, each as it would alone: threads share the networks, or the work of a single one."""
    alone = len(learners) == 1
    with products.on_one_thread(), worker_threads(n_jobs, MOST_BLOCKS if alone else len(learners)) as run:
        if alone:
            learners[0].net.run = run
        with Steps(label, n_epochs, verbose=verbose) as steps:
            for _ in steps:
                learning = [one for one in learners if not one.done]
                (one_by_one if alone else run)(Learner.epoch, learning)
                valid = {} if learning[0].best_quality == -np.inf else {"valid": learning[0].best_quality}
                steps.show(error=learning[0].history[-1]["error"], **valid)
                if all(one.done for one in learners):
                    break
        learners[0].net.run = one_by_one  # the threads end here
    return [one.trained for one in learners]
