"""Permutation importance: what a measure loses when the values of a feature change places.

Values change places inside each query. What counts in ranking is how the documents of a query differ, and a document
never gets a value that belongs to another query. So a feature that is the same for all documents of a query has
importance 0, whatever the ranker does with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import query_numbers
from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.errors import DataError
from ordino.metrics import parse_metric
from ordino.ranker import Ranker
from ordino.threads import count_threads, run_blocks


class Importance(NamedTuple):
    """What shuffling one feature costs."""

    feature: str
    importance: float
    """How much worse the measure is, averaged over the repeats; below 0 if it is better."""
    deviation: float
    """Standard deviation over the repeats."""


def permutation_importance(
    ranker: Ranker,
    data: Dataset,
    *,
    metric: str | None = None,
    profile: str | None = None,
    repeats: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
) -> list[Importance]:
    """What each feature is worth to a fitted ranker on this data, the most important first.

    Parameters
    ----------
    metric, profile
        The measure; the ranker's own if None (``ndcg@10`` and ``standard`` where it has none).
    repeats
        How often each feature is shuffled.
    seed
        The same seed gives the same result, on any number of threads.
    n_jobs
        Threads; None takes all cores. Each needs a copy of the features.

    Examples
    --------
    Only the first feature is looked at; shuffled, it ranks like chance.

    >>> from ordino import SingleFeature
    >>> from ordino.testing import easy_data
    >>> found = permutation_importance(SingleFeature(feature=1).fit(easy_data()), easy_data())
    >>> [(one.feature, one.importance > 0) for one in found]
    [('f1', True), ('f2', False), ('f3', False), ('f4', False)]
    """
    chosen = parse_metric(getattr(ranker, "metric", "ndcg@10") if metric is None else metric)
    rules = getattr(ranker, "profile", "standard") if profile is None else profile
    check_int("repeats", repeats, low=1)
    scaled = ranker.prepared(data)  # scaling and shuffling inside a query change places freely
    form = ranker.form()
    sign = 1.0 if chosen.greater_is_better else -1.0

    def quality(X: NDArray[np.float32]) -> float:
        scores = form.score_scaled(scaled.replace(X=X, feature_names=scaled.feature_names))
        values = chosen.per_query(scaled.y, scores, scaled.offsets, profile=rules)
        return sign * float(np.nanmean(values))

    if not np.isfinite(chosen.per_query(scaled.y, np.zeros(scaled.n_docs), scaled.offsets, profile=rules)).any():
        raise DataError(f"the data has no query that {chosen} in profile {rules!r} counts; give others")
    whole = quality(scaled.X)
    query = query_numbers(scaled.offsets)
    losses = np.empty((scaled.n_features, repeats))

    def work(columns: NDArray[np.intp]) -> None:
        X = scaled.X.copy()
        for j in columns:
            for repeat in range(repeats):
                rng = np.random.default_rng((seed, int(j), repeat))
                drawn = np.lexsort((rng.random(len(X)), query))  # rows of each query in random order
                X[:, j] = scaled.X[drawn, j]
                losses[j, repeat] = whole - quality(X)
            X[:, j] = scaled.X[:, j]

    shares = np.array_split(np.arange(scaled.n_features), min(count_threads(n_jobs), max(scaled.n_features, 1)))
    run_blocks(work, shares, n_jobs)
    names = data.feature_names or ranker.feature_names()
    means = losses.mean(axis=1)
    return [
        Importance(str(names[j]), float(means[j]), float(losses[j].std())) for j in np.argsort(-means, kind="stable")
    ]
