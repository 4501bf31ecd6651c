"""``GET /openapi.json``: the routes, described for the models that are loaded.

A model's routes stand here by its name, so that the document names the features which this model wants. What the
schemas allow is accepted, and what they do not allow is refused; a test lets schemathesis try both.
"""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from ordino.serve import inference
from ordino.serve.documents import LARGEST
from ordino.serve.engines import ENGINES
from ordino.serve.metrics import CONTENT_TYPE
from ordino.serve.model import Model
from ordino.serve.rank import ARROW, JSON, MSGPACK, NPY
from ordino.serve.settings import MOST, Limits

Schema = dict[str, Any]
ERRORS = {
    "400": "The request is wrong; the sentence names what, such as a feature.",
    "401": "A token is needed.",
    "404": "There is no such model.",
    "408": "The body came too slowly.",
    "413": "The body is too large.",
    "415": "Bodies of this type are not read.",
    "421": "The Host header names another server.",
    "503": "The server is busy, or the answer took too long; try again.",
}
ERROR: Schema = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
BINARY: Schema = {"type": "string", "format": "binary"}
TOP: Schema = {"type": "integer", "minimum": 1, "maximum": MOST}
TEXT: Schema = {"type": "string"}


def describe(models: Mapping[str, Model], limits: Limits) -> dict[str, Any]:
    """The OpenAPI document."""
    paths: dict[str, Any] = {
        "/live": _get("Whether the process answers", {"live": {"type": "boolean"}}),
        "/ready": _get("Whether the models are loaded", {"ready": {"type": "boolean"}}, "503"),
        "/metrics": {"get": _operation("Counters for Prometheus", {CONTENT_TYPE.partition(";")[0]: TEXT})},
        "/v1/models": _get("The cards of all models", {"models": {"type": "array", "items": CARD}}),
        "/v2": _get("The server, in the Open Inference Protocol", {"name": TEXT, "version": TEXT}),
        "/v2/health/live": _get("Whether the process answers", {"live": {"type": "boolean"}}),
        "/v2/health/ready": _get("Whether the models are loaded", {"ready": {"type": "boolean"}}, "503"),
    }
    for name, model in models.items():
        paths[f"/v1/models/{name}"] = {"get": _operation(f"The card of {name}", {JSON: CARD})}
        paths[f"/v1/models/{name}/rank"] = {"post": _rank(model, limits)}
        paths[f"/v2/models/{name}"] = _get(f"The tensors of {name}", {"name": TEXT, "inputs": {"type": "array"}})
        paths[f"/v2/models/{name}/ready"] = _get(f"Whether {name} is loaded", {"ready": {"type": "boolean"}})
        paths[f"/v2/models/{name}/infer"] = {"post": _infer(model)}
    for engine in ENGINES:
        paths[f"/v1/rerank/{engine}"] = {"post": _rerank(engine, models, limits)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Ordino", "version": version("ordino"), "description": "Puts documents in order."},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


CARD: Schema = {
    "type": "object",
    "required": ["name", "version", "loaded", "ranker", "features", "missing", "card"],
    "properties": {
        "name": TEXT,
        "version": TEXT,
        "loaded": {"type": "string", "format": "date-time"},
        "ranker": TEXT,
        "features": {"type": "array", "items": TEXT},
        "missing": {"enum": ["allowed", "refused"]},
        "card": {"type": "object"},
    },
}
ID: Schema = {"type": ["string", "number"]}
REPLY: Schema = {
    "type": "object",
    "required": ["model", "version", "took", "items"],
    "properties": {
        "model": TEXT,
        "version": TEXT,
        "took": {"type": "number", "description": "Milliseconds to read the body and to score."},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "score", "rank"],
                "properties": {
                    "id": ID,
                    "score": {"type": "number"},
                    "rank": {"type": "integer", "minimum": 1},
                    "why": {"type": "object", "description": "Why it stands above the next; by feature."},
                },
            },
        },
    },
}


def _operation(summary: str, content: dict[str, Schema], *errors: str, **more: Any) -> dict[str, Any]:
    told = {"description": "Done.", "content": {kind: {"schema": schema} for kind, schema in content.items()}}
    refused = {
        status: {"description": ERRORS[status], "content": {JSON: {"schema": ERROR}}}
        for status in sorted({"401", "421", *errors})
    }
    return {"summary": summary, "responses": {"200": told, **refused}, **more}


def _get(summary: str, properties: dict[str, Schema], *errors: str) -> dict[str, Any]:
    schema: Schema = {"type": "object", "required": list(properties), "properties": properties}
    operation = _operation(summary, {JSON: schema})
    for status in errors:  # a probe that says no has the same body
        operation["responses"][status] = {"description": "Not yet.", "content": {JSON: {"schema": schema}}}
    return {"get": operation}


def _post(summary: str, content: dict[str, Schema], reply: dict[str, Schema], **more: Any) -> dict[str, Any]:
    body = {"required": True, "content": {kind: {"schema": schema} for kind, schema in content.items()}}
    return _operation(summary, reply, "400", "404", "408", "413", "415", "503", requestBody=body, **more)


def _value(model: Model, name: str) -> Schema:
    """What a feature of a document may be."""
    if name in model.categories:
        return {"type": ["string", "null"]}
    number: Schema = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
    return {**number, "type": ["number", "null"]} if model.takes_nan else number


