"""RankLib's nine text models, scored as RankLib scores them; the text is read by :mod:`ordino.imports.ranklib_text`.

Features are single, weights and networks double; a sum of trees is single. A feature that a line leaves out is 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ordino.export.emulators.scored import (
    DOUBLE,
    SINGLE,
    FlatTree,
    Floats,
    Nodes,
    Scored,
    exactly,
    largest_sum,
    leaves_of,
)
from ordino.imports.ranklib_text import Forest, LinearText, Neurons, Node, Thresholds, read_ranklib


def score_ranklib(files: Mapping[str, Any], X: Floats, names: Sequence[str]) -> Scored:  # noqa: ARG001
    """Scores of rows whose first column is feature 1, by the text of ``model.txt``."""
    given = np.nan_to_num(X.astype(np.float32), nan=0.0, posinf=np.inf, neginf=-np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        match read_ranklib(files["model.txt"]).body:
            case LinearText() as text:
                return _linear(text, given)
            case Thresholds() as text:
                return _thresholds(text, given)
            case Forest() as text:
                return _forest(text, given)
            case Neurons() as text:
                return _neurons(text, given)


def _linear(text: LinearText, X: Floats) -> Scored:
    scores, size = np.full(len(X), text.bias), np.full(len(X), abs(text.bias))
    for feature, weight in text.weights:
        term = X[:, feature - 1].astype(np.float64) * weight
        scores += term
        size += np.abs(term)
    return exactly(scores, size, len(text.weights), DOUBLE)


def _thresholds(text: Thresholds, X: Floats) -> Scored:
    scores = np.zeros(len(X))
    for feature, threshold, alpha in text.rankers:
        scores += np.where(X[:, feature - 1] > threshold, alpha, 0.0)
    return exactly(scores, sum(abs(alpha) for _, _, alpha in text.rankers), len(text.rankers), DOUBLE)


def _forest(text: Forest, X: Floats) -> Scored:
    total, rounding = np.zeros(len(X)), np.zeros(len(X))
    for ensemble in text.ensembles:
        trees = [flat_tree(tree.root) for tree in ensemble]
        weights = [np.float32(tree.weight) for tree in ensemble]
        scores = np.zeros(len(X), np.float32)
        for tree, weight in zip(trees, weights, strict=True):
            term = tree.value[leaves_of(tree, X)].astype(np.float64) * float(weight)
            scores = (scores + term).astype(np.float32)  # a double product is added and rounded
        total += scores
        rounding += exactly(scores, largest_sum(trees, [float(w) for w in weights]), len(trees), SINGLE).rounding
    n = len(text.ensembles)
    return Scored(total / n, rounding / n)


def flat_tree(root: Node) -> FlatTree:
    """A tree of RankLib; nothing is missing here."""
    nodes = Nodes()
    waiting = [(nodes.add(), root)]
    while waiting:
        number, node = waiting.pop()
        if node.left is None or node.right is None:
            nodes.set_leaf(number, float(np.float32(node.value)))
            continue
        left, right = nodes.set_split(number, node.feature - 1, float(np.float32(node.value)), False)
        waiting += [(left, node.left), (right, node.right)]
    return nodes.flat(np.float32)


def _neurons(text: Neurons, X: Floats) -> Scored:
    h = X[:, np.array(text.features) - 1].astype(np.float64)
    size, terms = np.abs(h), 0
    for W, b in text.layers:
        h = 1 / (1 + np.exp(-(h @ W + b)))
        size = size @ np.abs(W) + np.abs(b) + 1
        terms += len(W) + 1
    return exactly(h[:, 0], size[:, 0], terms, DOUBLE)
