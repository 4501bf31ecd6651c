"""What schemathesis sends where the OpenAPI document says no more than "binary": bodies that are right."""

import io

import msgpack
import numpy as np
import pyarrow as pa
import schemathesis
from hypothesis import strategies as st

N_FEATURES = 3
VALUES = st.floats(-(2.0**100), 2.0**100, width=32)
ROWS = st.lists(st.lists(VALUES, min_size=N_FEATURES, max_size=N_FEATURES), max_size=20)


def as_npy(rows):
    file = io.BytesIO()
    np.save(file, np.array(rows, np.float32).reshape(len(rows), N_FEATURES))
    return file.getvalue()


def as_arrow(rows):
    X = np.array(rows, np.float32).reshape(len(rows), N_FEATURES)
    names = ("bm25", "age", "clicks")
    table, sink = pa.table({name: X[:, j] for j, name in enumerate(names)}), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


schemathesis.openapi.media_type("application/x-npy", ROWS.map(as_npy))
schemathesis.openapi.media_type("application/vnd.apache.arrow.stream", ROWS.map(as_arrow))
schemathesis.openapi.media_type("application/msgpack", ROWS.map(lambda rows: msgpack.packb({"rows": rows})))
