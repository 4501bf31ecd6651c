"""Networks of pairs: sharing rules, the gathered first layer, learning sets, losses, auto-encoders, full batches."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino.errors import ParameterError
from ordino.layers import PAIR_INITIALIZERS
from ordino.losses import pair_loss
from ordino.networks import learning_sets
from ordino.networks.learning_sets import CONFIGURATIONS, LearningSet, draw_pairs
from ordino.networks.nets import ACTIVATIONS
from ordino.networks.pair_network import CmpNN, stacked_autoencoders
from ordino.networks.rates import Schedule
from ordino.networks.supply import ComparisonBatches, PairRows
from ordino.networks.training import quality_by_error, train
from ordino.order import PairNetwork

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype(np.float32)
A, B = RNG.integers(0, 40, (2, 60))
PAIRS = PairRows(torch.from_numpy(X), torch.from_numpy(A), torch.from_numpy(B))
TURNED = PairRows(PAIRS.X, PAIRS.b, PAIRS.a)
FIRST_FEATURE = LearningSet(np.column_stack((A, B)), (X[A, 0] > X[B, 0]).astype(float))


def make_network(hidden=(6, 4), shared=True, activation="tanh", seeds=(0,), dropout=0.0, initializer="glorot"):
    return CmpNN(3, hidden, shared=shared, activation=activation, initializer=initializer, dropout=dropout, seeds=seeds)


def shaken(network, seed=0):
    """Random biases too: they start at zero."""
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for b in network.b:
            b += torch.from_numpy(rng.normal(size=b.shape).astype(np.float32))
    return network


def plain(network, activation, number=0):
    first, *deeper = network.layers(number)
    return PairNetwork(first.W[:3], first.W[3:], first.b, tuple(deeper), activation=activation)


def outputs(network, pairs):
    with torch.no_grad():
        return network(pairs).numpy()


NETWORKS = st.builds(
    lambda hidden, activation, initializer, seed: (
        shaken(
            make_network([2 * n for n in hidden], activation=activation, initializer=initializer, seeds=(seed,)), seed
        ),
        activation,
    ),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.sampled_from(["sigmoid", "tanh", "relu", "softplus"]),
    st.sampled_from(sorted(PAIR_INITIALIZERS)),
    st.integers(0, 1000),
)


@settings(max_examples=60, deadline=None)
@given(made=NETWORKS)
def test_swapping_the_documents_swaps_the_outputs_for_any_weights(made):
    network, activation = made
    there, back = outputs(network, PAIRS), outputs(network, TURNED)
    np.testing.assert_allclose(there[..., 0], back[..., 1], rtol=1e-4, atol=1e-4 * np.abs(there).max())
    arrays = plain(network, activation)
    assert arrays.symmetric
    np.testing.assert_allclose(arrays.outputs(X[A], X[B])[:, 0], arrays.outputs(X[B], X[A])[:, 1], atol=1e-5)
    assert (arrays.compare(X[A], X[B]) + arrays.compare(X[B], X[A]) == 1).all()


def test_the_sharing_rules_hold_weight_for_weight():
    first, second, last = shaken(make_network()).layers(0)
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


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "descent"])
def test_training_keeps_the_sharing(optimizer):
    network = make_network(activation="relu", dropout=0.25)
    supply = ComparisonBatches(X, FIRST_FEATURE, pair_loss("ranknet"), batch=16)
    schedule = Schedule(5, 0.05, optimizer=optimizer, l1=1e-3, l2=1e-3)
    before = outputs(network, PAIRS)
    (trained,) = train(network, supply, schedule, quality=None)
    assert not np.allclose(before, outputs(network, PAIRS))
    np.testing.assert_allclose(outputs(network, PAIRS)[..., 0], outputs(network, TURNED)[..., 1], atol=1e-5)
    assert PairNetwork(
        trained.layers[0].W[:3], trained.layers[0].W[3:], trained.layers[0].b, trained.layers[1:]
    ).symmetric


@pytest.mark.parametrize("activation", sorted(set(ACTIVATIONS)))
@pytest.mark.parametrize("shared", [True, False])
def test_plain_arrays_say_what_torch_says(activation, shared):
    network = shaken(make_network(activation=activation, shared=shared))
    expected = torch.sigmoid(torch.from_numpy(outputs(network, PAIRS)[0])).numpy()
    np.testing.assert_allclose(plain(network, activation).outputs(X[A], X[B]), expected, atol=1e-5)


@pytest.mark.parametrize("shared", [True, False])
def test_the_gathered_layer_has_the_gradient_of_the_plain_one(shared):
    network = shaken(make_network(shared=shared))
    pull = torch.from_numpy(RNG.normal(size=(1, 60, 2)).astype(np.float32))
    network(PAIRS).backward(pull)
    gathered = [p.grad.clone() for p in network.parameters]
    for p in network.parameters:
        p.grad = None
    h = torch.cat((PAIRS.X[PAIRS.a], PAIRS.X[PAIRS.b]), 1)
    for i, (W, b) in enumerate(zip(network.W, network.b, strict=True)):
        h = h @ network._whole(W)[0] + (b[0].tile(2) if shared else b[0])
        h = torch.tanh(h) if i < 2 else h
    h.backward(pull[0])
    for ours, p in zip(gathered, network.parameters, strict=True):
        torch.testing.assert_close(ours, p.grad, rtol=1e-4, atol=1e-5)


def test_opposite_weights_start_from_the_difference_of_the_documents():
    network = make_network(initializer="difference")
    moved = PairRows(PAIRS.X + 1, PAIRS.a, PAIRS.b)  # both documents of every pair by the same
    np.testing.assert_allclose(outputs(network, moved), outputs(network, PAIRS), atol=1e-5)
    tie = PairRows(PAIRS.X, PAIRS.a, PAIRS.a)
    np.testing.assert_allclose(outputs(network, tie), 0, atol=1e-6)


def test_networks_of_a_batch_are_the_networks_alone():
    together = outputs(make_network(seeds=(3, 5)), PAIRS)
    for row, seed in zip(together, (3, 5), strict=True):
        np.testing.assert_allclose(row, outputs(make_network(seeds=(seed,)), PAIRS)[0], atol=1e-6)


def test_batches_of_networks_train_like_the_networks_alone():
    supply = ComparisonBatches(X, FIRST_FEATURE, pair_loss("squared"), batch=16)
    together = train(make_network(seeds=(3, 5)), supply, Schedule(3, 0.01), quality=None)
    for learned, seed in zip(together, (3, 5), strict=True):
        (alone,) = train(make_network(seeds=(seed,)), supply, Schedule(3, 0.01), quality=None)
        for ours, theirs in zip(learned.layers, alone.layers, strict=True):
            np.testing.assert_allclose(ours.W, theirs.W, atol=1e-4)


def test_dropout_acts_in_training_alone():
    network = make_network(dropout=0.5)
    assert (outputs(network, PAIRS) == outputs(network, PAIRS)).all()
    assert not torch.equal(network(PAIRS), network(PAIRS, training=True))


@pytest.mark.parametrize(
    ("loss", "value"),
    [("squared", 0.25), ("absolute", 0.5), ("ranknet", np.log(2)), ("fidelity", 1 - 0.5**0.5)],
)
def test_the_error_of_a_pair_is_the_mean_of_its_two_outputs(loss, value):
    """Both outputs are sigmoid(0) = 1/2 while the target is [1, 0]."""
    batch = ComparisonBatches(X, FIRST_FEATURE, pair_loss(loss)).whole
    values, gradient = batch.loss(np.zeros((1, 60, 2), np.float32))
    assert values == pytest.approx([value])
    assert (np.sign(gradient[0, :, 0]) == np.where(FIRST_FEATURE.target == 1, -1, 1)).all()
    assert (gradient[0, :, 1] == -gradient[0, :, 0]).all()


def test_batches_cover_every_pair_once():
    supply = ComparisonBatches(X, FIRST_FEATURE, pair_loss("squared"), batch=25)
    batches = list(supply.epoch(np.random.default_rng(0)))
    assert [len(batch.X) for batch in batches] == [25, 25, 10]
    seen = np.concatenate([np.column_stack((batch.X.X[batch.X.a], batch.X.X[batch.X.b])) for batch in batches])
    expected = np.column_stack((X[A], X[B]))
    assert sorted(map(tuple, seen.tolist())) == sorted(map(tuple, expected.tolist()))
    assert sum(batch.share for batch in batches) == pytest.approx(1)


def test_validation_pairs_choose_the_epoch():
    network = make_network()
    supply = ComparisonBatches(X, FIRST_FEATURE, pair_loss("squared"))
    (trained,) = train(network, supply, Schedule(30, 0.3), quality=quality_by_error(supply.whole))
    errors = [-row["valid"] for row in trained.history]
    network.load(0, trained.layers)
    assert -quality_by_error(supply.whole)(network)[0] == pytest.approx(min(errors), rel=1e-5)


def test_a_full_batch_goes_back_to_the_weights_before_the_bad_step():
    """DeepNet's rule: a step that raises the error is undone, and tried again with a smaller rate."""
    supply = ComparisonBatches(X, FIRST_FEATURE, pair_loss("squared"))
    schedule = Schedule(40, 900.0, optimizer="descent", rate="adaptive")
    history = train(make_network(activation="relu"), supply, schedule, quality=None)[0].history
    errors, rates = ([row[name] for row in history] for name in ("error", "rate"))
    restored = [i for i in range(1, 40) if rates[i] < rates[i - 1]]
    assert restored, "a rate of 900 must be too large"
    for i in restored[:3]:
        before = next(e for e, r in zip(errors[i - 1 :: -1], rates[i - 1 :: -1], strict=True) if e < errors[i - 1])
        assert errors[i - 1] > 1.05 * before  # the error that rose ...
        assert errors[i] == pytest.approx(before, rel=1e-5)  # ... and the one that was returned to
    assert errors[-1] < errors[0]


