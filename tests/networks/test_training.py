"""The training loop, its rates and supplies, each against arithmetic or finite differences."""

import threading
import time

import numpy as np
import pytest

from ordino import Dataset, RankNet
from ordino.errors import ParameterError
from ordino.judge import Judge
from ordino.layers import ACTIVATIONS, INITIALIZERS, Layer, forward
from ordino.losses import make_loss, pair_loss
from ordino.networks import fields
from ordino.networks.kernels import SLOPES
from ordino.networks.learning_sets import LearningSet
from ordino.networks.nets import RowNet
from ordino.networks.optimizers import OPTIMIZERS
from ordino.networks.rates import Schedule
from ordino.networks.supply import Batch, QueryBatches, ScoredPairs, Slices
from ordino.networks.training import Learner, QualityByMetric, train
from ordino.testing import easy_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 4)).astype(np.float32)


def make_network(seed=0, widths=(4, 6, 5), activation="tanh", initializer="glorot", dropout=0.0):
    kind = {"activation": activation, "initializer": initializer, "dropout": dropout}
    return RowNet([*widths, 1], seed=seed, output_bias=False, **kind)


def outputs(net, rows=X):
    """What a network gives for rows, (n_rows, n_outputs)."""
    seen = []

    def keep(given):
        seen.append(given.copy())
        return 0.0, given

    net.error(Batch(rows, keep, 1.0), learn=False)
    return seen[0]


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_plain_arrays_score_like_the_network(activation):
    network = make_network(activation=activation)
    expected = outputs(network)[:, 0]
    np.testing.assert_allclose(forward(X, network.layers(), activation), expected, rtol=2e-4, atol=2e-5)


def test_tables_of_activations_and_optimizers_have_the_same_names():
    assert set(SLOPES) == set(ACTIVATIONS)
    assert set(OPTIMIZERS) == set(fields.OPTIMIZERS)


def test_a_score_does_not_depend_on_its_neighbors():
    network = make_network(widths=(4, 33, 17), activation="relu")
    scores = forward(X, network.layers(), "relu")
    for rows in (slice(0, 1), slice(7, 90), slice(255, 600), slice(699, 700)):
        np.testing.assert_allclose(forward(X[rows], network.layers(), "relu"), scores[rows], rtol=1e-5, atol=1e-6)


def test_a_document_alone_in_the_last_block_has_the_bits_that_it_has_alone(monkeypatch):
    monkeypatch.setattr("ordino.layers.BLOCK", 7)
    layers = make_network(widths=(4, 33, 17), activation="relu").layers()
    for n in range(1, 700, 7):
        assert forward(X[:n], layers, "relu")[-1] == forward(X[n - 1 : n], layers, "relu")[0]


def test_batches_of_any_size_follow_each_other():
    """What a network works in is kept from step to step, and grows with the largest batch, row by row."""
    network = make_network()
    for n_rows in (5, 6, 7, 3, 8):
        batch = Batch(X[:n_rows], lambda outputs: (float((outputs**2).sum()), 2 * outputs), 1.0)
        fresh = make_network()
        assert network.error(batch) == fresh.error(batch)
        np.testing.assert_array_equal(network.slopes, fresh.slopes)


def test_the_published_start_is_zero_but_for_the_last_layer():
    first, last = make_network(widths=(4, 10), initializer="ranknet").layers()
    assert (first.W == 0).all()
    assert 0 < np.abs(last.W).max() <= 0.1


@pytest.mark.parametrize(
    ("name", "variance"), [("uniform", 1 / 300), ("glorot", 2 / 400), ("he", 2 / 100), ("he-normal", 2 / 100)]
)
def test_spread_of_first_weights(name, variance):
    W = INITIALIZERS[name](np.random.default_rng(0), 100, 300, False)
    assert W.var() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize("last", [False, True])
def test_he_is_uniform_and_the_same_in_every_layer(last):
    """DeepNet, 4.3.1: within sqrt(6 / inputs), 0.261 for two documents of 44 features."""
    W = INITIALIZERS["he"](np.random.default_rng(0), 88, 1000, last)
    assert np.abs(W).max() == pytest.approx(0.2611, abs=1e-4)
    shares, _ = np.histogram(W, bins=10, range=(-0.2612, 0.2612))
    np.testing.assert_allclose(shares / W.size, 0.1, atol=0.005)


def test_biases_are_no_weights():
    net = RowNet([4, 6, 5, 2], activation="tanh", initializer="unit", seed=0)
    assert net.is_weight.sum() == 4 * 6 + 6 * 5 + 5 * 2
    assert ((net.theta != 0) == (net.is_weight == 1)).all()  # biases start at zero


