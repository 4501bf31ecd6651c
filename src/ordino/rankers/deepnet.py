r"""DeepNet: a deep comparator with shared weights, CmpNN, inside a sort (Huybrechts, 2016).

The network sees a pair [x, y] and gives N> and N<, the evidence that x and that y comes first; sharing the weights of
each neuron with its dual makes :math:`N_\succ([x, y]) = N_\prec([y, x])` (chapter 4, rules 1-5). It learns from pairs
drawn in equal shares from every query, against the targets [1, 0] and [0, 1]. Table 3.1 of the thesis compares it with
a network without shared weights, which is DenseComparator.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.dataset import Dataset
from ordino.given import Validation
from ordino.networks import fields
from ordino.networks.comparing import Comparator, check_widths, hidden_param
from ordino.networks.learning_sets import (
    LearningSet,
    distinct_pairs_param,
    draw_pairs,
    in_random_order,
    n_pairs_param,
    pairs_param,
)
from ordino.networks.pair_net import PairNet
from ordino.networks.training import Learner, Quality, Trained, Watch
from ordino.order import PairNetwork
from ordino.order.pairs import Pairs
from ordino.parameters import Choices, param, settings
from ordino.streams import stream
from ordino.threads import run_blocks

WATCHED_PAIRS = 1000  # pairs on which the activations of an epoch are measured
Drawing = TypeVar("Drawing", bound="DeepNet | DenseComparator")
"""The two that learn from drawn pairs."""


def select_param() -> Any:
    """How the best epoch is found."""
    return param(
        "metric",
        "How the best epoch is found on `valid`: by the `metric` of the sorted validation data (metric), or by the "
        "error on pairs drawn from it (pairs, as in the thesis).",
        choices=("metric", "pairs"),
    )


def record_activations_param() -> Any:
    """Whether activations are recorded."""
    text = "Whether `history_` gets the mean and the standard deviation of each layer's activations after every epoch."
    return param(False, text)


@final
class DeepNet(Comparator):
    """A deep symmetric comparator learned from drawn pairs.

    Attributes
    ----------
    network_
        The network as plain arrays.
    history_
        What happened in each epoch: its error, the rate, and how good it was on ``valid``.
    best_epoch_
        The epoch that was kept.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> ranker = DeepNet(hidden=(8, 4), epochs=5, n_pairs=500, scaling="quantile").fit(data)
    >>> a, b = data[0].X[:1], data[0].X[1:2]
    >>> float(ranker.compare(a, b)[0] + ranker.compare(b, a)[0])
    1.0
    """

    hidden: int | Sequence[int] = hidden_param(64, ((40,), (64,), (24, 12, 6)))
    pairs: str = pairs_param()
    n_pairs: int | None = n_pairs_param(40_000, "training")
    n_valid_pairs: int | None = n_pairs_param(20_000, "validation")
    distinct_pairs: bool = distinct_pairs_param()
    select: str = select_param()
    record_activations: bool = record_activations_param()

    published = settings(
        hidden=(24, 12, 6), activation="relu", initializer="autoencoders", dropout=0.25, input_dropout=None,
        loss="squared", optimizer="descent", rate="adaptive", l2=0.0, learning_rate=0.1, batch=None, epochs=1000,
        patience=None, pairs="C", n_pairs=10_000, n_valid_pairs=5_000, select="pairs", metric="map",
        scaling="querymax", algorithm="merge", hold_out=None,
    )  # fmt: skip
    """The tuned network of the thesis (section 4.3.3): layers of 24, 12 and 6 ReLU neurons that start from stacked
    auto-encoders, a quarter of them and of the features dropped; squared error, full batches with the adaptive rate;
    10,000 training pairs of different labels and 5,000 validation pairs, whose error chooses one of 1,000 epochs;
    features scaled inside each query; a sort makes the ranking."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        _keep(self, _train(self, data, valid, [self.seed])[0])

    def fit_repeats(self, data: Dataset, seeds: Sequence[int], *, valid: Validation = None) -> list[Self]:
        """One fitted ranker for each seed, which draws pairs of its own; their networks train together."""
        return fields.fit_together(self, data, seeds, valid, _train, _keep)

    def fit_pairs(
        self, X: ArrayLike, pairs: ArrayLike, probability: ArrayLike = 1.0, *, valid: Dataset | None = None
    ) -> Self:
        """Learn from preferences: pairs ``(a, b)`` of rows of X, of which a comes first with this probability.

        The pairs may be incomplete or contradict each other; a probability is one number for all or one for each.
        """
        return _keep(self, _train_given(self, X, pairs, probability, valid))


