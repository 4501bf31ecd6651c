"""``POST /v1/models/{name}/rank``: documents in, the same documents in order out."""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgpack
import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from ordino.arrays import Floats
from ordino.explain import why
from ordino.pipelines import last_step
from ordino.serve.binary_body import Body, read_arrow, read_msgpack, read_npy
from ordino.serve.documents import Asked, refuse
from ordino.serve.json_body import read_json
from ordino.serve.model import Model
from ordino.serve.queue import LaterError
from ordino.serve.settings import Limits
from ordino.web.answers import RefusedError

ARROW = "application/vnd.apache.arrow.stream"
NPY = "application/x-npy"
MSGPACK = "application/msgpack"
JSON = "application/json"
REASONS = 5  # features that an explanation names
Reader = Callable[[Body, Model, Limits, int | None, bool], Asked]

READERS: Mapping[str, Reader] = MappingProxyType(
    {JSON: read_json, ARROW: read_arrow, NPY: read_npy, MSGPACK: read_msgpack, "application/x-msgpack": read_msgpack}
)
"""What reads a body, by its content type."""


def reader_of(content_type: str) -> Reader:
    """What reads bodies of a content type."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in READERS:
        allowed = ", ".join(READERS)
        raise RefusedError(415, f"bodies of type {kind[:100]!r} are not read; send one of: {allowed}")
    return READERS[kind]


def reply_kind(accept: str) -> str:
    """The first kind of reply in an Accept header that there is; JSON if none is.

    Examples
    --------
    >>> reply_kind("text/html, application/msgpack;q=0.5"), reply_kind("*/*")
    ('application/msgpack', 'application/json')
    """
    kinds = (part.partition(";")[0].strip().lower() for part in accept.split(","))
    return next((kind for kind in kinds if kind in (JSON, MSGPACK, ARROW)), JSON)


def best_first(scores: Floats) -> NDArray[np.intp]:
    """Row numbers, best first; equal scores keep the order of the request."""
    return np.argsort(-scores, kind="stable")


def rank(
    model: Model, read: Reader, body: Body, limits: Limits, *, top: int | None, explain: bool, accept: str,
    until: float | None,
) -> tuple[bytes, str, int]:  # fmt: skip
    """The body of the reply, its content type, and the number of documents that were scored.

    Without a time ``until`` which it may take, only what is quick is done: nothing is explained.
    """
    start = time.perf_counter()
    asked = read(body, model, limits, top, explain)
    if asked.explain and until is None:
        raise LaterError
    documents = asked.documents
    scores = model.scores(documents.X)
    order = best_first(scores)[: asked.top]
    reasons = explained(model, asked, order, limits, until) if asked.explain and until is not None else None
    took = round((time.perf_counter() - start) * 1000, 3)
    n = len(scores)
    kind = reply_kind(accept)
    if kind == ARROW and reasons is None:
        return _as_arrow(model, took, documents.ids, scores, order), ARROW, n
    ids = documents.ids
    items: list[dict[str, Any]] = [
        {"id": ids[row], "score": score, "rank": place}
        for place, (row, score) in enumerate(zip(order.tolist(), scores[order].tolist(), strict=True), 1)
    ]
    for item, reason in zip(items, reasons or (), strict=False):
        item["why"] = reason
    reply = {"model": model.name, "version": model.version, "took": took, "items": items}
    if kind == MSGPACK:
        return msgpack.packb(reply), MSGPACK, n
    return orjson.dumps(reply), JSON, n


def explained(model: Model, asked: Asked, order: NDArray[np.intp], limits: Limits, until: float) -> list[Any]:
    """For each document of the reply but the last, why it stands above the next."""
    if len(order) > limits.explained:
        raise refuse(f"at most {limits.explained} documents are explained; ask for fewer with top")
    if last_step(model.ranker) is not model.ranker:
        raise refuse(f"model {model.name!r} is a pipeline, which cannot be explained; ask without explain")
    query, reasons = model.data(asked.documents.X), []
    for above, below in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        if time.monotonic() > until:
            raise RefusedError(503, "the explanation takes too long; ask for fewer documents with top")
        found = why(model.ranker, above, below, query=query)
        told = [reason._asdict() for reason in found.reasons if reason.adds][:REASONS]
        reasons.append(
            {
                "above": asked.documents.ids[below],
                "difference": found.difference,
                "method": found.method,
                "reasons": told,
            }
        )
    return reasons


def _as_arrow(model: Model, took: float, ids: Any, scores: Floats, order: NDArray[np.intp]) -> bytes:
    """The reply as an Arrow stream with the columns id, score and rank; model and time are in its metadata."""
    chosen = [ids[row] for row in order.tolist()]
    if len({*map(type, chosen)}) > 1:
        chosen = [str(one) for one in chosen]
    columns = {"id": chosen, "score": scores[order], "rank": np.arange(1, len(order) + 1)}
    told = {"model": model.name, "version": model.version, "took": str(took)}
    table = pa.table(columns).replace_schema_metadata(told)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content
