"""Scales of plots: values to percents of the width, and round numbers to write beside them."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import final

from ordino.pages.numbers import MINUS, magnitude


@final
@dataclass(frozen=True)
class Scale:
    """Values from ``low`` to ``high`` on a stretch of the drawing, linearly or by their logarithm."""

    low: float
    high: float
    start: float = 0.0
    stop: float = 100.0
    log: bool = False

    def at(self, value: float) -> float:
        """Where a value stands; what lies outside stands at the edge.

        Examples
        --------
        >>> Scale(0.0, 2.0).at(0.5), Scale(1, 100, log=True).at(10), Scale(0.0, 1.0).at(7.0)
        (25.0, 50.0, 100.0)
        """
        low, high, value = (log10(one) if self.log else one for one in (self.low, self.high, value))
        share = 0.5 if high <= low else min(1.0, max(0.0, (value - low) / (high - low)))
        return round(self.start + share * (self.stop - self.start), 3)

    def percent(self, value: float) -> str:
        """The same as an attribute of SVG."""
        return f"{self.at(value):.4g}%"

    def ticks(self, at_most: int = 5) -> list[tuple[str, str]]:
        """Where to draw grid lines, and what to write there."""
        values = log_ticks(self.low, self.high, at_most) if self.log else round_ticks(self.low, self.high, at_most)
        return [(self.percent(value), tick_text(value, values)) for value in values]


def round_ticks(low: float, high: float, at_most: int = 5) -> list[float]:
    """Round numbers between two.

    Examples
    --------
    >>> round_ticks(0.44, 0.85), round_ticks(-0.2, 0.5, 4), round_ticks(1, 1)
    ([0.5, 0.6, 0.7, 0.8], [-0.2, 0.0, 0.2, 0.4], [1])
    """
    if not high > low:
        return [low]
    for power in range(magnitude((high - low) / at_most), 99):
        for factor in (1, 2, 2.5, 5):
            step = factor * 10.0**power
            first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
            if last - first + 1 <= at_most:
                return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]
    return []


def log_ticks(low: float, high: float, at_most: int = 5) -> list[float]:
    """Round numbers between two positive ones, for a scale by logarithm.

    Examples
    --------
    >>> log_ticks(31, 474), log_ticks(1, 10_000, 5)
    ([50, 100, 200], [1, 10, 100, 1000, 10000])
    """
    for factors in ((1, 2, 5), (1,)):
        powers = range(floor(log10(low)), ceil(log10(high)) + 1)
        found = [factor * 10**power for power in powers for factor in factors if low <= factor * 10**power <= high]
        if 1 < len(found) <= at_most:
            return found
    return found[:: max(1, ceil(len(found) / at_most))]


def tick_text(value: float, others: Iterable[float]) -> str:
    """A number beside a grid line, with no more decimals than its neighbors need."""
    digits = max((len(f"{one:.6f}".rstrip("0").partition(".")[2]) for one in others), default=0)
    return f"{value:,.{digits}f}".replace("-", MINUS)


def span_of(values: Iterable[float]) -> tuple[float, float]:
    """The least and the largest of the finite values; 0 and 1 if there is none."""
    known = [value for value in values if isfinite(value)]
    return (min(known), max(known)) if known else (0.0, 1.0)
