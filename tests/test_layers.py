"""A network's score of a document has the same bits whatever documents stand beside it, and wherever arrays lie."""

from itertools import pairwise

import numpy as np
import pytest

from ordino.layers import BLOCK, Layer, forward
from places import tried_everywhere

RNG = np.random.default_rng(0)
SHAPES = [(136, 64, 32, 1), (46, 10, 1), (7, 17, 3, 1), (1, 1, 1), (2, 100, 1)]


def network(shape):
    return [
        Layer(RNG.normal(size=(n_in, n_out)).astype(np.float32), RNG.normal(size=n_out).astype(np.float32))
        for n_in, n_out in pairwise(shape)
    ]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_score_does_not_depend_on_the_place_among_others(shape, activation):
    layers, X = network(shape), RNG.normal(size=(BLOCK + 60, shape[0])).astype(np.float32)
    scores = forward(X, layers, activation)
    for n in (1, 2, 3, 4, 5, 8, 12, 13, 31, 50):
        for start in (0, 1, 6, 7, BLOCK - 3):
            np.testing.assert_array_equal(forward(X[start : start + n], layers, activation), scores[start : start + n])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_score_is_what_matrices_give(shape):
    layers, X = network(shape), RNG.normal(size=(9, shape[0])).astype(np.float32)
    h = X.astype(np.float64)
    for W, b in layers[:-1]:
        h = np.tanh(h @ W + b)
    W, b = layers[-1]
    np.testing.assert_allclose(forward(X, layers, "tanh"), (h @ W + b)[:, 0], rtol=1e-4, atol=1e-4)


def test_a_score_does_not_depend_on_where_arrays_lie():
    with tried_everywhere() as called:
        forward(RNG.normal(size=(5, 37)).astype(np.float32), network((37, 19, 4, 1)), "relu")
    assert called == {"affine": 2}


def test_layers_that_do_not_fit_are_refused():
    X = np.zeros((2, 3), np.float32)
    for layers in (
        network((4, 2, 1)),
        [Layer(np.zeros((3, 2), np.float32), np.zeros(3, np.float32)), *network((2, 1))],
    ):
        with pytest.raises(ValueError, match="a layer of shape"):
            forward(X, layers, "relu")
