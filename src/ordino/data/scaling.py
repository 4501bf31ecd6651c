"""Query-aware feature scaling: scikit-learn transformers, chosen by name from :data:`SCALERS`.

Feature values are not comparable between queries, so three of the scalers work within each query and learn nothing (a
feature that is constant within the query becomes 0); the others treat all documents alike. All return float32 and keep
NaN. They take arrays and frames (rows in any order, which the result keeps) or a :class:`~ordino.data.dataset.Dataset`,
and return the same with scaled features. With scikit-learn's metadata routing enabled, a pipeline passes ``qid`` on by
itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from inspect import signature
from types import MappingProxyType
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ordino.arrays import frozen, query_blocks, row_blocks
from ordino.checks import check_choice, check_int, check_real
from ordino.data import kernels
from ordino.data.columns import Features, Groups, check_columns, group_rows, symmetric_log
from ordino.data.dataset import Dataset
from ordino.data.frames import check_no_categories, read_features
from ordino.data.source import Source
from ordino.errors import DataError, ParameterError
from ordino.threads import count_threads, run_blocks

BLOCK_ROWS = 8192  # about how many rows a thread takes at a time
COLUMNS = (
    4  # features that a thread copies and sorts at a time: rows may come from disk, where a row is read as a whole
)
Ids = ArrayLike | Sequence[Any] | None


def _numbers(scaler: object, X: ArrayLike) -> tuple[Features, tuple[str, ...] | None]:
    """The features of an array or a frame and their names; categories are refused."""
    features, names, categories = read_features(X)
    check_no_categories(categories, type(scaler).__name__)
    return features, names


class _ArrayScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What scikit-learn sees: arrays or frames in, arrays (or what ``set_output`` asks for) out."""

    def transform(self, X: Any, *, qid: Any = None) -> Any:
        features, names = _numbers(self, X)
        check_columns("scaler", self.n_features_in_, self._names(), features.shape[1], names, type(self).__name__)
        if qid is None and self.by_query and self.n_queries_ > 1:
            fix = "pass qid=..., or in a pipeline enable metadata routing"
            what = f"transform() would scale all rows as one query, but fit() had {self.n_queries_} queries"
            raise DataError(f"{what}; {fix}")
        return self._scaled(features, group_rows(qid, len(features)))


class Scaler(_ArrayScaler, ABC, auto_wrap_output_keys=None):  # type: ignore[call-arg]  # scikit-learn has no types
    """What the scalers share: checks, queries, threads. Subclasses say how a matrix is scaled.

    ``n_jobs`` is the number of threads; None takes the free processors. The result does not depend on it.
    """

    __metadata_request__fit: ClassVar = {"qid": True}  # routed without being asked for: a scaler must know the query
    __metadata_request__transform: ClassVar = {"qid": True}

    n_features_in_: int
    n_queries_: int
    by_query: ClassVar[bool] = False  # whether a query is scaled by its own documents alone

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike | Dataset | Source, y: object = None, *, qid: Ids = None) -> Self:  # noqa: ARG002
        """Learn what the scaler needs from the training part; ``y`` is not used.

        A :class:`~ordino.data.source.Source` is read part by part, unless the scaler learns from all rows together.
        """
        count_threads(self.n_jobs)
        names: Sequence[str] | None
        if isinstance(X, Source):
            _refuse_second_qid(qid)
            self._learn(X.X if isinstance(X, Dataset) else None)
            self.n_queries_ = X.n_queries if isinstance(X, Dataset) else sum(part.n_queries for part in X.parts())
            self.n_features_in_, names = X.n_features, X.feature_names
        else:
            features, names = _numbers(self, X)
            self.n_queries_ = len(group_rows(qid, len(features)).query_ids)
            self._learn(features)
            self.n_features_in_ = features.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def transform(self, X: ArrayLike | Dataset, *, qid: Ids = None) -> Any:
        """The scaled features in the order of the rows given; of a data set, the data set with scaled features."""
        check_is_fitted(self, "n_features_in_")
        if not isinstance(X, Dataset):
            return super().transform(X, qid=qid)
        _refuse_second_qid(qid)
        check_no_categories(X.categories, type(self).__name__)
        check_columns("scaler", self.n_features_in_, self._names(), X.n_features, X.feature_names)
        return X.replace_features(self._scaled(X.X, Groups(None, X.offsets, X.query_ids)), X.feature_names)

    def fit_transform(self, X: ArrayLike | Dataset, y: object = None, *, qid: Ids = None) -> Any:
        """:meth:`fit`, then :meth:`transform` of the same data."""
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _learn(self, features: Features | None) -> None:
        """Learn from the training rows (None if they come in parts), if there is anything to learn."""

    @abstractmethod
    def _scaled(self, features: Features, groups: Groups) -> Features:
        """Scale a matrix whose columns were checked; the result is finite or NaN."""

    def _names(self) -> Sequence[str] | None:
        return getattr(self, "feature_names_in_", None)


