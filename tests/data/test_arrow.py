"""A data set on disk: what was saved comes back, mapped, and nothing broken is opened."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dataset import assert_same, datasets

from ordino import Dataset
from ordino.data.arrow import is_saved_dataset, open_dataset, save_dataset
from ordino.errors import DataError


@pytest.fixture
def small() -> Dataset:
    return Dataset(
        [[1.0, np.nan], [3.0, 4.0], [5.0, 6.0]], [0, 1, 2.5], qid=["a", "b", "a"], doc_ids=["x", "y", "z"],
        feature_names=["p", "q"], weights=[1, 2, 3],
    )  # fmt: skip


@settings(deadline=None)
@given(datasets())
def test_what_was_saved_comes_back(data: Dataset) -> None:
    with TemporaryDirectory() as folder:
        save_dataset(data, Path(folder, "d.arrow"))
        again = open_dataset(Path(folder, "d.arrow"))
        assert_same(again, data)
        for name in ("X", "y", "query_ids", "offsets"):
            assert getattr(again, name).dtype == getattr(data, name).dtype


IDS = [
    np.array([3, 1, 2], np.int8),
    np.array([3, 1, 2], np.uint64),
    np.array([3, 1, 2], ">i4"),
    np.array([0.5, 1.5, 2.5], np.float32),
    np.array(["long name", "", "é\U0001f600"]),
    np.array([b"a", b"bc", b"\xff"]),
    np.array(["\ud800", "b", "c"]),
    np.array([2**70, "text\0", 1.5], object),
    np.array([np.int64(1), np.str_("a"), False], object),
]


@pytest.mark.parametrize("ids", IDS, ids=str)
def test_ids_of_any_kind_come_back(tmp_path: Path, ids: np.ndarray) -> None:
    data = Dataset(np.zeros((3, 1)), np.zeros(3), ids, doc_ids=ids)
    data.save(tmp_path / "d.arrow")
    again = Dataset.open(tmp_path / "d.arrow")
    assert again.query_ids.tolist() == ids.tolist()
    assert again.doc_ids is not None
    assert again.doc_ids.tolist() == ids.tolist()


def test_booleans_are_ids(tmp_path: Path) -> None:
    Dataset(np.zeros((2, 1)), [0, 1], np.array([True, False])).save(tmp_path / "d.arrow")
    assert Dataset.open(tmp_path / "d.arrow").query_ids.tolist() == [True, False]


def test_features_are_mapped_not_read(tmp_path: Path, small: Dataset) -> None:
    before = pa.total_allocated_bytes()
    data = Dataset(np.ones((50_000, 20), np.float32), np.zeros(50_000), np.arange(50_000) // 10)
    data.save(tmp_path / "d.arrow")
    again = Dataset.open(tmp_path / "d.arrow")
    assert pa.total_allocated_bytes() - before < 100_000
    assert not again.X.flags.owndata
    assert not again.X.flags.writeable
    assert again.X.flags.c_contiguous
    (tmp_path / "d.arrow").unlink()  # what is mapped stays
    assert again.X.sum() == 1_000_000


def test_saving_over_the_file_it_came_from(tmp_path: Path, small: Dataset) -> None:
    small.save(tmp_path / "d.arrow")
    opened = Dataset.open(tmp_path / "d.arrow")
    opened.replace(y=[7, 8, 9]).save(tmp_path / "d.arrow")
    assert opened.y.tolist() == small.y.tolist()
    assert Dataset.open(tmp_path / "d.arrow").y.tolist() == [7, 8, 9]
    assert [path.name for path in tmp_path.iterdir()] == ["d.arrow"]


@pytest.mark.parametrize("value", [("a", 1), np.datetime64("2024-01-01"), object()], ids=["tuple", "date", "object"])
def test_ids_that_cannot_be_saved(tmp_path: Path, value: object) -> None:
    ids = np.empty(1, object)
    ids[0] = value
    with pytest.raises(DataError, match=r"^query_ids has .*, a .*; only numbers and strings can be saved as ids$"):
        Dataset([[1.0]], [0], ids).save(tmp_path / "d.arrow")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path: Path, small: Dataset) -> None:
    with pytest.raises(DataError, match=r"no/d\.arrow: cannot be written \(.*\); choose another path$"):
        small.save(tmp_path / "no" / "d.arrow")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no\.arrow: there is no such file; Dataset\.save\(path\) writes one$"):
        Dataset.open(tmp_path / "no.arrow")


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "d.arrow").write_text("2 qid:1 1:0.5\n")
    with pytest.raises(
        DataError, match=r"d\.arrow: this is not a whole saved data set \(.*\); save it again from its sou"
    ):
        Dataset.open(tmp_path / "d.arrow")
    assert not is_saved_dataset(tmp_path / "d.arrow")
    assert not is_saved_dataset(tmp_path / "none.arrow")


def test_somebodys_table(tmp_path: Path) -> None:
    write(tmp_path / "t.arrow", pa.record_batch({"label": [1]}))
    with pytest.raises(
        DataError, match=r"holds a table, not a saved data set; read it with read_data\('.*t\.arrow'\)$"
    ):
        Dataset.open(tmp_path / "t.arrow")


def test_a_file_cut_short_anywhere(tmp_path: Path, small: Dataset) -> None:
    small.save(tmp_path / "d.arrow")
    whole = (tmp_path / "d.arrow").read_bytes()
    for length in range(0, len(whole), 7):
        (tmp_path / "d.arrow").write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"^[^\n]*d\.arrow: [^\n]*; save it again from its source$"):
            Dataset.open(tmp_path / "d.arrow")


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_damaged_file_is_refused_or_harmless(draws: st.DataObject) -> None:
    data = Dataset(np.ones((4, 2)), [0, 1, 2, 0], qid=[2, 1, 2, 3], doc_ids=[1, 2, 3, 4], weights=[1, 1, 1, 1])
    with TemporaryDirectory() as folder:
        path = Path(folder, "d.arrow")
        data.save(path)
        raw = bytearray(path.read_bytes())
        for _ in range(draws.draw(st.integers(1, 4))):
            raw[draws.draw(st.integers(0, len(raw) - 1))] = draws.draw(st.integers(0, 255))
        path.write_bytes(raw)
        with contextlib.suppress(DataError):
            opened = Dataset.open(path)  # if it does open, all that is indexed with is in bounds
            assert sum(len(query.y) for query in opened) == opened.n_docs == len(opened.X)
            assert len(opened.restore(opened.y)) == opened.n_docs


def write(path: Path, batch: pa.RecordBatch) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)


def tamper(path: Path, *, header: dict[str, object] | None = None, **columns: pa.Array | None) -> None:
    """Write the file anew with other columns, without those that are None, or with other header entries."""
    with pa.ipc.open_file(path.read_bytes()) as reader:
        batch = reader.get_batch(0)
    metadata = json.loads(batch.schema.metadata[b"ordino"]) | (header or {})
    arrays = {name: batch.column(name) for name in batch.schema.names}
    for name, values in columns.items():
        arrays[name] = (
            None if values is None else pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)
        )
    arrays = {name: values for name, values in arrays.items() if values is not None}
    changed = pa.record_batch(list(arrays.values()), names=list(arrays))
    write(path, changed.replace_schema_metadata({"ordino": json.dumps(metadata)}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"offsets": pa.array([0, 3, 2])}, "the offsets do not cut 3 documents into 2 queries"),
        ({"offsets": pa.array([0, 2, 4])}, "the offsets do not cut 3 documents into 2 queries"),
        ({"offsets": pa.array([1, 2, 3])}, "the offsets do not cut 3 documents into 2 queries"),
        ({"offsets": pa.array([0, 3])}, "the offsets do not cut 3 documents into 2 queries"),
        ({"order": pa.array([0, 0, 1])}, "the order of the rows is not a permutation"),
        ({"order": pa.array([0, 1, 3])}, "the order of the rows is not a permutation"),
        ({"order": pa.array([0, 1, -1])}, "the order of the rows is not a permutation"),
        ({"weights": pa.array([1.0])}, "weights has 1 entries for 3 documents"),
        ({"weights": pa.array([1.0, None, 2.0])}, "weights has nulls"),
        ({"X": pa.array([1.0, 2.0], pa.float32())}, r"this is not a whole saved data set \(cannot reshape"),
        ({"y": pa.array([1, 2, 3], pa.int32())}, "y is kept as int32 but must be <f8"),
        ({"header": {"version": 3}}, r"saved by a newer Ordino \(format 3, this one reads 2\); upgrade"),
        ({"header": {"format": "other"}}, "this Arrow file holds a table, not a saved data set"),
        ({"header": {"dtypes": {}}}, "this is not a whole saved data set"),
        ({"header": {"dtypes": dict.fromkeys(("X", "y"), "O8")}}, "X has the unknown type 'O8'"),
        ({"header": {"feature_names": ["p"]}}, "feature_names has 1 names but X has 2 columns"),
        (
            {"query_ids": pa.array([b"\xff\xff\xff\x7f"] * 2, pa.binary(4))},
            "query_ids has invalid characters",
        ),
    ],
)
def test_a_file_that_was_tampered_with(tmp_path: Path, small: Dataset, change: dict, sentence: str) -> None:
    small.save(tmp_path / "d.arrow")
    tamper(tmp_path / "d.arrow", **change)
    with pytest.raises(DataError, match=rf"^[^\n]*d\.arrow: {sentence}"):
        Dataset.open(tmp_path / "d.arrow")


@pytest.mark.parametrize("name", ["order", "doc_ids", "weights"])
def test_a_column_that_is_gone_is_noticed(tmp_path: Path, small: Dataset, name: str) -> None:
    """Without it the file would be a whole data set of other documents."""
    small.save(tmp_path / "d.arrow")
    tamper(tmp_path / "d.arrow", **{name: None})
    with pytest.raises(DataError, match=r"d\.arrow: the list of arrays changed after it was saved"):
        Dataset.open(tmp_path / "d.arrow")
    assert getattr(Dataset.open(tmp_path / "d.arrow", check=False), name) is None


@pytest.mark.parametrize("ids", [[7, 8, 7], ["a", "b", "a"], ["a", 8, "a"]], ids=["numbers", "text", "objects"])
def test_a_byte_that_changed_is_noticed(tmp_path, ids):
    path = tmp_path / "d.arrow"
    data = Dataset([[1.0, 0.5], [3.0, 4.0], [5.0, 6.0]], [0, 1, 2], qid=ids, doc_ids=["x", "y", "z"], weights=[1, 2, 3])
    data.save(path)
    content, rng, n_same = path.read_bytes(), random.Random(1), 0
    for _ in range(300):
        changed = bytearray(content)
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        try:
            again = Dataset.open(path)
        except DataError:
            continue
        assert_same(again, data)  # what is left is padding
        n_same += 1
    assert n_same < 200
    path.write_bytes(content)
    assert_same(Dataset.open(path, check=False), data)
