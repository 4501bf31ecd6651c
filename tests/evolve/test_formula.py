"""Formulas print as one reads them, parse back, and compute what they print."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino.errors import ParameterError
from ordino.evolve import FUNCTIONS, Formula, GeneticProgramming
from ordino.evolve.genetic_programming import run_over


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("0", "f1"),
        ("- - 0 1 2", "f1 - f2 - f3"),
        ("- 0 - 1 2", "f1 - (f2 - f3)"),
        ("/ 0 * 1 2", "f1 / (f2 * f3)"),
        ("* + 0 1 2", "(f1 + f2) * f3"),
        ("+ * 0 1 2", "f1 * f2 + f3"),
        ("* 0 -0.5", "f1 * (-0.5)"),
        ("min 0 sqrt + 1 0.25", "min(f1, sqrt(f2 + 0.25))"),
        ("+ 0 + 1 2", "f1 + f2 + f3"),
    ],
)
def test_text(words: str, text: str) -> None:
    assert str(Formula.parse(words.split())) == text
    assert repr(Formula.parse(words.split())) == f"Formula({text})"


def trees() -> st.SearchStrategy[Formula]:
    return st.integers(0, 100_000).map(
        lambda seed: GeneticProgramming(3, population=8, functions=tuple(FUNCTIONS), seed=seed).population[seed % 8]
    )


@given(trees())
def test_words_parse_back_and_parts_graft_back(tree: Formula) -> None:
    again = Formula.parse(tree.words())
    assert again == tree
    assert hash(again) == hash(tree)
    for node in range(len(tree)):
        assert tree.graft(node, tree.cut(node)) == tree


@given(trees())
def test_the_text_is_what_is_computed(tree: Formula) -> None:
    X = np.random.default_rng(0).random((5, 3)).astype(np.float32)
    rows = X.astype(float)
    words = list(tree.words())

    def value(at: int) -> tuple[np.ndarray, int]:
        word = words[at]
        if word not in FUNCTIONS:
            return (rows[:, int(word)] if word.isdigit() else np.full(5, float(word))), at + 1
        left, at = value(at + 1)
        if word == "sqrt":
            return np.sqrt(abs(left)), at
        right, at = value(at)
        safe = np.where(abs(right) > 1e-9, right, 1.0)
        divided = np.where(abs(right) > 1e-9, left / safe, 1.0)
        known = {"+": left + right, "-": left - right, "*": left * right, "/": divided}
        return known.get(word, np.minimum(left, right) if word == "min" else np.maximum(left, right)), at

    np.testing.assert_array_equal(run_over(tree, X), value(0)[0])


def test_scores_stay_finite() -> None:
    words = "* " * 40 + "1e30 " * 41
    X = np.ones((1, 1), np.float32)
    assert run_over(Formula.parse(words.split()), X).tolist() == [1e300]
    endless = Formula.parse(["-", *words.split(), *words.split()])  # infinity minus infinity
    assert run_over(endless, X).tolist() == [0.0]


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ParameterError, match="unknown function 'sqr'; did you mean 'sqrt'"):
        Formula.parse(["sqr", "0"])
