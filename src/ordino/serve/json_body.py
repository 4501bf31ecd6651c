"""Bodies in JSON, and the same objects in MessagePack.

Either ``{"items": [{"id": ..., "features": {...}}, ...]}``, or ``{"features": [...], "rows": [[...]], "ids": [...]}``;
with ``top`` and ``explain`` beside them. Rows of plain numbers, which most bodies are, simdjson reads into one array.
"""

from typing import Any, NamedTuple

import numpy as np
import orjson
import simdjson
from numpy.typing import NDArray

from ordino.serve.documents import (
    Asked,
    Documents,
    check_ids,
    check_rows,
    column_order,
    from_items,
    from_rows,
    in_model_order,
    refuse,
)
from ordino.serve.model import Model
from ordino.serve.settings import MOST, Limits

BY_ITEMS = frozenset({"items", "top", "explain"})
BY_ROWS = frozenset({"rows", "features", "ids", "top", "explain"})
SPARE = 1000  # brackets beyond those that the documents need


class Columns(NamedTuple):
    """What simdjson found: the numbers, and all that stands beside them."""

    X: NDArray[np.float64]
    beside: dict[str, Any]


def read_json(body: bytes | bytearray, model: Model, limits: Limits, top: int | None, explain: bool) -> Asked:
    """The documents of a body in JSON; ``top`` and ``explain`` are those of the address."""
    found = plain_rows(body, check_brackets(body, 2 * limits.rows))
    if found is not None:
        return from_columns(found, model, limits, top, explain)
    value = parse_json(body)
    has_no_booleans = b"true" not in body and b"false" not in body
    return from_object(value, model, limits, top, explain, checked=has_no_booleans)


def parse_json(body: bytes | bytearray) -> Any:
    """A JSON value, or a sentence that says where it is none."""
    try:
        return orjson.loads(body)
    except ValueError as error:
        raise refuse(f"the body is not JSON: {' '.join(str(error).split())[:150]}") from None


def check_brackets(body: bytes | bytearray, needed: int) -> int:
    """Refuse millions of empty lists before they are made: each takes 30 times its two bytes; the number there is."""
    content = np.frombuffer(body, np.uint8)
    n = int(np.count_nonzero(content == ord("[")) + np.count_nonzero(content == ord("{")))
    if n > needed + SPARE:
        raise refuse(f"the body has more than {needed + SPARE:,} lists and objects; send fewer documents")
    return n


def plain_rows(body: bytes | bytearray, brackets: int) -> Columns | None:
    """Rows that are nothing but numbers and equally long; None sends the body the slow way."""
    try:
        parsed = simdjson.Parser().parse(body)
        if not isinstance(parsed, simdjson.Object) or "rows" not in parsed or not BY_ROWS.issuperset(parsed.keys()):
            return None
        rows: Any = parsed["rows"]
        n = len(rows) if isinstance(rows, simdjson.Array) else 0
        if n == 0 or not isinstance(rows[0], simdjson.Array):
            return None
        width = len(rows[0])
        numbers = np.frombuffer(rows.as_buffer(of_type="d"))
        beside: dict[str, Any] = {}
        for key in BY_ROWS.intersection(parsed.keys()) - {"rows"}:
            value = parsed[key]
            beside[key] = value.as_list() if isinstance(value, simdjson.Array) else value
        lists = sum(isinstance(value, list) for value in beside.values())
        # simdjson flattens whatever it finds: no brackets but these, and no row that makes up for another one
        if brackets != 2 + n + lists or numbers.size != n * width or set(map(len, rows)) != {width}:
            return None
    except (ValueError, TypeError, RuntimeError, KeyError, IndexError, AttributeError):
        return None
    return Columns(numbers.reshape(n, width), beside)


def from_columns(found: Columns, model: Model, limits: Limits, top: int | None, explain: bool) -> Asked:
    """The documents of rows that are plain numbers."""
    n, width = found.X.shape
    check_rows(n, limits)
    features = found.beside.get("features")
    order = column_order(features, model)
    expected = model.n_features if features is None else len(features)
    if width != expected:
        raise refuse(f"row 0 has {width:,} values but there are {expected:,} features; give one for each")
    if model.categories:
        raise refuse(f"feature {next(iter(model.categories))!r} is categorical; give its category as text, or null")
    documents = Documents(in_model_order(found.X, order), check_ids(found.beside.get("ids"), n))
    return asked(found.beside, documents, top, explain)


def from_object(
    value: Any, model: Model, limits: Limits, top: int | None, explain: bool, *, checked: bool = False
) -> Asked:
    """The documents of an object of either kind."""
    if not isinstance(value, dict):
        raise refuse('the body must be an object, {"items": [...]} or {"features": [...], "rows": [...]}')
    if ("items" in value) == ("rows" in value):
        raise refuse("give either items or rows")
    allowed = BY_ITEMS if "items" in value else BY_ROWS
    for key in value:
        if key not in allowed:
            raise refuse(f"the body has {str(key)[:100]!r}; allowed are {', '.join(sorted(allowed))}")
    documents = value.get("items", value.get("rows"))
    if isinstance(documents, list):
        check_rows(len(documents), limits)
    if "items" in value:
        return asked(value, from_items(documents, model, checked=checked), top, explain)
    X = from_rows(documents, value.get("features"), model, checked=checked)
    return asked(value, Documents(X, check_ids(value.get("ids"), len(X))), top, explain)


def asked(given: dict[str, Any], documents: Documents, top: int | None, explain: bool) -> Asked:
    """The request, in which the body has the last word on ``top`` and ``explain``."""
    for name in ("features", "ids"):
        if name in given and given[name] is None:
            raise refuse(f"{name} is null; give a list, or leave it out")
    if "top" in given:
        wanted = given["top"]
        if type(wanted) not in (int, float) or not 1 <= wanted <= MOST or wanted != int(wanted):
            raise refuse(f"top is {str(wanted)[:50]!r}; it must be a whole number, from 1 to {MOST:,}")
        top = int(wanted)
    if "explain" in given:
        explain = given["explain"]
        if not isinstance(explain, bool):
            raise refuse(f"explain is {str(explain)[:50]!r}; it must be true or false")
    return Asked(documents, top, explain)
