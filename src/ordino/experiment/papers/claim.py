r"""Does a claim of a paper come back? One rule for all pages, from our values alone.

A claim says that one number is better than another, or that two are level. With :math:`D` our difference in the
direction of the paper and :math:`[l, u]` its 95 % interval (Welch's, or that of the paired differences):

- *comes back*: :math:`l > 0`. If also :math:`u < E / 2`, it comes back *weaker*.
- *does not*: :math:`u < 0` or :math:`u < E / 2`, half of what the paper found.
- *cannot be told* otherwise, with the power of the test: the probability that :math:`l > 0` or :math:`u < 0` if the
  difference is :math:`E`.

:math:`E` is the difference that the paper prints if the data is the paper's. On other data, where differences have
another scale, it is the paper's effect size d times our deviation; if the paper prints no deviations or values are
paired, its difference; if it prints no number, :data:`LARGE` times our deviation.

That two numbers are level, which is to say closer than a margin m, comes back if :math:`[l, u]` lies inside
:math:`\pm m`, does not if it lies outside, and cannot be told otherwise. On other data m is our standard deviation,
unless the values are paired.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, final

import numpy as np

from ordino.experiment.papers.contrast import Contrast
from ordino.experiment.papers.number import Number
from ordino.experiment.store.trial import grouped

LARGE = 0.8
"""The effect size that stands for a claim without numbers (what Cohen calls a large effect)."""

COMES_BACK, WEAKER, DOES_NOT, CANNOT_TELL = "comes back", "comes back, weaker", "does not", "cannot be told"


@final
@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a paper says of two of its numbers.

    Examples
    --------
    >>> claim = Claim(says="a deep net beats a shallow one", better={"net": "deep"}, worse={"net": "shallow"},
    ...     difference=0.039, deviations=(0.013, 0.005), p="< 0.01")
    >>> round(claim.effect, 2), claim.paper(3)
    (3.96, '+0.039, d = 3.96, p < 0.01')
    """

    says: str
    better: Mapping[str, str]
    """Which number is said to be better, by the columns of a result; columns that are not named may have any label,
    the same in both numbers."""
    worse: Mapping[str, str]
    difference: float | None = None
    """Better minus worse in the paper (negative where smaller is better); None if it prints no numbers."""
    deviations: tuple[float, float] | None = None
    """The paper's standard deviations of the two over its repeats."""
    p: str = ""
    """The paper's own p-value with its sign, such as ``= 0.16`` or ``< 0.01``."""
    smaller_is_better: bool = False
    is_paired: bool = False
    """Whether value i of both numbers belongs together: the same fold, split, query or random function."""
    margin: float | None = None
    """For the claim that the two are level: how much they may differ."""

    @property
    def effect(self) -> float | None:
        """The paper's effect size d, positive in the direction of its claim, if it prints deviations."""
        if self.difference is None or self.deviations is None:
            return None
        return self.sign * self.difference / sqrt(np.mean(np.square(self.deviations)))

    @property
    def sign(self) -> int:
        """What makes a difference positive in the direction of the claim."""
        return -1 if self.smaller_is_better else 1

    def paper(self, digits: int) -> str:
        """What the paper has on it, as text."""
        told = [] if self.difference is None else [f"{self.difference:+.{digits}f}"]
        told += [] if self.effect is None else [f"d = {self.effect:.2f}"]
        told += [f"p {self.p}"] if self.p else []
        told += [] if self.margin is None else [f"level: within ±{self.margin:g}"]
        return ", ".join(told) or "in words"


