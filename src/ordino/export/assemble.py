"""From a fitted ranker to the plain form of its family; what cannot be exact is refused with the two ways out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import name_features
from ordino.boosting.model_text import NAN_MISSING, ZERO, ZERO_MISSING, TextTree, read_trees
from ordino.errors import ExportError
from ordino.export.family import Levels, Odds, Plain, PlainLinear, PlainNetwork, PlainTrees, Preparation, Tree
from ordino.export.merge import mean_of
from ordino.export.preparation import WAYS_OUT, Prepare, largest_left, preparation_of, prepare_of
from ordino.forms import Form, Linear, Network, Stumps, Trees
from ordino.order.pairs import Pairs
from ordino.pipelines import first_step, last_step
from ordino.rankers.mcrank import ExpectedLevel

DEEPEST = 400  # splits of a tree: the engines read nested JSON by recursion, as we write it

REASONS = {
    "NestedRanker": "its stages see the places that earlier stages gave",
    "GPRank": "its formula has functions that the engines do not share",
    "KernelRankNet": "its kernel compares with documents of the training data",
    "RandomRanker": "its scores are hashes",
    "TorchRanker": "it scores with code of yours",
    "PRank": "products of features (quadratic=True) are no features of an engine",
    "AutoRanker": "it is made of several rankers, which look at whole queries",
    "RankFusion": "it puts together orders of the whole list",
}


def _in_place_of(ranker: Any, model: Any, member: Any) -> Any:
    """A member of a ranker, behind what stands before the ranker in a pipeline."""
    return member if model is ranker else type(model)([*model.steps[:-1], ("ranker", member)])


def assemble(model: Any) -> Plain:
    """The plain form of a fitted ranker, or of a pipeline that ends in one."""
    ranker = last_step(model)
    if not hasattr(ranker, "form"):
        raise ExportError(f"a {type(ranker).__name__} is not a ranker; export a fitted ranker, or a pipeline of one")
    form = ranker.form()
    first = first_step(model)
    names = name_features(getattr(first, "feature_names_in_", None), first.n_features_in_)
    name = type(ranker).__name__
    if isinstance(form, Pairs):
        raise ExportError(f"{name} compares documents two by two, and an engine scores one at a time; {WAYS_OUT}")
    if hasattr(ranker, "rankers_") and name == "RankAggregation":
        if ranker.method != "raw_mean":
            raise ExportError(
                f"RankAggregation by {ranker.method} looks at the whole list, and an engine scores one document at a "
                f"time; train with method='raw_mean', {WAYS_OUT}"
            )
        return mean_of([assemble(_in_place_of(ranker, model, member)) for member in ranker.rankers_])
    if not isinstance(form, Linear | Stumps | Trees | Network):
        reason = REASONS.get(name, "it is neither linear, stumps, trees nor a scoring network")
        raise ExportError(f"{name} cannot be exported, because {reason}; {WAYS_OUT}")
    preparation = preparation_of(model)
    prepare = None if preparation == Preparation() else prepare_of(model)
    return _plain(form, names, preparation, prepare, getattr(ranker, "categories_in_", {}))


def _plain(
    form: Form, names: tuple[str, ...], preparation: Preparation, prepare: Prepare | None, categories: Any
) -> Plain:
    match form:
        case Linear():
            return PlainLinear(names, np.asarray(form.coef, np.float64), form.bias, preparation)
        case Network():
            return _network(form, names, preparation)
        case Stumps():
            return PlainTrees(names, _from_stumps(form, prepare), kind="stumps")
        case Trees():
            return _from_text(form, names, prepare, categories)
    raise AssertionError(form)


def _network(form: Network, names: tuple[str, ...], preparation: Preparation) -> PlainLinear | PlainNetwork:
    layers = tuple((layer.W.astype(np.float64), layer.b.astype(np.float64)) for layer in form.layers)
    odds = Odds() if form.is_squashed else None
    if form.activation != "identity" and len(layers) > 1:
        return PlainNetwork(names, layers, form.activation, preparation, odds)
    weights, bias = np.eye(len(names)), np.zeros(len(names))
    for W, b in layers:  # a linear network is a weighted sum
        weights, bias = weights @ W, bias @ W + b
    return PlainLinear(names, weights[:, 0], float(bias[0]), preparation, odds)


def _missing_values(prepare: Prepare | None, n_features: int) -> NDArray[np.float32]:
    """What the ranker sees of a missing value, feature by feature: NaN, or what is filled in, scaled."""
    row = np.full((1, n_features), np.nan, np.float32)
    seen: NDArray[np.float32] = row if prepare is None else prepare(row)
    return seen.ravel()


def _from_stumps(form: Stumps, prepare: Prepare | None) -> tuple[Tree, ...]:
    feature = np.array([stump.feature for stump in form.stumps], np.int64)
    # a stump compares in single precision, to which its threshold is rounded first
    threshold = np.array([stump.threshold for stump in form.stumps], np.float32).astype(np.float64)
    raw = largest_left(prepare, feature, threshold, form.n_features)
    seen = _missing_values(prepare, form.n_features)[feature].astype(np.float64)
    trees = []
    for j, limit, missing, stump in zip(feature, raw, ~(seen > threshold), form.stumps, strict=True):
        tree = Tree(
            np.array([j]), np.array([limit], np.float32), np.array([missing]), np.array([~0]), np.array([~1]),
            np.array([0.0, float(stump.alpha)]),
        )  # fmt: skip
        trees.append(pruned(tree))
    return tuple(trees)


def _from_text(form: Trees, names: tuple[str, ...], prepare: Prepare | None, categories: Any) -> PlainTrees:
    text = read_trees(form.model)
    levels = Levels(np.asarray(form.worth, np.float64), form.start) if isinstance(form, ExpectedLevel) else None
    if categories or any(tree.is_categorical.any() for tree in text.trees):
        return PlainTrees(names, (), levels=levels, categorical=form.model)
    feature = np.concatenate([np.zeros(0, np.int64), *(tree.feature for tree in text.trees)])
    threshold = _zeros_apart(np.concatenate([np.zeros(0), *(tree.threshold for tree in text.trees)]))
    raw, start = largest_left(prepare, feature, threshold, form.n_features), 0
    seen = _missing_values(prepare, form.n_features).astype(np.float64)
    trees = []
    for number, tree in enumerate(text.trees):
        limits = raw[start : start + len(tree.feature)]
        start += len(tree.feature)
        plain = Tree(tree.feature, limits, _missing_left(tree, seen, number), tree.left, tree.right, tree.value)
        if (deep := depth(plain)) > DEEPEST:
            raise ExportError(
                f"tree {number} is {deep} splits deep, and engines read at most {DEEPEST}; train shallower ones"
            )
        trees.append(pruned(plain))
    return PlainTrees(names, tuple(trees), levels=levels)


def _zeros_apart(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds that part all numbers as LightGBM does, which takes those up to ZERO away from 0 for 0.

    It has many at ZERO and -ZERO: they part zeros from what is above and below.
    """
    below = np.nextafter(np.float32(-ZERO), np.float32(-np.inf))
    raised = np.where((threshold >= 0) & (threshold < ZERO), ZERO, threshold)
    return np.where((threshold >= -ZERO) & (threshold < 0), below, raised)


