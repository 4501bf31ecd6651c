"""LETOR / SVMlight text in and out: ``2 qid:10 1:0.5 2:0.25 #docid = GX008-86-4444840``.

Reading goes over the text twice, in blocks of whole lines that threads share: once to count documents and features,
once to fill arrays that then have their final size. The grammar is in :mod:`ordino.data.letor_text`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import row_blocks
from ordino.checks import check_int, renamed
from ordino.data.arrow import opened_whole
from ordino.data.columns import Groups, as_feature_names, group_rows
from ordino.data.dataset import Dataset
from ordino.data.kernels import write_lines
from ordino.data.letor_beside import read_sizes, single_words
from ordino.data.letor_kernels import count_lines, gather_tokens, read_lines
from ordino.data.letor_text import MAX_FEATURES, Text, open_text, parse_line
from ordino.data.memory import free_memory
from ordino.errors import DataError, LetorFormatError, NoQueriesError, ParameterError
from ordino.threads import Run, worker_threads

_USUAL_FEATURES = 10_000  # numbers up to here are looked up, not parsed
_PLAIN = re.compile(rb"0|-?[1-9][0-9]{0,18}")  # how Python prints an integer that may be of 64 bits
_LONG_NAME = 255  # names up to here become a numpy string array
_ROOM_FOR_NAMES = 1 << 26  # bytes up to which the room that one long name takes in all rows is not looked at


@renamed(threads="n_jobs")
def read_letor(
    *sources: str | Path | BinaryIO, n_features: int | None = None, feature_names: Sequence[str] | None = None,
    missing: float = 0.0, one_list: bool = False, zero_based: bool = False, n_jobs: int | None = None,
) -> Dataset:  # fmt: skip
    r"""Read LETOR / SVMlight text, plain or compressed (gzip, bzip2, xz, Zstandard), into a data set.

    The sources are files, or binary streams such as ``sys.stdin.buffer``; several are read as one, and the same query
    id in two of them is one query. Query ids are int64 if all are plain integers (no plus, no leading zero), otherwise
    strings. Text without any ``qid:`` takes the sizes of its queries from a file beside it, as LightGBM's
    ``train.txt.query`` and XGBoost's ``train.txt.group``, or else is refused unless it is said to be ``one_list``.
    Document ids come from comments that start with ``docid = NAME``; rows without one have ``""``. If no line has such
    a comment but all have one of a single word, as RankLib's ``# P12``, that is the id. A feature is
    ``float32(float(text))``, exactly. The
    first line that cannot be read is a :class:`~ordino.errors.LetorFormatError`.

    Parameters
    ----------
    n_features
        The number of columns of ``X``; by default the number of names, or else the largest feature number in the text.
    missing
        The value of a feature that a line leaves out; NaN if absence means missing rather than zero.
    one_list
        Whether lines without ``qid:`` are one list, whose documents all compete with each other.
    zero_based
        Whether features count from 0, as ``sklearn.datasets.dump_svmlight_file`` writes them: 0 is the first column.
    n_jobs
        Number of threads; None takes the free processors. It does not change the result.

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
    if n_features is not None or feature_names is not None:
        n_features = len(feature_names or ()) if n_features is None else n_features
        check_int("n_features", n_features, low=0, high=MAX_FEATURES)
    with np.errstate(over="ignore"):
        absent = np.float32(missing)
    if np.isinf(absent):
        raise ParameterError(f"missing={missing!r}, which float32 cannot hold; use a finite number or NaN")
    texts = [open_text(source, zero_based=zero_based) for source in sources]
    with worker_threads(n_jobs, sum(len(text.blocks) for text in texts)) as run:
        return _read(texts, n_features, feature_names, absent, one_list, run)


