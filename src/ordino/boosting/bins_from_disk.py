"""LightGBM's bins of features that stay on disk: one byte for each value, and nothing beside it.

Where LightGBM makes them itself, three other things take memory: the rows that it draws to find the bins, 12 bytes for
each of their values; 8 bytes for each value of a sparse feature while rows come in; and a second copy of such features
while trees grow. Here what is drawn lies on disk, and sparse features are kept as the others are. The trees are the
same, to the last bit.

Only where LightGBM bundles features, or might, it keeps them as ever: a bundle may lose a value, so it is a part of
what the trees are (Ke et al., "LightGBM", NIPS 2017, section 4).
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.library import FLOAT32, call
from ordino.boosting.model_text import ZERO
from ordino.data.on_disk import give_back, large_array

BLOCK = 8192  # rows that are looked at at a time
RARE = 1000  # LightGBM has rules of its own for features that are not as usual in fewer than one of this many rows
DENSE = b"is_enable_sparse=false "  # of parameters that are given twice, the first counts
OTHERWISE = (b"extra_tree", b"linear_tree")  # options whose trees depend on how features are kept, or on more than bins


def bins_of(X: NDArray[np.float32], params: bytes) -> ctypes.c_void_p:
    """LightGBM's handle of a data set with the bins of all rows."""
    columns = _draw(X, params)
    if _is_usual(columns):
        handle = _filled(_empty(columns, len(X), DENSE + params), X)
        if not _has_bundles(handle):
            return handle
        call("DatasetFree", handle)
    return _filled(_empty(columns, len(X), params), X)


@contextmanager
def _freed_if_it_fails(handle: ctypes.c_void_p) -> Iterator[None]:
    """Free a data set that nobody will get, as after Ctrl-C: it may be gigabytes."""
    try:
        yield
    except BaseException:
        call("DatasetFree", handle)
        raise


def _filled(handle: ctypes.c_void_p, X: NDArray[np.float32]) -> ctypes.c_void_p:
    """The data set with the bins of all rows."""
    give_back()
    with _freed_if_it_fails(handle):
        for begin in range(0, len(X), BLOCK):
            rows = np.ascontiguousarray(X[begin : begin + BLOCK], np.float32)
            call("DatasetPushRows", handle, rows, FLOAT32, *rows.shape, begin)
    give_back()
    return handle


def _draw(X: NDArray[np.float32], params: bytes) -> NDArray[np.float32]:
    """The rows that LightGBM draws to find the bins, on disk, shape ``(n_features, n_drawn)``."""
    n_docs, found = len(X), ctypes.c_int32()
    call("GetSampleCount", n_docs, params, ctypes.byref(found))
    drawn = np.empty(found.value, np.int32)
    call("SampleIndices", n_docs, params, drawn, ctypes.byref(found))
    columns = large_array((X.shape[1], len(drawn)))
    for begin in range(0, len(drawn), BLOCK):
        some = drawn[begin : begin + BLOCK]
        columns[:, begin : begin + len(some)] = X[some].T
    return columns


def _is_usual(columns: NDArray[np.float32]) -> bool:
    """Whether no feature is almost always the same.

    Of two such features that differ in the same few rows, LightGBM may bundle what it then loses.
    """
    n_drawn = columns.shape[1]
    for column in columns:
        bits = (column + np.float32(0)).view(np.uint32)  # -0.0 as 0.0, and NaN as equal to itself
        usual = np.partition(bits, n_drawn // 2)[n_drawn // 2]  # if any value is that of more than half
        if 0 < np.count_nonzero(bits != usual) * RARE < n_drawn:
            return False
    return True


def _empty(columns: NDArray[np.float32], n_docs: int, params: bytes) -> ctypes.c_void_p:
    """A data set with room for this many rows, whose bins are found from the rows that were drawn."""
    n_features, n_drawn = columns.shape
    values = large_array(columns.shape, np.float64)  # those that are not zero, at the beginning of their column's row
    places = large_array(columns.shape, np.int32)  # where they are among those that were drawn
    counts = np.zeros(n_features, np.int32)
    for j, column in enumerate(columns):
        given = np.flatnonzero(~(np.abs(column.astype(np.float64)) <= ZERO))
        counts[j] = len(given)
        values[j, : len(given)], places[j, : len(given)] = column[given], given
    pointers = ctypes.c_void_p * n_features
    handle = ctypes.c_void_p()
    call(
        "DatasetCreateFromSampledColumn",
        pointers(*(one.ctypes.data for one in values)),
        pointers(*(one.ctypes.data for one in places)),
        n_features,
        counts,
        n_drawn,
        n_docs,
        ctypes.c_int64(n_docs),
        params,
        ctypes.byref(handle),
    )
    return handle


def _has_bundles(handle: ctypes.c_void_p) -> bool:
    """Whether some column has the bins of several features; LightGBM tells it of a copy with one row."""
    row, copy = np.zeros(1, np.int32), ctypes.c_void_p()
    call("DatasetGetSubset", handle, row, 1, b"verbosity=-1", ctypes.byref(copy))
    with TemporaryDirectory() as folder, _freed_if_it_fails(handle):
        path = Path(folder) / "groups.txt"
        try:
            call("DatasetDumpText", copy, str(path).encode())
        finally:
            call("DatasetFree", copy)
        said = dict(line.split(": ", 1) for line in path.read_text("utf-8").splitlines() if ": " in line)
    return int(said["num_groups"]) != int(said["num_features"])
