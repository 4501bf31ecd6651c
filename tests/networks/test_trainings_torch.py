"""Whole trainings, step by step, beside the same network in torch with torch's own optimizer."""

import numpy as np
import pytest
from mask_oracle import next_masks
from torch_oracle import TorchNet, distance, torch

from ordino.losses import make_loss
from ordino.networks import autoencoders
from ordino.networks.autoencoders import CodedBatch, Coder
from ordino.networks.learning_sets import LearningSet
from ordino.networks.nets import RowNet
from ordino.networks.optimizers import OPTIMIZERS
from ordino.networks.pair_net import PairNet
from ordino.networks.rates import Schedule
from ordino.networks.supply import ComparedPairs, QueryBatches
from ordino.networks.training import Learner, train
from ordino.testing import easy_data

CLOSE = 1e-4
N_STEPS = 30
THEIRS = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "descent": torch.optim.SGD}
RATES = {"adamw": 0.003, "adam": 0.003, "descent": 0.3}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype(np.float32)
CODES = RNG.integers(0, 1600, 200)
A, B = np.divmod(CODES, 40)
FIRST_FEATURE = LearningSet(CODES, np.where(X[A, 0] > X[B, 0], 0.9, 0.0))


def loss_of_rows(twin, batch, masks):
    """The loss is ours, and its slopes in the outputs are handed to autograd."""
    outputs = twin(batch.X, masks)
    _, slopes = batch.loss(outputs.detach().numpy())
    return (outputs * torch.tensor(slopes, dtype=torch.float64)).sum()


def paces(net, supply, optimizer, *, l1=0.0, l2=0.01, of_pairs, epochs=N_STEPS, error_of=None):
    """Train a network and its twin on the same batches; how far apart they are after every step."""
    twin, rate = TorchNet(net), RATES[optimizer]
    groups = [{"params": twin.W}, {"params": twin.b, "weight_decay": 0.0}]
    reference = THEIRS[optimizer](groups, lr=rate, weight_decay=l2)
    apart = []

    class Watched:
        """A supply that steps the twin with each batch before the network sees it."""

        def epoch(self, rng):
            for batch in supply.epoch(rng):
                if error_of is not None:
                    error = error_of(twin)
                else:
                    masks = next_masks(net, len(batch.codes if of_pairs else batch.X), of_pairs=of_pairs)
                    error = twin.pair_error(batch, "ranknet", masks) if of_pairs else loss_of_rows(twin, batch, masks)
                penalty = sum(W.abs().sum() for W in twin.W)
                reference.zero_grad()
                (error + l1 * penalty).backward()
                reference.step()
                yield batch
                apart.append(distance(net.theta, twin.vector()))

    train([Learner(net, Watched(), Schedule(epochs, rate, optimizer=optimizer, l1=l1, l2=l2))], epochs)
    assert len(apart) >= N_STEPS
    return apart


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_network_of_rows_learns_as_in_torch(optimizer, dropout):
    options = {"activation": "tanh", "initializer": "glorot", "seed": 0, "output_bias": False, "dropout": dropout}
    supply = QueryBatches(easy_data(), make_loss("ranknet"), batch=5)
    net = RowNet([easy_data().n_features, 8, 4, 1], **options)
    first = net.theta.copy()
    apart = paces(net, supply, optimizer, of_pairs=False, epochs=10)
    assert max(apart) < CLOSE
    assert distance(first, net.theta) > 0.02


@pytest.mark.parametrize(("shared", "dropout"), [(True, 0.0), (True, 0.5), (False, 0.25)])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_network_of_pairs_learns_as_in_torch(optimizer, shared, dropout):
    options = {"activation": "tanh", "initializer": "glorot", "seed": 0, "shared": shared, "dropout": dropout}
    net = PairNet(3, (8, 4), loss="ranknet", **options)
    net.theta += np.random.default_rng(1).normal(0, 0.1, len(net.theta)).astype(np.float32)
    first = net.theta.copy()
    apart = paces(net, ComparedPairs(X, FIRST_FEATURE, 70), optimizer, of_pairs=True, epochs=10)
    assert max(apart) < CLOSE
    assert distance(first, net.theta) > 0.02


@pytest.mark.parametrize("shared", [True, False])
def test_an_autoencoder_learns_as_in_torch(shared):
    pairs = np.random.default_rng(1).normal(size=(2, 90, 3)).astype(np.float32)
    rows = np.concatenate(pairs, axis=1)
    batch = CodedBatch(np.stack((pairs[0] + pairs[1], pairs[0] - pairs[1])) if shared else rows[None], 1.0)

    class Same:
        def epoch(self, rng):
            yield batch

    net = Coder(6, 4, shared=shared, activation="sigmoid", seed=0)
    net.theta += np.random.default_rng(1).normal(0, 0.1, len(net.theta)).astype(np.float32)

    def missed(twin):
        return ((twin(rows) - torch.from_numpy(rows)) ** 2).mean()

    assert net.error(batch) == pytest.approx(float(missed(TorchNet(net)).detach()), rel=1e-5)
    assert max(paces(net, Same(), "adam", l2=0.0, of_pairs=False, error_of=missed)) < CLOSE


@pytest.mark.parametrize("shared", [True, False])
def test_an_epoch_of_an_autoencoder_is_its_batches_and_the_steps_of_adam(shared, monkeypatch):
    monkeypatch.setattr(autoencoders, "BATCH", 130)  # the last one is smaller, and neither fills its lanes
    rng = np.random.default_rng(1)
    given = rng.normal(size=(1 + shared, 300, 3 if shared else 6)).astype(np.float32)
    net, slow = (Coder(6, 4, shared=shared, activation="sigmoid", seed=0) for _ in range(2))
    step = OPTIMIZERS["adam"](slow.is_weight, 0.0)
    for _ in range(5):
        order = rng.permutation(300)
        net.learn(given, order, 0.01)
        for some in (order[:130], order[130:260], order[260:]):
            slow.error(CodedBatch(given[:, some], 1.0))
            step(slow.theta, slow.slopes, 0.01)
    assert distance(net.theta, slow.theta) < 1e-5
    assert distance(net.theta, Coder(6, 4, shared=shared, activation="sigmoid", seed=0).theta) > 0.05


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_penalty_of_weights_spares_the_biases(optimizer, penalty):
    net = PairNet(3, (8, 4), activation="tanh", initializer="glorot", seed=0, shared=True)
    net.theta += np.random.default_rng(1).normal(0, 0.1, len(net.theta)).astype(np.float32)
    apart = paces(net, ComparedPairs(X, FIRST_FEATURE), optimizer, of_pairs=True, **{"l2": 0.0} | {penalty: 0.03})
    assert max(apart) < CLOSE


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_optimizers_step_like_those_of_torch(optimizer):
    ours, theirs = np.ones(6, np.float32), torch.ones(6, requires_grad=True)
    take_step, reference = (
        OPTIMIZERS[optimizer](np.ones(6, np.float32), 0.1),
        THEIRS[optimizer]([theirs], lr=0.01, weight_decay=0.1),
    )
    for step in range(5):
        slopes = np.arange(6, dtype=np.float32) - step
        theirs.grad = torch.from_numpy(slopes.copy())
        take_step(ours, slopes, 0.01)
        reference.step()
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-5)


def test_every_optimizer_has_its_twin():
    assert set(OPTIMIZERS) == set(THEIRS)
