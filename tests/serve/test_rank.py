"""The rank route: every kind of body gives the order of ``ordino rank``, and whatever is wrong is told by name."""

import io
import json

import msgpack
import numpy as np
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline

import ordino
from ordino import LambdaMART, LinearRegressionRanker, OneHot
from ordino.explain import why
from ordino.serve.settings import Limits
from serving import NAMES, network, service, small_data
from shell import ordino as command

X = small_data().X[:10]
IDS = [f"d{j}" for j in range(10)]
ARROW = "application/vnd.apache.arrow.stream"


def items(rows=X, names=NAMES):
    values = np.asarray(rows).tolist()
    return [{"id": one, "features": dict(zip(names, row, strict=True))} for one, row in zip(IDS, values, strict=False)]


def as_npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def as_arrow(columns, rows_of_a_piece=None, **options):
    table, sink = pa.table(columns), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows_of_a_piece)
    return sink.getvalue().to_pybytes()


def features_of(rows):
    return {name: rows[:, j] for j, name in enumerate(NAMES)}


BACKWARDS = {"features": NAMES[::-1], "rows": X[:, ::-1].tolist(), "ids": IDS}
BODIES = {
    "items": ("application/json", json.dumps({"items": items()})),
    "rows": ("application/json", json.dumps({"rows": X.tolist(), "ids": IDS})),
    "rows in another order": ("application/json", json.dumps(BACKWARDS)),
    "rows, spread out": ("Application/JSON; charset=utf-8", json.dumps(BACKWARDS, indent=3)),
    "arrow": (ARROW, as_arrow({"id": IDS} | features_of(X))),
    "arrow of doubles": (ARROW, as_arrow(features_of(X.astype(float)) | {"doc_id": IDS})),
    "arrow in pieces": (ARROW, as_arrow({"id": IDS} | features_of(X), rows_of_a_piece=3)),
    "arrow in another order": (ARROW, as_arrow(dict(reversed(features_of(X).items())) | {"id": IDS})),
    "arrow of singles and doubles": (ARROW, as_arrow({"id": IDS} | features_of(X) | {NAMES[1]: X[:, 1].astype(float)})),
    "npy": ("application/x-npy", as_npy(X)),
    "npy of doubles in Fortran's order": ("application/x-npy", as_npy(np.asfortranarray(X.astype(float)))),
    "msgpack items": ("application/msgpack", msgpack.packb({"items": items()})),
    "msgpack rows": ("application/x-msgpack", msgpack.packb(BACKWARDS)),
    "msgpack bytes": ("application/msgpack", msgpack.packb({"rows": X.tobytes(), "ids": IDS})),
    "msgpack bytes backwards": (
        "application/msgpack",
        msgpack.packb({"rows": X[:, ::-1].tobytes(), "features": NAMES[::-1], "ids": IDS}),
    ),
}


def post(client, body, kind="application/json", model="linear", query="", **headers):
    content = body if isinstance(body, bytes | str) else json.dumps(body)
    return client.post(f"/v1/models/{model}/rank{query}", content=content, headers={"content-type": kind, **headers})


@pytest.fixture(scope="module")
def ranked(model_files, tmp_path_factory):
    """What ``ordino rank`` gives to the same documents among others, by model."""
    folder = tmp_path_factory.mktemp("rank")
    ordino.write_letor(small_data(names=None), folder / "data.txt")
    found = {}
    for name, file in model_files.items():
        assert command("rank", file, folder / "data.txt", "--out", folder / f"{name}.txt") == 0
        found[name] = [float(line) for line in (folder / f"{name}.txt").read_text().splitlines()]
    return found


