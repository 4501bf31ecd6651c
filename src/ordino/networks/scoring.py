"""What all rankers that are scoring networks share: their parameters, how they learn, how they score.

A ranker of this family is a loss: its file says which, and everything else is here. Repeats that differ only in their
seed train together (:mod:`ordino.networks.repeats`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_choice, check_real
from ordino.data.dataset import Dataset
from ordino.layers import ACTIVATIONS, Layer, forward
from ordino.networks.repeats import Repeatable

if TYPE_CHECKING:
    from ordino.losses import Loss
    from ordino.networks.scoring_net import Network
    from ordino.networks.supply import Supply
    from ordino.networks.training import Judge, Trained


class NetworkRanker(Repeatable):
    """A network f(x) learned by gradient; documents are ordered by f.

    Parameters
    ----------
    hidden
        Neurons of each hidden layer; ``()`` is a linear ranker, one int is one layer.
    activation
        Between layers: relu, tanh, sigmoid, softplus, identity.
    initializer
        First weights: he, glorot, uniform, or ranknet (zero, the last layer uniform in [-0.1, 0.1]).
    dropout
        The share of hidden neurons dropped in training.
    learning_rate, rate
        First step size and how it changes: constant, halve (when the error rises) or adaptive (DeepNet's rule).
    optimizer
        adamw, adam or descent.
    l1, l2
        Penalties on the weights; both make the elastic net. For adamw, l2 is the decay of the weights.
    epochs, patience
        How often to go through the data; with ``valid``, stop after this many epochs without a better one.
    batch
        Queries a step; None takes all at once.
    metric, profile
        What the best epoch is chosen by on ``valid``, and what ``score`` gives.
    scaling
        How features are scaled first, a name of ``SCALERS``, or None. ``"zscore"`` ranked best on validation data of
        MQ2008, but it needs whole queries, which ``compare`` does not have.
    warm_start
        Go on from the weights of the last ``fit``.
    seed
        The same seed gives the same ranker.
    verbose
        Show progress on a terminal.
    """

    uses_weights = True

    def __init__(
        self,
        *,
        hidden: int | Sequence[int] = (64, 32),
        activation: str = "relu",
        initializer: str = "he",
        dropout: float = 0.0,
        learning_rate: float = 3e-3,
        rate: str = "constant",
        optimizer: str = "adamw",
        l1: float = 0.0,
        l2: float = 0.0,
        epochs: int = 50,
        patience: int | None = 20,
        batch: int | None = 16,
        metric: str = "ndcg@10",
        profile: str = "standard",
        scaling: str | None = "symlog",
        warm_start: bool = False,
        seed: int = 0,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.initializer = initializer
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.rate = rate
        self.optimizer = optimizer
        self.l1 = l1
        self.l2 = l2
        self.epochs = epochs
        self.patience = patience
        self.batch = batch
        self.metric = metric
        self.profile = profile
        self.scaling = scaling
        self.warm_start = warm_start
        self.seed = seed
        self.verbose = verbose

    @abstractmethod
    def _loss(self) -> Loss:
        """What learning minimizes."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        self._keep(self._train(data, valid, [self.seed])[0])

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return forward(data.X, self.layers_, self.activation)

    def compare(self, A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
        """P(a before b) = 1 / (1 + exp(f(b) - f(a))) for each row a of A and b of B (RankNet, eq. 3)."""
        return 1 / (1 + np.exp(-np.clip(self._difference(A, B), -700, 700)))

    def _difference(self, A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
        """f(a) - f(b) for each row a of A and b of B."""
        self._check_documents_alone()
        return self.predict(A) - self.predict(B)

    def _train(self, data: Dataset, valid: Dataset | None, seeds: Sequence[int]) -> list[Trained]:
        from ordino.networks.supply import QueryBatches

        loss = self._loss()
        return self._learn(lambda _: QueryBatches(data, loss, batch=self._batch()), data.n_features, valid, seeds)

    def _learn(
        self, supply: Callable[[Network], Supply], n_inputs: int, valid: Dataset | None, seeds: Sequence[int]
    ) -> list[Trained]:
        """Networks of these seeds, learned from what ``supply`` gives them."""
        from ordino.networks.scoring_net import Network
        from ordino.networks.training import train

        network = Network(
            [n_inputs, *self._widths()],
            activation=check_choice("activation", self.activation, ACTIVATIONS),
            initializer=self.initializer,
            dropout=check_real("dropout", self.dropout, low=0, high=0.95),
            seeds=seeds,
        )
        if self.warm_start and hasattr(self, "layers_"):
            for m in range(len(seeds)):
                network.load(m, self.layers_)
        judge = None if valid is None else self._judge(valid)
        name = type(self).__name__
        return train(network, supply(network), self._schedule(), judge=judge, label=name, verbose=self.verbose)

    def _judge(self, valid: Dataset) -> Judge:
        quality = self._quality(valid)

        def judge(network: Network) -> NDArray[np.float64]:
            scores = [self._score_with(network.layers(m), valid) for m in range(len(network.W[0]))]
            return np.array([quality(of_network) for of_network in scores])

        return judge

    def _score_with(self, layers: list[Layer], data: Dataset) -> NDArray[np.float64]:
        return forward(data.X, layers, self.activation)

    def _keep(self, learned: Trained) -> None:
        self.layers_ = learned.layers
        self.history_ = learned.history
        self.best_epoch_ = learned.best_epoch
