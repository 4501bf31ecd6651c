"""How fast RankNet is: an epoch against its bare matrix products, repeats against one, scoring against onnxruntime.

Every figure is a ratio of the smallest of several times in one run.

    python benchmarks/bench_ranknet.py [--queries 6000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch

import ordino
from ordino.data.dataset import Dataset
from ordino.learn.layers import forward
from ordino.learn.network import Network
from ordino.learn.supply import QueryBatches
from ordino.learn.training import Schedule, train
from ordino.losses import make_loss
from ordino.rankers.ranknet import RankNet

WIDTHS = (136, 64, 32)


def smallest(action: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def epoch_against_products(data: Dataset) -> None:
    network = Network(WIDTHS, activation="relu", initializer="he", dropout=0.0, seeds=[0])
    supply = QueryBatches(data, make_loss("ranknet", average="queries"), batch=64)

    def epoch() -> None:
        train(network, supply, Schedule(epochs=1, learning_rate=1e-3), judge=None)

    epoch()  # compiles the loss
    ours = smallest(epoch)
    products = smallest(lambda: bare_products(data))
    print(f"epoch of RankNet 136-64-32-1, all pairs, {data.n_docs:,} documents: {ours:.2f} s")
    print(f"  its bare matrix products, forward and backward: {products:.2f} s; ratio {ours / products:.2f} (asked: 4)")


def bare_products(data: Dataset) -> None:
    """The products alone: forward, and for each layer the gradients of its weights and of its inputs."""
    sizes = [*WIDTHS, 1]
    weights = [torch.ones(a, b) for a, b in pairwise(sizes)]
    rows = torch.from_numpy(np.array(data.X))
    for start in range(0, len(rows), 8192):
        inputs = [rows[start : start + 8192]]
        for W in weights:
            inputs.append(inputs[-1] @ W)
        slope = inputs.pop()
        for i in reversed(range(len(weights))):
            _ = inputs[i].T @ slope
            if i:
                slope = slope @ weights[i].T


def repeats_against_one() -> None:
    data = ordino.synthetic("mq2008", seed=0)
    ranker = RankNet(hidden=10, epochs=5)
    ranker.fit_repeats(data, [0])
    one = smallest(lambda: ranker.fit_repeats(data, [0]))
    thirty = smallest(lambda: ranker.fit_repeats(data, list(range(30))))
    print(f"30 repeats of a 46-10-1 RankNet, {data.n_docs:,} documents: {thirty:.2f} s, one: {one:.2f} s; "
          f"ratio {thirty / one:.1f} (asked: 8)")  # fmt: skip


def scoring_against_onnxruntime() -> None:
    try:
        import onnxruntime
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        print("scoring: onnx and onnxruntime are not installed, so there is nothing to compare with")
        return
    layers = Network(WIDTHS, activation="relu", initializer="he", dropout=0.0, seeds=[0]).layers(0)
    nodes, constants, name = [], [], "x"
    for i, layer in enumerate(layers):
        constants += [numpy_helper.from_array(layer.W, f"W{i}"), numpy_helper.from_array(layer.b, f"b{i}")]
        nodes.append(helper.make_node("Gemm", [name, f"W{i}", f"b{i}"], [f"z{i}"]))
        name = f"z{i}"
        if i < len(layers) - 1:
            nodes.append(helper.make_node("Relu", [name], [f"h{i}"]))
            name = f"h{i}"
    graph = helper.make_graph(
        nodes, "ranknet",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", WIDTHS[0]])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 1])], constants,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    runtime = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    X = np.random.default_rng(0).random((1000, WIDTHS[0]), dtype=np.float32)
    np.testing.assert_allclose(runtime.run(None, {"x": X})[0][:, 0], forward(X, layers, "relu"), rtol=1e-3, atol=1e-5)
    theirs = smallest(lambda: runtime.run(None, {"x": X}), 300)
    ours = smallest(lambda: forward(X, layers, "relu"), 300)
    times = f"{1e6 * ours:.0f} us, onnxruntime {1e6 * theirs:.0f} us"
    print(f"scoring 1,000 documents: {times}; ratio {ours / theirs:.2f} (asked: 1.5)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=6000, help="of the MSLR-shaped set")
    args = parser.parse_args()
    scoring_against_onnxruntime()
    repeats_against_one()
    epoch_against_products(ordino.synthetic("mslr", queries=args.queries, seed=0))


if __name__ == "__main__":
    main()
