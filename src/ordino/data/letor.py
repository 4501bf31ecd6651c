"""LETOR / SVMlight text in and out: ``2 qid:10 1:0.5 2:0.25 #docid = GX008-86-4444840``.

Reading goes over the text twice, in blocks of whole lines that threads share: once to count documents and features,
once to fill arrays that then have their final size. The grammar is in :mod:`ordino.data.letor_text`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int, renamed
from ordino.data.columns import Groups, as_feature_names, group_rows
from ordino.data.dataset import Dataset
from ordino.data.letor_kernels import count_lines, gather_tokens, read_lines
from ordino.data.letor_text import MAX_FEATURES, Text, open_text, parse_line
from ordino.data.letor_write import write_letor
from ordino.errors import DataError, LetorFormatError, ParameterError
from ordino.threads import Run, worker_threads

__all__ = ["read_letor", "write_letor"]

_USUAL_FEATURES = 10_000  # numbers up to here are looked up, not parsed
_PLAIN = re.compile(rb"0|-?[1-9][0-9]{0,18}")  # how Python prints an integer that may be of 64 bits
_LONG_NAME = 255  # names up to here become a numpy string array


class _Rows(NamedTuple):
    """The contents of the lines, one entry for each document; ids are positions in their file."""

    y: NDArray[np.float64]
    marks: NDArray[np.int64]  # (n_rows, 6): what follows, as one table
    line_at: NDArray[np.int64]
    qid: NDArray[np.int64]
    qid_at: NDArray[np.int64]
    qid_length: NDArray[np.int64]
    doc_at: NDArray[np.int64]
    doc_length: NDArray[np.int64]


@renamed(threads="n_jobs")
def read_letor(
    *sources: str | Path | BinaryIO,
    n_features: int | None = None,
    feature_names: Sequence[str] | None = None,
    missing: float = 0.0,
    n_jobs: int | None = None,
) -> Dataset:
    r"""Read LETOR / SVMlight text, plain or gzipped, into a data set.

    Parameters
    ----------
    sources
        Files, or binary streams such as ``sys.stdin.buffer``; several are read as if they were one. A query id that
        is in two of them is one query.
    n_features
        The number of columns of ``X``; by default the number of names, or else the largest feature number in the text.
    feature_names
        Names of the features 1, 2, 3 ...
    missing
        The value of a feature that a line leaves out; NaN if absence means missing rather than zero.
    n_jobs
        The number of threads; None is one for each processor. The result does not depend on it.

    Returns
    -------
    Dataset
        Query ids are int64 if every one is a plain integer (no plus, no leading zero), strings otherwise. Without any
        ``qid:`` all rows are one query. There are document ids if a comment starts with ``docid = NAME``, and rows
        without one have ``""``. A feature is ``float32(float(text))``, exactly.

    Raises
    ------
    LetorFormatError
        For the first line that cannot be read.
    DataError
        If a file does not exist, is damaged, or holds no document.

    Examples
    --------
    >>> import io
    >>> text = b"2 qid:10 1:0.5 3:0.25 #docid = D7\n0 qid:10 2:1e-1\n"
    >>> data = read_letor(io.BytesIO(text))
    >>> data
    Dataset(2 documents, 1 query, 3 features)
    >>> data.X[0].tolist(), data.y.tolist(), data.query_ids.tolist(), data.doc_ids.tolist()
    ([0.5, 0.0, 0.25], [2.0, 0.0], [10], ['D7', ''])
    """
    if not sources:
        raise ParameterError("read_letor() was given nothing to read; give one or more files")
    if n_features is None and feature_names is not None:
        n_features = len(feature_names)
    if n_features is not None:
        check_int("n_features", n_features, low=0, high=MAX_FEATURES)
    with np.errstate(over="ignore"):
        absent = np.float32(missing)
    if np.isinf(absent):
        raise ParameterError(f"missing={missing!r}, which float32 cannot hold; use a finite number or NaN")
    texts = [open_text(source) for source in sources]
    with worker_threads(n_jobs, sum(len(text.blocks) for text in texts)) as run:
        return _read(texts, n_features, feature_names, absent, run)


def _read(
    texts: list[Text], n_features: int | None, feature_names: Sequence[str] | None, absent: np.float32, run: Run
) -> Dataset:
    def count(block: tuple[Text, int, int]) -> tuple[int, int, int]:
        text, start, stop = block
        counts: tuple[int, int, int] = count_lines(text.data, start, stop)
        text.release(start, stop)
        return counts

    blocks = [(text, start, stop) for text in texts for start, stop in text.blocks]
    counts = run(count, blocks)  # (n_rows, largest number, where) of each block
    row_at = np.cumsum([0] + [n for n, _, _ in counts])
    n_rows = int(row_at[-1])
    largest = max(number for _, number, _ in counts)
    width = min(largest, MAX_FEATURES) if n_features is None else n_features
    fits = (n_features is not None or largest <= MAX_FEATURES) and n_rows * width * 4 <= _machine_memory()
    stride = width if fits else 0  # a trial run finds the first bad line without room for all
    marks = np.zeros((n_rows, 6), np.int64)
    rows = _Rows(np.zeros(n_rows), marks, *marks.T)
    X = np.zeros(n_rows * stride or width, np.float32) if absent == 0 else np.full(n_rows * stride or width, absent)
    heads = _feature_heads(min(width, _USUAL_FEATURES))

    def fill(block: tuple[Text, int, int], row: int) -> bool:
        text, start, stop = block
        plain = read_lines(text.data, start, stop, row, X, stride, width, *heads, rows.y, rows.marks)
        text.release(start, stop)
        return bool(plain)

    is_plain = all(run(lambda piece: fill(*piece), list(zip(blocks, row_at[:-1].tolist(), strict=True))))
    bounds = list(pairwise(row_at[np.cumsum([0] + [len(text.blocks) for text in texts])].tolist()))
    for text, (start, stop) in zip(texts, bounds, strict=True):
        if start == stop:
            raise DataError(f"{text.name}: there is no document in it; check that it was written to the end")
    for text, (start, stop) in zip(texts, bounds, strict=True):
        is_plain &= _finish(text, start, stop, X, stride, n_features, absent, rows)
    if not fits:
        text, position = next((b[0], c[2]) for b, c in zip(blocks, counts, strict=True) if c[1] == largest)
        raise LetorFormatError(
            f"{text.where(position)}: feature {largest} makes a dense matrix of {n_rows} x {width}, more than this "
            "machine's memory; renumber the features or set n_features"
        )
    if width == 0 and n_features is None:
        raise DataError(f"{texts[0].name}: no line has a feature; a line is: label qid:ID 1:value 2:value ...")
    qid: NDArray[Any] | None = None
    if rows.qid_length[0] > 0:
        qid = rows.qid.copy() if is_plain else _names(texts, bounds, rows.qid_at, rows.qid_length)
    doc_ids = _names(texts, bounds, rows.doc_at, rows.doc_length) if rows.doc_length.any() else None
    order, offsets, query_ids = group_rows(qid, n_rows)
    data = Dataset.of_groups(
        X.reshape(n_rows, width), rows.y, Groups(None, offsets, query_ids), doc_ids=doc_ids,
        feature_names=as_feature_names(feature_names, width),
    )  # fmt: skip
    return data if order is None else data.take_rows(order, Groups(order, offsets, query_ids))


def _feature_heads(n_features: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """For each feature ``f`` the text ``f:`` as a little-endian word, a mask of the bytes that count, its length."""
    texts = np.array([f"{f}:" for f in range(1, n_features + 1)], "S8")
    lengths = np.strings.str_len(texts).astype(np.int64)
    masks = np.uint64(2**64 - 1) >> (64 - 8 * lengths).astype(np.uint64)
    return texts.view("<u8").astype(np.uint64), masks, lengths


def _finish(
    text: Text, start: int, stop: int, X: NDArray[np.float32], stride: int, n_features: int | None, absent: np.float32,
    rows: _Rows,
) -> bool:  # fmt: skip
    """Read the lines that the kernel could not; tell whether all their query ids are plain integers."""
    is_plain = True
    bad_row, error = stop, None
    for row in (start + np.flatnonzero(rows.line_at[start:stop] < 0)).tolist():
        at = int(~rows.line_at[row])
        line_bytes = text.line(at)
        try:
            line = parse_line(line_bytes, "", n_features=n_features)
        except LetorFormatError as reason:
            bad_row, error = row, LetorFormatError(f"{text.where(at)}{reason}")
            break
        rows.y[row], rows.line_at[row] = line.label, at
        if stride:
            features = X[row * stride : row * stride + stride]
            features[:] = absent
            features[np.array(line.numbers, np.intp) - 1] = line.values
        for span, token_at, length in (
            (line.qid, rows.qid_at, rows.qid_length),
            (line.doc_id, rows.doc_at, rows.doc_length),
        ):
            token_at[row], length[row] = (0, 0) if span is None else (at + span[0], span[1] - span[0])
        if line.qid is not None:
            name = line_bytes[slice(*line.qid)]
            is_plain &= bool(_PLAIN.fullmatch(name)) and abs(int(name)) < 2**63
            rows.qid[row] = int(name) if is_plain else 0
    has_qid = rows.qid_length[start:bad_row] > 0
    mixed = np.flatnonzero(has_qid != (rows.qid_length[0] > 0))
    if mixed.size:
        here, before = ("a qid", "none") if has_qid[mixed[0]] else ("no qid", "one")
        where = text.where(int(rows.line_at[start + mixed[0]]))
        raise LetorFormatError(
            f"{where}: the line has {here} but the lines before have {before}; give every line a qid or none"
        )
    if error is not None:
        raise error
    for row in (start + np.flatnonzero(np.isnan(rows.y[start:stop]))).tolist():
        rows.y[row] = float(re.split(rb"[ \t\r#]", text.line(int(rows.line_at[row])), maxsplit=1)[0])
    return is_plain


def _names(
    texts: list[Text], bounds: list[tuple[int, int]], at: NDArray[np.int64], length: NDArray[np.int64]
) -> NDArray[Any]:
    """The tokens of all rows as strings: an array of numpy strings, or of Python's where one is very long."""
    longest = int(length.max())
    if longest > _LONG_NAME:
        names = np.empty(len(at), object)
        for text, (start, stop) in zip(texts, bounds, strict=True):
            for row in range(start, stop):
                names[row] = bytes(text.data[at[row] : at[row] + length[row]]).decode()
        return names
    table = np.zeros((len(at), longest), np.uint8)
    for text, (start, stop) in zip(texts, bounds, strict=True):
        gather_tokens(text.data, at[start:stop], length[start:stop], table[start:stop])
    encoded = table.view(f"S{longest}")[:, 0]
    return encoded.astype(f"U{longest}") if table.max() < 128 else np.strings.decode(encoded, "utf-8")


def _machine_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 40
