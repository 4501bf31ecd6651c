"""The columns of a data set: features and labels as numbers, names, and query ids as groups of rows.

Nothing here needs more than numpy, so that a model file can score without loading scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import row_blocks
from ordino.errors import DataError, WrongKindError

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset

Features = NDArray[np.float32]

BLOCK_ROWS = 65536  # rows that are looked at together: a mask of all would be a quarter of X


def as_features(X: ArrayLike, names: Sequence[str] | None = None) -> NDArray[np.float32]:
    """Features as a C-ordered float32 matrix; NaN may stand for missing, infinity and overflow are refused."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    try:
        given = np.ma.filled(X.astype(np.float64), np.nan) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
        if given.dtype.kind == "c":  # the words that scikit-learn has for it, here and below
            raise DataError("Complex data not supported; give X as real numbers")
        if given.dtype.kind not in "biuf":
            given = given.astype(np.float64, casting="safe" if given.dtype.kind in "cmM" else "unsafe")
        with np.errstate(over="ignore"):
            features = np.ascontiguousarray(given, dtype=np.float32)
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        kind = WrongKindError if isinstance(error, TypeError) else DataError
        raise kind(f"X cannot be read as numbers ({error}); encode text columns first") from None
    if given.ndim != 2:
        fix = "give a matrix with one row for each document. Reshape your data: X.reshape(1, -1) is one document"
        raise DataError(f"X has shape {given.shape}; {fix}")
    if (found := _first_where(np.isinf, features)) is not None:
        row, column = found
        where = f"row {row}, column {column if names is None else repr(names[column])}"
        fix = "rescale it, or use NaN for missing"
        raise DataError(f"X has {given[row, column]} in {where}, which float32 cannot hold; {fix}")
    return features


def _first_where(is_bad: Callable[[Features], NDArray[np.bool_]], X: Features) -> tuple[int, int] | None:
    """Row and column of the first bad value, if there is one."""
    for rows in row_blocks(len(X), BLOCK_ROWS):
        if (bad := is_bad(X[rows])).any():
            row, column = np.argwhere(bad)[0]
            return rows.start + int(row), int(column)
    return None


