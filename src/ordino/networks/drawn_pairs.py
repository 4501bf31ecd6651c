"""Comparators whose pairs are drawn before training, or given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.checks import check_choice, check_int
from ordino.data.columns import as_features
from ordino.data.dataset import Dataset
from ordino.networks.comparing import Comparator
from ordino.networks.preferences import check_preferences
from ordino.networks.repeats import Repeatable
from ordino.streams import stream

if TYPE_CHECKING:
    from ordino.networks.learning_sets import LearningSet
    from ordino.networks.training import Judge, Trained

AT_ONCE = 60_000  # pairs of the networks that train together; more leave the processor's cache


class DrawnPairs(Comparator, Repeatable):
    """A comparator whose pairs are drawn before training; repeats draw pairs of their own and train together.

    Parameters
    ----------
    pairs
        Which pairs: DeepNet's configurations A (any two documents), B (equal numbers of pairs of different labels, of
        equal labels above 0, and of equal labels not above 0), C (different labels), D, E (different labels and one of
        the others). Equal labels have the target 1/2.
    n_pairs, n_valid_pairs
        How many pairs of the training and of the validation data, in equal shares for each query; None takes all.
    select
        How the best epoch is found on ``valid``: by the "metric" of the sorted validation data, or by the error on
        "pairs" drawn from it (the papers' way).
    network
        The parameters of :class:`~ordino.networks.comparing.Comparator`.
    """

    def __init__(
        self,
        *,
        pairs: str = "C",
        n_pairs: int | None = 40_000,
        n_valid_pairs: int | None = 20_000,
        select: str = "metric",
        **network: Any,
    ) -> None:
        super().__init__(**network)
        self.pairs = pairs
        self.n_pairs = n_pairs
        self.n_valid_pairs = n_valid_pairs
        self.select = select

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        self._keep(self._train(data, valid, [self.seed])[0])

    def _train(self, data: Dataset, valid: Dataset | None, seeds: Sequence[int]) -> list[Trained]:
        learned: list[Trained] = []
        at_once = max(1, AT_ONCE // (self.n_pairs or AT_ONCE))
        for start in range(0, len(seeds), at_once):
            some = seeds[start : start + at_once]
            learned += self._train_on(data.X, self._draw(data, "n_pairs", some), valid, some)
        return learned

    def _draw(self, data: Dataset, parameter: str, seeds: Sequence[int]) -> LearningSet:
        """Pairs of its own for each seed."""
        from ordino.networks.learning_sets import draw_pairs, side_by_side

        asked = getattr(self, parameter)
        number = None if asked is None else check_int(parameter, asked, low=1)
        rngs = [stream(seed, parameter) for seed in seeds]
        return side_by_side([draw_pairs(data.y, data.offsets, self.pairs, number, rng) for rng in rngs])

    def _train_on(
        self, X: NDArray[np.float32], learning_set: LearningSet, valid: Dataset | None, seeds: Sequence[int]
    ) -> list[Trained]:
        judge: Judge | None = None
        if valid is not None:
            by_metric = check_choice("select", self.select, ("metric", "pairs")) == "metric"
            judge = (
                self._by_metric(valid)
                if by_metric
                else self._by_pairs(valid.X, self._draw(valid, "n_valid_pairs", seeds))
            )
        network = self._fresh(X, learning_set, seeds)
        return self._learn(network, X, learning_set, judge, verbose=self.verbose)

    def _keep(self, learned: Trained) -> None:
        self.network_ = self._plain(learned.layers)
        self.history_ = learned.history
        self.best_epoch_ = learned.best_epoch

    def fit_pairs(
        self, X: ArrayLike, pairs: ArrayLike, probability: ArrayLike = 1.0, *, valid: Dataset | None = None
    ) -> Self:
        """Learn from preferences: pairs ``(a, b)`` of rows of X, of which a comes first with this probability.

        The pairs may be incomplete or contradict each other; a probability is one number for all or one for each.
        """
        from ordino.networks.learning_sets import in_random_order

        features = as_features(X)
        chosen, target = check_preferences(pairs, probability, len(features))
        data, held_out = self._prepare(Dataset(features, np.zeros(len(features))), valid)
        learning_set = in_random_order(chosen, target, stream(self.seed, "pairs"))
        self._keep(self._train_on(data.X, learning_set, held_out, [self.seed])[0])
        return self
