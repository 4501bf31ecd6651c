"""The learning-to-rank plugin of Elasticsearch and OpenSearch: linear, XGBoost's two JSON forms, RankLib's text.

Trees go left if ``x < split_condition`` in single precision; a missing value goes where the node says.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordino.errors import DataError
from ordino.export.emulators.ranklib import score_ranklib
from ordino.export.emulators.scored import SINGLE, FlatTree, Floats, Nodes, Scored, exactly, largest_sum, leaves_of

RAW = ("binary:logitraw", "rank:ndcg", "rank:map", "rank:pairwise", "reg:linear")
LOGISTIC = ("binary:logistic", "reg:logistic")


def score_plugin(files: Mapping[str, Any], X: Floats, names: Sequence[str]) -> Scored:
    """Scores of rows whose columns have these names, by the body of ``_createmodel`` in ``model.json``."""
    model = json.loads(files["model.json"])["model"]["model"]
    ordered = [one["name"] for one in json.loads(files["featureset.json"])["featureset"]["features"]]
    given = X[:, [list(names).index(name) for name in ordered]].astype(np.float32)
    given = _normalized(given, ordered, model.get("feature_normalizers", {}))
    with np.errstate(over="ignore", invalid="ignore"):
        if model["type"] == "model/ranklib":  # features by their place in the set, '1' is the first; a missing one is 0
            return score_ranklib({"model.txt": model["definition"]}, given, ordered)
        if model["type"] not in TYPES:
            raise DataError(f"the plugin has no model of type {model['type']!r}")
        return TYPES[model["type"]](json.loads(model["definition"]), given, ordered)


def _normalized(X: Floats, names: Sequence[str], norms: Mapping[str, Any]) -> Floats:
    scaled = X.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for name, norm in norms.items():
            j = list(names).index(name)
            if "standard" in norm:
                mean, deviation = (np.float32(norm["standard"][key]) for key in ("mean", "standard_deviation"))
                scaled[:, j] = (X[:, j] - mean) / deviation
            else:
                low, high = (np.float32(norm["min_max"][key]) for key in ("minimum", "maximum"))
                scaled[:, j] = (X[:, j] - low) / (high - low)
    return scaled


def score_linear(weights: Mapping[str, float], X: Floats, names: Sequence[str]) -> Scored:
    """A weighted sum; a feature without a weight counts nothing."""
    if strange := [name for name in weights if name not in names]:
        raise DataError(f"the feature set has no feature {strange[0]!r}")
    scores, size = np.zeros(len(X), np.float32), np.zeros(len(X))
    for j, name in enumerate(names):
        term = X[:, j] * np.float32(weights.get(name, 0.0))
        scores += term
        size += np.abs(term)
    return exactly(scores, size, len(names), SINGLE)


def score_dump(definition: Any, X: Floats, names: Sequence[str]) -> Scored:
    """Trees as XGBoost dumps them: a list, or an object with an objective."""
    objective, splits = "rank:ndcg", definition
    if isinstance(definition, dict):
        objective, splits = definition.get("objective", objective), definition["splits"]
    if objective not in RAW + LOGISTIC:
        raise DataError(f"the plugin does not know the objective {objective!r}")
    columns = {name: j for j, name in enumerate(names)}
    found = _sum([read_dump(tree, columns) for tree in splits], X)
    return found if objective in RAW else found._replace(scores=1 / (1 + np.exp(-found.scores)))


def read_dump(root: Mapping[str, Any], columns: Mapping[str, int]) -> FlatTree:
    """A dumped tree; the first child must be ``yes`` and the second ``no``."""
    nodes = Nodes()
    waiting = [(nodes.add(), root)]
    while waiting:
        number, node = waiting.pop()
        if "leaf" in node:
            nodes.set_leaf(number, float(np.float32(node["leaf"])))
            continue
        yes, no = node["children"]
        if (yes["nodeid"], no["nodeid"]) != (node["yes"], node["no"]) or "depth" not in node:
            raise DataError("the plugin wants depth, and the children in the order yes, no")
        limit, goes_left = float(np.float32(node["split_condition"])), node["missing"] == node["yes"]
        left, right = nodes.set_split(number, columns[node["split"]], limit, goes_left)
        waiting += [(left, yes), (right, no)]
    return nodes.flat(np.float32)


def score_raw(definition: Mapping[str, Any], X: Floats, names: Sequence[str]) -> Scored:
    """Trees as ``Booster.save_model`` writes them; leaves are read from ``base_weights``."""
    learner = definition["learner"]
    if set(learner["feature_types"]) != {"float"}:
        raise DataError("the plugin takes features of the type float only")
    places = np.array([list(names).index(name) for name in learner["feature_names"]])
    trees = []
    for tree in learner["gradient_booster"]["model"]["trees"]:
        left = np.array(tree["left_children"], np.int64)
        feature = np.where(left >= 0, places[np.array(tree["split_indices"], np.int64)], -1)
        numbers = [np.array(tree[key], np.float32) for key in ("split_conditions", "base_weights")]
        right = np.array(tree["right_children"], np.int64)
        trees.append(FlatTree(feature, numbers[0], np.array(tree["default_left"], bool), left, right, numbers[1]))
    return _sum(trees, X)


def _sum(trees: Sequence[FlatTree], X: Floats) -> Scored:
    scores = np.zeros(len(X), np.float32)
    for tree in trees:
        scores += tree.value[leaves_of(tree, X, strict=True)]
    return exactly(scores, largest_sum(trees), len(trees), SINGLE)


TYPES = {"model/linear": score_linear, "model/xgboost+json": score_dump, "model/xgboost+json+raw": score_raw}
