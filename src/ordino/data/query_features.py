"""Features made of a document's place inside its query, and scalers joined so that a ranker sees several views.

What a value means in its query (is it the largest, how far is it from the rest?) often ranks better than the value.
Like the other scalers inside queries, these learn nothing: one list, as a service gets it, has all they need.
"""

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.columns import Features, Groups
from ordino.data.dataset import Dataset
from ordino.data.order_statistics import Elsewhere
from ordino.data.scaler import Ids, QueryScaler, Scaler
from ordino.data.source import Source

KNOTS = (0.0, 0.5, 0.8)
"""Places from which on a hinge rises."""

SHORT = 200  # documents of a query up to which counting smaller values takes less time than sorting


class _Places(QueryScaler):
    """A scaler by the places of values in their query."""

    def _kernel(self, n_features: int, counts: NDArray[np.int64]) -> tuple[Any, Any]:
        from ordino.data.scaling_kernels import rank_long, rank_short  # numba loads here

        longest = int(counts.max(initial=0))
        if longest <= SHORT:
            return rank_short, np.empty((3, n_features), np.float32)
        return rank_long, np.empty((2, longest))


@final
class QueryRank(_Places):
    r"""The place of a value among the values of its query, from -1 (the smallest) to 1 (the largest).

    .. math:: \hat x = 2 p / (n_q - 1) - 1

    where *p* is the number of smaller values plus half the number of other equal ones, and :math:`n_q` counts the
    values that are not NaN. A single value becomes 0.

    Examples
    --------
    >>> QueryRank().fit_transform([[3], [900], [5], [5], [7]], qid=list("aaaab")).ravel().tolist()
    [-1.0, 1.0, 0.0, 0.0, 0.0]
    """


@final
class QueryLog(QueryScaler):
    r"""The z-score, within each query, of the logarithm of how far a value is above the query's smallest.

    .. math:: \hat x = (l - \mu_q) / \sigma_q, \quad l = \log(1 + 100 (x - \min_q x) / (\max_q x - \min_q x))

    Examples
    --------
    >>> QueryLog().fit_transform([[0], [0], [8], [8]]).ravel().tolist()
    [-1.0, -1.0, 1.0, 1.0]
    """

    _kind = "qlog"


@final
class Hinge(_Places):
    r"""By how much the place of a value (:class:`QueryRank`) exceeds 0, 0.5 and 0.8: three features for each.

    .. math:: \hat x_t = \max(\mathrm{rank}(x) - t, 0), \quad t \in \{0, 0.5, 0.8\}

    So a linear ranker can tell the top of a query from its middle. All features with the first *t* come first.

    Examples
    --------
    >>> Hinge().fit_transform([[1], [2], [3]]).astype(float).round(1).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.5, 0.2]]
    """

    def suffixes(self) -> tuple[str, ...]:
        """One for each t."""
        return tuple(f" hinge {knot:g}" for knot in KNOTS)

    def _scaled(self, features: Features, groups: Groups) -> Features:
        return hinges(super()._scaled(features, groups))


def hinges(place: Features) -> Features:
    """By how much each place exceeds each knot; all features with the first knot come first."""
    wide = np.empty((len(place), len(KNOTS) * place.shape[1]), np.float32)
    for part, knot in zip(np.split(wide, len(KNOTS), axis=1), KNOTS, strict=True):
        np.maximum(place - np.float32(knot), 0, out=part)
    return wide


@final
class Unscaled(Scaler):
    """The features as they are, to be joined with others: ``raw+rank``."""

    def _scaled(self, features: Features, groups: Groups) -> Features:  # noqa: ARG002
        return features


@final
class Joined(Scaler):
    """Several scalers side by side: all features of the first, then all of the second, and so on.

    Examples
    --------
    >>> from ordino.data.scaling import make_scaler
    >>> scaler = make_scaler("raw+rank").fit([[3.0], [9.0]])
    >>> scaler.transform([[3.0], [9.0]]).tolist(), scaler.get_feature_names_out(["bm25"]).tolist()
    ([[3.0, -1.0], [9.0, 1.0]], ['bm25 raw', 'bm25 rank'])
    """

    def __init__(self, *, names: Sequence[str], parts: Sequence[Scaler], n_jobs: int | None = None) -> None:
        super().__init__(n_jobs=n_jobs)
        self.names, self.parts = names, parts

    @property
    def by_query(self) -> bool:  # type: ignore[override]
        """Whether one of the scalers looks at one query at a time."""
        return any(part.by_query for part in self.parts)

    def suffixes(self) -> tuple[str, ...]:
        """The names of the scalers."""
        return tuple(
            suffix or f" {name}"
            for name, part in zip(self.names, self.parts, strict=True)
            for suffix in part.suffixes()
        )

    def fit(self, X: ArrayLike | Dataset | Source, y: object = None, *, qid: Ids = None) -> Self:
        """Let every scaler learn what it needs."""
        super().fit(X, y, qid=qid)
        for part in self.parts:
            part.n_features_in_, part.n_queries_ = self.n_features_in_, self.n_queries_
        return self

    def _learn(self, features: Features | None) -> None:
        for part in self.parts:
            part._learn(features)

    def fit_elsewhere(self, data: Elsewhere, filling: Features | None = None) -> Self:
        """Let every scaler learn what it needs."""
        super().fit_elsewhere(data, filling)
        for part in self.parts:
            part.n_features_in_, part.n_queries_ = self.n_features_in_, self.n_queries_
        return self

    def _learn_elsewhere(self, data: Elsewhere, filling: Features | None) -> None:
        for part in self.parts:
            part._learn_elsewhere(data, filling)

    def _scaled(self, features: Features, groups: Groups) -> Features:
        n_features = features.shape[1]
        wide = np.empty((len(features), len(self.suffixes()) * n_features), np.float32)
        start = 0
        for part in self.parts:  # one after another, so that no more than one is there twice
            stop = start + len(part.suffixes()) * n_features
            wide[:, start:stop] = part._scaled(features, groups)
            start = stop
        return wide
