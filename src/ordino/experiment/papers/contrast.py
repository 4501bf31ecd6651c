"""The difference of two samples: its interval, its effect size, and the power of the test; two-sided, at 95 %."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

LEVEL = 0.95  # of every interval
LARGEST_T = 500  # beyond it scipy's search for noncentral distributions may not end


def _quantiles() -> tuple[Floats, Floats]:
    """Numbers between 0 and 1 with weights for a mean over all of them, dense at both ends (Gauss-Legendre, bent)."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    v = (nodes + 1) / 2
    return v**3 * (10 - 15 * v + 6 * v**2), weights / 2 * 30 * v**2 * (1 - v) ** 2


QUANTILES, SHARES = _quantiles()


class Contrast(NamedTuple):
    """The difference of two samples of values, positive where the first is larger."""

    difference: float
    error: float
    """Standard error of the difference."""
    deviation: float
    """What an effect size of 1 is."""
    degrees: float
    """Degrees of freedom."""

    @classmethod
    def of(cls, a: Sequence[float], b: Sequence[float], *, is_paired: bool) -> Contrast | None:
        """Welch's, or that of the paired differences; None with fewer than two values."""
        left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        if min(len(left), len(right)) < 2:
            return None
        if is_paired:
            d = left - right
            deviation = float(d.std(ddof=1))
            return cls(float(d.mean()), deviation / sqrt(len(d)), deviation, len(d) - 1)
        variances, shares = zip(*((one.var(ddof=1), one.var(ddof=1) / len(one)) for one in (left, right)), strict=True)
        squared = float(sum(shares))
        own = sum(share**2 / (len(one) - 1) for share, one in zip(shares, (left, right), strict=True))
        degrees = squared**2 / own if squared else len(left) + len(right) - 2
        difference = float(left.mean() - right.mean())
        return cls(difference, sqrt(squared), sqrt(np.mean(variances)), float(degrees))

    @property
    def quantile(self) -> float:
        """How many standard errors an interval goes to either side."""
        return float(special.stdtrit(self.degrees, (1 + LEVEL) / 2))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the difference."""
        half = self.quantile * self.error
        return self.difference - half, self.difference + half

    @property
    def effect(self) -> float | None:
        """The difference in deviations, Cohen's d; None if nothing varies."""
        return self.difference / self.deviation if self.deviation else None

    @property
    def effect_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of d, from the noncentral t distributions that give the observed t with 2.5 %."""
        if not self.error:
            return None
        t = self.difference / self.error
        tails = ((1 + LEVEL) / 2, (1 - LEVEL) / 2)
        if abs(t) < LARGEST_T:
            low, high = (special.nctdtrinc(self.degrees, p, t) for p in tails)
        else:  # all doubt is about the deviation
            low, high = sorted(t * sqrt(special.chdtri(self.degrees, p) / self.degrees) for p in tails)
        scale = self.error / self.deviation
        return float(low * scale), float(high * scale)

    @property
    def p(self) -> float:
        """The probability of such a difference, or a larger one, by chance."""
        if not self.error:
            return 1.0 if self.difference == 0 else 0.0
        return float(2 * special.stdtr(self.degrees, -abs(self.difference) / self.error))

    def power(self, difference: float) -> float:
        """The probability that the interval leaves out 0 if the true difference is this.

        It is a mean over all deviations that the samples could have had: scipy's own function of the noncentral t
        distribution gives NaN for many shifts.

        Examples
        --------
        Two samples of 30 and an effect size of 0.8, a case of every textbook:

        >>> round(Contrast(0.0, sqrt(2 / 30), 1.0, 58).power(0.8), 3)
        0.861
        """
        if not self.error:
            return 1.0
        shift, t = abs(difference) / self.error, self.quantile
        spread = np.sqrt(special.chdtri(self.degrees, 1 - QUANTILES) / self.degrees)
        return float(SHARES @ (special.ndtr(shift - t * spread) + special.ndtr(-shift - t * spread)))

    def level_power(self, margin: float) -> float:
        """The probability that the interval lies inside ±margin if there is no difference."""
        if not self.error:
            return 1.0
        return max(0.0, float(2 * special.stdtr(self.degrees, margin / self.error - self.quantile) - 1))
