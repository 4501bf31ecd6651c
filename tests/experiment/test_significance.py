"""Tests of significance, effect sizes and intervals: by hand, by scipy, and where there is nothing to compare."""

import warnings
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ordino.errors import DataError, ParameterError
from ordino.experiment.compare import comparison, significance
from ordino.experiment.compare.comparison import (
    bootstrap_interval,
    cohens_d_paired,
    compare_values,
)
from ordino.experiment.compare.signed_ranks import sum_of_gains
from ordino.experiment.compare.significance import (
    TESTS,
    Outcome,
    compare_all,
    differences,
    find_test,
    fisher,
    holm,
    paired_t,
    welch,
    wilcoxon,
)
from ordino.experiment.compare.unpaired import compare_samples

NAN = float("nan")
VALUES = st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=2, max_size=30)

RNG = "rng" if "rng" in signature(stats.bootstrap).parameters else "random_state"  # before scipy 1.15


@pytest.fixture
def pair():
    """NDCG of 60 queries, the second ranker a little better."""
    rng = np.random.default_rng(3)
    a = rng.random(60)
    return a, a + rng.normal(0.05, 0.15, 60)


# ---------------------------------------------------------------------------------------------------------------------
# Agreement with scipy


def test_t_tests_are_those_of_scipy(pair):
    a, b = pair
    for ours, peer in (
        (paired_t(a, b), stats.ttest_rel(a, b)),
        (welch(a, b[:17]), stats.ttest_ind(a, b[:17], equal_var=False)),
    ):
        assert ours.statistic == pytest.approx(peer.statistic, rel=1e-12)
        assert ours.p == pytest.approx(peer.pvalue, rel=1e-10)


def test_trials_without_a_common_query_are_compared_by_welch_and_holm(pair):
    a, b = pair
    one = {"map": a[:9], "mrr": a[9:20], "p@1": np.append(a[20:30], NAN), "err": np.full(3, NAN), "rbp": a}
    other = {"map": b[:7], "mrr": b[7:30], "p@1": b[30:50] + 0.3, "err": b, "ndcg": b}
    names = ["map", "mrr", "p@1"]  # that both have values of
    peers = [stats.ttest_ind(one[name], other[name], equal_var=False, nan_policy="omit").pvalue for name in names]
    found = compare_samples(one, other)
    assert [line.measure for line in found] == names
    assert [line.p_alone for line in found] == pytest.approx(peers, rel=1e-9)
    assert [line.p for line in found] == pytest.approx(holm(peers).tolist(), rel=1e-9)
    assert [(line.n_a, line.n_b, line.family) for line in found] == [(9, 7, 3), (11, 23, 3), (10, 20, 3)]
    assert [line.difference for line in found] == pytest.approx(
        [np.nanmean(one[name]) - np.nanmean(other[name]) for name in names]
    )
    assert len({line.p for line in found} | {line.p_alone for line in found}) > 4
    assert "p of 3 is Holm-corrected" in found.note()


FIELDS = {
    "metric": "measure", "a": "mean_a", "b": "mean_b", "a - b": "difference", "p": "p_alone", "p of 2": "p",
    "effect d": "effect", "a above": "n_above", "equal": "n_equal", "b above": "n_below", "trials of a": "n_a",
    "trials of b": "n_b",
}  # fmt: skip
"""By head of a column what stands below it."""


@pytest.mark.parametrize("compared", [compare_values, compare_samples])
def test_what_stands_in_a_column_is_what_its_head_says(pair, compared):
    a, b = pair
    other = (
        {"map": b, "mrr": b[:-2]} if compared is compare_samples else {"map": b, "mrr": np.where(b > 0.9, a, b + 0.2)}
    )
    found = compared({"map": a, "mrr": a}, other)
    for one, row in zip(found, found.rows(), strict=True):
        cells = dict(zip(found.columns(), row, strict=True))
        if "95 % interval" in cells:
            assert [*map(float, cells.pop("95 % interval").split(" to "))] == pytest.approx(one.interval, abs=5e-5)
        for head, cell in cells.items():
            value = getattr(one, FIELDS[head])
            assert cell == value if head == "metric" else float(cell) == pytest.approx(value, rel=0.02, abs=6e-3)
    last = found[-1]
    assert any(float(f"{one.p:.2g}") > 1.1 * one.p_alone for one in found)
    if compared is compare_samples:
        assert last.n_a != last.n_b
    else:
        assert len({last.n_above, last.n_equal, last.n_below}) == 3


@pytest.mark.parametrize("n", [5, 20, 52, 53, 60])
@pytest.mark.parametrize("digits", [16, 1], ids=["few ties", "many ties"])
def test_wilcoxon_is_that_of_scipy(pair, n, digits):
    a, b = pair[0][:n].round(digits), pair[1][:n].round(digits)
    b[:2] = a[:2]  # two differences of zero
    peer = stats.wilcoxon(a, b)
    assert wilcoxon(a, b) == Outcome(peer.statistic, pytest.approx(peer.pvalue, rel=1e-12), n)


