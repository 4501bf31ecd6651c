"""Comparators whose pairs are drawn before training, or given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.dataset import Dataset, as_features
from ordino.rankers.comparator import Comparator
from ordino.rankers.parameters import check_choice, check_int
from ordino.rankers.preferences import check_preferences

if TYPE_CHECKING:
    from ordino.learn.learning_sets import LearningSet
    from ordino.learn.training import Judge


class DrawnPairs(Comparator):
    """A comparator whose pairs are drawn before training.

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
        The parameters of :class:`~ordino.rankers.comparator.Comparator`.
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
        self._fit_to(data.X, self._draw(data, "n_pairs", 1), valid)

    def _draw(self, data: Dataset, parameter: str, stream: int) -> LearningSet:
        from ordino.learn.learning_sets import draw_pairs

        asked = getattr(self, parameter)
        number = None if asked is None else check_int(parameter, asked, low=1)
        return draw_pairs(data.y, data.offsets, self.pairs, number, np.random.default_rng([self.seed, stream]))

    def _fit_to(self, X: NDArray[np.float32], learning_set: LearningSet, valid: Dataset | None) -> None:
        judge: Judge | None = None
        if valid is not None:
            by_metric = check_choice("select", self.select, ("metric", "pairs")) == "metric"
            judge = (
                self._by_metric(valid) if by_metric else self._by_pairs(valid.X, self._draw(valid, "n_valid_pairs", 2))
            )
        network = self._fresh(X, learning_set, self.seed)
        learned = self._learn(network, X, learning_set, judge, verbose=self.verbose)
        self.network_ = self._plain(learned.layers)
        self.history_ = learned.history
        self.best_epoch_ = learned.best_epoch

    def fit_pairs(
        self, X: ArrayLike, pairs: ArrayLike, probability: ArrayLike = 1.0, *, valid: Dataset | None = None
    ) -> Self:
        """Learn from preferences: pairs ``(a, b)`` of rows of X, of which a comes first with this probability.

        The pairs may be incomplete or contradict each other; a probability is one number for all or one for each.
        """
        from ordino.learn.learning_sets import in_random_order

        features = as_features(X)
        chosen, target = check_preferences(pairs, probability, len(features))
        data, held_out = self._prepare(Dataset(features, np.zeros(len(features))), valid)
        self._fit_to(data.X, in_random_order(chosen, target, np.random.default_rng([self.seed, 1])), held_out)
        return self
