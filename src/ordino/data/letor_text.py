"""LETOR / SVMlight text: the bytes of a file in blocks of whole lines, and the grammar of one line.

::

    line    = label [qid:ID] {number:value} [# comment]      tokens apart by spaces, tabs or carriage returns
    label   = a finite decimal                               -1, 2.5, +3e2
    ID      = any UTF-8 without blanks, control characters and #
    number  = 1, 2, 3 ... rising within the line
    value   = a decimal that float32 can hold, or nan or null for missing (in any case)
    comment = [docid (= or :) NAME] anything

Blank lines and lines that start with ``#`` are skipped. :func:`parse_line` reads any line slowly and plainly, and has
the sentence for whatever breaks the grammar; :mod:`ordino.data.letor_kernels` reads the usual lines faster.
"""

import math
import mmap
import os
import re
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.data.compressed import LONGEST, kind_of, read_plain
from ordino.errors import DataError, LetorFormatError, ParameterError

MAX_FEATURES = 1_000_000
"""The largest feature number without ``n_features``: X is dense, so a number beyond it is a mistake."""

_TOKEN = re.compile(rb"[^ \t\r]+")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MISSING = re.compile(rb"[+-]?nan|null", re.IGNORECASE)
_INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)
_DOC_ID = re.compile(rb"#[ \t\r]*docid[ \t\r]*[=:][ \t\r]*([^ \t\r]+)")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_SHAPE = "a line is: label qid:ID 1:value 2:value ... #docid = NAME"
_BLOCK = 4 << 20  # bytes that a thread takes at a time
_FEATURE = re.compile(rb"([ \t\r])([0-9]{1,18}):")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Content = bytes | bytearray | mmap.mmap
Span = tuple[int, int]
"""Where a token stands in its line: start and stop."""


