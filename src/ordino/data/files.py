"""Data sets from and to files whose ending (or first bytes) chooses the format.

The command line reads and writes with this.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ordino.checks import check_choice
from ordino.data import compressed
from ordino.data.arrow import is_saved_dataset, open_dataset, save_dataset, written_whole
from ordino.data.csv_tables import read_csv
from ordino.data.dataframes import from_frame, to_frame
from ordino.data.dataset import Dataset
from ordino.errors import DataError, NoQueriesError, ParameterError, unknown_name

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
ROLES = ("label", "qid", "doc_id", "weight")
"""Columns of a table that are no features, unless they are asked for as such."""
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
    named: dict[str, Any] = {"label": label, "qid": qid, "doc_id": doc_id, "weight": weight}
    if isinstance(read, Dataset):
        refuse_roles(read, str(path), named)
        refuse_categories(read, str(path), categories)
        return chosen_features(read, str(path), features, drop)
    chosen: dict[str, Any] = {"features": features, "drop": drop, "categories": categories}
    return table_data(read, str(path), **chosen, labelled=labelled, one_list=one_list, **named)


def refuse_roles(data: Dataset, source: str, named: Mapping[str, str | None]) -> None:
    """Refuse to take a feature of what is not a table for labels, ids or weights, or weights that are not there."""
    for role in ROLES:
        column = named.get(role)
        if column in (data.feature_names or ()) or (role == "weight" and column and data.weights is None):
            fix = f"give a table (.csv, .parquet) with that column, or leave {role}= out"
            raise DataError(f"{source}: {column!r} cannot be made the {role} in this format; {fix}")


def refuse_categories(data: Dataset, source: str, categories: Sequence[str]) -> None:
    """Refuse to make categories of what is not a table, unless they are in it already."""
    for name in categories:
        if name not in data.categories:
            fix = "give a table (.csv, .parquet) with that column, or leave categories= out"
            raise DataError(f"{source}: {name!r} cannot be made categorical in this format; {fix}")


def chosen_features(data: Dataset, source: str, features: Sequence[str] | None, drop: Sequence[str]) -> Dataset:
    """The data with these features but those; numbers are those of the data. Errors start with the source."""
    if features is None and not drop:
        return data
    from ordino.data.prepare import drop_features, keep_features  # which load scikit-learn

    try:
        dropped = drop_features(data, drop) if drop else data
        return dropped if features is None else keep_features(data, _without(features, drop))
    except ParameterError as error:
        raise DataError(f"{source}: {error}") from None


def _without(names: Iterable[str], others: Iterable[str | None]) -> list[str]:
    """The names of features that are not among others, at least one."""
    if kept := [name for name in names if name not in set(others)]:
        return kept
    raise ParameterError("no feature would be left; drop fewer")


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
    for role in ROLES:
        if named.get(role) is None and role in table.column_names and role not in (*drop, *(features or ())):
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
            features = _without(features or table.column_names, others)
        for name in categories:
            check_choice("column", name, table.column_names)
        roles: dict[str, Any] = {"label": None, **named}
        return from_frame(table, **roles, features=features, categories=categories, has_text=has_text)
    except (DataError, ParameterError) as error:
        raise DataError(f"{source}: {error}") from None


def write_data(dataset: Dataset, path: str | Path) -> None:
    """Write a data set in the format that the ending of the path stands for; "-" is LETOR text to standard output.

    ``.arrow`` is a saved data set, which opens at once; ``.feather``, ``.ipc``, ``.parquet``, ``.csv`` and ``.jsonl``
    are tables as :func:`ordino.data.dataframes.to_frame` makes them.
    """
    _check_written(path)
    if str(path) == "-" or _format_of_ending(Path(path)) == "letor":
        from ordino.data.letor import write_letor

        write_letor(dataset, sys.stdout.buffer if str(path) == "-" else path)
    elif Path(path).suffix.lower() == ".arrow":
        save_dataset(dataset, path)
    else:
        for name in sorted({*ROLES} & {*(dataset.feature_names or ())}):
            raise DataError(f"{path}: the feature {name!r} would be read back as something else; rename it")
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
