"""The one training loop: its epochs, the rule of its rate, the choice of the best epoch, and stopping early."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from operator import methodcaller
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.judge import Judge
from ordino.layers import Layer
from ordino.networks.divided import FarBatch
from ordino.networks.nets import MOST_BLOCKS, Net, diverging_quietly, row_errors
from ordino.networks.optimizers import OPTIMIZERS
from ordino.networks.pair_net import PairNet
from ordino.networks.rates import ENDINGS, RATES, Rate, Schedule
from ordino.networks.supply import Batch, PairBatch, Supply
from ordino.progress import Steps
from ordino.threads import count_threads, one_by_one, products, thread_pool, worker_threads

TURN = 0.1  # seconds
Floats = NDArray[np.float64]
Weights = NDArray[np.float32]
Quality = Callable[[Any], float]  # how good a network is on validation data; larger is better
Watch = Callable[[Any], dict[str, float]]  # numbers of a network for its history
Aside = Callable[[Callable[[], float]], Future[float]]


class Trained(NamedTuple):
    """A network after training: its best epoch's layers and what happened in every epoch."""

    layers: list[Layer]
    history: list[dict[str, float]]
    best_epoch: int


@final
class QualityByMetric:
    """The judge's metric of the scores that a network's layers give to validation data; 0 where no query counts."""

    def __init__(self, judge: Judge, valid: Dataset, scores: Callable[[list[Layer]], Floats]) -> None:
        self._judge, self._valid, self._scores = judge, valid, scores

    def __call__(self, net: Any) -> float:
        """How good the network is now."""
        return self._of_layers(net.layers())

    def of_now(self, net: Any) -> Callable[[], float]:
        """What computes how good the network is now, whatever its weights will have become."""
        return partial(self._of_layers, net.layers())

    @diverging_quietly
    def _of_layers(self, layers: list[Layer]) -> float:
        found = self._scores(layers)
        return -np.inf if np.isnan(found).any() else float(np.nan_to_num(self._judge.mean(self._valid, found)))


@final
class QualityByPairs:
    """The negative error of a network that compares, on pairs that it does not learn from."""

    def __init__(self, batch: PairBatch) -> None:
        self._batch = batch
        self._twin: PairNet | None = None

    def __call__(self, net: Any) -> float:
        """How good the network is now."""
        return -float(net.error(self._batch, learn=False))

    def of_now(self, net: Any) -> Callable[[], float]:
        """What computes how good the network is now; before it is asked for the next, it must be done."""
        self._twin = self._twin or net.twin()
        self._twin.theta[:] = net.theta
        return partial(self, self._twin)


@final
class Learner:
    """A network that learns, epoch by epoch, and keeps its best one.

    With ``quality``, the epoch in which the network was best is kept, and it is done when it has not improved for
    ``patience`` epochs; without it, the last epoch is kept. It is also done when the schedule's ``until`` says so,
    which takes a ``watch`` that tells it the share of wrong pairs. A quality may be computed ``aside``, while the
    network learns on, unless the network could be done with this epoch: the result is the same.
    """

    def __init__(
        self, net: Net[Any], supply: Supply[Any], schedule: Schedule, quality: Quality | None = None,
        watch: Watch | None = None,
    ) -> None:  # fmt: skip
        self.net, self.supply, self._schedule, self._quality, self._watch = net, supply, schedule, quality, watch
        self._rate, self._adjust = Rate(float(schedule.learning_rate)), RATES[schedule.rate]
        self._ends, self._is_over = ENDINGS[schedule.until], False
        self._undoes = schedule.rate == "adaptive"
        self._step = OPTIMIZERS[schedule.optimizer](net.is_weight, schedule.l2)
        self._standing: tuple[Weights, Weights] | None = None  # weights and slopes of the last full batch not undone
        self._best, self.best_quality, self.best_epoch = net.theta.copy(), -np.inf, 0
        self._layers: list[Layer] | None = None  # of the best epoch, made when they are asked for
        self.history: list[dict[str, float]] = []
        self.done = False
        self.aside: Aside | None = None
        """Calls a function on a thread of its own; None while there is none."""
        self._open: tuple[dict[str, float], Weights, Future[float]] | None = None  # an epoch judged aside

    def begin(self) -> None:
        """An epoch begins."""
        self.error, self._adjusted = 0.0, False
        if self._undoes:
            self._before = self.net.theta.copy()

    def step(self, error: float, share: float) -> None:
        """Take a step against the slopes of a batch with this error, which has this share of the epoch.

        The error of a batch that is the whole epoch is that of the weights before its step, so the rule of the rate is
        asked first. If it undoes what raised the error, the step of the last epoch that stands is taken again; where
        there is none, the weights stay as they are.
        """
        net = self.net
        if self._schedule.l1:
            net.slopes += np.float32(self._schedule.l1) * net.is_weight * np.sign(net.theta)
        self.error += share * error
        if self._undoes and share == 1:
            self._adjusted = True
            if not self._adjust(self._rate, self.error):
                self._standing = net.theta.copy(), net.slopes.copy()
            elif self._standing is None:
                return
            else:
                net.theta[:], net.slopes[:] = self._standing
        self._step(net.theta, net.slopes, self._rate.now)

    def finish(self) -> None:
        """The epoch is over: adjust the rate, look at validation data, keep the best."""
        self.settle()
        used, number = self._rate.now, len(self.history) + 1
        if not self._adjusted and self._adjust(self._rate, self.error):
            self.net.theta[:] = self._before
        row = {"epoch": number, "error": self.error, "rate": used} | (self._watch(self.net) if self._watch else {})
        self._is_over = self._ends([*self.history, row])
        quality, theta = self._quality, self.net.theta.copy()
        if quality is None:
            self.history.append(row)
            self._keep(theta)
            self.done = self._is_over
        elif not np.isfinite(theta).all():
            self._decide(row, theta, -np.inf)
        elif self.aside and isinstance(quality, QualityByMetric | QualityByPairs) and not self._is_last(number):
            self._open = row, theta, self.aside(quality.of_now(self.net))
        else:
            self._decide(row, theta, quality(self.net))

    def settle(self) -> None:
        """Wait for the quality of the last epoch, if it is still computed."""
        if self._open is not None:
            row, theta, quality = self._open
            reached = quality.result()
            self._open = None
            self._decide(row, theta, reached)

    def _decide(self, row: dict[str, float], theta: Weights, reached: float) -> None:
        """Keep the last epoch if it is the best; say whether there are to be more."""
        self.history.append(row | {"valid": reached})
        if reached > self.best_quality:
            self.best_quality = reached
            self._keep(theta)
        self.done = self._is_last(len(self.history))

    def _keep(self, theta: Weights) -> None:
        """The last epoch is the best."""
        self._best, self._layers, self.best_epoch = theta, None, len(self.history)

    def _is_last(self, number: int) -> bool:
        """Whether there is no epoch after this one, if it is not the best."""
        patience = self._schedule.patience
        return self._is_over or (patience is not None and number - self.best_epoch >= patience)

    @property
    def best(self) -> list[Layer]:
        """The layers of the best epoch."""
        if self._layers is None:
            self._layers = self.net.layers(self._best)
        return self._layers

    @property
    def trained(self) -> Trained:
        """What was learned, if it can rank: weights that are no numbers would leave every order as it came."""
        if not np.isfinite(self._best).all() or (self.history and self.best_epoch == 0):
            rate = self._schedule.learning_rate
            raise ParameterError(
                f"the network diverged at learning_rate={rate:g}: its weights or scores grew past "
                "all numbers; lower learning_rate, or scale the features"
            )
        return Trained(self.best, self.history, self.best_epoch)


