"""JSON lines and the feature logs of search engines, as a person would have them in a file."""

import gzip
import io
import json
import sys

import numpy as np
import pytest

from ordino import Dataset
from ordino.data import json_lines
from ordino.data.files import read_data, write_data
from ordino.errors import DataError

ROWS = [
    {"qid": "q1", "doc_id": "a", "label": 2, "bm25": 7.5, "age": 1},
    {"qid": "q1", "doc_id": "b", "label": 0, "bm25": 3},
    {"qid": "007", "doc_id": "c", "label": 1, "bm25": None, "age": 2.5},
]


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def check(data):
    assert data.feature_names == ("bm25", "age")
    assert data.query_ids.tolist() == ["q1", "007"]
    assert data.doc_ids.tolist() == ["a", "b", "c"]
    assert data.y.tolist() == [2, 0, 1]
    np.testing.assert_array_equal(data.X, np.float32([[7.5, 1], [3, np.nan], [np.nan, 2.5]]))


def test_a_document_in_each_line(tmp_path, monkeypatch):
    (tmp_path / "t.jsonl").write_text(lines(*ROWS).replace("\n", "\n\n"))
    (tmp_path / "t.json").write_text(json.dumps(ROWS, indent=2))
    (tmp_path / "t.ndjson.gz").write_bytes(gzip.compress(lines(*ROWS).encode()))
    for name in ("t.jsonl", "t.json", "t.ndjson.gz"):
        check(read_data(tmp_path / name))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(lines(*ROWS).encode()))))
    check(read_data("-"))


def test_features_in_an_object_and_small_blocks(tmp_path, monkeypatch):
    roles = ("qid", "doc_id", "label")
    nested = [
        {name: row[name] for name in roles} | {"features": {k: v for k, v in row.items() if k not in roles}}
        for row in ROWS
    ]
    (tmp_path / "t.jsonl").write_text(lines(*nested))
    monkeypatch.setattr(json_lines, "BLOCK", 1)  # kinds and missing columns must agree over blocks
    check(read_data(tmp_path / "t.jsonl"))


@pytest.mark.parametrize("block", [1, 2, 100])
def test_a_feature_that_only_a_later_line_has_is_read(tmp_path, monkeypatch, block):
    rows = [{"qid": 1, "label": 0, "a": 1.0}, {"qid": 1, "label": 1, "b": 2.0}, {"qid": 2, "label": 1, "c": 3, "a": 4}]
    (tmp_path / "t.jsonl").write_text(lines(*rows))
    monkeypatch.setattr(json_lines, "BLOCK", block)
    data = read_data(tmp_path / "t.jsonl")
    assert data.feature_names == ("a", "b", "c")
    nan = np.nan
    np.testing.assert_array_equal(data.X, np.float32([[1, nan, nan], [nan, 2, nan], [4, nan, 3]]))