@pytest.mark.parametrize("model", ["linear", "trees", "net"])
@pytest.mark.parametrize("body", BODIES)
def test_every_body_gets_the_bits_of_ordino_rank(client, ranked, model, body):
    kind, content = BODIES[body]
    reply = post(client, content, kind, model).json()
    by_id = {int(str(item["id"]).removeprefix("d")): item["score"] for item in reply["items"]}
    assert [by_id[j] for j in range(10)] == ranked[model][:10]
    assert [item["rank"] for item in reply["items"]] == list(range(1, 11))
    assert [item["score"] for item in reply["items"]] == sorted(ranked[model][:10], reverse=True)
    assert reply["model"] == model
    assert reply["took"] >= 0


def some_ids(*which):
    """Items of which only some say their ids."""
    return {"items": [item if j in which else {"features": item["features"]} for j, item in enumerate(items())]}


def turned(features):
    return dict(reversed(features.items()))


UNEVEN = {
    "the first without an id": some_ids(*range(1, 10)),
    "the last without an id": some_ids(*range(9)),
    "ids of some": some_ids(1, 4, 5),
    "no ids": some_ids(),
    "ids that are numbers": {"items": [item | {"id": 40 - j} for j, item in enumerate(items())]},
    "features in another order each": {
        "items": [one | ({"features": turned(one["features"])} if one["id"] > "d4" else {}) for one in items()]
    },
    "whole numbers": {"rows": X.round().astype(int).tolist(), "ids": IDS},
    "whole numbers among others": {"rows": [[int(one[0]), *one[1:]] for one in X.tolist()]},
    "top and explain": {"rows": X.tolist(), "top": 4, "explain": True},
    "top and explain of items": {"items": items(), "top": 4.0, "explain": False},
    "missing values": {"rows": [[None, *one[1:]] for one in X.tolist()], "ids": IDS},
    "missing features": {"items": [item | {"features": {NAMES[j % 3]: 1.5}} for j, item in enumerate(items())]},
    "one feature": {"features": [NAMES[1]], "rows": X[:, 1:2].tolist()},
    "another order": BACKWARDS,
    "one document": {"items": items()[:1]},
    "two with one id": {"items": [item | {"id": "d"} for item in items()]},
}  # fmt: skip
"""Bodies that a quick way could read otherwise than the slow one, which has the sentences."""


@pytest.mark.parametrize("model", ["linear", "trees"])
@pytest.mark.parametrize("body", UNEVEN)
def test_a_quick_way_gives_what_the_slow_one_gives(client, monkeypatch, body, model):
    given = UNEVEN[body]

    def told():
        answers = post(client, given, model=model), post(client, msgpack.packb(given), "application/msgpack", model)
        return [(one.status_code, one.json() | {"took": 0}) for one in answers]

    quickly = told()
    monkeypatch.setattr("ordino.serve.json_body.plain_rows", lambda *_: None)
    monkeypatch.setattr("ordino.serve.documents.matrix_of", lambda *_: None)
    assert quickly == told()


def document_of(client, model):
    """What the document of the service allows as a body of JSON."""
    from jsonschema import Draft202012Validator

    operation = client.get("/openapi.json").json()["paths"][f"/v1/models/{model}/rank"]["post"]
    return Draft202012Validator(operation["requestBody"]["content"]["application/json"]["schema"])


@pytest.mark.parametrize("model", ["linear", "trees", "unnamed"])
def test_what_the_document_allows_is_accepted_and_what_it_does_not_allow_is_refused(client, model):
    """But for what a schema cannot say: ids, as many as rows, and columns in another order."""
    document = document_of(client, model)
    for name, body in {**UNEVEN, **{name: body for name, (body, _) in WRONG.items() if name != "huge"}}.items():
        answer = post(client, body, model=model)
        beyond = isinstance(body, dict) and body.keys() & {"ids", "features"}
        assert document.is_valid(body) == (answer.status_code == 200) or (beyond and answer.is_success), name