def _refuse_second_qid(qid: object) -> None:
    if qid is not None:
        raise ParameterError("a Dataset knows its queries; leave out qid")


class _QueryScaler(Scaler):
    """A scaler that looks at one query at a time and learns nothing but the number of features."""

    by_query: ClassVar[bool] = True
    _kind: ClassVar[str]

    def _scaled(self, features: Features, groups: Groups) -> Features:
        scaled = np.empty_like(features)
        X, offsets = frozen(features), frozen(groups.offsets)
        rows = frozen(np.arange(len(features)) if groups.order is None else groups.order)

        def work(block: tuple[int, int]) -> None:
            room = np.empty((6, X.shape[1]))
            kernels.SCALES[self._kind](X, rows, offsets[block[0] : block[1] + 1], room, scaled)

        run_blocks(work, query_blocks(groups.offsets, BLOCK_ROWS), self.n_jobs)
        return scaled


@final
class QueryMax(_QueryScaler):
    r"""Subtract the mean and divide by the largest absolute value, within each query (SortNet and DeepNet, eq. 4).

    .. math:: \hat x = (x - \mu_q) / \max_q |x|

    Values lie in [-1, 1] if all values of the feature have the same sign, in [-2, 2] otherwise.

    Examples
    --------
    >>> QueryMax().fit_transform([[0], [2], [4], [5]], qid=["a", "a", "a", "b"]).ravel().tolist()
    [-0.5, 0.0, 0.5, 0.0]
    """

    _kind = "querymax"


@final
class MinMax(_QueryScaler):
    r"""Scale to 0 at the smallest and 1 at the largest value, within each query (RankDE, eq. 5).

    .. math:: \hat x = (x - \min_q x) / (\max_q x - \min_q x)

    Examples
    --------
    >>> MinMax().fit_transform([[1], [2], [5], [7]], qid=["a", "a", "a", "b"]).ravel().tolist()
    [0.0, 0.25, 1.0, 0.0]
    """

    _kind = "minmax"


@final
class ZScore(_QueryScaler):
    r"""Scale to mean 0 and standard deviation 1 within each query.

    .. math:: \hat x = (x - \mu_q) / \sigma_q, \quad \sigma_q^2 = \tfrac{1}{n_q} \sum (x - \mu_q)^2

    Examples
    --------
    >>> ZScore().fit_transform([[1], [1], [5], [5]]).ravel().tolist()
    [-1.0, -1.0, 1.0, 1.0]
    """

    _kind = "zscore"


