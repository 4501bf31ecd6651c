"""Responses of search engines go in with logged features and come back in the model's order."""

import json

import numpy as np
import pytest

import ordino
from serving import NAMES, service, small_data

X = small_data().X[:6].astype(float)
LUCENE = ("elasticsearch", "opensearch")


def hit(row, doc_id, names=NAMES):
    """A hit as the plugin logs it; a feature that did not match has no value."""
    entries = [{"name": name} | ({"value": value} if value else {}) for name, value in zip(names, row, strict=True)]
    return {
        "_index": "web",
        "_id": doc_id,
        "_score": 1.0,
        "_source": {"title": f"page {doc_id}"},
        "fields": {"_ltrlog": [{"log_entry1": entries}]},
    }


def lucene(rows=X):
    hits = [hit(row, f"d{j}") for j, row in enumerate(np.asarray(rows).tolist())]
    total = {"value": 600, "relation": "eq"}
    return {"took": 3, "timed_out": False, "hits": {"total": total, "max_score": 1.0, "hits": hits}, "aggregations": {}}


def solr(rows=X, between=",", inside="="):
    docs = [
        {
            "id": f"d{j}",
            "score": 1.0,
            "title": ["a page"],
            "[features]": between.join(f"{name}{inside}{value}" for name, value in zip(NAMES, row, strict=True)),
        }
        for j, row in enumerate(np.asarray(rows).tolist())
    ]
    header = {"status": 0, "QTime": 2, "params": {"q": "rust", "fl": "id,score,[features]"}}
    return {"responseHeader": header, "response": {"numFound": 600, "start": 0, "maxScore": 1.0, "docs": docs}}


def send(client, engine, body, query="?model=linear", kind="application/json"):
    content = body if isinstance(body, bytes) else json.dumps(body)
    return client.post(f"/v1/rerank/{engine}{query}", content=content, headers={"content-type": kind})


@pytest.fixture(scope="module")
def scores(model_files):
    found = ordino.load(model_files["linear"]).predict(X)
    return {f"d{j}": score for j, score in enumerate(found.tolist())}


@pytest.mark.parametrize("engine", LUCENE)
def test_hits_come_back_in_the_order_of_the_model(client, engine, scores):
    reply = send(client, engine, lucene()).json()
    hits = reply["hits"].pop("hits")
    assert [one["_id"] for one in hits] == sorted(scores, key=scores.get, reverse=True)
    assert {one["_id"]: one["_score"] for one in hits} == scores
    assert reply["hits"].pop("max_score") == max(scores.values())
    expected = lucene()
    before = {one["_id"]: one for one in expected["hits"].pop("hits")}
    del expected["hits"]["max_score"]
    assert reply == expected  # everything else is as it was
    assert all(one | {"_score": 1.0} == before[one["_id"]] for one in hits)


@pytest.mark.parametrize("spelled", [(",", "="), (";", ":")])
def test_documents_of_solr_come_back_in_the_order_of_the_model(client, scores, spelled):
    reply = send(client, "solr", solr(X, *spelled)).json()
    assert {one["id"]: one["score"] for one in reply["response"]["docs"]} == scores
    assert [one["id"] for one in reply["response"]["docs"]] == sorted(scores, key=scores.get, reverse=True)
    assert reply["response"]["maxScore"] == max(scores.values())
    assert reply["response"]["numFound"] == 600
    assert reply["responseHeader"] == solr()["responseHeader"]


def test_a_feature_that_did_not_match_is_0(client, model_files):
    rows = np.array([[0.0, 1.5, 2.0], [1.0, 0.0, 0.0]])
    expected = ordino.load(model_files["linear"]).predict(rows).tolist()
    found = send(client, "elasticsearch", lucene(rows)).json()["hits"]["hits"]
    assert {one["_id"]: one["_score"] for one in found} == dict(zip(("d0", "d1"), expected, strict=True))
    sparse = solr(rows)
    sparse["response"]["docs"][1]["[features]"] = "bm25=1.0"
    found = send(client, "solr", sparse).json()["response"]["docs"]
    assert {one["id"]: one["score"] for one in found} == dict(zip(("d0", "d1"), expected, strict=True))


def test_several_answers_are_reordered_one_by_one(client, scores):
    failed = {"error": {"type": "search_phase_execution_exception"}, "status": 400}
    reply = send(client, "opensearch", {"took": 1, "responses": [lucene(), failed, lucene(X[:2])]}).json()
    first, second, third = reply["responses"]
    assert [one["_id"] for one in first["hits"]["hits"]] == sorted(scores, key=scores.get, reverse=True)
    assert second == failed
    assert len(third["hits"]["hits"]) == 2


