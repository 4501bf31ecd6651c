"""Files of every format: what is written reads back, and what is not known is said."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from test_dataset import assert_same

from ordino import Dataset
from ordino.data.files import ENDINGS, read_data, write_data
from ordino.data.parts import read_parts
from ordino.errors import DataError, LetorFormatError, NoQueriesError


@pytest.fixture
def small() -> Dataset:
    return Dataset(
        [[1.0, 0.5], [3.0, 4.0], [5.0, 6.0]],
        [0, 1, 2],
        qid=[7, 8, 7],
        doc_ids=["x", "y", "z"],
        feature_names=["f1", "f2"],
    )


@pytest.mark.parametrize(
    "ending", [*(one for one in ENDINGS if one not in (".bz2", ".xz", ".zst")), ".TXT", ".txt.gz", ".csv.gz", ".tsv.gz"]
)
def test_what_is_written_reads_back(tmp_path: Path, small: Dataset, ending: str) -> None:
    path = tmp_path / f"d{ending}"
    write_data(small, path)
    again = read_data(path)
    assert_same(again.replace(feature_names=["f1", "f2"]), small)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_weights_come_back_from_tables(tmp_path: Path) -> None:
    data = Dataset([[1.0], [2.0]], [0, 1], qid=["a", "b"], weights=[1, 2])
    for ending in (".arrow", ".parquet", ".csv"):
        write_data(data, tmp_path / f"d{ending}")
        weights = read_data(tmp_path / f"d{ending}").weights
        assert weights is not None
        assert weights.tolist() == [1, 2]


def test_columns_can_be_named(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query": ["a", "a"], "grade": [1, 0], "bm25": [2.0, 1.0], "url": ["u", "v"], "w": [1, 2]})
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ipc(tmp_path / "t.arrow")
    frame.write_csv(tmp_path / "t.csv")
    for ending in ("parquet", "arrow", "csv"):
        data = read_data(
            tmp_path / f"t.{ending}", label="grade", qid="query", doc_id="url", weight="w", features=["bm25"]
        )
        assert (data.feature_names, data.y.tolist(), data.query_ids.tolist()) == (("bm25",), [1, 0], ["a"])
    with pytest.raises(DataError, match=r"t\.csv: there is no column 'label'; name the column with label=$"):
        read_data(tmp_path / "t.csv")
    with pytest.raises(
        NoQueriesError, match=r"t\.csv: there is no column 'qid'; name the column with qid=, or say one"
    ):
        read_data(tmp_path / "t.csv", label="grade")
    with pytest.raises(DataError, match=r"t\.csv: qid='quer': unknown column 'quer'; did you mean 'query'\?$"):
        read_data(tmp_path / "t.csv", label="grade", qid="quer")
    with pytest.raises(DataError, match=r"t\.csv: column 'url' is text;"):
        read_data(tmp_path / "t.csv", label="grade", qid="query")


def test_a_file_that_tells_what_it_is_needs_no_ending(tmp_path: Path, small: Dataset) -> None:
    small.save(tmp_path / "saved")
    assert_same(read_data(tmp_path / "saved"), small)
    pa.parquet.write_table(small.to_frame("pyarrow"), tmp_path / "table.unknown")
    assert_same(read_data(tmp_path / "table.unknown"), small)


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch, small: Dataset) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))
    write_data(small, "-")
    sys.stdout.flush()
    text = written.getvalue()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert_same(read_data("-").replace(feature_names=["f1", "f2"]), small)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 qid:1 1:x\n")))
    with pytest.raises(LetorFormatError, match=r":1: "):
        read_data("-")


def test_n_features_widens_text(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("1 qid:1 1:0.5\n")
    assert read_data(tmp_path / "d.txt", n_features=3).X.tolist() == [[0.5, 0, 0]]


def test_sentences(tmp_path: Path, small: Dataset) -> None:
    with pytest.raises(DataError, match=r"none\.txt: there is no such file$"):
        read_data(tmp_path / "none.txt")
    with pytest.raises(DataError, match=r"d\.parqet: unknown extension '\.parqet'; did you mean '\.parquet'\?$"):
        write_data(small, tmp_path / "d.parqet")
    (tmp_path / "d.doc").write_text("text")
    with pytest.raises(DataError, match=r"d\.doc: unknown extension '\.doc'; choose from: \.arrow, \.bz2, "):
        read_data(tmp_path / "d.doc")
    for form, ending in (("parquet", ".parquet"), ("arrow", ".arrow"), ("csv", ".csv")):
        (tmp_path / f"bad{ending}").write_bytes(b"")
        with pytest.raises(DataError, match=rf"bad{ending}: cannot be read as {form} \([^\n]*\)$"):
            read_data(tmp_path / f"bad{ending}")
    with pytest.raises(DataError, match=r"no/d\.csv: cannot be written \(.*\); choose another path$"):
        write_data(small, tmp_path / "no" / "d.csv")
    pl.DataFrame({"label": [1], "qid": [1], "f": [np.inf]}).write_parquet(tmp_path / "inf.parquet")
    with pytest.raises(DataError, match=r"inf\.parquet: column 'f' has inf in row 0"):
        read_data(tmp_path / "inf.parquet")


@pytest.mark.parametrize("ending", ["txt", "arrow", "csv", "parquet", "jsonl"])
def test_features_are_chosen_and_dropped_by_the_names_in_the_file(tmp_path, ending):
    """A feature that is dropped is not the one that has its number among those that were kept."""
    path, names = tmp_path / f"d.{ending}", "1234"
    data = Dataset(np.arange(12).reshape(3, 4), [0, 1, 2], [1, 1, 1], feature_names=None if ending == "txt" else names)
    write_data(data, path)
    for features, drop, left in (
        (["4", "1", "3"], ["1", "2"], [3, 2]),
        (["3", "1"], [], [2, 0]),
        (None, ["1"], [1, 2, 3]),
    ):
        np.testing.assert_array_equal(read_data(path, features=features, drop=drop).X, data.X[:, left])
    for features, drop in ((["2"], ["2"]), (None, list(names))):
        with pytest.raises(DataError, match=rf"d\.{ending}: no feature would be left; drop fewer"):
            read_data(path, features=features, drop=drop)


@pytest.mark.parametrize("chosen", [{"drop": ["weight"]}, {"features": ["weight", "x"]}, {"features": ["x"]}])
def test_a_column_of_weights_that_is_left_out_or_a_feature_is_no_weight(tmp_path, chosen):
    (tmp_path / "t.csv").write_text("qid,label,weight,x\n1,0,5,1\n1,1,6,2\n")
    data = read_data(tmp_path / "t.csv", **chosen)
    assert data.feature_names == tuple(chosen.get("features", ["x"]))
    assert (data.weights is None) == (chosen != {"features": ["x"]})
    by_name = read_data(tmp_path / "t.csv", **chosen, weight="weight")
    assert by_name.weights.tolist() == [5, 6]


@pytest.mark.parametrize("name", ["weight", "doc_id"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "feather"])
def test_a_feature_that_would_be_read_back_as_something_else_is_not_written(tmp_path, name, ending):
    data = Dataset([[5.0], [6.0]], [0, 1], [1, 1], feature_names=[name])
    with pytest.raises(DataError, match=f"the feature '{name}' would be read back as something else; rename it"):
        write_data(data, tmp_path / f"t.{ending}")
    write_data(data, tmp_path / "t.arrow")
    assert read_data(tmp_path / "t.arrow").feature_names == (name,)


@pytest.mark.parametrize("role", ["label", "qid", "doc_id", "weight"])
def test_a_feature_of_a_saved_data_set_is_not_silently_kept_as_one(tmp_path, role):
    Dataset([[5.0], [6.0]], [0, 1], [1, 1], feature_names=["x"]).save(tmp_path / "t.arrow")
    with pytest.raises(DataError, match=f"'x' cannot be made the {role} in this format; give a table"):
        read_data(tmp_path / "t.arrow", **{role: "x"})


def test_text_has_no_weights_to_name(tmp_path):
    (tmp_path / "t.txt").write_text("1 qid:1 1:5\n0 qid:1 1:6\n")
    for read in (read_data, lambda *path, **said: next(read_parts(*path, **said))):
        with pytest.raises(DataError, match="'w' cannot be made the weight in this format"):
            read(tmp_path / "t.txt", weight="w")
        assert read(tmp_path / "t.txt", label="grade", qid="query").y.tolist() == [1, 0]  # beside tables that have them
