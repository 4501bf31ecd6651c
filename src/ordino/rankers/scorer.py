"""Any loss with any model that scores: a linear function, a network, or boosted trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_choice
from ordino.data.dataset import Dataset
from ordino.networks.scoring import NetworkRanker
from ordino.ranker import Ranker, Validation

if TYPE_CHECKING:
    from ordino.losses import Loss

MODELS = ("linear", "network", "trees")


@final
class Scorer(NetworkRanker):
    """A loss of ``LOSSES`` that trains a model of your choice.

    Parameters
    ----------
    loss
        A name of ``LOSSES``, such as "fidelity" or "approx-ndcg".
    loss_options
        The loss's own parameters, such as ``{"average": "queries"}``.
    model
        "linear", "network" (``hidden`` and the rest of the family's parameters count) or "trees" (LightGBM with the
        loss as its objective; ``rounds``, ``leaves``, ``min_leaf`` and ``shrinkage`` count).
    rounds, leaves, min_leaf, shrinkage
        How many trees at most, leaves of each, documents of a leaf at least, and how much of each tree counts.
    network
        The parameters of :class:`~ordino.networks.scoring.NetworkRanker`.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> Scorer(loss="fidelity", model="linear", epochs=40, learning_rate=0.1).fit(data).score(data) > 0.9
    True
    """

    def __init__(
        self,
        *,
        loss: str = "ranknet",
        loss_options: Mapping[str, Any] | None = None,
        model: str = "network",
        rounds: int = 200,
        leaves: int = 31,
        min_leaf: int = 20,
        shrinkage: float = 0.05,
        **network: Any,
    ) -> None:
        super().__init__(**network)
        self.loss = loss
        self.loss_options = loss_options
        self.model = model
        self.rounds = rounds
        self.leaves = leaves
        self.min_leaf = min_leaf
        self.shrinkage = shrinkage

    def _loss(self) -> Loss:
        from ordino.losses import make_loss

        return make_loss(self.loss, **dict(self.loss_options or {}))

    @property
    def is_random(self) -> bool:
        """Trees grow from all data and draw nothing."""
        return self.model != "trees"

    def fit_repeats(self, data: Dataset, seeds: Sequence[int], *, valid: Validation = None) -> list[Self]:
        """One fitted ranker for each seed; networks train together."""
        if self.model == "trees":
            return Ranker.fit_repeats(self, data, seeds, valid=valid)
        return super().fit_repeats(data, seeds, valid=valid)

    def _widths(self) -> tuple[int, ...]:
        return () if self.model == "linear" else super()._widths()

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        if check_choice("model", self.model, MODELS) != "trees":
            super()._fit(data, valid)
            return
        from ordino.boosting.loss_trees import LossTrees

        self.trees_ = LossTrees(
            self._loss(),
            rounds=self.rounds,
            leaves=self.leaves,
            min_leaf=self.min_leaf,
            learning_rate=self.shrinkage,
            patience=self.patience or self.rounds,
            metric=self.metric,
            profile=self.profile,
            seed=self.seed,
            verbose=self.verbose,
        )
        self.trees_._fit(data, valid)

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return self.trees_._predict(data) if self.model == "trees" else super()._predict(data)
