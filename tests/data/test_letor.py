"""LETOR text in and out, by hand."""

from __future__ import annotations

import gzip
import io
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from ordino.data import letor, letor_text
from ordino.data.dataset import Dataset
from ordino.data.letor import read_letor, write_letor
from ordino.errors import DataError, LetorFormatError, NoQueriesError, ParameterError


def read(text: str | bytes, **options: object) -> Dataset:
    return read_letor(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)  # type: ignore[arg-type]


def written(data: Dataset, **options: bool) -> str:
    file = io.BytesIO()
    write_letor(data, file, **options)
    return file.getvalue().decode()


def assert_same(a: Dataset, b: Dataset) -> None:
    for name in ("X", "y", "offsets", "query_ids", "doc_ids", "order"):
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.dtype.kind == right.dtype.kind, name
            assert_array_equal(left, right)
            if left.dtype.kind == "f":
                assert_array_equal(np.signbit(left[~np.isnan(left)]), np.signbit(right[~np.isnan(right)]))


# -- what a line may look like -----------------------------------------------------------------------------------------


def test_a_line_of_letor() -> None:
    data = read("2 qid:10 1:0.031310 2:0.666667 3:-1.5 #docid = GX008-86-4444840 inc = 1 prob = 0.086622\n")
    assert data.X.tolist() == [[np.float32(0.03131), np.float32(0.666667), -1.5]]
    assert data.y.tolist() == [2.0]
    assert data.query_ids.tolist() == [10]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["GX008-86-4444840"]


@pytest.mark.parametrize(
    "text",
    [
        "1 qid:7 1:0.5 2:3\n0 qid:7 1:0 2:0.25\n",
        "1 qid:7 1:0.5 2:3\n0 qid:7 1:0 2:0.25",
        "1 qid:7 1:0.5 2:3\r\n0 qid:7 1:0 2:0.25\r\n",
        "\ufeff1 qid:7 1:0.5 2:3\n0 qid:7 1:0 2:0.25\n",
        "\n# a comment\n1\tqid:7\t1:0.5\t\t2:3\n\n  0  qid:7  1:0  2:0.25  \n \t\r\n",
        "+1 qid:7 1:+.5 2:3.\n-0 qid:7 2:25e-2#text\n",
        "1.0 qid:7 01:0.500 002:0.3E+1 # text\n0 qid:7 1:-0e5 2:0.2500000000000000000000000\n",
        "1e0 qid:7 1:500000000000000000000e-21 2:30000000000000000000e-19\n0 qid:7 2:0.25",
    ],
)
def test_many_ways_to_write_the_same(text: str) -> None:
    data = read(text)
    assert_array_equal(data.X, [[0.5, 3], [0, 0.25]])
    assert data.y.tolist() == [1, 0]
    assert data.query_ids.tolist() == [7]


@pytest.mark.parametrize("word", ["nan", "NaN", "NAN", "NULL", "null", "-nan", "+nan"])
def test_missing_values(word: str) -> None:
    assert_array_equal(read(f"1 qid:1 1:{word} 2:1").X, [[np.nan, 1]])


def test_features_that_a_line_leaves_out() -> None:
    text = "1 qid:1 2:5\n0 qid:1 1:6 4:7\n0 qid:1\n"
    assert read(text).X.tolist() == [[0, 5, 0, 0], [6, 0, 0, 7], [0, 0, 0, 0]]
    assert_array_equal(read(text, missing=np.nan).X[0], [np.nan, 5, np.nan, np.nan])
    assert read(text, missing=-1, n_features=5).X[2].tolist() == [-1] * 5
    assert read("1 qid:é 2:5", missing=-1).X.tolist() == [[-1, 5]]  # a line that the slow parser reads


def test_names_of_features_give_their_number() -> None:
    data = read("1 qid:1 1:5", feature_names=["bm25", "clicks"])
    assert data.feature_names == ("bm25", "clicks")
    assert data.X.tolist() == [[5, 0]]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["1", "-2", "0"], [1, -2, 0]),
        (["9223372036854775807", "-9223372036854775807"], [2**63 - 1, 1 - 2**63]),
        (["1", "02"], ["1", "02"]),
        (["1", "+2"], ["1", "+2"]),
        (["1", "-0"], ["1", "-0"]),
        (["1", "9223372036854775808"], ["1", "9223372036854775808"]),
        (["1", "a:b"], ["1", "a:b"]),
        (["1", "é", "2"], ["1", "é", "2"]),
        (["-", "1"], ["-", "1"]),
    ],
)
def test_query_ids_are_integers_if_all_are(ids: list[str], expected: list[object]) -> None:
    assert read("\n".join(f"1 qid:{i} 1:1" for i in ids)).query_ids.tolist() == expected


