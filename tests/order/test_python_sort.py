"""Python's sort with a comparator that is asked once."""

from __future__ import annotations

from functools import cmp_to_key

import numpy as np
import pytest
from comparators import larger_first, random_network
from hypothesis import given
from hypothesis import strategies as st

from ordino.errors import DataError
from ordino.order import sort_once, sort_queries


@given(st.integers(0, 40), st.integers(0, 1000), st.sampled_from(["sigmoid", "tanh", "relu", "softplus"]))
def test_only_the_order_that_the_sort_meets_counts(n: int, seed: int, activation: str) -> None:
    X = np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)
    network = random_network(3, (5, 4), activation, output="identity", seed=seed, symmetric=False)

    def later(x: int, y: int) -> float:
        wins, loses = network.outputs(X[[x]], X[[y]])[0]
        return float(loses - wins)

    assert sort_once(network, X, [0, n]).tolist() == sorted(range(n), key=cmp_to_key(later))


def test_a_dense_net_that_is_asked_once_can_differ_from_the_mean_of_both_orders() -> None:
    """Of two documents a query: there the order of the question is all that can tell two sorts apart."""
    X, offsets = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32), np.arange(0, 81, 2)
    network = random_network(3, (5,), symmetric=False)
    forth, back = (np.diff(network.outputs(X[i::2], X[1 - i :: 2]))[:, 0] for i in (0, 1))  # N< - N> of either order
    contradicts_itself = (forth < 0) == (back < 0)
    differs = (sort_once(network, X, offsets) != sort_queries(network, X, offsets).order)[::2]
    assert differs.any()
    assert contradicts_itself[differs].all()


def test_a_symmetric_and_transitive_net_sorts_as_ever() -> None:
    X = np.random.default_rng(0).permutation(90).astype(np.float32)[:, None]
    offsets = [0, 50, 50, 90]
    assert sort_once(larger_first(), X, offsets).tolist() == sort_queries(larger_first(), X, offsets).order.tolist()


def test_queries_must_cover_the_rows() -> None:
    with pytest.raises(DataError, match="offsets must rise"):
        sort_once(larger_first(), [[1.0], [2.0]], [0, 1])