def _read(
    texts: list[Text], n_features: int | None, feature_names: Sequence[str] | None, absent: np.float32, one_list: bool,
    run: Run,
) -> Dataset:  # fmt: skip
    def over(kernel: Any, text: Text, start: int, stop: int, *arguments: Any) -> Any:
        found = kernel(text.data, start, stop, *arguments)
        text.release(start, stop)
        return found

    blocks = [(text, start, stop) for text in texts for start, stop in text.blocks]
    counts = run(lambda block: over(count_lines, *block), blocks)  # (n_rows, largest number, where) of each block
    row_at = np.cumsum([0] + [n for n, _, _ in counts])
    n_rows = int(row_at[-1])
    largest = max(number for _, number, _ in counts)
    width = min(largest, MAX_FEATURES) if n_features is None else n_features
    fits = (n_features is not None or largest <= MAX_FEATURES) and n_rows * width * 4 <= free_memory()
    stride = width if fits else 0  # a trial run finds the first bad line without room for all
    marks = np.zeros((n_rows, 6), np.int64)
    _, qid_number, qid_at, qid_length, doc_at, doc_length = marks.T  # ids are positions in their file
    y = np.zeros(n_rows)
    X = np.zeros(n_rows * stride or width, np.float32) if absent == 0 else np.full(n_rows * stride or width, absent)
    pieces = [(*block, row) for block, row in zip(blocks, row_at[:-1].tolist(), strict=True)]
    arrays = (X, stride, width, *_feature_heads(min(width, _USUAL_FEATURES)), y, marks)
    is_plain = all(run(lambda piece: over(read_lines, *piece, *arrays), pieces))
    bounds = pairwise(row_at[np.cumsum([0] + [len(text.blocks) for text in texts])].tolist())
    parts = [(text, *bound) for text, bound in zip(texts, bounds, strict=True)]
    for text, start, stop in parts:
        if start == stop:
            raise DataError(f"{text.name}: the file has no documents; check that it is complete")
    for part in parts:
        is_plain &= _finish(*part, X, stride, n_features, absent, y, marks)
    if not fits:
        text, position = next((b[0], c[2]) for b, c in zip(blocks, counts, strict=True) if c[1] == largest)
        what = f"feature {largest} makes a dense matrix of {n_rows} x {width}, more than the memory that is free"
        raise LetorFormatError(f"{text.where(position)}: {what}; renumber the features or set n_features")
    if width == 0 and n_features is None:
        raise DataError(f"{texts[0].name}: no line has a feature; a line is: label qid:ID 1:value 2:value ...")
    qid: NDArray[Any] | None = None
    if qid_length[0] > 0:
        qid = qid_number.copy() if is_plain else _names(parts, qid_at, qid_length)
    elif (sizes := read_sizes([(text.name, stop - start) for text, start, stop in parts])) is not None:
        qid = np.repeat(np.arange(len(sizes)), sizes)
    elif not one_list:
        raise NoQueriesError(
            f"{texts[0].name}: no line has a qid, but documents are compared only inside a query; "
            "write label qid:ID 1:value ..., put the sizes of the queries into a file "
            f"{Path(texts[0].name).name}.query, or say one_list=True if all lines really are one list"
        )
    doc_ids = _names(parts, doc_at, doc_length) if doc_length.any() else single_words(parts, marks[:, 0], qid)
    order, offsets, query_ids = group_rows(qid, n_rows)
    groups, names = Groups(None, offsets, query_ids), as_feature_names(feature_names, width)
    data = Dataset.of_groups(X.reshape(n_rows, width), y, groups, doc_ids=doc_ids, feature_names=names)
    return data if order is None else data.take_rows(order, Groups(order, offsets, query_ids))


