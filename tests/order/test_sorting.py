from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise

import numpy as np
import pytest
from comparators import larger_first, merge_sort, preferences, random_network
from hypothesis import given
from hypothesis import strategies as st

from ordino.errors import DataError, ParameterError
from ordino.order import SORTS, scores_from_order, sort_queries

values = st.lists(st.integers(-50, 50), max_size=60)


def column(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, np.float32).reshape(-1, 1)


@given(values)
def test_merge_is_pythons_sort(numbers: list[int]) -> None:
    result = sort_queries(larger_first(), column(numbers), [0, len(numbers)])
    expected = sorted(range(len(numbers)), key=cmp_to_key(lambda a, b: numbers[b] - numbers[a]))
    assert result.order.tolist() == expected


@given(values)
def test_insertion_is_stable_too(numbers: list[int]) -> None:
    result = sort_queries(larger_first(), column(numbers), [0, len(numbers)], algorithm="insertion")
    assert result.order.tolist() == sorted(range(len(numbers)), key=lambda i: -numbers[i])


@pytest.mark.parametrize("algorithm", SORTS)
@given(values, st.none() | st.integers(0, 5))
def test_every_algorithm_sorts(algorithm: str, numbers: list[int], seed: int | None) -> None:
    result = sort_queries(larger_first(), column(numbers), [0, len(numbers)], algorithm=algorithm, seed=seed)
    assert [numbers[i] for i in result.order] == sorted(numbers, reverse=True)
    assert sorted(result.order) == list(range(len(numbers)))


@pytest.mark.parametrize("algorithm", SORTS)
@given(st.sets(st.integers(-1000, 1000), max_size=60), st.integers(0, 5))
def test_without_ties_algorithms_and_starts_agree(algorithm: str, numbers: set[int], seed: int) -> None:
    X = column(list(numbers))
    usual = sort_queries(larger_first(), X, [0, len(X)])
    other = sort_queries(larger_first(), X, [0, len(X)], algorithm=algorithm, seed=seed)
    assert other.order.tolist() == usual.order.tolist()


@given(st.integers(0, 40), st.integers(0, 1000), st.booleans())
def test_merge_and_its_record_are_the_obvious_ones(n: int, seed: int, symmetric: bool) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)).astype(np.float32), rng.integers(0, 3, n)
    network = random_network(3, (6, 4), "tanh", seed=seed, symmetric=symmetric)
    P = preferences(network, X) - 0.5
    order, comparisons, wrong = merge_sort(n, lambda a, b: P[a, b], y)
    result = sort_queries(network, X, [0, n], y=y)
    assert result.order.tolist() == order
    assert result.comparisons.tolist() == [comparisons]
    assert result.miscompared is not None
    assert result.miscompared.tolist() == sorted(better * n + worse for better, worse in wrong)


