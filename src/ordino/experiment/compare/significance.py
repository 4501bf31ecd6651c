r"""Is the difference between two rankers more than chance? Pure functions of two arrays of values.

Values of the same queries are *paired*: entry ``i`` of both arrays belongs to query ``i``, and a query that is NaN in
one of them is left out of both. Welch's test takes two samples of their own, such as the means of repeated trials
(DeepNet, section 2.4). All tests are two-sided. With no difference at all, or fewer than two values, p = 1.

:data:`TESTS` is the table of all tests; command line, reports and documentation are made from it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ordino.checks import check_choice
from ordino.errors import DataError
from ordino.experiment.compare.signed_ranks import sum_of_gains

Floats = NDArray[np.float64]

EXACT = 16
"""The randomization test goes through all sign flips of at most this many differences."""
NORMAL = 50
"""Wilcoxon's test takes the normal law for more differences than this that are not zero, as scipy does."""
ROUNDING = 1e-12
"""What differs by less than this share of the larger value is the same value, averaged in another order."""
BLOCK = 4096  # sign flips held in memory at a time


@final
@dataclass(frozen=True)
class Outcome:
    """The result of a test.

    Examples
    --------
    Three small gains and a large loss: the mean falls, but the sum of ranks 1 + 2 + 3 - 4 is positive.

    >>> paired_t([1, 2, 3, 0], [0, 0, 0, 9]).leaning, wilcoxon([1, 2, 3, 0], [0, 0, 0, 9]).leaning
    (-0.75, 2.0)
    """

    statistic: float
    """Positive if the first is larger overall; for Wilcoxon's test, the smaller rank sum; NaN if undefined."""
    p: float
    """The probability of a difference at least as large by chance alone."""
    n: int
    """The number of pairs that were compared; for Welch's test, of the values in both samples."""
    leaning: float = field(default=0.0, repr=False, compare=False)
    """Positive if the test favors the first, negative if the second: by ranks or by size."""


def welch(a: ArrayLike, b: ArrayLike) -> Outcome:
    r"""Welch's t-test of two samples whose variances and sizes may differ.

    .. math:: T = (\bar a - \bar b) / \sqrt{s_a^2 / n_a + s_b^2 / n_b}

    with Student's distribution of :math:`\nu` degrees of freedom (Welch and Satterthwaite).

    Examples
    --------
    Means 2 and 5, both variances 1 and three values each: T = -3 / sqrt(2/3), with 4 degrees of freedom.

    >>> outcome = welch([1, 2, 3], [4, 5, 6])
    >>> round(outcome.statistic, 4), round(outcome.p, 4)
    (-3.6742, 0.0213)
    """
    left, right = measured(a), measured(b)
    n = len(left) + len(right)
    if min(len(left), len(right)) < 2:
        return Outcome(np.nan, 1.0, n)
    share_left, share_right = left.var(ddof=1) / len(left), right.var(ddof=1) / len(right)
    squared_error = share_left + share_right
    difference = float(left.mean() - right.mean())
    if squared_error == 0:
        return _without_spread(difference, n)
    degrees = squared_error**2 / (share_left**2 / (len(left) - 1) + share_right**2 / (len(right) - 1))
    return _student(difference / np.sqrt(squared_error), degrees, n, difference)


def paired_t(a: ArrayLike, b: ArrayLike) -> Outcome:
    r"""Student's t-test of the differences: :math:`T = \bar d / (s_d / \sqrt n)`, :math:`n - 1` degrees of freedom.

    Examples
    --------
    Differences 1, 2, 3 have mean 2 and deviation 1: T = 2 sqrt(3).

    >>> outcome = paired_t([2, 3, 4], [1, 1, 1])
    >>> round(outcome.statistic, 4), round(outcome.p, 4)
    (3.4641, 0.0742)
    """
    d = differences(a, b)
    if len(d) < 2:
        return Outcome(np.nan, 1.0, len(d))
    error = d.std(ddof=1) / np.sqrt(len(d))
    mean = float(d.mean())
    return _without_spread(mean, len(d)) if error == 0 else _student(mean / error, len(d) - 1, len(d), mean)


def wilcoxon(a: ArrayLike, b: ArrayLike) -> Outcome:
    """Wilcoxon's signed rank test of the differences; differences of zero are left out.

    For more than :data:`NORMAL` differences the normal approximation is used, with the usual correction for ties;
    otherwise scipy's test, which is exact if possible.

    Examples
    --------
    Six gains out of six: both orders of chance that are as extreme make 2 / 2**6.

    >>> wilcoxon([1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0])
    Outcome(statistic=0.0, p=0.03125, n=6)
    """
    d = differences(a, b)
    n, moved = len(d), d if d.all() else d[d != 0]
    if n < 2 or not len(moved):
        return Outcome(np.nan if n < 2 else 0.0, 1.0, n)
    if len(moved) > NORMAL:
        return _normal_signed_rank(moved, n)
    from scipy.stats import wilcoxon as signed_rank  # takes most of a second to load, which large samples are spared

    found = signed_rank(d)
    return Outcome(float(found.statistic), float(found.pvalue), n, 2 * sum_of_gains(moved)[0] - _sum_of_ranks(moved))


