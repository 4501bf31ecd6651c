"""A splitter for scikit-learn that never cuts a query."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from ordino.checks import check_int
from ordino.data.columns import group_rows
from ordino.errors import DataError


class QueryKFold(BaseCrossValidator):  # type: ignore[misc]
    """Folds of whole queries for ``cross_val_score``, ``GridSearchCV`` and their kin.

    With metadata routing, ``params={"qid": qid}`` reaches this splitter and the ranker alike. The same seed gives the
    same folds; ``seed=None`` keeps the queries in the order of their first rows.

    Examples
    --------
    >>> folds = QueryKFold(2, seed=None).split([[0.0]] * 4, qid=["a", "b", "a", "b"])
    >>> [test.tolist() for _, test in folds]
    [[0, 2], [1, 3]]
    """

    __metadata_request__split: ClassVar[dict[str, bool | None]] = {"qid": True, "groups": None}

    def __init__(self, n_splits: int = 5, *, seed: int | None = 0) -> None:
        self.n_splits = check_int("n_splits", n_splits, low=2)
        self.seed = seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, *, qid: Any = None) -> int:  # noqa: ARG002
        """The number of folds."""
        return self.n_splits

    def split(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: Any = None, *, qid: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Row numbers of the training and the test part of each fold; ``groups`` may take the place of ``qid``."""
        ids = groups if qid is None else qid
        if ids is None:
            raise DataError("QueryKFold needs the query of each row: split(X, y, qid=qid), or params={'qid': qid}")
        yield from super().split(X, y, ids)

    def _iter_test_masks(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[NDArray[np.bool_]]:  # noqa: ARG002
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        found = group_rows(groups, n_rows)
        counts = np.diff(found.offsets)
        if len(counts) < self.n_splits:
            raise DataError(f"{len(counts)} queries cannot make {self.n_splits} folds; use fewer folds")
        drawn = np.arange(len(counts))
        if self.seed is not None:
            drawn = np.random.default_rng(self.seed).permutation(len(counts))
        fold_of_query = np.empty(len(counts), np.intp)
        fold_of_query[drawn] = np.arange(len(counts)) % self.n_splits
        fold = np.repeat(fold_of_query, counts)
        by_row = np.empty(n_rows, np.intp)
        by_row[slice(None) if found.order is None else found.order] = fold
        for k in range(self.n_splits):
            yield by_row == k
