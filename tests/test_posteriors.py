"""RankNet, section 3: eq. 5, the theorem and the lemma."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino.errors import DataError
from ordino.posteriors import all_from_adjacent, combine, repeat

inner = st.floats(0.01, 0.99)
chains = st.lists(inner, min_size=1, max_size=8)


@given(inner, inner)
def test_combining_is_equation_5(p, q):
    assert combine(p, q) == pytest.approx(p * q / (1 + 2 * p * q - p - q))


@given(inner, inner, inner)
def test_combining_is_associative_and_reverses(p, q, r):
    assert combine(combine(p, q), r) == pytest.approx(combine(p, combine(q, r)))
    assert combine(1 - q, 1 - p) == pytest.approx(1 - combine(p, q))


def test_certainty_and_complete_uncertainty_propagate():
    assert combine([0.0, 0.5, 1.0], [0.0, 0.5, 1.0]).tolist() == [0.0, 0.5, 1.0]
    assert combine(0.6, 0.6) > 0.6  # confidence builds up
    assert combine(0.4, 0.4) < 0.4
    assert combine(0.5, 0.8) == pytest.approx(0.8)


@given(chains, st.randoms(use_true_random=False))
def test_theorem_adjacent_probabilities_determine_all(chain, random):
    n = len(chain) + 1
    order = list(range(n))
    random.shuffle(order)
    table = all_from_adjacent(chain, order)
    for i in range(n - 1):
        assert table[order[i], order[i + 1]] == pytest.approx(chain[i])  # what was said stands
    np.testing.assert_allclose(table + table.T, 1)
    for i in range(n):
        for j in range(n):
            for k in range(n):  # and every way from i to k gives the same
                assert combine(table[i, j], table[j, k]) == pytest.approx(table[i, k])


@given(chains)
def test_theorem_any_other_chain_of_the_same_table_gives_the_table(chain):
    table = all_from_adjacent(chain)
    backwards = np.arange(len(table))[::-1]
    again = all_from_adjacent(table[backwards[:-1], backwards[1:]], backwards)
    np.testing.assert_allclose(again, table, atol=1e-12)


def test_theorem_with_certain_neighbors():
    """a before b for certain, b and c even, c before d for certain: a is first, d is last."""
    table = all_from_adjacent([1.0, 0.5, 1.0])
    assert table[0].tolist() == [0.5, 1, 1, 1]
    assert table[:, 3].tolist() == [1, 1, 1, 0.5]
    assert table[1, 2] == 0.5
    reverse = all_from_adjacent([0.0, 0.0])
    assert reverse.tolist() == [[0.5, 0, 0], [1, 0.5, 0], [1, 1, 0.5]]


@given(st.floats(0.51, 0.9), st.integers(1, 8))
def test_lemma_confidence_grows_with_distance(p, n):
    assert repeat(p, 1) == pytest.approx(p)
    assert repeat(p, n + 1) > repeat(p, n) >= p - 1e-12
    assert repeat(1 - p, n + 1) < repeat(1 - p, n) <= 1 - p + 1e-12
    assert repeat(0.5, n) == 0.5


@given(inner, st.integers(1, 8))
def test_lemma_is_the_theorem_for_equal_neighbors(p, n):
    assert all_from_adjacent([p] * n)[0, n] == pytest.approx(float(repeat(p, n)))


def test_lemma_at_certainty():
    assert repeat([0.0, 1.0], 3).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: combine(1.0, 0.0), "cannot be combined"),
        (lambda: combine(1.2, 0.5), "p_ij has values outside 0 to 1"),
        (lambda: combine(0.5, np.nan), "p_jk has values outside 0 to 1"),
        (lambda: repeat(0.5, 0), "not positive"),
        (lambda: all_from_adjacent([[0.5]]), "adjacent has shape"),
        (lambda: all_from_adjacent([0.5], [0, 0]), "each of the 2 items 0 to 1 once"),
        (lambda: all_from_adjacent([0.5], [0, 1, 2]), "each of the 2 items"),
        (lambda: all_from_adjacent([1.0, 0.0]), "both a 1 and a 0"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()