class Text(NamedTuple):
    """One file's bytes, and where its blocks of whole lines start and stop."""

    name: str
    content: Content
    data: NDArray[np.uint8]  # the same as an array
    blocks: list[tuple[int, int]]

    def where(self, position: int) -> str:
        """``file:line`` of a position, for an error message."""
        pieces = (self.data[i : min(i + _BLOCK, position)] for i in range(0, position, _BLOCK))
        return f"{self.name}:{1 + sum(int(np.count_nonzero(piece == 10)) for piece in pieces)}"

    def release(self, start: int, stop: int) -> None:
        """Give back the memory of a mapped block; it comes back from the file if it is touched again."""
        if isinstance(self.content, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            first = start - start % mmap.PAGESIZE
            self.content.madvise(mmap.MADV_DONTNEED, first, stop - first)

    def line(self, start: int) -> bytes:
        """The rest of the line from a position on, without its newline."""
        stop = self.content.find(b"\n", start)
        return bytes(self.content[start : None if stop < 0 else stop])


def open_text(source: str | Path | BinaryIO, *, zero_based: bool = False) -> Text:
    """The bytes of a file (mapped where that can be) or of a stream, unzipped, without a byte order mark."""
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        try:
            with Path(source).open("rb") as file:
                content = _content(file, name)
        except OSError as error:
            raise DataError(f"{name}: the file cannot be read ({error.strerror or error}); check its path") from None
    else:
        name = str(getattr(source, "name", "<stream>"))
        content = _content(source, name)
    if zero_based:
        content = from_one(content)
    return Text(name, content, frozen(np.frombuffer(content, np.uint8)), _blocks(content))


def _content(file: BinaryIO, name: str) -> Content:
    with suppress(AttributeError, OSError, ValueError):  # a stream, a pipe or an empty file cannot be mapped
        if file.tell() == 0:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if kind_of(mapped[:LONGEST]) is None:
                return mapped
            mapped.close()
    start = file.read(LONGEST)
    if not isinstance(start, bytes):
        raise ParameterError(f"{name} is open as text; open it in binary mode, or pass its path")
    content = bytearray(start)
    while piece := file.read(1 << 20):
        content += piece
    return content if kind_of(start) is None else read_plain(BytesIO(content), start, name)


def from_one(content: Content) -> bytes:
    """The text with every feature number one higher, for files whose features count from 0."""
    lines = bytes(content).split(b"\n")
    for i, line in enumerate(lines):
        text, mark, comment = line.partition(b"#")
        lines[i] = _FEATURE.sub(lambda found: b"%s%d:" % (found[1], int(found[2]) + 1), text) + mark + comment
    return b"\n".join(lines)


def _blocks(content: Content) -> list[tuple[int, int]]:
    """Start and stop of pieces of the content that are whole lines."""
    start = len(_BYTE_ORDER_MARK) if content[:3] == _BYTE_ORDER_MARK else 0
    blocks = []
    while start < len(content):
        newline = content.find(b"\n", min(start + _BLOCK, len(content)) - 1)
        stop = len(content) if newline < 0 else newline + 1
        blocks.append((start, stop))
        start = stop
    return blocks or [(start, start)]


class Line(NamedTuple):
    """The parts of a line; ids are positions in it, because all ids of a file are decoded together."""

    label: float
    qid: Span | None
    numbers: list[int]
    values: list[float]
    doc_id: Span | None


def parse_line(line: bytes, where: str, *, n_features: int | None = None) -> Line:
    """Read one line that holds a document, or raise the sentence, after ``where``, that says what is wrong with it.

    The line has no newline, and its first character is the label's. ``n_features`` is the largest number allowed.

    Examples
    --------
    >>> parse_line(b"2 qid:10 1:0.5 3:NULL #docid = D7", "train.txt:1")
    Line(label=2.0, qid=(6, 8), numbers=[1, 3], values=[0.5, nan], doc_id=(31, 33))
    >>> parse_line(b"2 qid:10 18:1 17:1", "train.txt:1734")
    Traceback (most recent call last):
    ordino.errors.LetorFormatError: train.txt:1734: feature 17 comes after 18; features must rise within a line
    """
    text, _, _ = line.partition(b"#")
    tokens = _TOKEN.finditer(text)  # one by one: a bad line may be a whole file
    try:
        value = _label(next(tokens).group())
        qid = None
        numbers: list[int] = []
        values: list[float] = []
        for place, match in enumerate(tokens):
            token = match.group()
            if place == 0 and token.startswith(b"qid:"):
                if token == b"qid:":
                    raise ValueError("qid: has no id; write qid:ID without a blank")
                _check_name("qid", token[4:])
                qid = match.start() + 4, match.end()
                continue
            numbers.append(_number(token, numbers[-1] if numbers else 0, n_features))
            values.append(_value(numbers[-1], token.partition(b":")[2]))
        doc_id = _DOC_ID.match(line, len(text))
        if doc_id is not None:
            _check_name("docid", doc_id[1])
        return Line(value, qid, numbers, values, None if doc_id is None else doc_id.span(1))
    except ValueError as error:
        raise LetorFormatError(f"{where}: {error}") from None


def _label(token: bytes) -> float:
    if _DECIMAL.fullmatch(token) and math.isfinite(label := float(token)):
        return label
    if b":" in token:
        raise ValueError(f"there is no label before {_show(token)}; {_SHAPE}")
    if _DECIMAL.fullmatch(token) or _MISSING.fullmatch(token) or _INFINITE.fullmatch(token):
        raise ValueError(f"label {_show(token)} is not finite; give every document a finite label")
    raise ValueError(f"label {_show(token)} is not a number; {_SHAPE}")


def _number(token: bytes, last: int, n_features: int | None) -> int:
    digits, colon, _ = token.partition(b":")
    whole = _show(token)
    if digits == b"qid":
        raise ValueError(f"{whole} stands among the features; put one qid:ID right after the label")
    if not colon:
        raise ValueError(f"{whole} is not number:value; {_SHAPE}")
    if not digits:
        raise ValueError(f"{whole} has no feature number; write number:value without blanks")
    if not (digits.isdigit() and digits.isascii()):
        raise ValueError(f"{_show(digits)} in {whole} is not a feature number; features are numbered 1, 2, 3 ...")
    shown = digits.lstrip(b"0")[:20].decode() or "0"
    number = int(shown)
    if number == 0:
        raise ValueError(
            "feature 0 is not allowed because features count from 1; say zero_based=True if they count from 0"
        )
    if n_features is not None and number > n_features:
        raise ValueError(f"feature {shown} is past n_features={n_features}; raise n_features or leave the feature out")
    if number > MAX_FEATURES:
        what = f"feature {shown} is past {MAX_FEATURES}, which is too many for a dense matrix"
        raise ValueError(f"{what}; renumber the features")
    if number == last:
        raise ValueError(f"feature {number} is given twice; give each feature once in a line")
    if number < last:
        raise ValueError(f"feature {number} comes after {last}; features must rise within a line")
    return number


def _value(number: int, token: bytes) -> float:
    if _DECIMAL.fullmatch(token):
        value = float(token)
        with np.errstate(over="ignore"):
            if np.isinf(np.float32(value)):
                raise ValueError(f"feature {number} is {_show(token)}, which float32 cannot hold; rescale it")
        return value
    if _MISSING.fullmatch(token):
        return math.nan
    if not token:
        raise ValueError(f"feature {number} has no value; write {number}:0, or {number}:nan for missing")
    if _INFINITE.fullmatch(token):
        raise ValueError(f"feature {number} is {_show(token)}; rescale it, or write nan for missing")
    raise ValueError(f"feature {number} is {_show(token)}, which is not a number; write a decimal, or nan for missing")


def _check_name(kind: str, name: bytes) -> None:
    if _CONTROL.search(name):
        raise ValueError(f"{kind} {_show(name)} has a control character; the file may be damaged or not text")
    try:
        name.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{kind} {_show(name)} is not UTF-8; save the file as UTF-8") from None


def _show(token: bytes) -> str:
    """A token as an error message shows it: quoted, in ASCII, shortened if it is long."""
    return repr(token if len(token) <= 40 else token[:37] + b"...").removeprefix("b")
