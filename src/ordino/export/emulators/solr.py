"""Solr's ``ltr`` module, as in Solr 9: LinearModel, MultipleAdditiveTreesModel, NeuralNetworkModel, normalizers.

All arithmetic is in single precision, one operation after the other. A tree goes left if ``x <= threshold + 1e-6``,
where the sum is rounded to single precision when the model is loaded.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ordino.errors import DataError
from ordino.export.emulators.scored import SINGLE, FlatTree, Floats, Nodes, Scored, exactly, largest_sum, leaves_of

SLACK = np.float32(1e-6)
ACTIVATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "identity": lambda z: z,
    "relu": lambda z: np.where(z < 0, np.float32(0), z),
    "leakyrelu": lambda z: np.where(z < 0, z * np.float32(0.01), z),
    "sigmoid": lambda z: (1 / (1 + np.exp(-z.astype(np.float64)))).astype(np.float32),
    "tanh": lambda z: np.tanh(z.astype(np.float64)).astype(np.float32),
}


def score_solr(files: Mapping[str, Any], X: Floats, names: Sequence[str]) -> Scored:
    """Scores of rows whose columns have these names, by ``model.json`` and the defaults in ``features.json``."""
    model = json.loads(files["model.json"])
    features = [feature["name"] for feature in model["features"]]
    given = X[:, [list(names).index(name) for name in features]].astype(np.float32)
    if "features.json" in files:
        given = _with_defaults(given, features, json.loads(files["features.json"]))
    values = np.column_stack([_normalized(given[:, j], one.get("norm")) for j, one in enumerate(model["features"])])
    kind = model["class"].rpartition(".")[2]
    if kind not in KINDS:
        raise DataError(f"Solr has no model class {kind}")
    with np.errstate(over="ignore", invalid="ignore"):
        return KINDS[kind](model["params"], values, features)


def _with_defaults(X: Floats, features: Sequence[str], store: Sequence[Mapping[str, Any]]) -> Floats:
    """A document without a value has the default of the feature, if the store gives one."""
    defaults = {one["name"]: one.get("params", {}).get("defaultValue") for one in store}
    filled = X.copy()
    for j, name in enumerate(features):
        if defaults.get(name) is not None:
            filled[np.isnan(filled[:, j]), j] = np.float32(defaults[name])
    return filled


def _normalized(x: Floats, norm: Mapping[str, Any] | None) -> Floats:
    if norm is None or norm["class"].endswith("IdentityNormalizer"):
        return x
    params = {key: np.float32(value) for key, value in norm["params"].items()}
    with np.errstate(over="ignore", invalid="ignore"):
        if norm["class"].endswith("StandardNormalizer"):
            return np.asarray((x - params["avg"]) / params["std"])
        return np.asarray((x - params["min"]) / (params["max"] - params["min"]))


def _linear(params: Mapping[str, Any], X: Floats, features: Sequence[str]) -> Scored:
    scores, size = np.zeros(len(X), np.float32), np.zeros(len(X))
    for j, name in enumerate(features):
        term = X[:, j] * np.float32(params["weights"][name])
        scores += term
        size += np.abs(term)
    return exactly(scores, size, len(features), SINGLE)


def _trees(params: Mapping[str, Any], X: Floats, features: Sequence[str]) -> Scored:
    columns = {name: j for j, name in enumerate(features)}
    with_null = params.get("isNullSameAsZero") is False
    trees = [read_tree(tree["root"], columns, with_null) for tree in params["trees"]]
    weights = [np.float32(tree["weight"]) for tree in params["trees"]]
    scores = np.zeros(len(X), np.float32)
    for tree, weight in zip(trees, weights, strict=True):
        scores += weight * tree.value[leaves_of(tree, X)]
    return exactly(scores, largest_sum(trees, [float(w) for w in weights]), len(trees), SINGLE)


def read_tree(root: Mapping[str, Any], columns: Mapping[str, int], with_null: bool) -> FlatTree:
    """A tree with the thresholds that Solr compares with; a feature that the model lacks makes a leaf of 0."""
    nodes = Nodes()
    waiting = [(nodes.add(), root)]
    while waiting:
        number, node = waiting.pop()
        if "feature" not in node:
            nodes.set_leaf(number, float(np.float32(node["value"])))
        elif node["feature"] in columns:
            limit = float(np.float32(node["threshold"]) + SLACK)
            goes_left = with_null and node.get("missing", "right") == "left"
            left, right = nodes.set_split(number, columns[node["feature"]], limit, goes_left)
            waiting += [(left, node["left"]), (right, node["right"])]
    return nodes.flat(np.float32)


def _network(params: Mapping[str, Any], X: Floats, features: Sequence[str]) -> Scored:  # noqa: ARG001
    h, size, terms = X, np.abs(X).astype(np.float64), 1
    for layer in params["layers"]:
        W, b = np.array(layer["matrix"], np.float32), np.array(layer["bias"], np.float32)
        z = np.tile(b, (len(X), 1))
        for j in range(W.shape[1]):
            z += h[:, j : j + 1] * W[:, j]
        size = size @ np.abs(W.T).astype(np.float64) + np.abs(b)
        terms += W.shape[1] + 1
        h = ACTIVATIONS[layer["activation"]](z).astype(np.float32)
    return exactly(h[:, 0], size[:, 0], terms, SINGLE)


KINDS = {"LinearModel": _linear, "MultipleAdditiveTreesModel": _trees, "NeuralNetworkModel": _network}
