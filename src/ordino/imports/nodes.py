"""Trees of other tools as LightGBM's, from their nodes in any order."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.boosting.model_text import DEFAULT_LEFT, NAN_MISSING, TextTree
from ordino.errors import ModelFileError


class Nodes(NamedTuple):
    """A tree over its nodes; node 0 is the root, a leaf has no left child (-1)."""

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    """Left where the value is at most this, in double precision."""
    missing_left: NDArray[np.bool_] | None
    """None where a missing value is 0."""
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: NDArray[np.float64]


def text_tree(nodes: Nodes, n_features: int, where: str) -> TextTree:
    """The tree with its splits in the order of a walk, and every node checked: each must be reached once."""
    n = len(nodes.left)
    sizes = {len(values) for values in (nodes.feature, nodes.threshold, nodes.left, nodes.right, nodes.value)}
    if sizes != {n} or not n or not np.isfinite(nodes.value[nodes.left < 0]).all():
        raise ModelFileError(f"{where}: its nodes are not whole; get the file again")
    splits: list[int] = []
    leaves: list[int] = []
    links: dict[int, int] = {}
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if not 0 <= node < n or node in links:
            raise ModelFileError(f"{where}: its nodes do not make one tree; get the file again")
        if nodes.left[node] < 0:
            links[node] = ~len(leaves)
            leaves.append(node)
            continue
        if not 0 <= nodes.feature[node] < n_features or not np.isfinite(nodes.threshold[node]):
            raise ModelFileError(
                f"{where}: a split asks for a feature or a number that there is not; get the file again"
            )
        links[node] = len(splits)
        splits.append(node)
        waiting += [int(nodes.right[node]), int(nodes.left[node])]
    rows = np.array(splits, np.int64)
    decision = np.zeros(len(rows), np.int64)  # a missing value is 0
    if nodes.missing_left is not None:
        decision = np.where(nodes.missing_left[rows], DEFAULT_LEFT, 0) | (NAN_MISSING << 2)
    left, right = (
        np.array([links[int(child)] for child in side[rows]], np.int64) for side in (nodes.left, nodes.right)
    )
    return TextTree(
        nodes.feature[rows], nodes.threshold[rows], decision, left, right, nodes.value[np.array(leaves, np.int64)],
        np.ones(len(rows)),
    )  # fmt: skip


def constant_tree(value: float) -> TextTree:
    """A tree that gives the same for every document."""
    none: Any = np.zeros(0, np.int64)
    return TextTree(none, np.zeros(0), none, none, none, np.array([value]), np.zeros(0))
