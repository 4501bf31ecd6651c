"""What an emulator gives, and the walk through trees that all of them share."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Single = np.float32


class Scored(NamedTuple):
    """Scores of rows as an engine would give them, and how far they can be trusted."""

    scores: NDArray[np.float64]
    """As the engine gives them; NaN where it has none."""
    rounding: NDArray[np.float64]
    """The most that rounding can have moved each score, from the precision of the engine and the size of its terms."""


def exactly(scores: Floats, size: Floats | float, n_terms: int, unit: float) -> Scored:
    """Scores of a sum of ``n_terms`` terms of total size ``size``, in arithmetic whose unit roundoff is ``unit``."""
    given = np.asarray(scores, np.float64)
    rounding = np.broadcast_to(np.asarray(size, np.float64) * (n_terms + 2) * unit, given.shape)
    return Scored(given, rounding)


SINGLE, DOUBLE = 2.0**-24, 2.0**-53  # unit roundoff


class FlatTree(NamedTuple):
    """A tree as arrays over its nodes; node 0 is the root, a leaf has no feature (-1)."""

    feature: NDArray[np.int64]
    threshold: Floats
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Floats


class Nodes:
    """A tree that is put together node by node."""

    def __init__(self) -> None:
        self._rows: list[list[Any]] = []

    def add(self) -> int:
        """A new leaf of value 0, by its number."""
        self._rows.append([-1, 0.0, False, 0, 0, 0.0])
        return len(self._rows) - 1

    def set_leaf(self, node: int, value: float) -> None:
        """What a leaf gives."""
        self._rows[node][5] = value

    def set_split(self, node: int, feature: int, threshold: float, missing_left: bool) -> tuple[int, int]:
        """Turn a leaf into a split; the numbers of its two new leaves."""
        left, right = self.add(), self.add()
        self._rows[node][:5] = [feature, threshold, missing_left, left, right]
        return left, right

    def flat(self, kind: type[np.floating[Any]]) -> FlatTree:
        """The whole tree, with thresholds and values of this precision."""
        feature, threshold, missing_left, left, right, value = zip(*self._rows, strict=True)
        return FlatTree(
            np.array(feature, np.int64), np.array(threshold, kind), np.array(missing_left, bool),
            np.array(left, np.int64), np.array(right, np.int64), np.array(value, kind),
        )  # fmt: skip


def leaves_of(tree: FlatTree, X: Floats, *, strict: bool = False) -> NDArray[np.int64]:
    """The leaf of each row; left where the value is at most the threshold (below it, if ``strict``)."""
    node = np.zeros(len(X), np.int64)
    rows = np.flatnonzero(tree.feature[node] >= 0)
    while len(rows):
        at = node[rows]
        x, t = X[rows, tree.feature[at]], tree.threshold[at]
        goes_left = np.where(np.isnan(x), tree.missing_left[at], x < t if strict else x <= t)
        node[rows] = np.where(goes_left, tree.left[at], tree.right[at])
        rows = rows[tree.feature[node[rows]] >= 0]
    return node


def largest_sum(trees: Sequence[FlatTree], weights: Sequence[float] | None = None) -> float:
    """The sum of the largest leaf of each tree by size: no score and no partial sum is larger."""
    largest = [float(np.abs(tree.value[tree.feature < 0]).max(initial=0.0)) for tree in trees]
    return float(sum(abs(w) * v for w, v in zip(weights or [1.0] * len(trees), largest, strict=True)))
