"""Networks, rates, optimizers and the training loop, each against arithmetic, torch or finite differences."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from ordino import Dataset
from ordino import layers as plain
from ordino.layers import INITIALIZERS, Layer, forward
from ordino.losses import make_loss, pair_loss
from ordino.networks import fields
from ordino.networks.learning_sets import LearningSet
from ordino.networks.nets import ACTIVATIONS, ScoringNets, dropout_mask
from ordino.networks.rates import Rates, Schedule, adaptive, constant, halve
from ordino.networks.supply import PairBatches, QueryBatches
from ordino.networks.training import OPTIMIZERS, train
from ordino.testing import easy_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 4)).astype(np.float32)


def make_network(seeds=(0,), widths=(4, 6, 5), activation="tanh", initializer="glorot", dropout=0.0):
    return ScoringNets(widths, activation=activation, initializer=initializer, dropout=dropout, seeds=seeds)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_plain_arrays_score_like_torch(activation):
    network = make_network(activation=activation)
    expected = network(torch.from_numpy(X)).detach().numpy()[0]
    np.testing.assert_allclose(forward(X, network.layers(0), activation), expected, rtol=2e-4, atol=2e-5)


def test_tables_for_torch_and_without_it_have_the_same_names():
    assert set(ACTIVATIONS) == set(plain.ACTIVATIONS)
    assert set(OPTIMIZERS) == set(fields.OPTIMIZERS)


def test_networks_of_a_batch_are_the_networks_alone():
    together = make_network(seeds=(3, 5))(torch.from_numpy(X)).detach().numpy()
    for row, seed in zip(together, (3, 5), strict=True):
        np.testing.assert_allclose(row, make_network(seeds=(seed,))(torch.from_numpy(X)).detach().numpy()[0], atol=1e-6)


def test_a_score_does_not_depend_on_its_neighbors():
    network = make_network(widths=(4, 33, 17), activation="relu")
    scores = forward(X, network.layers(0), "relu")
    for rows in (slice(0, 1), slice(7, 90), slice(255, 600), slice(699, 700)):
        np.testing.assert_allclose(forward(X[rows], network.layers(0), "relu"), scores[rows], rtol=1e-5, atol=1e-6)


def test_the_published_start_is_zero_but_for_the_last_layer():
    first, last = make_network(widths=(4, 10), initializer="ranknet").layers(0)
    assert (first.W == 0).all()
    assert 0 < np.abs(last.W).max() <= 0.1


@pytest.mark.parametrize(("name", "variance"), [("uniform", 1 / 300), ("glorot", 2 / 400), ("he", 2 / 100)])
def test_spread_of_first_weights(name, variance):
    W = INITIALIZERS[name](np.random.default_rng(0), 100, 300, False)
    assert W.var() == pytest.approx(variance, rel=0.05)


def test_dropout_drops_its_share_and_keeps_the_mean():
    mask = dropout_mask(torch.zeros(400, 400), 0.25, np.random.default_rng(0)).numpy()
    assert set(np.unique(mask)) == {0.0, np.float32(4 / 3)}
    assert (mask == 0).mean() == pytest.approx(0.25, abs=0.01)


def test_dropout_acts_in_training_alone():
    network = make_network(dropout=0.5)
    still = network(torch.from_numpy(X))
    assert torch.equal(still, network(torch.from_numpy(X)))
    assert not torch.equal(still, network(torch.from_numpy(X), training=True))


@pytest.mark.parametrize(
    ("ours", "theirs"), [("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW), ("descent", torch.optim.SGD)]
)
def test_optimizers_step_like_those_of_torch(ours, theirs):
    p = torch.ones(1, 2, 3, requires_grad=True)
    q = torch.ones(1, 2, 3, requires_grad=True)
    take_step, reference = OPTIMIZERS[ours]([p], 0.1), theirs([q], lr=0.01, weight_decay=0.1)
    for step in range(5):
        gradient = torch.arange(6.0).view(1, 2, 3) - step
        p.grad, q.grad = gradient.clone(), gradient.clone()
        take_step(torch.tensor([0.01]))
        reference.step()
    torch.testing.assert_close(p, q)


def test_each_network_of_a_batch_has_its_own_rate():
    p = torch.ones(2, 1, 1, requires_grad=True)
    p.grad = torch.ones(2, 1, 1)
    OPTIMIZERS["descent"]([p], 0.0)(torch.tensor([0.5, 0.0]))
    assert p.flatten().tolist() == [0.5, 1.0]


def test_halving_is_for_the_networks_whose_error_rose():
    rates = Rates(0.8, 2)
    for errors in ([1.0, 1.0], [0.9, 1.1], [0.8, 1.2]):
        halve(rates, np.array(errors))
    assert rates.now.tolist() == [0.8, 0.8 / 2 / 2]


def test_adaptive_rate_gives_up_restoring_after_ten_times():
    rates = Rates(1.0, 1)
    adaptive(rates, np.array([1.0]))
    restored = [bool(adaptive(rates, np.array([2.0]))[0]) for _ in range(11)]
    assert restored == [True] * 10 + [False]
    assert rates.now[0] == pytest.approx(1e-6 if 0.3**10 < 1e-6 else 0.3**10)


def test_adaptive_rate_lets_a_small_rise_pass():
    rates = Rates(1.0, 1)
    adaptive(rates, np.array([1.0]))
    assert not adaptive(rates, np.array([1.04]))[0]
    assert rates.now[0] == 1.0


def test_a_constant_rate_is_constant():
    rates = Rates(0.3, 1)
    assert not constant(rates, np.array([9.0]))[0]
    assert rates.now.tolist() == [0.3]


@pytest.mark.parametrize("batch", [None, 1, 5, 100])
def test_an_epoch_has_every_query_once(batch):
    data = easy_data()
    supply = QueryBatches(data, make_loss("ranknet"), batch=batch)
    rng = np.random.default_rng(0)
    for _ in range(3):
        batches = list(supply.epoch(rng))
        assert sum(b.share for b in batches) == pytest.approx(1)
        seen = np.concatenate([b.X.numpy() for b in batches])
        assert sorted(map(tuple, seen.tolist())) == sorted(map(tuple, data.X.tolist()))


def test_gradient_of_pairs_equals_finite_differences():
    preferences = LearningSet(np.array([(0, 1), (2, 1), (0, 2), (1, 0)]), np.array([1.0, 0.7, 0.5, 0.2]))
    supply = PairBatches(X[:3], preferences, pair_loss("ranknet"), batch=10)
    (batch,) = supply.epoch(np.random.default_rng(0))
    scores = np.array([[0.3, -0.2, 1.1]])
    _, gradient = batch.loss(scores)
    for i in range(3):
        step = np.zeros((1, 3))
        step[0, i] = 1e-6
        slope = (batch.loss(scores + step)[0] - batch.loss(scores - step)[0]) / 2e-6
        assert gradient[0, i] == pytest.approx(slope[0], abs=1e-7)


def trained(network, data, judge=None, loss="ranknet", batch=4, **schedule):
    supply = QueryBatches(data, make_loss(loss), batch=batch)
    return train(network, supply, Schedule(**{"epochs": 5, "learning_rate": 0.01} | schedule), quality=judge)


def test_the_best_epoch_is_kept():
    qualities = iter([0.1, 0.5, 0.3, 0.2, 0.4])
    snapshots = []

    def judge(network):
        snapshots.append(network.layers(0))
        return np.array([next(qualities)])

    (result,) = trained(make_network(), easy_data(), judge)
    assert result.best_epoch == 2
    assert all((kept.W == seen.W).all() for kept, seen in zip(result.layers, snapshots[1], strict=True))
    assert [row["valid"] for row in result.history] == [0.1, 0.5, 0.3, 0.2, 0.4]


def test_patience_ends_training():
    (result,) = trained(make_network(), easy_data(), lambda network: np.array([0.5]), epochs=50, patience=3)
    assert len(result.history) == 1 + 3


def test_each_network_ends_and_keeps_its_best_on_its_own():
    epochs = iter(range(1, 50))

    def judge(network):
        return np.array([min(next(epochs), 5), 0.5])  # the first improves for five epochs, the second for one

    first, second = trained(make_network(seeds=(0, 1)), easy_data(), judge, epochs=50, patience=2)
    assert (first.best_epoch, second.best_epoch) == (5, 1)
    assert (len(first.history), len(second.history)) == (5 + 2, 1 + 2)


def test_the_error_of_an_epoch_is_the_mean_over_queries_however_they_are_batched():
    still = {"loss": "listnet", "epochs": 1, "learning_rate": 1e-9}
    (whole,), (batched,) = (trained(make_network(), easy_data(), batch=batch, **still) for batch in (None, 5))
    assert batched.history[0]["error"] == pytest.approx(whole.history[0]["error"], rel=1e-5)  # 5, 5 and 2 queries


@pytest.mark.parametrize("rate", ["constant", "halve", "adaptive"])
def test_full_batches_bring_the_error_down(rate):
    (result,) = trained(
        make_network(), easy_data(), batch=None, epochs=30, rate=rate, optimizer="descent", learning_rate=0.5
    )
    errors = [row["error"] for row in result.history]
    assert errors[-1] < 0.9 * errors[0]


def test_an_error_that_rises_too_far_restores_the_weights():
    network = make_network(activation="identity")
    trained(network, easy_data(), batch=None, epochs=3, rate="adaptive", optimizer="descent", learning_rate=1e4)
    assert np.isfinite(network.layers(0)[0].W).all()
    assert np.abs(network.layers(0)[0].W).max() < 1e6


def test_a_single_step_that_went_too_far_is_undone_as_a_whole():
    """The error of epoch 2 is that of the weights after epoch 1: back to the first weights, not to those."""
    network = make_network(activation="identity")
    first = network.layers(0)
    settings = {"batch": None, "rate": "adaptive", "optimizer": "descent", "learning_rate": 1e4}
    (result,) = trained(network, easy_data(), epochs=2, **settings)
    assert result.history[1]["error"] > result.history[0]["error"]
    assert all((now.W == before.W).all() for now, before in zip(network.layers(0), first, strict=True))


def test_the_history_has_the_rate_of_its_own_epoch():
    (result,) = trained(
        make_network(), easy_data(), batch=None, epochs=8, rate="halve", optimizer="descent", learning_rate=200.0
    )
    rows = result.history
    rose = [after["error"] > before["error"] for before, after in pairwise(rows)]
    assert any(rose)
    assert [after["rate"] / before["rate"] for before, after in pairwise(rows[1:])] == [
        0.5 if one else 1.0 for one in rose[:-1]
    ]


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_penalties_shrink_the_weights(penalty):
    def size(**schedule):
        (result,) = trained(make_network(), easy_data(), epochs=20, optimizer="adam", **schedule)
        return sum(float(np.abs(layer.W).sum()) for layer in result.layers)

    assert size(**{penalty: 0.05}) < 0.8 * size()


def test_ctrl_c_keeps_what_was_learned():
    def judge(network, calls=[]):  # noqa: B006
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return np.array([float(len(calls))])

    (result,) = trained(make_network(), easy_data(), judge)
    assert result.best_epoch == 2


def test_loading_sets_one_network_of_the_batch():
    network = make_network(seeds=(0, 1), widths=(4,))
    network.load(1, [Layer(np.ones((4, 1), np.float32), np.zeros(1, np.float32))])
    scores = network(torch.ones(1, 4)).detach().numpy()
    assert scores[1, 0] == 4
    assert scores[0, 0] != 4


def test_weights_of_documents_reach_the_loss():
    data = easy_data()
    light = Dataset(data.X, data.y, data.qid, weights=np.where(data.qid < 6, 1.0, 0.0))
    half = data.select_queries(np.arange(6))
    (a,) = trained(make_network(), light, batch=None, optimizer="descent", learning_rate=0.1)
    (b,) = trained(make_network(), half, batch=None, optimizer="descent", learning_rate=0.1)
    np.testing.assert_allclose(a.layers[0].W, b.layers[0].W, atol=1e-6)
