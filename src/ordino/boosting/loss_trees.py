"""Boosted trees that learn any of our losses: the ``model="trees"`` of :class:`~ordino.rankers.scorer.Scorer`."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.trees import Task, TreeRanker
from ordino.data.dataset import Dataset
from ordino.losses import Loss
from ordino.losses.trees_objective import lightgbm_objective


@final
class LossTrees(TreeRanker):
    """LightGBM's trees with a loss of ours as their objective."""

    l2 = 0.0
    feature_share = 1.0
    query_share = 1.0
    options = None
    n_jobs = None

    def __init__(
        self,
        loss: Loss,
        *,
        rounds: int,
        leaves: int,
        min_leaf: int,
        learning_rate: float,
        patience: int,
        metric: str,
        profile: str,
        seed: int,
        verbose: bool,
    ) -> None:
        self.loss = loss
        self.rounds = rounds
        self.leaves = leaves
        self.min_leaf = min_leaf
        self.learning_rate = learning_rate
        self.patience = patience
        self.metric = metric
        self.profile = profile
        self.seed = seed
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        task = Task({"objective": "none"}, data.y, lightgbm_objective(self.loss, data))
        self._grow(task, data, valid, scores=lambda outputs: outputs)

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return self._raw(data)