@final
@dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim beside our values of one collection (or whatever the columns leave open)."""

    claim: Claim
    on: str
    """The labels that both numbers share and the claim does not name."""
    contrast: Contrast | None
    """Positive in the direction of the claim; None if there are no repeats."""
    same_data: bool = True
    n: tuple[int, int] = field(default=(0, 0))

    @property
    def expected(self) -> float:
        """E of the rule: the paper's difference in our units, positive in its direction."""
        assert self.contrast is not None
        claim = self.claim
        printed = None if claim.difference is None else claim.sign * claim.difference
        if self.same_data and printed is not None:
            return printed
        if claim.effect is not None and not claim.is_paired:
            return claim.effect * self.contrast.deviation
        return LARGE * self.contrast.deviation if printed is None else printed

    @property
    def margin(self) -> float | None:
        """The margin of the rule, in our units."""
        margin = self.claim.margin
        if self.contrast is None or margin is None or self.same_data or self.claim.is_paired:
            return margin
        return self.contrast.deviation

    @property
    def power(self) -> float:
        """The power of the test; 0 without repeats."""
        if self.contrast is None:
            return 0.0
        if self.margin is not None:
            return self.contrast.level_power(self.margin)
        return self.contrast.power(self.expected)

    @property
    def verdict(self) -> str:
        """By the rule of this module."""
        if self.contrast is not None:
            low, high = self.contrast.interval
            margin = self.margin
            if margin is not None:
                if -margin < low and high < margin:
                    return COMES_BACK
                if low > margin or high < -margin:
                    return DOES_NOT
            else:
                is_smaller = high < self.expected / 2
                if low > 0:
                    return WEAKER if is_smaller else COMES_BACK
                if high < 0 or is_smaller:
                    return DOES_NOT
        return f"{CANNOT_TELL}: power {self.power:.0%}".replace("%", " %")

    def row(self, digits: int) -> tuple[str, ...]:
        """Claim, where, paper, ours, effect size, p and verdict, as text."""
        claim, found = self.claim, self.contrast
        verdict = self.verdict if self.margin == claim.margin else f"{self.verdict}, within ±{self.margin:.{digits}f}"
        if found is None:
            return claim.says, self.on, claim.paper(digits), "no repeats", "", "", self.verdict
        low, high = found.interval
        if claim.smaller_is_better:
            low, high = -high, -low
        ours = f"{claim.sign * found.difference:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"
        d = found.effect_interval
        effect = "" if d is None else f"{found.effect:.2f} [{d[0]:.2f}, {d[1]:.2f}]"
        return claim.says, self.on, claim.paper(digits), ours, effect, f"{found.p:.2g}", verdict

    def facts(self) -> dict[str, Any]:
        """What an overview needs."""
        found = self.contrast
        return {
            "claim": self.claim.says, "on": self.on, "verdict": self.verdict, "power": round(self.power, 4),
            "difference": None if found is None else self.claim.sign * found.difference, "n": list(self.n),
        }  # fmt: skip


HEADER = ("claim", "on", "paper", "ours [95 % interval]", "d [95 % interval]", "p", "verdict")


def find(claims: Sequence[Claim], columns: Sequence[str], numbers: Sequence[Number]) -> Iterator[Finding]:
    """Each claim, on each collection (or other open column) for which both numbers are there."""
    for claim in claims:
        open_columns = [i for i, column in enumerate(columns) if column not in {*claim.better, *claim.worse}]
        better, worse = (
            grouped((tuple(one.labels[i] for i in open_columns), one) for one in _fitting(labels, columns, numbers))
            for labels in (claim.better, claim.worse)
        )
        for place in better:
            if place in worse:
                a, b = better[place][0], worse[place][0]
                pair = (b, a) if claim.smaller_is_better else (a, b)
                contrast = Contrast.of(*(one.ours for one in pair), is_paired=claim.is_paired)
                yield Finding(
                    claim=claim, on=", ".join(place), contrast=contrast, n=(len(a.ours), len(b.ours)),
                    same_data=a.same_data and b.same_data,
                )  # fmt: skip


def _fitting(labels: Mapping[str, str], columns: Sequence[str], numbers: Sequence[Number]) -> list[Number]:
    where = {columns.index(column): label for column, label in labels.items()}
    return [number for number in numbers if all(number.labels[i] == label for i, label in where.items())]
