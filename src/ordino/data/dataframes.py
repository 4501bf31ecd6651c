"""Data sets from and to DataFrames in memory.

A frame may be pandas', polars', Arrow's or any other that narwhals supports. Its columns become a float32 matrix one at
a time, so nothing is ever held twice in float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ordino.arrays import name_features
from ordino.checks import check_choice
from ordino.data.dataset import Dataset
from ordino.data.frames import as_floats, as_table, encode, find_queries, is_number
from ordino.errors import DataError, import_extra, unknown_name

if TYPE_CHECKING:
    import narwhals as nw

BACKENDS = ("pandas", "polars", "pyarrow")


def from_frame(
    frame: Any, *, label: str | None, qid: str | None = None, doc_id: str | None = None, weight: str | None = None,
    features: Sequence[str] | None = None, categories: Sequence[str] = (), has_text: bool = False,
    judged: str | None = None,
) -> Dataset:  # fmt: skip
    """A data set from a pandas, polars, Arrow or other eager frame with one row for each document.

    ``label``, ``qid``, ``doc_id`` and ``weight`` name columns; queries are in ``qid`` by default, or all rows are one
    if there is no such column; ``label=None`` gives label 0 to documents that are only to be ranked. ``features`` are
    by default all other columns: numbers, booleans or categories; nulls become NaN. ``categories`` are columns of text
    or codes to take as such, ``has_text`` takes all text so; ``judged`` says whether somebody judged a document (by
    default a column of that name, if it is of booleans).

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"query": ["a", "a", "b"], "grade": [1, 0, 2], "bm25": [7.5, None, 3.0]})
    >>> data = from_frame(frame, label="grade", qid="query")
    >>> data, data.feature_names, data.X.ravel().tolist()
    (Dataset(3 documents, 2 queries, 1 feature), ('bm25',), [7.5, nan, 3.0])
    """
    table = as_table(frame)
    if judged is None and str(table.schema.get("judged")) == "Boolean":
        judged = _unless_feature("judged", table.columns, features or ())
    special = {"label": label, "qid": qid, "doc_id": doc_id, "weight": weight, "judged": judged}
    named = {role: column for role, column in special.items() if column is not None}
    for role, column in [*named.items(), *(("features", column) for column in features or ())]:
        if column not in table.columns:
            raise DataError(f"{role}={column!r}: {unknown_name('column', column, map(str, table.columns))}")
    others = [column for column in table.columns if column not in named.values()]
    if qid is None:
        qid = find_queries(map(str, others)) if features is None else _unless_feature("qid", others, features)
    columns = [column for column in others if column != qid] if features is None else list(features)
    typed = _as_categories(table, categories)
    found = encode(typed, columns, has_text=has_text, otherwise="choose others with features=")
    return Dataset(
        found.X,
        np.zeros(len(table)) if label is None else _filled(table, label),
        _filled(table, qid, is_id=True),
        doc_ids=_filled(table, doc_id, is_id=True),
        feature_names=found.names,
        weights=_filled(table, weight),
        categories=found.categories,
        judged=_filled(table, judged, is_id=True),
    )


def _unless_feature(name: str, columns: Sequence[str], features: Sequence[str]) -> str | None:
    """A column of this name, if there is one and it is not asked for as a feature."""
    return name if name in columns and name not in features else None


def _as_categories(table: nw.DataFrame[Any], names: Sequence[str]) -> nw.DataFrame[Any]:
    """The table with these columns, of text or codes, as columns of categories."""
    import narwhals as nw

    casts = [nw.col(name).cast(nw.String).cast(nw.Categorical) for name in names]
    return table.with_columns(*casts) if casts else table


def to_frame(dataset: Dataset, backend: str = "pandas") -> Any:
    """A frame with qid, label, doc_id and weight (if there are any) and the features, rows in the caller's order.

    Features without names are called f1, f2, ..., as in a LETOR file; the frame owns its memory.

    Examples
    --------
    >>> to_frame(Dataset([[0.5], [1.5]], [2, 0], qid=[7, 7]), "polars").to_dict(as_series=False)
    {'qid': [7, 7], 'label': [2.0, 0.0], 'f1': [0.5, 1.5]}
    """
    _check_backend(backend, "to_frame")
    columns = {"qid": dataset.qid, "label": dataset.y, "doc_id": dataset.doc_ids, "weight": dataset.weights}
    columns["judged"] = dataset.judged
    table = {name: dataset.restore(values).copy() for name, values in columns.items() if values is not None}
    for j, name in enumerate(name_features(dataset.feature_names, dataset.n_features)):
        if name in table:
            raise DataError(f"a feature is called {name!r} like another column of the frame; rename the feature")
        values: Any = dataset.restore(np.ascontiguousarray(dataset.X[:, j]))
        if (texts := dataset.categories.get(name)) is not None:
            values = [None if np.isnan(number) else texts[int(number)] for number in values]
        table[name] = values
    return make_frame(table, backend, "to_frame", categorical=tuple(dataset.categories))


def feature_frame(dataset: Dataset, names: Sequence[str]) -> Any:
    """The features alone as a frame of pandas with these names, categories as text; rows in the order here."""
    columns: dict[str, Any] = {}
    for j, name in enumerate(map(str, names)):
        columns[name] = dataset.X[:, j]
        if (texts := dataset.categories.get(name)) is not None:
            columns[name] = [None if np.isnan(number) else texts[int(number)] for number in columns[name]]
    return make_frame(columns, "pandas", "a pipeline of columns by name")


def make_frame(columns: Mapping[str, Any], backend: str, call: str, categorical: Sequence[str] = ()) -> Any:
    """A frame of the asked kind with these columns; ``call`` is what the user called."""
    import narwhals as nw

    _check_backend(backend, call)
    try:
        frame = nw.from_dict(dict(columns), backend=cast(Any, backend))
        texts = [nw.when(~nw.col(name).is_null()).then(nw.col(name).cast(nw.String)) for name in categorical]
        casts = [one.cast(nw.Categorical).alias(name) for one, name in zip(texts, categorical, strict=True)]
        return (frame.with_columns(*casts) if casts else frame).to_native()
    except (TypeError, ValueError, OverflowError) as error:  # ids that no column can hold, such as tuples
        reason = " ".join(str(error).split())
        raise DataError(f"{backend} cannot hold the ids in a column ({reason}); use numbers or strings") from None


def _check_backend(backend: str, call: str) -> None:
    check_choice("backend", backend, BACKENDS)
    import_extra(backend, extra=backend, purpose=f"{call}(backend={backend!r})")


def _filled(table: nw.DataFrame[Any], name: str | None, *, is_id: bool = False) -> Any:
    """A column that may not have nulls, of ids or else of numbers; None where no column is named."""
    if name is None:
        return None
    column = table.get_column(name)
    if not is_id and not is_number(column):
        raise DataError(f"column {name!r} is {column.dtype}; it must hold numbers")
    if column.null_count():
        row = int(column.is_null().to_numpy().argmax())
        raise DataError(f"column {name!r} is null in row {row}; fill it in or drop the row")
    if is_id:
        return column.to_list() if str(column.dtype).startswith("Categorical") else column.to_numpy()
    return as_floats(column)
