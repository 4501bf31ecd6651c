"""Shards: whole queries in files with a manifest, in canonical order; learned from as from memory."""

import bz2
import gzip
import json
import lzma
import resource
import shutil
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import ordino
from ordino import Dataset, LambdaMART, ShardedDataset, synthetic, write_letor, write_shards
from ordino.boosting import trees
from ordino.data import on_disk
from ordino.data.files import COLUMNS, read_data, write_data
from ordino.data.parts import read_parts
from ordino.data.scaling import SCALERS, make_scaler
from ordino.data.shards import MANIFEST, concatenate
from ordino.data.source import Source, canonical
from ordino.errors import DataError


def some(queries=12, seed=1, **how):
    return synthetic("mq", queries=queries, seed=seed, **how)


def joined(source):
    parts = list(source.parts())
    return np.concatenate([part.X for part in parts]), list(
        chain.from_iterable(part.query_ids.tolist() for part in parts)
    )


@pytest.mark.parametrize("n_shards", [1, 3, 8])
@pytest.mark.parametrize("in_parts", [False, True])
def test_shards_joined_are_the_canonical_order(tmp_path, n_shards, in_parts):
    data = some()
    made = write_shards(iter(data.split(0.3, 0.4)) if in_parts else data, tmp_path / "s", n_shards)
    ordered = canonical(data)
    X, queries = joined(made)
    assert X.tobytes() == ordered.X.tobytes()
    assert queries == ordered.query_ids.tolist()
    assert isinstance(made, Source)
    assert (made.n_docs, made.n_queries, made.n_features) == (data.n_docs, 12, 46)


def test_sizes_are_balanced(tmp_path):
    data = some(400)
    for number, parts in enumerate((data, iter(data.split(0.5)))):
        sizes = [part.n_docs for part in write_shards(parts, tmp_path / str(number), 8).parts()]
        assert len(sizes) == 8
        assert max(sizes) < 1.5 * data.n_docs / 8


def test_names_ids_and_weights_survive(tmp_path):
    data = Dataset([[1, 2], [3, 4], [5, 6]], [0, 1, 2], ["a", "a", "b"], doc_ids=["x", "y", "z"],
                   feature_names=["bm25", "age"], weights=[1, 2, 3])  # fmt: skip
    [part] = write_shards(data, tmp_path / "s", 1).parts()
    ordered = canonical(data)
    assert part.feature_names == ("bm25", "age")
    assert part.doc_ids.tolist() == ordered.doc_ids.tolist()
    assert part.weights.tolist() == ordered.weights.tolist()


@pytest.mark.parametrize("name", SCALERS)
def test_every_scaling_of_shards_is_that_of_the_whole(tmp_path, name):
    data = some()
    shards = write_shards(data, tmp_path / "s", 3)
    whole = make_scaler(name).fit(canonical(data)).transform(canonical(data))
    with on_disk.room_on_disk() as room:
        rows = on_disk.rows_on_disk(shards, room)
        scaled = on_disk.transformed(make_scaler(name).fit(rows), rows)
        assert scaled.X.tobytes() == whole.X.tobytes()


QUICK = {
    "ranknet": {"epochs": 2}, "listnet": {"epochs": 2, "scaling": "quantile"}, "rank-svm": {"scaling": "zscore"},
    "rankde": {"generations": 3}, "linear-regression-ranker": {"missing": "median"}, "lambda-mart": {"rounds": 3},
    "sortnet": {"max_iter": 1, "epochs": 2},
}  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_a_ranker_learns_the_same_from_memory_and_from_any_number_of_shards(tmp_path, name):
    from ordino.rankers import make_ranker

    data, valid = some(30).split(0.7)
    whole = make_ranker(name, QUICK[name]).fit(data, valid=valid).predict(valid)
    held_out = write_shards(valid, tmp_path / "valid", 2)
    for n_shards in (1, 8):
        shards = write_shards(data, tmp_path / str(n_shards), n_shards)
        found = make_ranker(name, QUICK[name]).fit(shards, valid=held_out).predict(valid)
        assert found.tobytes() == whole.tobytes()


