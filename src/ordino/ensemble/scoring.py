"""What members say of documents, and what it costs to ask them: milliseconds for 1,000 documents, on this machine."""

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.ensemble.combining import standardized
from ordino.ensemble.trials import Trial
from ordino.ensemble.views import Views
from ordino.ranker import Ranker

TIMED_DOCS = 1000  # that scoring is timed with
TIMES = 5  # that they are scored, of which the quickest counts


def member_scores(rankers: Sequence[Ranker], features: str, views: Views) -> NDArray[np.float64]:
    """The mean of what the rankers of all folds say, each as z-scores inside the query."""
    seen = views.take(features)
    total = np.zeros(seen.n_docs)
    for ranker in rankers:
        total += standardized(ranker.form().score_scaled(seen), seen.offsets)
    return total / len(rankers)


def milliseconds(score: Callable[[Dataset], object], data: Dataset) -> float:
    """What scoring 1,000 documents takes, by the first queries that have so many: the quickest time."""
    n_queries = int(np.searchsorted(data.offsets[1:], TIMED_DOCS)) + 1
    some = data.select_queries(np.arange(min(n_queries, data.n_queries)))
    times = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        score(some)
        times.append(time.perf_counter() - begun)
    return round(1000 * min(times) * TIMED_DOCS / some.n_docs, 4)


def cost_of(trial: Trial) -> float:
    """The same by a member alone, features included; folds that are missing cost what the others do."""
    bench = trial.bench
    rankers = trial.rankers(trial.best_step(np.full(bench.data.n_queries, True)))
    rankers = (rankers * bench.n_folds)[: bench.n_folds]
    return milliseconds(lambda some: member_scores(rankers, trial.kind.features, Views(some)), bench.data)
