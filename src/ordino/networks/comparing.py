"""The family of networks that compare two documents: their parameters, how they learn from pairs, how they sort.

A ranker of this family says where its pairs come from; everything else is here.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.forms import Form
from ordino.given import Validation
from ordino.judge import Judge
from ordino.layers import PAIR_INITIALIZERS, Layer
from ordino.networks import fields
from ordino.networks.autoencoders import stacked_autoencoders
from ordino.networks.learning_sets import LearningSet
from ordino.networks.pair_net import PairNet
from ordino.networks.rates import Schedule
from ordino.networks.supply import ComparedPairs
from ordino.networks.training import Learner, Quality, QualityByMetric, QualityByPairs, Trained, Watch, train
from ordino.order import ORDERS, PairNetwork
from ordino.order.pairs import TOP, Pairs, content_order
from ordino.parameters import Choices, Range, learned, param
from ordino.ranker import Ranker
from ordino.recurring import (
    metric_param,
    missing_param,
    n_jobs_param,
    profile_param,
    scaling_param,
    seed_param,
    verbose_param,
)

LOSSES = ("squared", "absolute", "ranknet", "fidelity")
ACTIVATIONS = ("sigmoid", "tanh", "relu", "softplus")
ADAMW_DECAY = 0.5  # times the rate, a step; found on validation parts of MQ2008


def check_widths(hidden: Any) -> tuple[int, ...]:
    """The neurons of each hidden layer, of which there must be one."""
    widths = fields.widths_of(hidden)
    if not widths:
        raise ParameterError("hidden=(); a comparator needs a hidden layer")
    return widths


def _check_even(hidden: Any) -> None:
    odd = next((width for width in check_widths(hidden) if width % 2), None)
    if odd is not None:
        raise ParameterError(f"hidden={odd}; a layer counts its dual neurons too, so it must be even")


def hidden_param(default: int, widths: tuple[tuple[int, ...], ...]) -> Any:
    """The neurons of each hidden layer of a CmpNN, and the widths that a search tries."""
    text = "The neurons of each hidden layer. Duals are counted too, so numbers must be even; one int makes one layer."
    return param(default, text, check=_check_even, space=Choices(widths))


class Comparator(Ranker):
    """A network that says which of two documents comes first; a sort by it makes the ranking.

    Attributes
    ----------
    network_
        The network as plain arrays.
    """

    shared: ClassVar[bool] = True
    """Whether the network is a CmpNN, whose neurons share their weights with their duals."""

    network_: PairNetwork = learned()

    hidden: int | Sequence[int] = hidden_param(40, ((20,), (40,), (24, 12, 6)))
    activation: str = param(
        "tanh",
        "The activation of the hidden layers: sigmoid, tanh, relu or softplus. The outputs are always sigmoids.",
        choices=ACTIVATIONS,
    )
    initializer: str = param(
        "difference",
        "First weights: difference (Glorot's, but opposite for the two documents), glorot, he (uniform within "
        "sqrt(6 / inputs)), he-normal, uniform (within 1 / sqrt(inputs)), unit (uniform in [-1, 1], DeepNet's "
        '"uniform"), ranknet (zero, the last layer uniform in [-0.1, 0.1]), or autoencoders (each hidden layer first '
        "learns to give back its input).",
        choices=(*PAIR_INITIALIZERS, "autoencoders"),
    )
    pretraining: int = param(
        30, "How many epochs each auto-encoder learns, if `initializer` is autoencoders.", low=1, brief=2
    )
    loss: str = param(
        "ranknet",
        "The loss of a pair's two outputs: squared, absolute, ranknet (cross entropy) or fidelity.",
        choices=LOSSES,
    )
    dropout: float = fields.dropout(0.5)
    input_dropout: float | None = param(
        0.0,
        "The share of features dropped in training, of both documents of a pair; None is that of `dropout`, as in the "
        "thesis. It makes training slower: the first layer must then look at every pair instead of every document.",
        low=0,
        high=0.95,
        space=Range(0.0, 0.3),
    )
    learning_rate: float = fields.learning_rate(3e-3)
    rate: str = fields.rate()
    optimizer: str = fields.optimizer("adamw")
    l1: float = fields.l1()
    l2: float | None = param(
        None,
        "The penalty on the squared weights; with adamw, how fast the weights decay. None means 0.5 for adamw, which "
        "needs it, and 0 for the other optimizers.",
        low=0,
    )
    epochs: int = fields.epochs(40)
    patience: int | None = fields.patience(12)
    hold_out: float | None = fields.hold_out()
    batch: int | None = fields.batch(500, "Pairs")
    metric: str = metric_param(text="The metric by which the best epoch is chosen on `valid`, and which `score` gives.")
    profile: str = profile_param()
    scaling: str | None = scaling_param(
        "zscore",
        "Feature scaling: a name in `SCALERS`, several joined by +, or None. zscore ranks best on validation data; "
        "`compare`, which sees two documents and not their query, needs None, quantile or symlog.",
    )
    missing: str | None = missing_param()
    algorithm: str = param(
        "copeland",
        "How comparisons become a ranking: over all pairs of a query, whatever the order of its documents (copeland "
        "counts wins, borda adds up probabilities), or by a sort (merge, quick, heap or insertion).",
        choices=ORDERS,
    )
    top: int | None = param(
        TOP,
        "For copeland and borda on queries of more than 1,000 documents: how many documents are compared with all "
        "others. They are the best by comparisons with a sample, which also orders the rest. None compares all.",
        low=1,
    )
    seed: int = seed_param()
    n_jobs: int | None = n_jobs_param()
    verbose: bool = verbose_param()

    def _validation(self, n_queries: int, valid: Validation) -> Validation:
        return fields.own_validation(self.hold_out, n_queries, valid)

    def form(self) -> Form:
        """The network and its sort."""
        self._check_fitted()
        return self._pairs(self.network_)

    def _pairs(self, network: PairNetwork) -> Pairs:
        return Pairs(self.scaler_, self.n_inputs, network, self.algorithm, self.n_jobs, top=self.top)

    def compare(self, A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
        """P(a before b) = (1 + N>(a, b) - N<(a, b)) / 2 for each row a of A and b of B."""
        fields.check_documents_alone(self)
        return self.network_.compare(self.prepared(A).X, self.prepared(B).X)

    def activations(self, X: ArrayLike | Dataset, pairs: ArrayLike, *, qid: Any = None) -> list[NDArray[np.float32]]:
        """What every layer gives for pairs (a, b) of rows of X: each ``(n_pairs, n_neurons)``, the outputs last.

        The mean of a column is a neuron's average activation (DeepNet, Fig. 4.5 and 4.8).
        """
        data = self.prepared(X, qid=qid)
        rows: NDArray[np.float32] = data.restore(data.X)
        chosen, _ = fields.check_preferences(pairs, 1.0, len(rows))
        return self.network_.activations(rows[chosen[:, 0]], rows[chosen[:, 1]])

    def _fresh(self, X: NDArray[np.float32], learning_set: LearningSet, seed: int) -> PairNet:
        """A network with first weights; auto-encoders learn theirs from the pairs."""
        widths = fields.widths_of(self.hidden)
        pretrained = self.initializer == "autoencoders"
        kind: dict[str, Any] = {"shared": self.shared, "activation": self.activation, "seed": seed}
        first = "glorot" if pretrained else self.initializer
        of_inputs = self.dropout if self.input_dropout is None else self.input_dropout
        shares = {"dropout": self.dropout, "input_dropout": of_inputs}
        net = PairNet(X.shape[1], widths, loss=self.loss, initializer=first, **shares, **kind)
        if pretrained and learning_set.n_pairs:
            schedule = Schedule(self.pretraining, 1e-3, optimizer="adam")
            net.load(stacked_autoencoders(X, learning_set.rows(len(X)), widths, schedule=schedule, **kind))
        return net

    def _schedule(self) -> Schedule:
        return Schedule.of(self, l2=ADAMW_DECAY * (self.optimizer == "adamw") if self.l2 is None else self.l2)

    def _learner(
        self, net: PairNet, X: NDArray[np.float32], learning_set: LearningSet, quality: Quality | None,
        watch: Watch | None = None,
    ) -> Learner:  # fmt: skip
        """The network, ready to learn from these pairs."""
        return Learner(net, ComparedPairs(X, learning_set, self.batch), self._schedule(), quality, watch)

    def _learn(self, learners: Sequence[Learner], epochs: int, verbose: bool) -> list[Trained]:
        """What the networks learned."""
        return train(learners, epochs, label=type(self).__name__, verbose=verbose, n_jobs=self.n_jobs)

    def _by_pairs(self, X: NDArray[np.float32], learning_set: LearningSet) -> Quality | None:
        """Quality is a small error on these pairs; None if there are none."""
        return QualityByPairs(ComparedPairs(X, learning_set).whole) if learning_set.n_pairs else None

    def _by_metric(self, valid: Dataset) -> Quality:
        """Quality is the metric of sorted validation data."""
        start, judge = content_order(valid), Judge(self.metric, self.profile)
        return QualityByMetric(judge, valid, lambda one: self._pairs(self._plain(one)).score_scaled(valid, start))

    def _plain(self, layers: Sequence[Layer]) -> PairNetwork:
        """The network as plain arrays, ready to sort."""
        (W, b), n_features = layers[0], len(layers[0].W) // 2
        return PairNetwork(W[:n_features], W[n_features:], b, tuple(layers[1:]), activation=self.activation)
