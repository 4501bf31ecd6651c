"""Pairwise losses by hand: which pairs, which targets, which averages, which pairs are drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ordino.errors import ParameterError
from ordino.losses import LOSSES, make_loss, pair_loss
from ordino.posteriors import repeat

LN3 = math.log(3)  # a margin of log 3 is a probability of 3/4


@pytest.mark.parametrize(
    ("name", "value", "slope"),
    [
        ("ranknet", -math.log(3 / 4), -1 / 4),
        ("fidelity", 1 - math.sqrt(3 / 4), -1 / 2 * math.sqrt(3 / 4) * 1 / 4),
        ("squared", (1 - 3 / 4) ** 2, -2 * (1 / 4) * (3 / 4 * 1 / 4)),
        ("absolute", 1 - 3 / 4, -(3 / 4 * 1 / 4)),
        ("hinge", 0.0, 0.0),  # log 3 is more than 1
        ("squared-hinge", 0.0, 0.0),
        ("exponential", 1 / 3, -1 / 3),
        ("directranker", 2 * (1 - LN3) ** 2, 2 * -2 * (1 - LN3)),  # the better label is 2
    ],
)
def test_one_pair(name, value, slope):
    got, gradient = make_loss(name).value_and_gradient([5 + LN3, 5.0], [2, 1], [0, 2])
    assert got == pytest.approx(value, abs=1e-15)
    np.testing.assert_allclose(gradient, [slope, -slope], atol=1e-15)
    if name != "directranker":  # there, a single pair knows no labels
        alone, derivative = pair_loss(name)(np.array([LN3]))
        assert alone == pytest.approx(value, abs=1e-15)
        assert derivative == pytest.approx(slope, abs=1e-15)


def test_hinge_of_a_pair_in_the_wrong_order():
    assert make_loss("hinge").value_and_gradient([0.0, 2.0], [1, 0], [0, 2])[0] == 1 + 2
    assert make_loss("squared-hinge").value_and_gradient([0.0, 2.0], [1, 0], [0, 2])[0] == (1 + 2) ** 2


def test_products_of_many_small_probabilities_do_not_vanish():
    """Two hundred pairs with margin -50: each loses log(1 + e^50), and e^-50 to the power 200 is no float."""
    scores, y = [-25.0] * 200 + [25.0], [1] * 200 + [0]
    value, gradient = make_loss("ranknet").value_and_gradient(scores, y, [0, 201])
    assert value == pytest.approx(50 + math.log1p(math.exp(-50)))
    np.testing.assert_allclose(gradient, [-1 / 200] * 200 + [1])


def test_exponential_goes_on_as_its_tangent():
    value, slope = pair_loss("exponential")(np.array([-30.0, -31.0, -1000.0]))
    np.testing.assert_allclose(value, math.exp(30) * np.array([1, 2, 971]))
    np.testing.assert_allclose(slope, -math.exp(30))


@pytest.mark.parametrize(("pairs", "margins"), [("all", [1, 2, 3]), ("neighbors", [1, 2])])
def test_which_pairs(pairs, margins):
    """Scores 0, 1, 3 and labels 0, 1, 3: of neighbors, the lowest and the highest are none."""
    expected = np.mean([math.exp(-m) for m in margins])
    loss = make_loss("exponential", pairs=pairs)
    assert loss.value_and_gradient([3.0, 0.0, 1.0], [3, 0, 1], [0, 3])[0] == pytest.approx(expected)


def test_every_pair_or_every_query_counts_equally():
    """One query has two pairs that lose 0 and 4, the other has one pair that loses 1."""
    data = [2.0, 0.0, 5.0, 0.0, 0.0], [1, 0, 0, 1, 0], [0, 3, 5]
    assert make_loss("hinge", average="pairs").value_and_gradient(*data)[0] == pytest.approx((0 + 4 + 1) / 3)
    assert make_loss("hinge", average="queries").value_and_gradient(*data)[0] == pytest.approx(((0 + 4) / 2 + 1) / 2)


def test_weight_of_a_pair_is_the_product():
    """Pairs that lose 0 and 4 with weights 3 x 1 and 3 x 5."""
    data = [2.0, 0.0, 5.0], [1, 0, 0], [0, 3]
    value, _ = make_loss("hinge").value_and_gradient(*data, weights=[3, 1, 5])
    assert value == pytest.approx((3 * 0 + 15 * 4) / (3 + 15))


def test_ties_are_taught_with_one_half():
    """Eq. 3 at margin log 3 and target 1/2: -log(3)/2 + log(1 + 3); its slope is 3/4 - 1/2."""
    value, gradient = make_loss("ranknet", ties=True).value_and_gradient([LN3, 0.0], [1, 1], [0, 2])
    assert value == pytest.approx(-LN3 / 2 + math.log(4))
    np.testing.assert_allclose(gradient, [1 / 4, -1 / 4])


def test_soft_targets():
    """At the target's own margin the pull is nothing; two labels apart the lemma's target is 9 to 1."""
    _, flat = make_loss("ranknet", target=0.75).value_and_gradient([LN3, 0.0], [4, 1], [0, 2])
    np.testing.assert_allclose(flat, 0, atol=1e-15)
    by_step = make_loss("ranknet", target=0.75, target_by="step")
    _, flat = by_step.value_and_gradient([2 * LN3, 0.0], [3, 1], [0, 2])
    np.testing.assert_allclose(flat, 0, atol=1e-15)
    assert by_step.value_and_gradient([0.0, 0.0], [3, 1], [0, 2])[1][0] == pytest.approx(0.5 - repeat(0.75, 2))


def test_directranker_weighs_by_the_better_label():
    """Neighbors 3-1 and 1-0, both with margin 0: (3 x 1 + 1 x 1) / 2."""
    assert make_loss("directranker").value_and_gradient([0.0] * 3, [0, 1, 3], [0, 3])[0] == pytest.approx((3 + 1) / 2)


def test_ranknet_is_directranker_with_half_tanh_and_cross_entropy():
    """(1 + tanh(m / 2)) / 2 is the logistic function, so cross entropy of that output is RankNet's loss."""
    margins = np.linspace(-8, 8, 33)
    output = np.tanh(margins / 2)
    value, slope = pair_loss("ranknet", of="probability")((1 + output) / 2, 1.0)
    expected, expected_slope = pair_loss("ranknet")(margins)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(slope * (1 - output**2) / 4, expected_slope)