def _rank(model: Model, limits: Limits) -> dict[str, Any]:
    shared = {"top": TOP, "explain": {"type": "boolean"}}
    features: Schema = {
        "type": "object",
        "properties": {name: _value(model, name) for name in model.names},
        "additionalProperties": False,
        **({} if model.takes_nan else {"required": list(model.names)}),
    }
    item: Schema = {
        "type": "object",
        "required": ["features"],
        "properties": {"id": ID, "features": features},
        "additionalProperties": False,
    }
    n = model.n_features
    row: Schema = {
        "type": "array",
        "prefixItems": [_value(model, name) for name in model.names],
        "items": False,
        "minItems": n,
        "maxItems": n,
    }
    plain: Schema = (
        {"type": "array", "items": _value(model, model.names[0]), "minItems": n, "maxItems": n} if n else row
    )
    by_items: Schema = {
        "type": "object",
        "required": ["items"],
        "properties": {"items": {"type": "array", "items": item, "maxItems": limits.rows}, **shared},
        "additionalProperties": False,
    }
    by_rows: Schema = {
        "type": "object",
        "required": ["rows"],
        "properties": {
            "features": {"const": list(model.names), "description": "In any order; the rows follow it."},
            "rows": {"type": "array", "items": row if model.categories else plain, "maxItems": limits.rows},
            **shared,
        },
        "additionalProperties": False,
    }
    asked = [
        {"name": "top", "in": "query", "schema": TOP, "description": "How many documents to answer with."},
        {"name": "explain", "in": "query", "schema": {"type": "boolean"}, "description": "Why each is above the next."},
    ]
    either: Schema = {"oneOf": [by_items, by_rows]}
    return _post(
        f"Rank documents with {model.name}",
        {JSON: either, MSGPACK: BINARY, ARROW: BINARY, NPY: BINARY},
        {JSON: REPLY},
        parameters=asked,
        operationId=f"rank_{model.name}",
    )


def _infer(model: Model) -> dict[str, Any]:
    tensor: Schema = {
        "type": "object",
        "required": ["name", "datatype", "shape"],
        "properties": {
            "name": {"const": inference.INPUT},
            "datatype": {"enum": list(inference.KINDS)},
            "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2},
            "data": {"type": "array", "description": f"Rows of {model.n_features} numbers, or all in one list."},
            "parameters": {"type": "object"},
        },
    }
    output: Schema = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"enum": list(inference.OUTPUTS)}, "parameters": {"type": "object"}},
    }
    request: Schema = {
        "type": "object",
        "required": ["inputs"],
        "properties": {
            "id": TEXT,
            "parameters": {"type": "object"},
            "inputs": {"type": "array", "items": tensor, "minItems": 1, "maxItems": 1},
            "outputs": {"type": "array", "minItems": 1, "items": output},
        },
        "additionalProperties": False,
    }
    reply: Schema = {
        "type": "object",
        "required": ["model_name", "model_version", "outputs"],
        "properties": {"model_name": TEXT, "model_version": TEXT, "outputs": {"type": "array"}},
    }
    text = f"Scores of {model.name}, in the Open Inference Protocol"
    return _post(text, {JSON: request}, {JSON: reply}, operationId=f"infer_{model.name}")


def _rerank(engine: str, models: Mapping[str, Model], limits: Limits) -> dict[str, Any]:
    """The schema names the features of the model if there is one alone."""
    only = next(iter(models.values())) if len(models) == 1 else None
    response = _solr(only, limits) if engine == "solr" else _lucene(only, limits)
    name = {"name": "model", "in": "query", "schema": {"enum": list(models)}, "required": only is None}
    top = {"name": "top", "in": "query", "schema": TOP}
    return _post(
        f"Reorder a response of {ENGINES[engine].text}",
        {JSON: response},
        {JSON: {"type": "object"}},
        parameters=[name, top],
        operationId=f"rerank_{engine}",
    )


def _lucene(model: Model | None, limits: Limits) -> Schema:
    entries: Schema = {"type": "array", "items": {"type": "object", "required": ["name"]}}
    if model is not None:
        entries["prefixItems"] = [
            {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"const": name}, "value": {"type": "number", "minimum": -1e30, "maximum": 1e30}},
            }
            for name in model.names
        ]
        entries |= {"items": False, "minItems": model.n_features, "maxItems": model.n_features}
    log: Schema = {"type": "object", "required": ["log"], "properties": {"log": entries}, "additionalProperties": False}
    fields: Schema = {
        "type": "object",
        "required": ["_ltrlog"],
        "properties": {"_ltrlog": {"type": "array", "items": log, "minItems": 1, "maxItems": 1}},
    }
    hit: Schema = {
        "type": "object",
        "required": ["_id", "fields"],
        "properties": {"_id": ID, "fields": fields},
    }
    return _nested("hits", "hits", hit, limits)


def _solr(model: Model | None, limits: Limits) -> Schema:
    features: Schema = {"type": "string"}
    if model is not None:
        features = {"const": ",".join(f"{name}=0.5" for name in model.names)}
    doc: Schema = {
        "type": "object",
        "required": ["id", "[features]"],
        "properties": {"id": ID, "[features]": features},
    }
    return _nested("response", "docs", doc, limits)


def _nested(outer: str, inner: str, document: Schema, limits: Limits) -> Schema:
    documents: Schema = {"type": "array", "items": document, "maxItems": limits.rows}
    body: Schema = {"type": "object", "required": [inner], "properties": {inner: documents}}
    return {"type": "object", "required": [outer], "properties": {outer: body}}
