"""The contract of a scaler: a scikit-learn transformer that is told the query and refuses to pool queries in silence.

``fit(X, y=None, *, qid=None)``, ``transform(X, *, qid=None)`` and ``fit_transform`` take arrays and frames (rows in any
order; what comes back has the caller's order) or a :class:`~ordino.data.dataset.Dataset`, which comes back with scaled
features. With scikit-learn's metadata routing on, a pipeline passes ``qid`` on without being asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ordino.data.dataset import Dataset, as_features
from ordino.data.grouping import Groups, group_rows
from ordino.errors import DataError, ParameterError

Features = NDArray[np.float32]

BLOCK_ROWS = 8192  # about how many rows a thread takes at a time


class _ArrayScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What scikit-learn sees: arrays or frames in, arrays (or what ``set_output`` asks for) out."""

    def transform(self, X: Any, *, qid: Any = None) -> Any:
        features = as_features(X)
        self._check_columns(features, _names(X))
        return self._scaled(features, self._groups(qid, len(features)))


class Scaler(_ArrayScaler, auto_wrap_output_keys=None):  # type: ignore[call-arg]  # scikit-learn has no types
    """What the scalers share: checks, queries, threads. Subclasses say how a matrix is scaled.

    Parameters
    ----------
    n_jobs
        How many threads work; None is one for each processor. The result does not depend on it.
    """

    __metadata_request__fit: ClassVar = {"qid": True}  # routed without being asked for: a scaler must know the query
    __metadata_request__transform: ClassVar = {"qid": True}

    n_features_in_: int
    n_queries_: int
    by_query: ClassVar[bool] = False

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike | Dataset, y: object = None, *, qid: ArrayLike | Sequence[Any] | None = None) -> Self:  # noqa: ARG002
        """Learn what the scaler needs from the training part; ``y`` is not used."""
        if self.n_jobs is not None and (not isinstance(self.n_jobs, int | np.integer) or self.n_jobs < 1):
            raise ParameterError(f"n_jobs={self.n_jobs!r}; it must be None or a whole number from 1 on")
        if isinstance(X, Dataset):
            _refuse_second_qid(qid)
            features, n_queries = X.X, X.n_queries
        else:
            features = as_features(X)
            n_queries = len(group_rows(qid, len(features)).query_ids)
        self._learn(features)
        self.n_features_in_ = features.shape[1]
        self.n_queries_ = n_queries
        names = _names(X)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def transform(self, X: ArrayLike | Dataset, *, qid: ArrayLike | Sequence[Any] | None = None) -> Any:
        """The scaled features in the order of the rows given; of a data set, the data set with scaled features."""
        check_is_fitted(self, "n_features_in_")
        if not isinstance(X, Dataset):
            return super().transform(X, qid=qid)
        _refuse_second_qid(qid)
        self._check_columns(X.X, X.feature_names)
        scaled = self._scaled(X.X, Groups(None, X.offsets, X.query_ids))
        return X.replace(X=scaled, feature_names=X.feature_names)

    def fit_transform(
        self, X: ArrayLike | Dataset, y: object = None, *, qid: ArrayLike | Sequence[Any] | None = None
    ) -> Any:
        """:meth:`fit`, then :meth:`transform` of the same data."""
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _learn(self, features: Features) -> None:
        """Learn from the training part; most scalers have nothing to learn."""

    def _scaled(self, features: Features, groups: Groups) -> Features:
        """Scale a matrix whose columns were checked."""
        raise NotImplementedError

    def _groups(self, qid: ArrayLike | Sequence[Any] | None, n_rows: int) -> Groups:
        if qid is None and self.by_query and self.n_queries_ > 1:
            raise DataError(
                f"transform() would scale all rows as one query, but fit() had {self.n_queries_} queries; "
                "pass qid=..., or in a pipeline enable metadata routing"
            )
        return group_rows(qid, n_rows)

    def _check_columns(self, features: Features, names: Sequence[str] | None) -> None:
        if features.shape[1] != self.n_features_in_:
            raise DataError(
                f"the scaler was fitted with {self.n_features_in_} features but the data has {features.shape[1]}"
            )
        for j, (known, given) in enumerate(zip(getattr(self, "feature_names_in_", ()), names or (), strict=False)):
            if known != given:
                raise DataError(
                    f"the scaler was fitted with {known!r} in column {j} but the data has {given!r}; "
                    "give the columns in the order of fit()"
                )

    def _run(self, work: Callable[[Any], None], pieces: Iterable[Any]) -> None:
        """Do the work of every piece, on threads; the pieces share nothing, so their order does not count."""
        waiting = list(pieces)
        n_threads = min(os.cpu_count() or 1 if self.n_jobs is None else self.n_jobs, len(waiting))
        if n_threads <= 1:
            for piece in waiting:
                work(piece)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            for _ in pool.map(work, waiting):
                pass


def blocks_of(n_rows: int) -> list[slice]:
    """Slices of :data:`BLOCK_ROWS` rows that cover them all.

    Examples
    --------
    >>> blocks_of(10_000)
    [slice(0, 8192, None), slice(8192, 10000, None)]
    """
    return [slice(start, min(start + BLOCK_ROWS, n_rows)) for start in range(0, n_rows, BLOCK_ROWS)]


def _names(X: object) -> Sequence[str] | None:
    """Names of the columns, if what is given has them."""
    columns = X.feature_names if isinstance(X, Dataset) else getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return list(columns)


def _refuse_second_qid(qid: object) -> None:
    if qid is not None:
        raise ParameterError("a Dataset knows its queries; leave out qid")
