"""The mean of several rankers of one family as one of that family."""

from collections.abc import Sequence

import numpy as np

from ordino.errors import ExportError
from ordino.export.family import Floats, Plain, PlainLinear, PlainNetwork, PlainTrees, Preparation


def mean_of(members: Sequence[Plain]) -> Plain:
    """A weighted sum of weighted sums, a forest of forests, or networks side by side, divided by their number."""
    first = members[0]
    if any(one.odds is not None for one in members):
        raise ExportError("a mean of logistic scores cannot be exported; aggregate rankers that give sums")
    if all(isinstance(one, PlainTrees) and one.levels is None and not one.categorical for one in members):
        trees = [tree for one in members if isinstance(one, PlainTrees) for tree in one.trees]
        scaled = tuple(tree._replace(value=tree.value / len(members)) for tree in trees)
        kinds = {one.kind for one in members}
        return PlainTrees(first.names, scaled, kind="stumps" if kinds == {"stumps"} else "trees")
    linear = [one for one in members if isinstance(one, PlainLinear)]
    if len(linear) == len(members):
        return _mean_linear(linear)
    networks = [one for one in members if isinstance(one, PlainNetwork)]
    if len(networks) == len(members) and len({(one.activation, len(one.layers)) for one in networks}) == 1:
        return _side_by_side(networks)
    raise ExportError(
        "the mean of these members is none of the families that engines hold; aggregate members that are all linear, "
        "all trees, or all networks of one depth and activation"
    )


def _mean_linear(members: Sequence[PlainLinear]) -> PlainLinear:
    n = len(members)
    if all(one.preparation == members[0].preparation for one in members):
        weights: Floats = np.mean([one.weights for one in members], axis=0)
        return PlainLinear(members[0].names, weights, sum(one.bias for one in members) / n, members[0].preparation)
    folded = [fold_linear(one) for one in members]
    weights = np.mean([one.weights for one in folded], axis=0)
    return PlainLinear(members[0].names, weights, sum(one.bias for one in folded) / n, _shared_fill(members))


def _side_by_side(members: Sequence[PlainNetwork]) -> PlainNetwork:
    n = len(members)
    preparation = members[0].preparation
    if any(one.preparation != preparation for one in members):
        members, preparation = [fold_network(one) for one in members], _shared_fill(members)
    layers = []
    for depth in range(len(members[0].layers)):
        parts = [one.layers[depth] for one in members]
        if depth == 0:
            W = np.hstack([W for W, _ in parts])
        else:
            W = np.zeros((sum(len(W) for W, _ in parts), sum(W.shape[1] for W, _ in parts)))
            row = column = 0
            for part, _ in parts:
                W[row : row + part.shape[0], column : column + part.shape[1]] = part
                row, column = row + part.shape[0], column + part.shape[1]
        layers.append((W, np.concatenate([b for _, b in parts])))
    W, b = layers[-1]
    layers[-1] = W.sum(axis=1, keepdims=True) / n, b.sum(keepdims=True) / n
    return PlainNetwork(members[0].names, tuple(layers), members[0].activation, preparation)


def _shared_fill(members: Sequence[PlainLinear] | Sequence[PlainNetwork]) -> Preparation:
    fills = [one.preparation.fill for one in members]
    if any(fill is not None for fill in fills) and not all(
        fill is not None and fills[0] is not None and np.array_equal(fill, fills[0]) for fill in fills
    ):
        raise ExportError("the members fill in missing values by different medians; aggregate without resample")
    return Preparation(fills[0])


def fold_linear(form: PlainLinear) -> PlainLinear:
    """The same weighted sum of raw features; all maps must be affine."""
    _check_affine(form.preparation)
    factor, offset = form.preparation.factor_and_offset(len(form.names))
    bias = form.bias + float(form.weights @ offset)
    return PlainLinear(form.names, form.weights * factor, bias, Preparation(form.preparation.fill), form.odds)


def fold_network(form: PlainNetwork) -> PlainNetwork:
    """The same network of raw features; all maps must be affine."""
    _check_affine(form.preparation)
    factor, offset = form.preparation.factor_and_offset(len(form.names))
    (W, b), *rest = form.layers
    first = W * factor[:, None], b + offset @ W
    return PlainNetwork(form.names, (first, *rest), form.activation, Preparation(form.preparation.fill), form.odds)


def _check_affine(preparation: Preparation) -> None:
    if not preparation.is_affine:
        raise ExportError("the members have scalings of their own that are not affine; train them on all data")
