"""Which of the things learned on the way is kept: the best on held-out data, or the last where there is none."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.metrics import find_profile, parse_metric
from ordino.rankers.linear import linear_scores

Scores = NDArray[np.float64]


@final
class Judge:
    """A measure in a profile, turned so that larger is better.

    Examples
    --------
    >>> data = Dataset([[0.0]] * 2, [0, 1])
    >>> Judge("mrr", "standard").mean(data, np.array([1.0, 0.0]))
    0.5
    >>> Judge("pairwise_error", "standard").mean(data, np.array([1.0, 0.0]))
    -1.0
    """

    def __init__(self, metric: str, profile: str) -> None:
        self.metric = parse_metric(metric)
        self.profile = find_profile(profile)

    def per_query(self, data: Dataset, scores: Scores) -> Scores:
        """The value of each query, shape ``(n_queries,)``; NaN where the profile leaves the query out."""
        values = self.metric.per_query(data.y, scores, data.offsets, profile=self.profile)
        return values if self.metric.greater_is_better else -values

    def mean(self, data: Dataset, scores: Scores) -> float:
        """The mean over the queries that count, NaN if none does."""
        values = self.per_query(data, scores)
        counted = values[~np.isnan(values)]
        return float(counted.mean()) if len(counted) else float("nan")


@final
class Choice:
    """Keeps account of what is best on held-out data.

    Examples
    --------
    Without held-out data everything new is taken, so that the last is kept.

    >>> choice = Choice(None, "ndcg@10", "standard")
    >>> choice.takes(np.zeros(0)), choice.takes_weights(np.zeros(3))
    (True, True)
    """

    def __init__(self, valid: Dataset | None, metric: str, profile: str) -> None:
        self.judge = Judge(metric, profile)
        self.valid = valid
        self.history: list[float] = []
        """The measure on held-out data of everything offered; empty where there is none."""

    def takes_weights(self, coef: Scores) -> bool:
        """Whether these weights of the features are better than all before."""
        return self.valid is None or self.takes(linear_scores(self.valid.X, coef))

    def takes(self, scores: Scores) -> bool:
        """Whether these scores of the held-out documents are better than all before."""
        if self.valid is None:
            return True
        reached = self.judge.mean(self.valid, scores)
        best = max(self.history, default=-np.inf)
        self.history.append(reached)
        return len(self.history) == 1 or reached > best

    @property
    def figures(self) -> dict[str, float]:
        """What to show beside a progress bar."""
        return {"best": max(self.history), "now": self.history[-1]} if self.history else {}
