"""Networks of pairs: sharing rules, what a step sees, losses, auto-encoders, full batches."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossed import crossed
from ordino import DenseComparator
from ordino.errors import ParameterError
from ordino.layers import PAIR_INITIALIZERS
from ordino.losses import probability_losses
from ordino.networks import autoencoders, comparing, first_layer, pair_net
from ordino.networks.autoencoders import stacked_autoencoders
from ordino.networks.first_layer import FirstLayer
from ordino.networks.learning_sets import LearningSet
from ordino.networks.optimizers import OPTIMIZERS
from ordino.networks.pair_net import PairNet
from ordino.networks.rates import Schedule
from ordino.networks.supply import ComparedPairs, PairBatch
from ordino.networks.training import Learner, QualityByPairs, train
from ordino.order import PairNetwork
from ordino.rankers import sortnet
from ordino.testing import easy_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype(np.float32)
A, B = RNG.integers(0, 40, (2, 60))
FIRST_FEATURE = LearningSet.of(np.column_stack((A, B)), (X[A, 0] > X[B, 0]).astype(float), 40)
TURNED = LearningSet.of(np.column_stack((B, A)), 1 - FIRST_FEATURE.target, 40)


def make_network(hidden=(6, 4), loss="squared", **options):
    kind = {"shared": True, "activation": "tanh", "initializer": "glorot", "seed": 0} | options
    return PairNet(3, hidden, loss=loss, **kind)


def shaken(network, seed=0):
    """Random biases too: they start at zero."""
    rng = np.random.default_rng(seed)
    for b in network.b:
        b += rng.normal(size=b.shape).astype(np.float32)
    return network


def plain(network):
    first, *deeper = network.layers()
    return PairNetwork(first.W[:3], first.W[3:], first.b, tuple(deeper), activation=network.activation)


def learned(network, schedule, batch=None, quality=None, learning_set=FIRST_FEATURE):
    learner = Learner(network, ComparedPairs(X, learning_set, batch), schedule, quality)
    return train([learner], schedule.epochs)[0]


def test_a_batch_that_lasts_has_the_same_error_whether_it_was_learned_from_or_not():
    """What is kept of it has a row for each pair only where features are dropped."""
    codes, target = FIRST_FEATURE
    network = shaken(make_network(dropout=0.3, input_dropout=0.3))
    batch = PairBatch(X, np.sort(codes), target, 1.0, lasting=True)
    before = network.error(batch, learn=False)
    network.error(batch)
    assert network.error(batch, learn=False) == pytest.approx(before, rel=1e-6)
    assert network.error(batch) != pytest.approx(before, rel=1e-3)


NETWORKS = st.builds(
    lambda hidden, activation, initializer, seed: shaken(
        make_network([2 * n for n in hidden], "ranknet", activation=activation, initializer=initializer, seed=seed),
        seed,
    ),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.sampled_from(comparing.ACTIVATIONS),
    st.sampled_from(sorted(PAIR_INITIALIZERS)),
    st.integers(0, 1000),
)


@settings(max_examples=60, deadline=None)
@given(network=NETWORKS)
def test_swapping_the_documents_swaps_the_outputs_for_any_weights(network):
    arrays = plain(network)
    assert arrays.symmetric
    np.testing.assert_allclose(arrays.outputs(X[A], X[B])[:, 0], arrays.outputs(X[B], X[A])[:, 1], atol=1e-5)
    assert (arrays.compare(X[A], X[B]) + arrays.compare(X[B], X[A]) == 1).all()
    there, back = (network.error(ComparedPairs(X, pairs).whole, learn=False) for pairs in (FIRST_FEATURE, TURNED))
    assert there == pytest.approx(back, rel=1e-5)


def test_the_sharing_rules_hold_weight_for_weight():
    network = shaken(make_network())
    learned(network, Schedule(3, 0.1))
    first, second, last = network.layers()
    v_x, v_y = first.W[:3], first.W[3:]
    for i in range(3):  # i and its dual i + 3
        assert (v_x[:, i + 3] == v_y[:, i]).all()
        assert (v_y[:, i + 3] == v_x[:, i]).all()
    for i in range(3):
        for j in range(2):
            assert second.W[i, j + 2] == second.W[i + 3, j]
            assert second.W[i + 3, j + 2] == second.W[i, j]
    assert (last.W[2:, 0] == last.W[:2, 1]).all()
    assert (last.W[2:, 1] == last.W[:2, 0]).all()
    for layer in (first, second, last):
        half = len(layer.b) // 2
        assert (layer.b[:half] == layer.b[half:]).all()
        assert layer.b.any()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_keeps_the_sharing(optimizer):
    network = make_network(activation="relu", dropout=0.25)
    before = plain(network).outputs(X[A], X[B])
    learned(network, Schedule(5, 0.05, optimizer=optimizer, l1=1e-3, l2=1e-3), batch=16)
    after = plain(network)
    assert not np.allclose(before, after.outputs(X[A], X[B]))
    np.testing.assert_allclose(after.outputs(X[A], X[B])[:, 0], after.outputs(X[B], X[A])[:, 1], atol=1e-5)
    assert after.symmetric


@pytest.mark.parametrize("turned", ["some", "all"])
def test_a_symmetric_network_learns_the_same_from_either_order_of_a_pair(turned):
    mixed = LearningSet(
        *(np.where(np.arange(60) % 2, one, other) for one, other in zip(FIRST_FEATURE, TURNED, strict=True))
    )
    there, back = shaken(make_network()), shaken(make_network())
    there.error(PairBatch(X, *FIRST_FEATURE, 1.0))
    back.error(PairBatch(X, *(TURNED if turned == "all" else mixed), 1.0))
    np.testing.assert_allclose(there.slopes, back.slopes, rtol=1e-4, atol=1e-6)


def by_hand(network, loss):
    """The mean error of the pairs from the outputs of plain arrays."""
    p, t = plain(network).outputs(X[A], X[B]).astype(float), FIRST_FEATURE.target
    q, t = p.ravel(), np.column_stack((t, 1 - t)).ravel()
    return {
        "squared": (q - t) ** 2,
        "absolute": abs(q - t),
        "ranknet": -t * np.log(q) - (1 - t) * np.log(1 - q),
        "fidelity": 1 - np.sqrt(t * q) - np.sqrt((1 - t) * (1 - q)),
    }[loss].mean()


@pytest.mark.parametrize(
    ("loss", "activation"), crossed(probability_losses(), comparing.ACTIVATIONS, around=("ranknet", "tanh"))
)
@pytest.mark.parametrize("shared", [True, False])
def test_the_step_and_plain_arrays_say_the_same(activation, loss, shared):
    network = shaken(make_network(activation=activation, loss=loss, shared=shared))
    assert network.error(ComparedPairs(X, FIRST_FEATURE).whole, learn=False) == pytest.approx(
        by_hand(network, loss), rel=1e-5
    )


def test_losses_of_comparators_are_those_of_probabilities():
    assert set(comparing.LOSSES) == set(probability_losses())


@pytest.mark.parametrize(
    ("loss", "value", "slope"),
    [
        ("squared", 0.25, 1.0),  # 2 (o - t)
        ("absolute", 0.5, 1.0),
        ("ranknet", np.log(2), 2.0),  # (o - t) / (o (1 - o))
        ("fidelity", 1 - 0.5**0.5, 0.5**0.5),  # sqrt(t / o) / 2
    ],
)
def test_the_error_of_a_pair_is_the_mean_of_its_two_outputs(loss, value, slope):
    """Both outputs are sigmoid(0) = 1/2 while the target is [1, 0]; the slope of a sigmoid there is 1/4."""
    network = make_network(loss=loss)
    network.theta[:] = 0
    assert network.error(ComparedPairs(X, FIRST_FEATURE).whole) == pytest.approx(value)
    assert (network.slopes[:-1] == 0).all()  # zero weights pass nothing on
    assert network.slopes[-1] == pytest.approx(0, abs=1e-7)  # the bias of both outputs: they pull against each other
    dense = make_network(loss=loss, shared=False)
    dense.theta[:] = 0
    dense.error(PairBatch(X, *FIRST_FEATURE.take(np.flatnonzero(FIRST_FEATURE.target == 1)), 1.0))
    wins, loses = dense.slopes[-2:]
    assert loses == pytest.approx(slope / 4 / 2, rel=1e-5)  # half of the mean belongs to each output
    assert wins == -loses


def test_opposite_weights_start_from_the_difference_of_the_documents():
    start = plain(make_network(initializer="difference"))
    np.testing.assert_allclose(start.outputs(X[A] + 1, X[B] + 1), start.outputs(X[A], X[B]), atol=1e-5)
    np.testing.assert_allclose(start.outputs(X[A], X[A]), 0.5, atol=1e-6)


def test_batches_cover_every_pair_once():
    batches = list(ComparedPairs(X, FIRST_FEATURE, 25).epoch(np.random.default_rng(0)))
    assert [len(batch.codes) for batch in batches] == [25, 25, 10]
    seen = [pair for batch in batches for pair in zip(batch.codes.tolist(), batch.target.tolist(), strict=True)]
    expected = zip(FIRST_FEATURE.codes.tolist(), FIRST_FEATURE.target.tolist(), strict=True)
    assert sorted(seen) == sorted(expected)
    assert sum(batch.share for batch in batches) == pytest.approx(1)


def test_pairs_stay_codes_and_documents_where_they_are():
    for batch in (25, None):
        for one in ComparedPairs(X, FIRST_FEATURE, batch).epoch(np.random.default_rng(0)):
            assert one.X is X
            assert one.codes.shape == one.target.shape


def test_documents_that_no_pair_touches_cost_nothing():
    """A step gathers the documents of its pairs, each once, however many there are beside them."""
    many = np.full((100_000, 3), np.nan, np.float32)
    touched = np.array([7, 12, 50_000, 99_999])
    many[touched] = X[:4]
    pairs = np.array([(0, 1), (2, 3), (1, 2), (0, 1)])
    room = FirstLayer(sides=2, n_own=3)
    codes = LearningSet.of(touched[pairs], np.ones(4), len(many)).codes
    rows, numbers = room.gather(many, codes, by_pair=False, to_keep=False)
    assert np.array_equal(rows, X[[0, 1, 2, 3]])
    assert np.array_equal(numbers.T, pairs)
    few = room.gather(many, codes[:1], by_pair=False, to_keep=False).rows
    assert np.array_equal(few, X[[0, 1]])
    network, alone = make_network(), make_network()
    network.error(PairBatch(many, codes, np.ones(4), 1.0))
    alone.error(PairBatch(X, LearningSet.of(pairs, np.ones(4), 40).codes, np.ones(4), 1.0))
    assert np.array_equal(network.slopes, alone.slopes)


@pytest.mark.parametrize("shared", [True, False])
def test_products_by_pair_and_by_document_say_the_same(shared):
    """Random pairs of many documents have rows of their own; many pairs of few documents share their products."""
    few, many = (PairBatch(rows, *LearningSet.of(np.column_stack((A, B)), FIRST_FEATURE.target, len(rows)), 1.0)
                 for rows in (X, np.concatenate((X, np.zeros((1000, 3), np.float32)))))  # fmt: skip
    assert len(A) > first_layer.FEW_PAIRS * len(few.X)
    by_document, by_pair = shaken(make_network(shared=shared)), shaken(make_network(shared=shared))
    assert by_document.error(few) == pytest.approx(by_pair.error(many), rel=1e-6)
    np.testing.assert_allclose(by_document.slopes, by_pair.slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("input_dropout", [0.0, 0.4])
def test_pairs_that_come_again_are_gathered_once_and_teach_what_new_ones_do(shared, input_dropout, monkeypatch):
    many = np.concatenate((X, np.zeros((1000, 3), np.float32)))
    pairs = [LearningSet.of(np.column_stack(rows), FIRST_FEATURE.target, len(many)) for rows in ((A, B), (B, A))]
    ours, other = (shaken(make_network(shared=shared, input_dropout=input_dropout)) for _ in range(2))
    gathered, gather = [], FirstLayer.gather
    monkeypatch.setattr(
        FirstLayer, "gather", lambda *given, to_keep: gathered.append(to_keep) or gather(*given, to_keep=to_keep)
    )
    lasting, passing = ([PairBatch(many, *some, 1.0, lasting=lasts) for some in pairs] for lasts in (True, False))
    for _ in range(3):
        for again, new in zip(lasting, passing, strict=True):
            assert ours.error(again) == other.error(new)
            assert np.array_equal(ours.slopes, other.slopes)
            ours.error(again, learn=False)
    assert sum(gathered) == 2
    monkeypatch.setattr(pair_net, "MOST_KEPT", 2 * 60 * 3 - 1)
    assert ours.error(lasting[0]) == other.error(passing[0])
    fresh = make_network(shared=shared)
    fresh.error(lasting[0])
    assert not any(kept for _, kept in fresh._kept)


def test_what_a_diverged_step_left_behind_does_not_show():
    """Rooms are used again: a step after one that gave NaN is what it is in a new room."""
    network, fresh = shaken(make_network()), shaken(make_network())
    whole = ComparedPairs(X, FIRST_FEATURE).whole
    sound = network.theta.copy()
    network.theta[:] = np.nan
    assert np.isnan(network.error(whole))
    network.theta[:] = sound
    some = whole._replace(codes=whole.codes[:50], target=whole.target[:50])
    assert network.error(some) == fresh.error(some)
    assert np.array_equal(network.slopes, fresh.slopes)


def test_validation_pairs_choose_the_epoch():
    network = make_network()
    quality = QualityByPairs(ComparedPairs(X, FIRST_FEATURE).whole)
    trained = learned(network, Schedule(30, 0.3), quality=quality)
    errors = [-row["valid"] for row in trained.history]
    network.load(trained.layers)
    assert -quality(network) == pytest.approx(min(errors), rel=1e-6)


def test_pairs_judged_aside_are_judged_as_they_are_at_once(monkeypatch):
    """A twin is measured on another thread while the network learns on; it may take as long as it likes."""
    whole = ComparedPairs(X, FIRST_FEATURE).whole

    original, measured_in = PairNet.error, set()

    def slow(self, batch, *, learn=True):
        if not learn:
            measured_in.add(threading.current_thread())
            time.sleep(0.002)
        return original(self, batch, learn=learn)

    monkeypatch.setattr(PairNet, "error", slow)

    def learned_with(n_jobs):
        one = Learner(make_network(), ComparedPairs(X, FIRST_FEATURE), Schedule(8, 0.3), QualityByPairs(whole))
        return train([one], 8, n_jobs=n_jobs)[0]

    at_once = learned_with(1)
    assert measured_in == {threading.main_thread()}
    aside = learned_with(2)
    assert measured_in > {threading.main_thread()}
    assert (aside.history, aside.best_epoch) == (at_once.history, at_once.best_epoch)
    assert all(np.array_equal(a.W, b.W) for a, b in zip(aside.layers, at_once.layers, strict=True))


def test_full_batches_of_pairs_undo_a_step_that_raised_the_error():
    """DeepNet's rule: a step that raises the error is undone, and tried again with a smaller rate."""
    schedule = Schedule(40, 900.0, optimizer="descent", rate="adaptive")
    history = learned(make_network(activation="relu"), schedule).history
    errors, rates = ([row[name] for row in history] for name in ("error", "rate"))
    restored = [i for i in range(1, 40) if rates[i] < rates[i - 1]]
    assert restored, "a rate of 900 must be too large"
    assert all(errors[i] > 1.05 * min(errors[:i]) for i in restored)
    assert errors[-1] < errors[0]


