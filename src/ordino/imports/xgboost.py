"""XGBoost's two JSON forms as rankers: what ``Booster.save_model`` writes, and what ``get_dump`` and ``dump_model`` do.

XGBoost goes left if ``x < condition`` in single precision, which is ``x <=`` the single-precision number below it.
Scores are margins: sums of leaves and the base score, before any logistic function. Where training stopped early, what
``XGBRanker.save_model`` wrote counts up to the best round, as its own ``predict`` does. DART gives its trees weights,
which only ``save_model`` writes: a dump does not even tell that it is one of DART, so the ranker says how trees count.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.model_text import MOST_FEATURES, TreeText, write_trees
from ordino.errors import ModelFileError, ParameterError
from ordino.imports.nodes import Nodes, constant_tree, text_tree
from ordino.imports.ranklib import width
from ordino.rankers.imported import Imported, ImportedLinear, ImportedTrees

LOGISTIC = ("binary:logistic", "reg:logistic")  # binary:logitraw has its base score as it is
LOGARITHMIC = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")


def from_xgboost(text: str, n_features: int | None) -> Imported:
    """The ranker of either form."""
    try:
        model = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelFileError("this is no JSON; save the model with Booster.save_model('model.json')") from None
    if isinstance(model, dict) and "learner" in model:
        return _saved(model["learner"], n_features)
    if isinstance(model, dict) and "splits" in model:  # as the plugins of search engines take it
        model = model["splits"]
    if isinstance(model, list) and model and all(isinstance(tree, dict) for tree in model):
        return _dumped(model, n_features)
    raise ModelFileError("this JSON is no model of XGBoost; give what Booster.save_model or dump_model wrote")


def _whole(value: Any, low: int, high: int, what: str) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,9}", str(value)) or not low <= int(value) <= high:
        raise ModelFileError(f"{what} is {str(value)[:40]!r}; it must be a whole number from {low} to {high:,}")
    return int(value)


def below(condition: NDArray[Any]) -> NDArray[np.float64]:
    """The largest single-precision number below each condition."""
    with np.errstate(over="ignore"):
        return np.nextafter(condition.astype(np.float32), np.float32(-np.inf)).astype(np.float64)


def _saved(learner: Mapping[str, Any], n_features: int | None) -> Imported:
    params, booster = learner["learner_model_param"], learner["gradient_booster"]
    n = _whole(params["num_feature"], 1, MOST_FEATURES, "num_feature")
    if n_features not in (None, n):
        raise ParameterError(f"n_features={n_features}, but the model says that it has {n}; leave it out")
    for name, most in (("num_class", 1), ("num_target", 1)):
        _whole(params.get(name, 0), 0, most, name)
    names = tuple(str(name) for name in learner.get("feature_names") or ()) or None
    if names is not None and len(names) != n:
        raise ModelFileError(f"the model has {len(names)} names for {n} features; get the file again")
    objective = str(learner.get("objective", {}).get("name", ""))
    start = _base_margin(str(params.get("base_score", "0")), objective)
    source = f"XGBoost {objective}".strip()
    if booster.get("name") == "gblinear":
        weights = np.array(booster["model"]["weights"], np.float64).ravel()
        if weights.shape != (n + 1,) or not np.isfinite(weights).all():
            raise ModelFileError(
                f"the model has {weights.size} weights where {n + 1} were expected; get the file again"
            )
        linear = ImportedLinear(source=source)
        linear.coef_, linear.bias_ = weights[:-1].copy(), float(weights[-1] + start)
        return linear.with_features(n, names)
    dropped = booster.get("weight_drop")  # of dart, whose trees count by weights of their own
    booster = booster.get("gbtree", booster)
    found = booster["model"]["trees"]
    kept = _kept(learner, booster["model"], len(found))
    dropped = dropped or booster["model"].get("weight_drop")  # where newer versions have them
    factors = [float(w) for w in dropped] if dropped else [1.0] * len(found)
    trees = [
        text_tree(_nodes(tree, factor, i), n, f"tree {i}")
        for i, (tree, factor) in enumerate(zip(found, factors, strict=True))
        if i < kept
    ]
    return _ranker(trees, start, source, n, names)


def _kept(learner: Mapping[str, Any], model: Mapping[str, Any], n_trees: int) -> int:
    """How many trees count: XGBRanker predicts with those up to the best round, a Booster with all."""
    attributes = learner.get("attributes") or {}
    if "scikit_learn" not in attributes or "best_iteration" not in attributes:
        return n_trees
    best = _whole(attributes["best_iteration"], 0, 999_999_999, "best_iteration")
    forest = model.get("gbtree_model_param", {}).get("num_parallel_tree", 1)
    return (best + 1) * max(_whole(forest, 0, 999_999_999, "num_parallel_tree"), 1)


def _base_margin(word: str, objective: str) -> float:
    try:
        score = float(word.strip("[]"))
    except ValueError:
        raise ModelFileError(f"base_score is {word[:40]!r}, which is not one number; get the file again") from None
    with np.errstate(all="ignore"):
        margin = score
        if objective in LOGISTIC:
            margin = float(np.log(score / (1 - score))) if 0 < score < 1 else float("nan")
        elif objective in LOGARITHMIC:
            margin = float(np.log(score)) if score > 0 else float("nan")
    if not np.isfinite(margin):
        raise ModelFileError(f"base_score is {word[:40]!r}, which the objective {objective!r} does not allow")
    return margin


def _nodes(tree: Mapping[str, Any], factor: float, number: int) -> Nodes:
    if any(int(kind) for kind in tree.get("split_type", ())):
        raise ModelFileError(f"tree {number} asks for categories, which cannot be imported; train without them")
    left, right, feature = (
        np.array(tree[key], np.int64) for key in ("left_children", "right_children", "split_indices")
    )
    condition = np.array(tree["split_conditions"], np.float64)
    missing = np.array(tree["default_left"], np.int64) > 0
    if not len(left) == len(condition) == len(missing):
        raise ModelFileError(f"tree {number}: its nodes are not whole; get the file again")
    return Nodes(
        feature, below(condition), missing, left, right, condition.astype(np.float32).astype(np.float64) * factor
    )


def _dumped(trees: list[dict[str, Any]], n_features: int | None) -> Imported:
    rows = [_flat(tree, i) for i, tree in enumerate(trees)]
    asked = sorted({str(name) for tree in rows for name in tree["split"] if name is not None})
    names: tuple[str, ...] | None = None
    if all(re.fullmatch(r"f\d{1,7}", name) for name in asked):
        places = {name: int(name[1:]) for name in asked}
        n = width(max(places.values(), default=0) + 1, n_features)
    else:  # only the names of features that some split asks for are known
        if n_features not in (None, len(asked)):
            raise ParameterError(f"n_features={n_features}, but the dump names {len(asked)} features; leave it out")
        names, places, n = tuple(asked), {name: j for j, name in enumerate(asked)}, len(asked)
    made = []
    for i, tree in enumerate(rows):
        feature = np.array([0 if name is None else places[str(name)] for name in tree["split"]], np.int64)
        left, right = (np.array(tree[side], np.int64) for side in ("left", "right"))
        leaf = np.array(tree["leaf"], np.float64).astype(np.float32).astype(np.float64)
        missing = np.array(tree["missing_left"], bool)
        nodes = Nodes(feature, below(np.array(tree["condition"], np.float64)), missing, left, right, leaf)
        made.append(text_tree(nodes, n, f"tree {i}"))
    return _ranker(made, 0.0, "XGBoost dump, in which every tree counts in full (not those of DART)", n, names)


def _flat(root: Mapping[str, Any], number: int) -> dict[str, list[Any]]:
    """The nodes of a dumped tree in the order of a walk."""
    rows: dict[str, list[Any]] = {key: [] for key in ("split", "condition", "missing_left", "left", "right", "leaf")}
    waiting: list[tuple[Mapping[str, Any], int, str]] = [(root, -1, "")]
    while waiting:
        node, parent, side = waiting.pop()
        place = len(rows["leaf"])
        if parent >= 0:
            rows[side][parent] = place
        is_leaf = "leaf" in node
        values = (None, 0.0, False, -1, -1, node.get("leaf", 0.0))
        if not is_leaf:
            children = {child["nodeid"]: child for child in node["children"]}
            if isinstance(node["split_condition"], list) or len(children) != 2:
                raise ModelFileError(f"tree {number} has a split that is no threshold; it cannot be imported")
            waiting += [(children[node["no"]], place, "right"), (children[node["yes"]], place, "left")]
            goes_left = node.get("missing", node["yes"]) == node["yes"]
            values = (node["split"], node["split_condition"], goes_left, -1, -1, 0.0)
        for key, value in zip(rows, values, strict=True):
            rows[key].append(value)
    return rows


def _ranker(trees: list[Any], start: float, source: str, n: int, names: tuple[str, ...] | None) -> ImportedTrees:
    if start:
        trees.append(constant_tree(start))
    ranker = ImportedTrees(source=source)
    plain = tuple(f"Column_{j}" for j in range(n))
    ranker.model_ = write_trees(TreeText(tuple(trees), plain, 1))
    return ranker.with_features(n, names)
