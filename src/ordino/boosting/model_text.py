"""LightGBM's model text, read as plain arrays and written again: what export and import need, without LightGBM.

A text may be another's: sizes and numbers are checked here, so that only a sound text is ever given to LightGBM.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.errors import ModelFileError

CATEGORICAL, DEFAULT_LEFT = 1, 2  # bits of a decision
NO_MISSING, ZERO_MISSING, NAN_MISSING = 0, 1, 2  # what counts as missing, in the next two bits
ZERO = float(np.float32(1e-35))  # up to which LightGBM takes a value for zero
MOST_FEATURES = 1_000_000
NO_BOUNDARIES, NO_WORDS = np.array([0], np.int64), np.zeros(0, np.int64)


class TextTree(NamedTuple):
    """A tree: arrays over its splits, and the values of its leaves. A child below 0 is leaf ``~child``."""

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    decision: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: NDArray[np.float64]
    gain: NDArray[np.float64]
    """Of each split in training; 1 where nobody knows."""
    cat_boundaries: NDArray[np.int64] = NO_BOUNDARIES
    cat_words: NDArray[np.int64] = NO_WORDS

    @property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Which splits ask for categories."""
        return (self.decision & CATEGORICAL) > 0

    @property
    def missing(self) -> NDArray[np.int64]:
        """What counts as missing at each split."""
        return (self.decision >> 2) & 3


class TreeText(NamedTuple):
    """A model: its trees, round after round, with ``n_outputs`` trees in each."""

    trees: tuple[TextTree, ...]
    names: tuple[str, ...]
    n_outputs: int


def read_trees(text: str) -> TreeText:
    """The trees of a model text; anything that no LightGBM wrote is refused."""
    head, *blocks = re.split(r"^Tree=\d+\s*$", text, flags=re.MULTILINE)
    fields = _fields(head)
    if head.split(None, 1)[:1] != ["tree"] or not blocks:
        raise ModelFileError("this is no model text of LightGBM; give what Booster.save_model wrote")
    n_features = _whole(fields, "max_feature_idx", 0, MOST_FEATURES) + 1
    n_outputs = _whole(fields, "num_tree_per_iteration", 1, 10_000)
    names = tuple(fields.get("feature_names", "").split())
    if len(names) != n_features:
        raise ModelFileError(f"the text has {len(names)} names for {n_features} features; get it again")
    blocks[-1] = blocks[-1].partition("end of trees")[0]
    trees = tuple(_tree(_fields(block), number, n_features) for number, block in enumerate(blocks))
    if len(trees) % n_outputs:
        raise ModelFileError(f"the text has {len(trees)} trees for {n_outputs} outputs; get it again")
    return TreeText(trees, names, n_outputs)


def merge_trees(models: Sequence[str]) -> str:
    """One model text with the trees of all, which gives the sum of their scores."""
    if len(models) == 1:
        return models[0]
    parts = [re.split(r"^Tree=\d+\n", model, flags=re.MULTILINE) for model in models]  # head, then tree after tree
    trees = [tree.partition("end of trees")[0] for _, *trees in parts for tree in trees]
    blocks = [f"Tree={i}\n{tree}" for i, tree in enumerate(trees)]
    sizes = " ".join(str(len(block)) for block in blocks)
    head = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", parts[0][0], flags=re.MULTILINE)
    _, end, tail = models[0].partition("end of trees")
    return head + "".join(blocks) + end + tail


def _fields(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.splitlines() if "=" in line)


def _whole(fields: Mapping[str, str], name: str, low: int, high: int) -> int:
    word = fields.get(name, "")
    if not re.fullmatch(r"\d{1,9}", word) or not low <= int(word) <= high:
        raise ModelFileError(f"{name} is {word[:40]!r}; it must be a whole number from {low} to {high:,}")
    return int(word)


def _array(fields: Mapping[str, str], name: str, n: int, kind: Any, where: str) -> NDArray[Any]:
    try:
        values = np.array(fields.get(name, "").split(), dtype=kind)
    except (ValueError, OverflowError):
        raise ModelFileError(f"{where}: {name} has something that is no number; get the text again") from None
    # an infinite threshold parts missing values from all others
    is_allowed = ~np.isnan(values) if name == "threshold" else np.isfinite(values)
    if len(values) != n or not is_allowed.all():
        raise ModelFileError(f"{where}: {name} has {len(values)} numbers where {n} finite ones were expected")
    return values