@final
class DenseComparator(Comparator):
    """A dense network of two documents, learned from drawn pairs as DeepNet is: its baseline.

    A plain network of [x, y] with two outputs. Nothing makes N>([x, y]) equal to N<([y, x]), so it is asked in both
    orders, and the mean of the two answers decides. The thesis asks once, in the order in which Python's sort meets two
    documents.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> ranker = DenseComparator(epochs=5, n_pairs=500).fit(data)
    >>> ranker.network_.symmetric
    False
    """

    shared: ClassVar[bool] = False

    hidden: int | Sequence[int] = param(
        40,
        "Neurons of each hidden layer; one int is one layer. No neuron has a dual, so odd numbers are fine.",
        check=check_widths,
        space=Choices(((20,), (40,), (24, 12, 6))),
    )
    pairs: str = pairs_param()
    n_pairs: int | None = n_pairs_param(40_000, "training")
    n_valid_pairs: int | None = n_pairs_param(20_000, "validation")
    distinct_pairs: bool = distinct_pairs_param()
    select: str = select_param()
    record_activations: bool = record_activations_param()
    asked: str = param(
        "both",
        "How a pair is compared when ranking: in both orders, taking the mean (both), or once, as in the thesis, with "
        "Python's sort, which is slow. `compare` always uses both orders.",
        choices=("both", "once"),
    )

    published = settings(
        DeepNet.published, hidden=10, activation="sigmoid", initializer="unit", dropout=0.0, asked="once"
    )
    """The dense net of the thesis's table 3.1, trained as DeepNet is and asked once: 10 sigmoid neurons that start from
    weights uniform in [-1, 1], without dropout."""

    def _pairs(self, network: PairNetwork) -> Pairs:
        return replace(super()._pairs(network), asked=self.asked)

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        _keep(self, _train(self, data, valid, [self.seed])[0])

    def fit_repeats(self, data: Dataset, seeds: Sequence[int], *, valid: Validation = None) -> list[Self]:
        """One fitted ranker for each seed, which draws pairs of its own; their networks train together."""
        return fields.fit_together(self, data, seeds, valid, _train, _keep)

    def fit_pairs(
        self, X: ArrayLike, pairs: ArrayLike, probability: ArrayLike = 1.0, *, valid: Dataset | None = None
    ) -> Self:
        """Learn from preferences: pairs ``(a, b)`` of rows of X, of which a comes first with this probability.

        The pairs may be incomplete or contradict each other; a probability is one number for all or one for each.
        """
        return _keep(self, _train_given(self, X, pairs, probability, valid))


def drawn_pairs(ranker: DeepNet | DenseComparator, data: Dataset, parameter: str, seed: int) -> LearningSet:
    """Pairs, as many as the ranker's parameter of this name says."""
    rng, n_pairs = stream(seed, parameter), getattr(ranker, parameter)
    return draw_pairs(data.y, data.offsets, ranker.pairs, n_pairs, rng, distinct=ranker.distinct_pairs)


def _train(
    ranker: DeepNet | DenseComparator, data: Dataset, valid: Dataset | None, seeds: Sequence[int]
) -> list[Trained]:
    """What the networks of these seeds learned; without a pair to learn from, they are as they were drawn."""
    by_metric = ranker._by_metric(valid) if valid is not None and ranker.select == "metric" else None

    def begun(seed: int) -> tuple[int, Learner]:
        pairs = drawn_pairs(ranker, data, "n_pairs", seed)
        return pairs.n_pairs, _learner(ranker, data.X, pairs, valid, seed, by_metric)

    counts, learners = zip(*run_blocks(begun, seeds, ranker.n_jobs), strict=True)
    if not counts[0]:
        return [Trained(one.net.layers(), [], 0) for one in learners]
    return ranker._learn(learners, ranker.epochs, ranker.verbose)


def _train_given(
    ranker: DeepNet | DenseComparator, X: ArrayLike, pairs: ArrayLike, probability: ArrayLike, valid: Dataset | None
) -> Trained:
    """What the network learned from preferences."""
    fields.check_scaling_alone(ranker)
    given = fields.documents_of_pairs(X)
    chosen, target = fields.check_preferences(pairs, probability, given.n_docs)
    data, held_out = ranker._prepare(given, valid, by_labels=False)
    learning_set = in_random_order(chosen, target, given.n_docs, stream(ranker.seed, "pairs"))
    learner = _learner(ranker, data.X, learning_set, held_out, ranker.seed)
    return ranker._learn([learner], ranker.epochs, ranker.verbose)[0]


def _learner(
    ranker: DeepNet | DenseComparator, X: NDArray[np.float32], learning_set: LearningSet, valid: Dataset | None,
    seed: int, quality: Quality | None = None,
) -> Learner:  # fmt: skip
    """The network of a seed, ready to learn; its ``quality`` by a metric may be that of other seeds too."""
    if valid is not None and ranker.select == "pairs":
        quality = ranker._by_pairs(valid.X, drawn_pairs(ranker, valid, "n_valid_pairs", seed))
    elif valid is not None:
        quality = quality or ranker._by_metric(valid)
    watch = activations_of(ranker, X, learning_set) if ranker.record_activations else None
    return ranker._learner(ranker._fresh(X, learning_set, seed), X, learning_set, quality, watch)


def activations_of(ranker: DeepNet | DenseComparator, X: NDArray[np.float32], learning_set: LearningSet) -> Watch:
    """Mean and deviation of the activations of each layer, for some of the pairs."""
    few = learning_set.take(np.arange(min(WATCHED_PAIRS, learning_set.n_pairs)))
    first, second = X[few.rows(len(X))]

    def watch(net: PairNet) -> dict[str, float]:
        *hidden, outputs = ranker._plain(net.layers()).activations(first, second)
        reached = {str(i): h for i, h in enumerate(hidden, start=1)} | {"out": outputs}
        means = {f"mean_{name}": float(h.mean()) for name, h in reached.items()}
        return means | {f"std_{name}": float(h.std(ddof=1)) for name, h in reached.items()}

    return watch


def _keep(ranker: Drawing, trained: Trained) -> Drawing:
    """Make it the ranker of this network."""
    ranker.network_ = ranker._plain(trained.layers)
    ranker.history_, ranker.best_epoch_ = trained.history, trained.best_epoch
    return ranker
