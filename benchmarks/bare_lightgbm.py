"""What LightGBM alone takes: LambdaMART's trees from a file of rows, with nothing but numpy and LightGBM's library.

Rows go through its C interface block by block, as from shards, and are kept in the way that takes the least memory. So
its peak is what no ranker of LightGBM's trees can go below. It prints the processor time, the peak and a hash of the
trees, which are those of ``LambdaMART(rounds=..., leaves=15, learning_rate=0.05)``.
``python benchmarks/bare_lightgbm.py FOLDER ROUNDS``, a folder with rows.f32, labels.npy and counts.npy
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from ctypes import byref, c_int, c_int32, c_int64, c_void_p
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 8192  # rows that are read at a time
MAP, LARGE = -3, 1 << 16  # M_MMAP_THRESHOLD of malloc.h: bytes from which on freed memory goes back at once
ZERO = float(np.float32(1e-35))  # up to which LightGBM takes a value for zero
PARAMS = (
    b"objective=lambdarank lambdarank_truncation_level=30 label_gain=0,1,3,7,15 learning_rate=0.05 num_leaves=15 "
    b"min_data_in_leaf=50 seed=0 deterministic=true feature_pre_filter=false metric=none verbosity=-1 "
    b"force_col_wise=true is_enable_sparse=false"
)


def main(folder: Path, rounds: int) -> None:
    begin = time.process_time()
    ctypes.CDLL(None).mallopt(MAP, LARGE)
    labels, counts = np.load(folder / "labels.npy"), np.load(folder / "counts.npy")
    data = np.memmap(folder / "rows.f32", np.float32, "r").size // len(labels), len(labels)
    handle = empty(folder, *data)
    for start, rows in blocks(folder, *data):
        call("DatasetPushRows", handle, at(rows), c_int(0), *map(c_int32, (*rows.shape, start)))
    call("DatasetSetField", handle, b"label", at(labels), c_int(len(labels)), c_int(0))
    call("DatasetSetField", handle, b"group", at(counts), c_int(len(counts)), c_int(2))
    del labels
    booster, finished, length, text = c_void_p(), c_int(), c_int64(), ctypes.create_string_buffer(1 << 22)
    call("BoosterCreate", handle, PARAMS, byref(booster))
    for _ in range(rounds):
        call("BoosterUpdateOneIter", booster, byref(finished))
    call("BoosterSaveModelToString", booster, 0, -1, 0, c_int64(len(text)), byref(length), text)
    seconds = time.process_time() - begin
    print(json.dumps({"seconds": seconds, "peak": peak_memory(), "trees": hash_of_trees(text.value.decode())}))


def empty(folder: Path, n_features: int, n_docs: int) -> c_void_p:
    """A data set with room for all rows; its bins are found from those that LightGBM draws."""
    n_drawn = c_int32()
    call("GetSampleCount", c_int32(n_docs), PARAMS, byref(n_drawn))
    drawn = np.empty(n_drawn.value, np.int32)
    call("SampleIndices", c_int32(n_docs), PARAMS, at(drawn), byref(n_drawn))
    columns = [np.empty(len(drawn), np.float32) for _ in range(n_features)]
    for start, rows in blocks(folder, n_features, n_docs):
        first, last = np.searchsorted(drawn, (start, start + len(rows)))
        for column, values in zip(columns, rows[drawn[first:last] - start].T, strict=True):
            column[first:last] = values
    values, places = [], []
    for j in range(n_features):
        given = np.flatnonzero(~(np.abs(columns[j].astype(np.float64)) <= ZERO)).astype(np.int32)
        values.append(columns[j][given].astype(np.float64))
        places.append(given)
        columns[j] = np.empty(0, np.float32)
    pointers, handle = c_void_p * n_features, c_void_p()
    call(
        "DatasetCreateFromSampledColumn", pointers(*(one.ctypes.data for one in values)),
        pointers(*(one.ctypes.data for one in places)), c_int32(n_features),
        at(np.array([len(one) for one in values], np.int32)), n_drawn, c_int32(n_docs), c_int64(n_docs), PARAMS,
        byref(handle),
    )  # fmt: skip
    return handle


def blocks(folder: Path, n_features: int, n_docs: int) -> Any:
    """The number of the first row and the rows, block by block."""
    with (folder / "rows.f32").open("rb") as file:
        for start in range(0, n_docs, BLOCK):
            yield start, np.fromfile(file, np.float32, min(BLOCK, n_docs - start) * n_features).reshape(-1, n_features)


def hash_of_trees(text: str) -> str:
    """A hash of the trees in a model text; what follows them are parameters."""
    return sha256(text.partition("end of trees")[0].encode()).hexdigest()[:16]


def peak_memory() -> int:
    """Bytes; the system's usage counter would count what the parent process held when it started this one."""
    [line] = [one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def at(array: NDArray[Any]) -> c_void_p:
    return c_void_p(array.ctypes.data)


def call(name: str, *given: Any) -> None:
    """Call a function of LightGBM's C interface; its Python package, which loads others, stays out."""
    if getattr(library(), f"LGBM_{name}")(*given):
        raise SystemExit(f"LGBM_{name} failed")


def library() -> ctypes.CDLL:
    found = find_spec("lightgbm")
    if found is None:
        raise SystemExit("LightGBM is not installed; install it with: pip install lightgbm")
    return ctypes.CDLL(str(Path(str(found.origin)).parent / "lib" / "lib_lightgbm.so"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
