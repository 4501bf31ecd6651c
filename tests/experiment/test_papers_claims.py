"""Claims of papers: intervals, effect sizes and power against scipy and simulation, and the rule of the verdict."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ordino import Dataset, synthetic
from ordino.data.folds import Fold, Folds
from ordino.experiment.papers import target
from ordino.experiment.papers.claim import Claim, Finding, find
from ordino.experiment.papers.contrast import Contrast
from ordino.experiment.papers.letor import Row, pair_notes, row_claim
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.result import Result
from ordino.experiment.papers.target import Request, System

rng = np.random.default_rng(0)
SAMPLES = [(rng.normal(1, 2, 12), rng.normal(0, 1, 7)), (rng.normal(0, 1, 3), rng.normal(4, 1, 3))]


@pytest.mark.parametrize(("a", "b"), SAMPLES)
def test_interval_and_p_are_welchs(a, b):
    found = Contrast.of(a, b, is_paired=False)
    theirs = stats.ttest_ind(a, b, equal_var=False)
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    assert (found.p, found.degrees) == pytest.approx((theirs.pvalue, theirs.df))
    assert found.effect == pytest.approx((a.mean() - b.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))


def test_paired_values_are_taken_together():
    a = rng.normal(0, 5, 9)
    b = a - rng.normal(0.5, 0.1, 9)
    found = Contrast.of(a, b, is_paired=True)
    theirs = stats.ttest_rel(a, b)
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    assert found.p == pytest.approx(theirs.pvalue)
    assert found.effect == pytest.approx((a - b).mean() / (a - b).std(ddof=1))


@pytest.mark.parametrize(("n", "effect", "power"), [(3, 1.0, 0.157), (10, 0.99, 0.55), (30, 0.99, 0.964)])
def test_power_is_that_of_the_noncentral_t(n, effect, power):
    found = Contrast(0.0, np.sqrt(2 / n), 1.0, 2 * n - 2)
    law = stats.nct(2 * n - 2, effect * np.sqrt(n / 2))
    limit = stats.t.ppf(0.975, 2 * n - 2)
    assert found.power(effect) == pytest.approx(law.sf(limit) + law.cdf(-limit), abs=1e-9)
    drawn = np.random.default_rng(1).normal(size=(20_000, 2, n)) + np.array([effect, 0])[:, None]
    assert np.mean(stats.ttest_ind(drawn[:, 0], drawn[:, 1], axis=1).pvalue < 0.05) == pytest.approx(power, abs=0.01)
    assert found.power(effect) == pytest.approx(power, abs=0.01)


@pytest.mark.parametrize("degrees", [1.0, 1.3, 2.0, 3.7, 8.0, 58.0])
def test_there_is_a_power_for_every_difference(degrees):
    """Where scipy's own series gives NaN, a simulation has it."""
    found = Contrast(0.0, 1.0, 1.0, degrees)
    law = np.random.default_rng(3)
    normal, spread = law.normal(size=100_000), np.sqrt(law.chisquare(degrees, 100_000) / degrees)
    for shift in (0.0, 0.5, 3.0, 8.0, 12.0, 36.0, 80.0):
        simulated = np.mean(np.abs(normal + shift) > stats.t.ppf(0.975, degrees) * spread)
        assert found.power(-shift) == pytest.approx(simulated, abs=0.006)


def test_a_margin_on_other_data_is_a_deviation_of_ours():
    """0.013 is a deviation of the thesis' MAP; where ours varies less, it would let everything be level."""
    level = Claim(says="similar", better={"net": "deep"}, worse={"net": "shallow"}, margin=0.013)
    near = Contrast(0.006, 0.001, 0.002, 8)
    assert Finding(claim=level, on="", contrast=near).verdict == "comes back"
    assert Finding(claim=level, on="", contrast=near, same_data=False).verdict == "does not"


def test_the_interval_of_an_effect_holds_it_in_95_of_100_cases():
    law = np.random.default_rng(2)
    held = 0
    for _ in range(2000):
        low, high = Contrast.of(law.normal(0.9, 1, 8), law.normal(0, 1, 8), is_paired=False).effect_interval
        held += low < 0.9 < high
    assert held / 2000 == pytest.approx(0.95, abs=0.015)


def test_the_power_to_see_that_two_are_level():
    drawn = np.random.default_rng(3).normal(size=(4000, 2, 10))
    inside = 0
    for a, b in drawn:
        low, high = Contrast.of(a, b, is_paired=False).interval
        inside += low > -1.5 and high < 1.5
    assert Contrast(0.0, np.sqrt(2 / 10), 1.0, 18).level_power(1.5) == pytest.approx(inside / 4000, abs=0.03)


