"""Data sets: documents with features and labels, grouped by query.

Rows may come in any order: :class:`Dataset` groups them once, and :meth:`Dataset.restore` puts values that were
computed row by row back into the caller's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import frozen, query_numbers
from ordino.data.columns import (
    Groups,
    as_column,
    as_feature_names,
    as_weights,
    group_rows,
    offsets_of,
)
from ordino.data.frames import Categories, check_codes, read_features
from ordino.errors import DataError, ParameterError
from ordino.plain import count_of

if TYPE_CHECKING:
    from ordino.data.summary import Summary


class Query(NamedTuple):
    """One query's part of a data set: views, not copies."""

    query_id: Any
    X: NDArray[np.float32]  # (n_docs, n_features)
    y: NDArray[np.float64]  # (n_docs,)
    doc_ids: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    judged: NDArray[np.bool_] | None


_QID = "use qid=..., the query of each row"
ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("groups", "group_id", "query_id"), _QID),
        "group": f"{_QID}; np.repeat(np.arange(len(group)), group) makes it from group sizes",
        **dict.fromkeys(("label", "labels", "target"), "use y=..., the label of each row"),
        "data": "use X=..., the features, or ordino.Dataset.from_frame(frame)",
        **dict.fromkeys(("weight", "sample_weight"), "use weights=..., one for each row"),
        "feature_name": "use feature_names=...",
    }
)
"""Arguments of LightGBM's, XGBoost's and CatBoost's data sets, and what to type."""


