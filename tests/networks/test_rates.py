"""How the step size changes, against a slow transcription of DeepNet's Algorithm 1."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino.layers import Layer
from ordino.losses import make_loss
from ordino.networks.nets import RowNet
from ordino.networks.rates import Rate, Schedule, adaptive, constant, halve
from ordino.networks.supply import QueryBatches
from ordino.networks.training import Learner, train
from ordino.testing import easy_data


class Algorithm1:
    """The thesis, line by line; R is turned around, as its prose asks for."""

    def __init__(self, eta):
        self.eta, self.repeat = eta, 0

    def restores(self, error_before, error_now):
        r = error_now / error_before  # line 1
        if r < 1:  # lines 2-5
            if self.eta < 1e3:
                self.eta = min(1e3, self.eta * 1.05)
        elif r > 1.05:  # lines 6-15  # noqa: SIM102
            if self.eta > 1e-6 and self.repeat < 10:
                self.repeat += 1
                self.eta = max(1e-6, self.eta * 0.30)
                return True
        self.repeat = 0  # line 16
        return False


ERRORS = st.lists(st.sampled_from([0.1, 0.5, 1.0, 1.04, 1.06, 2.0, 9.0, np.inf]) | st.floats(1e-3, 1e3), max_size=60)
MOSTLY_RISING = st.lists(st.integers(1, 1000).map(float), max_size=60).map(sorted)


@given(first=st.floats(0.01, 100), errors=ERRORS | MOSTLY_RISING, eta=st.sampled_from([1e-6, 2e-6, 0.1, 990.0]))
def test_adaptive_rate_is_algorithm_1(first, errors, eta):
    rate, expected, before = Rate(eta), Algorithm1(eta), first
    assert not adaptive(rate, first)
    for error in errors:
        restored = expected.restores(before, error) if np.isfinite(before) else False
        if not np.isfinite(before) and not np.isfinite(error):
            return  # a ratio of two infinite errors is none
        if not np.isfinite(before):
            expected.restores(1.0, 0.5)  # any number is less than infinity
        assert adaptive(rate, error) == restored
        assert (rate.now, rate.restores) == (expected.eta, expected.repeat)
        before = before if restored else error


class Bowl:
    """A network of one weight w whose error is w^2 / 2, once in every epoch, or what a script says."""

    def __init__(self, script=None):
        self.theta, self.slopes, self.is_weight = np.array([[3.0], [0.0], [1.0]], np.float32)
        self.script = iter(script or ())

    def error(self, batch):
        self.slopes[:] = self.theta
        return next(self.script, float(self.theta[0]) ** 2 / 2)

    def layers(self, theta=None):
        return [Layer((self.theta if theta is None else theta).copy()[None], np.zeros(1, np.float32))]

    def epoch(self, rng):
        yield self

    share = 1.0


def walked(net, eta, n_epochs):
    """The weight after every epoch, and the rows of its history."""
    weights = []
    watch = Learner(
        net, net, Schedule(n_epochs, eta, optimizer="descent", rate="adaptive"),
        quality=lambda one: weights.append(float(one.theta[0])) or 0.0,
    )  # fmt: skip
    train([watch], n_epochs)
    return weights, watch.history


def by_algorithm_1(errors_of, eta, n_epochs):
    """A step, the error after it, Algorithm 1: where every epoch's step leads."""
    rule, w, error, reached = Algorithm1(eta), 3.0, errors_of(3.0), []
    for _ in range(n_epochs):
        reached.append(w - rule.eta * w)
        after = errors_of(reached[-1])
        if not rule.restores(error, after):
            w, error = reached[-1], after
    return reached


