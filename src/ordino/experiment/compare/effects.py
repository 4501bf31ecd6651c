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


def cohens_d_paired(a: ArrayLike, b: ArrayLike) -> float:
    """The mean difference in units of the deviation of the differences.

    Examples
    --------
    >>> cohens_d_paired([2, 3, 4], [1, 1, 1])   # differences 1, 2, 3
    2.0
    """
    d = differences(a, b)
    if len(d) < 2:
        return float("nan")
    mean, deviation = float(d.mean()), float(d.std(ddof=1))
    if deviation == 0:
        return 0.0 if mean == 0 else float(np.copysign(np.inf, mean))
    return mean / deviation


def bootstrap_interval(values: ArrayLike, *, level: float = 0.95, samples: int = 10_000, seed: int = 0) -> Interval:
    """Where the mean may lie, from means of samples drawn out of the values themselves (BCa, Efron 1987).

    Parameters
    ----------
    values
        One value for each query; for an interval of a difference give the differences.

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
    if not 0 < level < 1:
        raise ParameterError(f"level is {level!r}; give a share between 0 and 1, such as 0.95")
    given = measured(values)
    if len(given) < 2:
        return Interval(np.nan, np.nan)
    if np.ptp(given) == 0:
        return Interval(float(given[0]), float(given[0]))
    means = _drawn_means(given, samples, seed)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    low, high = np.quantile(means, _corrected(tails, given, means))
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
    """The quantiles to take instead of the tails: corrected for bias and skewness."""
    mean = values.mean()
    below = (np.mean(means < mean) + np.mean(means <= mean)) / 2
    z0 = special.ndtri(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means)))
    left_out = mean - (values.sum() - values) / (len(values) - 1)  # of the mean, by each value's absence
    acceleration = np.sum(left_out**3) / (6 * np.sum(left_out**2) ** 1.5)
    z = z0 + special.ndtri(tails)
    corrected: Floats = special.ndtr(z0 + z / (1 - acceleration * z))
    return corrected
