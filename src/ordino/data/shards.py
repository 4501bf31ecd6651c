"""Data sets past the memory of a machine: a folder of Parquet files with whole queries, and a manifest.

:func:`write_shards` (``ordino convert DATA DIR --shards N``) writes the folder. Queries go to files by the key that
orders them canonically, so the files in their order are the data in canonical order: a ranker learns the same from one
file or from eight. The manifest has the size and the fingerprint of every file, so that a file that is missing, damaged
or exchanged is reported by its name.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import name_features
from ordino.checks import check_int
from ordino.data.arrow import write_whole, written_whole
from ordino.data.columns import Groups, offsets_of
from ordino.data.dataframes import to_frame
from ordino.data.dataset import Dataset
from ordino.data.files import read_data
from ordino.data.frames import Categories, joint_categories, recode
from ordino.data.source import arrange, contents_hash
from ordino.errors import DataError

FORMAT, VERSION = "ordino.shards", 1
MANIFEST = "manifest.json"
ROWS = 1 << 15  # of a row group, which are decoded at a time
_FEATURES = b"ordino.features"  # the schema metadata that names them: one may be called like a column of another role
BUCKETS = 4  # for each shard, if data comes in parts: shards are then made of neighboring buckets of about equal size


@final
class ShardedDataset:
    """Whole queries in several files, read one file at a time; rankers learn from it as from a :class:`Dataset`.

    Parameters
    ----------
    folder
        A folder that ``ordino convert DATA DIR --shards N`` or :func:`write_shards` wrote.
    cluster
        The address of a Ray cluster, or "auto" for the one of this machine: a ranker that learns from these shards is
        divided over its workers. None learns on this machine.
    """

    def __init__(self, folder: str | Path, *, cluster: str | None = None) -> None:
        self.folder = Path(folder)
        self.cluster = cluster
        manifest = _read_manifest(self.folder)
        self.files: tuple[Path, ...] = tuple(self.folder / one["file"] for one in manifest["shards"])
        self._shards: list[dict[str, Any]] = manifest["shards"]
        self.n_features: int = manifest["n_features"]
        names = manifest["feature_names"]
        self.feature_names: tuple[str, ...] | None = None if names is None else tuple(names)
        kinds: dict[str, list[str]] | None = manifest.get("categories")
        self._categories = None if kinds is None else {name: tuple(texts) for name, texts in kinds.items()}
        for path, known in zip(self.files, self._shards, strict=True):
            if not path.is_file():
                raise DataError(f"{path}: this shard is missing; copy it again, or write the shards anew")
            if path.stat().st_size != known["bytes"]:
                raise DataError(f"{path}: this shard has another size than when it was written; copy it again")

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """The number of documents and of queries in each shard."""
        return tuple((one["documents"], one["queries"]) for one in self._shards)

    @property
    def n_docs(self) -> int:
        """The number of documents in all shards."""
        return sum(one["documents"] for one in self._shards)

    @property
    def n_queries(self) -> int:
        """The number of queries in all shards."""
        return sum(one["queries"] for one in self._shards)

    def __len__(self) -> int:
        return len(self.files)

    def __repr__(self) -> str:
        size = f"{self.n_docs:,} documents, {self.n_queries:,} queries, {self.n_features} features"
        return f"ShardedDataset({size}, {len(self)} shards)"

    @cached_property
    def categories(self) -> Categories:
        """The categories of all shards together: a shard may lack some, and would number the others without them."""
        if self._categories is None:  # written before the manifest named them
            return joint_categories([read_shard(path).categories for path in self.files])
        return self._categories

    def fingerprint(self, number: int) -> str:
        """The fingerprint of a shard, as the manifest has it."""
        return str(self._shards[number]["fingerprint"])

    def read(self, number: int) -> Dataset:
        """One shard, compared with its fingerprint, with the categories of all."""
        data = read_shard(self.files[number], self.fingerprint(number))
        return recode(data, self.categories) if data.categories else data

    def parts(self) -> Iterator[Dataset]:
        """The shards in their order: whole queries, which together are in canonical order."""
        return map(self.read, range(len(self)))


def is_sharded(path: str | Path) -> bool:
    """Whether a path is a folder of shards."""
    return (Path(path) / MANIFEST).is_file()


def write_shards(data: Dataset | Iterable[Dataset], folder: str | Path, n_shards: int) -> ShardedDataset:
    """Write data as shards of whole queries with about equally many documents.

    Data that does not fit into memory comes in parts, each of whole queries; at most one part and one shard are in
    memory at a time. A query that two parts share is refused.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> data = Dataset([[1.0], [2.0], [3.0]], [0, 1, 0], qid=["a", "a", "b"])
    >>> write_shards(data, mkdtemp(), 2)
    ShardedDataset(3 documents, 2 queries, 1 features, 2 shards)
    """
    check_int("shards", n_shards, low=1)
    target = Path(folder)
    if target.exists() and any(target.iterdir()) and not is_sharded(target):
        raise DataError(f"{target}: this folder has other files in it; choose a new one")
    target.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        (target / MANIFEST).unlink()  # what is half written is no data set
    for old in target.glob("shard-*.parquet"):
        old.unlink()
    with TemporaryDirectory(prefix=".parts-", dir=target) as home:
        pieces = _cut(data, n_shards) if isinstance(data, Dataset) else _gathered(data, n_shards, Path(home))
        shards = [_write(piece, target, number) for number, piece in enumerate(pieces)]
    if not shards:
        raise DataError("there are no queries to write; check how the data was selected")
    [(n_features, names)] = {(one.pop("n_features"), one.pop("feature_names")) for one in shards}
    header = {"format": FORMAT, "version": VERSION, "n_features": n_features, "feature_names": names}
    header["categories"] = joint_categories([one.pop("categories") for one in shards])
    write_whole(target / MANIFEST, json.dumps(header | {"shards": shards}, indent=1) + "\n")
    return ShardedDataset(target)


def _write(piece: Dataset, folder: Path, number: int) -> dict[str, Any]:
    from pyarrow import parquet

    path = folder / f"shard-{number:05d}.parquet"
    table = to_frame(piece, "pyarrow")
    header = json.dumps(table.column_names[-piece.n_features :] if piece.n_features else [])
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _FEATURES: header})
    ids = [name for name in ("qid", "doc_id") if name in table.column_names]
    with written_whole(path) as part:
        parquet.write_table(table, part, row_group_size=ROWS, use_dictionary=ids, compression="zstd")
    return {
        "file": path.name, "documents": piece.n_docs, "queries": piece.n_queries, "bytes": path.stat().st_size,
        "fingerprint": contents_hash(read_shard(path)), "n_features": piece.n_features,
        "feature_names": piece.feature_names, "categories": piece.categories,
    }  # fmt: skip


def read_shard(path: Path, fingerprint: str | None = None) -> Dataset:
    """The data of one shard, compared with its fingerprint, if that is given.

    It is read some rows at a time: no second copy of the features is ever in memory.
    """
    import pyarrow as pa

    data = _read_rows(path)
    pa.default_memory_pool().release_unused()  # Arrow keeps what it decoded into, while a ranker learns
    if fingerprint is not None and contents_hash(data) != fingerprint:
        raise DataError(f"{path}: this shard changed after it was written; copy it again, or write the shards anew")
    return data


def roles_in(schema: Any) -> list[str]:
    """The columns of a shard that are no features: ids, labels and weights; a feature may be called like one."""
    noted = (schema.metadata or {}).get(_FEATURES)  # which earlier versions did not write
    features = [] if noted is None else json.loads(noted)
    return [name for name in ("qid", "label", "doc_id", "weight") if name in schema.names and name not in features]


def _read_rows(path: Path) -> Dataset:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            names, given = file.schema_arrow.names, roles_in(file.schema_arrow)
            if "judged" in names and pa.types.is_boolean(file.schema_arrow.field("judged").type):
                given.append("judged")
            features = [name for name in names if name not in given]
            if any(pa.types.is_dictionary(file.schema_arrow.field(name).type) for name in features):
                return read_data(path, features=features)  # categories are the same only once all rows are known
            X, whole = _decoded(file, features, given)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read ({' '.join(str(error).split())}); copy it again") from None
    named = features if features != list(name_features(None, len(features))) else None
    return Dataset(X, whole["label"], whole["qid"], doc_ids=whole.get("doc_id"), weights=whole.get("weight"),
                   judged=whole.get("judged"), feature_names=named)  # fmt: skip


def _decoded(file: Any, features: list[str], given: list[str]) -> tuple[NDArray[np.float32], dict[str, NDArray[Any]]]:
    """The features and the other columns of a Parquet file, decoded some rows at a time; nothing of Arrow's is held."""
    X = np.empty((file.metadata.num_rows, len(features)), np.float32)
    columns: dict[str, list[Any]] = {name: [] for name in given}
    begin = 0
    for batch in file.iter_batches(ROWS, use_threads=False):
        rows = slice(begin, begin + len(batch))
        for j, name in enumerate(features):
            X[rows, j] = _values(batch.column(name))
        for name in given:
            columns[name].append(_values(batch.column(name)))
        begin = rows.stop
    return X, {name: np.concatenate(values) for name, values in columns.items()}


