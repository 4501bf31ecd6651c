"""Compare two rankers that have no query in common: their trials as two samples, by Welch's test."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from ordino.experiment.compare.significance import holm, measured, welch


@final
@dataclass(frozen=True)
class Unpaired:
    """The comparison of two rankers by one metric, over the means of their trials."""

    measure: str
    mean_a: float
    mean_b: float
    difference: float
    p: float
    """By Welch's test, Holm-corrected for the ``family`` metrics that were compared at once."""
    p_alone: float
    family: int
    n_a: int
    n_b: int
    """The trials of each."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return asdict(self)


@final
class UnpairedComparisons(tuple[Unpaired, ...]):
    """Two rankers without a common query compared by one or several metrics."""

    __slots__ = ()

    def columns(self) -> list[str]:
        """The heads of the table; that of p says among how many comparisons."""
        chances = ["p", *([f"p of {len(self)}"] if len(self) > 1 else [])]
        return ["metric", "a", "b", "a - b", *chances, "trials of a", "trials of b"]

    def rows(self) -> list[list[str]]:
        """The cells of the table."""
        return [
            [
                one.measure, f"{one.mean_a:.4f}", f"{one.mean_b:.4f}", f"{one.difference:+.4f}", f"{one.p_alone:.2g}",
                *([f"{one.p:.2g}"] if len(self) > 1 else []), f"{one.n_a:,}", f"{one.n_b:,}",
            ]
            for one in self
        ]  # fmt: skip

    def note(self) -> str:
        """Why there is no paired test, and among how many comparisons a p stands."""
        several = f"p is of each metric alone, p of {len(self)} is Holm-corrected for the {len(self)} metrics"
        family = several if len(self) > 1 else "p is of one comparison"
        return f"the two have no query in common, so that their trials are compared and not their queries; {family}"


def compare_samples(a: Mapping[str, ArrayLike], b: Mapping[str, ArrayLike]) -> UnpairedComparisons:
    """Compare two samples of trial means, metric by metric.

    Examples
    --------
    >>> [found] = compare_samples({"map": [0.1, 0.2, 0.3]}, {"map": [0.4, 0.5, 0.6]})
    >>> round(found.difference, 4), round(found.p, 4), found.n_a
    (-0.3, 0.0213, 3)
    """
    samples = {name: (measured(a[name]), measured(b[name])) for name in a if name in b}
    known = {name: pair for name, pair in samples.items() if all(len(sample) for sample in pair)}
    alone = [welch(left, right).p for left, right in known.values()]
    found = []
    for (name, (left, right)), p, p_alone in zip(known.items(), holm(alone).tolist(), alone, strict=True):
        means = float(np.mean(left)), float(np.mean(right))
        found.append(Unpaired(name, *means, means[0] - means[1], p, p_alone, len(known), len(left), len(right)))
    return UnpairedComparisons(found)