@pytest.mark.parametrize("name", ["ranknet", "fidelity", "squared", "absolute"])
def test_of_probability_is_of_margin(name):
    """The chain rule: dL/dm = dL/dp p (1 - p)."""
    margins, targets = np.linspace(-5, 5, 21), np.linspace(0, 1, 21)
    p = 1 / (1 + np.exp(-margins))
    value, slope = pair_loss(name, of="probability")(p, targets)
    expected, expected_slope = pair_loss(name)(margins, targets)
    np.testing.assert_allclose(value, expected, atol=1e-13)
    np.testing.assert_allclose(slope * p * (1 - p), expected_slope, atol=1e-13)
    edge, steep = pair_loss(name, of="probability")(np.array([0.0, 1.0]), [1.0, 0.0])
    assert np.isfinite(edge).all()
    assert np.isfinite(steep).all()


@pytest.mark.parametrize("name", [name for name, entry in LOSSES.items() if entry.family == "pairwise"])
def test_pair_loss_keeps_shape_and_type_and_is_finite(name):
    margins = np.array([[-1000.0, 0.0], [0.5, 1000.0]], np.float32)
    value, slope = pair_loss(name)(margins, [1.0, 1.0])
    assert value.shape == slope.shape == (2, 2)
    assert value.dtype == slope.dtype == np.float32
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()
    assert name in LOSSES


@pytest.mark.parametrize("activation", ["identity", "tanh", "half-tanh", "softsign"])
def test_activations_of_directranker(activation):
    """At margin 0 every odd output is 0: the loss is (1 - 0)^2; the slope follows by difference."""
    function = pair_loss("directranker", activation=activation)
    value, slope = function(np.array([0.0, 0.3, -0.3]))
    assert value[0] == 1
    up, down = function(np.array([1e-6, 0.3 + 1e-6, -0.3 + 1e-6])), function(np.array([-1e-6, 0.3 - 1e-6, -0.3 - 1e-6]))
    np.testing.assert_allclose(slope, (up[0] - down[0]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pair_loss("listnet"), "unknown pairwise loss 'listnet'"),
        (lambda: pair_loss("hinge", of="score"), "unknown of 'score'"),
        (lambda: pair_loss("hinge", of="probability"), "hinge takes only margins"),
        (lambda: pair_loss("directranker", activation="relu"), "unknown activation"),
        *(
            (lambda wrong=wrong: pair_loss("ranknet")([0.0], wrong), "target has values outside 0 to 1")
            for wrong in (1.5, -0.5, np.nan)
        ),
    ],
)
def test_wrong_use_of_pair_loss_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


@pytest.mark.parametrize("name", ["ranknet", "exponential"])
@pytest.mark.parametrize("parameters", [{}, {"pairs": "neighbors", "average": "queries"}], ids=str)
def test_curvature_is_the_second_derivative(name, parameters):
    rng = np.random.default_rng(2)
    scores, y, offsets = rng.normal(size=14), rng.integers(0, 4, 14), [0, 6, 14]
    weights = rng.random(14)
    loss = make_loss(name, **parameters)
    bend = loss.curvature(scores, y, offsets, weights=weights)
    steps = 1e-5 * np.eye(14)
    _, up = loss.value_and_gradient(scores + steps, y, offsets, weights=weights)
    _, down = loss.value_and_gradient(scores - steps, y, offsets, weights=weights)
    np.testing.assert_allclose(bend, np.diag(up - down) / 2e-5, rtol=1e-6, atol=1e-9)


def test_curvature_of_ties():
    """Three equal scores: every document has two pairs of curvature 1/4 each, of three pairs in all."""
    loss = make_loss("ranknet", ties=True)
    np.testing.assert_allclose(loss.curvature([0.0] * 3, [1, 1, 1], [0, 3]), 2 * 0.25 / 3)