def test_what_is_written_reads_back_to_the_last_bit(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    X[0, 0], X[1, 1], X[2, 2] = np.nan, 1e-45, np.finfo(np.float32).max
    data = Dataset(X, [0, 1] * 25, qid=["01", "1"] * 25, doc_ids=[f"0{i}" for i in range(50)])
    for name in ("d.jsonl", "d.jsonl.gz", "d.json"):
        write_data(data, tmp_path / name)
        back = read_data(tmp_path / name)
        np.testing.assert_array_equal(back.X, data.X)
        assert back.query_ids.tolist() == ["01", "1"]
        assert back.doc_ids.tolist() == data.doc_ids.tolist()
    assert len(json.loads((tmp_path / "d.json").read_text())) == 50
    first = json.loads((tmp_path / "d.jsonl").read_text().splitlines()[0])
    assert first == {
        "qid": "01",
        "label": 0.0,
        "doc_id": "00",
        "f1": None,
        "f2": float(str(X[0, 1])),
        "f3": float(str(X[0, 2])),
    }


def hit(doc, **features):
    log = [{"name": name} if value is None else {"name": name, "value": value} for name, value in features.items()]
    return {
        "_index": "films",
        "_id": doc,
        "_score": 1.0,
        "_source": {"title": "x"},
        "fields": {"_ltrlog": [{"log": log}]},
    }


def test_answers_of_elasticsearch_and_opensearch(tmp_path):
    one = {"took": 3, "qid": "rambo", "labels": {"7555": 4}, "hits": {"total": {"value": 2}, "hits": [
        hit("7555", title=12.3, body=None), hit("1370", title=0.5, body=1.25)]}}  # fmt: skip
    other = {"qid": "rocky", "labels": {}, "hits": {"hits": [hit("1366", title=2.0, body=3.0)]}}
    (tmp_path / "log.jsonl").write_text(lines(one, other))
    (tmp_path / "log.json").write_text(json.dumps({"responses": [one, other]}, indent=1))  # of _msearch
    for name in ("log.jsonl", "log.json"):
        data = read_data(tmp_path / name)
        assert data.feature_names == ("title", "body")
        assert data.query_ids.tolist() == ["rambo", "rocky"]
        assert data.doc_ids.tolist() == ["7555", "1370", "1366"]
        assert data.y.tolist() == [4, 0, 0]
        np.testing.assert_array_equal(data.X, np.float32([[12.3, 0], [0.5, 1.25], [2, 3]]))


def test_labels_are_found_by_ids_that_are_numbers(tmp_path):
    """Names of an object are text in JSON, whatever the ids are."""
    docs = [{"id": number, "[features]": f"a={number}.0"} for number in (7, 8, 9)]
    answer = {"qid": 1, "labels": {"9": 1, "7": 2}, "response": {"docs": docs}}
    (tmp_path / "log.jsonl").write_text(lines(answer))
    data = read_data(tmp_path / "log.jsonl")
    assert (data.doc_ids.tolist(), data.y.tolist()) == (["7", "8", "9"], [2, 0, 1])


def test_what_a_hit_says_itself_counts_before_its_source(tmp_path):
    said = hit("7555", title=1.0) | {"_source": {"label": 1, "weight": 2.0}, "label": 3}
    (tmp_path / "log.jsonl").write_text(lines({"qid": "rambo", "hits": {"hits": [said]}}))
    data = read_data(tmp_path / "log.jsonl")
    assert (data.y.tolist(), data.weights.tolist()) == ([3], [2.0])


@pytest.mark.parametrize("text", ["originalScore=12.3,isBook=0.0", "originalScore:12.3;isBook:0.0"])
def test_answers_of_solr(tmp_path, text):
    docs = [{"id": "d7", "score": 1.0, "title": "x", "[features]": text, "label": 2}]
    header = {"status": 0, "params": {"q": "test", "qid": "q9", "fl": "id,score,[features]"}}
    (tmp_path / "log.jsonl").write_text(lines({"responseHeader": header, "response": {"numFound": 1, "docs": docs}}))
    data = read_data(tmp_path / "log.jsonl")
    assert (data.feature_names, data.query_ids.tolist(), data.doc_ids.tolist(), data.y.tolist()) == (
        ("originalScore", "isBook"), ["q9"], ["d7"], [2],
    )  # fmt: skip
    assert data.X.tolist() == [[np.float32(12.3), 0]]


def test_the_query_that_was_put_beside_an_answer_counts_before_what_the_engine_echoes(tmp_path):
    answer = {"responseHeader": {"params": {"qid": "echoed"}}, "labels": {"d": 1},
              "response": {"docs": [{"id": "d", "[features]": "bm25=1.0"}]}}  # fmt: skip
    (tmp_path / "log.jsonl").write_text(lines(answer | {"qid": "ours"}, answer))
    assert read_data(tmp_path / "log.jsonl").query_ids.tolist() == ["ours", "echoed"]


def test_answers_without_names_of_queries_are_numbered(tmp_path):
    (tmp_path / "log.jsonl").write_text(
        lines(*({"hits": {"hits": [hit("a", t=1.0), hit("b", t=2.0)]}} for _ in range(3)))
    )
    data = read_data(tmp_path / "log.jsonl", labelled=False)
    assert data.query_ids.tolist() == [1, 2, 3]
    assert data.counts.tolist() == [2, 2, 2]
    answers = [{"hits": {"hits": [hit("a", t=1.0)] * n}} for n in (1, 2, 3)]
    (tmp_path / "several.jsonl").write_text(lines({"responses": answers[:2]}, answers[2], {"responses": answers}))
    several = read_data(tmp_path / "several.jsonl", labelled=False)  # each answer of a multi-search is a query
    assert (several.query_ids.tolist(), several.counts.tolist()) == ([1, 2, 3, 4, 5, 6], [1, 2, 3, 1, 2, 3])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "t.jsonl: the file has no documents"),
        ('{"qid": 1}\n{"qid"\n', "t.jsonl:2: this is not JSON"),
        ('{"qid"', "t.jsonl:1: this is not JSON"),
        ("7\n", "t.jsonl:1: '7' is not an object"),
        ('{"qid": 1, "label": 0, "a": 1}\n{"qid": 1, "label": 0, "a": "x"}\n', "t.jsonl:2: 'a' is 'x', unlike"),
        ('{"qid": 1, "label": 0, "a": [1]}\n', "t.jsonl:1: 'a' is [1], not a number or a text"),
        ('{"qid": 1, "a": 1, "features": {"a": 2}}\n', "t.jsonl:1: 'a' is a column and a feature"),
        ('{"hits": {"hits": [{"_id": "a"}]}}\n', "document 'a' has no logged features; ask for them with ext.ltr_log"),
        ('{"hits": {"hits": [{}]}}\n', "t.jsonl:1: this is not an answer with logged features"),
        ('{"response": {"docs": [{"id": 1, "[features]": "a=x"}]}}\n', "'a=x' is not NAME=NUMBER"),
        ('{"label": 0, "a": 1}\n', "there is no column 'qid'"),
        ('[{"qid": 1, "label": 0, "a": 1}, 7]', "t.jsonl, item 2: '7' is not an object"),
        ('[{"qid": 1, "a": 1},\n {"qid": 1, "a": "x"}]', "t.jsonl, item 2: 'a' is 'x', unlike"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path, text, sentence):
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(DataError) as error:
        read_data(tmp_path / "t.jsonl", labelled=False)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_damaged_gzip_is_told(tmp_path):
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(lines(*ROWS).encode())[:-9])
    with pytest.raises(DataError, match=r"cannot be read .* check that it is complete"):
        read_data(tmp_path / "t.jsonl.gz")


def test_a_value_of_another_kind_is_told_with_its_own_line(tmp_path):
    """Whole numbers and others are of one kind."""
    rows = [{"qid": 1, "label": 0, "a": value} for value in (1, 2.5, "x")]
    (tmp_path / "t.jsonl").write_text(lines(*rows))
    with pytest.raises(DataError, match=r"t\.jsonl:3: 'a' is 'x', unlike the lines before"):
        read_data(tmp_path / "t.jsonl")


def test_labels_that_were_put_beside_an_answer_count_before_those_of_its_documents(tmp_path):
    log = [{"log": [{"name": "bm25", "value": 7.5}]}]
    hits = [{"_id": one, "_source": {"label": 4}, "fields": {"_ltrlog": log}} for one in ("a", "b")]
    (tmp_path / "log.jsonl").write_text(lines({"qid": "q", "labels": {"a": 2}, "hits": {"hits": hits}}))
    assert read_data(tmp_path / "log.jsonl").y.tolist() == [2, 0]  # and a document that they leave out has 0


def test_a_json_list_comes_through_standard_input_too(monkeypatch):
    text = json.dumps(ROWS, indent=2)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
    check(read_data("-"))
