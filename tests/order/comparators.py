"""Pair networks for tests, and slow, obvious sorts that share no code with Ordino."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from ordino.layers import Layer
from ordino.order import PairNetwork

Before = Callable[[int, int], float]


def larger_first(n_features: int = 1) -> PairNetwork:
    """A transitive comparator: neuron ``x_0 - y_0`` and its dual; the larger first feature comes first."""
    left = np.zeros((n_features, 2), np.float32)
    left[0] = 1, -1
    return PairNetwork(
        left, -left, [0, 0], (Layer([[1, -1], [-1, 1]], [0, 0]),), activation="identity", output="identity"
    )


def random_network(
    n_features: int,
    hidden: Sequence[int],
    activation: str = "sigmoid",
    *,
    output: str = "sigmoid",
    seed: int = 0,
    symmetric: bool = True,
    scale: float = 2.0,
) -> PairNetwork:
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> np.ndarray:
        return (scale * rng.normal(size=shape) / np.sqrt(shape[0] if len(shape) > 1 else 1)).astype(np.float32)

    def swap(values: np.ndarray, *axes: int) -> np.ndarray:
        for axis in axes:
            values = np.roll(values, values.shape[axis] // 2, axis)
        return values

    def shared(values: np.ndarray, *axes: int) -> np.ndarray:
        return (values + swap(values, *axes)) / 2 if symmetric else values

    left = draw(n_features, hidden[0])
    right = swap(left, 1) if symmetric else draw(n_features, hidden[0])
    layers = [
        Layer(shared(draw(n_in, n_out), 0, 1), shared(draw(n_out), 0))
        for n_in, n_out in zip(hidden, [*hidden[1:], 2], strict=True)
    ]
    return PairNetwork(left, right, shared(draw(hidden[0]), 0), tuple(layers), activation, output)


def preferences(network: PairNetwork, X: np.ndarray) -> np.ndarray:
    """P(row before column) for all pairs, shape (n, n)."""
    n = len(X)
    rows, columns = np.divmod(np.arange(n * n), n)
    return network.compare(X[rows], X[columns]).reshape(n, n)


def merge_sort(n: int, before: Before, labels: Sequence[float]) -> tuple[list[int], int, set[tuple[int, int]]]:
    """Runs of 1, 2, 4 ... merged from the left; gives the order, the comparisons, and the mis-compared pairs."""
    order, comparisons, wrong = list(range(n)), 0, set()
    run = 1
    while run < n:
        merged = []
        for start in range(0, n, 2 * run):
            left, right = order[start : start + run], order[start + run : start + 2 * run]
            while left and right:
                a, b = left[0], right[0]
                margin = before(a, b)
                comparisons += 1
                if labels[a] > labels[b] and not margin > 0:
                    wrong.add((a, b))
                if labels[b] > labels[a] and not margin < 0:
                    wrong.add((b, a))
                merged.append(right.pop(0) if margin < 0 else left.pop(0))
            merged += left + right
        order, run = merged, 2 * run
    return order, comparisons, wrong


def cyclic_triples(n: int, wins: Before) -> int:
    """Count circles one by one; the earlier row wins a tie."""

    def first(a: int, b: int) -> bool:
        return wins(a, b) >= 0

    return sum(first(a, b) == first(b, c) and first(a, b) != first(a, c) for a, b, c in combinations(range(n), 3))
