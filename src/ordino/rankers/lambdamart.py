r"""LambdaMART: boosted regression trees on LambdaRank's gradients (Burges, MSR-TR-2010-82), grown by LightGBM.

Document *i* of a query is pushed up by every less relevant *j*, and *j* down, with

.. math:: \lambda_{ij} = \frac{|\Delta \mathrm{NDCG}_{ij}|}{1 + e^{s_i - s_j}}

where :math:`\Delta \mathrm{NDCG}_{ij}` is the change in NDCG if the two were swapped. Each tree fits these forces by a
Newton step.
"""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.backends.crew import Bench
from ordino.boosting.divided import grow_divided
from ordino.boosting.model_text import merge_trees
from ordino.boosting.trees import FEW_QUERIES, Grown, Task, TreeRanker, leaves_param, rate_param, size_and_rate
from ordino.data.dataset import Dataset
from ordino.data.on_disk import large_array
from ordino.division import Divided
from ordino.errors import ParameterError
from ordino.interrupts import PRESSES
from ordino.parameters import Range, param
from ordino.streams import spawn_seed

GAINS = ("exponential", "linear")
MOST_LEVELS = 2048  # LightGBM keeps a table of gains, one for each level


@final
class LambdaMART(TreeRanker):
    r"""Boosted trees on LambdaRank's gradients; Burges' :math:`\eta` and *L* are ``learning_rate`` and ``leaves``.

    Attributes
    ----------
    model_, best_round_
        The trees as LightGBM's model text, and the number of rounds in it.
    history_
        A row for each round (of each bag, if there are several), with the metric on ``valid``, its sign changed if
        smaller is better.

    Examples
    --------
    >>> X, y, qid = [[1.0], [2.0], [3.0]] * 20, [0, 1, 2] * 20, [q for q in range(20) for _ in range(3)]
    >>> LambdaMART(rounds=5, min_leaf=5).fit(X, y, qid=qid).rank([[2.0], [3.0], [1.0]]).tolist()
    [1, 0, 2]
    """

    learning_rate: float | None = rate_param(  # type: ignore[assignment]
        None, f" None is 0.1 under {FEW_QUERIES:,} queries, and 0.05 from there."
    )
    leaves: int | None = leaves_param(  # type: ignore[assignment]
        None, f" None is 6 under {FEW_QUERIES:,} queries, and 15 from there."
    )
    bags: int = param(
        1,
        "Number of models to sum, each with its own random draws and best round (BagBoo, CIKM 2010). Bagging reduces "
        "the noise of small data; it needs `query_share` or `feature_share` below 1.",
        low=1,
        brief=1,
    )
    truncation: int = param(
        30, "A pair counts if one of its documents is ranked this high.", low=1, space=Range(5, 50, log=True)
    )
    gain: str = param(
        "exponential",
        "Gain of a label in the lambdas: exponential (2^y - 1) or linear (y). Labels may be large, fractional or "
        "negative: LightGBM is given their levels with these gains (starting at 0 for the lowest, if any is "
        "negative).",
        choices=GAINS,
    )

    divides = True
    by_shard = True

    def _fit(self, data: Dataset | Divided, valid: Any) -> None:
        if self.bags > 1 and self.query_share == self.feature_share == 1:
            raise ParameterError(f"bags={self.bags} would all be the same; set query_share or feature_share below 1")
        values = self._labels(data)
        levels, gains = graded(values, self.gain)
        params = {
            **size_and_rate(self, data.n_queries),
            "objective": "lambdarank",
            "label_gain": gains.tolist(),
            "lambdarank_truncation_level": self.truncation,
        }
        known = values if self.gain == "exponential" and len(values) <= MOST_LEVELS else None
        if not isinstance(data, Divided):
            labels = large_array(data.y.shape)
            labels[:] = levels[np.searchsorted(values, data.y)]
        grown: list[Grown] = []
        heeded = PRESSES.heeded
        for bag in range(self.bags):
            try:
                seed = {} if bag == 0 else {"seed": spawn_seed(self.seed, "bag", bag)}  # the first has the ranker's own
                if isinstance(data, Divided):
                    grown.append(grow_divided(self, self._params(data, params | seed), values, levels, data, valid))
                else:
                    grown.append(self._grow(Task(params | seed, labels, levels=known), data, valid))
            except KeyboardInterrupt:
                if not grown:
                    raise
                PRESSES.heed(heeded)
                break
            if grown[-1].interrupted:
                break
        self.model_ = merge_trees([one.model for one in grown])
        self.best_round_ = sum(one.best_round for one in grown)
        self.history_ = [
            ({"bag": bag + 1} if self.bags > 1 else {}) | row for bag, one in enumerate(grown) for row in one.history
        ]

    def _labels(self, data: Dataset | Divided) -> NDArray[np.float64]:
        """The labels that there are, rising."""
        if isinstance(data, Divided):
            return np.unique(np.concatenate(data.each(labels_of_part)))
        return np.unique(data.y)


def labels_of_part(bench: Bench, name: str) -> NDArray[np.float64]:
    """In a worker: the labels that there are."""
    return np.unique(bench.data[name].y)


def graded(values: NDArray[np.float64], gain: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The level of each of the labels that there are, rising from 0, and the gain of each level.

    Gains are only used in proportion to each other, so that those of very large labels are all divided by the same
    power of 2 before they overflow. Past 2048 levels, labels are rounded to that many even steps.

    Examples
    --------
    >>> levels, gains = graded(np.array([0.0, 2.0, 50.0]), "exponential")
    >>> levels.tolist(), gains.tolist() == [0, 2**2 - 1, 2**50 - 1]
    ([0, 1, 2], True)
    """
    levels = np.arange(len(values))
    if len(values) > MOST_LEVELS:
        step = (values[-1] - values[0]) / (MOST_LEVELS - 1)
        steps, levels = np.unique(np.rint((values - values[0]) / step), return_inverse=True)
        values = values[0] + steps * step
    values = values - min(values[0], 0.0)
    if gain == "linear":
        return levels, values
    excess = max(values[-1] - 500.0, 0.0)
    return levels, np.exp2(values - excess) - np.exp2(-excess)