def test_wilcoxon_by_the_normal_law_shares_ranks_among_equal_differences():
    d = np.random.default_rng(0).integers(-3, 5, 200) / 8  # eight values, zero among them, and no rounding
    peer = stats.wilcoxon(d)
    assert np.count_nonzero(d) > significance.NORMAL
    assert wilcoxon(d, np.zeros(200)) == Outcome(peer.statistic, pytest.approx(peer.pvalue, rel=1e-12), 200)


@pytest.mark.parametrize("n", [1, 2, 60, 70_000])
@pytest.mark.parametrize("kind", ["even", "few sizes", "far apart", "one far away", "of one size", "tiny"])
def test_ranks_of_gains_are_those_of_scipy(n, kind):
    rng = np.random.default_rng(n)
    sizes = {
        "even": rng.random(n) + 1e-3,
        "few sizes": rng.integers(1, 9, n) / 8,
        "far apart": np.exp(rng.normal(0, 60, n)),
        "one far away": np.append(rng.random(n - 1) + 1e-3, 1e300),
        "of one size": np.ones(n),
        "tiny": rng.integers(1, 5, n) * 5e-324,
    }[kind]
    d = np.where(rng.random(n) < 0.4, -sizes, sizes)
    total, ties = sum_of_gains(d)
    assert total == stats.rankdata(np.abs(d))[d > 0].sum()
    counts = np.unique(np.abs(d), return_counts=True)[1]
    assert ties.tolist() == counts[counts > 1].tolist()


@pytest.mark.parametrize("n", [50, 51])
def test_wilcoxon_turns_to_the_normal_law_where_scipy_does(n):
    d = np.random.default_rng(n).normal(0.2, 1.0, n)
    assert wilcoxon(d, np.zeros(n)).p == pytest.approx(stats.wilcoxon(d).pvalue, rel=1e-12)


def test_exact_randomization_is_that_of_scipy(pair):
    a, b = pair[0][:9], pair[1][:9]
    peer = stats.permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", vectorized=True
    )
    ours = fisher(a, b)
    assert ours.statistic == pytest.approx(peer.statistic)
    assert ours.p == pytest.approx(peer.pvalue)


def test_drawn_randomization_comes_near_the_exact_one(pair, monkeypatch):
    a, b = pair[0][:14], pair[1][:14]
    exact = fisher(a, b).p
    monkeypatch.setattr(significance, "EXACT", 0)
    drawn = fisher(a, b, samples=40_000)
    assert drawn.p == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 40_000))
    assert drawn == fisher(a, b, samples=40_000) != fisher(a, b, samples=40_000, seed=1)


def test_randomization_sees_through_rounding():
    """Of the 8 ways to sign 0.1, 0.2, 0.1 six reach the sum of 0.2 that was seen, some of them but for the last bit."""
    assert fisher([0.1, 0.2, 0.0], [0.0, 0.0, 0.1]).p == 6 / 8


def test_randomization_is_never_sure():
    """40 gains of 40: no drawn swap is as large, but the one that was seen counts."""
    assert fisher(np.arange(1.0, 41.0), np.zeros(40), samples=999).p == 1 / 1000


@pytest.mark.parametrize("block", [100, 2**21])
def test_bootstrap_intervals_are_those_of_scipy(pair, block, monkeypatch):
    monkeypatch.setattr(comparison, "DRAWN", block)  # how much is drawn at a time makes no difference
    skewed = np.exp(3 * pair[0])
    peer = stats.bootstrap((skewed,), np.mean, n_resamples=2000, method="BCa", **{RNG: np.random.default_rng(5)})
    ours = bootstrap_interval(skewed, samples=2000, seed=5)
    assert ours == pytest.approx(peer.confidence_interval, rel=1e-12)


def test_intervals_hold_what_they_promise():
    """Of 200 intervals of level 0.9, each from 40 normal values, about 180 hold the true mean (deviation 4.2)."""
    rng = np.random.default_rng(0)
    intervals = [bootstrap_interval(rng.normal(1.0, 1.0, 40), level=0.9, samples=500, seed=i) for i in range(200)]
    assert 163 <= sum(low <= 1.0 <= high for low, high in intervals) <= 197


# ---------------------------------------------------------------------------------------------------------------------
# By hand


