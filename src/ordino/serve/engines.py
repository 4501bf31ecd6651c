"""``POST /v1/rerank/{engine}``: a search engine's response with logged features in, the same response reordered out.

Everything in the response stays as it is, but for the order of its documents and their scores.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
import orjson
from numpy.typing import NDArray

from ordino.data.search_logs import answer_rows
from ordino.errors import DataError
from ordino.serve.binary_body import Body
from ordino.serve.documents import IDS, check_rows, refuse, value_of
from ordino.serve.json_body import check_brackets, parse_json
from ordino.serve.model import Model
from ordino.serve.rank import best_first
from ordino.serve.settings import Limits

PARTS = 32  # lists and objects of a hit beside one for each feature


@final
@dataclass(frozen=True)
class Engine:
    """Where a response has its documents and their scores."""

    name: str
    text: str
    hits: Callable[[dict[str, Any]], list[Any]]
    id: str
    score: str
    best: Callable[[dict[str, Any], float | None], None]
    """Notes the highest score."""
    is_dense: bool
    """Whether the log names a feature that did not match, so that one it never names is missing."""


def _lucene_hits(answer: dict[str, Any]) -> list[Any]:
    return _list(answer, "hits", "hits")


def _solr_docs(answer: dict[str, Any]) -> list[Any]:
    return _list(answer, "response", "docs")


def _list(answer: dict[str, Any], outer: str, inner: str) -> list[Any]:
    found = answer.get(outer)
    documents = found.get(inner) if isinstance(found, dict) else None
    if not isinstance(documents, list) or not all(isinstance(one, dict) for one in documents):
        raise refuse(f"the response has no list {outer}.{inner} of documents; send what the engine answered")
    return documents


def _best_hit(answer: dict[str, Any], best: float | None) -> None:
    answer["hits"]["max_score"] = best


def _best_doc(answer: dict[str, Any], best: float | None) -> None:
    if "maxScore" in answer["response"]:
        answer["response"]["maxScore"] = best


ENGINES: Mapping[str, Engine] = MappingProxyType(
    {
        one.name: one
        for one in (
            Engine("elasticsearch", "Elasticsearch with ext.ltr_log", _lucene_hits, "_id", "_score", _best_hit, True),
            Engine("opensearch", "OpenSearch with ext.ltr_log", _lucene_hits, "_id", "_score", _best_hit, True),
            Engine("solr", "Solr with fl=id,score,[features]", _solr_docs, "id", "score", _best_doc, False),
        )
    }
)
"""The engines whose responses are reordered, by name."""


def rerank(engine: Engine, model: Model, body: Body, limits: Limits, *, top: int | None) -> tuple[bytes, int]:
    """The response with its documents in the model's order, and the number of documents.

    Several answers, as a multi-search has them in ``responses``, are reordered one by one.
    """
    check_brackets(body, limits.rows * (model.n_features + PARTS))
    whole = parse_json(body)
    answers = whole.get("responses", [whole]) if isinstance(whole, dict) else None
    if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
        raise refuse(f"the body is no response of {engine.text}; send what the engine answered")
    parts = [(answer, engine.hits(answer)) for answer in answers if "error" not in answer]
    n = sum(len(hits) for _, hits in parts)
    check_rows(n, limits)
    for number, (answer, hits) in enumerate(parts, 1):
        if not all(type(hit.get(engine.id)) in IDS for hit in hits):
            raise refuse(f"a document has no {engine.id} that is a text or a number; send what the engine answered")
        X = logged_features(engine, answer, number, model)
        scores = model.scores(X)
        order = best_first(scores)[:top].tolist()
        for hit, score in zip(hits, scores.tolist(), strict=True):
            hit[engine.score] = score
        engine.best(answer, float(scores.max()) if n and len(scores) else None)
        hits[:] = [hits[row] for row in order]
    try:
        return orjson.dumps(whole), n
    except TypeError:  # which reads deeper values than it writes
        raise refuse("the response has more than 250 lists and objects inside each other; leave them out") from None


def logged_features(engine: Engine, answer: dict[str, Any], number: int, model: Model) -> NDArray[np.float64]:
    """The model's features of each document, in the order of the answer; what did not match is 0."""
    unlabeled = {key: value for key, value in answer.items() if key not in ("labels", "qid")}
    try:
        rows = [(row["doc_id"], row["features"]) for row in answer_rows(unlabeled, number, "the response")]
    except (DataError, ValueError, TypeError) as error:
        raise refuse(str(error)[:300]) from None
    logged = set().union(*(features for _, features in rows))
    for name in model.names:
        if rows and name not in logged and (engine.is_dense or not logged & model.positions.keys()):
            raise refuse(
                f"feature {name!r} is not in the log of any document; add it to the feature set that is logged"
            )
    X = [
        [value_of(features.get(name, 0.0), name, f"document {doc_id!r}"[:120], model) for name in model.names]
        for doc_id, features in rows
    ]
    return np.array(X, np.float64).reshape(len(rows), model.n_features)
