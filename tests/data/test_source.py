"""Sources: whole queries in canonical order, part by part; a data set is its own only part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino import Dataset, synthetic
from ordino.data.files import write_data
from ordino.data.scaling import SCALERS, make_scaler
from ordino.data.source import Shards, Source, canonical
from ordino.errors import DataError

BY_QUERY = [name for name, scaler in SCALERS.items() if scaler.by_query]


def some(queries=7, seed=1):
    return synthetic("mq", queries=queries, docs=4, seed=seed)


def write_shards(data, folder, names):
    """Cut the canonical order of the data into files of whole queries."""
    ordered = canonical(data)
    folder.mkdir(exist_ok=True)
    for name, queries in zip(names, np.array_split(np.arange(data.n_queries), len(names)), strict=True):
        write_data(ordered.select_queries(queries), folder / name)
    return folder


def joined(parts):
    parts = list(parts)
    return np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts])


def test_a_data_set_is_its_own_only_part():
    data = some()
    [part] = data.parts()
    assert isinstance(data, Source)
    assert part.X.tolist() == canonical(data).X.tolist()
    assert canonical(part) is part


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=1), st.integers(0, 99))
@settings(max_examples=40)
def test_the_order_of_rows_does_not_show(rows, seed):
    table = np.array(rows)
    shuffled = table[np.random.default_rng(seed).permutation(len(table))]
    one, other = (canonical(Dataset(t[:, 1:2], t[:, 2], qid=t[:, 0])) for t in (table, shuffled))
    assert one.X.tolist() == other.X.tolist()
    assert one.y.tolist() == other.y.tolist()
    assert one.offsets.tolist() == other.offsets.tolist()


@pytest.mark.parametrize("ending", ["arrow", "parquet", "txt", "txt.gz"])
def test_shards_joined_are_the_canonical_order(tmp_path, ending):
    data = some()
    shards = Shards(write_shards(data, tmp_path, [f"part{i}.{ending}" for i in range(3)]), n_features=46)
    assert isinstance(shards, Source)
    assert (shards.n_features, len(list(shards.parts()))) == (46, 3)
    X, y = joined(shards.parts())
    np.testing.assert_array_equal(X, canonical(data).X)
    np.testing.assert_array_equal(y, canonical(data).y)


def test_shards_are_opened_one_at_a_time(tmp_path, monkeypatch):
    shards = Shards(write_shards(some(), tmp_path, ["a.arrow", "b.arrow"]))
    opened = []
    monkeypatch.setattr(
        "ordino.data.source.read_data", lambda path, **_: opened.append(path.name) or Dataset.open(path)
    )
    parts = shards.parts()
    assert opened == []
    next(parts)
    assert opened == ["a.arrow"]


def test_a_query_in_two_shards_is_refused(tmp_path):
    write_shards(some(2), tmp_path, ["a.arrow", "b.arrow"])
    shards = Shards([tmp_path / "a.arrow", tmp_path / "a.arrow"])
    with pytest.raises(DataError, match=r"a\.arrow: query \d is in .*a\.arrow too; keep each query in one file$"):
        list(shards.parts())


def test_shards_in_another_order_are_refused(tmp_path):
    write_shards(some(4), tmp_path, ["a.arrow", "b.arrow"])
    shards = Shards([tmp_path / "b.arrow", tmp_path / "a.arrow"])
    with pytest.raises(DataError, match=r"a\.arrow: its queries belong before those of .*b\.arrow; "):
        list(shards.parts())


def test_shards_with_other_features_are_refused(tmp_path):
    write_shards(some(2), tmp_path, ["a.arrow", "b.arrow"])
    Dataset([[1.0]], [1], qid=[99]).save(tmp_path / "b.arrow")
    with pytest.raises(DataError, match=r"b\.arrow: its features differ from those of .*a\.arrow"):
        list(Shards(tmp_path).parts())


def test_a_folder_without_shards_is_refused(tmp_path):
    with pytest.raises(DataError, match="there are no data files; give a folder of shards, or a list of files"):
        Shards(tmp_path)


@pytest.mark.parametrize("name", [*BY_QUERY, "symlog"])
def test_scaling_part_by_part_gives_the_same_bits(tmp_path, name):
    data = some()
    shards = Shards(write_shards(data, tmp_path, ["a.arrow", "b.arrow", "c.arrow"]))
    scaler = make_scaler(name).fit(shards)
    assert (scaler.n_features_in_, scaler.n_queries_) == (46, 7)
    whole = make_scaler(name).fit(data).transform(canonical(data))
    X, _ = joined(scaler.transform(part) for part in shards.parts())
    assert X.tobytes() == whole.X.tobytes()


def test_quantiles_need_all_rows_at_once(tmp_path):
    shards = Shards(write_shards(some(2), tmp_path, ["a.arrow", "b.arrow"]))
    with pytest.raises(DataError, match="quantiles need all training rows at once; give a Dataset, or choose another"):
        make_scaler("quantile").fit(shards)
