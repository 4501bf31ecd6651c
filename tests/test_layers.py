"""A network's score of a document has the same bits whatever documents stand beside it."""

from itertools import pairwise

import numpy as np
import pytest

from ordino.layers import BLOCK, Layer, forward, has_no_places

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


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_both_ways_of_a_layer_agree(shape, monkeypatch):
    layers, X = network(shape), RNG.normal(size=(9, shape[0])).astype(np.float32)
    scores = []
    for answer in (True, False):
        monkeypatch.setattr("ordino.layers.has_no_places", lambda *_, answer=answer: answer)
        scores.append(forward(X, layers, "relu"))
    np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-4)


def test_a_product_that_rounds_by_places_is_found(monkeypatch):
    """A row that is third in a list of five is rounded otherwise."""

    class Odd(np.ndarray):
        def __matmul__(self, W):
            product = np.asarray(self) @ np.asarray(W)
            if len(self) == 5:
                product[2] = np.nextafter(product[2], np.float32(np.inf))
            return product

    plain = np.repeat
    monkeypatch.setattr(np, "repeat", lambda row, n, axis: plain(row, n, axis=axis).view(Odd))
    assert not has_no_places.__wrapped__(2, 1)
    monkeypatch.undo()
    assert has_no_places.__wrapped__(1, 1)
