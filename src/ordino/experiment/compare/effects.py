"""How large is a difference? Effect sizes, and intervals by the bootstrap; NaN values are left out as in the tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ordino.errors import ParameterError
from ordino.experiment.compare.significance import Floats, differences, measured

BLOCK = 2**21  # resampled values held in memory at a time


class Interval(NamedTuple):
    """Where a mean may lie."""

    low: float
    high: float


def cohens_d(a: ArrayLike, b: ArrayLike) -> float:
    """The difference of two means in units of the pooled deviation (0.2 is called small, 0.5 medium, 0.8 large).

    Examples
    --------
    >>> cohens_d([1, 2, 3], [4, 5, 6])   # means 2 and 5, deviation 1
    -3.0
    """
    left, right = measured(a), measured(b)
    if min(len(left), len(right)) < 2:
        return float("nan")
    squares = left.var() * len(left) + right.var() * len(right)
    return _in_units(left.mean() - right.mean(), np.sqrt(squares / (len(left) + len(right) - 2)))


def cohens_d_paired(a: ArrayLike, b: ArrayLike) -> float:
    """The mean difference in units of the deviation of the differences.

    Examples
    --------
    >>> cohens_d_paired([2, 3, 4], [1, 1, 1])   # differences 1, 2, 3
    2.0
    """
    d = differences(a, b)
    return float("nan") if len(d) < 2 else _in_units(d.mean(), d.std(ddof=1))


def cliffs_delta(a: ArrayLike, b: ArrayLike) -> float:
    """P(a > b) - P(a < b) over all pairs of a value of each: 1 if every a is larger, -1 if every a is smaller.

    Examples
    --------
    Of the four pairs 3 > 1, 3 > 2, 2 > 1, 2 = 2 three are gains.

    >>> cliffs_delta([3, 2], [1, 2])
    0.75
    """
    left, right = measured(a), np.sort(measured(b))
    if not len(left) or not len(right):
        return float("nan")
    gains = np.searchsorted(right, left, side="left").sum()
    losses = (len(right) - np.searchsorted(right, left, side="right")).sum()
    return float(gains - losses) / (len(left) * len(right))


def common_language(a: ArrayLike, b: ArrayLike) -> float:
    """The chance that a value of a is larger than one of b, ties counted half.

    Examples
    --------
    >>> common_language([3, 2], [1, 2])   # three gains and a tie in four pairs
    0.875
    """
    return (cliffs_delta(a, b) + 1) / 2


def bootstrap_interval(
    values: ArrayLike, *, level: float = 0.95, method: str = "bca", samples: int = 10_000, seed: int = 0
) -> Interval:
    """Where the mean may lie, from means of samples drawn out of the values themselves.

    Parameters
    ----------
    values
        One value for each query; for an interval of a difference give the differences.
    method
        ``"percentile"`` cuts both ends of the drawn means alike; ``"bca"`` corrects for bias and skewness (Efron 1987).

    Examples
    --------
    >>> bootstrap_interval([0.5, 0.5, 0.5])
    Interval(low=0.5, high=0.5)
    >>> low, high = bootstrap_interval(np.arange(101))
    >>> 44 < low < 50 < high < 56
    True

    With fewer than two values there is none.

    >>> bootstrap_interval([0.5])
    Interval(low=nan, high=nan)
    """
    if method not in ("bca", "percentile"):
        raise ParameterError(f"method is {method!r}; choose from: bca, percentile")
    if not 0 < level < 1:
        raise ParameterError(f"level is {level!r}; give a share between 0 and 1, such as 0.95")
    given = measured(values)
    if len(given) < 2:
        return Interval(np.nan, np.nan)
    if np.ptp(given) == 0:
        return Interval(float(given[0]), float(given[0]))
    means = _drawn_means(given, samples, seed)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        tails = _corrected(tails, given, means)
    low, high = np.quantile(means, tails)
    return Interval(float(low), float(high))


def _drawn_means(values: Floats, samples: int, seed: int) -> Floats:
    """Means of samples with replacement, in blocks of bounded size."""
    rng, means = np.random.default_rng(seed), np.empty(samples)
    rows = max(1, BLOCK // len(values))
    for start in range(0, samples, rows):
        stop = min(samples, start + rows)
        means[start:stop] = values[rng.integers(0, len(values), (stop - start, len(values)))].mean(axis=1)
    return means


def _corrected(tails: Floats, values: Floats, means: Floats) -> Floats:
    """The quantiles to take instead of the tails, by bias ``z0`` and acceleration ``a``."""
    mean = values.mean()
    below = (np.mean(means < mean) + np.mean(means <= mean)) / 2
    z0 = special.ndtri(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means)))
    left_out = mean - (values.sum() - values) / (len(values) - 1)  # of the mean, by each value's absence
    acceleration = np.sum(left_out**3) / (6 * np.sum(left_out**2) ** 1.5)
    z = z0 + special.ndtri(tails)
    corrected: Floats = special.ndtr(z0 + z / (1 - acceleration * z))
    return corrected


def _in_units(difference: float, deviation: float) -> float:
    if deviation == 0:
        return 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
    return float(difference / deviation)
