"""Folds: a data set cut by query into training, validation and test parts, read from disk or drawn at random.

LETOR's way: the queries are cut into k parts S1..Sk; Fold1 trains on S1..S(k-2), validates on S(k-1) and tests on Sk,
and every further fold moves on by one part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from ordino.arrays import query_numbers
from ordino.checks import check_int
from ordino.data.columns import group_rows
from ordino.data.dataset import Dataset
from ordino.data.files import read_data
from ordino.data.letor import write_letor
from ordino.errors import DataError, ParameterError

PART_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "train": ("train", "training", "trainset", "trainingset"),
        "valid": ("vali", "valid", "validation", "valiset", "validset", "validationset", "dev"),
        "test": ("test", "testing", "testset", "testingset"),
    }
)
"""Names of the files of each part, without the ending, in upper or lower case."""

PART_ENDINGS = (
    ".arrow", ".txt", ".txt.gz", ".gz", ".parquet", ".feather", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl",
    ".jsonl.gz",
)  # fmt: skip
"""Endings of these files; if a part has several files, the first of these counts."""


_FOLD_OR_PART = re.compile(rf"fold[ _-]?\d+$|({'|'.join(PART_NAMES['train'])})\.")


class Fold(NamedTuple):
    """One way of cutting the data: no query is in two parts."""

    name: str
    train: Dataset
    valid: Dataset | None
    test: Dataset


@final
class Folds(Sequence[Fold]):
    """A sequence of folds, each loaded when it is asked for and not kept: memory holds what the caller holds."""

    def __init__(self, names: Sequence[str], load: Callable[[int], Fold], whole: Dataset | None = None) -> None:
        self.names = tuple(names)
        self.whole = whole  # what was cut into folds, if it was not cut already
        self._load = load

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, i: int) -> Fold: ...
    @overload
    def __getitem__(self, i: slice) -> Folds: ...
    def __getitem__(self, i: int | slice) -> Fold | Folds:
        numbers = range(len(self))[i]
        if isinstance(numbers, range):
            return Folds([self.names[j] for j in numbers], lambda j: self._load(numbers[j]), self.whole)
        return self._load(numbers)

    def __repr__(self) -> str:
        return f"Folds({', '.join(self.names)})"


def read_folds(directory: str | Path, *, n_features: int | None = None, **columns: Any) -> Folds:
    """Find the folds of a directory; their files are read when a fold is asked for.

    The directory holds Fold1, Fold2, ... (any number, any case), or is itself one fold. In each, the parts have a name
    in :data:`PART_NAMES` and an ending in :data:`PART_ENDINGS`; there may be no validation part. ``n_features`` is the
    number of features of every part. By default the parts of a fold get as many as the widest has (a text file does not
    mention trailing zeros), and a fold that differs from an earlier one is refused. ``columns`` are the other arguments
    of :func:`~ordino.data.files.read_data`, such as ``qid``, ``label`` or ``drop``.
    """
    root = Path(directory)
    if not root.is_dir():
        raise DataError(f"{root}: there is no such directory; give the one that holds Fold1, Fold2, ...")
    names = ((path, re.fullmatch(r"fold[ _-]?(\d+)", path.name.lower())) for path in root.iterdir() if path.is_dir())
    homes = [path for _, path in sorted((int(match[1]), path) for path, match in names if match)] or [root]
    parts = [_find_parts(home) for home in homes]
    earlier: list[int] = []  # how many features the folds loaded so far have

    def load(i: int) -> Fold:
        sets = {part: read_data(path, n_features=n_features, **columns) for part, path in parts[i].items()}
        left = None if columns.get("features") or columns.get("drop") else n_features  # all that were read, or fewer
        width = left or max(dataset.n_features for dataset in sets.values())
        if earlier and width != earlier[0]:
            fix = f"pass n_features={max(width, earlier[0])} to read_folds"
            raise DataError(f"{homes[i]}: {width} features but an earlier fold has {earlier[0]}; {fix}")
        earlier[:] = [width]
        whole = {part: _widen(dataset, width, parts[i][part]) for part, dataset in sets.items()}
        return Fold(homes[i].name, whole["train"], whole.get("valid"), whole["test"])

    return Folds([home.name for home in homes], load)


def make_folds(dataset: Dataset, k: int = 5, *, seed: int = 0, valid: bool = True) -> Folds:
    """Split a data set into k folds by query, as in LETOR; each query is tested once.

    With ``valid``, one of the k parts is used for validation, so k is at least 3; otherwise it is trained on.

    Examples
    --------
    >>> fold = make_folds(Dataset([[0.0]] * 10, [0] * 10, qid=range(10)), k=5)[0]
    >>> fold.train.n_queries, fold.valid.n_queries, fold.test.n_queries
    (6, 2, 2)
    """
    least = 3 if valid else 2
    if not least <= k <= dataset.n_queries:
        raise ParameterError(f"k={k}: the data set has {dataset.n_queries} queries; choose k from {least} to that")
    parts = _deal(dataset.n_queries, k, seed)

    def load(i: int) -> Fold:
        turn = [parts[(i + j) % k] for j in range(k)]
        n_train = k - 2 if valid else k - 1
        cut = (np.concatenate(turn[:n_train]), *turn[n_train:])
        train, *others = (dataset.select_queries(np.sort(chosen)) for chosen in cut)
        return Fold(f"Fold{i + 1}", train, others[0] if valid else None, others[-1])

    return Folds([f"Fold{i + 1}" for i in range(k)], load, dataset)


def write_folds(folds: Sequence[Fold], directory: str | Path) -> None:
    """Write folds as LETOR does, for :func:`read_folds`: ``Fold1/train.txt``, ``vali.txt`` and ``test.txt``, ..."""
    for fold in folds:
        home = Path(directory) / fold.name
        home.mkdir(parents=True, exist_ok=True)
        for part, names in PART_NAMES.items():
            data: Dataset | None = getattr(fold, part)
            if data is not None:
                write_letor(data, home / f"{names[0]}.txt")


class QueryKFold(BaseCrossValidator):
    """A scikit-learn splitter that keeps queries whole: each query is in one test part.

    With ``shuffle``, queries are assigned at random by ``seed``; without, they are divided in the order of their first
    rows.

    Examples
    --------
    >>> for train, test in QueryKFold(2, shuffle=False).split([[0.0]] * 5, groups=["a", "b", "a", "c", "c"]):
    ...     print(train.tolist(), test.tolist())
    [3, 4] [0, 1, 2]
    [0, 1, 2] [3, 4]
    """

    __metadata_request__split = MappingProxyType({"groups": True, "qid": True})  # passed on unasked

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, seed: int = 0, **unknown: Any) -> None:
        for word in unknown:
            ours = "it is called seed here" if word == "random_state" else "it has n_splits, shuffle and seed"
            raise ParameterError(f"QueryKFold has no argument {word}; {ours}")
        self.n_splits = check_int("n_splits", n_splits, low=2)
        self.shuffle, self.seed = shuffle, seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, *, qid: Any = None) -> int:  # noqa: ARG002
        """The number of pairs that :meth:`split` gives."""
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: ArrayLike | Sequence[Any] | None = None, *,  # noqa: ARG002
        qid: ArrayLike | Sequence[Any] | None = None,
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:  # fmt: skip
        """Row numbers to train on and to test on for each part; ``qid`` or ``groups`` is the query of each row."""
        groups = groups if qid is None else qid
        if groups is None:
            fix = "pass qid=qid (to cross_val_score: params={'qid': qid})"
            raise DataError(f"QueryKFold does not know the queries; {fix}")
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        order, offsets, query_ids = group_rows(groups, n_rows)
        if len(query_ids) < self.n_splits:
            raise ParameterError(f"n_splits={self.n_splits} but there are {len(query_ids)} queries; choose fewer parts")
        query = query_numbers(offsets)
        if order is not None:
            query[order] = query.copy()
        for chosen in _deal(len(query_ids), self.n_splits, self.seed if self.shuffle else None):
            is_test = np.isin(query, chosen)
            yield np.flatnonzero(~is_test), np.flatnonzero(is_test)


def _deal(n_queries: int, k: int, seed: int | None) -> list[NDArray[np.intp]]:
    """Cut query numbers into k parts whose sizes differ by one at most."""
    numbers = np.arange(n_queries) if seed is None else np.random.default_rng(seed).permutation(n_queries)
    return np.array_split(numbers, k)


def _find_parts(home: Path) -> dict[str, Path]:
    files = {path.name.lower(): path for path in sorted(home.iterdir(), reverse=True) if path.is_file()}
    parts = {}
    for part, names in PART_NAMES.items():
        fitting = [files[name + ending] for ending in PART_ENDINGS for name in names if name + ending in files]
        if fitting:
            parts[part] = fitting[0]
        elif part != "valid":
            if not parts and (found := _collections_in(home)):
                named = ", ".join(path.name for path in found)
                raise DataError(f"{home}: this folder holds {named}; name one of them, such as {found[0]}")
            raise DataError(f"{home}: there is no {part} file; call it {part}.txt, {names[-1]}.txt or {part}.arrow")
    return parts


def _collections_in(folder: Path) -> list[Path]:
    """The folders in a folder that hold folds, or are one."""
    inside = (path for path in sorted(folder.iterdir()) if path.is_dir())
    return [path for path in inside if any(_FOLD_OR_PART.match(one.name.lower()) for one in path.iterdir())]


def _widen(dataset: Dataset, n_features: int, path: Path) -> Dataset:
    """Add columns of zeros, which is what a text file leaves out."""
    missing = n_features - dataset.n_features
    if missing == 0:
        return dataset
    if missing < 0 or dataset.feature_names is not None:
        raise DataError(f"{path}: {dataset.n_features} features instead of {n_features}; choose the same in all parts")
    return dataset.replace(X=np.pad(dataset.X, ((0, 0), (0, missing))))
