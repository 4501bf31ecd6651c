"""Trees as nested objects, in which most engines write them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.export.family import Tree


def nested(tree: Tree, split: Callable[[int, Any, Any], Any], leaf: Callable[[int], Any]) -> Any:
    """Build a tree from the bottom: ``leaf(number)`` of each leaf, ``split(number, left, right)`` of each split."""
    made: dict[int, Any] = {}

    def child(number: int) -> Any:
        return leaf(~number) if number < 0 else made.pop(number)

    for node in range(len(tree.feature) - 1, -1, -1):  # children come after their parents
        made[node] = split(node, child(int(tree.left[node])), child(int(tree.right[node])))
    return child(tree.root)


def depths(tree: Tree) -> NDArray[np.int64]:
    """The depth of each split; the root has 0."""
    found = np.zeros(len(tree.feature), np.int64)
    for node in range(len(tree.feature)):
        for child in (tree.left[node], tree.right[node]):
            if child >= 0:
                found[child] = found[node] + 1
    return found