def test_features_may_be_called_like_what_stands_beside_them(tmp_path):
    """A model that has a feature ``id`` reads it as one, and the ids from the other column, if there is one."""
    names = ["id", "features", "rows", "top"]
    rows = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    model = LinearRegressionRanker(scaling=None).fit(
        ordino.Dataset(rows, [0, 1, 2, 0, 1, 2], [1, 1, 1, 2, 2, 2], feature_names=names)
    )
    ordino.save(model, tmp_path / "odd.ordino")
    columns = {name: rows[:, j] for j, name in enumerate(names)}
    given = [{"id": f"d{j}", "features": dict(zip(names, row, strict=True))} for j, row in enumerate(rows.tolist())]
    ids = [f"d{j}" for j in range(6)]
    bodies = {
        "items": ("application/json", {"items": given}),
        "rows": ("application/json", {"rows": rows.tolist(), "features": names, "ids": ids}),
        "msgpack": ("application/msgpack", msgpack.packb({"rows": rows.tobytes(), "features": names, "ids": ids})),
        "arrow": (ARROW, as_arrow({"doc_id": ids} | columns)),
        "arrow without ids": (ARROW, as_arrow(columns)),
    }
    wanted = model.predict(ordino.Dataset(rows, np.zeros(6), feature_names=names)).tolist()
    with service(tmp_path, {"odd": tmp_path / "odd.ordino"}) as served:
        for called, (kind, body) in bodies.items():
            told = post(served.client, body, kind, "odd").json()["items"]
            assert {one["id"]: one["score"] for one in told} == dict(
                zip(range(6) if called == "arrow without ids" else ids, wanted, strict=True)
            )


@pytest.mark.parametrize("row", [0, 2])
def test_a_score_that_is_no_number_is_told_with_its_document(tmp_path, row):
    """Weights and features that float32 can hold make a score that double precision cannot."""
    model = LinearRegressionRanker(scaling=None).fit(small_data())
    model.coef_ = np.full(3, 1e300)
    ordino.save(model, tmp_path / "huge.ordino")
    rows = np.ones((3, 3))
    rows[row] = 1e10
    with service(tmp_path, {"huge": tmp_path / "huge.ordino"}) as served:
        told = post(served.client, {"rows": rows.tolist()}, model="huge")
    assert told.status_code == 400
    assert f"document {row}, from 0, gets the score inf" in told.json()["error"]


def test_documents_without_an_id_are_numbered_among_others_that_have_one(client):
    body = items()
    del body[3]["id"]
    plain, some = ({one["id"]: one["score"] for one in post(client, {"items": given}).json()["items"]}
                   for given in (items(), body))  # fmt: skip
    assert some == {3 if name == "d3" else name: score for name, score in plain.items()}


def test_arrow_columns_may_have_any_kind_of_number(client):
    columns = {NAMES[0]: np.arange(4, dtype=np.float16), NAMES[1]: np.arange(4, dtype=np.uint8), NAMES[2]: [7, 5, 3, 1]}
    rows = np.column_stack([np.asarray(columns[name], float) for name in NAMES]).tolist()
    items = [post(client, body, kind).json()["items"] for kind, body in
             ((ARROW, as_arrow(columns)), ("application/json", {"rows": rows}))]  # fmt: skip
    assert items[0] == items[1]


def test_null_in_arrow_is_a_missing_value(client):
    holes = [None, 1.5, None, 2.0]
    rows = [[1.0, hole, 3.0] for hole in holes]
    columns = {NAMES[0]: [1.0] * 4, NAMES[1]: holes, NAMES[2]: [3.0] * 4}
    items = [post(client, body, kind, "trees").json()["items"] for kind, body in
             ((ARROW, as_arrow(columns)), ("application/json", {"rows": rows}))]  # fmt: skip
    assert items[0] == items[1]


@pytest.mark.parametrize("n", [1, 2, 3, 17, 33])
def test_a_score_does_not_depend_on_the_other_documents(client, ranked, n):
    reply = post(client, {"rows": X[:n].tolist()}, model="net").json() if n <= 10 else None
    if reply is None:
        reply = post(client, {"rows": small_data().X[:n].tolist()}, model="net").json()
    assert {item["id"]: item["score"] for item in reply["items"]} == dict(enumerate(ranked["net"][:n]))


