r"""RankNet: pairwise cross entropy on score differences, by a network or in the space of a kernel.

Burges et al., "Learning to rank using gradient descent", ICML 2005. For two documents of a query with o = f(a) - f(b),
the model says P(a before b) = 1 / (1 + exp(-o)), and the cost against the target probability p is
C = -p o + log(1 + exp(o)) (eq. 3).
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import row_blocks
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.forms import are_layers, require
from ordino.given import Validation
from ordino.judge import Judge
from ordino.layers import Layer, forward
from ordino.losses import Loss, make_loss, pair_loss
from ordino.losses.families import TARGETS
from ordino.networks import fields
from ordino.networks.learning_sets import LearningSet
from ordino.networks.nets import RowNet
from ordino.networks.rates import ENDINGS, Schedule
from ordino.networks.scoring import ScoringNetwork
from ordino.networks.supply import Batch, QueryBatches, ScoredPairs, Supply
from ordino.networks.training import Watch
from ordino.parameters import Range, param, settings
from ordino.ranker import Ranker
from ordino.streams import spawn_seed, stream

PAIRS_A_QUERY = 256  # in fit_pairs, where there are no queries: what ``batch`` counts
KERNELS = ("rbf", "laplacian", "polynomial", "poly", "sigmoid", "cosine", "linear", "chi2", "additive_chi2")
WIDER = 4  # times as wide as scikit-learn's rbf
BLOCK = 4096  # documents whose kernel features are made at a time


@final
class RankNet(ScoringNetwork):
    """A scoring network that learns from pairs of documents of the same query.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> ranker = RankNet(hidden=(), epochs=5).fit(data)
    >>> ranker.rank(data[0].X).shape
    (15,)
    """

    ties: bool = param(False, "Also learn from pairs of equal labels, with target 1/2 (section 5.2).")
    target: float = param(
        1.0, "The target P(a before b) where a has the larger label; 1 is the paper's hard target.", low=0.5, high=1
    )
    target_by: str = param(
        "pair",
        "pair: `target` is that of every pair. step: it is that of labels that differ by one, and for labels that "
        "differ by n its odds are raised to the power n (the lemma of section 3).",
        choices=TARGETS,
    )
    average: str = fields.average()
    until: str = param(
        "all-epochs",
        "When to end, besides `patience`: after all-epochs; at no-error, when no training pair is in the wrong order "
        "(section 5); or at same-error, when their share has not changed for ten epochs (section 6).",
        choices=ENDINGS,
    )

    published = settings(
        hidden=10, activation="tanh", initializer="ranknet", optimizer="descent", rate="halve", learning_rate=0.001,
        average="sum", batch=1, epochs=100, patience=None, metric="pairwise_accuracy", scaling=None,
        dropout=0.0, hold_out=None, until="no-error",
    )  # fmt: skip
    """The settings of section 5: first layer zero, second uniform in [-0.1, 0.1]; a rate of 0.001 for each pair, halved
    when the epoch's error rises; 100 epochs, or until no training pair is in the wrong order, the best on validation
    kept. The paper leaves open how often it takes a
    step; here it is after each query, by the sum over its pairs."""

    @classmethod
    def as_published(cls, **changes: Any) -> Self:
        """A network with the settings of section 5; with ``hidden=()`` its one layer starts from uniform weights."""
        one_layer = "hidden" in changes and not fields.widths_of(changes["hidden"])
        return super().as_published(**({"initializer": "uniform"} if one_layer else {}) | changes)

    def _loss(self) -> Loss:
        how = {"target": self.target, "target_by": self.target_by, "average": self.average}
        return make_loss("ranknet", ties=self.ties, **how)

    def _watch(self, data: Any, supply: Supply[Batch] | None) -> Watch | None:
        """The share of training pairs in the wrong order, where an end of the training depends on it."""
        if self.until == "all-epochs":
            return None
        if isinstance(supply, ScoredPairs):
            return lambda net: {"wrong_pairs": supply.wrong_pairs(self._scores(net.layers(), data))}
        quality = self._quality(Judge("pairwise_accuracy", "standard"), data)
        assert quality is not None, "there are training data"
        return lambda net: {"wrong_pairs": 1 - max(quality(net), 0.0)}

    def fit_pairs(
        self, X: ArrayLike, pairs: ArrayLike, probability: ArrayLike = 1.0, *, weights: ArrayLike | None = None,
        valid: Dataset | None = None,
    ) -> Self:  # fmt: skip
        """Learn from preferences: pairs ``(a, b)`` of rows of X, of which a comes first with this probability.

        The pairs may be incomplete or contradict each other. A probability is one number for all or one for each, and
        so are weights, which say how much a pair counts: one of weight 2 is a pair given twice.

        Examples
        --------
        >>> ranker = RankNet(hidden=(), scaling=None, epochs=30).fit_pairs([[0.0], [1.0], [2.0]], [(2, 1), (1, 0)])
        >>> ranker.rank([[0.0], [1.0], [2.0]]).tolist()
        [2, 1, 0]
        """
        fields.check_scaling_alone(self)
        given = fields.documents_of_pairs(X)
        preferences = LearningSet.of(*fields.check_preferences(pairs, probability, given.n_docs), given.n_docs)
        data, held_out = self._prepare(given, valid, by_labels=False)
        batch = None if self.batch is None else PAIRS_A_QUERY * self.batch
        counts = None if weights is None else fields.check_pair_weights(weights, preferences.n_pairs)
        supply = ScoredPairs(data.X, preferences, pair_loss("ranknet"), batch=batch, weights=counts)
        return self._keep(self._train(data, held_out, [self.seed], supply)[0])


@final
class KernelRankNet(ScoringNetwork):
    """RankNet in the space of a kernel, through Nystroem features (eq. 17-18).

    The score is f(x) = sum_j alpha_j k(x_j, x), and the cost F is the sum over all pairs of documents of a query with
    different labels, each once, of RankNet's cost, plus lambda times the squared norm of f in the kernel's space.
    Nystroem features phi with phi(x) . phi(x') ~ k(x, x') make that a linear RankNet on phi(x) whose l2 penalty is the
    norm; no kernel matrix of all documents is ever built. A step minimizes the sum over the pairs of its queries plus
    their share of the penalty, so the steps of an epoch add up to F.

    Attributes
    ----------
    features_
        scikit-learn's Nystroem, which makes the features.
    layers_, activation_, history_, best_epoch_
        As in RankNet; there is one layer.
    """

    divides = False  # the kernel's landmarks are drawn from all documents
    dropped: ClassVar[tuple[str, ...]] = ("hidden", "activation", "dropout")

    # the score is a linear function of phi(x): these parameters of the family do not exist here
    hidden: ClassVar[tuple[int, ...]] = ()  # type: ignore[misc]
    activation: ClassVar[str] = "identity"  # type: ignore[misc]
    dropout: ClassVar[float] = 0.0  # type: ignore[misc]

    kernel: str = param("rbf", "Name of a scikit-learn kernel: rbf, polynomial, laplacian ...", choices=KERNELS)
    gamma: float | None = param(
        None,
        "The kernel's gamma; None is a quarter of 1 / the number of inputs for rbf, and lets scikit-learn choose for "
        "others.",
        low=0,
    )
    n_components: int = param(200, "Number of documents that approximate the kernel; more is more exact.", low=1)
    learning_rate: float = fields.learning_rate(0.03)
    optimizer: str = fields.optimizer("adam")
    l2: float = param(
        1.0,
        "lambda of eq. 17, the weight of the squared norm beside the sum over all pairs; adamw decays the weights "
        "instead.",
        low=0,
        space=Range(1e-3, 1e3, log=True),
    )

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        from sklearn.kernel_approximation import Nystroem

        n_components = min(self.n_components, data.n_docs)
        drawn = stream(self.seed, "documents").permutation(data.n_docs)[: 4 * n_components]
        landmarks = spawn_seed(self.seed, "landmarks")
        gamma = 1 / (WIDER * data.n_features) if self.gamma is None and self.kernel == "rbf" else self.gamma
        kernel = Nystroem(kernel=self.kernel, gamma=gamma, n_components=n_components, random_state=landmarks)
        if self.warm_start and hasattr(self, "layers_"):  # their weights are those of the features of then
            self._check_goes_on(kernel, data.n_features)
        else:
            self.features_ = kernel.fit(data.X[drawn].astype(np.float64))
        super()._fit(data, valid)

    def _check_goes_on(self, kernel: Any, n_inputs: int) -> None:
        """Refuse another kernel than the one that the weights were learned in; fewer documents are none."""
        known, (n_known, n_inputs_known) = self.features_, self.features_.components_.shape
        same_kernel = (known.kernel, known.gamma) == (kernel.kernel, kernel.gamma) and n_inputs == n_inputs_known
        if not (same_kernel and kernel.n_components <= n_known <= self.n_components):
            raise ParameterError("warm_start=True cannot go on from another kernel; use warm_start=False")

    def fit_repeats(self, data: Dataset, seeds: Sequence[int], *, valid: Validation = None) -> list[Self]:
        """One fitted ranker for each seed, which draws features of its own."""
        return Ranker.fit_repeats(self, data, seeds, valid=valid)

    def _widths(self, data: Dataset) -> list[int]:  # noqa: ARG002
        return [len(self.features_.components_)]

    def _supply(self, data: Dataset, net: RowNet) -> Supply[Batch]:  # noqa: ARG002
        return QueryBatches(data, make_loss("ranknet", average="sum"), batch=self.batch, transform=self._phi)

    def _schedule(self) -> Schedule:
        share = min((self.batch or self.n_queries_in_) / self.n_queries_in_, 1.0)  # of the penalty in a step
        return Schedule.of(self, l2=2 * self.l2 * share)  # an optimizer adds l2 w to the slopes

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return self._scores(self.layers_, data)

    def _scores(self, layers: list[Layer], data: Dataset) -> NDArray[np.float64]:
        blocks = [forward(self._phi(data.X[rows]), layers, "identity") for rows in row_blocks(data.n_docs, BLOCK)]
        return np.concatenate(blocks or [np.empty(0)])

    def _phi(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        # in double precision: the root of an almost singular kernel matrix would show the rounding of single
        return np.ascontiguousarray(self.features_.transform(X.astype(np.float64)), dtype=np.float32)

    def _check_learned(self) -> None:
        n_components, n_features = self.features_.components_.shape
        require(n_features == self.n_inputs and np.isfinite(self.features_.components_).all(), "features_")
        require(self.features_.normalization_.shape == (n_components, n_components), "features_")
        require(are_layers(self.layers_) and len(self.layers_[0].W) == n_components, "layers_")
