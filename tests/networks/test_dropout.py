"""Dropout: how many neurons it drops and which, what stays the same on average, and that ranking never drops any."""

import copy
from itertools import combinations

import numpy as np
import pytest
from mask_oracle import next_masks
from torch_oracle import TorchNet

from ordino.networks.nets import Keys, RowNet, threshold_of
from ordino.networks.pair_net import PairNet
from ordino.networks.rates import Schedule
from ordino.networks.supply import Batch, PairBatch
from ordino.networks.training import Learner, train
from ordino.streams import spawned

N_ROWS, WIDTH, SHARE = 1500, 20, 0.25
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 3)).astype(np.float32)
ROWS = Batch(X, lambda outputs: (float((outputs**2).mean()), 2 * outputs / outputs.size), 1.0)
PAIRS = PairBatch(X, RNG.integers(0, N_ROWS**2, N_ROWS), RNG.random(N_ROWS), 1.0)


def row_net(seed=0, dropout=SHARE, **options):
    kind = {"activation": "tanh", "initializer": "glorot"} | options
    return RowNet([3, WIDTH, WIDTH, 1], seed=seed, dropout=dropout, **kind)


def pair_net(seed=0, dropout=SHARE, **options):
    kind = {"activation": "tanh", "initializer": "glorot", "shared": False} | options
    return PairNet(3, [WIDTH, WIDTH], seed=seed, dropout=dropout, **kind)


KINDS = [pytest.param(row_net, ROWS, id="rows"), pytest.param(pair_net, PAIRS, id="pairs")]
each_kind = pytest.mark.parametrize(("make", "batch"), KINDS)


def test_keys_are_the_numbers_of_one_stream():
    """However many are drawn at once: what a seed gives does not change."""
    keys, stream = Keys(3), np.random.Generator(np.random.SFC64(spawned(3, "masks")))
    for _ in range(300):
        assert keys.next() == stream.integers(0, 2**32, 2, np.uint32).tolist()


def masks_of(net):
    """Those of the next step, one for each hidden layer, (n_rows, width) each."""
    return next_masks(net, N_ROWS, of_pairs=isinstance(net, PairNet))[:2]


def correlation(one, other):
    return abs(np.corrcoef(one.ravel(), other.ravel())[0, 1])


@each_kind
def test_dropout_drops_its_share_and_keeps_the_mean(make, batch):
    drawn = [np.concatenate(masks_of(make(seed))) for seed in range(10)]
    np.testing.assert_allclose(np.unique(drawn), [0, 4 / 3])
    assert np.mean(drawn) == pytest.approx(1, abs=0.01)
    for axis in (0, 1):  # no neuron and no row is dropped much more often than another
        spread = np.mean([(masks == 0).mean(axis=axis).std() for masks in drawn])
        assert spread == pytest.approx((SHARE * (1 - SHARE) / drawn[0].shape[axis]) ** 0.5, rel=0.2)


@each_kind
def test_masks_of_steps_seeds_layers_and_neighbors_are_independent(make, batch):
    net, drawn = make(), []
    for _ in range(3):
        drawn += masks_of(net)
        net.error(batch)
    drawn += masks_of(make(seed=1))
    for one, other in combinations(drawn, 2):
        assert correlation(one, other) < 0.03
    assert correlation(drawn[0][1:], drawn[0][:-1]) < 0.03
    assert correlation(drawn[0][:, 1:], drawn[0][:, :-1]) < 0.03


def test_neurons_are_dropped_as_the_masks_say():
    net = row_net(activation="identity")
    net.W[0][:], net.b[0][:] = 0, 1  # every neuron gives 1
    expected = masks_of(net)[0]
    net.error(ROWS)
    np.testing.assert_allclose(net._rooms[0][0], expected, rtol=1e-6)


@each_kind
def test_dropout_acts_in_learning_alone(make, batch):
    net, without = make(), make(dropout=0.0)
    assert net.error(batch, learn=False) == net.error(batch, learn=False) == without.error(batch, learn=False)
    assert net.error(batch) != net.error(batch)
    assert without.error(batch) == without.error(batch)


@pytest.mark.parametrize("hidden", [(WIDTH,), (WIDTH, WIDTH)], ids=["shallow", "deep"])
def test_masks_of_a_step_are_gone_when_it_is_over(hidden):
    kind = {"activation": "tanh", "initializer": "glorot", "shared": True, "seed": 0}
    net, without = PairNet(3, hidden, dropout=SHARE, input_dropout=SHARE, **kind), PairNet(3, hidden, **kind)
    net.error(PAIRS)
    assert net.error(PAIRS, learn=False) == pytest.approx(without.error(PAIRS, learn=False), rel=1e-6)


