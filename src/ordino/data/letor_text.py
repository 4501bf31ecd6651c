"""The bytes of LETOR text: a file mapped into memory, a gzip file or a stream, cut into blocks of whole lines."""

from __future__ import annotations

import gzip
import io
import mmap
import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.errors import DataError, ParameterError

_BLOCK = 4 << 20  # bytes that a thread takes at a time
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Text(NamedTuple):
    """One file's bytes, and where its blocks of whole lines start and stop."""

    name: str
    data: NDArray[np.uint8]
    mapped: mmap.mmap | None
    blocks: list[tuple[int, int]]

    def where(self, position: int) -> str:
        """``file:line`` of a position, for a sentence."""
        pieces = (self.data[i : min(i + _BLOCK, position)] for i in range(0, position, _BLOCK))
        return f"{self.name}:{1 + sum(int(np.count_nonzero(piece == 10)) for piece in pieces)}"

    def release(self, start: int, stop: int) -> None:
        """Give back the memory of a mapped block; it comes back from the file if it is touched again."""
        if self.mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            first = start - start % mmap.PAGESIZE
            self.mapped.madvise(mmap.MADV_DONTNEED, first, stop - first)


def open_text(source: str | Path | BinaryIO) -> Text:
    """The bytes of a file (mapped where that can be) or of a stream, unzipped, without a byte order mark."""
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        try:
            with Path(source).open("rb") as file:
                content, mapped = _content(file, name)
        except OSError as error:
            raise DataError(f"{name}: the file cannot be read ({error.strerror or error}); check its path") from None
    else:
        name = str(getattr(source, "name", "<stream>"))
        content, mapped = _content(source, name)
    data = np.frombuffer(content, np.uint8)
    data.flags.writeable = False
    return Text(name, data, mapped, _blocks(content))


def _content(file: BinaryIO, name: str) -> tuple[bytes | bytearray | mmap.mmap, mmap.mmap | None]:
    if _is_regular(file):
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if mapped[:2] != _GZIP:
            return mapped, mapped
        mapped.close()
    start = file.read(2)
    if not isinstance(start, bytes):
        raise ParameterError(f"{name} is open as text; open it in binary mode, or pass its path")
    content = bytearray(start)
    while piece := file.read(1 << 20):
        content += piece
    return (_unzip(content, name) if start == _GZIP else content), None


def _is_regular(file: BinaryIO) -> bool:
    """Whether it is a file on disk, not empty and read from its start, so that it can be mapped into memory."""
    try:
        status = os.fstat(file.fileno())
    except (AttributeError, OSError):  # io.BytesIO has no file number
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size > 0 and file.tell() == 0


def _unzip(content: bytearray, name: str) -> bytearray:
    """What a gzip file holds."""
    text = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            while piece := file.read(1 << 20):
                text += piece
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: the gzip file is damaged or cut short ({error}); fetch it again") from None
    return text


def _blocks(content: bytes | bytearray | mmap.mmap) -> list[tuple[int, int]]:
    """Where to cut the content so that every piece is whole lines."""
    start = len(_BYTE_ORDER_MARK) if content[:3] == _BYTE_ORDER_MARK else 0
    blocks = []
    while start < len(content):
        newline = content.find(b"\n", min(start + _BLOCK, len(content)) - 1)
        stop = len(content) if newline < 0 else newline + 1
        blocks.append((start, stop))
        start = stop
    return blocks or [(start, start)]
