"""A data set on disk: one Arrow file that is mapped, not read.

The file (Arrow IPC, not compressed) has one row; each column of it is one whole array of the
:class:`~ordino.data.dataset.Dataset`, as a list. Opening maps the file and wraps the arrays where they lie. It reads
them once, to compare each with its checksum; without this check it costs the same whatever the size, and pages come
from disk when something looks at them. Strings of fixed width stay as numpy
keeps them (and are mapped too); arrays of Python objects become JSON text and are decoded.
"""

import gzip
import json
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ordino.data.columns import Groups, as_feature_names
from ordino.data.dataset import Dataset
from ordino.data.frames import check_codes
from ordino.errors import DataError

FORMAT, VERSION = "ordino.dataset", 2
_KEY = b"ordino"  # the schema metadata that makes an Arrow file ours: JSON
_FIXED = {"X": "<f4", "y": "<f8", "weights": "<f8", "offsets": "<i8", "order": "<i8", "judged": "|b1"}
_COLUMNS = ("X", "y", "offsets", "query_ids", "order", "doc_ids", "weights", "judged")


def save_dataset(dataset: Dataset, path: str | Path) -> None:
    """Write a data set, whose ids are numbers or strings, to one file that :func:`open_dataset` maps into memory.

    The file takes its place when it is complete, so a data set may be saved over the file that it was opened from.
    """
    import pyarrow as pa

    columns, dtypes, checksums = {}, {}, {}
    for name in _COLUMNS:
        if (array := getattr(dataset, name)) is not None:
            values, dtypes[name] = _to_arrow(name, np.ravel(array))
            columns[name] = pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)
            checksums[name] = _checksum(_from_arrow(name, columns[name], dtypes[name]))
    shape: dict[str, Any] = {"n_features": dataset.n_features, "feature_names": dataset.feature_names}
    shape |= {"categories": dict(dataset.categories)} if dataset.categories else {}
    header = {"format": FORMAT, "version": VERSION, **shape, "dtypes": dtypes, "checksums": checksums}
    header["checksum"] = _checksum_of_header(header)
    batch = pa.record_batch(columns).replace_schema_metadata({_KEY: json.dumps(header)})
    with written_whole(Path(path)) as part, pa.ipc.new_file(str(part), batch.schema) as writer:
        writer.write_batch(batch)


def open_dataset(path: str | Path, *, check: bool = True) -> Dataset:
    """Map a file that :func:`save_dataset` wrote into memory.

    Every array is compared with its checksum, which reads the file once; without ``check`` opening takes milliseconds,
    whatever the size.
    """
    import pyarrow as pa

    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: there is no such file; Dataset.save(path) writes one")
    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            header = _header(path, reader.schema.metadata)
            batch, dtypes = reader.get_batch(0), header["dtypes"]
            batch.validate()
            arrays = {name: _from_arrow(name, batch.column(name), dtypes[name]) for name in batch.schema.names}
        data = _assemble(arrays, header)
        if check and "checksums" in header:  # which files of the first format do not have
            _verify(arrays, header)
        return data
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        what = f"this is not a whole saved data set ({reason})"
        raise DataError(f"{path}: {what}; save it again from its source") from None