@pytest.mark.parametrize("batch", [None, 1, 5, 100])
def test_an_epoch_has_every_query_once(batch):
    data = easy_data()
    supply = QueryBatches(data, make_loss("ranknet"), batch=batch)
    rng = np.random.default_rng(0)
    for _ in range(3):
        batches = list(supply.epoch(rng))
        assert sum(b.share for b in batches) == pytest.approx(1)
        seen = np.concatenate([b.X for b in batches])
        assert sorted(map(tuple, seen.tolist())) == sorted(map(tuple, data.X.tolist()))


def test_the_first_cut_moves_from_epoch_to_epoch():
    rng, slices = np.random.default_rng(0), Slices(10, 4)
    assert {dict(slices.epoch(rng))[0] for _ in range(40)} == {1, 2, 3, 4}


def test_gradient_of_pairs_equals_finite_differences():
    pairs, target = np.array([(0, 1), (2, 1), (0, 2), (1, 0)]), np.array([1.0, 0.7, 0.5, 0.2])
    supply = ScoredPairs(X[:3], LearningSet.of(pairs, target, 3), pair_loss("ranknet"), batch=10)
    (batch,) = supply.epoch(np.random.default_rng(0))
    scores = np.array([[0.3], [-0.2], [1.1]])
    _, slopes = batch.loss(scores)
    for i in range(3):
        step = np.zeros((3, 1))
        step[i] = 1e-6
        slope = (batch.loss(scores + step)[0] - batch.loss(scores - step)[0]) / 2e-6
        assert slopes[i, 0] == pytest.approx(slope, abs=1e-7)


def test_of_given_pairs_a_tie_is_half_wrong_and_undecided_ones_do_not_count():
    scores, pairs = np.array([2.0, 1.0, 1.0, 0.0]), np.array([[0, 1], [1, 2], [0, 3], [2, 1]])
    supply = ScoredPairs(X[:4], LearningSet.of(pairs, np.array([1.0, 0.9, 0.2, 0.5]), 4), pair_loss("ranknet"), None)
    assert supply.wrong_pairs(scores) == (0 + 0.5 + 1) / 3
    undecided = ScoredPairs(X[:4], LearningSet.of(pairs, np.full(4, 0.5), 4), pair_loss("ranknet"), None)
    assert undecided.wrong_pairs(scores) == 0


def test_a_step_of_given_pairs_sees_their_documents_alone():
    pairs = np.array([(5, 9), (9, 2), (600, 5)])
    supply = ScoredPairs(X, LearningSet.of(pairs, np.ones(3), len(X)), pair_loss("ranknet"), batch=None)
    (batch,) = supply.epoch(np.random.default_rng(0))
    assert np.array_equal(batch.X, X[[2, 5, 9, 600]])


def test_a_pair_counts_by_its_weight_among_all_pairs_whatever_its_batch():
    pairs, weights = LearningSet.of(np.array([(5, 9), (9, 2)]), np.ones(2), len(X)), np.array([1.0, 3.0])
    supply = ScoredPairs(X, pairs, pair_loss("ranknet"), batch=1, weights=weights)
    values = [batch.loss(np.zeros((2, 1), np.float32))[0] for batch in supply.epoch(np.random.default_rng(0))]
    np.testing.assert_allclose(sorted(values), np.array([1 / 2, 3 / 2]) * np.log(2))


def learner(network, data, quality=None, loss="ranknet", batch=4, **schedule):
    supply = QueryBatches(data, make_loss(loss), batch=batch)
    return Learner(network, supply, Schedule(**{"epochs": 5, "learning_rate": 0.01} | schedule), quality)


def trained(network, data, quality=None, **settings):
    one = learner(network, data, quality, **settings)
    return train([one], settings.get("epochs", 5))[0]


def test_the_best_epoch_is_kept():
    qualities = iter([0.1, 0.5, 0.3, 0.2, 0.4])
    snapshots = []

    def quality(network):
        snapshots.append(network.layers())
        return next(qualities)

    result = trained(make_network(), easy_data(), quality)
    assert result.best_epoch == 2
    assert all((kept.W == seen.W).all() for kept, seen in zip(result.layers, snapshots[1], strict=True))
    assert [row["valid"] for row in result.history] == [0.1, 0.5, 0.3, 0.2, 0.4]


def test_the_last_epoch_is_kept_where_nothing_judges():
    network = make_network()
    result = trained(network, easy_data())
    assert result.best_epoch == 5
    assert all((kept.W == last.W).all() for kept, last in zip(result.layers, network.layers(), strict=True))
    assert [sorted(row) for row in result.history] == [["epoch", "error", "rate"]] * 5
    assert [row["epoch"] for row in result.history] == [1, 2, 3, 4, 5]
    assert {type(row["error"]) for row in result.history} == {float}


