"""RankLib's text models as rankers."""

import numpy as np

from ordino.boosting.model_text import TextTree, TreeText, write_trees
from ordino.errors import ParameterError
from ordino.forms import Stump
from ordino.imports.nodes import Nodes, text_tree
from ordino.imports.ranklib_text import Forest, LinearText, Neurons, Node, Thresholds, WeightedTree, read_ranklib
from ordino.layers import Layer
from ordino.rankers.imported import Imported, ImportedLinear, ImportedNetwork, ImportedStumps, ImportedTrees


def from_ranklib(text: str, n_features: int | None) -> Imported:
    """The ranker of a RankLib file; of as many features as it asks for, unless a larger number is given."""
    model = read_ranklib(text)
    n = width(model.n_features, n_features)
    source = f"RankLib {model.name}"
    match model.body:
        case LinearText(weights=weights, bias=bias):
            linear = ImportedLinear(source=source)
            linear.coef_, linear.bias_ = np.zeros(n), float(bias)
            for feature, weight in weights:
                linear.coef_[feature - 1] += weight
            return linear.with_features(n, None)
        case Thresholds(rankers=rankers):
            stumps = ImportedStumps(source=source)
            stumps.stumps_ = [Stump(feature - 1, at_most(limit), alpha) for feature, limit, alpha in rankers]
            return stumps.with_features(n, None)
        case Forest(ensembles=ensembles):
            trees = ImportedTrees(source=source)
            share = 1 / len(ensembles)
            made = [_tree(tree, share, n, i) for i, tree in enumerate(t for one in ensembles for t in one)]
            names = tuple(f"Column_{j}" for j in range(n))
            trees.model_ = write_trees(TreeText(tuple(made), names, 1))
            return trees.with_features(n, None)
        case Neurons(features=features, layers=layers):
            network = ImportedNetwork(source=source)
            (first, b), *rest = layers
            wide = np.zeros((n, first.shape[1]))
            for row, feature in zip(first, features, strict=True):
                wide[feature - 1] += row
            network.layers_ = [Layer(W.astype(np.float32), c.astype(np.float32)) for W, c in ((wide, b), *rest)]
            return network.with_features(n, None)


def width(least: int, given: int | None) -> int:
    """The number of features: as given, or as many as the model asks for."""
    if given is not None and given < least:
        raise ParameterError(f"n_features={given}, but the model asks for feature {least}; give {least} or more")
    return least if given is None else given


def at_most(limit: float) -> float:
    """The largest single-precision number that is not above: to ask for more than it is to ask for more than limit."""
    rounded = np.float32(limit)
    return float(rounded if rounded <= limit else np.nextafter(rounded, np.float32(-np.inf)))


@np.errstate(over="ignore")  # what is too large becomes infinite, and is refused
def _tree(tree: WeightedTree, share: float, n_features: int, number: int) -> TextTree:
    rows: list[list[float]] = []
    waiting: list[tuple[Node, int, int]] = [(tree.root, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        place = len(rows)
        if parent >= 0:
            rows[parent][side] = place
        rows.append([node.feature - 1, float(np.float32(node.value)), -1, -1])
        if node.left is not None and node.right is not None:
            waiting += [(node.right, place, 3), (node.left, place, 2)]
    feature, value, left, right = (np.array(column) for column in zip(*rows, strict=True))
    leaf = value * float(np.float32(tree.weight)) * share
    # what a line leaves out is 0 in RankLib: nothing is missing
    nodes = Nodes(feature.astype(np.int64), value, None, left.astype(np.int64), right.astype(np.int64), leaf)
    return text_tree(nodes, n_features, f"tree {number}")