@pytest.mark.parametrize("tells", [True, False])
def test_features_of_shards_hold_no_memory_for_long(tmp_path, monkeypatch, tells):
    """Pages that were looked at are given back, also where the system does not tell how many they are."""
    monkeypatch.setattr(on_disk, "HELD", 1 << 20)
    if not tells:
        monkeypatch.setattr(on_disk, "STATM", tmp_path / "no such file")
    with on_disk.room_on_disk() as room:
        X = room.array((1 << 20, 8))
        X[:] = 1.0
        deadline = 100
        while deadline and resident(X) > 1 << 20:
            deadline -= 1
            room._done.wait(0.02)
        assert resident(X) <= 1 << 20
        assert float(X.sum()) == 8 << 20


def test_a_few_pages_stay_where_they_are(monkeypatch):
    """Data that fits is not read from its file again and again."""
    monkeypatch.setattr(on_disk, "HELD", 1 << 30)
    with on_disk.room_on_disk() as room:
        X = room.array((1 << 18, 8))
        X[:] = 1.0
        room._done.wait(0.1)
        assert resident(X) == X.nbytes


def test_trees_from_disk_keep_one_copy_of_their_bins(tmp_path, monkeypatch):
    """The layout differs from that in memory, and nothing of it is in the model."""
    asked, data = [], some(30)
    layout = trees.bin_layout
    monkeypatch.setattr(trees, "bin_layout", lambda *, on_disk: asked.append(on_disk) or layout(on_disk=on_disk))
    from_disk = LambdaMART(rounds=3).fit(write_shards(data, tmp_path / "s", 2))
    in_memory = LambdaMART(rounds=3).fit(data)
    assert asked == [True, False, False, False]  # a fit, its text, a fit, its text
    assert from_disk.model_ == in_memory.model_


