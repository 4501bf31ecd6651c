"""TREC files: read, refused with file:line, joined as trec_eval joins them, and written."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino import Dataset, evaluate
from ordino.data.trec import is_run, join_run, read_qrels, read_run, write_run
from ordino.errors import DataError

# labels start at 0, because pytrec_eval may loop forever on negative ones
DOCNOS = [f"d{i}" for i in range(8)]
QRELS = st.dictionaries(
    st.sampled_from("abc"), st.dictionaries(st.sampled_from(DOCNOS), st.integers(0, 3), min_size=1), min_size=1
)
SCORES = st.sampled_from([0.0, 0.1, 0.1 + 1e-12, 0.5, -2.0, 1e3])
RUNS = st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from(DOCNOS), SCORES, min_size=1), min_size=1)


def slow_values(y: np.ndarray, scores: np.ndarray, doc_ids: np.ndarray) -> dict[str, float]:
    """trec_eval's measures of one joined query: rows with score -inf are known but have no rank."""
    retrieved = [i for i in range(len(y)) if scores[i] > -math.inf]
    ranked = sorted(retrieved, key=lambda i: (np.float32(scores[i]), doc_ids[i]), reverse=True)
    labels = [y[i] for i in ranked]
    n_relevant = sum(y > 0)
    hits = [rank for rank, label in enumerate(labels, 1) if label > 0]
    ideal = sum(label / math.log2(rank + 1) for rank, label in enumerate(sorted(y, reverse=True), 1))
    return {
        "map": sum((n + 1) / rank for n, rank in enumerate(hits)) / max(n_relevant, 1),
        "recip_rank": 1 / hits[0] if hits else 0.0,
        "P_5": sum(rank <= 5 for rank in hits) / 5,
        "recall_5": sum(rank <= 5 for rank in hits) / max(n_relevant, 1),
        "ndcg": sum(label / math.log2(rank + 1) for rank, label in enumerate(labels, 1)) / (ideal or 1),
    }


@settings(deadline=None)
@given(QRELS, RUNS)
def test_joined_rows_hold_all_that_trec_eval_measures(qrels: dict, run: dict) -> None:
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"map", "recip_rank", "P", "recall", "ndcg"}).evaluate(run)
    if not set(qrels) & set(run):
        with pytest.raises(
            DataError, match=r"^the run has none of the judged queries; compare the query ids of the two"
        ):
            join_run(qrels, run)
        return
    y, scores, qid, doc_ids = join_run(qrels, run)
    assert set(qid) == set(expected)
    for query, values in expected.items():
        rows = qid == query
        found = slow_values(y[rows], scores[rows], doc_ids[rows])
        assert found == pytest.approx({name: values[name] for name in found}, abs=1e-12)


@settings(deadline=None)
@given(QRELS, RUNS)
def test_complete_keeps_every_judged_query(qrels: dict, run: dict) -> None:
    y, scores, qid, doc_ids = join_run(qrels, run, complete=True)
    assert list(dict.fromkeys(qid.tolist())) == list(qrels)
    for query in set(qrels) - set(run):
        assert (scores[qid == query] == -math.inf).all()
        assert doc_ids[qid == query].tolist() == list(qrels[query])
        assert y[qid == query].tolist() == [max(label, 0) for label in qrels[query].values()]


def test_equal_scores_stand_by_docno_and_the_unjudged_has_label_0() -> None:
    judged = join_run(
        {"q": {"b": 2, "z": 1, "s": -2}}, {"q": {"c": 1.0, "b": 1.0, "a": 2.0, "s": 0.5}, "other": {"b": 1.0}}
    )
    assert judged.doc_ids.tolist() == ["a", "b", "c", "s", "z"]
    assert judged.y.tolist() == [0, 2, 0, 0, 1]
    assert judged.scores.tolist() == [2, 1, 1, 0.5, -math.inf]
    assert judged.qid.tolist() == ["q"] * 5


