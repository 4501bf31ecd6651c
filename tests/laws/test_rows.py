"""Law 8: what belongs to a document stays with it: label, query, id, weight, whether it was judged, its category.

Every way in which data is chosen, put in order, scaled, written or read is in ``WAYS``; each gives documents of the
same data back, which are recognized by their first feature.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordino import Dataset, ShardedDataset, write_letor
from ordino.data import parts
from ordino.data.files import read_data, write_data
from ordino.data.on_disk import room_on_disk, rows_on_disk, select_on_disk
from ordino.data.prepare import binarize_labels, drop_empty_queries, drop_features, keep_features
from ordino.data.scaling import make_scaler
from ordino.data.shards import concatenate, write_shards
from ordino.data.source import canonical
from ordino.ensemble.views import Views, pooled
from ordino.given import as_dataset

N = 24
NAMES = ("number", "other", "kind")
KINDS = ("red", "green", "blue")


def make_data(*, categories: bool = False) -> Dataset:
    """Documents of six queries in mixed order, whose first feature is their number."""
    number, rng = np.arange(N), np.random.default_rng(0)
    X = np.column_stack((number, rng.random(N), number % 3 if categories else rng.random(N)))
    named = {"feature_names": NAMES} | ({"categories": {"kind": KINDS}} if categories else {})
    return Dataset(
        X, (number * 7) % 5, number % 6, doc_ids=[f"d{i}" for i in number], weights=1.0 + number, judged=number % 4 > 0,
        **named,
    )  # fmt: skip


OWN: dict[str, Callable[[int], Any]] = {
    "y": lambda i: i * 7 % 5,
    "qid": lambda i: i % 6,
    "doc_ids": lambda i: f"d{i}",
    "weights": lambda i: 1.0 + i,
    "judged": lambda i: i % 4 > 0,
}
SOME = np.array([4, 0, 3])
EVEN = np.arange(N) % 2 == 0
ON_DISK = ("y", "qid", "weights")  # what training needs
WAYS: dict[str, tuple[Callable[[Dataset, Path], Dataset], tuple[str, ...]]] = {
    "as it is": (lambda data, _: data, tuple(OWN)),
    "some queries": (lambda data, _: data.select_queries(SOME), tuple(OWN)),
    "some documents": (lambda data, _: data.select_docs(EVEN), tuple(OWN)),
    "a part": (lambda data, _: data.split(0.5)[1], tuple(OWN)),
    "grouped": (lambda data, _: data.as_grouped(), tuple(OWN)),
    "canonical": (lambda data, _: canonical(data), tuple(OWN)),
    "other features": (lambda data, _: data.replace(X=data.X), tuple(OWN)),
    "other labels": (lambda data, _: data.replace(y=data.y), tuple(OWN)),
    "other weights": (lambda data, _: data.with_weights(data.weights), tuple(OWN)),
    "given": (lambda data, _: as_dataset(data, None, None), tuple(OWN)),
    "scaled": (lambda data, _: make_scaler("raw").fit(data).transform(data), tuple(OWN)),
    "binarized": (lambda data, _: binarize_labels(data, 2), ("qid", "doc_ids", "weights", "judged")),
    "without empty queries": (lambda data, _: drop_empty_queries(data), tuple(OWN)),
    "without a feature": (lambda data, _: drop_features(data, ["other"]), tuple(OWN)),
    "of two features": (lambda data, _: keep_features(data, ["number", "kind"]), tuple(OWN)),
    "a view": (lambda data, _: Views(data).take("raw", SOME), ("y", "qid", "doc_ids", "weights")),
    "pooled": (lambda data, _: pooled(*data.split(0.5)), ("y", "doc_ids", "weights")),
    "joined": (lambda data, _: concatenate(data.split(0.5)), tuple(OWN)),
    "saved": (lambda data, home: saved(data, home), tuple(OWN)),
    "a frame": (lambda data, _: Dataset.from_frame(data.to_frame("polars"), **COLUMNS), tuple(OWN)),
    "parquet": (lambda data, home: written(data, home / "d.parquet"), tuple(OWN)),
    "csv": (lambda data, home: written(data, home / "d.csv"), tuple(OWN)),
    "json lines": (lambda data, home: written(data, home / "d.jsonl"), tuple(OWN)),
    "LETOR": (lambda data, home: written(without_weights(data), home / "d.txt"), ("y", "qid", "doc_ids")),
    "shards": (lambda data, home: concatenate([*write_shards(data, home / "shards", 3).parts()]), tuple(OWN)),
    "parts in shards": (lambda data, home: sharded_parts(data, home), tuple(OWN)),
    "parts of a file": (lambda data, home: concatenate(file_parts(data, home)), tuple(OWN)),
    "parts of a LETOR file": (lambda data, home: concatenate(narrow_parts(data, home)), ("qid", "doc_ids")),
    "turned around": (
        lambda data, _: keep_features(keep_features(data, ["kind", "other", "number"]), NAMES),
        tuple(OWN),
    ),
    "shards on disk": (lambda data, home: on_disk(data, home), ON_DISK),
    "some of them on disk": (lambda data, home: on_disk(data, home, np.array([0, 2, 5])), ON_DISK),
}
"""By name: what is done with data, given a folder, and what a document must not lose."""
NAMELESS = ("a view", "LETOR", "parts of a LETOR file")
"""Ways in which features have no names, or numbers for names."""
NUMBERS_ONLY = ("scaled", "LETOR", "parts of a LETOR file", "a view", "pooled")
COLUMNS = {"qid": "qid", "doc_id": "doc_id", "weight": "weight"}


def saved(data: Dataset, home: Path) -> Dataset:
    data.save(home / "d.arrow")
    return Dataset.open(home / "d.arrow")


def written(data: Dataset, path: Path) -> Dataset:
    write_data(data, path)
    return read_data(path, categories=tuple(data.categories))


def without_weights(data: Dataset) -> Dataset:
    """What LETOR text can hold."""
    return Dataset(data.X, data.y, data.qid, doc_ids=data.doc_ids)


def sharded_parts(data: Dataset, home: Path) -> Dataset:
    write_shards(iter(data.split(0.5)), home / "shards", 2)
    return concatenate([*ShardedDataset(home / "shards").parts()])


def file_parts(data: Dataset, home: Path) -> list[Dataset]:
    write_data(data.as_grouped(), home / "d.parquet")
    return [*parts.read_parts(home / "d.parquet", size=9)]


def narrow_parts(data: Dataset, home: Path) -> list[Dataset]:
    """Parts of which the first mention fewer features: zeros at the end of a line are not written."""
    X = np.where((data.query_number < 3)[:, None] & (np.arange(3) == 2), 0, data.X)
    write_letor(without_weights(data.replace(X=X).as_grouped()), home / "d.txt", sparse=True)
    return [*parts.read_parts(home / "d.txt", size=200)]


def on_disk(data: Dataset, home: Path, queries: np.ndarray | None = None) -> Dataset:
    shards = write_shards(data, home / "shards", 2)
    with room_on_disk() as room:
        whole = rows_on_disk(shards, room)
        chosen = whole if queries is None else select_on_disk(whole, queries, room)
        return chosen.replace(X=np.array(chosen.X))


@pytest.mark.parametrize("categories", [False, True], ids=["numbers", "categories"])
@pytest.mark.parametrize("way", WAYS)
def test_what_belongs_to_a_document_stays_with_it(way: str, categories: bool, tmp_path: Path) -> None:
    do, kept = WAYS[way]
    data = make_data(categories=categories and way not in NUMBERS_ONLY)
    found = do(data, tmp_path)
    assert found.n_features == (2 if "feature" in way and "other" not in way else 3)
    assert 0 < found.n_docs <= N
    assert found.feature_names == (None if way in NAMELESS else NAMES[:: 2 if found.n_features == 2 else 1]), way
    numbers = found.X[:, 0].astype(int).tolist()
    assert len(set(numbers)) == len(numbers)
    for name in kept:
        values = getattr(found, name)
        assert values is not None, name
        expected = [OWN[name](i) for i in numbers]
        assert [type(one)(value) for one, value in zip(expected, values.tolist(), strict=True)] == expected, name
    if data.categories and "other" not in way:
        own = found.X[:, -1].astype(int).tolist()
        assert [found.categories["kind"][i] for i in own] == [KINDS[i % 3] for i in numbers]


def test_shards_know_the_categories_of_all_parts_though_each_part_has_others(tmp_path: Path) -> None:
    """Whichever shard a document is in, its category is the one that it was given with."""
    texts = ["b", "a", "d", "c"]
    given = [
        Dataset(
            [[float(i), 0.0], [i + 0.5, 0.0]],
            [0, 1],
            [i, i],
            feature_names=("number", "kind"),
            categories={"kind": [one]},
        )
        for i, one in enumerate(texts)
    ]
    shards = write_shards(iter(given), tmp_path / "shards", 4)
    assert len(shards) > 1
    for part in shards.parts():
        for number, kind in part.X:
            assert part.categories["kind"][int(kind)] == texts[int(number)]