def test_welch_as_in_the_thesis():
    """T and degrees of freedom written out: means 3 and 1, variances 4 and 1, 3 and 5 values."""
    a, b = [1, 3, 5], [0, 0, 1, 2, 2]
    share_a, share_b = 4 / 3, 1 / 5
    degrees = (share_a + share_b) ** 2 / (share_a**2 / 2 + share_b**2 / 4)
    outcome = welch(a, b)
    assert outcome.statistic == pytest.approx((3 - 1) / np.sqrt(share_a + share_b))
    assert outcome.p == pytest.approx(2 * stats.t.sf(outcome.statistic, degrees))
    assert outcome.n == 8


def test_holm_by_hand():
    assert holm([0.02, NAN, 0.01, 0.5]) == pytest.approx([0.02 * 2, NAN, 0.01 * 3, 0.5], nan_ok=True)
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


def test_each_column_counts_in_the_correction(pair):
    a, b = pair
    outcomes, corrected = compare_all([a, b, a + 1], a, test="paired-t")
    assert outcomes[0].p == 1.0
    assert corrected[1] == pytest.approx(2 * outcomes[1].p)


# ---------------------------------------------------------------------------------------------------------------------
# Laws


@pytest.mark.parametrize("name", TESTS)
@settings(max_examples=25, deadline=None)
@given(a=VALUES, data=st.data())
def test_order_of_the_two_changes_no_p(name, a, data):
    b = data.draw(st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=len(a), max_size=len(a)))
    forth, back = TESTS[name].function(a, b), TESTS[name].function(b, a)
    assert 0 <= forth.p <= 1
    assert forth.p == pytest.approx(back.p, rel=1e-9, abs=1e-300)


@given(a=VALUES, b=VALUES)
def test_effects_change_sign_with_the_order(a, b):
    n = min(len(a), len(b))
    for effect in [cohens_d_paired]:
        assert effect(a[:n], b[:n]) == pytest.approx(-effect(b[:n], a[:n]), rel=1e-9)


@given(p=st.lists(st.floats(0, 1), max_size=20))
def test_holm_raises_and_keeps_the_order(p):
    corrected = holm(p)
    assert all(corrected >= p)
    assert all(corrected <= 1)
    assert all(np.diff(corrected[np.argsort(p, kind="stable")]) >= 0)


# ---------------------------------------------------------------------------------------------------------------------
# Where there is little or nothing


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize(("a", "b"), [([], []), ([0.3], [0.9]), ([NAN, 0.3], [0.5, 0.9]), ([NAN], [NAN])])
def test_fewer_than_two_pairs_prove_nothing(name, a, b):
    if name == "welch":
        b = b[:1]
    outcome = find_test(name).function(a, b)
    assert outcome.p == 1.0
    assert np.isnan(outcome.statistic)


@pytest.mark.parametrize("name", TESTS)
def test_no_difference_is_no_evidence(name):
    same = [0.1, 0.7, 0.3, 0.3]
    assert find_test(name).function(same, same) == Outcome(0.0, 1.0, 8 if name == "welch" else 4)


@pytest.mark.parametrize("name", TESTS)
def test_queries_that_one_leaves_out_are_left_out_of_both(name, pair):
    a, b = pair
    holes_a, holes_b = np.append(a, [NAN, 0.2]), np.append(b, [0.1, NAN])
    if name == "welch":  # samples of their own: each leaves out what it lacks
        holes_a, holes_b = np.append(a, NAN), np.append(b, [NAN, NAN])
    assert find_test(name).function(holes_a, holes_b) == find_test(name).function(a, b)


def test_the_same_difference_everywhere_is_the_limit_of_t():
    assert paired_t([2, 3, 4], [1, 2, 3]) == Outcome(np.inf, 0.0, 3)
    assert welch([1, 1], [2, 2]) == Outcome(-np.inf, 0.0, 4)
    assert cohens_d_paired([1, 2], [2, 3]) == -np.inf
    assert cohens_d_paired([1, 2], [1, 2]) == 0


def test_nearly_the_same_difference_makes_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert paired_t([0.1 + 1e-17, 0.3, 0.7], [0.0, 0.2, 0.6]).p < 1e-10


def test_an_effect_of_nothing_is_nan():
    assert np.isnan(cohens_d_paired([], []))


def test_intervals_without_spread():
    assert np.isnan(bootstrap_interval([])).all()
    assert np.isnan(bootstrap_interval([0.4, NAN])).all()
    assert bootstrap_interval([0.4, 0.4, NAN]) == (0.4, 0.4)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: differences([1, 2], [1]),
            DataError,
            r"shapes \(2,\) and \(1,\); give both values of each query",
        ),
        (lambda: welch([[1, 2]], [1]), DataError, r"not shape \(1, 2\); give flat arrays"),
        (lambda: find_test("wilcoxen"), ParameterError, "unknown test 'wilcoxen'; did you mean 'wilcoxon'?"),
        (lambda: bootstrap_interval([1, 2], level=95), ParameterError, "level is 95; give a share between 0 and 1"),
    ],
)
def test_what_goes_wrong_is_one_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