@final
class Dataset:
    """Documents with features and labels, grouped by query; read-only.

    Internally, the rows of a query are kept together: query ``q`` owns rows ``offsets[q]:offsets[q + 1]`` of ``X`` and
    ``y``. Arrays that already have the right form are not copied.

    Parameters
    ----------
    X
        Features, shape ``(n_docs, n_features)``; kept as float32. NaN means missing, infinity is refused.
        A DataFrame gives its column names and categories, a scipy sparse matrix becomes dense.
    y
        Labels, shape ``(n_docs,)``; larger is better. Kept as float64.
    qid
        The query of each row, of any hashable type, in any order; None makes all rows one query.
    doc_ids, feature_names, weights
        Optional names of rows and columns, and the weight of each document in training (not negative).
    categories
        By the name of a feature, its categories: of columns of text, or of columns that hold their numbers, from 0.
        Categorical columns of a DataFrame bring their own.
    judged
        Whether somebody judged each document; False where label 0 only means that nobody did. Kept with the rows, and
        in tables as a column of that name; nothing learns from it.

    Examples
    --------
    >>> data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["b", "a", "b"])
    >>> data
    Dataset(3 documents, 2 queries, 1 feature)
    >>> data.query_ids.tolist(), data.offsets.tolist(), data.y.tolist()
    (['b', 'a'], [0, 2, 3], [0.0, 2.0, 1.0])
    >>> data.restore(data.y).tolist()
    [0.0, 1.0, 2.0]
    """

    X: NDArray[np.float32]
    y: NDArray[np.float64]
    offsets: NDArray[np.int64]
    query_ids: NDArray[Any]
    doc_ids: NDArray[Any] | None
    feature_names: tuple[str, ...] | None
    categories: Categories  # of the categorical features, whose values are positions among them
    weights: NDArray[np.float64] | None
    judged: NDArray[np.bool_] | None
    order: NDArray[np.intp] | None  # the caller's row of each row here, or None where the caller's order was kept

    def __init__(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | Sequence[Any] | None = None, *,
        doc_ids: ArrayLike | Sequence[str] | None = None, feature_names: Sequence[str] | None = None,
        weights: ArrayLike | None = None, categories: Mapping[str, Sequence[str]] | None = None,
        judged: ArrayLike | None = None, **unknown: Any,
    ) -> None:  # fmt: skip
        for word in unknown:
            raise ParameterError(f"Dataset() has no argument {word}; {ELSEWHERE.get(word, 'see help(ordino.Dataset)')}")
        features, columns, kinds = read_features(X, feature_names, categories)
        n_docs = len(features)
        labels = as_column("y", y, n_docs, "label")
        importance = None if weights is None else as_weights(weights, n_docs)
        names = None if doc_ids is None else np.asarray(doc_ids)
        if names is not None and names.shape != (n_docs,):
            raise DataError(f"doc_ids has shape {names.shape} but X has {n_docs} rows; give one id for each row")
        marks = None if judged is None else np.asarray(judged)
        if marks is not None and (marks.shape != (n_docs,) or marks.dtype != bool):
            raise DataError(f"judged must be {n_docs} booleans, one for each row of X")
        groups = group_rows(qid, n_docs)
        arrays: dict[str, NDArray[Any] | None] = {"X": features, "y": labels, "doc_ids": names, "weights": importance}
        arrays["judged"] = marks
        if groups.order is not None:
            arrays = {name: None if array is None else array[groups.order] for name, array in arrays.items()}
        self._hold(groups, columns, kinds, **arrays)

    @classmethod
    def of_groups(
        cls, X: NDArray[np.float32], y: NDArray[np.float64], groups: Groups, *, doc_ids: NDArray[Any] | None = None,
        feature_names: tuple[str, ...] | None = None, weights: NDArray[np.float64] | None = None,
        categories: Categories | None = None, judged: NDArray[np.bool_] | None = None,
    ) -> Self:  # fmt: skip
        """Wrap arrays that are already checked and grouped (what readers and selections call); nothing is checked."""
        self = cls.__new__(cls)
        self._hold(groups, feature_names, categories or {}, X=X, y=y, doc_ids=doc_ids, weights=weights, judged=judged)
        return self

    def _hold(
        self, groups: Groups, feature_names: tuple[str, ...] | None, categories: Categories,
        **arrays: NDArray[Any] | None,
    ) -> None:  # fmt: skip
        for name, array in (groups._asdict() | arrays).items():
            object.__setattr__(self, name, None if array is None else frozen(array))
        object.__setattr__(self, "feature_names", feature_names)
        object.__setattr__(self, "categories", dict(categories))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Dataset is read-only; make a new one instead of setting {name!r}")

    @property
    def n_docs(self) -> int:
        """The number of documents (rows) in all queries."""
        return len(self.y)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    @property
    def n_features(self) -> int:
        """The number of features (columns)."""
        return int(self.X.shape[1])

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of documents of each query, shape ``(n_queries,)``."""
        return np.diff(self.offsets)

    @property
    def doc_weights(self) -> NDArray[np.float64]:
        """The weight of each document, 1 where none were given, as an array of the caller's own."""
        return np.ones(self.n_docs) if self.weights is None else np.array(self.weights)

    @property
    def qid(self) -> NDArray[Any]:
        """The query id of each row, in the order of the rows here, shape ``(n_docs,)``."""
        return np.repeat(self.query_ids, self.counts)

    @property
    def query_number(self) -> NDArray[np.int64]:
        """The number of each row's query (its position in ``query_ids``), shape ``(n_docs,)``."""
        return query_numbers(self.offsets)

    def __len__(self) -> int:
        return self.n_queries

    def __iter__(self) -> Iterator[Query]:
        return (self[q] for q in range(self.n_queries))

    def __getitem__(self, q: int) -> Query:
        """Query number ``q`` (not its id), as views; negative numbers count from the end."""
        if not -self.n_queries <= q < self.n_queries:
            raise IndexError(f"query number {q} of {self.n_queries}")
        q %= self.n_queries
        rows = slice(self.offsets[q], self.offsets[q + 1])
        return Query(self.query_ids[q], self.X[rows], self.y[rows], **self._optional(rows))

    def restore(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put values computed for the rows here back into the order in which the caller gave the rows."""
        if self.order is None:
            return values
        restored = np.empty_like(values)
        restored[self.order] = values
        return restored

    def as_grouped(self) -> Dataset:
        """The same arrays, with the order of the rows here as the caller's: scores need no :meth:`restore`."""
        return self if self.order is None else self.take_rows(slice(None), Groups(None, self.offsets, self.query_ids))

    def parts(self) -> Iterator[Dataset]:
        """The data set as a :class:`~ordino.data.source.Source`: itself, in canonical order, is the only part."""
        from ordino.data.source import canonical

        yield canonical(self)

    def select_queries(self, which: ArrayLike) -> Dataset:
        """The queries with these numbers, in this order (or where a boolean array is True).

        Examples
        --------
        >>> Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["a", "b", "b"]).select_queries([1]).y.tolist()
        [1.0, 2.0]
        """
        chosen = np.asarray(which)
        if chosen.dtype == bool:
            if chosen.shape != (self.n_queries,):
                raise DataError(f"a mask of shape {chosen.shape} cannot choose among {self.n_queries} queries")
            chosen = np.flatnonzero(chosen)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise DataError("queries are chosen by a list of whole numbers or by a mask of booleans")
        chosen = chosen.astype(np.intp)
        outside = chosen[(chosen < -self.n_queries) | (chosen >= self.n_queries)]
        if outside.size:
            raise DataError(f"there is no query number {outside[0]}; the data set has {self.n_queries} queries")
        chosen = chosen % max(self.n_queries, 1)
        if len(np.unique(chosen)) < len(chosen):
            raise DataError("a query number is given twice; each query can be chosen once")
        counts = self.counts[chosen]
        offsets = offsets_of(counts)
        rows = np.repeat(self.offsets[:-1][chosen] - offsets[:-1], counts) + np.arange(offsets[-1])
        return self.take_rows(rows, Groups(None, offsets, self.query_ids[chosen]))

    def select_docs(self, keep: NDArray[np.bool_]) -> Dataset:
        """The documents where ``keep`` is True (rows in the order here); queries that lose all are left out."""
        if keep.shape != (self.n_docs,) or keep.dtype != bool:
            raise DataError(f"keep must be {self.n_docs} booleans, one for each document")
        counts = np.diff(offsets_of(keep)[self.offsets])
        alive = counts > 0
        return self.take_rows(np.flatnonzero(keep), Groups(None, offsets_of(counts[alive]), self.query_ids[alive]))

    def take_rows(self, rows: NDArray[np.intp] | slice, groups: Groups) -> Dataset:
        """These rows in these groups, which are not checked; rows that follow one another are not copied."""
        if not isinstance(rows, slice) and len(rows) and rows[-1] - rows[0] == len(rows) - 1:
            rows = slice(rows[0], rows[-1] + 1) if (np.diff(rows) == 1).all() else rows
        named: dict[str, Any] = {"feature_names": self.feature_names, "categories": self.categories}
        return Dataset.of_groups(self.X[rows], self.y[rows], groups, **named, **self._optional(rows))

    def _optional(self, rows: NDArray[np.intp] | slice) -> dict[str, Any]:
        named = {"doc_ids": self.doc_ids, "weights": self.weights, "judged": self.judged}
        return {name: None if array is None else array[rows] for name, array in named.items()}

    def replace(
        self, *, X: ArrayLike | None = None, y: ArrayLike | None = None, feature_names: Sequence[str] | None = None
    ) -> Dataset:
        """The same queries with other features or labels, in the order of the rows here.

        As many features as before keep their names, unless X is a frame or others are given; a feature keeps its
        categories with its name.
        """
        features, names, kinds = read_features(self.X if X is None else X)
        if len(features) != self.n_docs:
            raise DataError(f"X has {len(features)} rows but the data set has {self.n_docs}")
        if feature_names is not None:
            names = as_feature_names(feature_names, features.shape[1])
        elif names is None and features.shape[1] == self.n_features:
            names = self.feature_names
        kept = {name: texts for name, texts in self.categories.items() if name in (names or ())} | dict(kinds)
        labels = None if y is None else as_column("y", y, self.n_docs, "label")
        return self.replace_features(features, names, y=labels, categories=check_codes(features, names, kept))

    def with_weights(self, weights: ArrayLike) -> Dataset:
        """The same documents with these weights, one for each row in the order here."""
        groups = Groups(self.order, self.offsets, self.query_ids)
        kept = self._optional(slice(None)) | {"weights": as_weights(weights, self.n_docs)}
        named: dict[str, Any] = {"feature_names": self.feature_names, "categories": self.categories}
        return Dataset.of_groups(self.X, self.y, groups, **named, **kept)

    def replace_features(
        self, X: NDArray[np.float32], feature_names: tuple[str, ...] | None, *, y: NDArray[np.float64] | None = None,
        categories: Categories | None = None,
    ) -> Dataset:  # fmt: skip
        """The same queries with features that were made here (by a scaler, for example); nothing is checked."""
        groups, labels = Groups(self.order, self.offsets, self.query_ids), self.y if y is None else y
        named: dict[str, Any] = {"feature_names": feature_names, "categories": categories}
        return Dataset.of_groups(X, labels, groups, **named, **self._optional(slice(None)))

    def split(self, *shares: float, seed: int = 0) -> tuple[Dataset, ...]:
        """Split the data set at random into parts that share no query; the same seed gives the same parts.

        A part has its share of the queries. If the shares sum to less than 1, the rest is one more part.

        Examples
        --------
        >>> train, test = Dataset([[0.0]] * 10, [0] * 10, qid=range(10)).split(0.8)
        >>> train.n_queries, test.n_queries
        (8, 2)
        """
        return tuple(self.select_queries(part) for part in split_numbers(self.n_queries, shares, seed))

    def describe(self) -> Summary:
        """Counts of documents, queries, labels and empty queries; prints as a table."""
        from ordino.data.summary import summarize

        return summarize(self)

    def save(self, path: str | Path) -> None:
        """Write the data set to an Arrow file that :meth:`open` maps into memory."""
        from ordino.data.arrow import save_dataset

        save_dataset(self, path)

    @staticmethod
    def open(path: str | Path, *, check: bool = True) -> Dataset:
        """Map a file that :meth:`save` wrote into memory; see :func:`ordino.data.arrow.open_dataset`."""
        from ordino.data.arrow import open_dataset

        return open_dataset(path, check=check)

    @staticmethod
    def from_frame(
        frame: Any, *, label: str | None = "label", qid: str | None = None, doc_id: str | None = None,
        weight: str | None = None, features: Sequence[str] | None = None, categories: Sequence[str] = (),
    ) -> Dataset:  # fmt: skip
        """A data set from a pandas, polars or Arrow frame; see :func:`ordino.data.dataframes.from_frame`."""
        from ordino.data.dataframes import from_frame

        roles: dict[str, Any] = {"label": label, "qid": qid, "doc_id": doc_id, "weight": weight}
        return from_frame(frame, **roles, features=features, categories=categories)

    @staticmethod
    def from_runs(
        runs: Mapping[str, Any], qrels: Any = None, *, unjudged: str = "zero", features: Any = None
    ) -> Dataset:
        """A data set from the runs of several retrievers; see :func:`ordino.data.runs.from_runs`."""
        from ordino.data.runs import from_runs

        return from_runs(runs, qrels, unjudged=unjudged, features=features)

    def to_frame(self, backend: str = "pandas") -> Any:
        """A frame with the columns qid, label, doc_id, weight and the features, in the caller's row order."""
        from ordino.data.dataframes import to_frame

        return to_frame(self, backend=backend)

    def __repr__(self) -> str:
        docs, queries = count_of(self.n_docs, "document"), count_of(self.n_queries, "query", "queries")
        return f"Dataset({docs}, {queries}, {count_of(self.n_features, 'feature')})"

    def _repr_html_(self) -> str:
        return self.describe()._repr_html_()


def split_numbers(n_queries: int, shares: Sequence[float], seed: int = 0) -> list[NDArray[np.intp]]:
    """The numbers from 0 to ``n_queries``, drawn into parts of these shares, each part rising."""
    total = sum(shares)
    if not shares or min(shares) <= 0 or total > 1 + 1e-9:
        raise ParameterError(f"split shares must be positive and sum to 1 at most, not {tuple(shares)}")
    parts = list(shares) if total > 1 - 1e-9 else [*shares, 1 - total]
    bounds = np.rint(np.cumsum([0, *parts]) * n_queries).astype(int)
    drawn = np.random.default_rng(seed).permutation(n_queries)
    return [np.sort(drawn[start:stop]) for start, stop in pairwise(bounds)]
