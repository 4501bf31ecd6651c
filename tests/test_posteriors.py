"""RankNet, section 3: eq. 4 to 6, the theorem and the lemma."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ordino.errors import DataError
from ordino.posteriors import all_from_adjacent, combine, disagreement, ideal_outputs, repeat

inner = st.floats(0.01, 0.99)
chains = st.lists(inner, min_size=1, max_size=8)
ROUNDING = 8 * 8 * math.log(99) * np.finfo(float).eps
"""How far a probability of a chain may be off: 8 log odds of at most log(99) are added up, each sum rounded twice (at
both ends of the way), and a probability moves by at most a quarter of what its log odds do. Half of this is room."""


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


@example([0.875, 0.96875, 0.99, 0.99, 0.99, 0.99], Random(0))
@example([0.99] * 8, Random(0))
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
                ends = np.clip([[table[i, j] + by, table[j, k] + by] for by in (-ROUNDING, ROUNDING)], 0, 1)
                low, high = combine(*ends.T)  # beside 1, what is left of 1 - p can be all rounding
                assert low - ROUNDING <= table[i, k] <= high + ROUNDING


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


def test_the_pair_that_is_farthest_from_agreeing_is_named():
    """A chain agrees with anything: it is the circle of 2, 3 and 4 that does not, and 2 before 4 the most."""
    pairs, given = [(0, 1), (1, 2), (2, 3), (3, 4), (2, 4)], [0.75, 0.6, 0.5, 0.5, 0.99]
    missed = np.abs(disagreement(pairs, given))
    assert missed[:2].max() < 1e-9 < missed[2:].min()
    for turn in range(5):
        order = np.roll(np.arange(5), turn)
        worst = order[np.argmax(missed[order])]
        i, j = pairs[worst]
        with pytest.raises(DataError, match=rf"P\({i} before {j}\) is {given[worst]:g}, but"):
            ideal_outputs([pairs[k] for k in order], [given[k] for k in order])


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


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=7))
def test_ideal_outputs_are_those_that_made_the_probabilities(outputs):
    """Eq. 4 and back: every pair's probability by the formula, and its log odds (eq. 6) are differences of outputs."""
    pairs = [(i, j) for i in range(len(outputs)) for j in range(i)]
    given = [math.exp(outputs[i] - outputs[j]) / (1 + math.exp(outputs[i] - outputs[j])) for i, j in pairs]
    found = ideal_outputs(pairs, given)
    mean = sum(outputs) / len(outputs)
    np.testing.assert_allclose(found, [one - mean for one in outputs], atol=1e-9)
    for (i, j), p in zip(pairs, given, strict=True):
        assert found[i] - found[j] == pytest.approx(math.log(p / (1 - p)), abs=1e-9)
    np.testing.assert_allclose(disagreement(pairs, given), 0, atol=1e-9)


@given(inner, inner, inner)
def test_three_probabilities_agree_only_by_equation_5(p, q, r):
    pairs, third = [(0, 1), (1, 2), (0, 2)], p * q / (1 + 2 * p * q - p - q)
    ideal_outputs(pairs, [p, q, third])
    if abs(r - third) > 1e-3:
        assert np.abs(disagreement(pairs, [p, q, r])).max() > 1e-6
        with pytest.raises(DataError, match="no outputs give these probabilities"):
            ideal_outputs(pairs, [p, q, r])


def test_figure_1_right_a_pair_of_equal_posteriors_agrees_with_itself_at_one_half_alone():
    """P_ik = P at P = 1/2 and only there (0 and 1, the other two points, have no finite outputs)."""
    pairs = [(0, 1), (1, 2), (0, 2)]
    for p in (0.1, 0.3, 0.49, 0.51, 0.6, 0.9):
        assert np.abs(disagreement(pairs, [p, p, p])).max() > 1e-4
        assert np.abs(disagreement(pairs, [p, p, p * p / (1 - 2 * p + 2 * p * p)])).max() < 1e-12
    assert np.abs(disagreement(pairs, [0.5, 0.5, 0.5])).max() < 1e-12


def test_disagreement_is_the_least_squares_one():
    """By a general solver on the incidence matrix of random pairs, some of them given twice."""
    rng = np.random.default_rng(0)
    pairs = [(a, b) for a, b in rng.integers(0, 8, (20, 2)).tolist() if a != b]
    given = rng.uniform(0.1, 0.9, len(pairs))
    incidence = np.zeros((len(pairs), 8))
    for row, (i, j) in enumerate(pairs):
        incidence[row, i], incidence[row, j] = 1, -1
    best = np.linalg.lstsq(incidence, np.log(given / (1 - given)), rcond=None)[0]
    expected = given - 1 / (1 + np.exp(-incidence @ best))
    np.testing.assert_allclose(disagreement(pairs, given, n=8), expected, atol=1e-12)


def test_parts_that_no_pair_connects_have_mean_zero_each():
    assert ideal_outputs([(0, 1), (3, 2)], [0.9, 0.8], n=5).round(6).tolist() == pytest.approx(
        [math.log(9) / 2, -math.log(9) / 2, -math.log(4) / 2, math.log(4) / 2, 0], abs=1e-6
    )
    chain = np.column_stack((np.arange(30_000), np.arange(1, 30_001)))  # many items need little memory
    assert ideal_outputs(chain, np.full(30_000, 0.6)).max() == pytest.approx(15_000 * math.log(1.5))


@pytest.mark.parametrize(
    ("pairs", "given", "n", "words"),
    [
        ([(0, 1)], [1.0], None, "a 0 or a 1"),
        ([(0, 1)], [0.5, 0.5], None, "one probability for each"),
        ([(0.0, 1.0)], [0.5], None, "rows"),
        ([(0, 4)], [0.5], 3, "between 0 and 2"),
        ([(-1, 1)], [0.5], None, "items -1 to 1"),
        ([(2, 2)], [0.5], None, "with itself"),
        ([(0, 1)], [1.5], None, "outside 0 to 1"),
    ],
)
def test_preferences_that_make_no_sense(pairs, given, n, words):
    with pytest.raises(DataError, match=words):
        ideal_outputs(pairs, given, n=n)
