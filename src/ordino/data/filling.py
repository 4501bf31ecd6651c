"""Missing values filled in before anything else looks at the features: by the median of the training data."""

from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.columns import Features, Groups
from ordino.data.dataset import Dataset
from ordino.data.frames import read_features
from ordino.data.order_statistics import Elsewhere
from ordino.data.query_features import Joined
from ordino.data.scaler import Ids, Scaler
from ordino.data.source import Source
from ordino.errors import DataError


@final
class MedianFilled(Scaler):
    """Puts each feature's median in training in place of NaN, then scales by ``inner``, if there is one.

    A feature that training never saw is 0.

    Examples
    --------
    >>> MedianFilled().fit([[1.0], [2.0], [9.0]]).transform([[float("nan")], [5.0]]).ravel().tolist()
    [2.0, 5.0]
    """

    medians_: NDArray[np.float32]  # (n_features,)

    def __init__(self, *, inner: Scaler | None = None, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs=n_jobs)
        self.inner = inner

    @property
    def by_query(self) -> bool:  # type: ignore[override]
        """Whether the inner scaler looks at one query at a time."""
        return self.inner is not None and self.inner.by_query

    def suffixes(self) -> tuple[str, ...]:
        """Those of the inner scaler."""
        return super().suffixes() if self.inner is None else self.inner.suffixes()

    def fit(self, X: ArrayLike | Dataset | Source, y: object = None, *, qid: Ids = None) -> Self:
        """Learn the medians, and let the inner scaler learn from what is filled in."""
        if isinstance(X, Source) and not isinstance(X, Dataset):
            raise DataError("medians need all training rows at once; give a Dataset")
        super().fit(X, y, qid=qid)
        if self.inner is not None:
            data = X if isinstance(X, Dataset) else Dataset(X, np.zeros(len(read_features(X).X)), qid)
            self.inner.fit(data.replace_features(self._filled(data.X), data.feature_names))
        return self

    def _learn(self, features: Features | None) -> None:
        assert features is not None, "fit refuses data in parts"
        columns = (features[:, j] for j in range(features.shape[1]))
        seen = (column[~np.isnan(column)] for column in columns)
        self.medians_ = np.array([np.median(values) if len(values) else 0.0 for values in seen], np.float32)

    def fit_elsewhere(self, data: Elsewhere, filling: Features | None = None) -> Self:
        """Learn the medians, and let the inner scaler learn from what is filled in."""
        super().fit_elsewhere(data, filling)
        if self.inner is not None:
            self.inner.fit_elsewhere(data, self.medians_)
        return self

    def _learn_elsewhere(self, data: Elsewhere, filling: Features | None) -> None:
        medians = np.zeros(data.n_features, np.float32)
        for columns in data.column_blocks():
            found = data.sorted_columns(columns, filling)
            middles = [np.array([max(count - 1, 0) // 2, count // 2]) for count in found.counts]
            numbers = range(data.n_features)[columns]
            for j, count, values in zip(numbers, found.counts, found.at(middles), strict=True):
                medians[j] = np.median(values) if count else 0.0
        self.medians_ = medians

    def _filled(self, features: Features) -> Features:
        return np.where(np.isnan(features), self.medians_, features)

    def _scaled(self, features: Features, groups: Groups) -> Features:
        filled = self._filled(features)
        return filled if self.inner is None else self.inner._scaled(filled, groups)


def make_preparation(missing: str | None, scaler: Scaler | None) -> Scaler | None:
    """What a ranker does to the features before it looks at them: fill in, scale, both or nothing."""
    return scaler if missing is None else MedianFilled(inner=scaler)


def describe_scaling(scaler: Any) -> str | None:
    """The scaling of a model's card, by the names of the classes."""
    if isinstance(scaler, MedianFilled):
        inner = describe_scaling(scaler.inner)
        return "MedianFilled" if inner is None else f"MedianFilled, {inner}"
    if isinstance(scaler, Joined):
        return " + ".join(type(part).__name__ for part in scaler.parts)
    return None if scaler is None else type(scaler).__name__
