"""A data set to LETOR text that reads back to the same data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import row_blocks
from ordino.data.arrow import opened_whole
from ordino.data.dataset import Dataset
from ordino.data.kernels import write_lines
from ordino.errors import DataError


def write_letor(dataset: Dataset, path: str | Path | BinaryIO, *, sparse: bool = False) -> None:
    """Write a data set as LETOR text, in the order in which the caller gave the rows.

    Numbers have the fewest decimals that read back to them, so that :func:`read_letor` gives the same data set again.
    What the text cannot store is lost: the names of features, and the difference between the id 7 and "7".

    Parameters
    ----------
    dataset
        What to write; weights are refused, because they would be lost.
    path
        The file, gzipped if its name ends in ``.gz``; an existing file is replaced only when all is written. Or a
        binary stream such as ``sys.stdout.buffer``.
    sparse
        Leave out features that are zero.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write_letor(Dataset([[0.5, 3.0], [0.0, 0.1]], [2, 0], qid=[10, 10], doc_ids=["D7", ""]), file)
    >>> print(file.getvalue().decode(), end="")
    2 qid:10 1:0.5 2:3 #docid = D7
    0 qid:10 1:0 2:0.1
    """
    if dataset.weights is not None:
        raise DataError("LETOR text cannot store weights; keep them with Dataset.save(), or leave them out")
    ids = _written_ids("query id", dataset.query_ids.tolist(), b" qid:", b"#")
    if len(set(ids)) < len(ids):
        raise DataError("two query ids are the same when written as text; rename one of them")
    doc_ids = [""] * dataset.n_docs if dataset.doc_ids is None else dataset.doc_ids.tolist()
    docs = _written_ids("doc id", doc_ids, b" #docid = ", b"")
    with opened_whole(path) as file:
        for piece in _pieces(dataset, ids, docs, sparse):
            file.write(piece)


def _written_ids(kind: str, ids: list[Any], before: bytes, refused: bytes) -> list[bytes]:
    """Ids as they are written in a line, which blanks and control characters cannot be."""
    written = []
    for name in ids:
        text = str(name).encode(errors="replace")
        is_encoded = text.decode() == str(name)  # half a surrogate pair is not
        if not is_encoded or min(text, default=33) <= 32 or 127 in text or any(byte in text for byte in refused):
            raise DataError(
                f"{kind} {name!r} cannot be written as LETOR text; take out blanks, control characters and #"
            )
        if not text and kind == "query id":
            raise DataError("a query id is empty, which LETOR text cannot store; rename it")
        written.append(before + text if text else b"")
    return written


def _pieces(dataset: Dataset, ids: list[bytes], docs: list[bytes], sparse: bool) -> Iterator[memoryview]:
    """The lines, some thousand at a time."""
    n_features = dataset.n_features
    value_room = len(str(n_features)) + 26  # blank, number, colon, and 24 for the longest value
    n_block = max(1, (1 << 23) // (value_room * max(n_features, 1)))
    caller_order = dataset.restore(np.arange(dataset.n_docs))
    query_number = dataset.query_number
    for block in row_blocks(dataset.n_docs, n_block):
        rows = caller_order[block]
        X = dataset.X[rows]
        labels = (repr(label).removesuffix(".0").encode() for label in dataset.y[rows].tolist())
        before = [label + ids[q] for label, q in zip(labels, query_number[rows].tolist(), strict=True)]
        after = [docs[row] + b"\n" for row in rows.tolist()]
        size = np.abs(X)
        is_rare = ~((size == 0) | ((size >= 1e-5) & (size < 1e15)))
        rare = [_rare_text(value) for value in X[is_rare]]
        room = sum(map(len, before)) + sum(map(len, after)) + X.size * value_room
        out = np.empty(room, np.uint8)
        used = write_lines(X, sparse, block.start == 0, *_joined(before), *_joined(after), *_joined(rare), is_rare, out)
        yield out[:used].data


def _joined(texts: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts one after another, and where each starts."""
    return np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)], dtype=np.int64)


def _rare_text(value: np.float32) -> bytes:
    """NaN, or a value so small or large that it needs an exponent, with as many digits as bring it back."""
    if np.isnan(value):
        return b"NaN"
    text = np.format_float_scientific(value, trim="-")
    # The shortest float32 text is not always enough for a reader that goes through a double.
    return (text if np.float32(float(text)) == value else f"{value:.9g}").encode()