@pytest.mark.parametrize("eta", [0.5, 1.9, 2.2, 30.0, 900.0])
def test_full_batches_walk_by_algorithm_1(eta):
    expected = by_algorithm_1(lambda w: w * w / 2, eta, 40)
    weights, history = walked(Bowl(), eta, 40)
    np.testing.assert_allclose(weights, expected, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(
        [row["error"] for row in history[1:]], np.square(expected[:-1]) / 2, rtol=1e-3, atol=1e-9
    )


def test_full_batches_restore_ten_times_in_a_row_and_then_go_on():
    """No epoch is spent on the weights that were restored."""
    script = [1.0] + [2.0] * 12 + [1.5] * 3
    answers = iter(script)
    expected = by_algorithm_1(lambda w: next(answers), 0.9, 15)
    weights, history = walked(Bowl(script), 0.9, 15)
    np.testing.assert_allclose(weights, expected, rtol=1e-4)
    rates = [row["rate"] for row in history]
    np.testing.assert_allclose(rates[:11], 0.9 * 0.3 ** np.minimum(np.arange(11), 12), rtol=1e-6)


@pytest.mark.parametrize("batch", [None, 4])
def test_a_first_epoch_that_is_no_number_is_undone(batch):
    network = make_network(activation="identity")
    first, data = network.theta.copy(), easy_data()
    if batch is None:
        data = data.replace(X=np.where(np.arange(data.n_features) == 0, 3e38, data.X).astype(np.float32))
    settings = {"optimizer": "descent", "rate": "adaptive", "learning_rate": 1e30}
    history = trained(network, data, batch=batch, epochs=1, **settings).history
    assert not np.isfinite(history[0]["error"])
    assert np.array_equal(network.theta, first)


def make_network(activation="tanh"):
    return RowNet([4, 6, 5, 1], seed=0, output_bias=False, activation=activation, initializer="glorot")


def trained(network, data, quality=None, loss="ranknet", batch=4, epochs=5, **schedule):
    supply = QueryBatches(data, make_loss(loss), batch=batch)
    return train([Learner(network, supply, Schedule(epochs, **schedule), quality)], epochs)[0]


def test_halving_is_for_an_error_that_rose():
    rate, used = Rate(0.8), []
    for error in (1.0, 0.9, 1.1, 1.2, 1.2):
        halve(rate, error)
        used.append(rate.now)
    assert used == [0.8, 0.8, 0.4, 0.2, 0.2]


def test_adaptive_rate_gives_up_restoring_after_ten_times():
    rate = Rate(1.0)
    adaptive(rate, 1.0)
    assert [adaptive(rate, 2.0) for _ in range(11)] == [True] * 10 + [False]
    assert rate.now == pytest.approx(0.3**10)


def test_adaptive_rate_stays_between_its_bounds():
    rate = Rate(990.0)
    for error in (1.0, 0.9, 0.8):
        adaptive(rate, error)
    assert rate.now == 1e3
    rate = Rate(2e-6)
    for error in (1.0, 2.0, 2.0):
        adaptive(rate, error)
    assert rate.now == 1e-6


@pytest.mark.parametrize("error", [np.inf, np.nan])
def test_an_error_that_is_no_number_is_a_rise(error):
    rate = Rate(1.0)
    adaptive(rate, 1.0)
    assert adaptive(rate, error)


def test_adaptive_rate_lets_a_small_rise_pass():
    rate = Rate(1.0)
    adaptive(rate, 1.0)
    assert not adaptive(rate, 1.04)
    assert rate.now == 1.0


def test_a_constant_rate_is_constant():
    rate = Rate(0.3)
    assert not constant(rate, 9.0)
    assert rate.now == 0.3


@pytest.mark.parametrize("rate", ["constant", "halve", "adaptive"])
def test_full_batches_bring_the_error_down(rate):
    settings = {"batch": None, "epochs": 30, "rate": rate, "optimizer": "descent", "learning_rate": 0.5}
    errors = [row["error"] for row in trained(make_network(), easy_data(), **settings).history]
    assert errors[-1] < 0.9 * errors[0]


TOO_FAST = {"rate": "adaptive", "optimizer": "descent", "learning_rate": 1e4}


def test_an_error_that_rises_too_far_restores_the_weights():
    network = make_network(activation="identity")
    trained(network, easy_data(), batch=None, epochs=3, **TOO_FAST)
    assert np.isfinite(network.theta).all()
    assert np.abs(network.theta).max() < 1e6


def test_a_single_step_that_went_too_far_is_taken_again_with_a_smaller_rate():
    """The error of epoch 2 is that of the weights after epoch 1: back to the first weights, and on from there."""
    network, slower = make_network(activation="identity"), make_network(activation="identity")
    result = trained(network, easy_data(), batch=None, epochs=2, **TOO_FAST)
    assert result.history[1]["error"] > result.history[0]["error"]
    trained(slower, easy_data(), batch=None, epochs=1, **TOO_FAST | {"learning_rate": 0.3e4})
    np.testing.assert_allclose(network.theta, slower.theta, rtol=1e-6)


def test_an_epoch_of_several_steps_that_went_too_far_is_undone():
    """The error of such an epoch is mostly its own: back to the weights before it."""
    network, seen = make_network(), []

    def quality(network):
        seen.append(network.theta.copy())
        return 0.0

    result = trained(network, easy_data(), quality, batch=4, epochs=6, **TOO_FAST | {"learning_rate": 10.0})
    errors, rates = ([row[name] for row in result.history] for name in ("error", "rate"))
    restored = [i for i in range(1, 5) if rates[i + 1] == pytest.approx(0.3 * rates[i])]
    assert restored
    for i in restored:
        assert errors[i] > 1.05 * min(errors[:i])
        assert np.array_equal(seen[i], seen[i - 1])


def test_the_history_has_the_rate_of_its_own_epoch():
    settings = {"batch": None, "epochs": 8, "rate": "halve", "optimizer": "descent", "learning_rate": 200.0}
    rows = trained(make_network(), easy_data(), **settings).history
    rose = [after["error"] > before["error"] for before, after in pairwise(rows)]
    assert any(rose)
    assert [after["rate"] / before["rate"] for before, after in pairwise(rows[1:])] == [
        0.5 if one else 1.0 for one in rose[:-1]
    ]