def test_values_that_do_not_vary():
    same, other = (Contrast.of([0.5, 0.5], [b, b], is_paired=False) for b in (0.5, 0.25))
    assert (same.p, same.effect, same.interval, same.power(0.1)) == (1.0, None, (0.0, 0.0), 1.0)
    assert (other.p, other.effect_interval, other.interval) == (0.0, None, (0.25, 0.25))
    assert Contrast.of([0.5], [0.5, 0.6], is_paired=False) is None


@pytest.mark.parametrize("step", [4e-3, 1e-3, 1e-8])
def test_huge_effects_have_an_interval_too(step):
    """t is 306, 1,225 and 122 million: the first by the noncentral t, the others beyond its range."""
    a = step * np.arange(-1, 2)
    found = Contrast.of(1 + a, a, is_paired=False)
    low, high = found.effect_interval
    assert (low * step, high * step) == pytest.approx((0.348, 1.669), abs=1e-3)  # roots of chi2(4) / 4
    assert Contrast.of(a, 1 + a, is_paired=False).effect_interval == pytest.approx((-high, -low))


# the rule


def claim(**fields):
    return Claim(says="a beats b", better={"who": "a"}, worse={"who": "b"}, **fields)


def finding(low, high, *, same_data=True, deviation=1.0, **fields):
    """A finding whose difference has this interval."""
    half = (high - low) / 2
    degrees = 20.0
    contrast = Contrast((low + high) / 2, half / stats.t.ppf(0.975, degrees), deviation, degrees)
    return Finding(claim=claim(**fields), on="", contrast=contrast, same_data=same_data)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 0.7, "comes back"),
        (0.1, 0.4, "comes back, weaker"),  # than half of the paper's 1
        (-0.1, 0.4, "does not"),
        (-0.9, -0.1, "does not"),
        (-0.1, 0.7, "cannot be told: power 100 %"),
        (-1.0, 2.0, "cannot be told: power 26 %"),
    ],
)
def test_the_rule(low, high, verdict):
    assert finding(low, high, difference=1.0).verdict == verdict


def test_what_the_paper_found_in_our_units():
    assert finding(0, 1, difference=1.0, deviations=(0.5, 0.5)).expected == 1.0
    # another collection: the paper's d = 2 in our deviations
    assert finding(0, 1, difference=1.0, deviations=(0.5, 0.5), same_data=False, deviation=0.1).expected == 0.2
    assert finding(0, 1, difference=1.0, same_data=False, deviation=0.1).expected == 1.0
    assert finding(0, 1, difference=1.0, deviations=(0.5, 0.5), same_data=False, is_paired=True).expected == 1.0
    assert finding(0, 1, deviation=0.1).expected == pytest.approx(0.08)  # the paper has words only: d = 0.8


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(-0.4, 0.3, "comes back"), (0.6, 0.7, "does not"), (-0.7, -0.6, "does not"), (-0.1, 0.6, "cannot be told")],
)
def test_level_is_within_the_margin(low, high, verdict):
    assert finding(low, high, margin=0.5).verdict.startswith(verdict)


NUMBERS = [
    Number((data, who), None, values, same_data=False)
    for data, who, values in (
        ("x", "a", (0.5, 0.6, 0.7)), ("x", "b", (0.1, 0.2, 0.3)), ("y", "b", (0.3,)), ("z", "a", (0.5,)),
        ("z", "b", (0.4,)),
    )
]  # fmt: skip


def test_a_claim_is_found_on_every_collection_that_has_both_numbers():
    found = list(find([claim()], ("data", "who"), NUMBERS))
    assert [(one.on, one.n, one.same_data) for one in found] == [("x", (3, 3), False), ("z", (1, 1), False)]
    assert found[0].contrast.difference == pytest.approx(0.4)
    assert [one.verdict for one in found] == ["comes back", "cannot be told: power 0 %"]


@pytest.mark.parametrize("which", [(True, True), (True, False), (False, True)])
def test_a_claim_is_of_the_papers_data_if_both_of_its_numbers_are(which):
    numbers = [Number(("x", who), None, (0.5, 0.6), same_data=own) for who, own in zip("ab", which, strict=True)]
    [found] = find([claim()], ("data", "who"), numbers)
    assert found.same_data == all(which)


