"""Compare two rankers: means, difference with its interval, test, effect size, and wins by query."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ordino.errors import DataError, ParameterError
from ordino.experiment.compare.significance import Floats, differences, find_test, holm, measured
from ordino.html import html_table
from ordino.metrics import Evaluation

DRAWN = 2**21  # resampled values held in memory at a time
MANY = 2000
"""Queries from which on the interval of a drawing is that of the normal law: it is the same to the eye, and at once."""


class Interval(NamedTuple):
    """A confidence interval of a mean."""

    low: float
    high: float


@final
@dataclass(frozen=True)
class Comparison:
    """The comparison of two rankers by one metric, over the queries for which both have a value."""

    measure: str
    mean_a: float
    mean_b: float
    difference: float
    """The mean of a minus b."""
    interval: Interval
    """95 % bootstrap interval of the difference."""
    p: float
    """The p-value of the test, Holm-corrected for the ``family`` metrics that were compared at once."""
    p_alone: float
    """The p-value of this metric by itself: right only for who named the metric before looking."""
    family: int
    """How many comparisons ``p`` is corrected for."""
    effect: float
    """Cohen's d of the differences."""
    n_queries: int
    n_above: int
    """Queries in which a has the larger value."""
    n_equal: int
    n_below: int

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return asdict(self) | {"interval": list(self.interval)}