def test_a_diverging_network_gives_no_warning():
    """It is refused; warnings are errors in this suite."""
    network = make_network(activation="relu", loss="ranknet")
    with pytest.raises(ParameterError, match="the network diverged"):
        learned(network, Schedule(6, 1e30, optimizer="descent"))
    assert not np.isfinite(network.theta).all()


def test_known_pairs_of_sortnet_stay_codes():
    known = sortnet._KnownPairs(easy_data())
    known.add(np.array([5, 3, 17]))
    known.add(np.array([3, 4]))
    learning_set = known.learning_set()
    assert learning_set.codes is known._codes
    assert learning_set.codes.tolist() == [3, 4, 5, 17]
    assert learning_set.target.tolist() == [1.0] * 4


@pytest.mark.parametrize("hidden", [7, (5, 3, 1)])
def test_autoencoders_of_a_dense_network_take_odd_widths(hidden):
    ranker = DenseComparator(hidden=hidden, initializer="autoencoders", pretraining=2, epochs=2, n_pairs=100)
    network = ranker.fit(easy_data()).network_
    assert [len(layer.W) for layer in network.deeper] == ([hidden] if hidden == 7 else list(hidden))


@pytest.mark.parametrize("shared", [True, False])
def test_autoencoders_learn_the_same_whether_what_lies_below_is_kept(shared, monkeypatch):
    rows, learned_layers = RNG.integers(0, 40, (2, 1100)), []
    for most in (autoencoders.MOST_KEPT, 0):
        monkeypatch.setattr(autoencoders, "MOST_KEPT", most)
        kind = {"shared": shared, "activation": "tanh", "seed": 0}
        schedule = Schedule(3, 0.01, optimizer="adam")
        learned_layers.append(stacked_autoencoders(X, rows, (6, 4), schedule=schedule, **kind))
    for kept, anew in zip(*learned_layers, strict=True):
        np.testing.assert_allclose(kept.W, anew.W, rtol=1e-5, atol=1e-7)


