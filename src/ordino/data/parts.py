"""A file that is too large for memory, read as several data sets of whole queries.

LETOR text is cut between two lines of different queries, Parquet between row groups; the rows of a query must stand
together. A folder gives its files one after another. Files of other formats are read at once.
"""

import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ordino.data import compressed
from ordino.data.dataset import Dataset
from ordino.data.files import ENDINGS, chosen_features, read_data, refuse_categories, refuse_roles, table_data
from ordino.errors import DataError

PART = 1 << 28  # bytes of text, or of rows in memory, that are read at a time


def read_parts(path: str | Path, *, size: int = PART, **columns: Any) -> Iterator[Dataset]:
    """Data sets of whole queries, as they follow each other in a file or in the files of a folder.

    ``columns`` are the arguments of :func:`~ordino.data.files.read_data`.
    """
    where = Path(path)
    if where.is_dir():
        files = sorted(one for one in where.iterdir() if ENDINGS.get(one.suffix.lower()))
        if not files:
            raise DataError(f"{where}: there are no data files in this folder; name a file, or another folder")
        texts = [file for file in files if _form(file) == "letor"]
        if texts and not columns.get("n_features"):  # as wide as the widest of them, not each by itself
            columns["n_features"] = max(map(_widest, texts)) + bool(columns.get("zero_based"))
        for file in files:
            yield from read_parts(file, size=size, **columns)
        return
    form = _form(where) if where.is_file() else None
    if form == "letor":
        yield from _letor_parts(where, size, columns)
    elif form == "parquet":
        yield from _parquet_parts(where, size, columns)
    else:
        yield read_data(path, **columns)


def _form(path: Path) -> str | None:
    """The format that the ending of a name stands for, behind which one of compressed text may follow."""
    last, inner = path.suffix.lower(), Path(path.stem).suffix.lower()
    return ENDINGS.get(inner if last in compressed.ENDINGS and inner in ENDINGS else last)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The uncompressed bytes of a file."""
    with path.open("rb") as file:
        start = file.read(compressed.LONGEST)
        file.seek(0)
        try:
            yield compressed.plain(file, start)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise DataError(f"{path}: the file is damaged or truncated ({error}); download it again") from None


def _letor_parts(path: Path, size: int, columns: dict[str, Any]) -> Iterator[Dataset]:
    from ordino.data.letor import read_letor

    wanted = {name: columns[name] for name in ("n_features", "one_list", "zero_based") if name in columns}
    n_features: int | None = wanted.pop("n_features", None) or _widest(path) + bool(wanted.get("zero_based"))
    chosen = columns.get("features"), columns.get("drop") or ()
    rest = b""
    with _opened(path) as file:
        if not any(map(_query_of, file)):  # no place to cut; sizes of queries may stand in a file beside it
            yield read_data(path, **columns)
            return
    with _opened(path) as file:
        while True:
            block = file.read(size)
            text = rest + block
            at_end = len(block) < size
            cut = len(text) if at_end else _last_change(text)
            rest = text[cut:]
            if cut:
                try:
                    part = read_letor(BytesIO(text[:cut]), n_features=n_features, **wanted)
                except DataError as error:
                    raise DataError(f"{path}, in a part of the file: {error}") from None
                refuse_roles(part, str(path), columns)
                refuse_categories(part, str(path), columns.get("categories") or ())
                yield chosen_features(part, str(path), *chosen)
            if at_end:
                return


def _widest(path: Path) -> int:
    """The largest feature number in a file, since a line does not mention trailing zeros."""
    widest = 0
    with _opened(path) as file:
        for line in file:
            words = line.partition(b"#")[0].split()
            if len(words) > 1:
                number = words[-1].partition(b":")[0]
                widest = max(widest, int(number) if number.isdigit() else 0)
    return widest


def _last_change(text: bytes) -> int:
    """Where the last query of the text begins, of which the rest may follow; 0 if it is the only one."""
    end = text.rfind(b"\n") + 1
    last = None
    while end > 0:
        start = text.rfind(b"\n", 0, end - 1) + 1
        query = _query_of(text[start:end])
        if query is not None:
            if last is not None and query != last:
                return end
            last = query
        end = start
    return 0


def _query_of(line: bytes) -> bytes | None:
    """The query of a line; None for a line without one, such as a comment."""
    words = line.partition(b"#")[0].split(None, 2)
    return words[1] if len(words) > 1 and words[1].startswith(b"qid:") else None


def _parquet_parts(path: Path, size: int, columns: dict[str, Any]) -> Iterator[Dataset]:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {name: value for name, value in columns.items() if name not in ("n_features", "zero_based")}  # of text
    column = columns.get("qid") or "qid"
    with parquet.ParquetFile(path) as file:
        if column not in file.schema_arrow.names:
            yield read_data(path, **columns)
            return
        rest: Any = None
        for number in range(file.num_row_groups):
            group = file.read_row_group(number)
            rest = group if rest is None else pa.concat_tables([rest, group])
            if rest.nbytes < size:
                continue
            queries = np.asarray(rest[column].to_pylist(), dtype=object)
            other = np.flatnonzero(queries != queries[-1])
            cut = int(other[-1]) + 1 if len(other) else 0
            if cut:
                yield table_data(rest.slice(0, cut), str(path), **columns)
                rest = rest.slice(cut)
        if rest is not None and len(rest):
            yield table_data(rest, str(path), **columns)
