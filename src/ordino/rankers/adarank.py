r"""AdaRank: boosting on queries that optimizes the metric itself.

Queries carry weights P. In each round, the feature that ranks best on its own by the weighted metric E is added:

.. math:: \alpha = \tfrac12 \ln \frac{\sum_q P_q (1 + E_q(h))}{\sum_q P_q (1 - E_q(h))}

and badly ranked queries get more weight. In the paper, P depends on the sum f so far, :math:`P_q \propto e^{-E_q(f)}`;
since E is between 0 and 1, P then stays within a factor of e, and on many data sets one strong feature is chosen in
every round. Weights that accumulate over rounds, as in AdaBoost, :math:`P_q \propto \prod_t e^{-\alpha_t E_q(h_t)}`,
avoid this. Xu and Li, "AdaRank: a boosting algorithm for information retrieval", SIGIR 2007.
"""

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.stumps import rounds_param
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.judge import Choice, Judge
from ordino.linear import LinearRanker
from ordino.parameters import learned, param, settings
from ordino.progress import Steps
from ordino.recurring import metric_param, missing_param, profile_param, scaling_param, verbose_param

REWEIGHTING = ("rounds", "sum")
NEAR_PERFECT = 1e-6  # of 1 - E: a feature that ranks all queries perfectly has a finite alpha


@final
class AdaRank(LinearRanker):
    """Boosting with single features as weak rankers, and with more weight on badly ranked queries.

    Attributes
    ----------
    coef_
        Feature weights: the sum of the alphas of the rounds that chose the feature.
    features_, alphas_
        The feature that each round chose, starting at 0, and its alpha, including rounds after the best.
    query_weights_
        P before the first and after each round, for the queries that count, in canonical order.
    history_
        For each round, the weighted metric of the chosen feature, ``metric``, and the metric on ``valid``, if given;
        their signs are changed if smaller is better.

    Examples
    --------
    Feature 0 ranks the relevant document second and feature 1 ranks it third, so feature 0 is chosen:
    E = 1/2 and alpha = ln((1 + 1/2) / (1 - 1/2)) / 2 = ln(3) / 2.

    >>> X, y = [[2.0, 0.0], [3.0, 1.0], [1.0, 2.0]], [1, 0, 0]
    >>> ranker = AdaRank(metric="map", rounds=1).fit(X, y, qid=[1] * len(y))
    >>> ranker.features_, bool(np.isclose(ranker.alphas_[0], np.log(3) / 2))
    ([0], True)
    """

    history_: list[dict[str, float]] = learned()
    features_: list[int] = learned()
    alphas_: list[float] = learned()

    rounds: int = rounds_param(200)
    metric: str = metric_param(
        text="The metric E to optimize (map for AdaRank-MAP, ndcg@10 for AdaRank-NDCG), also used to choose the "
        "number of rounds. Its values must lie between -1 and 1."
    )
    profile: str = profile_param()
    reweighting: str = param(
        "rounds",
        "rounds: the weight of a query accumulates over the rounds. sum: it depends only on the sum so far, as in the "
        "paper.",
        choices=REWEIGHTING,
    )
    scaling: str | None = scaling_param(
        text="Feature scaling: a name in `SCALERS`. Features must be comparable, since their values are added."
    )
    missing: str | None = missing_param()
    verbose: bool = verbose_param()

    published = settings(reweighting="sum", metric="map")
    """Weights that depend on the sum so far; AdaRank-MAP (``metric="ndcg@10"`` is AdaRank-NDCG)."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        choice = Choice(valid, self.metric, self.profile)
        judge = choice.judge
        if not -1 <= judge.metric.measure.low <= judge.metric.measure.high <= 1:
            raise ParameterError(f"metric={self.metric!r}; AdaRank needs a metric between -1 and 1, such as 'ndcg@10'")
        of_feature, counted = feature_measures(data, judge)  # (n_counted, n_features), (n_queries,)
        errors = 0.0 if judge.metric.greater_is_better else judge.metric.measure.high
        of_feature += errors  # E of a metric that counts errors is what is left of them: 1 is perfect
        log_weights = np.zeros(len(of_feature))
        query_weights = [softmax(log_weights)]
        coef = np.zeros(data.n_features)
        self.coef_ = coef.copy()
        scores = np.zeros(data.n_docs)
        self.features_, self.alphas_, self.history_ = [], [], []
        with Steps("AdaRank", self.rounds if len(of_feature) else 0, verbose=self.verbose) as steps:
            for step in steps:
                best = query_weights[-1] @ of_feature  # (n_features,)
                feature = int(np.argmax(best))
                alpha = 0.5 * float(np.log((1 + best[feature]) / max(1 - best[feature], NEAR_PERFECT)))
                self.features_.append(feature)
                self.alphas_.append(alpha)
                if self.reweighting == "rounds":
                    log_weights -= alpha * of_feature[:, feature]
                else:
                    scores += alpha * data.X[:, feature]
                    log_weights = -judge.per_query(data, scores)[counted]  # what is added to all weighs nothing
                query_weights.append(softmax(log_weights))
                coef[feature] += alpha
                if choice.takes_weights(coef):
                    self.coef_ = coef.copy()
                reached = float(best[feature]) - errors
                self.history_.append({"round": step + 1, "metric": reached} | choice.last)
                steps.show(metric=reached, **choice.figures)
        self.query_weights_ = np.array(query_weights)


def feature_measures(data: Dataset, judge: Judge) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The metric of each query when ranked by each feature alone, and which queries count."""
    values = np.empty((data.n_queries, data.n_features))
    for j in range(data.n_features):
        values[:, j] = judge.per_query(data, data.X[:, j].astype(np.float64))
    counted = np.isfinite(values.sum(axis=1))
    return values[counted], counted


def softmax(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights that sum to 1, proportional to the exponentials."""
    grown = np.exp(logs - logs.max(initial=-np.inf))
    return np.asarray(grown / grown.sum())
