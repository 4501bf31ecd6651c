"""Which of the things learned on the way is kept: the best on held-out data, or the last where there is none."""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import mean_of_counted
from ordino.backends.crew import Bench
from ordino.data.dataset import Dataset
from ordino.division import Divided
from ordino.forms import linear_scores
from ordino.metrics import find_profile, parse_metric
from ordino.metrics.engine import docno_order

Scores = NDArray[np.float64]

ENOUGH = 65_535  # documents that a measure gets at once where it can wait: little around it, and on one thread
MOST_AT_ONCE = 16  # times that scores are collected to get there


@final
class Judge:
    """A measure in a profile, turned so that larger is better; ids of documents break ties where the profile says so.

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
        self._read: tuple[Dataset, NDArray[np.intp] | None] | None = None

    def per_query(self, data: Dataset, scores: Scores) -> Scores:
        """The value of each query, shape ``(n_queries,)``; NaN where the profile leaves the query out."""
        rows = self._rows_as_read(data)
        y, read = (data.y, scores) if rows is None else (data.y[rows], scores[rows])
        return self._signed(y, read, data.offsets)

    def mean(self, data: Dataset, scores: Scores) -> float:
        """The mean over the queries that count, NaN if none does."""
        return mean_of_counted(self.per_query(data, scores))

    def means(self, data: Dataset, batch: Sequence[Scores] | Scores) -> list[float]:
        """The mean for each of several scores of the same documents, measured in one call as if they were more queries.

        Examples
        --------
        >>> judge, data = Judge("mrr", "standard"), Dataset([[0.0]] * 2, [0, 1])
        >>> judge.means(data, [np.array([1.0, 0.0]), np.array([0.0, 1.0])])
        [0.5, 1.0]
        """
        n, rows = len(batch), self._rows_as_read(data)
        y, read = (data.y, np.asarray(batch)) if rows is None else (data.y[rows], np.asarray(batch)[:, rows])
        starts = np.arange(n)[:, None] * data.n_docs + data.offsets[:-1]
        offsets = np.append(starts.ravel(), n * data.n_docs)
        values = self._signed(np.tile(y, n), read.ravel(), offsets).reshape(n, -1)
        return [mean_of_counted(one) for one in values] if np.isnan(values).any() else values.mean(axis=1).tolist()

    def mean_elsewhere(self, data: Divided, score: Callable[..., Scores], *given: Any) -> float:
        """The mean for the scores that ``score(part, *given)`` gives to the parts of divided data."""
        measure = str(self.metric), self.profile.name
        return self.mean_of(data.each(values_of_part, *measure, score, *given))

    def mean_of(self, parts: Sequence[Scores]) -> float:
        """The mean of values of queries that come in parts."""
        return mean_of_counted(np.concatenate(parts))

    def _rows_as_read(self, data: Dataset) -> NDArray[np.intp] | None:
        """The rows of each query by document id, where ties go by it; found once for the data measured last."""
        if self._read is None or self._read[0] is not data:
            by_id = self.profile.ties == "docno" and data.doc_ids is not None
            self._read = data, docno_order(data.doc_ids, data.offsets) if by_id else None  # type: ignore[arg-type]
        return self._read[1]

    def _signed(self, y: Scores, scores: Scores, offsets: NDArray[np.int64]) -> Scores:
        return self.metric.quality(self.metric.per_query(y, scores, offsets, profile=self.profile))


@final
class Choice:
    """Keeps account of what is best on held-out data.

    Examples
    --------
    Without held-out data everything new is taken, so that the last is kept.

    >>> choice = Choice(None, "ndcg@10", "standard")
    >>> choice.takes(np.zeros(0)), choice.takes_weights(np.zeros(3))
    (True, True)

    With held-out data only what is better is taken.

    >>> choice = Choice(Dataset([[0.0]] * 2, [0, 1]), "mrr", "standard")
    >>> [choice.takes_value(value) for value in (0.5, 0.25)], choice.last, choice.figures
    ([True, False], {'valid': 0.25}, {'best': 0.5, 'now': 0.25})
    """

    def __init__(self, valid: Dataset | Divided | None, metric: str, profile: str) -> None:
        self.judge = Judge(metric, profile)
        self.valid = valid
        self.history: list[float] = []
        """The measure on held-out data of everything offered; empty where there is none."""

    def takes_weights(self, coef: Scores) -> bool:
        """Whether these weights of the features are better than all before."""
        if isinstance(self.valid, Divided):
            return self.takes_value(self.judge.mean_elsewhere(self.valid, linear_part, coef))
        return self.valid is None or self.takes(linear_scores(self.valid.X, coef))

    def takes(self, scores: Scores) -> bool:
        """Whether these scores of the held-out documents are better than all before."""
        if self.valid is None:
            return True
        assert isinstance(self.valid, Dataset), "scores of divided data are with those who have it"
        return self.takes_value(self.judge.mean(self.valid, scores))

    @property
    def at_once(self) -> int:
        """How many scores are worth collecting for :meth:`takes_which`; the first are measured at once."""
        if self.valid is None or not self.history:
            return 1
        return min(max(ENOUGH // self.valid.n_docs, 1), MOST_AT_ONCE)

    def takes_which(self, batch: Sequence[Scores]) -> int | None:
        """The last of these scores, offered one after another, that :meth:`takes` would take; None if there is none.

        Examples
        --------
        >>> choice = Choice(Dataset([[0.0]] * 2, [0, 1]), "mrr", "standard")
        >>> choice.takes_which([np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0])]), choice.history
        (1, [0.5, 1.0, 0.5])
        """
        if self.valid is None or not batch:
            return len(batch) - 1 if batch else None
        assert isinstance(self.valid, Dataset), "scores of divided data are with those who have it"
        reached = self.judge.means(self.valid, batch)
        return max((place for place, value in enumerate(reached) if self.takes_value(value)), default=None)

    def takes_value(self, reached: float) -> bool:
        """Whether this value of the measure is better than all before."""
        best = max(self.history, default=-np.inf)
        self.history.append(reached)
        return len(self.history) == 1 or reached > best

    @property
    def last(self) -> dict[str, float]:
        """The metric of what was offered last, for a row of ``history_``; nothing where there is no held-out data."""
        return {"valid": self.history[-1]} if self.history else {}

    @property
    def figures(self) -> dict[str, float]:
        """What to show beside a progress bar."""
        return {"best": max(self.history), "now": self.history[-1]} if self.history else {}


# In a worker of a cluster


def values_of_part(
    bench: Bench, name: str, metric: str, profile: str, score: Callable[..., Scores], *given: Any
) -> Scores:
    """The measure of each query of its part, for scores that are made there."""
    data = bench.data[name]
    scores = score(data, *given)
    if np.isnan(scores).any():  # worse than anything
        return np.full(data.n_queries, -np.inf)
    return Judge(metric, profile).per_query(data, scores) if data.n_queries else np.zeros(0)


def linear_part(data: Dataset, coef: Scores) -> Scores:
    """Scores of a weighted sum of the features."""
    return linear_scores(data.X, coef)