def test_a_network_scores_one_document_as_among_many():
    ranker, docs = network(136, [64, 32]), np.random.default_rng(3).normal(size=(20, 136)).astype(np.float32)
    together = ranker.predict(docs)
    assert [ranker.predict(docs[row : row + 1])[0] for row in range(20)] == together.tolist()


def test_equal_scores_keep_the_order_of_the_request(client):
    reply = post(client, {"rows": [[1, 2, 3]] * 5, "ids": ["c", "a", "e", 7, "a"]}).json()
    assert [item["id"] for item in reply["items"]] == ["c", "a", "e", 7, "a"]


def test_no_documents(client):
    for body in ({"items": []}, {"rows": []}):
        assert post(client, body).json()["items"] == []
    assert post(client, as_npy(np.zeros((0, 3))), "application/x-npy").json()["items"] == []


def test_top(client):
    for reply in (post(client, {"items": items(), "top": 2}), post(client, {"items": items()}, query="?top=2")):
        assert [item["rank"] for item in reply.json()["items"]] == [1, 2]
    assert len(post(client, as_npy(X), "application/x-npy", query="?top=3").json()["items"]) == 3
    for wrong in (0, -1, 1.5, "2", True):
        assert "top is" in post(client, {"items": items(), "top": wrong}).json()["error"]
    for wrong in ("0", "-1", "x", "1.5", "٣", ""):
        assert "top is" in post(client, {"items": items()}, query=f"?top={wrong}").json()["error"]
    assert "the address has 'tpo'" in post(client, {"items": items()}, query="?tpo=1").json()["error"]


@pytest.mark.parametrize("body", BODIES)
def test_every_body_takes_top_and_explain_from_the_address_and_itself_where_it_can(client, body):
    """The body has the last word."""
    kind, content = BODIES[body]

    def told(content, query=""):
        reply = post(client, content, kind, query=query).json()["items"]
        ids = [int(str(one["id"]).removeprefix("d")) for one in reply]
        return ids, [[reason["feature"] for reason in one.get("why", {}).get("reasons", [])] for one in reply]

    plain = post(client, {"items": items(), "top": 3, "explain": True}).json()["items"]
    ids = [int(one["id"].removeprefix("d")) for one in plain]
    why_ = [[reason["feature"] for reason in one.get("why", {}).get("reasons", [])] for one in plain]
    assert why_[0]
    assert told(content, "?top=3&explain=true") == (ids, why_)
    assert told(content, "?top=3") == (ids, [[]] * 3)
    read, write = {"application/json": (json.loads, json.dumps)}.get(
        kind.lower().partition(";")[0], (msgpack.unpackb, msgpack.packb)
    )
    if "arrow" not in body and "npy" not in body:
        given = read(content)
        assert told(write(given | {"top": 3, "explain": True})) == (ids, why_)
        assert told(write(given | {"top": 3, "explain": True}), "?top=1&explain=false") == (ids, why_)
        assert told(write(given | {"top": 2, "explain": False}), "?top=1&explain=true") == (ids[:2], [[]] * 2)


