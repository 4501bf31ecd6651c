"""``ordino rank`` against reading the same file and scoring the same network with bare onnxruntime.

Both are whole processes, from start to the last score on the disk: 240,000 documents of 136 features in Parquet, a
network of 64 and 32 hidden neurons on the features as they are. The other program is the least that does the job:
pyarrow reads, the columns become a matrix, onnxruntime scores, a loop writes. Scores agree to single precision. The
last row is the same network behind Ordino's default scaling, which the other program does not do. Minima of several
runs; processor time beside them, because it says more on a busy machine.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from history import record
from ordino import Dataset, RankNet, save
from ordino.data.files import write_data

BARE = """
import sys
import numpy as np
import onnxruntime
import pyarrow.parquet as parquet

table = parquet.ParquetFile(sys.argv[1]).read()  # read_table() would load pandas
names = [name for name in table.column_names if name not in ("qid", "label")]
X = np.empty((len(table), len(names)), np.float32)
for j, name in enumerate(names):
    X[:, j] = table[name].to_numpy()
session = onnxruntime.InferenceSession(sys.argv[2], providers=["CPUExecutionProvider"])
scores = session.run(None, {"X": X})[0]
with open(sys.argv[3], "w") as file:
    file.write("\\n".join(map(repr, scores.ravel().tolist())))
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--docs", type=int, default=240_000)
    arguments.add_argument("--repeats", type=int, default=5)
    options = arguments.parse_args()
    with TemporaryDirectory() as folder:
        place = Path(folder)
        make_files(place, options.docs)
        rank = [sys.executable, "-m", "ordino", "--quiet", "rank"]
        commands = {
            "bare onnxruntime": [sys.executable, "-c", BARE, "data.parquet", "network.onnx", "bare.txt"],
            "ordino rank": [*rank, "plain.ordino", "data.parquet", "--out", "plain.txt"],
            "ordino rank, default scaling": [*rank, "scaled.ordino", "data.parquet", "--out", "scaled.txt"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        work: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.repeats):
            for name, command in commands.items():
                start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(command, cwd=place, check=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                times[name].append(time.perf_counter() - start)
                work[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        ours, theirs = np.loadtxt(place / "plain.txt"), np.loadtxt(place / "bare.txt")
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    least, least_work = min(times["bare onnxruntime"]), min(work["bare onnxruntime"])
    print(f"{options.docs:,} documents x 136 features, whole processes, best of {options.repeats}")
    for name, seconds in times.items():
        own = min(work[name])
        if name != "bare onnxruntime":
            record(f"{name} against onnxruntime, processor time", least_work / own)
        print(
            f"{name:<30} {min(seconds):6.2f} s {min(seconds) / least:5.2f} x   "
            f"processor {own:6.2f} s {own / least_work:5.2f} x"
        )


def make_files(place: Path, n_docs: int) -> None:
    rng = np.random.default_rng(0)
    data = Dataset(rng.random((n_docs, 136), np.float32), rng.integers(0, 5, n_docs), np.arange(n_docs) // 120)
    write_data(data, place / "data.parquet")
    part = data.select_queries(np.arange(20))
    save(RankNet(hidden=(64, 32), epochs=1, scaling="symlog").fit(part), place / "scaled.ordino")
    ranker = RankNet(hidden=(64, 32), epochs=1, scaling=None).fit(part)
    save(ranker, place / "plain.ordino")
    (place / "network.onnx").write_bytes(as_onnx(ranker.layers_))


def as_onnx(layers: Any) -> bytes:
    """The network as ONNX: products and sums with relu between."""
    from onnx import TensorProto, helper, numpy_helper

    nodes, weights, last = [], [], "X"
    for i, layer in enumerate(layers):
        weights += [numpy_helper.from_array(layer.W, f"W{i}"), numpy_helper.from_array(layer.b, f"b{i}")]
        nodes.append(helper.make_node("Gemm", [last, f"W{i}", f"b{i}"], [f"z{i}"]))
        last = f"z{i}"
        if i < len(layers) - 1:
            nodes.append(helper.make_node("Relu", [last], [f"h{i}"]))
            last = f"h{i}"
    shape = [None, layers[0].W.shape[0]]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, [None, 1])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    content: bytes = model.SerializeToString()
    return content


if __name__ == "__main__":
    main()
