"""Slopes of every loss in the weights of every kind of network, against torch's autograd in double precision."""

from itertools import pairwise as neighbors
from itertools import product

import numpy as np
import pytest
from mask_oracle import next_masks
from torch_oracle import TorchNet, distance, torch

from crossed import crossed
from lambda_oracle import lambdarank
from loss_oracles import LIST, pairwise
from ordino import Dataset
from ordino.layers import ACTIVATIONS
from ordino.losses import LOSSES, make_loss, probability_losses
from ordino.networks.autoencoders import CodedBatch, Coder
from ordino.networks.comparing import ACTIVATIONS as PAIR_ACTIVATIONS
from ordino.networks.nets import RowNet
from ordino.networks.pair_net import PairNet
from ordino.networks.supply import Batch, PairBatch, QueryBatches

CLOSE = 1e-5
RNG = np.random.default_rng(0)
DATA = Dataset(RNG.normal(size=(60, 5)), RNG.integers(0, 4, 60), np.repeat(np.arange(6), 10))
PAIRS = PairBatch(
    RNG.normal(size=(90, 3)).astype(np.float32), RNG.integers(0, 8100, 150), RNG.choice([0.0, 0.3, 0.5, 1.0], 150), 1.0
)


def shaken(net):
    """Random biases too: they start at zero."""
    net.theta += np.random.default_rng(1).normal(0, 0.3, len(net.theta)).astype(np.float32)
    return net


def row_net(sizes, **options):
    return shaken(RowNet(sizes, **{"activation": "tanh", "initializer": "glorot", "seed": 0} | options))


def pair_net(hidden, loss, **options):
    kind = {"activation": "tanh", "initializer": "glorot", "seed": 0} | options
    return shaken(PairNet(3, hidden, loss=loss, **kind))


def query_slopes(name, scores):
    """The loss's oracle, query by query, and its slopes in the scores."""
    s = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    parts = [slice(*bounds) for bounds in neighbors(DATA.offsets)]
    if LOSSES[name].family == "lambda":
        each = [lambdarank(scores[part], DATA.y[part], "ndcg@10") for part in parts]
        return sum(value for value, _ in each) / len(parts), np.concatenate([slope for _, slope in each]) / len(parts)
    if LOSSES[name].family == "pairwise":
        sums, weights = zip(*(pairwise(s[part], DATA.y[part], np.ones(10), name) for part in parts), strict=True)
        value = sum(sums) / sum(weights)
    else:
        value = sum(LIST[name](s[part], DATA.y[part]) for part in parts) / len(parts)
    value.backward()
    return value.item(), s.grad.numpy()