@pytest.mark.parametrize("model", ["linear", "trees", "net"])
def test_explain_tells_why_each_stands_above_the_next(client, model_files, model, monkeypatch):
    reply = post(client, {"items": items(), "top": 3, "explain": True}, model=model).json()
    ranker = ordino.load(model_files[model])
    ids = [item["id"] for item in reply["items"]]
    for above, below, item in zip(ids, ids[1:], reply["items"], strict=False):
        expected = why(ranker, IDS.index(above), IDS.index(below), query=X)
        assert item["why"]["above"] == below
        assert item["why"]["difference"] == pytest.approx(expected.difference)
        assert [one["feature"] for one in item["why"]["reasons"]] == [r.feature for r in expected.reasons if r.adds][:5]
    assert "why" not in reply["items"][-1]
    monkeypatch.setattr("ordino.serve.rank.REASONS", 2)  # the largest
    few = post(client, {"items": items(), "top": 3, "explain": True}, model=model).json()["items"]
    assert [one["why"]["reasons"] for one in few[:-1]] == [one["why"]["reasons"][:2] for one in reply["items"][:-1]]
    refusal = post(client, {"rows": [[1, 2, 3]] * 51, "explain": True}, model=model)
    assert (refusal.status_code, "at most 50" in refusal.json()["error"]) == (400, True)


def test_replies_in_arrow_and_messagepack(client):
    plain = post(client, {"items": items()}).json()
    packed = post(client, {"items": items()}, accept="application/msgpack")
    assert msgpack.unpackb(packed.content)["items"] == plain["items"]
    streamed = post(client, {"items": items()}, accept=f"{ARROW}, application/json;q=0.5")
    assert streamed.headers["content-type"] == ARROW
    table = pa.ipc.open_stream(streamed.content).read_all()
    assert table.to_pylist() == plain["items"]
    assert table.schema.metadata[b"model"] == b"linear"
    mixed = post(client, {"rows": X[:2].tolist(), "ids": ["a", 7]}, accept=ARROW)
    assert sorted(pa.ipc.open_stream(mixed.content).read_all()["id"].to_pylist()) == ["7", "a"]


