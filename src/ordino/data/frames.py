"""A data set from a DataFrame and back: pandas, polars, Arrow, and other frames that narwhals supports.

Columns become a float32 matrix one at a time, so nothing is ever held twice in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import name_features
from ordino.checks import check_choice
from ordino.data.dataset import Dataset
from ordino.errors import DataError, import_extra, unknown_name

if TYPE_CHECKING:
    import narwhals as nw

BACKENDS = ("pandas", "polars", "pyarrow")


def from_frame(
    frame: Any, *, label: str | None, qid: str | None = None, doc_id: str | None = None, weight: str | None = None,
    features: Sequence[str] | None = None,
) -> Dataset:  # fmt: skip
    """A data set from a frame with one row for each document.

    Parameters
    ----------
    frame
        A pandas or polars DataFrame, an Arrow table, or any other eager frame that narwhals knows.
    label, qid, doc_id, weight
        Names of the columns with the labels, the query ids, the document ids and the weights; without ``qid`` all rows
        are one query, and ``label=None`` gives label 0 to documents that are only to be ranked.
    features
        The columns that are features, in this order; by default all columns not named above. They must be numbers or
        booleans; nulls become NaN.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"query": ["a", "a", "b"], "grade": [1, 0, 2], "bm25": [7.5, None, 3.0]})
    >>> data = from_frame(frame, label="grade", qid="query")
    >>> data, data.feature_names, data.X.ravel().tolist()
    (Dataset(3 documents, 2 queries, 1 feature), ('bm25',), [7.5, nan, 3.0])
    """
    table = _eager(frame)
    special = {"label": label, "qid": qid, "doc_id": doc_id, "weight": weight}
    named = {role: column for role, column in special.items() if column is not None}
    for role, column in [*named.items(), *(("features", column) for column in features or ())]:
        if column not in table.columns:
            raise DataError(f"{role}={column!r}: {unknown_name('column', column, map(str, table.columns))}")
    columns = [c for c in table.columns if c not in named.values()] if features is None else list(features)
    return Dataset(
        _matrix(table, columns),
        np.zeros(len(table)) if label is None else _numbers(table, label),
        None if qid is None else _ids(table, qid),
        doc_ids=None if doc_id is None else _ids(table, doc_id),
        feature_names=[str(column) for column in columns],
        weights=None if weight is None else _numbers(table, weight),
    )


def to_frame(dataset: Dataset, backend: str = "pandas") -> Any:
    """A frame with the columns qid, label, doc_id and weight (if there are any) and the features.

    Rows come in the order in which the caller gave them. Features without names are called f1, f2, ..., as in a LETOR
    file; the frame owns its memory. The backends are in :data:`BACKENDS`.

    Examples
    --------
    >>> to_frame(Dataset([[0.5], [1.5]], [2, 0], qid=[7, 7]), "polars").to_dict(as_series=False)
    {'qid': [7, 7], 'label': [2.0, 0.0], 'f1': [0.5, 1.5]}
    """
    import narwhals as nw

    check_choice("backend", backend, BACKENDS)
    import_extra(backend, extra=backend, purpose=f"to_frame(backend={backend!r})")
    columns = {"qid": dataset.qid, "label": dataset.y, "doc_id": dataset.doc_ids, "weight": dataset.weights}
    table = {name: dataset.restore(values).copy() for name, values in columns.items() if values is not None}
    for j, name in enumerate(name_features(dataset.feature_names, dataset.n_features)):
        if name in table:
            raise DataError(f"a feature is called {name!r} like another column of the frame; rename the feature")
        table[name] = dataset.restore(np.ascontiguousarray(dataset.X[:, j]))
    try:
        return nw.from_dict(table, backend=cast(Any, backend)).to_native()
    except (TypeError, ValueError, OverflowError) as error:  # ids that no column can hold, such as tuples
        reason = " ".join(str(error).split())
        raise DataError(f"{backend} cannot hold the ids in a column ({reason}); use numbers or strings") from None


def _eager(frame: Any) -> nw.DataFrame[Any]:
    import narwhals as nw

    try:
        table: Any = nw.from_native(frame)
    except TypeError:
        kind = type(frame).__name__
        raise DataError(f"a {kind} is not a frame; give a pandas or polars one or an Arrow table") from None
    if isinstance(table, nw.LazyFrame):
        raise DataError("the frame is lazy; call its collect() (or compute()) first")
    return table  # type: ignore[no-any-return]


def _matrix(table: nw.DataFrame[Any], columns: Sequence[str]) -> NDArray[np.float32]:
    """Feature columns as a C-ordered matrix."""
    wrong = [name for name in columns if not _is_number(table[name])]
    if wrong:
        named = ", ".join(f"{name!r} ({table[name].dtype})" for name in wrong[:5]) + (", ..." if len(wrong) > 5 else "")
        raise DataError(
            f"feature columns must be numbers, but these are not: {named}; encode them, or choose others with features="
        )
    matrix = np.empty((len(table), len(columns)), np.float32)
    for j, name in enumerate(columns):
        with np.errstate(over="ignore"):
            matrix[:, j] = _as_floats(table[name])
        infinite = np.isinf(matrix[:, j])
        if infinite.any():
            row = int(infinite.argmax())
            raise DataError(
                f"column {name!r} has {table[name][row]} in row {row}, which float32 cannot hold; "
                "rescale it, or use null for missing"
            )
    return matrix


def _is_number(column: nw.Series[Any]) -> bool:
    import narwhals as nw

    return column.dtype.is_numeric() or column.dtype == nw.Boolean


def _as_floats(column: nw.Series[Any]) -> NDArray[Any]:
    """The numbers of a column, nulls as NaN."""
    import narwhals as nw

    return (column.cast(nw.Float64) if column.null_count() or column.dtype.is_decimal() else column).to_numpy()


def _numbers(table: nw.DataFrame[Any], name: str) -> NDArray[Any]:
    """A column of numbers that may not be missing."""
    if not _is_number(table[name]):
        raise DataError(f"column {name!r} is {table[name].dtype}; it must hold numbers")
    return _as_floats(_filled(table, name))


def _ids(table: nw.DataFrame[Any], name: str) -> NDArray[Any] | list[Any]:
    import narwhals as nw

    column = _filled(table, name)
    return column.to_list() if column.dtype == nw.Categorical else column.to_numpy()


def _filled(table: nw.DataFrame[Any], name: str) -> nw.Series[Any]:
    """A column without nulls."""
    if table[name].null_count():
        row = int(table[name].is_null().to_numpy().argmax())
        raise DataError(f"column {name!r} is null in row {row}; fill it in or drop the row")
    return table[name]
