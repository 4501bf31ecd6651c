"""What a search engine answered with logged features, as rows: Elasticsearch, OpenSearch and Solr.

Elasticsearch and OpenSearch log with ``ext.ltr_log``: each hit has ``fields._ltrlog``. Solr logs with
``fl=id,[features]``: each document has the text ``name=value,name=value``. One answer is one query, and a feature that
an answer leaves out did not match, which is 0. An answer has no judgments, so these are put beside them:
``{"qid": "q1", "labels": {"d7": 2}, "hits": {...}}``; a document that ``labels`` does not name has label 0. Without
``qid``, the queries are numbered in the order of the answers.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ordino.errors import DataError

_ROLES = ("qid", "label", "weight")
_FIX = "ask for them with ext.ltr_log (Elasticsearch, OpenSearch) or fl=id,[features] (Solr)"
Row = dict[str, Any]


def is_answer(value: Any) -> bool:
    """Whether a JSON value is what a search engine answered, or several answers to a multi-search."""
    return isinstance(value, Mapping) and any(
        isinstance(value.get(name), kind)
        for name, kind in (("hits", Mapping), ("response", Mapping), ("responses", list))
    )


def answer_rows(answer: Mapping[str, Any], number: int, where: str) -> Iterator[Row]:
    """The rows of the answer with this number: qid, doc_id, label and weight if it has them, and the features.

    Examples
    --------
    >>> log = [{"title": [{"name": "bm25", "value": 7.5}, {"name": "age"}]}]
    >>> answer = {"hits": {"hits": [{"_id": "d7", "fields": {"_ltrlog": log}}]}, "labels": {"d7": 2}}
    >>> list(answer_rows(answer, 1, "log.jsonl:1"))
    [{'qid': 1, 'doc_id': 'd7', 'label': 2, 'features': {'bm25': 7.5, 'age': 0.0}}]
    >>> answer = {"qid": "q1", "response": {"docs": [{"id": "d7", "[features]": "bm25=7.5,age=0.0"}]}}
    >>> list(answer_rows(answer, 1, "log.jsonl:1"))
    [{'qid': 'q1', 'doc_id': 'd7', 'features': {'bm25': 7.5, 'age': 0.0}}]
    """
    labels = answer.get("labels")
    shared: Row = {"qid": answer.get("qid", _solr_params(answer).get("qid", number))}
    try:
        for hit in answer["hits"]["hits"] if "hits" in answer else answer["response"]["docs"]:
            doc_id = hit["_id"] if "_id" in hit else hit["id"]
            own = {role: place[role] for place in (hit.get("_source") or {}, hit) for role in _ROLES if role in place}
            row = {**shared, "doc_id": str(doc_id), **own}
            if labels is not None:
                row["label"] = labels.get(str(doc_id), 0)
            yield {**row, "features": _features(hit, f"{where}: document {doc_id!r}")}
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{where}: this is not an answer with logged features ({error!r}); {_FIX}") from None


def _solr_params(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    header = answer.get("responseHeader")
    found = header.get("params") if isinstance(header, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _features(hit: Mapping[str, Any], where: str) -> dict[str, Any]:
    logged = (hit.get("fields") or {}).get("_ltrlog")
    if logged is not None:
        entries = [entry for log in logged for entry in log.values()]
        pairs: list[tuple[str, Any]] = []
        for entry in entries:
            pairs += entry.items() if isinstance(entry, Mapping) else [(one["name"], one.get("value")) for one in entry]
        return {name: 0.0 if value is None else value for name, value in pairs}
    text = hit.get("[features]", hit.get("features"))
    if isinstance(text, Mapping):
        return dict(text)
    if not isinstance(text, str):
        raise DataError(f"{where} has no logged features; {_FIX}")
    between, inside = (",", "=") if "=" in text else (";", ":")  # as Solr writes since 6.4, and as it did before
    found = {}
    for pair in filter(None, text.split(between)):
        name, _, value = pair.rpartition(inside)
        try:
            found[name] = float(value)
        except ValueError:
            raise DataError(f"{where}: {pair!r} is not NAME{inside}NUMBER; log features as Solr does") from None
    return found