def test_files_plain_zipped_with_tabs_and_a_mark(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_bytes("\ufeff301 0 d1 1\r\n\n301\t0\td2\t-1\n302 0 é 3".encode())
    assert read_qrels(tmp_path / "q.txt") == {"301": {"d1": 1, "d2": -1}, "302": {"é": 3}}
    (tmp_path / "r").write_bytes(gzip.compress(b"301 Q0 d1 1 -0.5 tag\n301 Q0 d2 0 1e3 tag\n"))
    assert read_run(tmp_path / "r") == {"301": {"d1": -0.5, "d2": 1000.0}}


@pytest.mark.parametrize(
    ("read", "text", "sentence"),
    [
        (read_qrels, "1 0 d 1\n1 0 e", r":2: 3 words instead of 4; write: qid 0 docno relevance"),
        (read_qrels, "1 0 d x", r":1: relevance 'x' is not a whole number"),
        (read_qrels, "1 0 d 1\n2 0 d 1\n\n1 0 d 0", r":4: query 1 already has document d; keep one of the two lines"),
        (read_run, "1 Q0 d 1 0.5", r":1: 5 words instead of 6; write: qid Q0 docno rank score tag"),
        (read_run, "1 Q0 d 1 high t", r":1: score 'high' is not a finite number"),
        (read_run, "1 Q0 d 1 -inf t", r":1: score '-inf' is not a finite number"),
        (read_run, "1 Q0 d 1 2 t\n1 Q0 d 2 1 t", r":2: query 1 already has document d; keep one of the two lines"),
        (read_run, None, r": there is no such file"),
    ],
)
def test_sentences(tmp_path: Path, read, text: str | None, sentence: str) -> None:
    if text is not None:
        (tmp_path / "file.txt").write_text(text)
    with pytest.raises(DataError, match=rf"^[^\n]*file\.txt{sentence}$"):
        read(tmp_path / "file.txt")


def test_a_damaged_gzip_file(tmp_path: Path) -> None:
    whole = gzip.compress("".join(f"1 0 d{i} 1\n" for i in range(100)).encode())
    for broken in (whole[:30], whole[:20] + b"\0\0\0\0" + whole[24:]):
        (tmp_path / "q.gz").write_bytes(broken)
        with pytest.raises(DataError, match=r"q\.gz: cannot be read \(.*\); check that it is complete$"):
            read_qrels(tmp_path / "q.gz")


@pytest.mark.parametrize("name", ["run.txt", "run.gz"])
def test_a_written_run_reads_back_best_first(tmp_path: Path, name: str) -> None:
    data = Dataset(np.zeros((4, 1)), np.zeros(4), qid=["b", "a", "b", "b"], doc_ids=["w", "x", "y", "z"])
    write_run(data, [0.1, 7.0, 0.3, 0.1], tmp_path / name, tag="mine")
    assert read_run(tmp_path / name) == {"b": {"y": 0.3, "w": 0.1, "z": 0.1}, "a": {"x": 7.0}}
    raw = (tmp_path / name).read_bytes()
    text = (gzip.decompress(raw) if name.endswith("gz") else raw).decode()
    assert text.splitlines()[:2] == ["b Q0 y 1 0.3 mine", "b Q0 w 2 0.1 mine"]


def test_without_ids_documents_are_called_by_row(tmp_path: Path) -> None:
    write_run(Dataset(np.zeros((3, 1)), np.zeros(3), qid=[5, 6, 5]), [1, 2, 3], tmp_path / "run.txt")
    assert read_run(tmp_path / "run.txt") == {"5": {"2": 3.0, "0": 1.0}, "6": {"1": 2.0}}


def test_what_a_run_cannot_hold(tmp_path: Path) -> None:
    data = Dataset([[1.0]], [0], qid=["two words"])
    with pytest.raises(
        DataError, match=r"^the query id 'two words' is not one word; a TREC run needs words without blanks$"
    ):
        write_run(data, [1.0], tmp_path / "r.txt")
    with pytest.raises(DataError, match=r"^the tag '' is not one word"):
        write_run(Dataset([[1.0]], [0]), [1.0], tmp_path / "r.txt", tag="")
    with pytest.raises(DataError, match=r"^scores has shape \(2,\) but X has 1 rows; give one score for each row$"):
        write_run(data, [1.0, 2.0], tmp_path / "r.txt")


def assert_evaluate_agrees(qrels: dict, run: dict) -> None:
    """``evaluate`` of the joined rows in the profile "trec" gives what pytrec_eval gives."""
    names = {
        "map": "map",
        "mrr": "recip_rank",
        "p@5": "P_5",
        "recall@5": "recall_5",
        "ndcg": "ndcg",
        "ndcg@5": "ndcg_cut_5",
    }
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"map", "recip_rank", "P", "recall", "ndcg", "ndcg_cut"}).evaluate(
        run
    )
    judged = join_run(qrels, run)
    for doc_ids in (None, judged.doc_ids):
        result = evaluate(judged.y, judged.scores, qid=judged.qid, metrics=list(names), profile="trec", doc_ids=doc_ids)
        for ours, theirs in names.items():
            wanted = [expected[query][theirs] for query in result.query_ids]
            assert result.per_query[ours].tolist() == pytest.approx(wanted, abs=1e-12), ours


@settings(deadline=None)
@given(QRELS, RUNS)
def test_evaluate_agrees_where_all_that_is_judged_is_retrieved(qrels: dict, run: dict) -> None:
    everything = {
        query: run.get(query, {}) | {docno: -5.0 for docno in labels if docno not in run.get(query, {})}
        for query, labels in qrels.items()
    }
    assert_evaluate_agrees(qrels, everything)


def test_evaluate_agrees_where_relevant_documents_are_not_retrieved() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        qrels = {q: {d: int(rng.integers(4)) for d in rng.choice(DOCNOS, 4, replace=False)} for q in "abc"}
        run = {q: {d: float(rng.integers(3)) for d in rng.choice(DOCNOS, 3, replace=False)} for q in "abc"}
        assert_evaluate_agrees(qrels, run)


def test_a_run_whose_tag_has_blanks_looks_like_one(tmp_path):
    for line, expected in (("q Q0 d 1 0.5 my tag", True), ("q q0 d 1 0.5 tag", True), ("q Q0 d 1 0.5", False)):
        (tmp_path / "r.txt").write_text(f"# a comment\n{line}\n")
        assert is_run(tmp_path / "r.txt") == expected


def test_spam_that_was_not_retrieved_is_irrelevant_too():
    judged = join_run({"q": {"a": 1, "b": -2, "c": -1}}, {"q": {"a": 0.5, "b": 0.25}})
    assert judged.y.tolist() == [1, 0, 0]
