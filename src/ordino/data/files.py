"""Data sets from and to files; the ending (in reading also the first bytes) chooses the format.

The command line reads and writes with this; each format has its own module or library.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ordino.data.arrow import is_saved_dataset, open_dataset, save_dataset, written_whole
from ordino.data.dataset import Dataset
from ordino.data.frames import from_frame, to_frame
from ordino.errors import DataError, unknown_name

_FORMATS = {
    "letor": (".txt", ".letor", ".svm", ".svmlight", ".libsvm", ".dat", ".gz"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv"),
}
ENDINGS: Mapping[str, str] = MappingProxyType({end: form for form, ends in _FORMATS.items() for end in ends})
"""The format that an ending stands for; ``.gz`` may follow the endings of text."""

_MAGIC = {b"ARROW1": "arrow", b"PAR1": "parquet"}  # how these files start, whatever they are called
_ROLES = ("label", "qid", "doc_id", "weight")


def read_data(
    path: str | Path, *, label: str | None = None, qid: str | None = None, doc_id: str | None = None,
    weight: str | None = None, features: Sequence[str] | None = None, n_features: int | None = None,
    labelled: bool = True,
) -> Dataset:  # fmt: skip
    """Read a data set from LETOR text, a saved data set, an Arrow, Feather or Parquet table, or CSV.

    Parameters
    ----------
    path
        The file; "-" is standard input: LETOR text, or a Parquet, Arrow or CSV table, recognized by how it starts.
    label, qid, doc_id, weight
        Columns of a table; by default the columns called label and qid (which must exist) and doc_id and weight (if
        they exist).
    features
        Columns of a table that are features; all others by default.
    n_features
        The number of features of LETOR text, since a line does not mention trailing zeros.
    labelled
        Whether there must be labels; if not, a table without a label column has label 0 everywhere.
    """
    read = read_file(path, n_features=n_features)
    if isinstance(read, Dataset):
        return read
    named = {"label": label, "qid": qid, "doc_id": doc_id, "weight": weight}
    return table_data(read, str(path), features=features, labelled=labelled, **named)


def read_file(path: str | Path, *, n_features: int | None = None) -> Any:
    """What is in a file or in standard input ("-"): a :class:`Dataset`, or an Arrow table that may become one."""
    if str(path) == "-":
        source: Any = sys.stdin.buffer
        start = _start_of(source)
        first_line = start.partition(b"\n")[0].partition(b"#")[0]
        form = _named_by(start) or ("csv" if b"," in first_line else "letor")
    elif not Path(path).is_file():
        raise DataError(f"{path}: there is no such file")
    else:
        source = path
        with Path(path).open("rb") as file:
            form = _named_by(file.read(6)) or _format_of_ending(Path(path))
    if form == "letor":
        from ordino.data.letor import read_letor  # which loads numba: a table needs none of it

        return read_letor(source, n_features=n_features)
    if form == "arrow" and source is path and is_saved_dataset(path):
        return open_dataset(path)
    return _read_table(source, form, path)


def table_data(
    table: Any, source: str, *, features: Sequence[str] | None = None, labelled: bool = True, **named: str | None
) -> Dataset:
    """The data set of a table; columns as for :func:`read_data`, errors start with the source."""
    for role in _ROLES:
        if named.get(role) is None and role in table.column_names:
            named[role] = role
    for role in ("label", "qid") if labelled else ("qid",):
        if named.get(role) is None:
            raise DataError(f"{source}: there is no column {role!r}; name the column with {role}=")
    try:
        return from_frame(table, **named, features=features)
    except DataError as error:
        raise DataError(f"{source}: {error}") from None


def write_data(dataset: Dataset, path: str | Path) -> None:
    """Write a data set in the format that the ending of the path stands for.

    ``.arrow`` is a saved data set, which opens at once; ``.feather``, ``.ipc``, ``.parquet`` and ``.csv`` are tables
    with the columns qid, label, doc_id, weight and the features, in the caller's row order; "-" is LETOR text to
    standard output.
    """
    if str(path) == "-" or _format_of_ending(Path(path)) == "letor":
        from ordino.data.letor_write import write_letor

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
    path = Path(path)
    form = _format_of_ending(path)
    if form == "letor":
        raise DataError(f"{path}: a table is written as .csv, .tsv, .parquet, .feather or .arrow")
    with written_whole(path) as part:
        if form == "parquet":
            parquet.write_table(table, part)
        elif form == "arrow":
            feather.write_feather(table, str(part))
        else:
            compression = "gzip" if path.suffix.lower() == ".gz" else None
            with pa.output_stream(str(part), compression=compression) as sink:
                csv.write_csv(table, sink, csv.WriteOptions(delimiter=_delimiter(path)))


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
    last = path.suffix.lower()
    inner = Path(path.stem).suffix.lower()
    if last not in ENDINGS:
        raise DataError(f"{path}: {unknown_name('ending', last, ENDINGS)}")
    return ENDINGS[inner] if last == ".gz" and inner in ENDINGS else ENDINGS[last]


def _delimiter(path: str | Path) -> str:
    return "\t" if ".tsv" in (suffix.lower() for suffix in Path(path).suffixes) else ","


def _read_table(source: Any, form: str, path: str | Path) -> Any:
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    source = str(source) if source is path else pa.BufferReader(source.read())
    try:
        if form == "parquet":
            return parquet.ParquetFile(source).read()  # read_table() loads pandas
        if form == "arrow":
            return feather.read_table(source)
        return csv.read_csv(source, parse_options=csv.ParseOptions(delimiter=_delimiter(path)))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as {form} ({' '.join(str(error).split())})") from None