def resident(array):
    """Bytes of a mapped array that this process holds."""
    start = f"{array.__array_interface__['data'][0]:x}-"
    with Path("/proc/self/smaps").open() as file:
        lines = iter(file)
        for line in lines:
            if line.startswith(start):
                return next(1024 * int(one.split()[1]) for one in lines if one.startswith("Rss:"))
    raise AssertionError("the array is not mapped")


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda folder: (folder / "shard-00001.parquet").unlink(), r"00001\.parquet: this shard is missing; copy"),
        (lambda folder: (folder / "shard-00001.parquet").write_bytes(b"x"), "this shard has another size than"),
        (lambda folder: lengthen(folder / "shard-00001.parquet"), "this shard has another size than"),
        (lambda folder: (folder / "manifest.json").write_text("{"), r"manifest\.json: this manifest is damaged; write"),
        (lambda folder: (folder / "manifest.json").unlink(), r"no folder of shards, as it has no manifest\.json"),
        (lambda folder: edit(folder, version=99), "written by a newer Ordino"),
        (lambda folder: edit(folder, shards=[]), "this manifest is damaged"),
        (lambda folder: edit(folder, shards=[{"file": "../x"}]), "this manifest is damaged"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_folder_is_one_sentence(tmp_path, harm, sentence):
    write_shards(some(), tmp_path / "s", 2)
    harm(tmp_path / "s")
    with pytest.raises(DataError, match=sentence):
        ShardedDataset(tmp_path / "s")


@pytest.mark.parametrize("seed", range(4))
def test_a_query_is_in_the_shard_in_which_most_of_it_lies(tmp_path, seed):
    counts = np.random.default_rng(seed).integers(1, 30, 8)
    data = canonical(Dataset(np.arange(counts.sum())[:, None], np.zeros(counts.sum()), np.repeat(np.arange(8), counts)))
    for n_shards in (2, 3):
        middles = data.offsets[:-1] + data.counts / 2
        expected = np.bincount((middles * n_shards / data.n_docs).astype(int), data.counts)
        found = write_shards(data, tmp_path / str(n_shards), n_shards)
        assert [n_docs for n_docs, _ in found.sizes] == expected[expected > 0].tolist()


def lengthen(file):
    file.write_bytes(file.read_bytes() + b"x")


def edit(folder, **changes):
    file = folder / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_an_exchanged_shard_is_refused(tmp_path):
    one, two = (write_shards(some(seed=seed), tmp_path / str(seed), 1) for seed in (1, 2))
    shutil.copy(two.files[0], one.files[0])
    edit(tmp_path / "1", shards=[json.loads((tmp_path / "1/manifest.json").read_text())["shards"][0]
                                 | {"bytes": one.files[0].stat().st_size}])  # fmt: skip
    with pytest.raises(
        DataError, match=r"shard-00000\.parquet: this shard changed after it was written; copy it again"
    ):
        list(ShardedDataset(tmp_path / "1").parts())


def test_shards_are_not_written_over_other_files(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="this folder has other files in it; choose a new one"):
        write_shards(some(), tmp_path, 2)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_query_in_two_parts_is_refused(tmp_path):
    with pytest.raises(DataError, match="is in two parts of the data; keep each query in one"):
        write_shards(iter([some(), some()]), tmp_path / "s", 2)


def test_what_shards_bring_themselves_is_refused(tmp_path):
    with pytest.raises(DataError, match="shards have their own labels"):
        ordino.RankSVM().fit(write_shards(some(), tmp_path / "s", 2), [1])


def test_a_share_of_shards_is_that_of_the_whole(tmp_path):
    data, ranker = some(60), ordino.RankNet(hidden=4, epochs=3)
    shards = write_shards(data, tmp_path / "s", 3)
    for how in ({}, {"valid": 0.3}):  # by itself a network holds out a fifth
        assert ranker.fit(shards, **how).predict(data).tobytes() == ranker.fit(data, **how).predict(data).tobytes()
        assert ranker.n_queries_in_ == (48 if not how else 42)


def test_validation_in_shards_goes_with_training_in_shards(tmp_path):
    with pytest.raises(DataError, match="valid is in shards but the training data is not"):
        ordino.RankSVM().fit(some(), valid=write_shards(some(), tmp_path / "s", 2))


def test_a_full_disk_is_told_before_anything_is_written(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Disk", (), {"free": 1 << 20})())
    with on_disk.room_on_disk() as room, pytest.raises(DataError, match="do not fit on this disk; set TMPDIR to"):
        room.array((1 << 20, 2))


def test_a_file_that_the_system_refuses_is_told_in_the_same_sentence():
    """Such as one that is larger than a user may have."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with on_disk.room_on_disk() as room:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
        try:
            with pytest.raises(DataError, match="do not fit on this disk; set TMPDIR to"):
                room.array((1 << 20, 2))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("ending", ["txt", "txt.gz", "parquet"])
def test_a_file_is_read_in_parts_of_whole_queries(tmp_path, ending):
    data = some(20)
    path = tmp_path / f"all.{ending}"
    if ending == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        write_data(data, path)
        parquet.write_table(parquet.read_table(path), path, row_group_size=100)
        assert isinstance(parquet.read_table(path), pa.Table)
    else:
        write_letor(data, path)
    parts = list(read_parts(path, size=20_000))
    assert len(parts) > 3
    assert list(chain.from_iterable(map(str, part.query_ids) for part in parts)) == [str(q) for q in data.query_ids]
    np.testing.assert_allclose(np.concatenate([part.X for part in parts]), data.X, rtol=1e-5)


PACKED = {"txt.gz": gzip.compress, "txt.bz2": bz2.compress, "txt.xz": lzma.compress, "xz": lzma.compress}


@pytest.mark.parametrize("ending", PACKED)
def test_compressed_text_is_read_in_parts_too(tmp_path, ending):
    data, text, path = some(6), BytesIO(), tmp_path / f"all.{ending}"
    write_letor(data, text)
    path.write_bytes(PACKED[ending](text.getvalue()))
    parts = list(read_parts(path, size=20_000))
    assert len(parts) > 2
    np.testing.assert_array_equal(np.concatenate([part.X for part in parts]), data.X)
    path.write_bytes(PACKED[ending](text.getvalue())[:-30])
    with pytest.raises(DataError, match=rf"all\.{ending}: the file is damaged or truncated"):
        list(read_parts(path))


ROWS = [f"{i % 3} qid:{i // 3} 1:{i}.5 3:{i * i} # d{i}" for i in range(9)]
SAID = {
    "txt": {"features": ["3", "1"], "drop": ["2"], "zero_based": True, "n_features": 9, "categories": ["color"]},
    "csv": {
        "label": "b", "qid": "b", "doc_id": "a", "weight": "b", "features": ["a"], "drop": ["a"], "categories": ["b"],
        "one_list": True,
    },
}  # fmt: skip
SAID["parquet"] = SAID["csv"]


def found(read):
    """What comes out, or the sentence that says why nothing does."""
    try:
        data = read()
    except DataError as error:
        return str(error)
    return data.X.tolist(), data.y.tolist(), data.qid.tolist(), data.doc_weights.tolist(), data.categories


@pytest.mark.parametrize("ending", SAID)
def test_what_is_said_of_a_file_holds_for_its_parts_too(tmp_path, ending):
    path = tmp_path / f"all.{ending}"
    if ending == "txt":
        path.write_text("\n".join(ROWS) + "\n")
    else:
        names = {"feature_names": ("a", "b")}
        write_data(Dataset(np.arange(18).reshape(9, 2) // 4, np.arange(9) % 3, np.arange(9) // 3, **names), path)
    plain = found(lambda: read_data(path))
    for name, value in SAID[ending].items():
        whole = found(lambda said={name: value}: read_data(path, **said))
        parts = found(lambda said={name: value}: concatenate([*read_parts(path, size=60, **said)]))
        assert parts == whole, name
        assert name in ("one_list", "doc_id") or whole != plain, name
    others = {"label", "qid", "doc_id", "weight", "one_list"} if ending == "txt" else {"zero_based"}
    assert {*SAID[ending], *others, "n_features"} == {*COLUMNS, "n_features"}


def test_a_folder_is_read_file_by_file(tmp_path):
    one, two = some(6).split(0.5)
    write_letor(one, tmp_path / "a.txt")
    write_letor(two, tmp_path / "b.txt")
    assert [part.n_queries for part in read_parts(tmp_path)] == [3, 3]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="there are no data files in this folder"):
        list(read_parts(tmp_path / "empty"))


def test_categories_have_the_same_numbers_in_every_shard(tmp_path):
    """One document alone is amber: the shards without it would number the others from 0."""
    number = np.arange(40)
    kind = np.where(number == 3, 0, 1 + number % 3)
    named = {"feature_names": ("number", "color"), "categories": {"color": ("amber", "green", "red", "teal")}}
    data = Dataset(np.column_stack((number, kind)), number % 2, number // 4, **named)
    by_frame = Dataset.from_frame(data.to_frame("polars")[8:], qid="qid")  # which knows of three colors
    assert by_frame.categories == {"color": ("green", "red", "teal")}
    parts = [data.select_queries([0, 1]), by_frame]
    for shards in (write_shards(data, tmp_path / "whole", 5), write_shards(iter(parts), tmp_path / "parts", 5)):
        found = [part for part in shards.parts() if part.n_docs]
        assert len(found) > 2
        for part in found:
            assert part.categories == named["categories"]
            assert part.X[:, 1].tolist() == kind[part.X[:, 0].astype(int)].tolist()
    manifest = tmp_path / "whole" / MANIFEST
    manifest.write_text(json.dumps({k: v for k, v in json.loads(manifest.read_text()).items() if k != "categories"}))
    assert ShardedDataset(tmp_path / "whole").read(0).categories == named["categories"]  # written by an earlier version


def test_a_file_without_queries_is_one_part_if_that_is_said(tmp_path):
    (tmp_path / "d.txt").write_text("1 1:5\n0 1:6\n")
    with pytest.raises(DataError, match="one_list=True"):
        next(read_parts(tmp_path / "d.txt"))
    [part] = read_parts(tmp_path / "d.txt", one_list=True)
    assert (part.n_queries, part.y.tolist()) == (1, [1, 0])


def of_two_features(query, **how):
    return Dataset([[1.0, 10.0], [2.0, 20.0]], [0, 1], [query, query], **{"feature_names": ("a", "b")} | how)


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (of_two_features("q", feature_names=("b", "a")), "different features, or in another order"),
        (of_two_features("q", feature_names=None), "different features, or in another order"),
        (Dataset([[1.0]], [0], ["q"]), "has 1 features, but the first part has 2"),
        (of_two_features("q", weights=[1, 2]), "only some parts of the data have weights"),
        (of_two_features("q", judged=[True, False]), "only some parts of the data have judged"),
        (of_two_features("p"), "query p is in two parts"),
    ],
)
@pytest.mark.parametrize("n_shards", [1, 8])
def test_parts_that_are_not_alike_are_refused(tmp_path, other, sentence, n_shards):
    one = of_two_features("p")
    for parts in ([one, other], [other, one]):
        with pytest.raises(DataError, match=sentence.replace("1 features", r"\d features").replace("has 2", r"has \d")):
            write_shards(iter(parts), tmp_path / "s", n_shards)


def test_a_number_and_its_text_are_one_query(tmp_path):
    with pytest.raises(DataError, match="query 1 is in two parts"):
        write_shards(iter([of_two_features(1), of_two_features("1")]), tmp_path / "s", 2)


def test_documents_without_a_name_in_one_part_have_an_empty_one(tmp_path):
    parts = [of_two_features("p"), of_two_features("q", doc_ids=["x", "y"])]
    [found] = write_shards(iter(parts), tmp_path / "s", 1).parts()
    names = {query.query_id: query.doc_ids.tolist() for query in found}
    assert (names["p"], sorted(names["q"])) == (["", ""], ["x", "y"])


@pytest.mark.parametrize("said", [{}, {"one_list": True}, {"drop": ["2"]}])
def test_sizes_of_queries_beside_a_text_hold_for_its_parts(tmp_path, said):
    (tmp_path / "d.txt").write_text("1 1:5 2:1\n0 1:6\n2 1:7\n")
    (tmp_path / "d.txt.query").write_text("2\n1\n")
    [part], whole = read_parts(tmp_path / "d.txt", **said), read_data(tmp_path / "d.txt", **said)
    assert part.counts.tolist() == [2, 1]
    assert found(lambda: part) == found(lambda: whole)


@pytest.mark.parametrize("zero_based", [False, True])
def test_the_texts_of_a_folder_are_as_wide_as_the_widest(tmp_path, zero_based):
    first = 0 if zero_based else 1
    for name, last in (("a", 2), ("b", 4)):
        (tmp_path / f"{name}.txt").write_text(f"1 qid:{name} {first}:5 {last}:1\n0 qid:{name} {first}:6\n")
    parts = list(read_parts(tmp_path, **({"zero_based": True} if zero_based else {})))
    width = 5 - first
    assert [part.X.tolist() for part in parts] == [
        [[5, *(float(j == last) for j in range(first + 1, width + first))], [6, *[0.0] * (width - 1)]]
        for last in (2, 4)
    ]


def test_what_is_said_of_text_is_not_asked_of_a_table(tmp_path):
    write_data(of_two_features("p"), tmp_path / "d.parquet")
    [part] = read_parts(tmp_path / "d.parquet", zero_based=True, n_features=2)
    assert found(lambda: part) == found(lambda: read_data(tmp_path / "d.parquet", zero_based=True, n_features=2))


@pytest.mark.parametrize("name", ["weight", "doc_id", "judged"])
@pytest.mark.parametrize("kinds", [None, {"color": ("blue", "red")}])
def test_a_feature_called_like_another_column_stays_a_feature(tmp_path, name, kinds):
    data = Dataset([[5.0, 1.0], [6.0, 0.0]], [0, 1], [1, 1], feature_names=(name, "color"), categories=kinds)
    [part] = write_shards(data, tmp_path / "s", 1).parts()
    assert part.feature_names == (name, "color")
    assert sorted(part.X.tolist()) == data.X.tolist()
    assert part.weights is part.doc_ids is part.judged is None
