"""Marks beside a plot: round, no more than asked for, and over the whole of the axis."""

from itertools import pairwise
from math import log10

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino.pages.scales import Scale, log_ticks, round_ticks, span_of

LOWS = (0.003, 1, 7, 31, 450.0)


@pytest.mark.parametrize("at_most", [4, 5, 6])
@pytest.mark.parametrize("low", LOWS)
@pytest.mark.parametrize("times", [10, 1e3, 1e6, 1e9, 1e12])
def test_marks_of_a_logarithmic_axis_cover_it(low, times, at_most):
    """The same distance between any two of a wide axis, and none that would leave room for one more at an end."""
    found = log_ticks(low, low * times, at_most)
    assert 1 < len(found) <= at_most
    assert low <= found[0] < found[-1] <= low * times
    if times >= 1e6:
        [step] = {round(log10(b / a)) for a, b in pairwise(found)}
        assert found[0] / 10**step < low * 10
        assert found[-1] * 10 ** (step + 1) > low * times


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 9))
def test_marks_of_an_axis_cover_it(low, width, at_most):
    high = low + width
    found = round_ticks(low, high, at_most)
    assert len(found) <= at_most
    slack = 1e-9 * max(abs(low), abs(high), width)
    assert all(low - slack <= one <= high + slack for one in found)
    steps = [b - a for a, b in pairwise(found)]
    if steps:
        assert max(steps) - min(steps) <= 1e-9 + slack
        assert found[0] - steps[0] < low + slack
        assert found[-1] + steps[0] > high - slack


def test_the_least_and_the_largest_of_what_is_known():
    assert span_of([3.0, float("nan"), -1.0, float("inf")]) == (-1.0, 3.0)
    assert span_of([float("nan")]) == (0.0, 1.0)


def test_values_stand_on_their_stretch_and_none_outside():
    scale = Scale(1, 100, 150, 16, log=True)  # downwards, as heights in a drawing are
    assert [scale.at(value) for value in (0.1, 1, 10, 100, 1000)] == [150, 150, 83, 16, 16]
    assert Scale(2.0, 2.0, 10, 20).at(7.0) == 15