def as_column(name: str, values: ArrayLike, n_docs: int, one: str) -> NDArray[np.float64]:
    """One finite number for each document, as float64."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = int(np.ma.getmaskarray(values).ravel().argmax())
        raise DataError(f"{name} is masked in row {row}; every {one} must be a finite number")
    try:
        given = np.asarray(values)
        if given.dtype.kind in "mM":
            raise DataError(f"{name} holds dates or times ({given.dtype}); give every {one} as a number")
        if given.dtype.kind == "c":
            raise DataError(f"{name} holds complex numbers; give every {one} as a real one")
        column = np.asarray(given, dtype=np.float64)
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be read as numbers ({error})") from None
    if column.shape != (n_docs,):
        raise DataError(f"{name} has shape {column.shape} but X has {n_docs} rows; give one {one} for each row")
    if not np.isfinite(column).all():
        row = int(np.flatnonzero(~np.isfinite(column))[0])
        raise DataError(f"{name} has {column[row]} in row {row}; every {one} must be a finite number")
    return column


def as_weights(weights: ArrayLike, n_docs: int) -> NDArray[np.float64]:
    """A weight for each document, none of them negative."""
    column = as_column("weights", weights, n_docs, "weight")
    if (column < 0).any():
        raise DataError(f"weights has {column.min():g}; weights must not be negative")
    return column


def as_feature_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
    """Names of the columns, each once, or None."""
    if names is None:
        return None
    unique = tuple(str(name) for name in names)
    if len(unique) != n_features:
        raise DataError(f"feature_names has {len(unique)} names but X has {n_features} columns")
    if len(set(unique)) < len(unique):
        twice = next(name for name in unique if unique.count(name) > 1)
        raise DataError(f"feature_names has {twice!r} twice; every feature needs its own name")
    return unique


def column_names(X: object) -> list[str] | None:
    """The names of the columns, if X is a frame that has them."""
    columns = getattr(X, "column_names", None)  # of Arrow, whose columns are the values
    columns = getattr(X, "columns", None) if columns is None else columns
    return None if columns is None or not all(isinstance(name, str) for name in columns) else list(columns)


def check_columns(
    fitted: str, n_known: int, known: Sequence[str] | None, n_given: int, given: Sequence[str] | None, who: str = "it"
) -> None:
    """Refuse other columns than those that something was fitted with; ``who`` is its class."""
    if n_given != n_known:
        words = f"X has {n_given} features, but {who} is expecting {n_known} features as input"  # as scikit-learn says
        raise DataError(f"{words}: the {fitted} was fitted with {n_known} features but the data has {n_given}")
    check_names(known, given)


def check_names(known: Sequence[str] | None, given: Sequence[str] | None, where: str = "") -> None:
    """Refuse as many columns of other names, or in another order, where both have names; ``where`` starts the error."""
    if known is not None and given is not None:
        for j, (old, new) in enumerate(zip(known, given, strict=True)):
            if old != new:
                fix = "give the columns in the same order"
                raise DataError(f"{where}column {j} is {new!r} but was {old!r} in fit; {fix}")


def check_features(data: Dataset, n_features: int, names: Sequence[str] | None, who: str = "it") -> None:
    """Refuse data with other features than those that a ranker was fitted with."""
    check_columns("ranker", n_features, names, data.n_features, data.feature_names, who)


def check_no_nan(data: Dataset, name: str, ranker: str) -> None:
    """Refuse missing values, for a ranker that cannot use them."""
    if (found := _first_where(np.isnan, data.X)) is not None:
        fix = "use missing='median', fill it in yourself, or use a ranker of trees"
        column = found[1] if data.feature_names is None else repr(data.feature_names[found[1]])
        raise DataError(f"{name} has NaN in column {column}, which {ranker} cannot use; {fix}")


def symmetric_log(X: Features, out: Features | None = None) -> Features:
    """sign(x) log(1 + abs(x)), into ``out`` if it is given."""
    scaled = np.abs(X, out=out)
    np.log1p(scaled, out=scaled)
    return np.copysign(scaled, X, out=scaled)


class Groups(NamedTuple):
    """Rows by query: query ``q`` owns ``order[offsets[q]:offsets[q + 1]]`` (the rows as they are if order is None)."""

    order: NDArray[np.intp] | None
    offsets: NDArray[np.int64]  # (n_queries + 1,)
    query_ids: NDArray[Any]  # (n_queries,)


def group_rows(qid: ArrayLike | Sequence[Hashable] | None, n_rows: int) -> Groups:
    """Group rows by query id, of any hashable kind and in any order; no ids make one query of all rows.

    Queries keep the order of their first row, rows keep their order inside a query.

    Examples
    --------
    >>> groups = group_rows(["b", "a", "b"], 3)
    >>> groups.query_ids.tolist(), groups.offsets.tolist(), groups.order.tolist()
    (['b', 'a'], [0, 2, 3], [0, 2, 1])
    """
    if qid is None:
        return Groups(None, np.array([0, n_rows] if n_rows else [0]), np.zeros(min(n_rows, 1), np.int64))
    ids = _as_array(qid)
    codes = _sortable(ids)
    if len(codes) != n_rows:
        raise DataError(f"qid has {len(codes)} entries but X has {n_rows} rows; give one query id for each row")
    if n_rows == 0:
        return Groups(None, np.zeros(1, np.int64), ids)
    heads = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    offsets = np.append(heads, n_rows).astype(np.int64)
    first = codes[heads]
    rising = bool((first[1:] > first[:-1]).all())  # as ids mostly are: then no id comes twice
    if rising or len(np.unique(first)) == len(heads):
        return Groups(None, offsets, ids[heads])
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    position = np.empty(len(first), np.intp)  # of a query among all, by its first row
    position[np.argsort(first)] = np.arange(len(first))
    by_query = position[inverse]
    order = np.argsort(by_query, kind="stable")
    return Groups(order, offsets_of(np.bincount(by_query)), ids[np.sort(first)])


def offsets_of(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Where queries with these numbers of documents begin and end."""
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def _sortable(ids: NDArray[Any]) -> NDArray[Any]:
    """An array with the same equalities as the ids that numpy can sort."""
    if ids.ndim != 1:
        raise DataError(f"qid has shape {ids.shape}; give one query id for each row")
    if ids.dtype.kind == "f" and not np.isfinite(ids).all():
        raise DataError("qid has NaN or inf; give every row the id of its query")
    if ids.dtype.kind != "O":
        return ids
    known: dict[Hashable, int] = {}
    try:
        codes = np.fromiter((known.setdefault(i, len(known)) for i in ids), np.int64, len(ids))
    except TypeError:
        raise DataError("qid has ids that cannot be hashed (such as lists); use numbers, strings or tuples") from None
    if any(_is_missing(i) for i in known):
        raise DataError("qid has missing ids (None or NaN); give every row the id of its query")
    return codes


def _is_missing(value: Hashable) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA answers neither yes nor no
        return True


def _as_array(qid: ArrayLike | Sequence[Hashable]) -> NDArray[Any]:
    """An array whose equalities are those of the ids: ``1`` and ``"1"`` stay apart, tuples stay whole."""
    if isinstance(qid, str | bytes):
        raise DataError(f"qid is the single string {qid!r}; give one query id for each row")
    if np.ma.is_masked(qid):
        raise DataError("qid has masked ids; give every row the id of its query")
    if hasattr(qid, "dtype") or hasattr(qid, "__array__"):
        array = np.asarray(qid)
        return array.astype(object) if array.dtype.kind not in "biufSUO" else array
    try:
        values: list[Any] = list(cast(Iterable[Any], qid))
    except TypeError:
        raise DataError(f"qid is the single value {qid!r}; give one query id for each row") from None
    kinds = {type(value) for value in values}
    if kinds <= {int} and all(-(2**63) <= value < 2**63 for value in values):  # numpy would round larger ones
        return np.array(values, np.int64)
    if kinds == {str} and not any(value.endswith("\0") for value in values):  # numpy would drop the zero
        return np.array(values)
    array = np.empty(len(values), object)
    array[:] = values
    return array