@pytest.mark.parametrize("output_bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_of_scores(loss, activation, output_bias):
    net = row_net([5, 6, 4, 1], activation=activation, output_bias=output_bias)
    (batch,) = QueryBatches(DATA, make_loss(loss), None).epoch(np.random.default_rng(0))
    twin = TorchNet(net)
    outputs = twin(DATA.X)
    expected, slopes = query_slopes(loss, outputs.detach().numpy()[:, 0])
    outputs.backward(torch.from_numpy(slopes[:, None]))
    assert net.error(batch) == pytest.approx(expected, rel=1e-5)
    assert distance(net.slopes, twin.vector(slopes=True)) < CLOSE


def pulled(X, n_outputs):
    """A batch whose slopes are random numbers, the same for each of several calls."""
    pull = np.random.default_rng(2).normal(size=(len(X), n_outputs)).astype(np.float32) / len(X)
    return Batch(X, lambda outputs: (float((pull * outputs).sum(dtype=np.float64)), pull), 1.0), pull


@pytest.mark.parametrize("n_rows", [1, 700, 3000])  # one block or several
@pytest.mark.parametrize("output_bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_networks_of_rows(activation, output_bias, n_rows):
    X = np.random.default_rng(3).normal(size=(n_rows, 4)).astype(np.float32)
    for hidden, dropout in product([(), (6,), (8, 4)], [0.0, 0.3]):
        n_outputs = 1 if not output_bias else 4
        options = {"activation": activation, "output_bias": output_bias, "dropout": dropout}
        net = row_net([4, *hidden, n_outputs], **options)
        batch, pull = pulled(X, n_outputs)
        twin, masks = TorchNet(net), next_masks(net, n_rows, of_pairs=False)
        outputs = twin(X, masks)
        outputs.backward(torch.tensor(pull, dtype=torch.float64))
        value = net.error(batch)
        assert value == pytest.approx(float((outputs.detach().numpy() * pull).sum()), rel=1e-4, abs=1e-5)
        assert distance(net.slopes, twin.vector(slopes=True)) < CLOSE, (hidden, dropout)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("activation", PAIR_ACTIVATIONS)
def test_autoencoders(activation, shared):
    pairs = np.random.default_rng(3).normal(size=(2, 50, 3)).astype(np.float32)
    rows = np.concatenate(pairs, axis=1)
    net = shaken(Coder(6, 4, activation=activation, shared=shared, seed=0))
    twin = TorchNet(net)
    error = ((twin(rows) - torch.from_numpy(rows)) ** 2).mean()
    error.backward()
    given = np.stack((pairs[0] + pairs[1], pairs[0] - pairs[1])) if shared else rows[None]
    assert net.error(CodedBatch(given, 1.0)) == pytest.approx(float(error.detach()), rel=1e-5)
    assert distance(net.slopes, twin.vector(slopes=True)) < CLOSE


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("loss", "activation"), crossed(probability_losses(), PAIR_ACTIVATIONS, around=("ranknet", "tanh"))
)
def test_networks_of_pairs(loss, activation, shared):
    for hidden, dropout in product([(6,), (6, 4), (8, 4, 6)], [(0.0, 0.0), (0.3, 0.0), (0.0, 0.3), (0.3, 0.2)]):
        shares = dict(zip(("dropout", "input_dropout"), dropout, strict=True))
        net = pair_net(hidden, loss, activation=activation, shared=shared, **shares)
        twin, masks = TorchNet(net), next_masks(net, len(PAIRS.codes), of_pairs=True)
        expected = twin.pair_error(PAIRS, loss, masks)
        expected.backward()
        assert net.error(PAIRS) == pytest.approx(expected.item(), rel=1e-5)
        assert distance(net.slopes, twin.vector(slopes=True)) < CLOSE, (hidden, dropout)


@pytest.mark.parametrize("n_pairs", [1, 127, 128, 129, 4096, 4097, 20_000])  # around the sizes of blocks and chunks
def test_any_number_of_pairs(n_pairs):
    rng = np.random.default_rng(n_pairs)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    batch = PairBatch(X, rng.integers(0, 300**2, n_pairs), rng.random(n_pairs), 1.0)
    for shared in (True, False):
        net = pair_net((6, 4), "ranknet", shared=shared, dropout=0.25, input_dropout=0.1)
        twin, masks = TorchNet(net), next_masks(net, n_pairs, of_pairs=True)
        expected = twin.pair_error(batch, "ranknet", masks)
        expected.backward()
        assert net.error(batch) == pytest.approx(expected.item(), rel=1e-5)
        assert distance(net.slopes, twin.vector(slopes=True)) < CLOSE


def test_odd_layers_of_a_dense_network():
    net = pair_net((7, 3, 5), "ranknet", activation="softplus")
    twin = TorchNet(net)
    twin.pair_error(PAIRS, "ranknet").backward()
    net.error(PAIRS)
    assert distance(net.slopes, twin.vector(slopes=True)) < CLOSE


def test_a_step_after_another_starts_from_nothing():
    """Rooms are used again: what an earlier, larger batch or an evaluation left there must not be seen."""
    few = PairBatch(PAIRS.X[:20], np.arange(0, 400, 9), np.ones(45), 1.0)
    net = pair_net((6, 4), "ranknet", activation="relu", shared=True)
    twin = TorchNet(net)
    twin.pair_error(few, "ranknet").backward()
    for batch, learn in ((PAIRS, True), (few, True), (PAIRS, False), (few, True)):
        net.error(batch, learn=learn)
        if batch is few:
            assert distance(net.slopes, twin.vector(slopes=True)) < CLOSE