def _missing_left(tree: TextTree, seen: Any, number: int) -> Any:
    """Where a missing value goes at each split, by LightGBM's rules."""
    value, default_left = seen[tree.feature], (tree.decision & 2) > 0
    value = np.where(np.isnan(value) & (tree.missing != NAN_MISSING), 0.0, value)
    is_zero = tree.missing == ZERO_MISSING
    if (is_zero & ((tree.threshold >= 0.0) != default_left)).any() or (
        is_zero & (np.abs(tree.threshold) <= ZERO)
    ).any():
        raise ExportError(
            f"tree {number} sends zeros another way than the values around them (zero_as_missing), which no engine "
            f"does; train without it, {WAYS_OUT}"
        )
    value = np.where(is_zero & (np.abs(value) <= ZERO), np.nan, value)
    return np.where(np.isnan(value), default_left, value <= tree.threshold)


def depth(tree: Tree) -> int:
    """The number of splits on the longest way down."""
    deepest = np.ones(len(tree.feature), np.int64)
    for node in range(len(tree.feature)):  # a child comes after its parent
        for child in (tree.left[node], tree.right[node]):
            if child >= 0:
                deepest[child] = deepest[node] + 1
    return int(deepest.max(initial=0))


def pruned(tree: Tree) -> Tree:
    """The tree without splits that send everything the same way: thresholds that no number reaches, or all do."""
    always_left, never_left = tree.threshold == np.inf, tree.threshold == -np.inf
    constant = (always_left & tree.missing_left) | (never_left & ~tree.missing_left)
    if not constant.any():
        # a missing value that goes the other way keeps the split: the largest number is a threshold, too
        return tree._replace(threshold=np.clip(tree.threshold, -LARGEST_SINGLE, LARGEST_SINGLE))

    def target(child: int) -> int:
        while child >= 0 and constant[child]:
            child = int(tree.left[child] if always_left[child] else tree.right[child])
        return child

    kept: list[int] = []
    leaves: list[float] = []
    links: dict[int, int] = {}
    waiting = [target(tree.root)]
    while waiting:
        node = waiting.pop()
        if node < 0:
            links[node] = ~len(leaves)
            leaves.append(tree.value[~node])
            continue
        links[node] = len(kept)
        kept.append(node)
        waiting += [target(int(tree.right[node])), target(int(tree.left[node]))]
    rows = np.array(kept, np.int64)
    left, right = (
        np.array([links[target(int(child))] for child in side[rows]], np.int64) for side in (tree.left, tree.right)
    )
    limits = np.clip(tree.threshold[rows], -LARGEST_SINGLE, LARGEST_SINGLE)
    return Tree(tree.feature[rows], limits, tree.missing_left[rows], left, right, np.array(leaves))


LARGEST_SINGLE = np.finfo(np.float32).max
