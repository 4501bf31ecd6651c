"""The file itself: a safetensors container with our JSON and a checksum in its header, written whole or not at all."""

import json
import mmap
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.data.arrow import written_whole
from ordino.errors import ModelFileError
from ordino.model_file.foreign import refuse_foreign

FORMAT = "ordino model"
VERSION = 1
KEY = "ordino"  # of our JSON in the metadata of the container
KINDS: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        **{f"{kind}{8 * size}": np.dtype(f"<{kind.lower()}{size}") for kind in "IU" for size in (1, 2, 4, 8)},
        **{"F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "BOOL": np.dtype(bool)},
    }
)
"""Kinds of numbers that a model may have, by safetensors' names."""


class Contents(NamedTuple):
    """What a model file holds."""

    card: dict[str, Any]
    model: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write_file(path: Path, contents: Contents) -> None:
    """Write a temporary file, then move it into place, so that the file is never incomplete."""
    from safetensors.numpy import save

    header = {"format": FORMAT, "version": VERSION, "sha256": _checksum(contents)}
    header |= {"card": contents.card, "model": contents.model}
    # one entry, because safetensors writes several in any order
    content = save(contents.arrays, {KEY: json.dumps(header, allow_nan=False, ensure_ascii=False)})
    with written_whole(path) as part, part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read_file(path: Path, *, mapped: bool = False) -> Contents:
    """Read and check a whole model file; an error is one sentence.

    With ``mapped``, the arrays lie in the file, and processes that map the same file share its memory. Nobody may write
    to such a file while it is in use.
    """
    from safetensors import SafetensorError, safe_open

    if path.is_dir():
        raise ModelFileError(f"{path}: this is a folder; name a model file in it")
    if not path.is_file():
        raise ModelFileError(f"{path}: there is no such file")
    if not is_model_file(path):
        refuse_foreign(path)
        raise ModelFileError(f"{path}: this is not a model file; give one that ordino.save or ordino train wrote")
    try:
        with safe_open(str(path), framework="numpy") as file:
            header = _header(path, file.metadata())
            names = list(file.keys())
            if any(file.get_slice(name).get_dtype() not in KINDS for name in names):
                raise ModelFileError(f"{path}: it has an array of a type that no model has; get the file again")
            arrays = _mapped_arrays(path) if mapped else {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError) as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{path}: the file is damaged or truncated ({reason}); get it again") from None
    contents = Contents(header["card"], header["model"], arrays)
    if _checksum(contents) != header.get("sha256"):
        raise ModelFileError(f"{path}: the checksum does not match, so the file was changed; get it again")
    return contents


def _mapped_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file that safetensors has checked, as parts of the mapped file; what is written stays here."""
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    start = 8 + int.from_bytes(content[:8], "little")
    entries = {name: entry for name, entry in json.loads(content[8:start]).items() if name != "__metadata__"}
    arrays: dict[str, NDArray[Any]] = {}
    for name, entry in entries.items():
        kind, shape = KINDS[entry["dtype"]], tuple(entry["shape"])
        count, first = int(np.prod(shape, dtype=np.int64)), start + entry["data_offsets"][0]
        arrays[name] = np.frombuffer(content, kind, count, first).reshape(shape) if count else np.zeros(shape, kind)
    return arrays


def is_model_file(path: str | Path) -> bool:
    """Whether a file is called .ordino or starts like a model file (a length of 8 bytes, then JSON).

    It may still be damaged.
    """
    if Path(path).suffix.lower() == ".ordino":
        return True
    try:
        with Path(path).open("rb") as file:
            start = file.read(9)
    except OSError:
        return False
    # the length of a header is far below 2**32, while text makes all eight bytes large
    return len(start) == 9 and start[4:8] == b"\0\0\0\0" and start[8:] == b"{"


def _header(path: Path, metadata: Mapping[str, str] | None) -> dict[str, Any]:
    if metadata is None or KEY not in metadata:
        raise ModelFileError(f"{path}: this is a safetensors file but not an Ordino model; give a model file")
    try:
        header = json.loads(metadata[KEY])
    except (ValueError, RecursionError):
        raise ModelFileError(f"{path}: the JSON in it cannot be read; get the file again") from None
    version = header.get("version") if isinstance(header, dict) and header.get("format") == FORMAT else None
    if isinstance(version, int) and version > VERSION:
        raise ModelFileError(
            f"{path}: a newer Ordino wrote this (format {version}, this one reads {VERSION}); upgrade ordino"
        )
    if version != VERSION or not all(isinstance(header.get(part), dict) for part in ("card", "model")):
        raise ModelFileError(f"{path}: the header is not that of a model file; get the file again")
    return dict(header)


def _checksum(contents: Contents) -> str:
    digest = sha256(json.dumps(contents[:2], ensure_ascii=False).encode(errors="surrogatepass"))
    for name in sorted(contents.arrays):
        array = contents.arrays[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