def is_saved_dataset(path: str | Path) -> bool:
    """Whether an Arrow file is a saved data set (and not a table)."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            return _KEY in (reader.schema.metadata or {})
    except (pa.ArrowException, OSError):
        return False


def _header(path: Path, metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    header = json.loads((metadata or {}).get(_KEY, b"null"))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise DataError(f"this Arrow file holds a table, not a saved data set; read it with read_data({str(path)!r})")
    if header["version"] > VERSION:
        raise DataError(f"saved by a newer Ordino (format {header['version']}, this one reads {VERSION}); upgrade")
    if header["version"] != 1 and "checksums" not in header:
        raise DataError("the header was changed after it was saved; save the data set again from its source")
    return header


def _verify(arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> None:
    """Refuse arrays that are not those that were saved."""
    if _checksum_of_header(header) != header.get("checksum"):
        raise DataError("the header was changed after it was saved; save the data set again from its source")
    changed = [name for name, array in arrays.items() if _checksum(array) != header["checksums"].get(name)]
    if changed or set(arrays) != set(header["checksums"]):
        what = ", ".join(changed) or "the list of arrays"
        raise DataError(f"{what} changed after it was saved; save the data set again from its source")


def _checksum(array: NDArray[Any]) -> int:
    """CRC-32 of the bytes, or of the JSON of Python objects: against accidents, not against forgers."""
    if array.dtype == object:
        return zlib.crc32(json.dumps(array.tolist()).encode())
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data)


def _checksum_of_header(header: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps({name: header[name] for name in header if name != "checksum"}).encode())


def _assemble(arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> Dataset:
    """Put the arrays together if they fit one another: what later code indexes with must be in bounds."""
    y, offsets, query_ids, order = arrays["y"], arrays["offsets"], arrays["query_ids"], arrays.get("order")
    n_docs = len(y)
    for name in ("doc_ids", "weights", "judged", "order"):
        if name in arrays and len(arrays[name]) != n_docs:
            raise DataError(f"{name} has {len(arrays[name])} entries for {n_docs} documents; save the data set again")
    if len(offsets) != len(query_ids) + 1 or offsets[0] != 0 or offsets[-1] != n_docs or (np.diff(offsets) < 0).any():
        raise DataError(f"the offsets do not cut {n_docs} documents into {len(query_ids)} queries; save it again")
    if query_ids.dtype.kind == "U" and query_ids.view(np.uint32).max(initial=0) > sys.maxunicode:
        raise DataError("query_ids has invalid characters; save the data set again")
    if order is not None and (
        order.min(initial=0) < 0 or order.max(initial=-1) >= n_docs or (np.bincount(order, minlength=n_docs) != 1).any()
    ):
        raise DataError("the order of the rows is not a permutation; save the data set again")
    n_features = header["n_features"]
    X, names = arrays["X"].reshape(n_docs, n_features), as_feature_names(header["feature_names"], n_features)
    categories = check_codes(X, names, header["categories"]) if "categories" in header else None
    optional = {name: arrays.get(name) for name in ("doc_ids", "weights", "judged")}
    return Dataset.of_groups(
        X, y, Groups(order, offsets, query_ids), feature_names=names, categories=categories, **optional
    )


def _to_arrow(name: str, array: NDArray[Any]) -> tuple[Any, str]:
    """Values of an array as Arrow sees them, with the dtype to give them back as ("json" for Python objects)."""
    import pyarrow as pa

    if array.dtype.kind not in "biufSU":
        plain = [value.item() if isinstance(value, np.generic) else value for value in array.astype(object)]
        for value in plain:
            if type(value) not in {str, int, float, bool, type(None)}:
                kind = type(value).__name__
                raise DataError(f"{name} has {value!r}, a {kind}; only numbers and strings can be saved as ids")
        return pa.array([json.dumps(value) for value in plain], pa.large_string()), "json"
    dtype = np.dtype(_FIXED.get(name, array.dtype)).newbyteorder("<")
    array = np.ascontiguousarray(array, dtype)
    if dtype.kind in "iuf" and dtype.itemsize <= 8:
        return pa.array(array), dtype.str
    cells = pa.binary(dtype.itemsize)
    return pa.FixedSizeBinaryArray.from_buffers(cells, len(array), [None, pa.py_buffer(array)]), dtype.str


def _from_arrow(name: str, column: Any, dtype: str) -> NDArray[Any]:
    """Wrap an array where it lies in the file."""
    values = column.values
    if values.null_count:
        raise DataError(f"{name} has nulls; save the data set again")
    if dtype == "json":
        values.validate(full=True)
        array = np.empty(len(values), object)
        array[:] = json.loads("[" + ",".join(values.to_pylist()) + "]")
        return array
    if not re.fullmatch(r"[<|][biufSU][1-9]\d*", dtype):
        raise DataError(f"{name} has the unknown type {dtype!r}; save the data set again")
    wanted = np.dtype(dtype)
    if _FIXED.get(name, dtype) != dtype or values.type.byte_width != wanted.itemsize:
        raise DataError(f"{name} is kept as {values.type} but must be {_FIXED.get(name, dtype)}; save it again")
    data = values.buffers()[1]
    return np.frombuffer(data, wanted, len(values), values.offset * wanted.itemsize) if data else np.zeros(0, wanted)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A place beside ``path`` to write to; it is moved there at the end, or nothing is left behind."""
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error}); choose another path") from None
    finally:
        with suppress(OSError):  # on a read-only disk even this is refused
            part.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file that takes its name only when it is complete: a full disk leaves what was there before."""
    with opened_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def opened_whole(path: str | Path | BinaryIO) -> Iterator[BinaryIO]:
    """A file to write that takes its name only when it is complete; gzipped if the name ends in ``.gz``.

    A stream, a pipe or a device has no other place and is written to as it is.
    """
    if not isinstance(path, str | os.PathLike):
        yield path
    elif Path(path).exists() and not Path(path).is_file():
        with Path(path).open("wb") as file:
            yield file
    else:
        with written_whole(Path(path)) as part, part.open("wb") as file:
            if Path(path).suffix.lower() == ".gz":
                with gzip.GzipFile("", "wb", fileobj=file, mtime=0, compresslevel=6) as zipped:
                    yield zipped  # type: ignore[misc]
            else:
                yield file
