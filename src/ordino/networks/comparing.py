"""What all rankers that compare share: a pair network, how it learns from pairs, and the sort that makes a ranking.

A ranker of this family says where its pairs come from; everything else is here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_choice, check_int, check_real
from ordino.data.canonical_kernels import hash_rows
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.layers import Layer
from ordino.networks.gradient import GradientRanker
from ordino.networks.preferences import check_preferences
from ordino.order import PairNetwork, Sorted, scores_from_order, sort_queries

if TYPE_CHECKING:
    from ordino.networks.learning_sets import LearningSet
    from ordino.networks.pair_network import CmpNN
    from ordino.networks.training import Judge, Trained

LOSSES = ("squared", "absolute", "ranknet", "fidelity")
HIDDEN_ACTIVATIONS = ("sigmoid", "tanh", "relu", "softplus")
ADAMW_DECAY = 0.5  # times the rate, a step; found on validation parts of MQ2008
WATCHED_PAIRS = 1000  # pairs on which the activations of an epoch are measured


class Comparator(GradientRanker):
    """A network that says which of two documents comes first; a sort by it makes the ranking.

    Parameters
    ----------
    hidden
        Neurons of each hidden layer, duals included, so even numbers; one int is one layer.
    activation
        Of the hidden layers: sigmoid, tanh, relu or softplus. The outputs are sigmoids.
    initializer
        First weights: difference (Glorot's, but opposite for the two documents), glorot, he, uniform (within
        1 / sqrt(inputs)), unit (uniform in [-1, 1], DeepNet's "uniform"), or autoencoders (each hidden layer learns to
        give back its input first).
    pretraining
        Epochs of each auto-encoder.
    loss
        Of a pair's two outputs: squared, absolute, ranknet (cross entropy) or fidelity.
    dropout
        The share of hidden neurons dropped in training.
    learning_rate, rate
        First step size and how it changes: constant, halve (when the error rises) or adaptive (DeepNet's rule).
    optimizer
        adam, adamw or descent.
    l1, l2
        Penalties on the weights; both make the elastic net. For adamw, l2 is the decay of the weights, which it needs:
        None is 0.5 for adamw and 0 for the others.
    epochs, patience
        How often to go through the pairs; with ``valid``, stop after this many epochs without a better one.
    batch
        Pairs a step; None takes all at once.
    metric, profile
        What is best on ``valid``, and what ``score`` gives.
    scaling
        How features are scaled first, a name of ``SCALERS``, or None.
    algorithm
        The sort: merge, quick, heap or insertion.
    record_activations
        Write the mean and the deviation of each layer's activations into ``history_``, epoch by epoch.
    seed
        The same seed gives the same ranker.
    n_jobs
        Threads of the sort, None for one a core; the result does not depend on it.
    verbose
        Show progress on a terminal.
    """

    shared: ClassVar[bool]
    """Whether the network is a CmpNN, whose neurons share their weights with their duals."""

    def __init__(
        self,
        *,
        hidden: int | Sequence[int] = 40,
        activation: str = "tanh",
        initializer: str = "difference",
        pretraining: int = 30,
        loss: str = "ranknet",
        dropout: float = 0.5,
        learning_rate: float = 3e-3,
        rate: str = "constant",
        optimizer: str = "adamw",
        l1: float = 0.0,
        l2: float | None = None,
        epochs: int = 40,
        patience: int | None = 12,
        batch: int | None = 500,
        metric: str = "ndcg@10",
        profile: str = "standard",
        scaling: str | None = "quantile",
        algorithm: str = "merge",
        record_activations: bool = False,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.initializer = initializer
        self.pretraining = pretraining
        self.loss = loss
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
        self.algorithm = algorithm
        self.record_activations = record_activations
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return self._sorted_scores(self.network_, data)

    def compare(self, A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
        """P(a before b) = (1 + N>(a, b) - N<(a, b)) / 2 for each row a of A and b of B."""
        self._check_documents_alone()
        network: PairNetwork = self.network_
        return network.compare(*(self._scaled(self._checked(documents, None)).X for documents in (A, B)))

    def activations(self, X: ArrayLike | Dataset, pairs: ArrayLike, *, qid: Any = None) -> list[NDArray[np.float32]]:
        """What every layer gives for pairs (a, b) of rows of X: each ``(n_pairs, n_neurons)``, the outputs last.

        The mean of a column is a neuron's average activation (DeepNet, Fig. 4.5 and 4.8).
        """
        data = self._checked(X, qid)
        rows: NDArray[np.float32] = data.restore(self._scaled(data).X)
        chosen, _ = check_preferences(pairs, 1.0, len(rows))
        network: PairNetwork = self.network_
        return network.activations(rows[chosen[:, 0]], rows[chosen[:, 1]])

    def _fresh(self, X: NDArray[np.float32], learning_set: LearningSet, seeds: Sequence[int]) -> CmpNN:
        """A network for each seed, with first weights; auto-encoders learn theirs from the pairs."""
        from ordino.networks.autoencoders import stacked_autoencoders
        from ordino.networks.pair_network import PAIR_INITIALIZERS, CmpNN
        from ordino.networks.training import Schedule

        widths = self._widths()
        initializer = check_choice("initializer", self.initializer, [*PAIR_INITIALIZERS, "autoencoders"])
        pretrained = initializer == "autoencoders"
        activation = check_choice("activation", self.activation, HIDDEN_ACTIVATIONS)
        network = CmpNN(
            X.shape[1],
            widths,
            shared=self.shared,
            activation=activation,
            initializer="glorot" if pretrained else initializer,
            dropout=check_real("dropout", self.dropout, low=0, high=0.95),
            seeds=seeds,
        )
        if pretrained and learning_set.n_pairs:
            schedule = Schedule(check_int("pretraining", self.pretraining, low=1), 1e-3, optimizer="adam")
            pairs = self._supply(X, learning_set).whole().X
            for m, seed in enumerate(seeds):
                [layers] = stacked_autoencoders(
                    pairs.of_network(m), widths, shared=self.shared, activation=activation, schedule=schedule,
                    seeds=[seed],
                )  # fmt: skip
                network.load(m, layers)
        return network

    def _supply(self, X: NDArray[np.float32], learning_set: LearningSet) -> Any:
        from ordino.losses import pair_loss
        from ordino.networks.pair_supply import ComparisonBatches

        loss = pair_loss(check_choice("loss", self.loss, LOSSES))
        return ComparisonBatches(X, learning_set, loss, batch=self._batch())

    def _learn(
        self, network: CmpNN, X: NDArray[np.float32], learning_set: LearningSet, judge: Judge | None, *, verbose: bool
    ) -> list[Trained]:
        """Every network of the batch after training; without a pair to learn from, as it is."""
        from ordino.networks.training import Trained, train

        schedule = self._schedule()
        if not learning_set.n_pairs:
            return [Trained(network.layers(m), [], 0) for m in range(len(network.W[0]))]
        supply = self._supply(X, learning_set)
        watch = self._watch(X, learning_set) if self.record_activations else None
        name = type(self).__name__
        return train(network, supply, schedule, judge=judge, watch=watch, label=name, verbose=verbose)

    def _decay(self) -> float | None:
        return self.l2 if self.l2 is not None else ADAMW_DECAY * (self.optimizer == "adamw")

    def _widths(self) -> tuple[int, ...]:
        widths = super()._widths()
        if not widths:
            raise ParameterError("hidden=(); a comparator needs a hidden layer")
        odd = next((width for width in widths if width % 2 and self.shared), None)
        if odd is not None:
            raise ParameterError(f"hidden={odd}; a layer counts its dual neurons too, so it must be even")
        return widths

    def _by_pairs(self, X: NDArray[np.float32], learning_set: LearningSet) -> Judge | None:
        """Quality is a small error on these pairs; None if there are none."""
        from ordino.networks.pair_supply import mean_error

        if not learning_set.n_pairs:
            return None
        batch = self._supply(X, learning_set).whole()
        return lambda network: -mean_error(network, batch)

    def _by_metric(self, valid: Dataset) -> Judge:
        """Quality is the metric of sorted validation data."""
        quality = self._quality(valid)

        def judge(network: CmpNN) -> NDArray[np.float64]:
            plain = (self._plain(network.layers(m)) for m in range(len(network.W[0])))
            return np.array([quality(self._sorted_scores(one, valid)) for one in plain])

        return judge

    def _watch(self, X: NDArray[np.float32], learning_set: LearningSet) -> Callable[[CmpNN], list[dict[str, float]]]:
        few = learning_set.take(np.arange(min(WATCHED_PAIRS, learning_set.n_pairs)))
        pairs = self._supply(X, few).whole().X

        def watch(network: CmpNN) -> list[dict[str, float]]:
            reached = [h.detach() for h in network.activations(pairs)]
            reached[-1] = reached[-1].sigmoid()
            names = [*(str(i + 1) for i in range(len(reached) - 1)), "out"]
            figures: list[dict[str, float]] = [{} for _ in reached[0]]
            for name, h in zip(names, reached, strict=True):
                for own, row in zip(h, figures, strict=True):
                    row |= {f"mean_{name}": float(own.mean()), f"std_{name}": float(own.std())}
            return figures

        return watch

    def _plain(self, layers: Sequence[Layer]) -> PairNetwork:
        """The network as plain arrays, ready to sort."""
        first, n_features = layers[0], len(layers[0].W) // 2
        left, right = first.W[:n_features], first.W[n_features:]
        return PairNetwork(left, right, first.b, tuple(layers[1:]), activation=self.activation)

    def _start(self, data: Dataset) -> NDArray[np.intp]:
        """Where a sort starts: from the rows of each query ordered by what they are.

        A comparator need not be transitive, so where a sort starts may show: it must not be the order of the rows.
        """
        hashes = hash_rows(np.ascontiguousarray(data.X), np.empty((data.n_docs, 0), np.uint64))
        return np.lexsort((hashes, np.repeat(np.arange(data.n_queries), data.counts)))

    def _sorted(self, network: PairNetwork, data: Dataset, y: NDArray[np.float64] | None = None) -> Sorted:
        start = self._start(data)
        order, comparisons, miscompared = sort_queries(
            network,
            data.X[start],
            data.offsets,
            algorithm=self.algorithm,
            y=None if y is None else y[start],
            n_jobs=self.n_jobs,
        )
        if miscompared is not None:
            better, worse = np.divmod(miscompared, max(data.n_docs, 1))
            miscompared = np.sort(start[better] * data.n_docs + start[worse])
        return Sorted(start[order], comparisons, miscompared)

    def _sorted_scores(self, network: PairNetwork, data: Dataset) -> NDArray[np.float64]:
        return scores_from_order(self._sorted(network, data).order, data.offsets)