def fisher(a: ArrayLike, b: ArrayLike, *, samples: int = 100_000, seed: int = 0) -> Outcome:
    """Fisher's randomization test: how often randomly swapping the two gives a mean difference at least as large.

    For up to :data:`EXACT` nonzero differences, all ``2**n`` swaps are tried. For more, ``samples`` of them are drawn,
    and the observed outcome is added (so that p is never 0).

    Examples
    --------
    Of the 8 ways to sign 1, 2, 3 only +++ and --- reach a sum of 6.

    >>> fisher([1, 2, 3], [0, 0, 0])
    Outcome(statistic=2.0, p=0.25, n=3)
    """
    d = differences(a, b)
    n = len(d)
    if n < 2:
        return Outcome(np.nan, 1.0, n)
    mean, d = float(d.mean()), d[d != 0]
    total = d.sum()
    bound = abs(total) - 1e-14 * np.abs(d).sum()  # the same sum in another order is not a smaller one
    if len(d) <= EXACT:
        every = np.arange(2 ** len(d))[:, None] >> np.arange(len(d)) & 1
        return Outcome(mean, float(np.mean(np.abs(total - 2 * (every @ d)) >= bound)), n, mean)
    rng, reached = np.random.default_rng(seed), 0
    for start in range(0, samples, BLOCK):
        rows = min(BLOCK, samples - start)
        packed = rng.integers(0, 256, (rows, -(-len(d) // 8)), dtype=np.uint8)
        flips = np.unpackbits(packed, axis=1, count=len(d)).astype(np.float64)  # (rows, n): 1 where a pair is swapped
        reached += int(np.count_nonzero(np.abs(total - 2 * (flips @ d)) >= bound))
    return Outcome(mean, (reached + 1) / (samples + 1), n, mean)


def holm(p: ArrayLike) -> Floats:
    """Holm's correction: raise the p-values of several tests so that the probability of any false alarm stays bounded.

    The smallest p is multiplied by their number, the next by one less, and so on; none falls below the one before it,
    and none exceeds 1. NaN stays NaN and is not counted.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()   # 3 x 0.01, then 2 x 0.03; 1 x 0.04 would be less than that
    [0.03, 0.06, 0.06]
    """
    given = np.array(p, dtype=np.float64)
    order = np.argsort(given, kind="stable")[: np.count_nonzero(~np.isnan(given))]
    steps = given[order] * np.arange(len(order), 0, -1)
    given[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return given


def measured(values: ArrayLike) -> Floats:
    """The values that are not NaN."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"a test takes one value for each query or trial, not shape {array.shape}; give flat arrays")
    there = ~np.isnan(array)
    return array if there.all() else array[there]


def differences(a: ArrayLike, b: ArrayLike) -> Floats:
    """``a - b`` where both have a value; exactly 0 where they differ by no more than rounding does.

    Examples
    --------
    >>> differences([1.0, float("nan"), 3.0], [0.5, 2.0, 3.0]).tolist()
    [0.5, 0.0]
    >>> differences([(0.1 + 0.1 + 0.1) / 3], [0.1]).tolist()   # a mean over three seeds, and one trial
    [0.0]
    """
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if left.shape != right.shape:
        raise DataError(f"a paired test got shapes {left.shape} and {right.shape}; give both values of each query")
    d = left - right
    is_same = np.abs(d) <= ROUNDING * np.maximum(np.abs(left), np.abs(right))
    return measured(np.where(is_same, 0.0, d) if is_same.any() else d)


def _normal_signed_rank(d: Floats, n: int) -> Outcome:
    """The smaller rank sum of differences that are not zero, against the normal law that it nearly follows."""
    gains, ties = sum_of_gains(d)
    total = _sum_of_ranks(d)
    variance = total * (2 * len(d) + 1) / 12 - np.sum(ties**3 - ties) / 48
    z = (gains - total / 2) / np.sqrt(variance)
    return Outcome(min(gains, total - gains), float(2 * special.ndtr(-abs(z))), n, 2 * gains - total)


def _sum_of_ranks(d: Floats) -> float:
    return len(d) * (len(d) + 1) / 2


def _student(statistic: float, degrees: float, n: int, difference: float) -> Outcome:
    return Outcome(float(statistic), float(2 * special.stdtr(degrees, -abs(statistic))), n, difference)


def _without_spread(difference: float, n: int) -> Outcome:
    """The limit of the t-tests as the variance goes to zero."""
    if difference == 0:
        return Outcome(0.0, 1.0, n)
    return Outcome(float(np.copysign(np.inf, difference)), 0.0, n, difference)


def compare_all(
    columns: Sequence[ArrayLike], reference: ArrayLike, *, test: str = "wilcoxon"
) -> tuple[list[Outcome], Floats]:
    """Each column against the reference, and their p-values after Holm's correction.

    Examples
    --------
    Alone each p is 2 / 2**6; of two, the smaller one counts twice.

    >>> _, p = compare_all([[1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 7]], [0] * 6)
    >>> p.tolist()
    [0.0625, 0.0625]
    """
    function = find_test(test).function
    outcomes = [function(column, reference) for column in columns]
    return outcomes, holm([outcome.p for outcome in outcomes])


@final
@dataclass(frozen=True)
class SignificanceTest:
    """An entry of :data:`TESTS`."""

    name: str
    function: Callable[[ArrayLike, ArrayLike], Outcome]
    title: str
    description: str
    is_paired: bool = True


_ALL = (
    SignificanceTest(
        "wilcoxon", wilcoxon, "Wilcoxon's signed rank test", "ranks of the differences; assumes no normal law"
    ),
    SignificanceTest("paired-t", paired_t, "paired t-test", "mean of the differences; the usual test over queries"),
    SignificanceTest("fisher", fisher, "Fisher's randomization test", "mean of the differences; assumes no law at all"),
    SignificanceTest(
        "welch", welch, "Welch's t-test", "means of trials, such as repeats with other seeds", is_paired=False
    ),
)
TESTS: Mapping[str, SignificanceTest] = MappingProxyType({test.name: test for test in _ALL})
"""Every test by its name on the command line."""


def find_test(name: str) -> SignificanceTest:
    """The test with this name in :data:`TESTS`."""
    return TESTS[check_choice("test", name, TESTS)]
