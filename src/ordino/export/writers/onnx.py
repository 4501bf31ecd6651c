"""ONNX: one graph from raw features to the score, the scaler inside, for onnxruntime and whatever else runs ONNX.

Scalers and weighted sums are computed in double precision and rounded to single after each step, as our own are.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ordino.errors import import_extra
from ordino.export.family import Affine, Levels, PlainLinear, PlainNetwork, PlainTrees, Preparation, SymLog, Tree
from ordino.export.writers.onnx_quantiles import add_quantiles
from ordino.export.written import Written, size_note

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # old enough for Vespa, and for onnxruntime since 1.12
LIMIT = "protobuf takes up to 2 GB"
ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid", "softplus": "Softplus"}


class Graph:
    """Nodes and constants that are put together one by one."""

    def __init__(self, onnx: Any) -> None:
        self.onnx, self.nodes, self.constants = onnx, [], []  # type: ignore[var-annotated]

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node; the name of its output."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(
            self.onnx.helper.make_node(operator, list(inputs), [name], name=name, domain=domain, **attributes)
        )
        return name

    def constant(self, values: Any) -> str:
        """Add a constant; its name."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def number(self, value: float) -> str:
        """Add one double."""
        return self.constant(np.float64(value))

    def cast(self, name: str, kind: str) -> str:
        """Numbers of another type: FLOAT, DOUBLE or INT64."""
        return self.add("Cast", name, to=getattr(self.onnx.TensorProto, kind))


def write_onnx(form: PlainLinear | PlainTrees | PlainNetwork, name: str, **_: object) -> Written:
    """The graph, with input ``features`` of shape (n, n_features) and output ``score`` of shape (n, 1)."""
    onnx = import_extra("onnx", extra="onnx", purpose="export to ONNX")
    graph = Graph(onnx)
    if isinstance(form, PlainTrees):
        score = _trees(graph, form)
    else:
        ready = add_preparation(graph, "features", form.preparation, len(form.names))
        score = _linear(graph, ready, form) if isinstance(form, PlainLinear) else _network(graph, ready, form)
    graph.nodes.append(onnx.helper.make_node("Identity", [score], ["score"]))
    info, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    inputs, outputs = [info("features", kind, ["n", len(form.names)])], [info("score", kind, ["n", 1])]
    made = onnx.helper.make_graph(graph.nodes, name, inputs, outputs, graph.constants)
    opsets = [onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = onnx.helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="ordino")
    onnx.helper.set_model_props(model, {"feature_names": json.dumps(list(form.names))})
    onnx.checker.check_model(model)
    content = model.SerializeToString()
    notes = [
        size_note(content, 2_000_000_000, LIMIT),
        "The names of the features, in order, are in the model's metadata.",
    ]
    command = "python -c \"import onnxruntime; print(onnxruntime.InferenceSession('model.onnx').get_inputs()[0])\""
    return Written(files={"model.onnx": content}, commands=(command,), notes=tuple(notes), odds=form.odds)


def add_preparation(graph: Graph, x: str, preparation: Preparation, n_features: int) -> str:
    """Fill in and scale; every step gives single precision."""
    if preparation.fill is not None:
        x = graph.add("Where", graph.add("IsNaN", x), graph.constant(preparation.fill.astype(np.float32)), x)
    for step in preparation.steps:
        if isinstance(step, Affine):
            for operator, values in step.steps:
                x = graph.cast(graph.add(operator, graph.cast(x, "DOUBLE"), graph.constant(values)), "FLOAT")
            continue
        wide = graph.cast(x, "DOUBLE")
        if isinstance(step, SymLog):
            size = graph.add("Log", graph.add("Add", graph.add("Abs", wide), graph.number(1.0)))
            made = graph.add("Mul", graph.add("Sign", wide), size)
        else:
            made = add_quantiles(graph, x, wide, step, n_features)
        x = graph.cast(made, "FLOAT")
    return x


