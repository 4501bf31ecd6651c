"""Pairs of choices of which each is compiled for itself: a quick run meets every choice, a slow one every pair."""

from itertools import product

import pytest


def crossed(first, second, *, around):
    """Every pair of choices for ``parametrize``; those without a choice of the pair ``around`` are slow.

    A kernel made of a template takes its two functions from two tables, one each. What a choice brings along is wrong
    in every pair or in none, but for what a compiler might do to both at once, and that takes seconds a pair to see.
    """
    return [
        pytest.param(*pair, marks=() if {*pair} & {*around} else pytest.mark.slow) for pair in product(first, second)
    ]
