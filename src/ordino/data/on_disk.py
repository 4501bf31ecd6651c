"""Features that stay on disk while a ranker learns from them: the scaled rows of shards, in one mapped file.

To the ranker they are an array like any other, so it learns the same, to the last bit. Pages of the file that it has
looked at are given back as soon as they take a fixed amount of memory, which does not grow with the data. The file lies
in the place for temporary files (set TMPDIR to choose the disk) and takes 4 bytes for each value.
"""

import ctypes
import mmap
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import query_blocks
from ordino.data.columns import Groups, offsets_of
from ordino.data.dataset import Dataset
from ordino.data.source import Source
from ordino.errors import DataError

EVERY = 0.005  # seconds between two looks at how many pages are held
HELD = 1 << 26  # bytes of pages that may be held between two looks
STATM = Path("/proc/self/statm")  # sizes of this process in pages; the third is what is mapped from files
MAPS = Path("/proc/self/maps")  # what is mapped where: first and last byte, rights, ..., the file
PAGE_OUT = 21  # MADV_PAGEOUT of Linux
BLOCK = 65_536  # documents that are scaled at a time
SPARE = 1 << 26  # bytes that a disk must have left over


@final
class Room:
    """A folder for arrays that are mapped from files, and that hold no memory for long."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps: list[mmap.mmap] = []
        self._done = threading.Event()
        self._keeper = threading.Thread(target=self._keep_small, daemon=True)
        self._keeper.start()

    def array(self, shape: Sequence[int], dtype: Any = np.float32) -> NDArray[Any]:
        """Zeros of this shape, in a file; they can be written to."""
        n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        too_much = DataError(
            f"{self._folder}: {n_bytes / 1e9:.1f} GB of features do not fit on this disk; "
            "set TMPDIR to a folder on a larger one"
        )
        if n_bytes + SPARE > shutil.disk_usage(self._folder).free:
            raise too_much
        if n_bytes == 0:
            return np.zeros(shape, dtype)
        try:
            with (self._folder / f"{len(self._maps)}.rows").open("w+b") as file:
                file.truncate(n_bytes)
                if hasattr(os, "posix_fallocate"):  # a disk that others fill later would kill this process
                    os.posix_fallocate(file.fileno(), 0, n_bytes)
                mapped = mmap.mmap(file.fileno(), n_bytes)
        except OSError:
            raise too_much from None
        with suppress(OSError):  # where a file may go while it is mapped, a process that is killed leaves none behind
            (self._folder / f"{len(self._maps)}.rows").unlink()
        self._maps.append(mapped)
        return np.frombuffer(mapped, dtype).reshape(shape)

    def give_back(self) -> None:
        """Give all pages back; the files keep what was written."""
        for mapped in list(self._maps):
            if hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """No more pages are given back."""
        self._done.set()
        self._keeper.join()

    def _keep_small(self) -> None:
        least = _mapped_bytes()
        while not self._done.wait(EVERY):
            if _mapped_bytes() - least < HELD:
                continue
            self.give_back()
            least = _mapped_bytes()


def _mapped_bytes() -> float:
    """Bytes of files that this process holds in memory; NaN, which is never too few, where the system does not tell."""
    try:
        return int(STATM.read_text("ascii").split()[2]) * mmap.PAGESIZE
    except OSError:
        return np.nan


_ROOM: ContextVar[Room | None] = ContextVar("room", default=None)


@contextmanager
def room_on_disk() -> Iterator[Room]:
    """A room for large arrays; inside, :func:`large_array` takes its arrays from there."""
    with tempfile.TemporaryDirectory(prefix="ordino-rows-", ignore_cleanup_errors=True) as folder:
        room = Room(Path(folder))
        try:
            with working_in(room):
                yield room
        finally:
            room.close()


@contextmanager
def working_in(room: Room) -> Iterator[None]:
    """Inside, :func:`large_array` takes its arrays from this room."""
    token = _ROOM.set(room)
    try:
        yield
    finally:
        _ROOM.reset(token)


def is_on_disk() -> bool:
    """Whether the features that a ranker learns from stay on disk."""
    return _ROOM.get() is not None


def large_array(shape: Sequence[int], dtype: Any = np.float32) -> NDArray[Any]:
    """Zeros of this shape for a copy of the features: in memory, or on disk where the features are there too."""
    room = _ROOM.get()
    return np.zeros(shape, dtype) if room is None else room.array(shape, dtype)


def give_back() -> None:
    """Where features stay on disk: what was looked at and what was freed goes back to the system at once.

    The system's allocator keeps freed memory for the next who asks, which adds up where one step follows another.
    """
    room = _ROOM.get()
    if room is None:
        return
    room.give_back()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # only glibc has it
            ctypes.CDLL(None).malloc_trim(0)


def page_out(folder: str) -> None:
    """Give back the pages of the libraries in a folder of this name that no other process uses.

    A page that is needed later is read from its file again. Arrow has 30 MB of them, which nobody looks at once the
    shards are read.
    """
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):  # not every Linux has it
        advise = ctypes.CDLL(None).madvise
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for line in MAPS.read_text("utf-8", "replace").splitlines():
            place, rights, *others = line.split(maxsplit=5)
            if "w" not in rights and folder in Path(others[-1]).parts[:-1]:
                first, last = (int(end, 16) for end in place.split("-"))
                advise(first, last - first, PAGE_OUT)


class Sized(Source, Protocol):
    """A source that knows how many documents it has."""

    @property
    def n_docs(self) -> int:
        """The number of documents in all parts."""


def rows_on_disk(source: Sized, room: Room) -> Dataset:
    """All shards as one data set, in canonical order as they are; the features stay on disk."""
    X, y = room.array((source.n_docs, source.n_features)), room.array((source.n_docs,), np.float64)
    counts, queries, begin = [], [], 0
    weights: list[Any] = []
    for part in source.parts():
        rows = slice(begin, begin + part.n_docs)
        X[rows], y[rows], begin = part.X, part.y, rows.stop
        counts.append(part.counts)
        queries.append(part.query_ids)
        weights.append(part.weights)
        categories = part.categories
        del part  # before the next shard is read
    page_out("pyarrow")
    given = None if weights[0] is None else np.concatenate(weights)
    groups = Groups(None, offsets_of(np.concatenate(counts)), np.concatenate(queries))
    return Dataset.of_groups(X, y, groups, feature_names=source.feature_names, weights=given, categories=categories)


def select_on_disk(data: Dataset, queries: NDArray[np.intp], room: Room) -> Dataset:
    """The queries with these rising numbers, some at a time, into another file."""
    counts = data.counts[queries]
    offsets = offsets_of(counts)
    X, y = room.array((offsets[-1], data.n_features)), room.array((offsets[-1],), np.float64)
    weights: list[Any] = []
    for first, last in query_blocks(offsets, BLOCK):
        part = data.select_queries(queries[first:last])
        rows = slice(offsets[first], offsets[last])
        X[rows], y[rows] = part.X, part.y
        weights.append(part.weights)
    given = None if not weights or weights[0] is None else np.concatenate(weights)
    groups = Groups(None, offsets, data.query_ids[queries])
    named: dict[str, Any] = {"feature_names": data.feature_names, "categories": data.categories}
    return Dataset.of_groups(X, y, groups, weights=given, **named)


def transformed(scaler: Any, data: Dataset) -> Dataset:
    """The data with scaled features; where features stay on disk, some queries at a time, into another file there."""
    room = _ROOM.get()
    if room is None:
        scaled: Dataset = scaler.transform(data)
        return scaled
    X: NDArray[np.float32] | None = None
    names = data.feature_names
    for first, last in query_blocks(data.offsets, BLOCK):
        part = scaler.transform(data.select_queries(np.arange(first, last)))
        X = room.array((data.n_docs, part.n_features)) if X is None else X
        X[data.offsets[first] : data.offsets[last]] = part.X
        names = part.feature_names
    return data if X is None else data.replace_features(X, names)