def test_very_long_names_stay_whole() -> None:
    data = read(f"1 qid:{'q' * 300} 1:1 #docid = {'d' * 5000}\n1 qid:r 1:1\n")
    assert data.query_ids.tolist() == ["q" * 300, "r"]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["d" * 5000, ""]
    assert read(f"1 qid:{'é' * 5000} 1:1").query_ids.tolist() == ["é" * 5000]  # a long line for the slow parser


def test_without_qid_lines_are_one_list_only_if_that_is_said() -> None:
    with pytest.raises(NoQueriesError, match=r"<stream>: no line has a qid, .* or say one_list=True if all lines"):
        read("1 1:5\n-1 1:6\n")
    data = read("1 1:5\n-1 1:6\n", one_list=True)
    assert data.n_queries == 1
    assert data.y.tolist() == [1, -1]


def test_rows_of_a_query_are_brought_together() -> None:
    data = read("0 qid:1 1:1 #docid = a\n1 qid:2 1:2 #docid = b\n2 qid:1 1:3 #docid = c\n")
    assert data.y.tolist() == [0, 2, 1]
    assert data.X[:, 0].tolist() == [1, 3, 2]
    assert data.restore(data.y).tolist() == [0, 1, 2]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("#docid = D", "D"), ("#docid=D", "D"), ("# docid: D x", "D"), ("#docid = é", "é"), ("#docid = a#b", "a#b"),
        ("#docid =", None), ("#docid D", None), ("# my docid = D", None),
        ("#DOCID = D", None), ("#", None), ("#doc", None),
        ("# \xff free text \x01".encode("latin-1"), None),
    ],
)  # fmt: skip
def test_where_a_document_id_stands(comment: str | bytes, expected: str | None) -> None:
    encoded = comment.encode() if isinstance(comment, str) else comment
    for end in (b"", b"\n", b"\n1 qid:1 1:1"):
        data = read(b"1 qid:1 1:1 " + encoded + end)
        assert (None if data.doc_ids is None else data.doc_ids[0]) == expected


@pytest.mark.parametrize(
    "label", ["3", "-1", "0.1", "1e22", "123456789012345678", "0.30000000000000004", "1e300", "5e-324"]
)
def test_labels_are_exact_doubles(label: str) -> None:
    assert read(f"{label} qid:1 1:1").y[0] == float(label)


@pytest.mark.parametrize(
    "value",
    [
        "16777217", "16777217.0000000001", "0.1", "1e-45", "7e-46", "3.4028235e38", "1.17549435e-38", "7.038531e-26",
        "1.00000005960464477539062", "1.00000005960464477539063", "1.000000059604644775390625000000001",
        "123456789012345", "1234567.12345678", "-12345678.1234567", "99999999", "999999999999999999999999", "8388608.5",
        "0." + "0" * 60 + "1",
    ],
)  # fmt: skip
def test_values_are_rounded_through_a_double(value: str) -> None:
    for tail in ("", " 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1"):  # with room to load whole words, and without
        assert read(f"1 qid:1 1:{value}{tail}").X[0, 0] == np.float32(float(value))


# -- sources -----------------------------------------------------------------------------------------------------------


def test_several_files_are_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n0 qid:2 1:2")
    with gzip.open(tmp_path / "b.gz", "wb") as file:
        file.write(b"2 qid:2 1:3 3:4 #docid = D\n")
    data = read_letor(tmp_path / "a.txt", str(tmp_path / "b.gz"))
    assert data.X.tolist() == [[1, 0, 0], [2, 0, 0], [3, 0, 4]]
    assert data.offsets.tolist() == [0, 1, 3]
    assert data.doc_ids is not None
    assert data.doc_ids.tolist() == ["", "", "D"]


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "zipped.txt").write_bytes(gzip.compress(b"1 qid:1 1:1\n") + gzip.compress(b"0 qid:1 1:2\n"))
    (tmp_path / "plain.gz").write_bytes(b"1 qid:1 1:1\n0 qid:1 1:2\n")
    assert_same(read_letor(tmp_path / "zipped.txt"), read_letor(tmp_path / "plain.gz"))
    assert read(gzip.compress(b"1 qid:1 1:1\n")).n_docs == 1


