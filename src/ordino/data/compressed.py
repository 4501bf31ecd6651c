"""Compressed text: gzip, bzip2, xz and Zstandard, told by how a file starts, whatever it is called."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO, cast

from ordino.errors import DataError

ENDINGS = (".gz", ".bz2", ".xz", ".zst")
"""How the names of compressed files end."""


def _zstandard(file: BinaryIO) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")


_OPENERS: Mapping[bytes, tuple[str, Callable[[BinaryIO], Any]]] = MappingProxyType(
    {
        b"\x1f\x8b": ("gzip", lambda file: gzip.GzipFile(fileobj=file)),
        **{b"BZh%d1AY&SY" % level: ("bzip2", bz2.BZ2File) for level in range(1, 10)},
        b"\xfd7zXZ\x00": ("xz", lzma.LZMAFile),
        b"\x28\xb5\x2f\xfd": ("Zstandard", _zstandard),
    }
)
LONGEST = max(map(len, _OPENERS))
"""How many bytes of a file tell."""


def kind_of(start: bytes) -> str | None:
    """What a file is compressed with, by its first bytes; None if it is not compressed."""
    return next((kind for magic, (kind, _) in _OPENERS.items() if start.startswith(magic)), None)


def plain(file: BinaryIO, start: bytes) -> BinaryIO:
    """A stream of the uncompressed bytes of a file, which stands at its beginning and starts like this."""
    for magic, (_, opened) in _OPENERS.items():
        if start.startswith(magic):
            return cast(BinaryIO, opened(file))
    return file


def read_plain(file: BinaryIO, start: bytes, name: str) -> bytes:
    """All uncompressed bytes; a damaged file is one sentence about ``name``."""
    try:
        return plain(file, start).read()
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        kind = kind_of(start)
        raise DataError(f"{name}: the {kind} file is damaged or truncated ({error}); download it again") from None
