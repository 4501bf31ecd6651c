"""Runs as features: against a slow loop, what is missing, what is judged, what joins by key, and what is refused."""

import tracemalloc

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino import Dataset, RankFusion, read_data
from ordino.data.files import write_data
from ordino.data.runs import PARTS, from_runs
from ordino.errors import DataError
from shell import ordino

DOCS = [f"d{i}" for i in range(7)]
SCORES = st.sampled_from([0.0, 0.25, 0.5, -2.0, 1e3])
LISTS = st.dictionaries(st.sampled_from(DOCS), SCORES, min_size=1)
RUNS = st.dictionaries(st.sampled_from("abc"), LISTS, min_size=1)
BM25 = {"q": {"a": 7.5, "b": 3.0, "c": 3.0}}
DENSE = {"q": {"c": 0.9, "d": 0.4}, "r": {"a": 0.1}}


def slow_features(run: dict, query: str, pool: list) -> list:
    """The four features of one run, document by document."""
    listed = run.get(query, {})
    rows = []
    for doc in pool:
        if doc in listed:
            above = sum(score > listed[doc] for score in listed.values())
            equal = sum(score == listed[doc] for score in listed.values())
            rank = above + (1 + equal) / 2
            rows.append([listed[doc], rank, 1 / (60 + rank), 0])
        else:
            rows.append([min(listed.values()), len(listed) + 1, 0, 1] if listed else [0, len(pool) + 1, 0, 1])
    return rows


@given(RUNS, RUNS)
def test_features_are_those_of_a_slow_loop(one, two):
    data = from_runs({"one": one, "two": two})
    assert data.query_ids.tolist() == list(dict.fromkeys([*one, *two]))
    for query in data:
        pool = query.doc_ids.tolist()
        assert pool == list(dict.fromkeys([*one.get(query.query_id, {}), *two.get(query.query_id, {})]))
        expected = np.hstack([slow_features(run, query.query_id, pool) for run in (one, two)])
        np.testing.assert_allclose(query.X, expected, rtol=1e-6)


def test_a_file_is_what_a_dictionary_is(tmp_path):
    lines = [f"{q} Q0 {d} 1 {s} me\n" for q, found in DENSE.items() for d, s in found.items()]
    (tmp_path / "dense.run").write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text("q 0 a 2\nq 0 z 1\nr 0 a -1\n")
    ours = from_runs({"bm25": BM25, "dense": tmp_path / "dense.run"}, str(tmp_path / "qrels.txt"))
    theirs = from_runs({"bm25": BM25, "dense": DENSE}, {"q": {"a": 2, "z": 1}, "r": {"a": -1}})
    np.testing.assert_array_equal(ours.X, theirs.X)
    assert ours.feature_names == tuple(f"{name}_{part}" for name in ("bm25", "dense") for part in PARTS)
    assert ours.y.tolist() == theirs.y.tolist() == [2, 0, 0, 0, 0]
    assert ours.judged.tolist() == [True, False, False, False, True]


def test_ids_that_are_numbers_find_their_judgments():
    """Ids of runs are text, so those of judgments must be too: every label was 0 without a word."""
    data = from_runs({"bm25": {7: {1: 2.0, 2: 1.0}}}, {7: {1: 0, 2: 3}})
    assert (data.query_ids.tolist(), data.doc_ids.tolist()) == (["7"], ["1", "2"])
    assert (data.y.tolist(), data.judged.tolist()) == ([0, 3], [True, True])


def test_what_nobody_judged_counts_0_or_is_left_out():
    qrels = {"q": {"a": 2, "d": 0}, "unknown": {"a": 1}}
    kept = from_runs({"bm25": BM25, "dense": DENSE}, qrels)
    assert kept.query_ids.tolist() == ["q"]
    left = from_runs({"bm25": BM25, "dense": DENSE}, qrels, unjudged="drop")
    assert left.doc_ids.tolist() == ["a", "d"]
    np.testing.assert_array_equal(left.X, kept.X[kept.judged])
    assert left.judged.all()


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.arrow", "t.jsonl", "t.feather"])
def test_the_mark_goes_with_the_rows_and_is_no_feature(tmp_path, name):
    data = from_runs({"bm25": BM25, "dense": DENSE}, {"q": {"a": 2, "d": 0}, "r": {}})
    write_data(data, tmp_path / name)
    again = read_data(tmp_path / name)
    assert again.feature_names == data.feature_names
    assert again.judged.tolist() == data.judged.tolist() == [True, False, False, True, False]
    assert again.select_queries([1]).judged.tolist() == [False]
    assert again.with_weights(np.ones(5)).judged.tolist() == data.judged.tolist()
    assert data[0].judged.tolist() == [True, False, False, True]


