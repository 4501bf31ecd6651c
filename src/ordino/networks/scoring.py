"""The family of scoring networks: their parameters, how they learn, how they score.

A ranker of this family is a loss: its file says which, and everything else is here.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.columns import check_names
from ordino.data.dataset import Dataset
from ordino.division import Divided
from ordino.errors import ParameterError
from ordino.forms import Form, Network
from ordino.given import Validation
from ordino.judge import Judge
from ordino.layers import ACTIVATIONS, INITIALIZERS, Layer, forward
from ordino.losses import Loss
from ordino.networks import fields
from ordino.networks.divided import DividedBatches, quality_elsewhere
from ordino.networks.nets import RowNet
from ordino.networks.rates import Schedule
from ordino.networks.supply import Batch, QueryBatches, Supply
from ordino.networks.training import Learner, Quality, QualityByMetric, Trained, Watch, train
from ordino.parameters import Choices, learned, param
from ordino.ranker import Ranker
from ordino.recurring import (
    metric_param,
    missing_param,
    profile_param,
    scaling_param,
    seed_param,
    verbose_param,
    warm_start_param,
)


class ScoringNetwork(Ranker):
    """A network f(x) learned by gradient; documents are ordered by f.

    Attributes
    ----------
    layers_
        Weights and biases, layer by layer.
    activation_
        The activation that stands between them.
    history_
        What happened in each epoch: its error, the rate, and the metric on ``valid``.
    best_epoch_
        The epoch that was kept.
    """

    divides = True
    uses_weights = True
    shares_batches: ClassVar[bool] = True
    """Whether networks of different seeds learn from the same batches."""
    output_bias: ClassVar[bool] = False
    """Whether the output has a bias. It would move all scores alike, and an optimizer would follow its rounding noise:
    only what learns the scores themselves needs one."""

    layers_: list[Layer] = learned()
    activation_: str = learned()

    hidden: int | Sequence[int] = param(
        (64, 32),
        "The number of neurons in each hidden layer; `()` makes a linear ranker, one int makes one layer.",
        check=fields.widths_of,
        space=Choices(((), (32,), (64, 32), (100, 100))),
    )
    activation: str = param(
        "relu", "The activation of the hidden layers: relu, tanh, sigmoid, softplus or identity.", choices=ACTIVATIONS
    )
    initializer: str = param(
        "he-normal",
        "First weights: he-normal (variance 2 / inputs, 1 / inputs in the last layer), he (uniform within "
        "sqrt(6 / inputs)), glorot, uniform (within 1 / sqrt(inputs)), unit (uniform in [-1, 1]), or ranknet (zero, "
        "the last layer uniform in [-0.1, 0.1]).",
        choices=INITIALIZERS,
    )
    dropout: float = fields.dropout(0.3)
    learning_rate: float = fields.learning_rate(3e-3)
    rate: str = fields.rate()
    optimizer: str = fields.optimizer("adamw")
    l1: float = fields.l1()
    l2: float = fields.l2(0.0, "The penalty on the squared weights; with adamw, how fast the weights decay.")
    epochs: int = fields.epochs(50)
    patience: int | None = fields.patience(20)
    hold_out: float | None = fields.hold_out()
    batch: int | None = fields.batch(16, "Queries")
    metric: str = metric_param(text="The metric by which the best epoch is chosen on `valid`, and which `score` gives.")
    profile: str = profile_param()
    scaling: str | None = scaling_param(
        "z+rank",
        "How features are scaled first: a name in `SCALERS`, several joined by +, or None for no scaling. z+rank ranks "
        "best on validation data, but it needs whole queries: `compare`, which sees two documents, and an export to a "
        "search engine need symlog, quantile or None.",
    )
    missing: str | None = missing_param()
    warm_start: bool = warm_start_param("Go on from the weights of the last `fit`.")
    seed: int = seed_param()
    verbose: bool = verbose_param()

    def _loss(self) -> Loss:
        """What learning minimizes."""
        raise TypeError(f"{type(self).__name__} needs a method _loss that gives what learning minimizes")

    def _validation(self, n_queries: int, valid: Validation) -> Validation:
        return fields.own_validation(self.hold_out, n_queries, valid)

    def _prepare(self, data: Any, held_out: Any, *, by_labels: bool = True) -> tuple[Any, Any]:
        if self.warm_start and hasattr(self, "layers_") and getattr(self, "n_features_in_", 0) == data.n_features:
            check_names(getattr(self, "feature_names_in_", None), data.feature_names)  # a weight is that of its column
        return super()._prepare(data, held_out, by_labels=by_labels)

    def _fit(self, data: Any, valid: Any) -> None:
        self._keep(self._train(data, valid, [self.seed])[0])

    def fit_repeats(self, data: Dataset, seeds: Sequence[int], *, valid: Validation = None) -> list[Self]:
        """One fitted ranker for each seed, trained together: cheaper than one by one, with the same result."""
        return fields.fit_together(self, data, seeds, valid, type(self)._train, type(self)._keep)

    def _train(
        self, data: Any, valid: Any, seeds: Sequence[int],
        supply: Supply[Batch] | None = None,
    ) -> list[Trained]:  # fmt: skip
        """What the networks of these seeds learned, from whole queries or from another supply of batches.

        Data is a :class:`Dataset`, or :class:`~ordino.division.Divided` over a cluster.
        """
        quality, watch = self._quality(Judge(self.metric, self.profile), valid), self._watch(data, supply)
        nets = [self._fresh(data, seed) for seed in seeds]
        shared = supply or (self._supply(data, nets[0]) if self.shares_batches else None)
        learners = [Learner(net, shared or self._supply(data, net), self._schedule(), quality, watch) for net in nets]
        return train(learners, self.epochs, label=type(self).__name__, verbose=self.verbose)

    def _quality(self, judge: Judge, data: Any) -> Quality | None:
        """What says how good a network is on these data, if there are any."""
        if data is None:
            return None
        if isinstance(data, Divided):
            return quality_elsewhere(judge, data, self.activation)
        return QualityByMetric(judge, data, lambda layers: self._scores(layers, data))

    def _watch(self, data: Any, supply: Supply[Batch] | None) -> Watch | None:  # noqa: ARG002
        """What a network's history tells of each epoch besides its error."""
        return None

    def _fresh(self, data: Any, seed: int) -> RowNet:
        """A network with first weights, or with those of the last fit."""
        kind: dict[str, Any] = {"activation": self.activation, "initializer": self.initializer}
        net = RowNet([*self._widths(data), 1], **kind, dropout=self.dropout, seed=seed, output_bias=self.output_bias)
        if self.warm_start and hasattr(self, "layers_"):
            if [layer.W.shape for layer in self.layers_] != [W.shape for W in net.W]:
                raise ParameterError("warm_start=True cannot go on from layers of other sizes; use warm_start=False")
            net.load(self.layers_)
        return net

    def _widths(self, data: Any) -> list[int]:
        """Neurons of each layer, from the inputs to the last hidden layer."""
        return [data.n_features, *fields.widths_of(self.hidden)]

    def _supply(self, data: Any, net: RowNet) -> Supply[Any]:
        if isinstance(data, Divided):
            return DividedBatches(data, self, net, self.batch)
        return QueryBatches(data, self._loss(), batch=self.batch)

    def _schedule(self) -> Schedule:
        return Schedule.of(self)

    def _scores(self, layers: list[Layer], data: Dataset) -> NDArray[np.float64]:
        return forward(data.X, layers, self.activation)

    def _keep(self, trained: Trained) -> Self:
        """Become the ranker of this network."""
        self.layers_, self.history_, self.best_epoch_ = trained.layers, trained.history, trained.best_epoch
        self.activation_ = self.activation
        return self

    def compare(self, A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
        """P(a before b) = 1 / (1 + exp(f(b) - f(a))) for each row a of A and b of B (RankNet, eq. 3)."""
        return 1 / (1 + np.exp(-np.clip(self._score_difference(A, B), -700, 700)))

    def _score_difference(self, A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
        fields.check_documents_alone(self)
        return self.predict(A) - self.predict(B)

    def form(self) -> Form:
        """The layers of the network."""
        self._check_fitted()
        activation = getattr(self, "activation_", self.activation)  # older model files do not say
        return Network(self.scaler_, self.n_inputs, self.layers_, activation)
