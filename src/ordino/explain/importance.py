"""The importance of features: their weights in the model, or how much a metric drops when a feature is shuffled.

Permutation importance shuffles values within each query. Ranking depends on how the documents of a query differ, and a
document never gets a value from another query. So a feature that is the same for all documents of a query has
importance 0, whatever the ranker does with it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import name_features
from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.judge import Judge
from ordino.pipelines import last_step, names_at_last_step, score_with
from ordino.ranker import FeatureWeight, Ranker, measure_of
from ordino.threads import count_threads, run_blocks


def feature_weights(ranker: Ranker) -> list[FeatureWeight]:
    """The weight of each feature, by feature name, the largest absolute weight first.

    The weights of linear rankers are their coefficients (for the scaled features, if they scale), those of stumps the
    sum of each feature's alphas, those of trees each feature's share of the total gain. An AutoRanker has the share of
    each feature in what its members learned. Other rankers have no such weights: use
    :func:`~ordino.explain.permutation_importance`.

    Examples
    --------
    >>> from ordino import SingleFeature
    >>> feature_weights(SingleFeature(feature=2, sign=-1).fit([[1.0, 5.0], [3.0, 4.0]], [0, 1], qid=[1] * 2))[0]
    FeatureWeight(feature='f2', weight=-1.0)
    """
    last = last_step(ranker)
    kind = last.form().kind
    weights = getattr(last, "feature_gains" if kind == "trees" else "feature_weights", None)
    has_weights = kind in ("linear", "stumps", "trees") or hasattr(last, "explained_parts")
    if not has_weights or weights is None:
        raise ParameterError(
            f"a {type(last).__name__} has no weight for each feature; "
            "give data, and permutation importance tells what each is worth"
        )
    names = dict(zip(last.feature_names(), names_at_last_step(ranker) or last.feature_names(), strict=True))
    named = [one._replace(feature=names[one.feature]) for one in weights()]
    return sorted(named, key=lambda one: -abs(one.weight))


class Importance(NamedTuple):
    """How much the metric drops when one feature is shuffled."""

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
    """How much each feature contributes to a fitted ranker on this data, the most important first.

    Parameters
    ----------
    metric, profile
        By default the ranker's own, or ``ndcg@10`` and ``standard`` if it has none.
    repeats
        How often each feature is shuffled.
    n_jobs
        Number of threads, each with its own copy of the features; None takes the free processors. The result is the
        same.

    Examples
    --------
    Only the first feature is looked at; shuffled, it ranks like chance.

    >>> from ordino import SingleFeature
    >>> from ordino.testing import easy_data
    >>> found = permutation_importance(SingleFeature(feature=1).fit(easy_data()), easy_data())
    >>> [(one.feature, one.importance > 0) for one in found]
    [('f1', True), ('f2', False), ('f3', False), ('f4', False)]
    """
    last = last_step(ranker)
    own_metric, own_profile = measure_of(last)
    judge = Judge(own_metric if metric is None else metric, own_profile if profile is None else profile)
    check_int("repeats", repeats, low=1)
    is_piped = last is not ranker
    # scaling and shuffling inside a query change places freely; of the steps of a pipeline nobody knows
    scaled = data.as_grouped() if is_piped else ranker.prepared(data)
    n_features = data.n_features
    source = np.arange(n_features) if is_piped or ranker.scaler_ is None else ranker.scaler_.sources
    form = last.form()

    def quality(X: NDArray[np.float32]) -> float:
        shuffled = scaled.replace(X=X, feature_names=scaled.feature_names)
        scores = score_with(ranker, shuffled) if is_piped else form.score_scaled(shuffled)
        return float(np.nanmean(judge.per_query(scaled, scores)))

    if not np.isfinite(judge.per_query(scaled, np.zeros(scaled.n_docs))).any():
        raise DataError(
            f"the data has no query that {judge.metric} in profile {judge.profile.name!r} counts; use other data"
        )
    whole = quality(scaled.X)
    query = scaled.query_number
    losses = np.empty((n_features, repeats))

    def work(columns: NDArray[np.intp]) -> None:
        X = scaled.X.copy()
        for j in columns:
            views = np.flatnonzero(source == j)  # all that the scaling makes of the feature moves together
            for repeat in range(repeats):
                rng = np.random.default_rng((seed, int(j), repeat))
                drawn = np.lexsort((rng.random(len(X)), query))  # rows of each query in random order
                X[:, views] = scaled.X[drawn[:, None], views]
                losses[j, repeat] = whole - quality(X)
            X[:, views] = scaled.X[:, views]

    shares = np.array_split(np.arange(n_features), min(count_threads(n_jobs), max(n_features, 1)))
    run_blocks(work, shares, n_jobs)
    names = data.feature_names or name_features(getattr(ranker, "feature_names_in_", None), n_features)
    means = losses.mean(axis=1)
    return [
        Importance(str(names[j]), float(means[j]), float(losses[j].std())) for j in np.argsort(-means, kind="stable")
    ]