@pytest.mark.parametrize("engine", [*LUCENE, "solr"])
def test_an_answer_among_several_is_what_it_is_alone(client, engine):
    """Those without a document too, before and after others."""
    make = solr if engine == "solr" else lucene
    answers = [make(X[rows]) for rows in ([], [0, 1, 2], [], [3], [5, 4], [])]
    together = send(client, engine, {"responses": answers}).json()["responses"]
    assert together == [send(client, engine, answer).json() for answer in answers]


def test_top_and_no_hits(client):
    assert len(send(client, "solr", solr(), "?model=linear&top=2").json()["response"]["docs"]) == 2
    assert send(client, "solr", solr([])).json()["response"]["docs"] == []
    assert send(client, "elasticsearch", lucene([])).json()["hits"] == lucene([])["hits"] | {"max_score": None}


def without(name):
    answer = lucene()
    for one in answer["hits"]["hits"]:
        [log] = one["fields"]["_ltrlog"]
        log["log_entry1"] = [entry for entry in log["log_entry1"] if entry["name"] != name]
    return answer


def with_value(value):
    answer = lucene()
    answer["hits"]["hits"][1]["fields"]["_ltrlog"][0]["log_entry1"][0]["value"] = value
    return answer


def deep(n):
    value = {}
    for _ in range(n):
        value = {"a": value}
    return lucene() | {"more": value}


WRONG = [
    ("elasticsearch", [], "the body is no response of Elasticsearch"),
    ("elasticsearch", {"responses": 7}, "the body is no response"),
    ("elasticsearch", solr(), "the response has no list hits.hits"),
    ("solr", lucene(), "the response has no list response.docs"),
    ("solr", {"response": {"docs": [7]}}, "no list response.docs of documents"),
    ("elasticsearch", {"hits": {"hits": [{"_id": "a"}]}}, "document 'a' has no logged features; ask for them with"),
    ("elasticsearch", {"hits": {"hits": [{"_id": "a", "fields": 7}]}}, "not an answer with logged features"),
    ("elasticsearch", {"hits": {"hits": [{"fields": {}}]}}, "no _id that is a text or a number"),
    ("elasticsearch", without("age"), "feature 'age' is not in the log of any document"),
    ("elasticsearch", with_value("high"), "document 'd1': feature 'bm25' is 'high', which is no number"),
    ("elasticsearch", with_value(1e60), "document 'd1': feature 'bm25' is 1e+60, which float32 cannot hold"),
    ("elasticsearch", deep(400), "inside each other"),
    ("solr", {"response": {"docs": [{"id": "a", "[features]": "x=1"}]}}, "feature 'bm25' is not in the log"),
    ("solr", {"response": {"docs": [{"id": "a", "[features]": "bm25=much"}]}}, "'bm25=much' is not NAME=NUMBER"),
]


@pytest.mark.parametrize(("engine", "body", "sentence"), WRONG)
def test_what_is_wrong_is_told(client, engine, body, sentence):
    answer = send(client, engine, body)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]


def test_what_the_document_allows_is_accepted(tmp_path, model_files):
    """Of one model, whose features the document names, in a log of the name ``log``; but not how deep all else is."""
    from jsonschema import Draft202012Validator

    right = [("elasticsearch", lucene()), ("opensearch", lucene([])), ("solr", solr(np.full((2, 3), 0.5)))]
    with service(tmp_path, {"linear": model_files["linear"]}) as served:
        paths = served.client.get("/openapi.json").json()["paths"]
        for n, (engine, given, *_) in enumerate([*right, *WRONG]):
            body = json.loads(json.dumps(given).replace("log_entry1", "log"))
            operation = paths[f"/v1/rerank/{engine}"]["post"]
            document = Draft202012Validator(operation["requestBody"]["content"]["application/json"]["schema"])
            status = send(served.client, engine, body, "").status_code
            assert document.is_valid(body) == (status == 200) == (n < len(right)) or "more" in body, (engine, body)
            [model, _] = operation["parameters"]
            assert (model["required"], model["schema"]) == (False, {"enum": ["linear"]})


def test_engines_and_models_by_name(client):
    rerank = client.get("/openapi.json").json()["paths"]["/v1/rerank/solr"]["post"]
    assert rerank["parameters"][0]["required"]

    assert send(client, "vespa", lucene()).status_code == 404
    assert "did you mean 'linear'?" in send(client, "solr", solr(), "?model=linaer").json()["error"]
    assert "say which model" in send(client, "solr", solr(), "").json()["error"]
    assert send(client, "solr", solr(), kind="text/plain").status_code == 415