def test_what_neurons_give_is_the_same_on_average():
    """Neurons that give 1: the slope in a last weight, the mean of what its neuron gives over the rows, is near 1."""
    pull = np.full((N_ROWS, 1), 1 / N_ROWS, np.float32)
    net = row_net(activation="identity")
    net.W[1][:], net.b[1][:] = 0, 1
    means = []
    for _ in range(20):
        net.error(Batch(X, lambda outputs: (0.0, pull), 1.0))
        means.append(net.views(net.slopes)[0][-1].copy())
    np.testing.assert_allclose(np.mean(means, axis=0), 1, atol=0.02)


@each_kind
def test_looking_at_a_network_does_not_change_what_it_drops(make, batch):
    class Same:
        def epoch(self, rng):
            yield batch

    def learned(quality):
        learner = Learner(make(), Same(), Schedule(4, 0.01), quality)
        train([learner], 4)
        return learner.net.theta

    assert np.array_equal(learned(None), learned(lambda net: -net.error(batch, learn=False)))


@each_kind
def test_the_same_neurons_are_dropped_alone_and_among_others(make, batch):
    class Same:
        def epoch(self, rng):
            yield batch

    def learners(seeds):
        return [Learner(make(seed), Same(), Schedule(4, 0.01)) for seed in seeds]

    together = learners([0, 1, 2])
    train(together, 4, n_jobs=2)
    for seed, one in enumerate(together):
        (alone,) = single = learners([seed])
        train(single, 4)
        assert np.array_equal(alone.net.theta, one.net.theta)


def outputs_of(net, codes):
    """What a step makes of the two outputs: an error of the pairs one by one, by the oracle's masks."""
    a, b = np.divmod(codes, N_ROWS)
    masks = next_masks(net, len(codes), of_pairs=True)
    return TorchNet(net)(np.concatenate((X[a], X[b]), axis=1), masks).detach().numpy()


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_swapping_the_documents_swaps_the_outputs_with_masks_on(dropout):
    """DeepNet, eq. 1, in training: the pairs [x, y] and [y, x] of one number have the same masks."""
    net, there = pair_net(dropout=dropout, input_dropout=0.3, shared=True), PAIRS.codes
    net.theta += RNG.normal(0, 0.5, len(net.theta)).astype(np.float32)
    back = there % N_ROWS * N_ROWS + there // N_ROWS
    np.testing.assert_allclose(outputs_of(net, there), outputs_of(net, back)[:, ::-1], atol=1e-5)
    twin = copy.deepcopy(net)
    first = net.error(PAIRS)
    assert twin.error(PairBatch(X, back, 1 - PAIRS.target, 1.0)) == pytest.approx(first, rel=1e-5)
    np.testing.assert_allclose(net.slopes, twin.slopes, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("shared", [True, False])
def test_features_are_dropped_as_the_masks_say(shared):
    """A feature of both documents in a CmpNN; each by itself in a dense network."""
    net = pair_net(dropout=0.0, input_dropout=SHARE, shared=shared)
    mask = next_masks(net, N_ROWS, of_pairs=True)[-1]  # (n_pairs, 2 n_features)
    assert (mask == 0).mean() == pytest.approx(SHARE, abs=0.01)
    assert (mask[:, :3] == mask[:, 3:]).all() == shared
    net.error(PAIRS)
    a, b = np.divmod(PAIRS.codes, N_ROWS)
    first, second = X[a] * mask[:, :3], X[b] * mask[:, 3:]
    expected = (first + second, first - second) if shared else (first, second)
    np.testing.assert_allclose(net._rooms[0].first.rows[:, :, :N_ROWS].swapaxes(1, 2), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("share", [0.1, 0.25, 1 / 3])
def test_the_share_dropped_is_exact(share):
    """2^32 cases to choose from: the share and the scale are right to better than one in a billion."""
    assert int(threshold_of(share)) / 2**32 == pytest.approx(share, abs=1e-9)
    (mask, *_), (kept,) = next_masks(pair_net(dropout=share), N_ROWS, of_pairs=True), {1 / (1 - share)}
    assert mask.max() == pytest.approx(kept, rel=1e-8)