def _values(column: Any) -> NDArray[Any]:
    """A column of Arrow as an array; numbers are looked at where they lie, as ``to_numpy`` would import pandas."""
    import pyarrow as pa

    is_number = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    if is_number and column.null_count == 0:
        return np.from_dlpack(column)
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def _cut(data: Dataset, n_shards: int) -> Iterator[Dataset]:
    """Data in memory, cut where the number of documents is nearest to equal shares."""
    ordered, _ = arrange(data)
    wanted = np.arange(1, n_shards) * ordered.n_docs / n_shards
    middles = (ordered.offsets[1:] + ordered.offsets[:-1]) / 2  # a query belongs where most of it lies
    bounds = [0, *np.searchsorted(middles, wanted).tolist(), ordered.n_queries]
    for first, last in pairwise(bounds):
        if last > first:
            yield ordered.select_queries(np.arange(first, last))


def _gathered(parts: Iterable[Dataset], n_shards: int, home: Path) -> Iterator[Dataset]:
    """Data in parts: the queries of each go to buckets by their keys, and buckets become shards."""
    n_buckets = BUCKETS * n_shards
    sizes = np.zeros(n_buckets, np.int64)
    seen: set[str] = set()
    n_parts = 0
    first: Dataset | None = None
    for part in parts:
        first = part.select_queries([]) if first is None else first
        _check_alike(first, part)
        queries = [str(query) for query in part.query_ids.tolist()]  # 1 and "1" would be one in a column
        if shared := seen.intersection(queries):
            raise DataError(f"query {next(iter(shared))} is in two parts of the data; keep each query in one")
        seen.update(queries)
        ordered, keys = arrange(part)
        bucket = (keys >> np.uint64(32)) * np.uint64(n_buckets) >> np.uint64(32)
        for number in np.unique(bucket).astype(int):
            some = ordered.select_queries(bucket == number)
            some.save(home / f"{number}-{n_parts}.arrow")
            sizes[number] += some.n_docs
        n_parts += 1
    shard = np.minimum((np.cumsum(sizes) - sizes / 2) * n_shards // max(sizes.sum(), 1), n_shards - 1).astype(int)
    for number in np.unique(shard[sizes > 0]):
        files = [home / f"{one}-{i}.arrow" for one in np.flatnonzero(shard == number) for i in range(n_parts)]
        pieces = [Dataset.open(file, check=False) for file in files if file.exists()]
        yield arrange(concatenate(pieces))[0]


def _check_alike(first: Dataset, other: Dataset) -> None:
    """Refuse parts with other features than the first, or with weights or marks that only some of them have."""
    if first.n_features != other.n_features:
        what = f"{other.n_features} features, but the first part has {first.n_features}"
        raise DataError(f"a part of the data has {what}; give all the same")
    if first.feature_names != other.feature_names or first.categories.keys() != other.categories.keys():
        raise DataError("the parts of the data have different features, or in another order; give all the same")
    for name in ("weights", "judged"):
        if (getattr(first, name) is None) != (getattr(other, name) is None):
            raise DataError(f"only some parts of the data have {name}; give them in all or in none")


def concatenate(pieces: Sequence[Dataset]) -> Dataset:
    """One data set of the queries of several, which share none, with the same features; a missing name is ``""``."""
    known = joint_categories([one.categories for one in pieces])
    pieces = [recode(one, known) for one in pieces]
    first = pieces[0]
    if len(pieces) == 1:
        return first.as_grouped()

    for other in pieces[1:]:
        _check_alike(first, other)

    def joined(name: str) -> Any:
        given = [getattr(one, name) for one in pieces]
        if all(array is None for array in given):
            return None
        return np.concatenate(
            [np.full(one.n_docs, "") if a is None else a for one, a in zip(pieces, given, strict=True)]
        )

    return Dataset.of_groups(
        joined("X"), joined("y"), Groups(None, offsets_of(np.concatenate([one.counts for one in pieces])),
                                         joined("query_ids")),
        doc_ids=joined("doc_ids"), weights=joined("weights"), judged=joined("judged"),
        feature_names=first.feature_names, categories=known,
    )  # fmt: skip


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        fix = "`ordino convert DATA DIR --shards 8` writes one"
        raise DataError(f"{folder}: this is no folder of shards, as it has no {MANIFEST}; {fix}")
    try:
        found = json.loads(path.read_text("utf-8"))
        if found["format"] != FORMAT or found["version"] > VERSION:
            raise DataError(f"{path}: written by a newer Ordino, or by something else; upgrade, or write it again")
        for one in found["shards"]:
            inside = Path(one["file"]).name == one["file"]
            if not (inside and isinstance(one["fingerprint"], str) and int(one["documents"]) >= 0):
                raise ValueError
            int(one["queries"]), int(one["bytes"])
        if not found["shards"] or int(found["n_features"]) < 0:
            raise ValueError
    except (ValueError, KeyError, TypeError, OSError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: this manifest is damaged; write the shards again") from None
    return dict(found)