def test_more_features_join_by_document_by_query_or_by_both(tmp_path):
    pl.DataFrame({"doc_id": ["a", "c"], "age": [3.0, 4.0]}).write_csv(tmp_path / "docs.csv")
    by_query = pl.DataFrame({"qid": ["q", "r"], "words": [2, 5]})
    by_both = pl.DataFrame({"qid": ["r", "q"], "doc_id": ["a", "d"], "clicks": [1, 9]})
    data = from_runs({"bm25": BM25, "dense": DENSE}, features=[str(tmp_path / "docs.csv"), by_query, by_both])
    assert data.feature_names[8:] == ("age", "words", "clicks")
    nan = np.nan
    expected = [[3, 2, nan], [nan, 2, nan], [4, 2, nan], [nan, 2, 9], [3, 5, 1]]
    np.testing.assert_array_equal(data.X[:, 8:], expected)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (pl.DataFrame({"url": ["a"]}), "there is no key"),
        (pl.DataFrame({"doc_id": ["a", "a"], "age": [1, 2]}), "a is listed twice"),
        (pl.DataFrame({"doc_id": ["z"], "age": [1]}), "none of the documents"),
        (pl.DataFrame({"doc_id": ["a"], "bm25_rr": [1]}), "already a feature 'bm25_rr'"),
        (pl.DataFrame({"doc_id": ["a"], "title": ["x"]}), "title"),
    ],
)
def test_features_that_cannot_join(more, sentence):
    with pytest.raises(DataError, match=sentence):
        from_runs({"bm25": BM25}, features=more)


@pytest.mark.parametrize(
    ("runs", "qrels", "sentence"),
    [
        ({}, None, "there are no runs"),
        ({"bm25": {}}, None, "'bm25': the run is empty"),
        ({"a b": BM25}, None, "a run is called 'a b'"),
        ({"bm25": BM25}, {"z": {"a": 1}}, "none of the judged queries"),
        ({"bm25": {"q": {"a": float("nan")}}}, None, "must be finite"),
    ],
)
def test_runs_that_cannot_be_joined(runs, qrels, sentence):
    with pytest.raises(DataError, match=sentence):
        from_runs(runs, qrels)


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "bad.run").write_text("q Q0 a 1 9 me\nq Q0 a 2 8 me\n")
    with pytest.raises(DataError, match=r"bad.run: query q has document a twice; keep one"):
        from_runs({"bad": tmp_path / "bad.run"})
    (tmp_path / "bad.run").write_text("q Q0 a 1 9 me\nq Q0 b 2 nan me\n")
    with pytest.raises(DataError, match=r"bad.run:2: score 'nan' is not a finite number"):
        from_runs({"bad": tmp_path / "bad.run"})


def test_the_sum_of_reciprocal_ranks_is_reciprocal_rank_fusion():
    data = from_runs({"bm25": BM25, "dense": DENSE}, {"q": {"c": 1}, "r": {"a": 1}})
    np.testing.assert_allclose(RankFusion().fit(data).predict(data), data.X[:, [2, 6]].sum(axis=1), rtol=1e-6)


def test_memory_stays_near_that_of_the_features(tmp_path):
    """60,000 lines in two files: no dictionary of dictionaries, which would take over 100 bytes a line."""

    for name, step in (("a", 1), ("b", 7)):
        rows = (f"q{q} Q0 d{(d * step) % 4000} 1 {d}.5 x\n" for q in range(20) for d in range(1500))
        (tmp_path / f"{name}.run").write_text("".join(rows))
    tracemalloc.start()
    data = from_runs({"a": tmp_path / "a.run", "b": tmp_path / "b.run"})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert data.n_docs > 40_000
    assert peak < 2.5 * (data.X.nbytes + data.doc_ids.nbytes) + 24 * 60_000


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        rows = [f"{q} Q0 {d} 1 {s} me\n" for q, found in run.items() for d, s in found.items()]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    (tmp_path / "qrels.txt").write_text("q 0 a 2\nq 0 z 1\nr 0 a 1\n")
    (tmp_path / "docs.csv").write_text("doc_id,age,url\na,3,x\n")
    words = ["convert", "--run", "bm25=bm25.run", "--run", "dense=dense.run", "--qrels", "qrels.txt"]
    assert ordino(*words, "--features", "docs.csv", "--drop", "dense_rank", "out.parquet") == 1
    assert "url" in capsys.readouterr().err
    (tmp_path / "docs.csv").write_text("doc_id,age\na,3\n")
    assert ordino(*words, "--features", "docs.csv", "--drop", "dense_rank", "out.parquet") == 0
    assert "the runs retrieved 2 of 3 relevant documents; 2 of 5 are judged" in capsys.readouterr().err
    data = read_data(tmp_path / "out.parquet")
    assert data.feature_names[-2:] == ("dense_missing", "age")
    assert ordino(*words, "--unjudged", "drop", "out.csv") == 0
    assert read_data(tmp_path / "out.csv").doc_ids.tolist() == ["a", "a"]
    assert ordino("convert", "--run", "bm25.run", "out.csv") == 1
    assert "has no name; write name=file" in capsys.readouterr().err
    assert ordino("convert", "--run", "a=bm25.run", "--run", "a=dense.run", "out.csv") == 1
    assert ordino("convert", "out.csv", "x.csv", "--qrels", "qrels.txt") == 2
    assert ordino("convert", "out.csv") == 2


def test_a_mark_must_fit():
    with pytest.raises(DataError, match="judged must be 2 booleans"):
        Dataset([[1.0], [2.0]], [0, 1], judged=[True])
    mixed = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["b", "a", "b"], judged=[True, False, False])
    assert mixed.judged.tolist() == [True, False, False]
    assert mixed.restore(mixed.judged).tolist() == [True, False, False]