def test_streams_are_read_from_where_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("1 qid:1 1:1\n0 qid:2 1:2\n")
    with path.open("rb") as file:
        file.readline()
        assert read_letor(file).query_ids.tolist() == [2]
    with path.open("rb") as file:
        assert read_letor(file).query_ids.tolist() == [1, 2]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_are_read_and_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = Dataset([[1.0], [2.0]], [0, 1], qid=[1, 2])
    writer = threading.Thread(target=write_letor, args=(data, pipe))
    writer.start()
    assert_same(read_letor(pipe), data)
    writer.join()


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor_text, "_BLOCK", 1000)
    lines = [f"{i % 5} qid:{i // 7} 1:{i}.5 2:{i / 7} 3:1e-{i % 40} #docid = D{i}" for i in range(2000)]
    one, two = (read("\n".join(lines), n_jobs=n_jobs) for n_jobs in (1, 2))
    assert_same(one, two)
    assert one.n_docs == 2000
    lines[1500] = lines[700] = "x"
    for n_jobs in (1, 2):
        with pytest.raises(LetorFormatError, match=r"^<stream>:701: "):
            read("\n".join(lines), n_jobs=n_jobs)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("1 qid:1 18:1 17:1", "feature 17 comes after 18; features must rise within a line"),
        ("1 qid:1 1:1 1:1", "feature 1 is given twice; give each feature once in a line"),
        (
            "1 qid:1 0:1",
            "feature 0 is not allowed because features count from 1; say zero_based=True if they count from 0",
        ),
        ("1 qid:1 1:", "feature 1 has no value; write 1:0, or 1:nan for missing"),
        ("1 qid:1 :5", "':5' has no feature number; write number:value without blanks"),
        ("1 qid:1 1:2:3", "feature 1 is '2:3', which is not a number; write a decimal, or nan for missing"),
        ("1 qid:1 1:0.5x", "feature 1 is '0.5x', which is not a number; write a decimal, or nan for missing"),
        ("1 qid:1 1:1_0", "feature 1 is '1_0', which is not a number; write a decimal, or nan for missing"),
        ("1 qid:1 1:٣", r"feature 1 is '\xd9\xa3', which is not a number; write a decimal, or nan for missing"),
        ("1 qid:1 1:0\x00", r"feature 1 is '0\x00', which is not a number; write a decimal, or nan for missing"),
        ("1 qid:1 1:-inf", "feature 1 is '-inf'; rescale it, or write nan for missing"),
        ("1 qid:1 1:3.5e38", "feature 1 is '3.5e38', which float32 cannot hold; rescale it"),
        ("1 qid:1 1", "'1' is not number:value; a line is: label qid:ID 1:value 2:value ... #docid = NAME"),
        ("1 qid:1 a:1", "'a' in 'a:1' is not a feature number; features are numbered 1, 2, 3 ..."),
        ("1 qid:1 -1:1", "'-1' in '-1:1' is not a feature number; features are numbered 1, 2, 3 ..."),
        ("1 qid:1 ²:1", r"'\xc2\xb2' in '\xc2\xb2:1' is not a feature number; features are numbered 1, 2, 3 ..."),
        ("1 qid:1 1:1 qid:2", "'qid:2' stands among the features; put one qid:ID right after the label"),
        ("1 qid: 1:1", "qid: has no id; write qid:ID without a blank"),
        ("1 qid:\x01 1:1", r"qid '\x01' has a control character; the file may be damaged or not text"),
        (b"1 qid:\xff 1:1", r"qid '\xff' is not UTF-8; save the file as UTF-8"),
        (b"1 qid:1 1:1 #docid = \xff", r"docid '\xff' is not UTF-8; save the file as UTF-8"),
        ("qid:1 1:1", "there is no label before 'qid:1'; a line is: label qid:ID 1:value 2:value ... #docid = NAME"),
        ("good 1:1", "label 'good' is not a number; a line is: label qid:ID 1:value 2:value ... #docid = NAME"),
        ("nan 1:1", "label 'nan' is not finite; give every document a finite label"),
        ("1e999 1:1", "label '1e999' is not finite; give every document a finite label"),
        (
            "1 qid:1 4000000000:1",
            "feature 4000000000 is past 1000000, which is too many for a dense matrix; renumber the features",
        ),
        ("x" * 99, f"label '{'x' * 37}...' is not a number; a line is: label qid:ID 1:value 2:value ... #docid = NAME"),
    ],
)
def test_a_bad_line_is_named_with_the_fix(line: str | bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    bad = line.encode() if isinstance(line, str) else line
    path.write_bytes(b"# the bad line is the third\n1 qid:1 1:1 2:2\n" + bad + b"\nalso bad\n")
    with pytest.raises(LetorFormatError) as caught:
        read_letor(path)
    assert str(caught.value) == f"{path}:3: {sentence}"


def test_a_feature_past_n_features() -> None:
    with pytest.raises(LetorFormatError, match=r"^<stream>:2: feature 3 is past n_features=2; raise n_features"):
        read("1 qid:1 1:1\n1 qid:1 1:1 3:1\n", n_features=2)


def test_qid_on_some_lines_only() -> None:
    with pytest.raises(
        LetorFormatError, match=r"^<stream>:2: the line has no qid but the lines before have one; give every"
    ):
        read("1 qid:1 1:1\n1 1:1\nbad\n")
    with pytest.raises(
        LetorFormatError, match=r"^<stream>:3: the line has a qid but the lines before have none; give every"
    ):
        read("1 1:1\n\n1 qid:1 1:1\n")
    with pytest.raises(LetorFormatError, match=r"^<stream>:2: label 'bad'"):
        read("1 qid:1 1:1\nbad\n1 1:1\n")


def test_more_than_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor, "free_memory", lambda: 100)
    text = "1 qid:1 1:1\n1 qid:1 90:1\n1 qid:1 2:1\n"
    sentence = "^<stream>:2: feature 90 makes a dense matrix of 3 x 90, more than the memory that is free; renumber"
    with pytest.raises(LetorFormatError, match=sentence):
        read(text)
    with pytest.raises(LetorFormatError, match=r"^<stream>:4: label 'bad'"):
        read(text + "bad")
    assert read(text.replace("90", "3"), n_features=3).n_docs == 3


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "\ufeff"])
def test_nothing_to_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"empty\.txt: the file has no documents; check that it is complete"):
        read_letor(io.BytesIO(b"1 qid:1 1:1"), tmp_path / "empty.txt")