def test_a_layer_that_says_nothing_is_drawn_again(monkeypatch):
    above, rows = np.abs(X), np.array([A, B])
    schedule = Schedule(1, 1e-4, optimizer="adam")

    def heard(seed):
        """The share of pairs for which the only neuron or its dual is not 0."""
        [(W, b)] = stacked_autoencoders(above, rows, (2,), shared=True, activation="relu", schedule=schedule, seed=seed)
        own = [pair @ W[:, 0] + b[0] for pair in (np.hstack((above[A], above[B])), np.hstack((above[B], above[A])))]
        return (np.maximum(*own) > 0).mean()

    assert min(map(heard, range(12))) >= 0.5
    monkeypatch.setattr(autoencoders, "MOST_DRAWS", 1)
    assert min(map(heard, range(12))) < 0.5


@pytest.mark.parametrize("shared", [True, False])
def test_autoencoders_learn_to_give_back_their_input(shared):
    """Four numbers of [x, y] that are two, seen twice: two neurons a document are enough to keep them."""
    x = RNG.normal(size=(200, 1)).astype(np.float32)
    both, rows = np.column_stack((x, -x)), np.stack((np.arange(100), np.arange(100, 200)))
    schedule = Schedule(200, 0.01, optimizer="adam")
    layers = stacked_autoencoders(both, rows, (8, 4), shared=shared, activation="tanh", schedule=schedule, seed=0)
    assert [layer.W.shape for layer in layers] == [(4, 8), (8, 4)]
    network = PairNet(2, (8, 4), shared=shared, activation="tanh", initializer="unit", seed=1)
    network.load(layers)
    first, *deeper = network.layers()
    arrays = PairNetwork(first.W[:2], first.W[2:], first.b, tuple(deeper), activation="tanh")
    codes = arrays.activations(both[rows[0]], both[rows[1]])[1]
    seen = np.concatenate(both[rows], axis=1)
    design = np.column_stack((codes, np.ones(len(codes))))
    left_over = seen - design @ np.linalg.lstsq(design, seen, rcond=None)[0]
    assert (left_over**2).mean() < 0.1 * seen.var()
    if shared:
        turned = arrays.activations(both[rows[1]], both[rows[0]])[1]
        np.testing.assert_allclose(codes, np.roll(turned, 2, axis=1), atol=1e-5)
