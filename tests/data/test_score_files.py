"""Ranks by hand, and every form in which a ranking is written."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino import Dataset
from ordino.data.files import read_data, read_file
from ordino.data.trec import ranks, read_scores, write_ranked
from ordino.errors import DataError, ParameterError

DATA = Dataset([[0.5], [1.5], [2.5]], [1, 0, 2], qid=["a", "b", "a"], doc_ids=["x", "y", "z"])
SCORES = np.array([0.25, 7.0, 0.75])  # in query a, z stands above x


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=30))
def test_ranks_count_who_stands_before(rows):
    qid, scores = np.array(rows).T
    data = Dataset(np.zeros((len(rows), 1)), np.zeros(len(rows)), qid)
    expected = [
        1 + sum(q == qid[i] and (s > scores[i] or (s == scores[i] and j < i)) for j, (q, s) in enumerate(rows))
        for i in range(len(rows))
    ]
    assert ranks(data, scores.astype(float)).tolist() == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.txt", "0.25\n7.0\n0.75\n"),
        ("s.run", "a Q0 z 1 0.75 ordino\na Q0 x 2 0.25 ordino\nb Q0 y 1 7.0 ordino\n"),
        (
            "s.letor",
            "1 qid:a 1:0.5 #docid = x rank = 2 score = 0.25\n"
            "0 qid:b 1:1.5 #docid = y rank = 1 score = 7.0\n"
            "2 qid:a 1:2.5 #docid = z rank = 1 score = 0.75\n",
        ),
    ],
)
def test_texts(name, text, tmp_path):
    write_ranked(DATA, SCORES, str(tmp_path / name))
    assert (tmp_path / name).read_text() == text
    write_ranked(DATA, SCORES, str(tmp_path / f"{name}.gz"))
    assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()).decode() == text


@pytest.mark.parametrize("name", ["s.csv", "s.csv.gz", "s.tsv", "s.parquet", "s.feather"])
def test_tables(name, tmp_path):
    write_ranked(DATA, SCORES, str(tmp_path / name))
    table = read_file(tmp_path / name)
    assert table.column_names == ["qid", "label", "doc_id", "f1", "rank", "score"]
    assert (table["rank"].to_pylist(), table["score"].to_pylist()) == ([2, 1, 1], SCORES.tolist())
    assert read_data(tmp_path / name, features=["f1"]).X.ravel().tolist() == [0.5, 2.5, 1.5]


def test_a_document_without_a_name_has_its_rank_in_a_comment_too(tmp_path):
    write_ranked(Dataset([[1.0]], [0], [3]), np.array([0.5]), str(tmp_path / "one.svm"))
    assert (tmp_path / "one.svm").read_text() == "0 qid:3 1:1 # rank = 1 score = 0.5\n"


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="unknown format 'tree'; did you mean 'trec'"):
        write_ranked(DATA, SCORES, "-", form="tree")
    table = read_table_with_rank(tmp_path)
    with pytest.raises(DataError, match="there is already a column 'rank'"):
        write_ranked(DATA, SCORES, str(tmp_path / "again.csv"), table=table)


def read_table_with_rank(folder):
    write_ranked(DATA, SCORES, str(folder / "ranked.csv"))
    return read_file(folder / "ranked.csv")


def test_last_column_of_a_line_is_the_score(tmp_path):
    file = tmp_path / "scores.txt"
    file.write_text("# made by hand\n1\t0\t0.25\n\n1\t1\t-3\n")
    assert read_scores(file, n_docs=2).tolist() == [0.25, -3.0]


@given(st.lists(st.floats(allow_nan=False)))
def test_what_is_written_is_read_back(tmp_path_factory, values):
    file = tmp_path_factory.mktemp("scores") / "scores.txt"
    data = Dataset(np.zeros((len(values), 1)), np.zeros(len(values)))
    write_ranked(data, np.array(values, dtype=float), str(file))
    assert read_scores(file).tolist() == values


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0.5\nhigh\n", ":2: 'high' is not a number; write one score per line"),
        ("nan\n", ":1: NaN cannot be ranked; write a number"),
        ("0.5\n", ": 1 scores for 2 documents; write one line for each document"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, text, sentence):
    file = tmp_path / "scores.txt"
    file.write_text(text)
    with pytest.raises(DataError) as error:
        read_scores(file, n_docs=2)
    assert str(error.value) == f"{file}{sentence}"