def test_where_smaller_is_better_the_difference_keeps_its_sign_and_the_claim_its_direction():
    turned = Claim(
        says="b errs less", better={"who": "b"}, worse={"who": "a"}, difference=-0.4, smaller_is_better=True,
        deviations=(0.1, 0.1), p="< 0.01",
    )  # fmt: skip
    [first, _] = find([turned], ("data", "who"), NUMBERS)
    assert first.verdict == "comes back"
    assert first.row(2) == (
        "b errs less", "x", "-0.40, d = 4.00, p < 0.01", "-0.40 [-0.63, -0.17]", "4.00 [0.86, 7.06]", "0.008",
        "comes back",
    )  # fmt: skip
    assert first.facts()["difference"] == pytest.approx(-0.4)


def test_page_and_facts_tell_claims_and_choices():
    result = Result(
        "t", ("data", "who"), NUMBERS, "What was done.", choices=["the first rate is 0.1"], claims=[claim()],
        target="p.t", data=["x", "z"], seeds=[0, 7],
    )  # fmt: skip
    page = result.to_markdown()
    assert "## Where the paper is silent\n\n- the first rate is 0.1\n\n## Numbers" in page
    assert "| a beats b | x | in words | +0.400 [+0.173, +0.627] | 4.00 [0.86, 7.06] | 0.008 | comes back |" in page
    assert "Power, the probability that a claim which is true is found to be so: 0 to 12 %.\n" in page
    assert "\n\nRun on x and z. ± is the standard deviation over the repeats. Made on 20" in page
    assert "seeds 0, 7;" in page
    facts = json.loads(result.to_json())
    assert [(one["on"], one["verdict"]) for one in facts["claims"]] == [
        ("x", "comes back"),
        ("z", "cannot be told: power 0 %"),
    ]
    assert (facts["values"], facts["data"], facts["target"]) == (3, ["x", "z"], "p.t")
    assert facts["made"][:2] == "20"
    assert facts["ordino"]


# what tables of LETOR's shape add


def test_a_claim_of_two_rows_has_the_papers_numbers():
    a = Row("a", System("random-ranker"), {"TD2003": {"test map": 0.3}}, {"TD2003": {"test map": 0.02}})
    b = Row("b", System("random-ranker"), {"TD2003": {"test map": 0.2}}, {"TD2003": {"test map": 0.02}})
    made = row_claim("a beats b", a, b, p="= 0.04")
    assert (made.difference, made.deviations) == (0.1, (0.02, 0.02))
    assert made.effect == pytest.approx(5.0)
    assert made.better == {"method": "a", "part": "test", "measure": "map"}
    without = row_claim("a beats b", a, b._replace(paper={}, deviations={}))
    assert (without.difference, without.deviations) == (None, None)


def test_pairs_that_are_drawn_twice_count_once():
    # one query with 2 pairs of different labels and one with 100: shares of 20, and 22 distinct
    y, qid = [1, 0, 0] + [1] * 10 + [0] * 10, [1] * 3 + [2] * 20
    part = Dataset(np.zeros((23, 1)), y, qid)
    other = Dataset(np.zeros((4, 1)), [1, 0, 0, 0], [1] * 4)  # with three pairs, which nobody learns from
    folds = Folds(["1", "2"], lambda i: Fold(str(i), part, other, other))
    inner = System("deepnet", {"n_pairs": 40, "pairs": "C"})
    nested = System("rank-aggregation", {"ranker": inner})
    told = list(pair_notes("x", folds, [inner, nested, System("random-ranker")], Request()))
    assert told == ["Training pairs of configuration C on x, 40 asked for: 40 drawn in a fold, 22 of them distinct."]


def test_the_shape_of_mslr_is_made_by_name():
    [(name, folds)] = Request(Path("mslr"), quick=True).collections(("MQ2007",)).items()
    train = folds[0].train
    assert (name, train.n_queries, train.n_features) == ("MSLR's shape (synthetic)", 6, 136)
    assert set(train.y) == {0, 1, 2, 3, 4}


def test_td_is_made_by_name_and_called_synthetic(monkeypatch, folder):
    target._make.cache_clear()
    monkeypatch.setattr(target, "synthetic", lambda name, **options: synthetic("ranknet-net", docs=5, **options))
    [(name, folds)] = Request(Path("td"), quick=True).collections(("TD2003", "TD2004")).items()
    assert (name, len(folds), folds[0].train.n_queries) == ("td (synthetic)", 2, 6)
    target._make.cache_clear()
    assert list(Request(folder).collections(("TD2003",))) == ["TD2003"]