def _feature_heads(n_features: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """For each feature ``f`` the text ``f:`` as a little-endian word, a mask of the bytes that count, its length."""
    texts = np.array([f"{f}:" for f in range(1, n_features + 1)], "S8")
    lengths = np.strings.str_len(texts).astype(np.int64)
    masks = np.uint64(2**64 - 1) >> (64 - 8 * lengths).astype(np.uint64)
    return texts.view("<u8").astype(np.uint64), masks, lengths


def _finish(
    text: Text, start: int, stop: int, X: NDArray[np.float32], stride: int, n_features: int | None, absent: np.float32,
    y: NDArray[np.float64], marks: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Read the lines that the kernel could not; tell whether all their query ids are plain integers."""
    line_at, qid_number, _, qid_length, _, _ = marks.T
    is_plain = True
    bad_row, error = stop, None
    for row in (start + np.flatnonzero(line_at[start:stop] < 0)).tolist():
        at = int(~line_at[row])
        line_bytes = text.line(at)
        try:
            line = parse_line(line_bytes, "", n_features=n_features)
        except LetorFormatError as reason:
            bad_row, error = row, LetorFormatError(f"{text.where(at)}{reason}")
            break
        y[row], line_at[row] = line.label, at
        if stride:
            features = X[row * stride : row * stride + stride]
            features[:] = absent
            features[np.array(line.numbers, np.intp) - 1] = line.values
        for span, column in ((line.qid, 2), (line.doc_id, 4)):
            marks[row, column : column + 2] = (0, 0) if span is None else (at + span[0], span[1] - span[0])
        if line.qid is not None:
            name = line_bytes[slice(*line.qid)]
            is_plain &= bool(_PLAIN.fullmatch(name)) and abs(int(name)) < 2**63
            qid_number[row] = int(name) if is_plain else 0
    has_qid = qid_length[start:bad_row] > 0
    mixed = np.flatnonzero(has_qid != (qid_length[0] > 0))
    if mixed.size:
        here, before = ("a qid", "none") if has_qid[mixed[0]] else ("no qid", "one")
        where = text.where(int(line_at[start + mixed[0]]))
        fix = "give every line a qid or none"
        raise LetorFormatError(f"{where}: the line has {here} but the lines before have {before}; {fix}")
    if error is not None:
        raise error
    for row in (start + np.flatnonzero(np.isnan(y[start:stop]))).tolist():
        y[row] = float(re.split(rb"[ \t\r#]", text.line(int(line_at[row])), maxsplit=1)[0])
    return is_plain


def _names(parts: list[tuple[Text, int, int]], at: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[Any]:
    """The tokens of all rows as strings: an array of numpy strings, or of Python's where one is very long."""
    longest = int(length.max())
    padded = 4 * longest * len(length)  # bytes of an array of numpy strings
    if longest > _LONG_NAME or padded > max(_ROOM_FOR_NAMES, 40 * int(length.sum())):
        names = np.empty(len(at), object)
        for text, start, stop in parts:
            for row in range(start, stop):
                names[row] = bytes(text.data[at[row] : at[row] + length[row]]).decode()
        return names
    table = np.zeros((len(at), longest), np.uint8)
    for text, start, stop in parts:
        gather_tokens(text.data, at[start:stop], length[start:stop], table[start:stop])
    encoded = table.view(f"S{longest}")[:, 0]
    return encoded.astype(f"U{longest}") if table.max() < 128 else np.strings.decode(encoded, "utf-8")


def write_letor(dataset: Dataset, path: str | Path | BinaryIO, *, sparse: bool = False) -> None:
    """Write a data set as LETOR text, in the order in which the caller gave the rows.

    Numbers have the fewest decimals that read back to them, so that :func:`read_letor` gives the same data set again.
    Feature names, and the difference between the ids 7 and "7", cannot be stored in the text and are lost.
    Weights are refused. ``path`` is a file, gzipped if its name ends in ``.gz`` and replaced only when all is written,
    or a binary stream such as ``sys.stdout.buffer``. ``sparse`` leaves out features that are zero.

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
    if dataset.categories:
        raise DataError("LETOR text cannot store categories; keep them with Dataset.save(), or write a table")
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
            fix = "take out blanks, control characters and #"
            raise DataError(f"{kind} {name!r} cannot be written as LETOR text; {fix}")
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
