"""ONNX is run by onnxruntime, where it is installed, and else by onnx's own reference."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordino.errors import DataError, import_extra
from ordino.export.emulators.scored import SINGLE, Floats, Scored, exactly

ROWS = 4096  # at a time: quantile scaling takes several numbers for each value


def score_onnx(files: Mapping[str, Any], X: Floats, names: Sequence[str]) -> Scored:
    """Scores of rows whose columns have these names, by the graph in ``model.onnx``."""
    onnx = import_extra("onnx", extra="onnx", purpose="a certificate for ONNX")
    model = onnx.load_from_string(files["model.onnx"])
    props = {one.key: one.value for one in model.metadata_props}
    if json.loads(props["feature_names"]) != list(names):
        raise DataError("the graph has other features")
    layers = [node for node in model.graph.node if node.op_type == "Gemm"]
    if layers:  # what goes into the first layer, by whose size rounding grows
        info = onnx.helper.make_tensor_value_info(layers[0].input[0], onnx.TensorProto.FLOAT, ["n", len(names)])
        if info.name != "features":
            model.graph.output.append(info)
    run = _runner(model.SerializeToString())
    parts = [run(X[start : start + ROWS].astype(np.float32)) for start in range(0, len(X), ROWS)]
    scores = np.concatenate([np.zeros((0, 1), np.float32), *(part[0] for part in parts)])[:, 0]
    if layers:
        ready = np.concatenate([part[1] for part in parts]) if len(model.graph.output) > 1 else X
        size, terms = _network_size(onnx, model, layers, np.abs(ready.astype(np.float64)))
        return exactly(scores, size, terms, SINGLE)
    largest = _largest_leaves(model)
    return exactly(scores, np.abs(scores) + sum(largest), len(largest) + 2, SINGLE)


def _runner(content: bytes) -> Any:
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        reference = ReferenceEvaluator(content)
        return lambda rows: reference.run(None, {"features": rows})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return lambda rows: session.run(None, {"features": rows})


def _network_size(onnx: Any, model: Any, layers: Sequence[Any], size: Floats) -> tuple[Floats, int]:
    """The size of the terms of each score, and how many there are."""
    constants = {
        one.name: np.abs(onnx.numpy_helper.to_array(one).astype(np.float64)) for one in model.graph.initializer
    }
    terms = 4
    for layer in layers:
        W, b = constants[layer.input[1]], constants[layer.input[2]]
        size = size @ W + b
        terms += len(W) + 1
    return size[:, 0], terms


def _largest_leaves(model: Any) -> list[float]:
    """The largest leaf of each tree by size; empty for a weighted sum, which is computed in doubles."""
    found: dict[int, float] = {}
    for node in model.graph.node:
        given = {one.name: one for one in node.attribute}
        if node.op_type == "TreeEnsembleRegressor":
            for tree, weight in zip(given["target_treeids"].ints, given["target_weights"].floats, strict=True):
                found[tree] = max(found.get(tree, 0.0), abs(weight))
    return list(found.values())
