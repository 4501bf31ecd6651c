"""Numbers as a reader meets them: each kind at its edges, with the text that stands on the page."""

from math import inf, nan

import pytest

from ordino.pages import numbers
from ordino.pages.environment import FILTERS, environment, setting, short_test, sort_first

WRITTEN = {
    "fixed": {(None,): "–", (-0.00004,): "−0.0000", (0.99995,): "1.0000", (-1234.56, 1): "−1,234.6", (inf,): "–"},
    "signed": {(-0.00004,): "0.0000", (0.00005,): "+0.0001", (-inf,): "−∞", (nan,): "–", (1234.5, 1): "+1,234.5"},
    "chance": {(0.001,): "0.001", (0.00099,): "< 0.001", (0.0,): "< 0.001", (nan,): "–", (0.04951,): "0.050"},
    "chance_is": {(0.001,): "p = 0.001", (0.00099,): "p < 0.001", (0.5,): "p = 0.500"},
    "short": {(0.0,): "0", (-3.0,): "−3", (1e9,): "1e+09", (123456.7,): "1.235e+05", (999999999.0,): "999,999,999"},
    "percent": {(0.125,): "12 %", (0.999,): "100 %", (1.0,): "100 %", (0.004,): "0 %", (nan,): "–"},
    "count": {(1234567,): "1,234,567", (2.5,): "2.5", (3.0,): "3", (0,): "0"},
    "spelled": {(0,): "zero", (12,): "twelve", (13,): "13", (1300,): "1,300", (-1,): "-1"},
    "ordinal": {
        (0,): "zeroth", (1,): "first", (12,): "twelfth", (13,): "13th", (22,): "22nd", (101,): "101st",
        (111,): "111th", (112,): "112th", (113,): "113th", (123,): "123rd", (1011,): "1,011th", (1021,): "1,021st",
    },
    "measure_title": {("mrr",): "MRR", ("ndcg@5",): "NDCG@5", ("rbp(p=0.8)",): "RBP(p=0.8)", ("recall@3",): "recall@3"},
    "grade_class": {(3, 4): "g3", (1, 1): "g4", (0, 0): "g0", (-1, 2): "g0", (9, 2): "g4", (nan, 2): "gu"},
    "grade_text": {(None,): "–", (nan,): "–", (2.0,): "2", (-0.5,): "−0.5"},
    "cut_middle": {("123456789",): "123456789", ("1234567890",): "12345…890", ("abcdefg", 5): "ab…efg"},
    "plain_number": {(0.1,): "0.1", (float(2**24),): "16777216", (1e-40,): "1e-40", (0.0,): "0"},
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_are_written_so(name):
    for given, text in WRITTEN[name].items():
        assert getattr(numbers, name)(*given) == text, given


def test_every_filter_of_the_pages_is_shown():
    assert {one.__name__ for one in FILTERS} <= set(WRITTEN)
    assert {one.__name__ for one in FILTERS} <= set(environment().filters)


def test_names_in_a_sentence():
    names = ["a", "b", "c", "d", "e"]
    told = [numbers.listed(names[:n]) for n in range(1, 6)]
    assert told == ["a", "a and b", "a, b and c", "a, b, c and d", "a, b, c and 2 others"]


def test_words_of_fields():
    assert sort_first(["a", "b", "c"], "b") == ["b", "a", "c"]
    assert [setting(value) for value in (0.123456, 1, None, "x", True)] == ["0.1235", "1", "null", '"x"', "true"]
    titles = ("Wilcoxon's signed rank test", "paired t-test", "Welch's t-test")
    assert [short_test(title) for title in titles] == ["Wilcoxon", "paired t", "Welch"]
