r"""LambdaMART: boosted regression trees on LambdaRank's gradients (Burges, MSR-TR-2010-82), grown by LightGBM.

Document *i* of a query is pushed up by every less relevant *j*, and *j* down, with

.. math:: \lambda_{ij} = \frac{|\Delta \mathrm{NDCG}_{ij}|}{1 + e^{s_i - s_j}}

where :math:`\Delta \mathrm{NDCG}_{ij}` is what swapping the two would cost. Each tree fits these
pushes by a Newton step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.trees import Task, TreeRanker, merge_trees
from ordino.checks import check_choice, check_int
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.interrupts import PRESSES
from ordino.streams import spawn_seed

GAINS = ("exponential", "linear")
MOST_LEVELS = 2048  # LightGBM keeps a table of gains, one for each level


@final
class LambdaMART(TreeRanker):
    r"""Boosted trees on LambdaRank's gradients.

    Parameters
    ----------
    rounds
        How many trees at most; with ``valid`` the best round is kept.
    learning_rate
        How much of each tree counts, Burges' :math:`\eta`.
    leaves
        Leaves of a tree at most, Burges' *L*. Sets of millions of documents want hundreds.
    min_leaf
        Documents in a leaf at least.
    l2
        Penalty on the values of leaves.
    feature_share, query_share
        Share of the features and of the queries drawn anew for each tree.
    bags
        How many models are grown, each with draws and a best round of its own, and summed up (BagBoo, CIKM 2010). It
        takes away much of the noise of small data; something must be drawn, so that they differ.
    truncation
        Pairs count if one of them is among so many first.
    gain
        What a label is worth in the lambdas: exponential (:math:`2^y - 1`) or linear (*y*). Labels may be large,
        fractional or negative: their levels are what LightGBM sees, with these gains (from 0 at the lowest, if any
        is negative).
    patience
        Rounds without a better value on ``valid`` after which training stops.
    metric, profile
        The measure on ``valid`` that chooses the round; any of ours.
    options
        Other parameters of LightGBM, under its names.
    seed, n_jobs, verbose
        The same seed gives the same trees on any number of threads.

    Attributes
    ----------
    model_, best_round_, valid_history_
        The trees as LightGBM's model text; how many there are; the measure on ``valid`` after each round, bag after
        bag, turned so that larger is better.

    Examples
    --------
    >>> X, y, qid = [[1.0], [2.0], [3.0]] * 20, [0, 1, 2] * 20, [q for q in range(20) for _ in range(3)]
    >>> LambdaMART(rounds=5, min_leaf=5).fit(X, y, qid=qid).rank([[2.0], [3.0], [1.0]]).tolist()
    [1, 0, 2]
    """

    def __init__(
        self,
        *,
        rounds: int = 500,
        learning_rate: float = 0.05,
        leaves: int = 15,
        min_leaf: int = 50,
        l2: float = 0.0,
        feature_share: float = 1.0,
        query_share: float = 1.0,
        bags: int = 1,
        truncation: int = 30,
        gain: str = "exponential",
        patience: int = 50,
        metric: str = "ndcg@10",
        profile: str = "standard",
        options: Mapping[str, object] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.min_leaf = min_leaf
        self.l2 = l2
        self.feature_share = feature_share
        self.query_share = query_share
        self.bags = bags
        self.truncation = truncation
        self.gain = gain
        self.patience = patience
        self.metric = metric
        self.profile = profile
        self.options = options
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        levels, gains = graded(data.y, check_choice("gain", self.gain, GAINS))
        params = {
            "objective": "lambdarank",
            "label_gain": gains.tolist(),
            "lambdarank_truncation_level": check_int("truncation", self.truncation, low=1),
        }
        bags = check_int("bags", self.bags, low=1)
        if bags > 1 and self.query_share == self.feature_share == 1:
            raise ParameterError(f"bags={bags} would all be the same; set query_share or feature_share below 1")
        labels = np.unique(data.y)
        known = labels if self.gain == "exponential" and len(labels) <= MOST_LEVELS else None
        models: list[str] = []
        history: list[float] = []
        rounds = 0
        heeded = PRESSES.heeded
        for bag in range(bags):
            try:
                task = Task(params | self._draw(bag), levels, levels=known)
                stopped = self._grow(task, data, valid, scores=lambda outputs: outputs)
            except KeyboardInterrupt:
                if not models:
                    raise
                PRESSES.heed(heeded)
                break
            models.append(self.model_)
            history += self.valid_history_
            rounds += self.best_round_
            if stopped:
                break
        self.model_, self.valid_history_, self.best_round_ = merge_trees(models), history, rounds

    def _draw(self, bag: int) -> dict[str, object]:
        """The seed of a bag; the first has the ranker's own."""
        return {} if bag == 0 else {"seed": spawn_seed(self.seed, "bag", bag)}

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        return self._raw(data)


def graded(y: NDArray[np.float64], gain: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The level of each label, from 0, and the gain of each level.

    Gains are only used in proportion to each other, so that those of very large labels are all divided by the same
    power of 2 before they overflow. Past 2048 levels, labels are rounded to so many even steps.

    Examples
    --------
    >>> levels, gains = graded(np.array([0.0, 2.0, 50.0, 2.0]), "exponential")
    >>> levels.tolist(), gains.tolist() == [0, 2**2 - 1, 2**50 - 1]
    ([0, 1, 2, 1], True)
    """
    values, levels = np.unique(y, return_inverse=True)
    if len(values) > MOST_LEVELS:
        step = (values[-1] - values[0]) / (MOST_LEVELS - 1)
        steps, levels = np.unique(np.rint((y - values[0]) / step), return_inverse=True)
        values = values[0] + steps * step
    values = values - min(values[0], 0.0)
    if gain == "linear":
        return levels, values
    excess = max(values[-1] - 500.0, 0.0)
    return levels, np.exp2(values - excess) - np.exp2(-excess)
