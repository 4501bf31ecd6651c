"""JSON lines in and out: a document in each line, or what a search engine answered for a query.

A document is flat, ``{"qid": "q1", "doc_id": "d7", "label": 2, "bm25": 7.5}``, or has its features in an object of
their own, ``{"qid": "q1", "features": {"bm25": 7.5}}``. A feature that a line leaves out is missing. Answers of search
engines are described in :mod:`ordino.data.search_logs`. Files may be gzipped, or hold one JSON list instead of lines.
"""

import io
import json
import lzma
import math
import zlib
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ordino.data import compressed
from ordino.data.arrow import opened_whole
from ordino.data.search_logs import Row, answer_rows, is_answer
from ordino.errors import DataError

BLOCK = 20_000  # rows that are Python objects at a time


def read_json(source: str | Path | BinaryIO, name: str) -> Any:
    """An Arrow table with a row for each document; ``name`` is what errors call the source."""
    import pyarrow as pa

    rows = _rows(_values(source, name))
    blocks = []
    while block := list(islice(rows, BLOCK)):
        columns = dict.fromkeys(key for _, row in block for key in row)
        blocks.append(pa.table({key: _column(key, block) for key in columns}))
    if not blocks:
        raise DataError(f"{name}: the file has no documents; check that it is complete")
    try:
        return pa.concat_tables(blocks, promote_options="permissive").combine_chunks()
    except pa.ArrowException as error:
        raise DataError(f"{name}: a column changes its kind ({' '.join(str(error).split())}); write it alike") from None


def _column(key: str, block: list[tuple[str, Row]]) -> Any:
    """The values of a column as an Arrow array; where they are of different kinds, the error names the line."""
    import pyarrow as pa

    values = [row.get(key) for _, row in block]
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        first = next(value for value in values if value is not None)
        kinds = (int, float) if type(first) in (int, float) else (type(first),)
        odd = (i for i, value in enumerate(values) if value is not None and type(value) not in kinds)
        at = next(odd, 0)
        fix = "write numbers, or texts, in all lines"
        raise DataError(f"{block[at][0]}: {key!r} is {values[at]!r}, unlike the lines before; {fix}") from None


def _rows(values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Row]]:
    """Where each document stands, and its columns."""
    n_answers = 0
    for where, value in values:
        for one in value["responses"] if is_answer(value) and "responses" in value else [value]:
            if is_answer(one):
                n_answers += 1
                yield from ((where, _flat(row, where)) for row in answer_rows(one, n_answers, where))
            else:
                yield where, _flat(one, where)


def _flat(given: Any, where: str) -> Row:
    if not isinstance(given, dict):
        raise DataError(f"{where}: {str(given)[:40]!r} is not an object; write {{...}} with the document's columns")
    row: Row = given
    features = row.get("features")
    if isinstance(features, dict):
        row = {key: value for key, value in row.items() if key != "features"}
        if both := row.keys() & features.keys():
            raise DataError(f"{where}: {min(both)!r} is a column and a feature; rename one of them")
        row |= features
    for key, value in row.items():
        if isinstance(value, dict | list):
            raise DataError(f"{where}: {key!r} is {str(value)[:40]}, not a number or a text; leave it out")
    return row


def _values(source: str | Path | BinaryIO, name: str) -> Iterator[tuple[str, Any]]:
    """Every JSON value with where it stands, the items of a list one by one."""
    try:
        with Path(source).open("rb") if isinstance(source, str | Path) else nullcontext(source) as binary:
            file = _text(binary)
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    value = json.loads(line)
                except ValueError as error:
                    value = _whole(line + file.read(), f"{name}:{number}", error) if number == 1 else error
                if isinstance(value, ValueError):
                    raise DataError(f"{name}:{number}: this is not JSON ({value}); write one object per line")
                if isinstance(value, list):
                    yield from ((f"{name}, item {item}", one) for item, one in enumerate(value, 1))
                else:
                    yield f"{name}:{number}", value
    except (OSError, EOFError, UnicodeDecodeError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{name}: cannot be read ({error}); check that it is complete") from None


def _whole(text: str, where: str, of_line: ValueError) -> Any:
    """The one value of a file that is spread over lines."""
    try:
        return json.loads(text)
    except ValueError:
        raise DataError(f"{where}: this is not JSON ({of_line}); write one object per line") from None


def _text(file: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(compressed.plain(file, file.peek(compressed.LONGEST)), encoding="utf-8-sig")


def write_json(table: Any, path: str | Path) -> None:
    """Write an Arrow table, a line for each row, or as a list if the name ends in ``.json``.

    NaN and null become null, other numbers read back to themselves.
    """
    is_list = Path(str(path).lower().removesuffix(".gz")).suffix == ".json"
    before, after = (b"[\n", b"\n]\n") if is_list else (b"", b"\n")
    with opened_whole(path) as file:
        for batch in table.to_batches(max_chunksize=BLOCK):
            for row in zip(*map(_plain, batch.columns), strict=True):
                text = json.dumps(dict(zip(batch.schema.names, row, strict=True)), ensure_ascii=False, allow_nan=False)
                file.write(before + text.encode())
                before = b",\n" if is_list else b"\n"
        file.write(after)


def _plain(column: Any) -> list[Any]:
    """The values of a column as JSON has them; float32 with the fewest digits that read back to it."""
    values: list[Any] = column.to_pylist()
    if str(column.type) == "float":
        short = [None if value is None else float(str(np.float32(value))) for value in values]
        values = [
            few if few is None or np.float32(few) == value else value for few, value in zip(short, values, strict=True)
        ]
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values]