@final
class Team:
    """Networks that learn from the same batches in the same order, step by step."""

    def __init__(self, learners: Sequence[Learner]) -> None:
        self._learners = learners
        self._rng = np.random.default_rng(0)  # of the order of the batches, the same in all teams

    @diverging_quietly
    def epochs(self, n_epochs: int) -> None:
        """Go through the training data this many times."""
        for _ in range(n_epochs):
            self._epoch()

    def _epoch(self) -> None:
        learning = [one for one in self._learners if not one.done]
        for one in learning:
            one.begin()
        nets: list[Any] = [one.net for one in learning]
        for batch in learning[0].supply.epoch(self._rng) if learning else ():
            if isinstance(batch, FarBatch):
                errors = batch.errors(nets)
            else:
                errors = row_errors(nets, batch) if isinstance(batch, Batch) else [net.error(batch) for net in nets]
            for one, error in zip(learning, errors, strict=True):
                one.step(float(error), float(batch.share))
        for one in learning:
            one.finish()


def train(
    learners: Sequence[Learner], n_epochs: int, *, label: str = "training", verbose: bool = False,
    n_jobs: int | None = None,
) -> list[Trained]:  # fmt: skip
    """Train networks side by side, each as it would alone: threads share the networks, or the work of a single one.

    Several go on in turns of as many epochs as take :data:`TURN` seconds: what one of them works with then stays in the
    processor's cache, and threads seldom wait for each other.
    """
    alone, n_threads = len(learners) == 1, count_threads(n_jobs)
    by_supply = [list(some) for _, some in groupby(learners, lambda one: id(one.supply))]
    teams = [Team(some[i::n_threads]) for some in by_supply for i in range(min(n_threads, len(some)))]
    with ExitStack() as open_until_done:
        open_until_done.enter_context(products.on_one_thread())
        run = open_until_done.enter_context(worker_threads(n_jobs, MOST_BLOCKS if alone else len(teams)))
        aside = open_until_done.enter_context(thread_pool(1)).submit if alone and n_threads > 1 else None
        if alone:
            learners[0].net.run = run
        turn, reached = 1, 0  # epochs that come next, and that all have behind them
        with Steps(label, n_epochs, verbose=verbose) as steps:
            for epoch in steps:
                learners[0].aside = aside if epoch + 1 < n_epochs else None
                if epoch == reached:
                    began = time.perf_counter()
                    (one_by_one if alone else run)(methodcaller("epochs", turn), teams)
                    seconds = (time.perf_counter() - began) * n_threads / (turn * len(teams))  # of a team's epoch
                    reached += turn
                    turn = 1 if alone else min(max(int(TURN / seconds), 1), n_epochs - reached)
                best = learners[0].best_quality
                steps.show(error=learners[0].error, **({} if best == -np.inf else {"valid": best}))
                if all(one.done for one in learners):
                    break
        learners[0].settle()
        learners[0].net.run = one_by_one  # the threads end here
    return [one.trained for one in learners]
