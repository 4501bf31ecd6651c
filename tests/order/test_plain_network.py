from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle, product

import numpy as np
import pytest
from comparators import larger_first, random_network
from hypothesis import given
from hypothesis import strategies as st

from ordino.errors import DataError, ParameterError
from ordino.layers import ACTIVATIONS as LAYER_ACTIVATIONS
from ordino.layers import Layer
from ordino.order import PairNetwork
from ordino.order.kernels import ACTIVATIONS, OUTPUTS

rng = np.random.default_rng(0)
A, B = rng.normal(size=(60, 5)).astype(np.float32), rng.normal(size=(60, 5)).astype(np.float32)


def networks_of(kinds: Iterable[tuple[str, str]]) -> st.SearchStrategy[PairNetwork]:
    """Networks of these pairs of activation and output, each of which is compiled on its own."""
    return st.builds(
        lambda kind, hidden, **how: random_network(5, hidden, kind[0], output=kind[1], **how),
        st.sampled_from(list(kinds)),
        st.sampled_from([(2,), (20,), (34,), (24, 12, 6), (4, 40)]),
        seed=st.integers(0, 1000),
        symmetric=st.booleans(),
        scale=st.sampled_from([0.1, 1.0, 3.0]),
    )


every_kind = list(product(sorted(ACTIVATIONS), sorted(OUTPUTS)))
networks = networks_of(zip(sorted(ACTIVATIONS), cycle(sorted(OUTPUTS))))  # each activation and each output


def squash(name: str, z: np.ndarray) -> np.ndarray:
    if name == "sigmoid":
        return 1 / (1 + np.exp(-z))
    if name == "softplus":
        return np.log1p(np.exp(-abs(z))) + np.maximum(z, 0)
    return {"tanh": np.tanh, "relu": lambda z: np.maximum(z, 0), "identity": lambda z: z}[name](z)