def _linear(graph: Graph, x: str, form: PlainLinear) -> str:
    total = graph.add("MatMul", graph.cast(x, "DOUBLE"), graph.constant(form.weights[:, None]))
    return graph.cast(graph.add("Add", total, graph.number(form.bias)), "FLOAT")


def _network(graph: Graph, h: str, form: PlainNetwork) -> str:
    last = len(form.layers) - 1
    for number, (W, b) in enumerate(form.layers):
        h = graph.add("Gemm", h, graph.constant(W.astype(np.float32)), graph.constant(b.astype(np.float32)))
        if number < last:
            h = graph.add(ACTIVATIONS[form.activation], h)
    return h


def _trees(graph: Graph, form: PlainTrees) -> str:
    n_outputs = 1 if form.levels is None else form.levels.n_outputs
    targets = [number % n_outputs for number in range(len(form.trees))]
    sums = add_forest(graph, "features", form.trees, targets, n_outputs)
    return sums if form.levels is None else _expected(graph, graph.cast(sums, "DOUBLE"), form.levels)


def add_forest(graph: Graph, x: str, trees: Sequence[Tree], targets: Sequence[int], n_outputs: int) -> str:
    """Sums of trees, each added to its target."""
    keys = (
        "featureids",
        "modes",
        "values",
        "treeids",
        "nodeids",
        "truenodeids",
        "falsenodeids",
        "missing_value_tracks_true",
    )
    nodes: dict[str, list[Any]] = {key: [] for key in keys}
    leaves: dict[str, list[Any]] = {"treeids": [], "nodeids": [], "ids": [], "weights": []}
    for number, (tree, target) in enumerate(zip(trees, targets, strict=True)):
        n = len(tree.feature)
        left, right = (np.where(side < 0, n + ~side, side) for side in (tree.left, tree.right))
        n_leaves = len(tree.value)
        nodes["featureids"] += [*tree.feature.tolist(), *[0] * n_leaves]
        nodes["modes"] += ["BRANCH_LEQ"] * n + ["LEAF"] * n_leaves
        nodes["values"] += [*tree.threshold.tolist(), *[0.0] * n_leaves]
        nodes["treeids"] += [number] * (n + n_leaves)
        nodes["nodeids"] += range(n + n_leaves)
        nodes["truenodeids"] += [*left.tolist(), *[0] * n_leaves]
        nodes["falsenodeids"] += [*right.tolist(), *[0] * n_leaves]
        nodes["missing_value_tracks_true"] += [*map(int, tree.missing_left), *[0] * n_leaves]
        leaves["treeids"] += [number] * n_leaves
        leaves["nodeids"] += range(n, n + n_leaves)
        leaves["ids"] += [target] * n_leaves
        leaves["weights"] += tree.value.tolist()
    attributes = {f"nodes_{key}": values for key, values in nodes.items()}
    attributes |= {f"target_{key}": values for key, values in leaves.items()}
    return graph.add(
        "TreeEnsembleRegressor", x, domain="ai.onnx.ml", n_targets=n_outputs, aggregate_function="SUM", **attributes
    )


def _expected(graph: Graph, sums: str, levels: Levels) -> str:
    """The expected worth of a level, from the sums of trees."""
    worth = levels.worth
    if levels.start is None:
        weights = np.zeros(levels.n_outputs)
        weights[: len(worth)] = worth
        total = graph.add("MatMul", graph.add("Softmax", sums, axis=1), graph.constant(weights[:, None]))
        return graph.cast(total, "FLOAT")
    reached = graph.add("Sigmoid", graph.add("Add", sums, graph.constant(levels.start)))
    columns = [graph.add("Gather", reached, graph.constant(np.array([k])), axis=1) for k in range(len(levels.start))]
    for k in range(1, len(columns)):
        columns[k] = graph.add("Min", columns[k - 1], columns[k])
    steps = np.zeros(len(columns))
    steps[: len(worth) - 1] = np.diff(worth)
    joined = graph.add("Concat", *columns, axis=1)
    total = graph.add("MatMul", joined, graph.constant(steps[:, None]))
    return graph.cast(graph.add("Add", total, graph.number(float(worth[0]))), "FLOAT")