WRONG = {
    "unknown": ({"items": [{"features": {"bm25": 1, "agee": 2, "clicks": 3}}]}, "unknown feature 'agee'; did you mean"),
    "missing": ({"items": [{"id": "d7", "features": {"bm25": 1, "age": 2}}]}, "item 'd7' has no feature 'clicks'"),
    "null": ({"items": [{"features": {"bm25": 1, "age": 2, "clicks": None}}]}, "item 0: feature 'clicks' is null"),
    "text": (
        {"items": [{"features": {"bm25": 1, "age": "2", "clicks": 3}}]},
        "feature 'age' is '2', which is no number",
    ),
    "boolean": ({"items": [{"features": {"bm25": 1, "age": True, "clicks": 3}}]}, "feature 'age' is 'True'"),
    "too large": ({"items": [{"features": {"bm25": 1, "age": 1e39, "clicks": 3}}]}, "column 'age', which float32"),
    "huge": ({"items": [{"features": {"bm25": 1, "age": 10**400, "clicks": 3}}]}, "not JSON"),
    "big": ({"rows": [[1, 10**30, None]]}, "feature 'clicks' is null"),
    "unknown column": ({"features": ["bm25", "age", "klicks"], "rows": [[1, 2, 3]]}, "unknown feature 'klicks'"),
    "missing column": ({"features": ["bm25", "age"], "rows": [[1, 2]]}, "feature 'clicks' is missing"),
    "features null": ({"features": None, "rows": [[1, 2, 3]]}, "features is null; give a list, or leave it out"),
    "ids null": ({"ids": None, "rows": []}, "ids is null; give a list, or leave it out"),
    "features no list": ({"features": 7, "rows": [[1, True, 3]]}, "features must be a list of names"),
    "column twice": ({"features": ["bm25", "age", "age"], "rows": [[1, 2, 3]]}, "features has 'age' twice"),
    "short row": ({"rows": [[1, 2, 3], [1, 2]]}, "row 1 has 2 values but there are 3 features"),
    "all rows short": ({"rows": [[1, 2], [1, 2]]}, "row 0 has 2 values but there are 3 features"),
    "long and short": ({"rows": [[1, 2, 3, 4], [1, 2]]}, "row 0 has 4 values"),
    "list in a row": ({"rows": [[1, [2], 3]]}, "row 0: feature 'age' is '[2]'"),
    "lists that add up": ({"rows": [[1, [], [2, 3]]]}, "row 0: feature 'age' is '[]'"),
    "row no list": ({"rows": [1, 2, 3]}, "row 0 is no list"),
    "rows no list": ({"rows": {"a": 1}}, "rows must be a list"),
    "null in a row": ({"rows": [[1, None, 3]]}, "row 0: feature 'age' is null"),
    "true in a row": ({"rows": [[1, True, 3]]}, "row 0: feature 'age' is 'True'"),
    "too few ids": ({"rows": [[1, 2, 3]] * 2, "ids": ["a"]}, "there are 1 ids but 2 rows"),
    "wrong ids": ({"rows": [[1, 2, 3]], "ids": [None]}, "ids must be a list of texts or numbers"),
    "wrong id": ({"items": [{"id": [], "features": {}}]}, "the id must be a text or a number"),
    "no features": ({"items": [{"id": "a"}]}, "item 'a' has no features"),
    "no item": ({"items": [7]}, "item 0 is no object"),
    "more in an item": ({"items": [{"feature": {}}]}, "item 0 has 'feature', which is neither id nor features"),
    "items no list": ({"items": "all"}, "items must be a list"),
    "both": ({"items": [], "rows": []}, "give either items or rows"),
    "neither": ({"documents": []}, "give either items or rows"),
    "more": ({"items": [], "tpo": 1}, "the body has 'tpo'; allowed are explain, items, top"),
    "list": ([], "the body must be an object"),
    "explain": ({"items": [], "explain": "yes"}, "explain is 'yes'; it must be true or false"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_by_name(client, case):
    body, sentence = WRONG[case]
    for kind, content in (("application/json", json.dumps(body)), ("application/msgpack", packed(body))):
        if content is not None:
            answer = post(client, content, kind)
            assert answer.status_code == 400
            assert sentence in answer.json()["error"]


NO_NUMBERS = {"null": None, "true": True, "false": False, "text": "2", "list": [2], "object": {"a": 2}}


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize("kind", ["application/json", "application/msgpack"])
def test_what_is_no_number_is_refused_wherever_it_stands(client, kind, value):
    """In the first document or a later one, as the first feature or the last; whatever else there is."""
    for row, column in ((0, 2), (2, 0)):
        rows = [[1.5, 2.0, 3.0], [4.0, 5.5, 6.0], [7.0, 8.0, 9.5]]
        rows[row][column] = NO_NUMBERS[value]
        for body in ({"rows": rows}, {"features": NAMES, "rows": rows}, {"items": items(np.array(rows, object))}):
            answer = post(client, json.dumps(body) if kind.endswith("json") else msgpack.packb(body), kind)
            assert answer.status_code == 400, body
            assert f"feature {NAMES[column]!r} is" in answer.json()["error"]


def packed(body):
    try:
        return msgpack.packb(body)
    except OverflowError:
        return None


@pytest.mark.parametrize(
    ("kind", "body", "sentence"),
    [
        ("application/json", b"{", "the body is not JSON"),
        ("application/json", b"", "the body is not JSON"),
        ("application/json", b'{"rows": [[NaN, 1, 2]]}', "the body is not JSON"),
        ("application/json", b"[" * 100_000, "lists and objects"),
        ("application/msgpack", b"", "not MessagePack"),
        ("application/msgpack", b"\xdd\x3b\x9a\xca\x00", "not MessagePack"),  # a list of 1e9
        ("application/msgpack", b"\x91" * 5000, "not MessagePack"),
        ("application/msgpack", msgpack.packb({"rows": b"1234567"}), "7 bytes, which are no rows of 3 float32"),
        ("application/msgpack", msgpack.packb({"rows": [[float("nan"), 1, 2]]}), "NaN in column 'bm25'"),
        ("application/msgpack", msgpack.packb({"rows": [[float("inf"), 1, 2]]}), "inf in row 0, column 'bm25'"),
        ("application/x-npy", b"", "not an npy array"),
        ("application/x-npy", as_npy(X)[:-1], "values of float32 are 120 bytes but there are 119"),
        ("application/x-npy", as_npy(np.array([{}], dtype=object), allow_pickle=True), "give a matrix of numbers"),
        ("application/x-npy", as_npy(np.zeros(3)), "give a matrix of numbers"),
        ("application/x-npy", as_npy(np.zeros((2, 4))), "the rows have 4 values"),
        ("application/x-npy", as_npy(np.full((2, 3), np.nan)), "NaN in column 'bm25', which LinearRegressionRanker"),
        (
            "application/x-npy",
            as_npy(X).replace(b"(10, 3)", b"(10000000000, 3)"),
            "are 120000000000 bytes but there are 129",
        ),
        (ARROW, b"", "not an Arrow stream"),
        (ARROW, as_arrow(features_of(X))[:500], "not an Arrow stream"),
        (ARROW, as_arrow(features_of(X), compression="zstd"), "the Arrow stream is compressed"),
        (ARROW, as_arrow({"bm25": X[:, 0], "age": X[:, 1]}), "feature 'clicks' is missing"),
        (ARROW, as_arrow(features_of(X) | {"klicks": X[:, 1]}), "unknown feature 'klicks'"),
        (ARROW, as_arrow(features_of(X) | {"age": IDS}), "column 'age' is string; give numbers"),
        (ARROW, as_arrow(features_of(X) | {"id": X[:, 0]}), "the column of ids must hold texts"),
        (ARROW, as_arrow(features_of(X) | {"age": [None] * 10}), "column 'age' is null; give numbers"),
        (ARROW, as_arrow(features_of(X) | {"age": pa.array([None] * 10, pa.int32())}), "NaN in column 'age'"),
        (ARROW, as_arrow(features_of(X) | {"age": pa.array([1e39] * 10)}), "1e+39 in row 0, column 'age'"),
    ],
)
def test_damaged_bodies(client, kind, body, sentence):
    answer = post(client, body, kind)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]


def test_other_types_of_bodies(client):
    for kind in ("text/plain", "", "application/x-www-form-urlencoded", "application/octet-stream"):
        answer = post(client, b"{}", kind)
        assert answer.status_code == 415
        assert "application/json" in answer.json()["error"]
    answer = post(client, b"{}", **{"content-encoding": "gzip"})
    assert (answer.status_code, "compressed" in answer.json()["error"]) == (415, True)


def test_missing_values_where_the_model_takes_them(client, model_files):
    ranker = ordino.load(model_files["trees"])
    expected = ranker.predict(np.array([[1.0, np.nan, np.nan], [2.0, 1.0, 3.0]], np.float32)).tolist()
    full = {"bm25": 2.0, "age": 1.0, "clicks": 3.0}
    bodies = [
        {"items": [{"features": {"bm25": 1.0, "age": None}}, {"features": full}]},
        {"rows": [[1.0, None, None], [2.0, 1.0, 3.0]]},
    ]
    for body in bodies:
        reply = post(client, body, model="trees").json()
        assert {item["id"]: item["score"] for item in reply["items"]} == dict(enumerate(expected))
    for kind, body in (
        ("application/json", {"features": ["bm25"], "rows": [[1.0]]}),
        ("application/msgpack", msgpack.packb({"features": ["bm25"], "rows": np.float32([1]).tobytes()})),
        (ARROW, as_arrow({"bm25": [1.0]})),
    ):
        assert [one["score"] for one in post(client, body, kind, "trees").json()["items"]] == expected[:1]


def test_features_without_names_are_called_f1_f2(client, model_files):
    expected = ordino.load(model_files["unnamed"]).predict(X[:1])[0]
    named = dict(zip(("f1", "f2", "f3"), X[0].tolist(), strict=True))
    assert post(client, {"items": [{"features": named}]}, model="unnamed").json()["items"][0]["score"] == expected


def test_one_feature_alone(tmp_path):
    data = small_data(1, ["bm25"])
    ordino.save(ordino.SingleFeature(feature=1, sign=1).fit(data), tmp_path / "one.ordino")
    with service(tmp_path, {"one": tmp_path / "one.ordino"}) as served:
        reply = post(served.client, {"items": [{"features": {"bm25": 2.0}}, {"features": {"bm25": 3.0}}]}, model="one")
        assert [item["id"] for item in reply.json()["items"]] == [1, 0]


@pytest.mark.parametrize("steps", [(), (OneHot(),)], ids=["trees", "behind OneHot"])
def test_categories_are_texts(tmp_path, steps):
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": pd.Categorical(rng.choice(["a", "b", "c"], 80)), "age": rng.normal(size=80)})
    y = (frame["kind"] == "b").astype(float).to_numpy()
    model = make_pipeline(*steps, LambdaMART(rounds=5, min_leaf=2, seed=0))
    model.fit(frame, y, lambdamart__qid=np.repeat(np.arange(8), 10))
    ordino.save(model if steps else model[-1], tmp_path / "m.ordino")
    expected = model.predict(frame[:10]).tolist()
    texts, ages = frame["kind"][:10].astype(str).tolist(), frame["age"][:10].tolist()
    bodies = [
        ("application/json", {"rows": [list(one) for one in zip(texts, ages, strict=True)]}),
        (
            "application/json",
            {"items": [{"features": {"kind": k, "age": a}} for k, a in zip(texts, ages, strict=True)]},
        ),
        (ARROW, as_arrow({"kind": texts, "age": ages})),
    ]
    with service(tmp_path, {"m": tmp_path / "m.ordino"}) as served:
        for kind, body in bodies:
            reply = post(served.client, body, kind, "m").json()
            assert {item["id"]: item["score"] for item in reply["items"]} == dict(enumerate(expected))
            assert kind == ARROW or document_of(served.client, "m").is_valid(body)
        for body in ({"rows": [[1, 2]]}, {"items": [{"features": {"kind": 1, "age": 2}}]}):
            assert "is categorical" in post(served.client, body, model="m").json()["error"]
            assert not document_of(served.client, "m").is_valid(body)
        assert "categorical" in post(served.client, as_npy(X[:, :2]), "application/x-npy", "m").json()["error"]


def test_limits(tmp_path, model_files):
    files = {"linear": model_files["linear"]}
    with service(tmp_path, files, limits=Limits(bytes=3000, rows=5)) as served:
        for kind, body in (
            ("application/json", json.dumps({"rows": [[1, 2, 3]] * 6})),
            ("application/json", json.dumps({"items": items(X[:6])})),
            ("application/msgpack", msgpack.packb({"rows": X[:6].tobytes()})),
            ("application/x-npy", as_npy(X[:6])),
            (ARROW, as_arrow(features_of(X[:6]))),
        ):
            answer = post(served.client, body, kind)
            assert answer.status_code == 400
            assert "6 documents but this server takes 5" in answer.json()["error"]
        for n in (5, 6):
            for body in ({"items": items(X[:n])}, {"rows": X[:n].tolist()}):
                assert document_of(served.client, "linear").is_valid(body) == (n == 5)
        answer = post(served.client, b" " * 3001)
        assert (answer.status_code, answer.headers["connection"]) == (413, "close")
        assert "more than 3,000 bytes" in answer.json()["error"]


def test_the_largest_features_that_float32_holds_are_scored(client, model_files):
    rows = [[1, 2, 3], [3e38, 3e38, 3e38]]
    expected = ordino.load(model_files["net"]).predict(np.array(rows, np.float32)).tolist()
    reply = post(client, {"rows": rows}, model="net").json()
    assert {item["id"]: item["score"] for item in reply["items"]} == dict(enumerate(expected))
