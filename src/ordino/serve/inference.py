"""Open Inference Protocol, version 2: the same models under ``/v2/models``, for clients and gateways that speak it.

One input ``features`` of shape ``[documents, features]``; outputs ``scores`` and ``ranks`` (from 1) in the order of the
rows. Tensors may be JSON or, with the binary extension, bytes after the JSON.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ordino.serve.binary_body import Body, check_width, matrix_at
from ordino.serve.documents import check_rows, from_rows, refuse
from ordino.serve.json_body import check_brackets, parse_json
from ordino.serve.model import Model
from ordino.serve.rank import best_first
from ordino.serve.settings import Limits

INPUT = "features"
KINDS: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {"FP32": np.dtype("<f4"), "FP64": np.dtype("<f8"), "INT32": np.dtype("<i4"), "INT64": np.dtype("<i8")}
)
"""Numbers that the input may have, by the protocol's names."""
OUTPUTS = MappingProxyType({"scores": "FP64", "ranks": "INT64"})
LENGTH = "inference-header-content-length"
OCTETS = "application/octet-stream"
KEYS = frozenset({"id", "parameters", "inputs", "outputs"})
SERVER = MappingProxyType({"name": "ordino", "extensions": ["binary_tensor_data"]})


def describe(model: Model) -> dict[str, Any]:
    """The metadata of a model."""
    return {
        "name": model.name,
        "versions": [model.version],
        "platform": "ordino",
        "inputs": [{"name": INPUT, "datatype": "FP32", "shape": [-1, model.n_features]}],
        "outputs": [{"name": name, "datatype": kind, "shape": [-1]} for name, kind in OUTPUTS.items()],
    }


def infer(model: Model, body: Body, header: str, limits: Limits) -> tuple[bytes, dict[str, str], int]:
    """The reply, its headers, and the number of documents; ``header`` tells the length of the JSON, if anything."""
    length = _header_length(header, len(body))
    check_brackets(body[:length], limits.rows)
    request = parse_json(body[:length])
    if not isinstance(request, dict) or not KEYS.issuperset(request):
        raise refuse(f"the body must be an object with {', '.join(sorted(KEYS))}")
    if not isinstance(request.get("id", ""), str):
        raise refuse("id must be a text")
    wanted = _wanted(request)
    X = _input(request, body, length if header else len(body), model, limits)
    scores = model.scores(X)
    ranks = np.empty(len(scores), np.int64)
    ranks[best_first(scores)] = np.arange(1, len(scores) + 1)
    found: dict[str, NDArray[Any]] = {"scores": scores, "ranks": ranks}
    outputs, binary = list[dict[str, Any]](), b""
    for name, is_binary in wanted:
        output: dict[str, Any] = {"name": name, "datatype": OUTPUTS[name], "shape": [len(scores)]}
        if is_binary:
            part = found[name].tobytes()
            output["parameters"] = {"binary_data_size": len(part)}
            binary += part
        else:
            output["data"] = found[name].tolist()
        outputs.append(output)
    reply = {"model_name": model.name, "model_version": model.version, "outputs": outputs}
    text = orjson.dumps(reply | ({"id": request["id"]} if "id" in request else {}))
    if any(is_binary for _, is_binary in wanted):
        return text + binary, {"content-type": OCTETS, LENGTH: str(len(text))}, len(scores)
    return text, {"content-type": "application/json"}, len(scores)


def _header_length(header: str, size: int) -> int:
    if not header:
        return size
    if not header.isascii() or not header.isdecimal() or len(header) > 12 or int(header) > size:
        raise refuse(f"{LENGTH} is {header[:50]!r}; it must be the number of bytes of the JSON in the body")
    return int(header)


def _parameters(value: Any) -> dict[str, Any]:
    found = value.get("parameters", {})
    if not isinstance(found, dict):
        raise refuse("parameters must be an object")
    return found


def _wanted(request: dict[str, Any]) -> list[tuple[str, bool]]:
    """The outputs that are asked for, all by default, and which of them shall be binary."""
    all_binary = _flag(_parameters(request), "binary_data_output", False)
    outputs = request.get("outputs", [{"name": name} for name in OUTPUTS])
    if not isinstance(outputs, list) or not outputs:
        raise refuse("outputs must be a list of objects with a name")
    wanted: dict[str, bool] = {}
    for one in outputs:
        if not isinstance(one, dict) or one.get("name") not in list(OUTPUTS):  # a list takes values without a hash
            raise refuse(f"an output must have one of the names {', '.join(OUTPUTS)}")
        wanted[one["name"]] = _flag(_parameters(one), "binary_data", all_binary)
    return list(wanted.items())


def _flag(parameters: dict[str, Any], name: str, otherwise: bool) -> bool:
    value = parameters.get(name, otherwise)
    if not isinstance(value, bool):
        raise refuse(f"{name} must be true or false")
    return value


def _input(request: dict[str, Any], body: Body, start: int, model: Model, limits: Limits) -> NDArray[Any]:
    inputs = request.get("inputs")
    if not isinstance(inputs, list) or len(inputs) != 1 or not isinstance(inputs[0], dict):
        raise refuse(f"inputs must be a list with one object, the tensor {INPUT!r}")
    tensor = inputs[0]
    if tensor.get("name") != INPUT:
        raise refuse(f"the input must have the name {INPUT!r}")
    if tensor.get("datatype") not in list(KINDS):
        raise refuse(f"the input's datatype must be one of {', '.join(KINDS)}")
    shape = tensor.get("shape")
    if not (isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and n >= 0 for n in shape)):
        raise refuse("the input's shape must be [documents, features]")
    check_rows(shape[0], limits)
    size = _parameters(tensor).get("binary_data_size")
    if size is not None:
        X = matrix_at(body, start, (shape[0], shape[1]), KINDS[tensor["datatype"]])
        if type(size) is not int or size != X.nbytes or "data" in tensor:
            raise refuse("binary_data_size must be the number of bytes after the JSON, and there must be no data")
    else:
        X = _rows(tensor.get("data"), shape, model)
    check_width(X, model)
    return X


def _rows(data: Any, shape: list[int], model: Model) -> NDArray[Any]:
    """Rows, or one flat list in row order, as the protocol allows both."""
    n, width = shape
    if width != model.n_features:
        raise refuse(f"the rows have {width} values but model {model.name!r} has {model.n_features} features")
    if isinstance(data, list) and len(data) == n * width and not (data and isinstance(data[0], list)):
        data = [data[start : start + width] for start in range(0, n * width, width)]
    if not isinstance(data, list) or len(data) != n:
        raise refuse(f"data must have the shape {shape}")
    return from_rows(data, None, model)
