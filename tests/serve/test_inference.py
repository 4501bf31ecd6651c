"""Open Inference Protocol, version 2: JSON and binary tensors."""

import json
import struct

import numpy as np
import pytest

import ordino
from serving import small_data

X = small_data().X[:6]
PATH = "/v2/models/linear/infer"


def tensor(**changes):
    return {"name": "features", "datatype": "FP32", "shape": [6, 3], "data": X.tolist()} | changes


def send(client, inputs, path=PATH, **more):
    return client.post(path, json={"inputs": inputs, **more})


def send_binary(client, array, datatype="FP32", **changes):
    sized = {"parameters": {"binary_data_size": array.nbytes}} | changes
    inputs = {"name": "features", "datatype": datatype, "shape": list(array.shape), **sized}
    head = json.dumps({"inputs": [inputs], "parameters": {"binary_data_output": True}}).encode()
    headers = {"inference-header-content-length": str(len(head)), "content-type": "application/octet-stream"}
    return client.post(PATH, content=head + array.tobytes(), headers=headers)


@pytest.fixture(scope="module")
def expected(model_files):
    return ordino.load(model_files["linear"]).predict(X).tolist()


def test_metadata(client):
    assert client.get("/v2").json()["name"] == "ordino"
    assert client.get("/v2/health/ready").status_code == 200
    told = client.get("/v2/models/linear").json()
    assert told["inputs"] == [{"name": "features", "datatype": "FP32", "shape": [-1, 3]}]
    [version] = told["versions"]
    assert client.get(f"/v2/models/linear/versions/{version}/ready").json() == {"name": "linear", "ready": True}
    assert client.get("/v2/models/linear/versions/0/ready").status_code == 404
    assert client.get("/v2/models/linaer/ready").status_code == 404


def test_rows_and_flat_lists(client, expected):
    version = client.get("/v2/models/linear").json()["versions"][0]
    for inputs in (tensor(), tensor(data=X.ravel().tolist()), tensor(datatype="FP64")):
        reply = send(client, [inputs], id="7", path=f"/v2/models/linear/versions/{version}/infer").json()
        scores, ranks = reply["outputs"]
        assert (reply["model_name"], reply["id"]) == ("linear", "7")
        assert scores == {"name": "scores", "datatype": "FP64", "shape": [6], "data": expected}
        order = np.argsort(-np.array(expected), kind="stable")
        assert [ranks["data"][row] for row in order] == [1, 2, 3, 4, 5, 6]


def test_outputs_that_are_asked_for(client):
    reply = send(client, [tensor()], outputs=[{"name": "ranks"}]).json()
    assert [one["name"] for one in reply["outputs"]] == ["ranks"]


MIXED = {
    "one as bytes": ({}, [("ranks", {"binary_data": True}), ("scores", {})], ["ranks"]),
    "all but one": ({"binary_data_output": True}, [("ranks", {"binary_data": False}), ("scores", {})], ["scores"]),
    "both, the other way round": ({"binary_data_output": True}, [("ranks", {}), ("scores", {})], ["ranks", "scores"]),
    "each for itself": ({}, [("scores", {"binary_data": True}), ("ranks", {"binary_data": True})], ["scores", "ranks"]),
}


@pytest.mark.parametrize("case", MIXED)
def test_every_output_comes_as_it_was_asked_for_in_that_order(client, expected, case):
    parameters, asked, binary = MIXED[case]
    outputs = [{"name": name, "parameters": own} for name, own in asked]
    answer = send(client, [tensor()], parameters=parameters, outputs=outputs)
    length = int(answer.headers["inference-header-content-length"])
    found, rest = json.loads(answer.content[:length])["outputs"], answer.content[length:]
    ranks = np.empty(6, int)
    ranks[np.argsort(-np.array(expected), kind="stable")] = np.arange(1, 7)
    known = {"scores": ("<6d", expected), "ranks": ("<6q", ranks.tolist())}
    assert [one["name"] for one in found] == [name for name, _ in asked]
    for one in found:
        kind, values = known[one["name"]]
        if one["name"] in binary:
            own, rest = rest[:48], rest[48:]
            assert list(struct.unpack(kind, own)) == values
        assert one.get("data") == (None if one["name"] in binary else values)
        assert one.get("parameters") == ({"binary_data_size": 48} if one["name"] in binary else None)
    assert not rest


@pytest.mark.parametrize(("kind", "name"), [("<i4", "INT32"), ("<i8", "INT64"), ("<f4", "FP32"), ("<f8", "FP64")])
def test_whole_numbers_are_scored_as_others(client, model_files, kind, name):
    rows = np.array([[3, 1, 2], [0, -7, 5]])
    answer = send_binary(client, rows.astype(kind), name)
    binary = answer.content[int(answer.headers["inference-header-content-length"]) :]
    scores = ordino.load(model_files["linear"]).predict(rows.astype(np.float32)).tolist()
    assert list(struct.unpack("<2d", binary[:16])) == scores


@pytest.mark.parametrize(("kind", "name"), [("<f4", "FP32"), ("<f8", "FP64")])
def test_binary_tensors(client, expected, kind, name):
    answer = send_binary(client, X.astype(kind), name)
    length = int(answer.headers["inference-header-content-length"])
    reply, binary = json.loads(answer.content[:length]), answer.content[length:]
    assert [one["parameters"]["binary_data_size"] for one in reply["outputs"]] == [48, 48]
    assert list(struct.unpack("<6d", binary[:48])) == expected
    order = np.argsort(-np.array(expected), kind="stable")
    assert [struct.unpack("<6q", binary[48:])[row] for row in order] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ([], "inputs must be a list with one object"),
        ([tensor(name="x")], "the input must have the name 'features'"),
        ([tensor(datatype="BYTES")], "datatype must be one of"),
        ([tensor(shape=[6])], "shape must be [documents, features]"),
        ([tensor(shape=[6, -3])], "shape must be [documents, features]"),
        ([tensor(shape=[6, 4])], "the rows have 4 values but model 'linear' has 3"),
        ([tensor(shape=[5, 3])], "data must have the shape [5, 3]"),
        ([tensor(shape=[10**9, 3])], "1,000,000,000 documents but this server takes 10,000"),
        ([tensor(data=[[1, 2]] * 6)], "row 0 has 2 values"),
        ([tensor(data="x")], "data must have the shape"),
        ([tensor(parameters=7)], "parameters must be an object"),
    ],
)
def test_what_is_wrong_is_told(client, inputs, sentence):
    answer = send(client, inputs)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]


def test_wrong_binary_tensors(client):
    assert "72 bytes but there are 60" in send_binary(client, X[:5], shape=[6, 3]).json()["error"]
    assert "binary_data_size" in send_binary(client, X, parameters={"binary_data_size": 3}).json()["error"]
    for length in ("x", "99999", "-1"):
        headers = {"inference-header-content-length": length}
        assert "must be the number of bytes" in client.post(PATH, content=b"{}", headers=headers).json()["error"]
    for more in ({"id": 7}, {"outputs": []}, {"outputs": [{"name": "x"}]}, {"parameters": []}, {"other": 1}):
        assert send(client, [tensor()], **more).status_code == 400
    assert "true or false" in send(client, [tensor()], parameters={"binary_data_output": 1}).json()["error"]