def test_no_features() -> None:
    with pytest.raises(DataError, match=r"<stream>: no line has a feature; a line is: label qid:ID 1:value"):
        read("1\n2\n3\n")
    assert read("1\n2\n3\n", n_features=0, one_list=True).X.shape == (3, 0)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"gone\.txt: the file cannot be read \(No such file or directory\); check its path"
    ):
        read_letor(tmp_path / "gone.txt")
    with pytest.raises(DataError, match=r"the file cannot be read \(Is a directory\); check its path"):
        read_letor(tmp_path)
    with pytest.raises(DataError, match=r"<stream>: the gzip file is damaged or truncated \(.*\); download it again"):
        read(gzip.compress(b"1 qid:1 1:1\n" * 100)[:-9])
    damaged = bytearray(gzip.compress(b"1 qid:1 1:1\n" * 100))
    damaged[12] ^= 255
    with pytest.raises(DataError, match=r"<stream>: the gzip file is damaged or truncated \(.*\); download it again"):
        read(bytes(damaged))


def test_parameters_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"given nothing to read; give one or more files"):
        read_letor()
    for n_features in (-1, 1_000_001):
        with pytest.raises(ParameterError, match=rf"n_features={n_features}; it must be .* from 0 to 1e[+]06"):
            read("1 1:1", n_features=n_features)
    with pytest.raises(ParameterError, match=r"missing=1e[+]39, which float32 cannot hold; use a finite number or NaN"):
        read("1 1:1", missing=1e39)
    with pytest.raises(ParameterError, match=r"n_jobs=0; it must be a whole number, 1 or more"):
        read("1 1:1", n_jobs=0)
    with pytest.raises(ParameterError, match=r"^read_letor: threads is now called n_jobs$"):
        read("1 1:1", threads=2)
    with pytest.raises(ParameterError, match=r"<stream> is open as text; open it in binary mode, or pass its path"):
        read_letor(io.StringIO("1 1:1"))  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"feature_names has 1 names but X has 2 columns"):
        read("1 qid:1 1:1", n_features=2, feature_names=["a"])


# -- writing -----------------------------------------------------------------------------------------------------------


def test_lines_as_they_are_written() -> None:
    data = Dataset(
        [[0.5, 3, 0], [-0.0, 0.1, np.nan], [1e-7, 1e20, 123456.78]],
        [2, 0.5, -1],
        qid=["b", "a", "b"],
        doc_ids=["x", "", "é"],
    )
    assert written(data) == (
        "2 qid:b 1:0.5 2:3 3:0 #docid = x\n"
        "0.5 qid:a 1:-0 2:0.1 3:NaN\n"
        "-1 qid:b 1:1e-07 2:1e+20 3:123456.78 #docid = é\n"
    )  # fmt: skip
    assert written(data, sparse=True).splitlines()[1] == "0.5 qid:a 1:-0 2:0.1 3:NaN"


def test_sparse_lines_keep_the_number_of_features() -> None:
    data = Dataset(np.zeros((2, 4)), [1, 0], qid=[1, 1])
    assert written(data, sparse=True) == "1 qid:1 4:0\n0 qid:1\n"
    assert_same(read(written(data, sparse=True)), data)