def test_patience_ends_training():
    result = trained(make_network(), easy_data(), lambda network: 0.5, epochs=50, patience=3)
    assert len(result.history) == 1 + 3


def test_each_network_ends_and_keeps_its_best_on_its_own():
    improving = iter(range(1, 50))
    settings = {"epochs": 50, "patience": 2}
    pair = [
        learner(make_network(0), easy_data(), lambda network: min(next(improving), 5), **settings),  # five epochs long
        learner(make_network(1), easy_data(), lambda network: 0.5, **settings),
    ]
    first, second = train(pair, 50)
    assert (first.best_epoch, second.best_epoch) == (5, 1)
    assert (len(first.history), len(second.history)) == (5 + 2, 1 + 2)


def test_networks_that_share_batches_learn_as_they_do_alone():
    """Side by side in one team, or each with a supply of its own; one of them ends early."""
    supply, quick = QueryBatches(easy_data(), make_loss("ranknet"), batch=5), {0: 9, 1: 2, 2: 9}

    def learners(seeds, supply):
        schedule = Schedule(9, 0.01, l1=1e-3, rate="halve", patience=1)
        return [
            Learner(make_network(seed, dropout=0.25), supply, schedule, lambda net, seed=seed: quality(net, seed))
            for seed in seeds
        ]

    def quality(net, seed):
        seen[seed] = seen.get(seed, 0) + 1
        return min(seen[seed], quick[seed])

    seen = {}
    alone = [learners([seed], supply)[0] for seed in range(3)]
    results = [train([one], 9)[0] for one in alone]
    for n_jobs in (1, 2, 8):
        seen = {}
        together = learners(range(3), supply)
        for result, before in zip(train(together, 9, n_jobs=n_jobs), results, strict=True):
            assert result.history == before.history
            assert all(np.array_equal(a.W, b.W) for a, b in zip(result.layers, before.layers, strict=True))
        assert all(np.array_equal(one.net.theta, other.net.theta) for one, other in zip(together, alone, strict=True))
    assert [len(result.history) for result in results] == [9, 3, 9]


def test_the_error_of_an_epoch_is_the_mean_over_queries_however_they_are_batched():
    still = {"loss": "listnet", "epochs": 1, "learning_rate": 1e-9}
    whole, batched = (trained(make_network(), easy_data(), batch=batch, **still) for batch in (None, 5))
    assert batched.history[0]["error"] == pytest.approx(whole.history[0]["error"], rel=1e-5)  # 5, 5 and 2 queries


def test_a_diverging_network_gives_no_warning():
    """It is refused; warnings are errors in this suite."""
    settings = {"batch": 4, "optimizer": "descent", "learning_rate": 1e4}
    with pytest.raises(ParameterError, match="the network diverged at learning_rate=10000: "):
        trained(make_network(activation="identity"), easy_data(), epochs=6, **settings)


@pytest.mark.parametrize("optimizer", ["adam", "descent"])
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_penalties_shrink_the_weights(penalty, optimizer):
    def size(**schedule):
        result = trained(make_network(), easy_data(), epochs=20, optimizer=optimizer, **schedule)
        return sum(float(np.abs(layer.W).sum()) for layer in result.layers)

    assert size(**{penalty: 0.05}) < 0.98 * size()


@pytest.mark.parametrize(("patience", "ends_after"), [(1, 8), (2, 8), (None, 8), (None, 5)])
def test_epochs_judged_aside_are_judged_as_they_are_at_once(patience, ends_after):
    """On a thread of its own, a judgment may take until the end of the next epoch."""
    data = easy_data()

    def learned(n_jobs):
        judged_in = set()

        def scores(layers):
            judged_in.add(threading.current_thread())
            time.sleep(0.002)
            return forward(data.X, layers, "tanh")

        quality = QualityByMetric(Judge("ndcg@10", "standard"), data, scores)
        wrong = iter(range(ends_after)[::-1])
        schedule = Schedule(8, 0.1, patience=patience, until="no-error")
        batches = QueryBatches(data, make_loss("ranknet"), batch=16)
        one = Learner(make_network(), batches, schedule, quality, lambda _: {"wrong_pairs": next(wrong)})
        return train([one], 8, n_jobs=n_jobs)[0], judged_in

    (at_once, here), (aside, elsewhere) = learned(1), learned(2)
    assert here == {threading.main_thread()}
    assert patience == 1 or elsewhere - here
    assert len(aside.history) <= ends_after
    assert (aside.history, aside.best_epoch) == (at_once.history, at_once.best_epoch)
    assert all(np.array_equal(a.W, b.W) for a, b in zip(aside.layers, at_once.layers, strict=True))


