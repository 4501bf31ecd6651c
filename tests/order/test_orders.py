"""Orders by name: over all pairs they depend on the documents alone, also where a query is too long for all to meet."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from comparators import larger_first, preferences, random_network
from hypothesis import example, given
from hypothesis import strategies as st

from ordino.data.dataset import Dataset
from ordino.data.kernels import hash_rows
from ordino.errors import DataError, ParameterError
from ordino.order import ORDERS, SORTS, meetings, order_queries, sort_queries, tournament
from ordino.order.pairs import Pairs, content_order

OVER_ALL_PAIRS = [name for name in ORDERS if name not in SORTS]


def circles(n: int, seed: int = 1, n_features: int = 2) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(n, n_features)).astype(np.float32)
    return random_network(n_features, (8,), "tanh", seed=seed, scale=5), X


def test_the_table_has_two_orders_over_all_pairs_and_four_sorts() -> None:
    assert OVER_ALL_PAIRS == ["copeland", "borda"]
    assert list(SORTS) == ["merge", "quick", "heap", "insertion"]


@pytest.mark.parametrize("algorithm", ORDERS)
@given(st.lists(st.integers(-50, 50), max_size=40))
def test_every_order_follows_a_transitive_comparator(algorithm: str, numbers: list[int]) -> None:
    X = np.array(numbers, np.float32).reshape(-1, 1)
    order = order_queries(larger_first(), X, [0, len(X)], algorithm=algorithm)
    assert [numbers[i] for i in order] == sorted(numbers, reverse=True)


@given(st.integers(0, 30), st.integers(0, 1000))
@example(2, 455)  # a tie
def test_most_wins_come_first_then_the_larger_sum(n: int, seed: int) -> None:
    network, X = circles(n, seed)
    wins, sums = (tournament(network, X, [0, n], rule=rule) for rule in OVER_ALL_PAIRS)
    start = np.argsort(hash_rows(X, np.empty((n, 0), np.uint64))).tolist()  # decides where both are equal
    assert order_queries(network, X, [0, n]).tolist() == sorted(start, key=lambda i: (-wins[i], -sums[i]))
    assert order_queries(network, X, [0, n], algorithm="borda").tolist() == sorted(start, key=lambda i: -sums[i])


def test_equal_wins_are_told_apart() -> None:
    """Three documents in a circle have one win each: the largest sum of probabilities decides."""
    network, X = circles(60)
    beats = preferences(network, X) > 0.5
    a, b = next((a, b) for a in range(60) for b in range(a) if beats[a, b])
    c = next(c for c in range(60) if beats[b, c] and beats[c, a])
    three = X[[a, b, c]]
    assert tournament(network, three, [0, 3]).tolist() == [1, 1, 1]
    sums = tournament(network, three, [0, 3], rule="borda")
    assert order_queries(network, three, [0, 3])[0] == np.argmax(sums)


@pytest.mark.parametrize("algorithm", OVER_ALL_PAIRS)
def test_documents_that_the_network_cannot_tell_apart_are_ordered_by_their_contents(algorithm: str) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    X[:, 0] = 1  # all that the network looks at
    rows = np.random.default_rng(1).permutation(50)
    order = order_queries(larger_first(3), X, [0, 50], algorithm=algorithm)
    shuffled = order_queries(larger_first(3), X[rows], [0, 50], algorithm=algorithm)
    assert X[order].tolist() == X[rows][shuffled].tolist()
    assert order.tolist() == content_order(Dataset(X, np.zeros(50))).tolist()


@pytest.mark.parametrize("top", [None, 30])
@pytest.mark.parametrize("algorithm", OVER_ALL_PAIRS)
def test_no_order_over_all_pairs_depends_on_rows_or_threads(
    algorithm: str, top: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meetings, "LONG", 100)  # the second and the last query are long
    monkeypatch.setattr(meetings, "SAMPLE", 40)
    monkeypatch.setattr(meetings, "BLOCK_DOCS", 200)
    monkeypatch.setattr(meetings, "BLOCK_PAIRS", 500)
    network, X = circles(700)
    offsets = np.array([0, 60, 360, 360, 361, 500, 700])
    rows = np.concatenate([np.random.default_rng(0).permutation(np.arange(*q)) for q in pairwise(offsets)])
    order = order_queries(network, X, offsets, algorithm=algorithm, top=top, n_jobs=2)
    alone = order_queries(network, X, offsets, algorithm=algorithm, top=top, n_jobs=1)
    shuffled = order_queries(network, X[rows], offsets, algorithm=algorithm, top=top)
    assert order.tolist() == alone.tolist() == rows[shuffled].tolist()
    third = order_queries(network, X[361:500], [0, 139], algorithm=algorithm, top=top)
    assert (third + 361).tolist() == order[361:500].tolist()


@pytest.mark.parametrize("algorithm", OVER_ALL_PAIRS)
def test_the_best_of_a_long_query_are_settled_against_all(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network, X = circles(900, n_features=4)
    exact = order_queries(network, X, [0, 900], algorithm=algorithm, top=None)
    monkeypatch.setattr(meetings, "LONG", 500)
    monkeypatch.setattr(meetings, "SAMPLE", 100)
    long = order_queries(network, X, [0, 900], algorithm=algorithm, top=200)
    assert long[:50].tolist() == exact[:50].tolist()
    assert long.tolist() != exact.tolist()
    assert sorted(long.tolist()) == list(range(900))
    scores = tournament(network, X, [0, 900], rule=algorithm)
    assert (np.diff(scores[long[:200]]) <= 0).all()  # by all meetings, not by the sample
    assert np.corrcoef(scores[long], np.arange(900))[0, 1] < -0.95  # the rest is nearly in order
    assert order_queries(network, X, [0, 900], algorithm=algorithm, top=900).tolist() == exact.tolist()
    for top, all_meet in ((350, True), (349, False)):  # where it is no more work than with a sample, all do
        found = order_queries(network, X, [0, 900], algorithm=algorithm, top=top)
        assert (found.tolist() == exact.tolist()) == all_meet


@pytest.mark.parametrize("algorithm", OVER_ALL_PAIRS)
def test_a_long_query_is_in_order_where_the_comparator_is_transitive(algorithm: str) -> None:
    """Also the documents of the sample stand in their places among those that are not of it."""
    X = np.random.default_rng(0).permutation(np.linspace(-2, 2, 1001, dtype=np.float32)).reshape(-1, 1)
    order = order_queries(larger_first(), X, [0, 1001], algorithm=algorithm)
    assert X[order, 0].tolist() == sorted(X[:, 0].tolist(), reverse=True)


def test_no_document_takes_more_comparisons_in_a_longer_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of 1,000 documents are 499.5 comparisons for each of them; in a longer query there are fewer."""
    made = 0
    make = meetings.make_meetings

    def counting(*form: Any) -> Callable[..., None]:
        def meet(bias: Any, plan: Any, weights: Any, sides: Any, bounds: Any, first: int, last: int, *out: Any) -> None:
            nonlocal made
            rows = np.arange(first, last)
            made += int((bounds[np.searchsorted(bounds, rows, side="right")] - rows - 1).sum())
            make(*form)(bias, plan, weights, sides, bounds, first, last, *out)

        return meet

    monkeypatch.setattr(meetings, "make_meetings", counting)
    network, X = circles(16_000)
    each = {}
    for n in (50, 1000, 1001, 4000, 16_000):
        made = 0
        order_queries(network, X, np.arange(0, 16_001, n) if n != 1001 else [0, 1001, 16_000], n_jobs=1)
        each[n] = made / 16_000
    assert (each[50], each[1000]) == (24.5, 499.5)
    assert max(each.values()) == each[1000]


def test_the_form_ranks_by_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    network, X = circles(300)
    data = Dataset(X, np.zeros(300))
    for algorithm in ORDERS:
        order = order_queries(network, X, [0, 300], algorithm=algorithm)
        assert Pairs(None, 2, network, algorithm).score(data)[order].tolist() == list(range(299, -1, -1))
    monkeypatch.setattr(meetings, "LONG", 100)
    monkeypatch.setattr(meetings, "SAMPLE", 20)
    few, all_of_them = (Pairs(None, 2, network, "copeland", top=top).score(data) for top in (5, None))
    assert few.tolist() != all_of_them.tolist()


def test_unknown_orders_are_refused() -> None:
    with pytest.raises(ParameterError, match="unknown algorithm 'copelan'; did you mean 'copeland'"):
        order_queries(larger_first(), [[1.0]], [0, 1], algorithm="copelan")
    with pytest.raises(ParameterError, match="unknown sort 'copeland'"):
        sort_queries(larger_first(), [[1.0]], [0, 1], algorithm="copeland")
    with pytest.raises(DataError, match="order must hold every row number once"):
        order_queries(larger_first(), [[1.0], [2.0]], [0, 2], start=[0, 0])
