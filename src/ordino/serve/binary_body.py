"""Bodies in Arrow, npy and MessagePack; what a body declares is compared with what it has before anything is made."""

import re
import struct
from typing import Any, NamedTuple

import msgpack
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ordino.serve.documents import (
    Asked,
    Documents,
    check_ids,
    check_rows,
    column_order,
    in_model_order,
    refuse,
    value_of,
)
from ordino.serve.json_body import from_object
from ordino.serve.model import Model
from ordino.serve.settings import Limits

Body = bytes | bytearray
IDS = ("id", "doc_id")
SCHEMAS = 8  # that are kept for each model
HEADER = 10_000  # bytes of the text that describes an npy array
NPY_HEADER = re.compile(
    rb"\{'descr': '([<>]f[248]|[<>|][iu][1248])', 'fortran_order': (True|False), "
    rb"'shape': \((\d{1,12}), (\d{1,12})\), ?\}\s*"
)
ROW_BYTES = "<f4"  # of rows in MessagePack that are bytes


def read_npy(body: Body, model: Model, limits: Limits, top: int | None, explain: bool) -> Asked:
    """A matrix with one row for each document, in the order of the model's features."""
    X = npy_matrix(body)
    check_rows(len(X), limits)
    check_width(X, model)
    return Asked(Documents(X, range(len(X))), top, explain)


def npy_matrix(body: Body) -> NDArray[Any]:
    """The matrix in an npy file, without a copy; objects and sizes that are not there are refused."""
    begin = {b"\x93NUMPY\x01\x00": 10, b"\x93NUMPY\x02\x00": 12}.get(bytes(body[:8]), 0)
    start = begin + int.from_bytes(body[8:begin], "little")
    if not 8 < begin < start <= min(len(body), HEADER):
        raise refuse("the body is not an npy array of version 1 or 2; write it with numpy.save")
    found = NPY_HEADER.fullmatch(body, begin, start)  # numpy's own reader would run a tokenizer over it
    if found is None:
        text = bytes(body[begin : begin + 150]).decode("latin-1").strip()
        raise refuse(f"the npy array is {text!r}; give a matrix of numbers")
    kind, is_fortran, rows, columns = (part.decode() for part in found.groups())
    return matrix_at(body, start, (int(rows), int(columns)), np.dtype(kind), "F" if is_fortran == "True" else "C")


def matrix_at(body: Body, start: int, shape: tuple[int, ...], kind: np.dtype[Any], order: Any = "C") -> NDArray[Any]:
    """The bytes from a position to the end as a matrix that has exactly their size."""
    size = shape[0] * shape[1] * kind.itemsize
    if min(shape) < 0 or size != len(body) - start:
        raise refuse(f"{shape[0]} x {shape[1]} values of {kind} are {size} bytes but there are {len(body) - start}")
    return np.frombuffer(body, kind, offset=start).reshape(shape, order=order)


def check_width(X: NDArray[Any], model: Model) -> None:
    """Refuse rows that have another number of values than the model has features."""
    if X.shape[1] != model.n_features:
        raise refuse(f"the rows have {X.shape[1]} values but model {model.name!r} has {model.n_features} features")
    if model.categories:
        raise refuse(f"feature {next(iter(model.categories))!r} is categorical; send JSON or Arrow")


def read_msgpack(body: Body, model: Model, limits: Limits, top: int | None, explain: bool) -> Asked:
    """The objects of JSON in MessagePack; ``rows`` may also be the bytes of float32 numbers, row by row."""
    longest = max(limits.rows, model.n_features) + 1
    try:
        value = msgpack.unpackb(
            body, raw=False, strict_map_key=True, max_array_len=longest, max_map_len=longest, max_ext_len=0
        )
    except (ValueError, TypeError, RecursionError, MemoryError, OverflowError) as error:
        # its exceptions are ValueErrors, one of which says by its name alone what is wrong
        reason = " ".join(str(error).split())[:150] or type(error).__name__
        raise refuse(f"the body is not MessagePack that this server reads: {reason}") from None
    if isinstance(value, dict) and isinstance(rows := value.get("rows"), bytes):
        features = value.get("features")
        order = column_order(features, model)
        width = model.n_features if features is None else len(features)
        if width == 0 or len(rows) % (4 * width):
            raise refuse(f"rows has {len(rows):,} bytes, which are no rows of {width} float32 numbers")
        X = in_model_order(np.frombuffer(rows, ROW_BYTES).reshape(-1, width), order)
        check_rows(len(X), limits)
        check_width(X, model)
        rest = {name: given for name, given in value.items() if name != "ids"}
        found = from_object({**rest, "rows": []}, model, limits, top, explain)
        return Asked(Documents(X, check_ids(value.get("ids"), len(X))), found.top, found.explain)
    return from_object(value, model, limits, top, explain)


def read_arrow(body: Body, model: Model, limits: Limits, top: int | None, explain: bool) -> Asked:
    """An Arrow stream with a column for each feature, and a column ``id`` or ``doc_id`` if there are ids."""
    layout, batches = _arrow_batches(body, model, limits)
    n = sum(map(len, batches))
    parts = [_matrix(batch, layout, model) for batch in batches] or [np.zeros((0, len(layout.features)), np.float32)]
    X = parts[0] if len(parts) == 1 else np.concatenate(parts)
    ids: Any = range(n)
    if layout.ids is not None:
        ids = [value for batch in batches for value in batch.column(layout.ids).to_pylist()]
        if not all(type(one) in (str, int) for one in ids):
            raise refuse("the column of ids must hold texts or whole numbers, and no null")
    return Asked(Documents(in_model_order(X, layout.order), ids), top, explain)


