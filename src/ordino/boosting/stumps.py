"""Boosted stumps, shared by RankBoost and FRank: each weak ranker asks if one feature is above a threshold."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.forms import Form, Stump, Stumps
from ordino.judge import Choice
from ordino.linear import name_weights
from ordino.parameters import learned, param
from ordino.progress import Steps
from ordino.ranker import FeatureWeight, Ranker
from ordino.recurring import metric_param, missing_param, profile_param, scaling_param, verbose_param


class Bins(NamedTuple):
    """Features as small whole numbers: the number of candidate thresholds below each value."""

    codes: NDArray[np.unsignedinteger]  # (n_docs, n_features)
    thresholds: list[NDArray[np.float64]]  # of each feature, rising
    n_bins: NDArray[np.int64]  # (n_features,), one more than there are thresholds

    def stump(self, feature: int, code: int, alpha: float) -> tuple[Stump, NDArray[np.float64]]:
        """The weak ranker "the feature's code is this or more", and its scores of the binned documents."""
        stump = Stump(feature, float(self.thresholds[feature][code - 1]), alpha)
        return stump, np.where(self.codes[:, feature] >= code, alpha, 0.0)


def bin_features(X: NDArray[np.float32], most: int | None) -> Bins:
    """Candidate thresholds halfway between neighboring values of each feature, at most ``most``, evenly chosen.

    Examples
    --------
    >>> bins = bin_features(np.array([[1.0], [5.0], [3.0], [3.0]], np.float32), most=None)
    >>> bins.thresholds[0].tolist(), bins.codes.ravel().tolist()
    ([2.0, 4.0], [0, 2, 1, 1])
    """
    thresholds = []
    for column in X.T:
        values = np.unique(column).astype(np.float64)
        halfway = (values[:-1] + values[1:]) / 2
        # a stump compares in single precision: between two neighbors of it, halfway may round to the upper one
        halfway = np.where(halfway.astype(np.float32) < values[1:], halfway, values[:-1])
        if most is not None and len(halfway) > most:
            halfway = halfway[np.linspace(0, len(halfway) - 1, most).round().astype(np.intp)]
        thresholds.append(halfway)
    n_bins = np.array([len(t) + 1 for t in thresholds], np.int64)
    largest = int(n_bins.max(initial=1)) - 1
    codes = np.empty(X.shape, np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32)
    for j, candidates in enumerate(thresholds):
        codes[:, j] = np.searchsorted(candidates, X[:, j].astype(np.float64))
    return Bins(codes, thresholds, n_bins)


def rounds_param(default: int) -> Any:
    """The parameter ``rounds``."""
    text = "Maximum number of weak rankers. With `valid`, the best number on it is kept; otherwise all."
    return param(default, text, low=1, brief=2)


def thresholds_param(default: int) -> Any:
    """The parameter ``thresholds``."""
    return param(default, "Maximum number of candidate thresholds per feature; None uses all.", low=1)


class StumpRanker(Ranker):
    """A ranker with ``stumps_``, a list of weak rankers: score = sum of their scores.

    Subclasses yield the weak rankers in :meth:`_rounds`.
    """

    stumps_: list[Stump] = learned()
    history_: list[dict[str, float]] = learned()

    rounds: int = rounds_param(300)
    thresholds: int | None = thresholds_param(255)
    metric: str = metric_param(text="The metric used to choose the number of rounds.")
    profile: str = profile_param()
    scaling: str | None = scaling_param()
    missing: str | None = missing_param()
    verbose: bool = verbose_param()

    @abstractmethod
    def _rounds(self, data: Dataset, bins: Bins) -> Iterator[tuple[Stump, dict[str, float]]]:
        """The weak rankers in turn, each with the numbers of its round; ends when none separates any pair."""

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        held_out_scores = np.zeros(0 if valid is None else valid.n_docs)
        choice = Choice(valid, self.metric, self.profile)
        self.history_ = []
        stumps: list[Stump] = []
        n_kept = 0
        with Steps(type(self).__name__, self.rounds, verbose=self.verbose) as steps:
            for _, (stump, figures) in zip(
                steps, self._rounds(data, bin_features(data.X, self.thresholds)), strict=False
            ):
                stumps.append(stump)
                if valid is not None:
                    held_out_scores += stump.scores(valid.X)
                if choice.takes(held_out_scores):
                    n_kept = len(stumps)
                self.history_.append({"round": len(stumps)} | figures | choice.last)
                steps.show(**figures, **choice.figures)
        self.stumps_ = stumps[:n_kept]

    def form(self) -> Form:
        """The weak rankers."""
        self._check_fitted()
        return Stumps(self.scaler_, self.n_inputs, self.stumps_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The sum of the alphas of each feature, by feature name, largest first."""
        alphas = self._sum_alphas(lambda alpha: alpha)
        return name_weights(self.feature_names(), alphas)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each feature in the sizes of all alphas, in the order of the columns."""
        sizes = self._sum_alphas(abs)
        return sizes / (sizes.sum() or 1.0)

    def _sum_alphas(self, of: Callable[[float], float]) -> NDArray[np.float64]:
        """What this is of the alphas, summed by feature."""
        self._check_fitted()
        values = [of(stump.alpha) for stump in self.stumps_]
        numbers = np.array([stump.feature for stump in self.stumps_], np.intp)
        return self.by_feature(np.bincount(numbers, values, self.n_inputs).astype(np.float64))