@final
class NormalQuantiles(Scaler):
    """Ranks among the training values, spread as a normal distribution with standard deviation 1/3 (DirectRanker 4.2).

    A value becomes the share of training values below it, linear between ``n_quantiles`` quantiles (at most one for
    each row), and the share becomes the normal quantile times ``std``: scikit-learn's
    ``QuantileTransformer(output_distribution="normal")`` over 3, fitted on all rows. Values at or beyond the range of
    the training values are clipped to -1.733 and 1.733. Unlike scikit-learn's, a feature that was constant in training
    becomes 0 where it still has that value.

    Examples
    --------
    >>> scaler = NormalQuantiles().fit(np.arange(101.0).reshape(-1, 1))
    >>> scaler.transform([[50], [84.13447], [500]]).ravel().round(3)
    array([0.   , 0.333, 1.733], dtype=float32)
    """

    quantiles_: NDArray[np.float64]  # (n_features, n_quantiles)

    def __init__(self, *, n_quantiles: int = 1000, std: float = 1 / 3, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs=n_jobs)
        self.n_quantiles, self.std = n_quantiles, std

    def _learn(self, features: Features | None) -> None:
        n_quantiles = check_int("n_quantiles", self.n_quantiles, low=2)
        check_real("std", self.std, low=0, open_low=True)
        if features is None:
            raise DataError("quantiles need all training rows at once; give a Dataset, or choose another scaling")
        if not len(features):
            raise DataError("the data has no rows; quantiles need at least one")
        n_quantiles = max(2, min(n_quantiles, len(features)))
        quantiles = np.full((features.shape[1], n_quantiles), np.nan)

        def work(columns: slice) -> None:
            for j, column in zip(range(features.shape[1])[columns], features[:, columns].T.copy(), strict=True):
                column.sort()
                values = column[: len(column) - np.count_nonzero(np.isnan(column))].astype(np.float64)  # NaN sorts last
                if len(values):
                    place = np.linspace(0, len(values) - 1, n_quantiles)
                    quantiles[j] = np.interp(place, np.arange(len(values)), values)

        run_blocks(work, row_blocks(features.shape[1], COLUMNS), self.n_jobs)
        self.quantiles_ = quantiles

    def _scaled(self, features: Features, groups: Groups) -> Features:  # noqa: ARG002
        scaled = np.empty_like(features)
        references = np.linspace(0, 1, self.quantiles_.shape[1])
        end = -ndtri(1e-7)  # where scikit-learn clips

        def work(rows: slice) -> None:
            share = np.empty((rows.stop - rows.start, features.shape[1]))
            kernels.shares_below(frozen(features[rows]), self.quantiles_, references, share)
            ndtri(share, out=share)
            np.clip(share, -end, end, out=share)
            np.multiply(share, self.std, out=scaled[rows], casting="same_kind")

        run_blocks(work, row_blocks(len(features), BLOCK_ROWS), self.n_jobs)
        return scaled


@final
class SymmetricLog(Scaler):
    """sign(x) log(1 + abs(x)): compresses large values, keeps signs and zeros.

    Examples
    --------
    >>> SymmetricLog().fit_transform([[0.0], [-1.0], [1.0]]).ravel().round(3)
    array([ 0.   , -0.693,  0.693], dtype=float32)
    """

    def _scaled(self, features: Features, groups: Groups) -> Features:  # noqa: ARG002
        scaled = np.empty_like(features)
        blocks = row_blocks(len(features), BLOCK_ROWS)
        run_blocks(lambda rows: symmetric_log(features[rows], out=scaled[rows]), blocks, self.n_jobs)
        return scaled


SCALERS: Mapping[str, type[Scaler]] = MappingProxyType(
    {"querymax": QueryMax, "minmax": MinMax, "zscore": ZScore, "quantile": NormalQuantiles, "symlog": SymmetricLog}
)
"""Every scaler by its name; the first line of a class says what it does."""

_REMOVED = {"none": "None", "logcount": "'symlog'"}  # and what to use instead


def make_scaler(name: str, **params: Any) -> Scaler:
    """Make the scaler with this name.

    Examples
    --------
    >>> make_scaler("quantile", n_quantiles=100)
    NormalQuantiles(n_quantiles=100)
    """
    if name in _REMOVED:
        raise ParameterError(f"scaling={name!r} no longer exists; use scaling={_REMOVED[name]}")
    scaler = SCALERS[check_choice("scaling", name, SCALERS)]
    for param in params:
        check_choice(f"parameter of scaling {name!r}:", param, signature(scaler).parameters)
    return scaler(**params)
