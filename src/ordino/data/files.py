"""Data sets from and to tables: DataFrames in memory, and files whose ending (or first bytes) chooses the format.

A frame may be pandas', polars', Arrow's or any other that narwhals supports. Its columns become a float32 matrix one at
a time, so nothing is ever held twice in float64. The command line reads and writes with this.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ordino.arrays import name_features
from ordino.checks import check_choice
from ordino.data import compressed
from ordino.data.arrow import is_saved_dataset, open_dataset, save_dataset, written_whole
from ordino.data.csv_tables import read_csv
from ordino.data.dataset import Dataset
from ordino.data.frames import as_floats, as_table, encode, find_queries, is_number
from ordino.errors import DataError, NoQueriesError, ParameterError, import_extra, unknown_name

if TYPE_CHECKING:
    import narwhals as nw

BACKENDS = ("pandas", "polars", "pyarrow")
_FORMATS = {
    "letor": (".txt", ".letor", ".svm", ".svmlight", ".libsvm", ".dat", ".train", ".test", *compressed.ENDINGS),
    "arrow": (".arrow", ".feather", ".ipc"),
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv"),
    "json": (".jsonl", ".ndjson", ".json"),
}
ENDINGS: Mapping[str, str] = MappingProxyType({end: form for form, ends in _FORMATS.items() for end in ends})
"""The format that an ending stands for; ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` may follow those of text."""
COLUMNS = ("label", "qid", "doc_id", "weight", "features", "drop", "categories", "one_list", "zero_based")
"""How a file is to be read, for those who pass it on to :func:`read_data`."""
_MAGIC = {b"ARROW1": "arrow", b"PAR1": "parquet"}  # how these files start, whatever they are called


def read_data(
    path: str | Path, *, label: str | None = None, qid: str | None = None, doc_id: str | None = None,
    weight: str | None = None, features: Sequence[str] | None = None, drop: Sequence[str] = (),
    categories: Sequence[str] = (), n_features: int | None = None, labelled: bool = True, one_list: bool = False,
    zero_based: bool = False,
) -> Dataset:  # fmt: skip
    """Read a data set from LETOR text, a saved data set, an Arrow, Feather or Parquet table, CSV, or JSON lines.

    JSON may also be what a search engine answered with logged features: see :mod:`ordino.data.json_lines`. The path
    "-" is standard input, whose format is recognized by how it starts.

    Parameters
    ----------
    label, qid, doc_id, weight
        Columns of a table; by default those with these names (doc_id and weight need not exist).
    features
        Columns of a table that are features, all others by default; of other data, features by name or number.
    drop
        Columns of a table that are no features, or features to leave out, by name or number.
    categories
        Columns of a table that hold categories, as text or as codes; other columns of text are refused.
    n_features
        The number of features of LETOR text, since a line does not mention trailing zeros.
    labelled
        Whether there must be labels; if not, a table without a label column has label 0 everywhere.
    one_list
        Whether rows whose query nobody named are one list; by default they are refused.
    zero_based
        Whether the features of LETOR text count from 0.
    """
    text: dict[str, Any] = {"n_features": n_features, "one_list": one_list, "zero_based": zero_based}
    read = read_file(path, **text, qid=qid, doc_id=doc_id)
    if isinstance(read, Dataset):
        refuse_categories(read, str(path), categories)
        return chosen_features(read, str(path), features, drop)
    named: dict[str, Any] = {"label": label, "qid": qid, "doc_id": doc_id, "weight": weight}
    chosen: dict[str, Any] = {"features": features, "drop": drop, "categories": categories}
    return table_data(read, str(path), **chosen, labelled=labelled, one_list=one_list, **named)


def refuse_categories(data: Dataset, source: str, categories: Sequence[str]) -> None:
    """Refuse to make categories of what is not a table, unless they are in it already."""
    for name in categories:
        if name not in data.categories:
            fix = "give a table (.csv, .parquet) with that column, or leave categories= out"
            raise DataError(f"{source}: {name!r} cannot be made categorical in this format; {fix}")


def chosen_features(data: Dataset, source: str, features: Sequence[str] | None, drop: Sequence[str]) -> Dataset:
    """The data with these features but those; errors start with the source."""
    if features is None and not drop:
        return data
    from ordino.data.prepare import drop_features, keep_features  # which load scikit-learn

    try:
        kept = data if features is None else keep_features(data, features)
        return drop_features(kept, drop) if drop else kept
    except ParameterError as error:
        raise DataError(f"{source}: {error}") from None


def read_file(
    path: str | Path,
    *,
    n_features: int | None = None,
    one_list: bool = False,
    zero_based: bool = False,
    qid: str | None = None,
    doc_id: str | None = None,
) -> Any:
    """What is in a file or in standard input ("-"): a :class:`Dataset`, or an Arrow table that may become one.

    ``qid`` and ``doc_id`` name the columns of CSV that hold ids, if they have other names: ids are not guessed as
    numbers.
    """
    if str(path) == "-":
        source: Any = sys.stdin.buffer
        start = _start_of(source)
        first_line = start.partition(b"\n")[0].partition(b"#")[0]
        is_json = first_line.lstrip()[:1] in (b"{", b"[")
        form = _named_by(start) or ("json" if is_json else "csv" if b"," in first_line else "letor")
    elif Path(path).is_dir():
        raise DataError(f"{path}: this is a folder; name a file in it, or give the folder to `ordino bench`")
    elif not Path(path).is_file():
        raise DataError(f"{path}: there is no such file")
    else:
        source = path
        with Path(path).open("rb") as file:
            form = _named_by(file.read(6)) or _format_of_ending(Path(path))
    if form == "letor":
        from ordino.data.letor import read_letor  # which loads numba: a table needs none of it

        return read_letor(source, n_features=n_features, one_list=one_list, zero_based=zero_based)
    if form == "json":
        from ordino.data.json_lines import read_json

        return read_json(source, str(path))
    if form == "arrow" and source is path and is_saved_dataset(path):
        return open_dataset(path)
    return _read_table(source, form, path, qid=qid or "qid", doc_id=doc_id or "doc_id")


def table_data(
    table: Any, source: str, *, features: Sequence[str] | None = None, drop: Sequence[str] = (),
    categories: Sequence[str] = (), has_text: bool = False, labelled: bool = True, one_list: bool = False,
    **named: str | None,
) -> Dataset:  # fmt: skip
    """The data set of a table; columns as for :func:`read_data`, errors start with the source.

    With ``has_text``, every feature that is text is one of categories: whoever fitted the model knows it.
    """
    for role in ("label", "qid", "doc_id", "weight"):
        if named.get(role) is None and role in table.column_names:
            named[role] = role
    if "judged" in table.column_names and str(table.schema.field("judged").type) == "bool" and not features:
        named["judged"] = "judged"
    if labelled and named.get("label") is None:
        raise DataError(f"{source}: there is no column 'label'; name the column with label=")
    if named.get("qid") is None and not one_list:
        fix = "name the column with qid=, or say one_list=True if all rows really are one list"
        raise NoQueriesError(f"{source}: there is no column 'qid'; {fix}")
    if table.num_rows == 0:
        raise DataError(f"{source}: the file has no documents; check that it is complete")
    try:
        for name in drop:
            check_choice("column", name, table.column_names)
        if drop:
            others = {*drop, *named.values()}
            features = [name for name in features or table.column_names if name not in others]
        for name in categories:
            check_choice("column", name, table.column_names)
        roles: dict[str, Any] = {"label": None, **named}
        return from_frame(table, **roles, features=features, categories=categories, has_text=has_text)
    except (DataError, ParameterError) as error:
        raise DataError(f"{source}: {error}") from None


def write_data(dataset: Dataset, path: str | Path) -> None:
    """Write a data set in the format that the ending of the path stands for; "-" is LETOR text to standard output.

    ``.arrow`` is a saved data set, which opens at once; ``.feather``, ``.ipc``, ``.parquet``, ``.csv`` and ``.jsonl``
    are tables as :func:`to_frame` makes them.
    """
    _check_written(path)
    if str(path) == "-" or _format_of_ending(Path(path)) == "letor":
        from ordino.data.letor import write_letor

        write_letor(dataset, sys.stdout.buffer if str(path) == "-" else path)
    elif Path(path).suffix.lower() == ".arrow":
        save_dataset(dataset, path)
    else:
        write_table(to_frame(dataset, "pyarrow"), path)


def write_table(table: Any, path: str | Path) -> None:
    """Write an Arrow table in the format that the ending stands for; "-" is CSV to standard output."""
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    if str(path) == "-":
        csv.write_csv(table, sys.stdout.buffer)
        return
    _check_written(path)
    path, form = Path(path), _format_of_ending(Path(path))
    if form == "letor":
        raise DataError(f"{path}: this is not a table format; use .csv, .tsv, .jsonl, .parquet, .feather or .arrow")
    if form == "json":
        from ordino.data.json_lines import write_json

        write_json(table, path)
        return
    with written_whole(path) as part:
        if form == "parquet":
            parquet.write_table(table, part)
        elif form == "arrow":
            feather.write_feather(table, str(part))
        else:
            compression = "gzip" if path.suffix.lower() == ".gz" else None
            with pa.output_stream(str(part), compression=compression) as sink:
                csv.write_csv(table, sink, csv.WriteOptions(delimiter=_delimiter(path)))


def _check_written(path: str | Path) -> None:
    """Refuse endings of compressed text that is only read."""
    if (ending := Path(path).suffix.lower()) in compressed.ENDINGS and ending != ".gz":
        raise DataError(f"{path}: {ending} is read but not written; write .gz")


def _start_of(stream: Any) -> bytes:
    """The first bytes of a stream, which can still be read."""
    if not stream.seekable():  # a pipe
        return bytes(stream.peek(4096))
    start: bytes = stream.read(4096)
    stream.seek(0)
    return start


def _named_by(start: bytes) -> str | None:
    """The format that the first bytes of a file name, if they name one."""
    return next((form for magic, form in _MAGIC.items() if start.startswith(magic)), None)


def _format_of_ending(path: Path) -> str:
    last, inner = path.suffix.lower(), Path(path.stem).suffix.lower()
    if last not in ENDINGS:
        raise DataError(f"{path}: {unknown_name('extension', last, ENDINGS)}")
    return ENDINGS[inner] if last in compressed.ENDINGS and inner in ENDINGS else ENDINGS[last]


def _delimiter(path: str | Path) -> str:
    return "\t" if ".tsv" in (suffix.lower() for suffix in Path(path).suffixes) else ","


def _read_table(source: Any, form: str, path: str | Path, **ids: str) -> Any:
    import pyarrow as pa
    from pyarrow import feather, parquet

    source = _table_source(source, path) if source is path else pa.BufferReader(source.read())
    try:
        if form == "parquet":
            return parquet.ParquetFile(source).read()  # read_table() loads pandas
        if form == "arrow":
            return feather.read_table(source)
        return read_csv(source, _delimiter(path), **ids)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as {form} ({' '.join(str(error).split())})") from None


def _table_source(source: Any, path: str | Path) -> Any:
    """The path, or a compressed file's bytes."""
    import pyarrow as pa

    with Path(path).open("rb") as file:
        start = file.read(compressed.LONGEST)
        if compressed.kind_of(start) is None:
            return str(source)
        file.seek(0)
        return pa.BufferReader(compressed.read_plain(file, start, str(path)))


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
    if judged is None and features is None and str(table.schema.get("judged")) == "Boolean":
        judged = "judged"
    special = {"label": label, "qid": qid, "doc_id": doc_id, "weight": weight, "judged": judged}
    named = {role: column for role, column in special.items() if column is not None}
    for role, column in [*named.items(), *(("features", column) for column in features or ())]:
        if column not in table.columns:
            raise DataError(f"{role}={column!r}: {unknown_name('column', column, map(str, table.columns))}")
    others = [column for column in table.columns if column not in named.values()]
    qid = find_queries(map(str, others)) if qid is None and features is None else qid
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
        casts = [nw.col(name).cast(nw.String).cast(nw.Categorical) for name in categorical]
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
