"""LightGBM's bins of features that stay on disk: one byte for each value, and nothing beside it.

Where LightGBM makes them itself, three other things take memory: the rows that it draws to find the bins, 12 bytes for
each of their values; 8 bytes for each value of a sparse feature while rows come in; and a second copy of such features
while trees grow. Here what is drawn lies on disk, and sparse features are kept as the others are. The trees are the
same, to the last bit.

Only where LightGBM bundles features, or might, it keeps them as ever: a bundle may lose a value, so it is a part of
what the trees are (Ke et al., "LightGBM", NIPS 2017, section 4).
"""

import ctypes
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.model_text import ZERO
from ordino.data.on_disk import give_back, large_array

BLOCK = 8192  # rows that are looked at at a time
RARE = 1000  # LightGBM has rules of its own for features that are not as usual in fewer than one of this many rows
DENSE = "is_enable_sparse=false "  # of parameters that are given twice, the first counts
OTHERWISE = ("extra_tree", "linear_tree")  # options whose trees depend on how features are kept, or on more than bins
FLOAT32 = 0  # in LightGBM's interface


@lru_cache
def dataset_class(lgb: Any) -> Any:
    """LightGBM's ``Dataset``, whose bins are made by this module; a LightGBM that makes them elsewhere does so."""

    class FromDisk(lgb.Dataset):
        def _Dataset__init_from_np2d(self, mat: Any, params_str: str, ref_dataset: Any) -> Any:  # noqa: N802
            is_ours = ref_dataset is None and mat.dtype == np.float32 and mat.flags.c_contiguous
            if not is_ours or any(word in params_str for word in OTHERWISE):
                return super()._Dataset__init_from_np2d(mat=mat, params_str=params_str, ref_dataset=ref_dataset)
            self._handle = bins_of(mat, params_str)
            return self

    return FromDisk


def bins_of(X: NDArray[np.float32], params: str) -> ctypes.c_void_p:
    """LightGBM's handle of a data set with the bins of all rows."""
    columns = _draw(X, params)
    if _is_usual(columns):
        handle = _filled(_empty(columns, len(X), DENSE + params), X)
        if not _has_bundles(handle):
            return handle
        _call("DatasetFree", handle)
    return _filled(_empty(columns, len(X), params), X)


def _filled(handle: ctypes.c_void_p, X: NDArray[np.float32]) -> ctypes.c_void_p:
    """The data set with the bins of all rows."""
    give_back()
    for begin in range(0, len(X), BLOCK):
        rows = X[begin : begin + BLOCK]
        shape = map(ctypes.c_int32, (*rows.shape, begin))
        _call("DatasetPushRows", handle, _address(rows), ctypes.c_int(FLOAT32), *shape)
    give_back()
    return handle


def _draw(X: NDArray[np.float32], params: str) -> NDArray[np.float32]:
    """The rows that LightGBM draws to find the bins, on disk, shape ``(n_features, n_drawn)``."""
    n_docs, found = ctypes.c_int32(len(X)), ctypes.c_int32()
    _call("GetSampleCount", n_docs, params.encode(), ctypes.byref(found))
    drawn = np.empty(found.value, np.int32)
    _call("SampleIndices", n_docs, params.encode(), _address(drawn), ctypes.byref(found))
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


def _empty(columns: NDArray[np.float32], n_docs: int, params: str) -> ctypes.c_void_p:
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
    _call(
        "DatasetCreateFromSampledColumn",
        pointers(*(one.ctypes.data for one in values)),
        pointers(*(one.ctypes.data for one in places)),
        ctypes.c_int32(n_features),
        _address(counts),
        ctypes.c_int32(n_drawn),
        ctypes.c_int32(n_docs),
        ctypes.c_int64(n_docs),
        params.encode(),
        ctypes.byref(handle),
    )
    return handle


def _has_bundles(handle: ctypes.c_void_p) -> bool:
    """Whether some column has the bins of several features; LightGBM tells it of a copy with one row."""
    row, copy = np.zeros(1, np.int32), ctypes.c_void_p()
    _call("DatasetGetSubset", handle, _address(row), ctypes.c_int32(1), b"verbosity=-1", ctypes.byref(copy))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "groups.txt"
        _call("DatasetDumpText", copy, str(path).encode())
        _call("DatasetFree", copy)
        said = dict(line.split(": ", 1) for line in path.read_text("utf-8").splitlines() if ": " in line)
    return int(said["num_groups"]) != int(said["num_features"])


def _address(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _call(name: str, *given: Any) -> None:
    """Call a function of LightGBM's C interface."""
    from lightgbm import basic

    basic._safe_call(getattr(basic._LIB, f"LGBM_{name}")(*given))  # type: ignore[attr-defined]
