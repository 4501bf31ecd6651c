"""Metrics as scikit-learn's scorers, for ``cross_val_score``, ``GridSearchCV`` and their kin."""

from typing import Any, final

from numpy.typing import ArrayLike

from ordino.errors import DataError
from ordino.estimators import MetadataRequest
from ordino.metrics.evaluate import evaluate
from ordino.metrics.metric import parse_metric
from ordino.metrics.profiles import find_profile


@final
class MetricScorer:
    """What :func:`scorer` gives: ``(estimator, X, y, qid=qid)`` to a number of which more is better."""

    def __init__(self, metric: str, profile: str) -> None:
        self.metric, self.profile = str(parse_metric(metric)), find_profile(profile).name

    def __call__(self, estimator: Any, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> float:
        """The mean over the queries of X; a metric that counts errors is negated."""
        if qid is None:
            raise DataError(
                f"scorer({self.metric!r}) needs the query of each row; use "
                "sklearn.set_config(enable_metadata_routing=True) and params={'qid': qid}"
            )
        asks = getattr(estimator, "get_metadata_routing", lambda: None)()
        takes_qid = asks is None or "qid" in asks.consumes("predict", ["qid"])
        scores = estimator.predict(X, qid=qid) if takes_qid else estimator.predict(X)
        metric = parse_metric(self.metric)
        return metric.quality(evaluate(y, scores, qid=qid, metrics=metric, profile=self.profile)[self.metric])

    def get_metadata_routing(self) -> MetadataRequest:
        """Asks scikit-learn for ``qid``."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="qid", alias=True)
        return request

    def __repr__(self) -> str:
        return f"scorer({self.metric!r}, profile={self.profile!r})"


def scorer(metric: str, *, profile: str = "standard") -> MetricScorer:
    """A metric as a scorer of scikit-learn: ``cross_val_score(ranker, X, y, scoring=scorer("ndcg@10"), ...)``.

    Examples
    --------
    >>> from ordino import RankSVM
    >>> from ordino.testing import easy_data
    >>> data = easy_data()
    >>> round(scorer("ndcg@10")(RankSVM().fit(data), data.X, data.y, qid=data.qid), 2)
    1.0
    """
    return MetricScorer(metric, profile)