def _tree(fields: Mapping[str, str], number: int, n_features: int) -> TextTree:
    where = f"tree {number}"
    n_leaves = _whole(fields, "num_leaves", 1, 10_000_000)
    if fields.get("is_linear", "0").strip() != "0":
        raise ModelFileError(f"{where} has linear functions in its leaves (linear_tree), which are not supported")
    n = n_leaves - 1
    kinds = {"split_feature": np.int64, "threshold": np.float64, "decision_type": np.int64}
    arrays = [
        _array(fields, name, n, kind, where)
        for name, kind in (kinds | {"left_child": np.int64, "right_child": np.int64}).items()
    ]
    feature, threshold, decision, left, right = arrays
    value = _array(fields, "leaf_value", n_leaves, np.float64, where)
    gain = _array(fields, "split_gain", n, np.float64, where) if fields.get("split_gain") else np.ones(n)
    n_cat = _whole(fields, "num_cat", 0, n)
    boundaries, words = NO_BOUNDARIES, NO_WORDS
    if n_cat:
        boundaries = _array(fields, "cat_boundaries", n_cat + 1, np.int64, where)
        n_words = len(fields.get("cat_threshold", "").split())
        words = _array(fields, "cat_threshold", n_words, np.int64, where)
        rises = boundaries[0] == 0 and bool((np.diff(boundaries) > 0).all()) and boundaries[-1] == n_words
        if not rises or not ((words >= 0) & (words < 2**32)).all():
            raise ModelFileError(f"{where}: its categories do not fit together; get the text again")
    tree = TextTree(feature, threshold, decision, left, right, value, gain, boundaries, words)
    _check(tree, n_features, n_cat, where)
    return tree


def _check(tree: TextTree, n_features: int, n_cat: int, where: str) -> None:
    """Every split asks for a feature that there is, and every node has exactly one parent that comes before it."""
    n = len(tree.feature)
    numbers = tree.threshold[tree.is_categorical]
    children = np.concatenate((tree.left, tree.right))
    parents = np.tile(np.arange(n), 2)
    wanted = np.concatenate((np.arange(-n - 1, 0), np.arange(1, n))) if n else np.zeros(0, np.int64)
    fits = (
        bool(((tree.feature >= 0) & (tree.feature < n_features)).all())
        and bool(((tree.decision >= 0) & (tree.decision < 16) & (tree.missing <= NAN_MISSING)).all())
        and bool(((numbers >= 0) & (numbers < n_cat) & (numbers == np.floor(numbers))).all())
        and np.array_equal(np.sort(children), wanted)
        and bool((children[children > 0] > parents[children > 0]).all())
    )
    if not fits:
        raise ModelFileError(f"{where}: its splits do not make one tree; get the text again")


def write_trees(model: TreeText) -> str:
    """The text of a model, as LightGBM reads it; the objective is left open, so that predictions are sums of leaves."""
    blocks = [_block(number, tree) for number, tree in enumerate(model.trees)]
    head = [
        "tree", "version=v4", f"num_class={model.n_outputs}", f"num_tree_per_iteration={model.n_outputs}",
        "label_index=0", f"max_feature_idx={len(model.names) - 1}",
        "feature_names=" + " ".join(model.names), "feature_infos=" + " ".join(["[-1e+308:1e+308]"] * len(model.names)),
        "tree_sizes=" + " ".join(str(len(block.encode())) for block in blocks), "", "",
    ]  # fmt: skip
    tail = "end of trees\n\nfeature_importances:\n\nparameters:\nend of parameters\n\npandas_categorical:null\n"
    return "\n".join(head) + "".join(blocks) + tail


def _block(number: int, tree: TextTree) -> str:
    def line(name: str, values: Sequence[Any] | NDArray[Any]) -> str:
        return f"{name}=" + " ".join(repr(value.item() if hasattr(value, "item") else value) for value in values)

    n = len(tree.feature)
    n_cat = len(tree.cat_boundaries) - 1
    rows = [
        f"Tree={number}", f"num_leaves={n + 1}", f"num_cat={n_cat}", line("split_feature", tree.feature),
        line("split_gain", tree.gain), line("threshold", tree.threshold), line("decision_type", tree.decision),
        line("left_child", tree.left), line("right_child", tree.right), line("leaf_value", tree.value),
        line("leaf_weight", [1] * (n + 1)), line("leaf_count", [1] * (n + 1)), line("internal_value", [0] * n),
        line("internal_weight", [1] * n), line("internal_count", [2] * n),
        *([line("cat_boundaries", tree.cat_boundaries), line("cat_threshold", tree.cat_words)] if n_cat else []),
        "is_linear=0", "shrinkage=1", "", "", "",
    ]  # fmt: skip
    return "\n".join(rows)
