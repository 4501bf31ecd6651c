"""Rankers that cut the line of scores by thresholds into one interval for each label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.data.dataset import Dataset
from ordino.linear import LinearRanker


class OrdinalRanker(LinearRanker):
    """A linear ranker with ``classes_`` (the labels, rising) and ``thresholds_`` between them (rising)."""

    classes_: NDArray[np.float64]  # (n_levels,)
    thresholds_: NDArray[np.float64]  # (n_levels - 1,)

    def predict_levels(
        self, X: ArrayLike | Dataset, *, qid: ArrayLike | Sequence[Any] | None = None
    ) -> NDArray[np.float64]:
        """The label of each row: that of the first threshold above its score, the highest where none is."""
        scores = self.predict(X, qid=qid)
        return self.classes_[np.searchsorted(self.thresholds_, scores, side="right")]

    def _levels(self, data: Dataset) -> NDArray[np.int64]:
        """Remember the labels as ``classes_`` and give each row's place among them."""
        self.classes_, level = np.unique(data.y, return_inverse=True)
        return level.astype(np.int64)
