"""The contract of scalers: scikit-learn transformers that know of queries.

All return float32 and keep NaN. They take arrays and frames (rows in any order, which the result keeps) or a
:class:`~ordino.data.dataset.Dataset`, and return the same with scaled features. With scikit-learn's metadata routing
enabled, a pipeline passes ``qid`` on by itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import frozen, query_blocks
from ordino.data.columns import Features, Groups, check_columns, group_rows
from ordino.data.dataset import Dataset
from ordino.data.frames import check_no_categories, read_features
from ordino.data.order_statistics import Elsewhere
from ordino.data.source import Source
from ordino.errors import DataError, ParameterError
from ordino.estimators import BaseEstimator, TransformerMixin, check_is_fitted
from ordino.threads import count_threads, run_blocks

BLOCK_ROWS = 8192  # about how many rows a thread takes at a time
Ids = ArrayLike | Sequence[Any] | None


def _numbers(scaler: object, X: ArrayLike) -> tuple[Features, tuple[str, ...] | None]:
    """The features of an array or a frame and their names; categories are refused."""
    features, names, categories = read_features(X)
    check_no_categories(categories, type(scaler).__name__)
    return features, names


class _ArrayScaler(TransformerMixin, BaseEstimator):
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

    def fit_elsewhere(self, data: Elsewhere, filling: Features | None = None) -> Self:
        """Learn from rows that lie on other machines, with these values in place of NaN; the same as from rows here."""
        self._learn_elsewhere(data, filling)
        self.n_features_in_, self.n_queries_ = data.n_features, data.n_queries
        self.__dict__.pop("feature_names_in_", None)
        if data.feature_names is not None:
            self.feature_names_in_ = np.array(data.feature_names, dtype=object)
        return self

    def transform(self, X: ArrayLike | Dataset, *, qid: Ids = None) -> Any:
        """The scaled features in the order of the rows given; of a data set, the data set with scaled features."""
        check_is_fitted(self, "n_features_in_")
        if not isinstance(X, Dataset):
            return super().transform(X, qid=qid)
        _refuse_second_qid(qid)
        check_no_categories(X.categories, type(self).__name__)
        check_columns("scaler", self.n_features_in_, self._names(), X.n_features, X.feature_names)
        names = None if X.feature_names is None else self._names_out(X.feature_names)
        return X.replace_features(self._scaled(X.X, Groups(None, X.offsets, X.query_ids)), names)

    def fit_transform(self, X: ArrayLike | Dataset, y: object = None, *, qid: Ids = None) -> Any:
        """:meth:`fit`, then :meth:`transform` of the same data."""
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def suffixes(self) -> tuple[str, ...]:
        """What is put behind a feature's name, once for each feature that the scaler makes of it."""
        return ("",)

    @property
    def n_features_out(self) -> int:
        """How many features the scaler gives."""
        return len(self.suffixes()) * self.n_features_in_

    @property
    def sources(self) -> NDArray[np.intp]:
        """For each feature that the scaler gives, the number of the one that it was made of."""
        return np.tile(np.arange(self.n_features_in_), len(self.suffixes()))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the features that the scaler gives, for scikit-learn."""
        check_is_fitted(self, "n_features_in_")
        given = self._names() if input_features is None else input_features
        names = [f"x{j}" for j in range(self.n_features_in_)] if given is None else given
        return np.array(self._names_out(names), dtype=object)

    def _names_out(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{name}{suffix}" for suffix in self.suffixes() for name in names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _learn(self, features: Features | None) -> None:
        """Learn from the training rows (None if they come in parts), if there is anything to learn."""

    def _learn_elsewhere(self, data: Elsewhere, filling: Features | None) -> None:
        """Learn from rows on other machines, with these values in place of NaN, if there is anything to learn."""

    @abstractmethod
    def _scaled(self, features: Features, groups: Groups) -> Features:
        """Scale a matrix whose columns were checked; the result is finite or NaN."""

    def _names(self) -> Sequence[str] | None:
        return getattr(self, "feature_names_in_", None)


def _refuse_second_qid(qid: object) -> None:
    if qid is not None:
        raise ParameterError("a Dataset knows its queries; leave out qid")


class QueryScaler(Scaler):
    """A scaler that looks at one query at a time and learns nothing but the number of features."""

    by_query: ClassVar[bool] = True
    _kind: ClassVar[str]

    def _kernel(self, n_features: int, counts: NDArray[np.int64]) -> tuple[Any, Any]:  # noqa: ARG002
        """The kernel for queries with this many documents, and room that it works in."""
        from ordino.data.scaling_kernels import SCALES  # numba loads here

        return SCALES[self._kind], np.empty((6, n_features))

    def _scaled(self, features: Features, groups: Groups) -> Features:
        scaled = np.empty_like(features)
        X, offsets = frozen(features), frozen(groups.offsets)
        rows = frozen(np.arange(len(features)) if groups.order is None else groups.order)

        def work(block: tuple[int, int]) -> None:
            some = offsets[block[0] : block[1] + 1]
            kernel, room = self._kernel(X.shape[1], np.diff(some))
            kernel(X, rows, some, room, scaled)

        run_blocks(work, query_blocks(groups.offsets, BLOCK_ROWS), self.n_jobs)
        return scaled
