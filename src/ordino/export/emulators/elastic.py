"""Elasticsearch's own learning to rank: the ensemble in the compressed definition, in double precision."""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordino.errors import DataError
from ordino.export.emulators.scored import SINGLE, FlatTree, Floats, Scored, exactly, largest_sum, leaves_of


def score_elastic(files: Mapping[str, Any], X: Floats, names: Sequence[str]) -> Scored:
    """Scores of rows whose columns have these names, by the body of ``PUT _ml/trained_models`` in ``model.json``."""
    body = json.loads(files["model.json"])
    packed = gzip.decompress(base64.b64decode(body["compressed_definition"]))
    ensemble = json.loads(packed)["trained_model"]["ensemble"]
    places = [list(names).index(name) for name in ensemble["feature_names"]]
    weights = ensemble["aggregate_output"]["weighted_sum"]["weights"]
    trees = [_tree(one["tree"], ensemble["feature_names"]) for one in ensemble["trained_models"]]
    values, scores = X[:, places].astype(np.float64), np.zeros(len(X))
    for tree, weight in zip(trees, weights, strict=True):
        scores += weight * tree.value[leaves_of(tree, values)]
    return exactly(scores.astype(np.float32), largest_sum(trees, weights), 0, SINGLE)  # one rounding, at the end


def _tree(tree: Mapping[str, Any], names: Sequence[str]) -> FlatTree:
    if tree["feature_names"] != names:
        raise DataError("a tree has other features than the ensemble")
    nodes = sorted(tree["tree_structure"], key=lambda node: node["node_index"])
    if any(node.get("decision_type", "lte") != "lte" for node in nodes):
        raise DataError("a split is not of the decision type lte")
    get = {key: [node.get(key, default) for node in nodes] for key, default in DEFAULTS.items()}
    return FlatTree(
        np.array(get["split_feature"], np.int64), np.array(get["threshold"]), np.array(get["default_left"], bool),
        np.array(get["left_child"], np.int64), np.array(get["right_child"], np.int64), np.array(get["leaf_value"]),
    )  # fmt: skip


DEFAULTS: dict[str, Any] = {
    "split_feature": -1, "threshold": np.nan, "default_left": False, "left_child": -1, "right_child": -1,
    "leaf_value": np.nan,
}  # fmt: skip
