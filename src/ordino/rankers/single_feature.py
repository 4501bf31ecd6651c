"""One feature as the whole ranker: what a learned ranker has to beat.

BM25 is such a feature (number 25 of LETOR 4.0, over the whole document). Where none is named, the feature and the
direction that rank the training data best are found by trying all.
"""

from __future__ import annotations

from numbers import Integral
from typing import final

import numpy as np

from ordino.checks import check_int
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError, unknown_name
from ordino.judge import Judge
from ordino.linear import LinearRanker


@final
class SingleFeature(LinearRanker):
    """Rank by one feature.

    Parameters
    ----------
    feature
        Its number as LETOR files count, from 1, or its name (f1, f2, ... where the data has none). None finds the best
        on the training data; ``valid`` plays no part, as there is only this one choice.
    sign
        1 if larger is better, -1 if smaller is; None finds out on the training data.
    metric, profile
        The measure by which the best is found. Of equally good ones, the first is taken, and 1 before -1.

    Attributes
    ----------
    feature_, sign_
        The number of the feature, from 1, and its direction; ``coef_`` has the sign in the feature's place.

    Examples
    --------
    The second feature falls as the label rises.

    >>> ranker = SingleFeature().fit([[1.0, 5.0], [3.0, 4.0], [2.0, 1.0]], [0, 1, 2])
    >>> ranker.feature_, ranker.sign_, ranker.coef_.tolist()
    (2, -1, [0.0, -1.0])
    """

    def __init__(
        self,
        *,
        feature: int | str | None = None,
        sign: int | None = None,
        metric: str = "ndcg@10",
        profile: str = "standard",
    ) -> None:
        self.feature = feature
        self.sign = sign
        self.metric = metric
        self.profile = profile

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:  # noqa: ARG002
        if self.sign not in (None, 1, -1) or isinstance(self.sign, bool):
            raise ParameterError(f"sign={self.sign!r}; it must be 1, -1 or None")
        columns = range(data.n_features) if self.feature is None else [column_of(self.feature, data)]
        tries = [(column, sign) for column in columns for sign in ((1, -1) if self.sign is None else (self.sign,))]
        column, self.sign_ = tries[0]
        if len(tries) > 1:
            judge = Judge(self.metric, self.profile)
            reached = [judge.mean(data, sign * data.X[:, column].astype(np.float64)) for column, sign in tries]
            column, self.sign_ = tries[int(np.argmax(np.nan_to_num(reached, nan=-np.inf)))]
        self.feature_ = column + 1
        self.coef_ = np.zeros(data.n_features)
        self.coef_[column] = self.sign_


def column_of(feature: object, data: Dataset) -> int:
    """The column, from 0, of a feature given by number, from 1, or by name."""
    if isinstance(feature, Integral):
        return check_int("feature", feature, low=1, high=data.n_features) - 1
    names = data.feature_names or tuple(f"f{j + 1}" for j in range(data.n_features))
    if feature not in names:
        raise unknown_name("feature", feature, names)
    return names.index(str(feature))