@final
class Comparisons(tuple[Comparison, ...]):
    """Two rankers compared by one or several metrics; prints as a table."""

    __slots__ = ()

    def columns(self) -> list[str]:
        """The heads of the table; that of p says among how many comparisons."""
        chances = ["p", *([f"p of {len(self)}"] if len(self) > 1 else [])]
        return ["metric", "a", "b", "a - b", "95 % interval", *chances, "effect d", "a above", "equal", "b above"]

    def rows(self) -> list[list[str]]:
        """The cells of the table."""
        return [
            [
                one.measure, f"{one.mean_a:.4f}", f"{one.mean_b:.4f}", f"{one.difference:+.4f}",
                f"{one.interval.low:+.4f} to {one.interval.high:+.4f}", f"{one.p_alone:.2g}",
                *([f"{one.p:.2g}"] if len(self) > 1 else []), f"{one.effect:+.2f}",
                f"{one.n_above:,}", f"{one.n_equal:,}", f"{one.n_below:,}",
            ]
            for one in self
        ]  # fmt: skip

    def note(self) -> str:
        """Among how many comparisons a p stands, and over how many queries."""
        alone = "p is of one comparison"
        several = f"p is of each metric alone, p of {len(self)} is Holm-corrected for the {len(self)} metrics"
        return f"{several if len(self) > 1 else alone}; {self[0].n_queries:,} queries in both"

    def __str__(self) -> str:
        table = [self.columns(), *self.rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        return "\n".join([*lines, self.note()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.columns(), self.rows(), note=self.note())


def compare_values(
    a: Mapping[str, ArrayLike],
    b: Mapping[str, ArrayLike],
    *,
    test: str = "wilcoxon",
    samples: tuple[Mapping[str, ArrayLike], Mapping[str, ArrayLike]] | None = None,
    quick: bool = False,
) -> Comparisons:
    """Compare values of the same queries, metric by metric.

    Parameters
    ----------
    a, b
        The value of each query, by metric, with the queries of both in the same order; NaN leaves a query out.
    test
        A name in :data:`~ordino.experiment.compare.significance.TESTS`.
    samples
        Values for the test to use instead of the per-query values: for Welch's test, the means of repeated trials.
    quick
        Take :func:`mean_interval` for the interval, which does not draw samples of many queries.

    Examples
    --------
    >>> [found] = compare_values({"mrr": [1, 1, 0.5, 1]}, {"mrr": [0.5, 0.5, 0.5, 0.5]}, test="fisher")
    >>> found.difference, found.p, (found.n_above, found.n_equal, found.n_below)
    (0.375, 0.25, (3, 1, 0))
    """
    function = find_test(test).function
    left, right = (a, b) if samples is None else samples
    measures = [name for name in a if name in b]
    alone = [function(left[name], right[name]).p for name in measures]
    p = holm(alone)
    interval = mean_interval if quick else bootstrap_interval
    return Comparisons(
        _compare(name, a[name], b[name], (float(p[i]), float(alone[i]), len(measures)), interval)
        for i, name in enumerate(measures)
    )


def compare_evaluations(a: Evaluation, b: Evaluation, *, test: str = "wilcoxon") -> Comparisons:
    """Compare two evaluations, on the queries that both have.

    Examples
    --------
    >>> from ordino.metrics import evaluate
    >>> first = evaluate([1, 0, 1, 0], [2, 1, 2, 1], qid=["x", "x", "y", "y"], metrics="mrr")
    >>> second = evaluate([1, 0, 1, 0], [1, 2, 2, 1], qid=["y", "y", "x", "x"], metrics="mrr")
    >>> compare_evaluations(first, second)[0].difference   # x: 1 and 1, y: 1 and 1/2
    0.25
    """
    if a.profile != b.profile:
        raise ParameterError(
            f"a was evaluated in profile {a.profile!r} and b in {b.profile!r}; evaluate both in the same one"
        )
    if not any(name in b.per_query for name in a.per_query):
        raise ParameterError(
            f"a has {', '.join(a.per_query)} and b has {', '.join(b.per_query)}; evaluate both by the same metrics"
        )
    place = {query: i for i, query in enumerate(b.query_ids.tolist())}
    common = [(i, place[query]) for i, query in enumerate(a.query_ids.tolist()) if query in place]
    left, right = [i for i, _ in common], [j for _, j in common]
    return compare_values(
        {name: values[left] for name, values in a.per_query.items()},
        {name: values[right] for name, values in b.per_query.items()},
        test=test,
    )


def _compare(
    measure: str, a: ArrayLike, b: ArrayLike, chance: tuple[float, float, int], interval: Callable[[Floats], Interval]
) -> Comparison:
    d = differences(a, b)
    if not len(d):
        raise DataError(f"{measure}: the two rankers have no query in common; compare them on the same data")
    both = ~np.isnan(np.asarray(a, np.float64) - np.asarray(b, np.float64))
    return Comparison(
        measure=measure,
        mean_a=float(np.asarray(a)[both].mean()),
        mean_b=float(np.asarray(b)[both].mean()),
        difference=float(d.mean()),
        interval=interval(d),
        p=chance[0],
        p_alone=chance[1],
        family=chance[2],
        effect=cohens_d_paired(a, b),
        n_queries=len(d),
        n_above=int(np.sum(d > 0)),
        n_equal=int(np.sum(d == 0)),
        n_below=int(np.sum(d < 0)),
    )


def cohens_d_paired(a: ArrayLike, b: ArrayLike) -> float:
    """Cohen's d: the mean difference divided by the standard deviation of the differences.

    Examples
    --------
    >>> cohens_d_paired([2, 3, 4], [1, 1, 1])   # differences 1, 2, 3
    2.0
    """
    d = differences(a, b)
    if len(d) < 2:
        return float("nan")
    mean, deviation = float(d.mean()), float(d.std(ddof=1))
    return mean / deviation if deviation else float(np.copysign(np.inf, mean)) if mean else 0.0


def mean_interval(values: ArrayLike, *, samples: int = 2000) -> Interval:
    """A 95 % interval of the mean for a drawing: by the bootstrap, or by the normal law from :data:`MANY` values on.

    Examples
    --------
    >>> low, high = mean_interval(np.arange(10_001))   # 5,000 and 1.96 standard errors of 28.87 around it
    >>> round(low), round(high)
    (4943, 5057)
    """
    given = measured(values)
    if len(given) < MANY:
        return bootstrap_interval(given, samples=samples)
    error = 1.959964 * float(given.std(ddof=1)) / np.sqrt(len(given))
    return Interval(float(given.mean() - error), float(given.mean() + error))


def bootstrap_interval(values: ArrayLike, *, level: float = 0.95, samples: int = 10_000, seed: int = 0) -> Interval:
    """A confidence interval of the mean, by the bootstrap (BCa, Efron 1987).

    Parameters
    ----------
    values
        One value for each query; for the interval of a difference, pass the differences.

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
    rows = max(1, DRAWN // len(values))
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
