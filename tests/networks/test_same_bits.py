"""The same bits on 1, 2 and 8 threads, whether they share the blocks of one network or several networks."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import ordino.threads
from ordino import Dataset, DeepNet, RankNet
from ordino.losses import make_loss
from ordino.networks import nets
from ordino.networks.autoencoders import stacked_autoencoders
from ordino.networks.learning_sets import LearningSet
from ordino.networks.nets import RowNet
from ordino.networks.pair_net import CHUNK, PairNet
from ordino.networks.rates import Schedule
from ordino.networks.supply import ComparedPairs, QueryBatches
from ordino.networks.training import Learner, train

THREADS = (1, 2, 8)
RNG = np.random.default_rng(0)
WIDE = Dataset(RNG.normal(size=(10_000, 700)), RNG.integers(0, 3, 10_000), np.repeat(np.arange(100), 100))
LONG = Dataset(RNG.normal(size=(400, 20)), RNG.integers(0, 3, 400), np.repeat(np.arange(4), 100))
MANY_PAIRS = LearningSet(RNG.integers(0, 400**2, 40_000), RNG.choice([0.0, 0.5, 1.0], 40_000))
SHAPES = {"activation": "tanh", "initializer": "glorot", "dropout": 0.3}


ALL_QUERIES = QueryBatches(WIDE, make_loss("ranknet"), batch=None)


def row_learner(seed=0):
    net = RowNet([700, 40, 20, 1], seed=seed, output_bias=False, **SHAPES)
    return Learner(net, ALL_QUERIES, Schedule(3, 0.01, l2=0.1))


def pair_learner(seed=0, shared=True, input_dropout=0.2):
    net = PairNet(20, (16, 8), seed=seed, shared=shared, input_dropout=input_dropout, **SHAPES)
    return Learner(net, ComparedPairs(LONG.X, MANY_PAIRS), Schedule(3, 0.01, l2=0.1))


def trained(make, n_jobs):
    """What one network learns, with so many threads for us and for the products of numpy."""
    learner = make()
    with threadpool_limits(n_jobs, "blas"):
        train([learner], 3, n_jobs=n_jobs)
    return learner.net.theta


@pytest.fixture
def threads_used(monkeypatch):
    """The threads that work on blocks of a step."""
    seen = set()
    original = ordino.threads._share

    def spy(pool, n_others, work, blocks):
        seen.update({1 + n_others} if len(blocks) > 1 else ())
        return original(pool, n_others, work, blocks)

    monkeypatch.setattr(ordino.threads, "_share", spy)
    return seen


@pytest.mark.parametrize("make", [row_learner, pair_learner, lambda: pair_learner(shared=False)])
def test_threads_that_share_a_network(make, threads_used):
    alone, *others = (trained(make, n_jobs) for n_jobs in THREADS)
    assert threads_used == {2, 8}
    assert not np.array_equal(alone, make().net.theta)
    assert all(np.array_equal(alone, one) for one in others)


@pytest.mark.parametrize("make", [row_learner, pair_learner])
def test_networks_side_by_side_are_the_networks_alone(make):
    alone = []
    for seed in (3, 5):
        learner = make(seed)
        train([learner], 3, n_jobs=2)
        alone.append(learner.net.theta)
    for n_jobs in THREADS:
        together = [make(seed) for seed in (3, 5)]
        train(together, 3, n_jobs=n_jobs)
        assert all(np.array_equal(one, learner.net.theta) for one, learner in zip(alone, together, strict=True))


def test_a_fit_of_ranknet(monkeypatch, threads_used):
    """RankNet has no n_jobs: it takes all processors."""
    learned = []
    for n_threads in THREADS:
        monkeypatch.setattr(ordino.threads, "count_threads", lambda n_jobs, n=n_threads, **_: n)
        with threadpool_limits(n_threads, "blas"):
            learned.append(RankNet(hidden=(32, 16), epochs=2, batch=None, dropout=0.2, scaling=None).fit(WIDE).layers_)
    assert threads_used == {2, 8}
    for layer in range(3):
        assert len({one[layer].W.tobytes() + one[layer].b.tobytes() for one in learned}) == 1


def test_a_fit_of_deepnet(threads_used):
    learned = []
    for n_jobs in THREADS:
        ranker = DeepNet(hidden=(8, 4), epochs=3, batch=None, n_jobs=n_jobs, scaling=None)
        with threadpool_limits(n_jobs, "blas"):
            learned.append(ranker.fit(LONG).network_)
    assert threads_used == {2, 8}
    assert len({one.activations(LONG.X[:50], LONG.X[50:100])[-1].tobytes() for one in learned}) == 1
    assert len({one.deeper[0].W.tobytes() for one in learned}) == 1


def test_repeats_of_deepnet():
    for n_jobs in (1, 2):
        ranker = DeepNet(hidden=(8, 4), epochs=2, n_pairs=3000, scaling=None, n_jobs=n_jobs)
        for seed, repeat in zip((3, 5), ranker.fit_repeats(LONG, [3, 5]), strict=True):
            alone = ranker.with_seed(seed).fit(LONG)
            assert np.array_equal(repeat.network_.deeper[0].W, alone.network_.deeper[0].W)


def test_autoencoders(monkeypatch):
    monkeypatch.setattr(nets, "WORTH_THREADS", 0)
    monkeypatch.setattr(nets, "LEAST_ROWS", 100)
    learned = []
    for n_threads in THREADS:
        monkeypatch.setattr(ordino.threads, "count_threads", lambda n_jobs, n=n_threads, **_: n)
        rows = MANY_PAIRS.rows(400)[:, :1000]
        kind = {"shared": True, "activation": "tanh", "seed": 0}
        layers = stacked_autoencoders(LONG.X, rows, (8, 4), schedule=Schedule(2, 0.01, optimizer="adam"), **kind)
        learned.append(layers[1].W.tobytes())
    assert len(set(learned)) == 1


def test_there_are_several_chunks_and_blocks():
    assert MANY_PAIRS.n_pairs > 2 * CHUNK
    assert len(WIDE.X) > 2 * nets.LEAST_ROWS