def plain_logits(network: PairNetwork, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Layer by layer in float64, as the papers write it."""
    h = X.astype(float) @ network.left + Y.astype(float) @ network.right + network.bias
    for W, b in network.deeper:
        h = squash(network.activation, h) @ W + b
    return h


def test_a_comparator_by_hand() -> None:
    # h = relu(2 x - y + 1), its dual relu(2 y - x + 1); N> = h + 3 h', N< = 3 h + h'
    network = PairNetwork(
        [[2, -1]], [[-1, 2]], [1, 1], (Layer([[1, 3], [3, 1]], [0.5, 0.5]),), activation="relu", output="identity"
    )
    # x = 1, y = 2: h = 1, h' = 4, so N> = 1 + 12 + 0.5 and N< = 3 + 4 + 0.5
    assert network.outputs([[1.0]], [[2.0]]).tolist() == [[13.5, 7.5]]
    assert network.compare([[1.0]], [[2.0]])[0] == pytest.approx(1 / (1 + np.exp(-6)))


@given(networks)
def test_two_orders_of_a_pair_add_up_to_one_exactly(network: PairNetwork) -> None:
    forward, backward = network.compare(A, B), network.compare(B, A)
    assert (forward + backward == 1).all()
    assert (network.compare(A, A) == 0.5).all()


@pytest.mark.slow
@given(networks_of(every_kind))
def test_compare_of_every_kind_is_what_the_plain_layers_say(network: PairNetwork) -> None:
    check_compare(network)


@given(networks)
def test_compare_is_what_the_plain_layers_say(network: PairNetwork) -> None:
    check_compare(network)


def check_compare(network: PairNetwork) -> None:
    logits = (plain_logits(network, A, B) + plain_logits(network, B, A)[:, ::-1]) / 2
    wins, loses = squash(network.output, logits).T
    if network.output == "sigmoid":
        expected = (1 + wins - loses) / 2
    elif network.output == "tanh":
        expected = (2 + wins - loses) / 4
    else:
        expected = 1 / (1 + np.exp(loses - wins))
    np.testing.assert_allclose(network.compare(A, B), expected, atol=2e-5)


@given(networks)
def test_outputs_are_what_the_plain_layers_say(network: PairNetwork) -> None:
    expected = squash(network.output, plain_logits(network, A, B))
    np.testing.assert_allclose(network.outputs(A, B), expected, rtol=1e-4, atol=1e-4)


@given(
    st.sampled_from(list(zip(sorted(ACTIVATIONS), cycle(sorted(OUTPUTS))))),
    st.sampled_from([(2,), (20,), (24, 12, 6)]),
    st.integers(0, 1000),
)
def test_sharing_swaps_the_outputs(kind: tuple[str, str], hidden: tuple[int, ...], seed: int) -> None:
    network = random_network(5, hidden, kind[0], output=kind[1], seed=seed)
    assert network.symmetric
    np.testing.assert_allclose(network.outputs(A, B), network.outputs(B, A)[:, ::-1], rtol=1e-4, atol=1e-4)
    dense = random_network(5, hidden, "identity", output="identity", seed=seed, symmetric=False)
    assert not dense.symmetric
    assert not np.allclose(dense.outputs(A, B), dense.outputs(B, A)[:, ::-1], rtol=1e-4, atol=1e-4)


def test_only_a_tie_is_one_half() -> None:
    # both outputs are sigmoid(100 +- x), which is 1 to the last bit, but the logits differ
    network = PairNetwork([[1, -1]], [[-1, 1]], [0, 0], (Layer([[1, -1], [-1, 1]], [100, 100]),))
    assert network.outputs([[1.0]], [[0.0]]).tolist() == [[1, 1]]
    assert network.compare([[1.0]], [[0.0]])[0] > 0.5 > network.compare([[0.0]], [[1.0]])[0]


def test_a_changed_weight_breaks_the_symmetry() -> None:
    network = random_network(5, (8, 4))
    assert network.symmetric
    for number in range(2):
        W = network.deeper[number].W.copy()
        W[0, 0] += 0.01
        layers = list(network.deeper)
        layers[number] = Layer(W, layers[number].b)
        changed = PairNetwork(network.left, network.right, network.bias, tuple(layers))
        assert not changed.symmetric
        assert (changed.compare(A, B) + changed.compare(B, A) == 1).all()
    assert not random_network(5, (7,), symmetric=False).symmetric


def test_many_pairs_are_compared_in_blocks() -> None:
    x = np.arange(40_000, dtype=np.float32)[:, None]
    assert (larger_first().compare(x + 1, x) == larger_first().compare([[1.0]], [[0.0]])).all()
    assert larger_first().compare(np.empty((0, 1)), np.empty((0, 1))).tolist() == []


def test_activations_are_those_of_every_layer() -> None:
    network = random_network(5, (6, 4))
    first, second, outputs = network.activations(A, B)
    squash = LAYER_ACTIVATIONS[network.activation]
    np.testing.assert_allclose(first, squash(A @ network.left + B @ network.right + network.bias), rtol=1e-5)
    np.testing.assert_allclose(second, squash(first @ network.deeper[0].W + network.deeper[0].b), rtol=1e-5)
    np.testing.assert_array_equal(outputs, network.outputs(A, B))


def test_large_margins_stay_finite() -> None:
    network = random_network(5, (6,), "identity", output="softplus", scale=100)
    p = network.compare(1000 * A, 1000 * B)
    assert np.isfinite(p).all()
    assert ((p >= 0) & (p <= 1)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"activation": "relo"}, "unknown activation 'relo'; did you mean 'relu'?"),
        ({"output": "relu"}, "unknown output activation 'relu'; choose from: identity, sigmoid, softplus, tanh"),
        ({"bias": [0, np.nan]}, "bias has weights that are not finite; training diverged"),
        ({"right": [[1, 1, 1]]}, "do not fit"),
        ({"deeper": ()}, "the last layer has 2 outputs"),
        ({"deeper": (Layer([[1], [1]], [0]),)}, "the last layer has 1 outputs; a comparator has two, N> and N<"),
        ({"deeper": (Layer([[1, 2]], [0, 0]),)}, r"deeper layer 1 maps \(1, 2\) with bias \(2,\), but gets 2 inputs"),
    ],
)
def test_what_is_no_comparator_is_refused(change: dict[str, object], message: str) -> None:
    fields = {"left": [[1, -1]], "right": [[-1, 1]], "bias": [0, 0], "deeper": (Layer([[1, -1], [-1, 1]], [0, 0]),)}
    with pytest.raises(ParameterError, match=message):
        PairNetwork(**{**fields, **change})


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(DataError, match="the network compares 1 features but the data has 2"):
        larger_first().compare([[1.0, 2.0]], [[1.0, 2.0]])
    with pytest.raises(DataError, match="X has NaN, which cannot be compared; fill in what is missing first"):
        larger_first().compare([[1.0]], [[np.nan]])
    with pytest.raises(DataError, match="A has 1 documents and B has 2; give one of each for every pair"):
        larger_first().compare([[1.0]], [[1.0], [2.0]])