@given(
    X=hnp.arrays(
        np.float32, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.floats(width=32, allow_infinity=False)
    ),
    seed=st.integers(0, 2**32 - 1),
    sparse=st.booleans(),
    named=st.booleans(),
)
def test_what_is_written_is_read_back(X: np.ndarray, seed: int, sparse: bool, named: bool) -> None:
    rng = np.random.default_rng(seed)
    y = rng.choice([0.0, 1.0, -0.0, 0.1, 1e17, 1e300, rng.random(), rng.random() * 1e-9], len(X))
    qid = rng.choice(["a", "é:1", "1"] if named else np.array([3, -7, 2**62]), len(X))
    doc_ids = np.array([f"D{i}" for i in range(len(X))]) if named else None
    data = Dataset(X, y, qid, doc_ids=doc_ids)
    again = read(written(data, sparse=sparse))
    if named and set(data.query_ids.tolist()) <= {"1"}:
        assert again.query_ids.tolist() == [1]
    else:
        assert_same(again, data)


def test_the_shortest_float32_text_is_not_always_enough() -> None:
    value = np.float32(np.uint32(0x15AE43FD).view(np.float32))  # "7.038531e-26" reads back as the next float32
    assert np.float32(float(str(value))) != value
    data = Dataset(np.array([[value]]), [0], qid=[1])
    assert read(written(data)).X[0, 0] == value


def test_files_are_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset([[1.0], [2.0]], [0, 1], qid=[1, 2])
    for name in ("data.txt", "data.txt.gz"):
        write_letor(data, tmp_path / name)
        assert_same(read_letor(tmp_path / name), data)
    assert (tmp_path / "data.txt.gz").read_bytes()[:2] == b"\x1f\x8b"
    before = (tmp_path / "data.txt").read_bytes()

    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(letor, "write_lines", fail)
    with pytest.raises(RuntimeError):
        write_letor(data, tmp_path / "data.txt")
    assert (tmp_path / "data.txt").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.txt", "data.txt.gz"]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"LETOR text cannot store weights; keep them with Dataset\.save\(\)"):
        written(Dataset([[1.0]], [0], weights=[1.0]))
    for name in ("a b", "a\n", "a#b", "\x7f", "\ud800"):
        with pytest.raises(
            DataError, match=r"query id .* cannot be written as LETOR text; take out blanks, control characters"
        ):
            written(Dataset([[1.0]], [0], qid=[name]))
    with pytest.raises(DataError, match=r"a query id is empty, which LETOR text cannot store; rename it"):
        written(Dataset([[1.0]], [0], qid=[""]))
    with pytest.raises(DataError, match=r"doc id 'a b' cannot be written as LETOR text"):
        written(Dataset([[1.0]], [0], doc_ids=["a b"]))
    with pytest.raises(DataError, match=r"two query ids are the same when written as text; rename one of them"):
        written(Dataset([[1.0], [2.0]], [0, 1], qid=[1, "1"]))
    with pytest.raises(DataError, match=r"cannot be written"):
        write_letor(Dataset([[1.0]], [0]), tmp_path / "no" / "folder.txt")


# -- beside another reader ---------------------------------------------------------------------------------------------


def test_scikit_learn_reads_the_same(tmp_path: Path) -> None:
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 20)) * rng.integers(0, 2, (200, 20))
    dump_svmlight_file(
        X, rng.integers(0, 5, 200), str(tmp_path / "a.txt"), zero_based=False, query_id=np.arange(200) // 9
    )
    features, y, qid = load_svmlight_file(str(tmp_path / "a.txt"), query_id=True)
    data = read_letor(tmp_path / "a.txt")
    assert_array_equal(data.X, features.toarray().astype(np.float32))
    assert_array_equal(data.y, y)
    assert_array_equal(data.qid, qid)


def test_a_real_fold() -> None:
    folder = os.environ.get("ORDINO_DATA")
    if folder is None:
        pytest.skip("ORDINO_DATA names no folder with MQ2008/Fold1/vali.txt")
    from sklearn.datasets import load_svmlight_file

    path = Path(folder, "MQ2008", "Fold1", "vali.txt")
    features, y, qid = load_svmlight_file(str(path), query_id=True)
    data = read_letor(path)
    assert_array_equal(data.X, features.toarray().astype(np.float32))
    assert_array_equal(data.y, y)
    assert_array_equal(data.qid, qid)
    assert data.doc_ids is not None
    assert data.doc_ids[0] in path.read_text().splitlines()[0]
    assert_same(read(written(data)), data)
