"""Files as other tools write them: LightGBM's sizes, scikit-learn's zeros, RankLib's names, trec_eval's comments."""

import bz2
import gzip
import lzma

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import dump_svmlight_file

import ordino
from ordino.cli import main
from ordino.data.files import write_data
from ordino.data.trec import read_qrels, read_run
from ordino.errors import DataError, LetorFormatError, NoQueriesError
from ordino.testing import easy_data

DATA = easy_data(n_queries=5)


def zstandard(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard}


@pytest.mark.parametrize("form", ["data.txt", "data.csv", "data.jsonl"])
@pytest.mark.parametrize("ending", PACKED)
def test_compressed_text_is_read_whatever_the_format(ending, form, tmp_path):
    write_data(DATA, tmp_path / form)
    packed = tmp_path / (form + ending)
    packed.write_bytes(PACKED[ending]((tmp_path / form).read_bytes()))
    np.testing.assert_array_equal(ordino.read_data(packed).X, DATA.X)
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"damaged or truncated|cannot be read"):
        ordino.read_data(packed)


def test_only_gzip_is_written(tmp_path):
    with pytest.raises(DataError, match=r"is read but not written; write \.gz"):
        write_data(DATA, tmp_path / "data.txt.xz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".query", ".group"])
def test_sizes_of_queries_stand_in_a_file_beside(ending, tmp_path):
    text = tmp_path / "rank.train"
    lines = [f"{label:g} 1:{row[0]} 2:{row[1]}" for label, row in zip(DATA.y, DATA.X, strict=True)]
    text.write_text("\n".join(lines), encoding="ascii")
    with pytest.raises(NoQueriesError, match=r"put the sizes of the queries into a file rank.train.query, or say one"):
        ordino.read_data(text)
    sizes = tmp_path / f"rank.train{ending}"
    sizes.write_text("\n".join(map(str, DATA.counts)), encoding="ascii")
    read = ordino.read_data(text)
    np.testing.assert_array_equal(read.offsets, DATA.offsets)
    np.testing.assert_array_equal(read.y, DATA.y)
    for wrong, sentence in (
        ("3\n4", "the sizes sum to 7, but"),
        ("3\n9999", "the sizes sum to 10002, but"),
        ("3\nx", "one whole number"),
        ("0\n1", "1 or more"),
    ):
        sizes.write_text(wrong, encoding="ascii")
        with pytest.raises(DataError, match=sentence):
            ordino.read_data(text)


@pytest.mark.parametrize("zero_based", [True, False])
def test_features_that_count_from_zero(zero_based, tmp_path, capsys):
    path = tmp_path / "data.svm"
    dump_svmlight_file(DATA.X, DATA.y, str(path), query_id=DATA.qid, zero_based=zero_based)
    if not zero_based:
        np.testing.assert_allclose(ordino.read_data(path).X, DATA.X)
        return
    with pytest.raises(LetorFormatError, match=r"feature 0 is not allowed .* say zero_based=True"):
        ordino.read_data(path)
    np.testing.assert_allclose(ordino.read_data(path, zero_based=True).X, DATA.X)
    with pytest.raises(SystemExit) as end:
        main(["inspect", str(path), "--zero-based"])
    assert end.value.code == 0
    with pytest.raises(SystemExit):
        main(["inspect", str(path)])
    assert "say --zero-based if they count from 0" in capsys.readouterr().err


def test_numbers_in_comments_stay_as_they_are(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 0:5 1:6 #docid = a:1 0:7\n", encoding="ascii")
    data = ordino.read_data(path, zero_based=True)
    assert (data.X.tolist(), data.doc_ids.tolist()) == ([[5.0, 6.0]], ["a:1"])


def test_names_as_ranklib_writes_them(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 1:5 # P12\n0 qid:1 1:6 #P13\n", encoding="ascii")
    assert ordino.read_data(path).doc_ids.tolist() == ["P12", "P13"]
    for other in ("two words", "P12"):  # no name, or no name of its own
        path.write_text(f"1 qid:1 1:5 # P12\n0 qid:1 1:6 # {other}\n", encoding="ascii")
        assert ordino.read_data(path).doc_ids is None


def test_comments_in_judgments_and_words_after_the_tag(tmp_path):
    """As trec_eval takes them."""
    (tmp_path / "q").write_text("# judged in 2003\n1 0 a 1\n1 0 b 0\n", encoding="ascii")
    (tmp_path / "r").write_text("# my run\n1 Q0 a 1 2.5 tag and more words\n1 Q0 b 2 1.5 tag\n", encoding="ascii")
    assert read_qrels(tmp_path / "q") == {"1": {"a": 1, "b": 0}}
    assert read_run(tmp_path / "r") == {"1": {"a": 2.5, "b": 1.5}}
    (tmp_path / "r").write_text("1 Q0 a 1 2.5\n", encoding="ascii")
    with pytest.raises(DataError, match="5 words instead of 6"):
        read_run(tmp_path / "r")


def test_the_same_name_in_two_queries_is_two_documents(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 1:5 # P12\n0 qid:2 1:6 # P12\n", encoding="ascii")
    assert ordino.read_data(path).doc_ids.tolist() == ["P12", "P12"]


@pytest.mark.parametrize("level", [1, 5, 9])
def test_bzip2_of_any_level_is_read(level, tmp_path):
    (tmp_path / "d.txt.bz2").write_bytes(bz2.compress(b"1 qid:1 1:5\n0 qid:1 1:6\n", level))
    assert ordino.read_data(tmp_path / "d.txt.bz2").X.tolist() == [[5.0], [6.0]]


def test_packed_tables_that_others_wrote_are_divided_by_tabs(tmp_path):
    (tmp_path / "d.tsv.gz").write_bytes(gzip.compress(b"qid\tlabel\tbm25\n1\t0\t2.5\n"))
    assert ordino.read_data(tmp_path / "d.tsv.gz").X.tolist() == [[2.5]]