LABELS = np.array([0, 2, 1, 0, 1, 1, 0, 0, 0, 5, 5, 0], dtype=float)
OFFSETS = np.array([0, 5, 9, 10, 12])
QUERY = np.repeat(np.arange(4), np.diff(OFFSETS))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_configurations_draw_what_they_say(name):
    y, query = np.random.default_rng(0).integers(0, 3, 120).astype(float), np.arange(120) // 20
    drawn = draw_pairs(y, np.arange(0, 121, 20), name, 720, np.random.default_rng(0))
    a, b = drawn.pairs.T
    assert len(a) == len(drawn.target) == 720
    assert (query[a] == query[b]).all()
    assert (a != b).all()
    assert (drawn.target == (1 + np.sign(y[a] - y[b])) / 2).all()
    kinds = np.where(y[a] != y[b], "different", np.where(y[a] > 0, "relevant", "irrelevant"))
    found, counts = np.unique(kinds, return_counts=True)
    if name == "A":
        assert set(found) == {"different", "relevant", "irrelevant"}
    else:
        assert set(found) == set(CONFIGURATIONS[name])
        assert (counts == 720 // len(found)).all()
    assert (np.unique(query[a], return_counts=True)[1] == 120).all()


def test_every_query_has_an_equal_share_and_every_pair_of_it_too():
    """12 pairs differ: 8 of query 0, 3 of query 1, none of query 2, 1 of query 3; asked for 12, each gives 4."""
    drawn = draw_pairs(LABELS, OFFSETS, "C", 12, np.random.default_rng(0))
    often = {}
    for a, b in np.sort(drawn.pairs, axis=1).tolist():
        often.setdefault(int(QUERY[a]), []).append((a, b))
    times = {q: sorted(pairs.count(pair) for pair in set(pairs)) for q, pairs in often.items()}
    assert times == {0: [1, 1, 1, 1], 1: [1, 1, 2], 3: [4]}


def test_no_more_pairs_are_drawn_than_there_are():
    assert len(draw_pairs(LABELS, OFFSETS, "C", 1000, np.random.default_rng(0)).pairs) == 12


def test_a_pair_stands_in_either_order():
    y = np.arange(1000) % 2.0
    drawn = draw_pairs(y, np.array([0, 1000]), "C", 1000, np.random.default_rng(0))
    assert drawn.target.mean() == pytest.approx(0.5, abs=0.05)


def test_all_pairs_are_every_pair_once():
    drawn = draw_pairs(LABELS, OFFSETS, "C", None, np.random.default_rng(0))
    expected = [(i, j) for i in range(12) for j in range(i + 1, 12) if QUERY[i] == QUERY[j] and LABELS[i] != LABELS[j]]
    assert sorted(map(tuple, np.sort(drawn.pairs, axis=1).tolist())) == expected


def test_nothing_to_draw_is_no_pair():
    drawn = draw_pairs(np.ones(4), np.array([0, 4]), "C", 10, np.random.default_rng(0))
    assert drawn.pairs.shape == (0, 2)


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(learning_sets, "MOST_PAIRS", 10)
    with pytest.raises(ParameterError, match="n_pairs=None takes all 12 pairs; give a number"):
        draw_pairs(LABELS, OFFSETS, "C", None, np.random.default_rng(0))


@pytest.mark.parametrize("shared", [True, False])
def test_autoencoders_learn_to_give_back_their_input(shared):
    """Four numbers of [x, y] that are two, seen twice: two neurons a document are enough to keep them."""
    x = RNG.normal(size=(200, 1)).astype(np.float32)
    pairs = PairRows(torch.from_numpy(np.column_stack((x, -x))), torch.arange(100), torch.arange(100, 200))
    layers = stacked_autoencoders(
        pairs, (8, 4), shared=shared, activation="tanh", schedule=Schedule(200, 0.01, optimizer="adam"), seed=0
    )
    assert [layer.W.shape for layer in layers] == [(4, 8), (8, 4)]
    network = CmpNN(2, (8, 4), shared=shared, activation="tanh", initializer="unit", dropout=0.0, seeds=[1])
    network.load(0, layers)
    with torch.no_grad():
        codes = network.activations(pairs)[1][0].numpy()
    seen = torch.cat((pairs.X[pairs.a], pairs.X[pairs.b]), 1).numpy()
    design = np.column_stack((codes, np.ones(len(codes))))
    left_over = seen - design @ np.linalg.lstsq(design, seen, rcond=None)[0]
    assert (left_over**2).mean() < 0.1 * seen.var()
    if shared:
        turned = network.activations(PairRows(pairs.X, pairs.b, pairs.a))[1][0].detach().numpy()
        np.testing.assert_allclose(codes, np.roll(turned, 2, axis=1), atol=1e-5)
