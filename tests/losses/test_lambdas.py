"""LambdaRank against a loop that swaps two documents and measures again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambda_oracle import lambdarank
from ordino.errors import ParameterError
from ordino.losses import make_loss

METRICS = ["ndcg", "ndcg@1", "ndcg@3", "map", "mrr", "mrr@1", "mrr@3"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"gain": "linear", "relevant": 2.0},
        {"pairs": "neighbors"},
        {"pairs": "exact"},
        {"normalize": True},
        {"normalize": True, "pairs": "exact"},
    ],
    ids=str,
)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), ties=st.booleans())
def test_lambdas_are_those_of_the_slow_loop(metric, extra, seed, ties):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 12)
    y, scores = rng.integers(0, 4, n).astype(float), rng.normal(0, 2, n)
    y[y == 2] *= rng.integers(1, 3)  # some queries have labels with a gap
    if ties:
        scores = np.round(scores)
    grade = y if metric.startswith("ndcg") else y >= extra.get("relevant", 1.0)
    value, gradient = make_loss("lambdarank", metric=metric, **extra).value_and_gradient(scores, y, [0, n])
    if len(set(grade)) < 2:
        assert value == 0
        assert not gradient.any()
        return
    expected, lambdas = lambdarank(scores, y, metric, **extra)
    assert value == pytest.approx(expected)
    if ties:  # documents with the same label and score may take each other's place
        keys = [(s, label) for s, label in zip(scores, y, strict=True)]
        for key in set(keys):
            same = [i for i in range(n) if keys[i] == key]
            assert gradient[same].sum() == pytest.approx(lambdas[same].sum(), abs=1e-12)
    else:
        np.testing.assert_allclose(gradient, lambdas, atol=1e-12)


def test_one_pair_by_hand():
    """Label 1 below label 0, equal scores: NDCG would rise from 1 / log2(3) to 1, and the push is half of that."""
    value, gradient = make_loss("lambdarank", metric="ndcg").value_and_gradient([0.0, 0.0], [1, 0], [0, 2])
    change = 1 - 1 / math.log2(3)
    assert value == pytest.approx(change * math.log(2))
    np.testing.assert_allclose(gradient, [-change / 2, change / 2])


def test_one_normalized_pair_by_hand():
    """As above, but the better one is behind by 1: the weight falls by 1.01, and of the lambdas a logarithm is left."""
    value, gradient = make_loss("lambdarank", metric="ndcg", normalize=True).value_and_gradient(
        [0.0, 1.0], [1, 0], [0, 2]
    )
    change = (1 - 1 / math.log2(3)) / 1.01
    push = change / (1 + math.exp(-1))
    scale = math.log2(1 + 2 * push) / (2 * push)
    assert value == pytest.approx(scale * change * math.log1p(math.e))
    np.testing.assert_allclose(gradient, [-scale * push, scale * push])


def test_normalize_is_true_or_false():
    with pytest.raises(ParameterError, match="normalize=1; it must be True or False"):
        make_loss("lambdarank", normalize=1)


def test_pairs_below_the_cut_are_not_pushed():
    scores, y = [5.0, 4.0, 3.0, 2.0], [1, 0, 0, 1]
    _, gradient = make_loss("lambdarank", metric="ndcg@1").value_and_gradient(scores, y, [0, 4])
    assert gradient[1] > 0  # against the first
    _, gradient = make_loss("lambdarank", metric="mrr@1").value_and_gradient(scores, y, [0, 4])
    assert gradient[3] == 0  # the first is relevant already


def test_weights_multiply():
    scores, y = np.array([0.3, 1.2, -0.4]), np.array([1.0, 0.0, 2.0])
    plain = [make_loss("lambdarank").value_and_gradient(scores[[i, j]], y[[i, j]], [0, 2])[0] for i, j in ((0, 1),)]
    heavy = make_loss("lambdarank").value_and_gradient(scores[:2], y[:2], [0, 2], weights=[2, 3])[0]
    assert heavy == pytest.approx(6 * plain[0])


@pytest.mark.parametrize("metric", METRICS)
def test_curvature_is_the_second_derivative(metric):
    rng = np.random.default_rng(2)
    scores, y = rng.normal(size=9), rng.integers(0, 4, 9)
    loss = make_loss("lambdarank", metric=metric)
    steps = 1e-5 * np.eye(9)
    slopes = (
        loss.value_and_gradient(scores + steps, y, [0, 9])[1] - loss.value_and_gradient(scores - steps, y, [0, 9])[1]
    )
    np.testing.assert_allclose(loss.curvature(scores, y, [0, 9]), np.diag(slopes) / 2e-5, rtol=1e-6, atol=1e-9)