def test_a_network_that_never_gave_numbers_is_not_kept_as_it_was_drawn():
    """Its weights may be finite where its scores are not: then no epoch is the best."""
    data = easy_data()
    quality = QualityByMetric(Judge("ndcg@10", "standard"), data, lambda _: np.full(data.n_docs, np.nan))
    one = Learner(make_network(), QueryBatches(data, make_loss("ranknet"), batch=16), Schedule(3, 0.1), quality)
    with pytest.raises(ParameterError, match=r"the network diverged at learning_rate=0\.1"):
        train([one], 3, n_jobs=1)
    assert np.isfinite(one.net.theta).all()


def test_ctrl_c_keeps_what_was_learned(capsys):
    calls = []

    def quality(network):
        calls.append(network.layers())
        if len(calls) == 3:
            raise KeyboardInterrupt
        return float(len(calls))

    result = trained(make_network(), easy_data(), quality)
    assert result.best_epoch == len(result.history) == 2
    assert np.array_equal(result.layers[0].W, calls[1][0].W)
    assert "stopped at 2 of 5; the best so far is kept" in capsys.readouterr().err


def test_ctrl_c_in_the_middle_of_a_step_keeps_the_epoch_before(capsys):
    network = make_network()
    one = learner(network, easy_data())
    kept = []

    class Broken:
        def epoch(self, rng):
            for batch in one_supply.epoch(rng):
                if len(one.history) == 2:
                    kept.append(one.best)
                    raise KeyboardInterrupt
                yield batch

    one_supply, one.supply = one.supply, Broken()
    (result,) = train([one], 5)
    assert result.best_epoch == 2
    assert result.layers is kept[0]
    assert "stopped at 2 of 5" in capsys.readouterr().err


def test_a_network_can_work_on_after_its_training():
    """The threads of a training end with it."""
    rows = np.random.default_rng(0).normal(size=(6000, 200)).astype(np.float32)
    batch = Batch(rows, lambda given: (float((given**2).mean()), 2 * given / given.size), 1.0)

    class Same:
        def epoch(self, rng):
            yield batch

    network = make_network(widths=(200, 10))
    train([Learner(network, Same(), Schedule(2, 0.01))], 2, n_jobs=2)
    assert network.error(batch) > 0


def test_a_warm_start_goes_on_from_the_last_weights():
    data = easy_data()
    settings = {"hidden": (6,), "dropout": 0.0, "optimizer": "descent", "batch": None, "warm_start": True}
    twice = RankNet(epochs=4, **settings).fit(data).fit(data)
    once = RankNet(epochs=8, **settings).fit(data)
    for ours, theirs in zip(twice.layers_, once.layers_, strict=True):
        assert np.array_equal(ours.W, theirs.W)
        assert np.array_equal(ours.b, theirs.b)


def test_loading_takes_over_weights_and_biases():
    network = RowNet([4, 2, 2], activation="relu", initializer="glorot", seed=0)
    other = RowNet([4, 2, 2], activation="relu", initializer="unit", seed=1)
    other.theta[:] = np.arange(len(other.theta))
    network.load(other.layers()[:1])
    assert np.array_equal(network.layers()[0].W, other.layers()[0].W)
    assert np.array_equal(network.layers()[0].b, other.layers()[0].b)
    assert not np.array_equal(network.layers()[1].W, other.layers()[1].W)
    network.load(other.layers())
    assert np.array_equal(network.theta, other.theta)


def test_loaded_weights_are_those_that_score():
    network = make_network(widths=(4,))
    network.load([Layer(np.ones((4, 1), np.float32), np.zeros(1, np.float32))])
    assert outputs(network, np.ones((1, 4), np.float32)).tolist() == [[4.0]]


def test_layers_are_copies():
    network = make_network()
    layers = network.layers()
    before = [layer.W.copy() for layer in layers]
    network.theta += 1
    assert all(np.array_equal(layer.W, W) for layer, W in zip(layers, before, strict=True))


def test_weights_of_documents_reach_the_loss():
    data = easy_data()
    light = Dataset(data.X, data.y, data.qid, weights=np.where(data.qid < 6, 1.0, 0.0))
    half = data.select_queries(np.arange(6))
    a = trained(make_network(), light, batch=None, optimizer="descent", learning_rate=0.1)
    b = trained(make_network(), half, batch=None, optimizer="descent", learning_rate=0.1)
    np.testing.assert_allclose(a.layers[0].W, b.layers[0].W, atol=1e-6)