@pytest.mark.parametrize("algorithm", SORTS)
@given(st.integers(0, 1000))
def test_recording_changes_nothing_and_names_wrong_pairs_once(algorithm: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y, offsets = rng.normal(size=(70, 2)), rng.integers(0, 3, 70), [0, 30, 30, 31, 70]
    network = random_network(2, (4,), seed=seed, scale=4)
    plain = sort_queries(network, X, offsets, algorithm=algorithm)
    result = sort_queries(network, X, offsets, algorithm=algorithm, y=y)
    assert plain.miscompared is None
    assert result.order.tolist() == plain.order.tolist()
    assert result.comparisons.tolist() == plain.comparisons.tolist()
    better, worse = np.divmod(result.miscompared, len(X))
    assert (y[better] > y[worse]).all()
    assert (network.compare(X[better], X[worse]) <= 0.5).all()
    assert (np.diff(result.miscompared) > 0).all()
    assert (np.searchsorted(offsets, better, side="right") == np.searchsorted(offsets, worse, side="right")).all()


def test_a_comparator_that_is_always_wrong_has_room_for_all_its_pairs() -> None:
    x = np.arange(300.0)[:, None]
    labels = -x[:, 0]  # insertion compares 299 + 298 + ... pairs, far more than there is room for at first
    result = sort_queries(
        larger_first(), np.concatenate([x, x]), [0, 300, 600], y=np.tile(labels, 2), algorithm="insertion"
    )
    assert result.comparisons.tolist() == [300 * 299 // 2] * 2
    assert len(result.miscompared) == 300 * 299
    assert result.order[:3].tolist() == [299, 298, 297]


def test_a_tie_does_not_put_the_better_label_first() -> None:
    assert sort_queries(larger_first(), [[1.0], [1.0]], [0, 2], y=[0, 1]).miscompared.tolist() == [1 * 2 + 0]
    assert sort_queries(larger_first(), [[1.0], [1.0]], [0, 2], y=[1, 0]).miscompared.tolist() == [0 * 2 + 1]


@pytest.mark.parametrize("algorithm", SORTS)
def test_a_sort_starts_where_it_is_told(algorithm: str) -> None:
    """As if the rows stood so; which shows where the comparator is not transitive."""
    rng = np.random.default_rng(2)
    X, network = rng.normal(size=(60, 4)).astype(np.float32), random_network(4, (10,), scale=5)
    start = np.concatenate((rng.permutation(40), 40 + rng.permutation(20)))
    found = sort_queries(network, X, [0, 40, 60], algorithm=algorithm, start=start)
    moved = sort_queries(network, X[start], [0, 40, 60], algorithm=algorithm)
    assert found.order.tolist() == start[moved.order].tolist()
    assert found.comparisons.tolist() == moved.comparisons.tolist()
    assert found.order.tolist() != sort_queries(network, X, [0, 40, 60], algorithm=algorithm).order.tolist()


@pytest.mark.parametrize("algorithm", SORTS)
@pytest.mark.parametrize("seed", [None, 3])
def test_queries_alone_together_and_on_threads(algorithm: str, seed: int | None) -> None:
    rng = np.random.default_rng(1)
    offsets = np.cumsum([0, 500, 0, 1, 2, 700, 60, 900, 500])
    X, y = rng.normal(size=(offsets[-1], 4)).astype(np.float32), rng.integers(0, 3, offsets[-1])
    network, how = random_network(4, (10,), scale=5), {"algorithm": algorithm, "seed": seed}
    together = sort_queries(network, X, offsets, y=y, n_jobs=2, **how)
    one_thread = sort_queries(network, X, offsets, y=y, n_jobs=1, **how)
    assert together.order.tolist() == one_thread.order.tolist()
    assert together.miscompared.tolist() == one_thread.miscompared.tolist()
    codes = []
    for start, stop in pairwise(offsets):
        alone = sort_queries(network, X[start:stop], [0, stop - start], y=y[start:stop], **how)
        assert (alone.order + start).tolist() == together.order[start:stop].tolist()
        better, worse = np.divmod(alone.miscompared, max(stop - start, 1)) + start
        codes += (better * len(X) + worse).tolist()
    assert codes == together.miscompared.tolist()


@pytest.mark.parametrize("algorithm", SORTS)
def test_empty_single_and_equal(algorithm: str) -> None:
    assert sort_queries(larger_first(), np.empty((0, 1)), [0], algorithm=algorithm).order.tolist() == []
    result = sort_queries(larger_first(), [[1.0]], [0, 0, 1, 1], algorithm=algorithm, y=[1])
    assert (result.order.tolist(), result.comparisons.tolist(), len(result.miscompared)) == ([0], [0, 0, 0], 0)
    equal = sort_queries(larger_first(), np.ones((1000, 1)), [0, 1000], algorithm=algorithm)
    assert sorted(equal.order) == list(range(1000))
    assert equal.comparisons[0] < 20_000  # ties do not make quick sort quadratic


def test_merge_makes_few_comparisons() -> None:
    X = np.random.default_rng(0).normal(size=(1024, 1))
    made = {name: int(sort_queries(larger_first(), X, [0, 1024], algorithm=name).comparisons[0]) for name in SORTS}
    assert made["merge"] <= 1024 * 10 - 1023  # n log2 n - (n - 1)
    assert made["merge"] < made["quick"] < made["heap"] < made["insertion"]


def test_a_shuffle_depends_on_seed_and_length_alone() -> None:
    ones = np.ones((8, 1))
    first, second = sort_queries(larger_first(), ones, [0, 4, 8], seed=1).order.reshape(2, 4)
    assert (first + 4).tolist() == second.tolist()
    assert first.tolist() != sort_queries(larger_first(), ones[:4], [0, 4], seed=2).order.tolist()


@given(st.integers(0, 1000))
def test_scores_reproduce_the_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(0, 9, 5))))
    order = np.concatenate([[], *(s + rng.permutation(e - s) for s, e in pairwise(offsets))])
    scores = scores_from_order(order.astype(int), offsets)
    query = np.repeat(np.arange(5), np.diff(offsets))
    assert np.lexsort((-scores, query)).tolist() == order.tolist()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"algorithm": "merg"}, ParameterError, "unknown sort 'merg'; did you mean 'merge'?"),
        ({"offsets": [0, 5]}, DataError, "offsets must rise from 0 to 2, the number of documents"),
        ({"offsets": [0, 3, 1, 2]}, DataError, "offsets must rise from 0"),
        ({"offsets": [-1, 2]}, DataError, "offsets must rise from 0"),
        ({"offsets": [0.0, 2.0]}, DataError, "offsets must be whole numbers, one more than there are queries"),
        ({"offsets": []}, DataError, "offsets must be whole numbers"),
        ({"y": [1]}, DataError, r"y has shape \(1,\) but X has 2 rows"),
        ({"seed": -1}, ParameterError, "seed=-1; it must be a whole number, 0 or more"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0; it must be a whole number, 1 or more"),
        ({"X": [[1.0, 2.0]]}, DataError, "the network compares 1 features but the data has 2"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message.replace("?", r"\?")):
        sort_queries(**{"network": larger_first(), "X": [[1.0], [2.0]], "offsets": [0, 2], **arguments})


def test_orders_that_are_none_are_refused() -> None:
    with pytest.raises(DataError, match="order must hold every row number once"):
        scores_from_order([0, 0], [0, 2])
    with pytest.raises(DataError, match="order must hold the rows of each query where the query stands"):
        scores_from_order([1, 0], [0, 1, 2])
