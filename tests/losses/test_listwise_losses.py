"""Listwise losses by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ordino.errors import DataError
from ordino.losses import make_loss

LN2, LN3 = math.log(2), math.log(3)


def test_listnet():
    """Labels log 3 and 0 say that the first comes first with 3/4; the scores say 1/2."""
    value, gradient = make_loss("listnet").value_and_gradient([7.0, 7.0], [LN3, 0], [0, 2])
    assert value == pytest.approx(LN2)
    np.testing.assert_allclose(gradient, [1 / 2 - 3 / 4, 1 / 2 - 1 / 4])


def test_softmax():
    """Labels 3 and 1 are shares of 3/4 and 1/4; as exponential gains 7 and 1 they are 7/8 and 1/8."""
    _, gradient = make_loss("softmax").value_and_gradient([0.0, 0.0], [3, 1], [0, 2])
    np.testing.assert_allclose(gradient, [1 / 2 - 3 / 4, 1 / 2 - 1 / 4])
    _, gradient = make_loss("softmax", gain="exponential").value_and_gradient([0.0, 0.0], [3, 1], [0, 2])
    np.testing.assert_allclose(gradient, [1 / 2 - 7 / 8, 1 / 2 - 1 / 8])


def test_listmle_without_ties_is_the_likelihood_of_the_order():
    """Equal scores: the best of three is first with 1/3, the next with 1/2, the last with 1."""
    value, gradient = make_loss("listmle").value_and_gradient([4.0] * 3, [2, 1, 0], [0, 3])
    assert value == pytest.approx(math.log(3) + math.log(2) + 0)
    np.testing.assert_allclose(gradient, [1 / 3 - 1, 1 / 3 + 1 / 2 - 1, 1 / 3 + 1 / 2])


def test_listmle_does_not_set_equal_labels_against_each_other():
    """Two of label 1 above one of label 0: each wins against that one with 1/2."""
    value, gradient = make_loss("listmle").value_and_gradient([0.0] * 3, [1, 1, 0], [0, 3])
    assert value == pytest.approx(2 * LN2)
    np.testing.assert_allclose(gradient, [-1 / 2, -1 / 2, 1])


def test_rankcosine():
    """Labels (1, 0) and scores (1, 1) are 45 degrees apart; scores (5, 0) are not apart at all."""
    loss = make_loss("rankcosine", smoothing=0)
    assert loss.value_and_gradient([1.0, 1.0], [1, 0], [0, 2])[0] == pytest.approx((1 - math.sqrt(1 / 2)) / 2)
    assert loss.value_and_gradient([5.0, 0.0], [1, 0], [0, 2])[0] == pytest.approx(0)
    value, gradient = loss.value_and_gradient([0.0, 0.0], [1, 0], [0, 2])
    assert (value, gradient.tolist()) == (0.5, [0, 0])


def test_rankcosine_leaves_zero_by_its_smoothing():
    """At 0 the gradient is -y / (2 |y| sqrt(smoothing))."""
    _, gradient = make_loss("rankcosine", smoothing=0.25).value_and_gradient([0.0, 0.0], [3, 4], [0, 2])
    np.testing.assert_allclose(gradient, [-3 / 5, -4 / 5])


def test_approx_ndcg_of_scores_far_apart_is_ndcg():
    """Gains 1 and 3 at ranks 1 and 2: DCG is 1 + 3 / log2(3), at best 3 + 1 / log2(3)."""
    value, _ = make_loss("approx-ndcg").value_and_gradient([100.0, 0.0], [1, 2], [0, 2])
    assert value == pytest.approx(1 - (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))


def test_approx_ndcg_of_equal_scores():
    """Both ranks are 1.5; label 1 has the only gain."""
    value, _ = make_loss("approx-ndcg").value_and_gradient([0.0, 0.0], [1, 0], [0, 2])
    assert value == pytest.approx(1 - 1 / math.log2(2.5))


def test_approx_ndcg_weighs_gains():
    """Label 1 with weight 3 is worth what label 2 is, so equal scores are as good either way."""
    value, _ = make_loss("approx-ndcg").value_and_gradient([9.0, 0.0, -9.0], [1, 2, 0], [0, 3], weights=[3, 1, 1])
    assert value == pytest.approx(0)


@pytest.mark.parametrize("name", ["listnet", "softmax", "listmle"])
def test_curvature_is_the_second_derivative(name):
    rng = np.random.default_rng(2)
    scores, y, offsets = rng.normal(size=14), rng.integers(0, 4, 14), [0, 6, 14]
    loss = make_loss(name)
    bend = loss.curvature(scores, y, offsets)
    steps = 1e-5 * np.eye(14)
    slopes = loss.value_and_gradient(scores + steps, y, offsets)[1] - loss.value_and_gradient(
        scores - steps, y, offsets
    )[1]  # fmt: skip
    np.testing.assert_allclose(bend, np.diag(slopes) / 2e-5, rtol=1e-6, atol=1e-9)


def test_labels_of_hundreds_do_not_overflow():
    for name in ("listnet", "softmax", "approx-ndcg", "lambdarank"):
        gain = {} if name == "listnet" else {"gain": "exponential"}
        value, gradient = make_loss(name, **gain).value_and_gradient([0.0, 1.0, 2.0], [3000, 2999, 0], [0, 3])
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
        assert gradient[2] > 0


def test_weighted_documents_are_drawn_again_so_that_there_are_more_terms():
    """Seven of eleven documents in a row: 11! / 4! terms, but 11^7 where one of weight 2 may come twice."""
    loss, y = make_loss("listnet", k=7), np.arange(11.0)
    loss.prepare(y, [0, 11])
    loss.prepare(y, [0, 11], np.ones(11))
    with pytest.raises(DataError, match="with k=7 is a sum of more than 10,000,000 terms"):
        loss.prepare(y, [0, 11], np.full(11, 2.0))