class Layout(NamedTuple):
    """What a schema says: the columns of features, their order, and the column of ids, if there is one.

    It is plain if all features are float32 or all are float64, which pyarrow makes a matrix of by itself.
    """

    schema: Any
    features: list[tuple[int, str]]
    order: list[int] | None
    ids: int | None
    is_plain: bool


def _arrow_batches(body: Body, model: Model, limits: Limits) -> tuple[Layout, list[Any]]:
    """The columns and the record batches of a stream, none of them compressed or longer than allowed."""
    try:
        messages = pa.ipc.MessageReader.open_stream(pa.py_buffer(body))
        first = messages.read_next_message()
        if first.type != "schema":
            raise refuse("the body is not an Arrow stream; write it with pyarrow.ipc.new_stream")
        layout = _layout(first, model)
        batches, n = [], 0
        for message in messages:
            if message.type != "record batch":
                raise refuse("the Arrow stream has dictionaries; send plain columns")
            length, is_compressed = _described(message.metadata.to_pybytes())
            if is_compressed:
                raise refuse("the Arrow stream is compressed; write it without compression")
            check_rows(n + max(length, 0), limits)
            batch = pa.ipc.read_record_batch(message, layout.schema)
            batch.validate(full=True)
            batches.append(batch)
            n += len(batch)
            check_rows(n, limits)
    except (
        pa.ArrowException,
        StopIteration,
        EOFError,
        OSError,
        ValueError,
        KeyError,
        struct.error,
        IndexError,
    ) as error:
        reason = " ".join(str(error).split())[:150] or "it ends too early"
        raise refuse(f"the body is not an Arrow stream that can be read: {reason}") from None
    return layout, batches


def _layout(message: Any, model: Model) -> Layout:
    """The columns of a stream; clients send the same schema again and again, so the last ones are kept."""
    key = message.metadata.to_pybytes()
    if key not in model.schemas:
        schema = pa.ipc.read_schema(message)
        _check_schema(schema, model)
        names = schema.names
        ids = next((j for j, name in enumerate(names) if name in IDS and name not in model.positions), None)
        features = [(j, name) for j, name in enumerate(names) if j != ids]
        if len(model.schemas) >= SCHEMAS:
            model.schemas.clear()
        order = column_order([name for _, name in features], model)
        kinds = {schema.types[j] for j, _ in features}
        is_plain = not model.categories and (kinds == {pa.float32()} or kinds == {pa.float64()})
        model.schemas[key] = Layout(schema, features, order, ids, is_plain)
    layout: Layout = model.schemas[key]
    return layout


def _check_schema(schema: Any, model: Model) -> None:
    if len(schema) > model.n_features + len(IDS):
        unknown = next((name for name in schema.names if name not in model.positions and name not in IDS), "")
        raise refuse(
            f"the Arrow stream has {len(schema)} columns, {str(unknown)[:100]!r} among them; send features only"
        )
    if len(set(schema.names)) < len(schema):
        raise refuse("the Arrow stream has two columns of the same name; give each feature once")
    for field in schema:
        kind = field.type
        is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if not (is_number or (is_text and (field.name in IDS or field.name in model.categories))):
            raise refuse(f"column {field.name[:100]!r} is {str(kind)[:50]}; give numbers")


def _matrix(batch: Any, layout: Layout, model: Model) -> NDArray[Any]:
    """The features of a record batch, a row for each document; null is NaN."""
    if layout.is_plain:
        chosen = batch if layout.ids is None else batch.select([j for j, _ in layout.features])
        X: NDArray[Any] = chosen.to_tensor(null_to_nan=True, row_major=True).to_numpy()
        return X
    values = [_numbers(batch.column(j), name, model) for j, name in layout.features]
    return np.array(values, np.float64).reshape(len(values), len(batch)).T


def _numbers(column: Any, name: str, model: Model) -> Any:
    if name not in model.categories:
        return column.to_numpy(zero_copy_only=False)
    return [value_of(value, name, f"row {row}", model) for row, value in enumerate(column.to_pylist())]


def _described(metadata: bytes) -> tuple[int, bool]:
    """The number of rows that a record batch declares, and whether it is compressed: from its flatbuffer.

    pyarrow tells neither before it has decoded the batch, and a compressed batch may decode to any size.
    """
    message = _table(metadata, struct.unpack_from("<I", metadata)[0])
    batch = _table(metadata, message[2] + struct.unpack_from("<I", metadata, message[2])[0])
    length = struct.unpack_from("<q", metadata, batch[0])[0] if batch[0] else 0
    return length, bool(batch[3])


def _table(data: bytes, at: int) -> list[int]:
    """Where the first five fields of a flatbuffer's table are; 0 if a field has no value."""
    table = at - struct.unpack_from("<i", data, at)[0]
    n_fields = (struct.unpack_from("<H", data, table)[0] - 4) // 2
    places = [struct.unpack_from("<H", data, table + 4 + 2 * k)[0] if k < n_fields else 0 for k in range(5)]
    return [at + place if place else 0 for place in places]
