"""Two rankers side by side: means, difference with its interval, test, effect, and who wins how many queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from ordino.errors import DataError
from ordino.experiment.compare.effects import Interval, bootstrap_interval, cohens_d_paired
from ordino.experiment.compare.significance import differences, holm
from ordino.experiment.compare.tests import find_test
from ordino.metrics import Evaluation


@final
@dataclass(frozen=True)
class Comparison:
    """What one metric says about two rankers, over the queries for which both have a value."""

    measure: str
    mean_a: float
    mean_b: float
    difference: float
    """The mean of a minus b."""
    interval: Interval
    """95 % bootstrap interval of the difference."""
    p: float
    """Of the test; Holm-corrected if several metrics were compared."""
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


def compare_values(
    a: Mapping[str, ArrayLike],
    b: Mapping[str, ArrayLike],
    *,
    test: str = "wilcoxon",
    samples: tuple[Mapping[str, ArrayLike], Mapping[str, ArrayLike]] | None = None,
) -> list[Comparison]:
    """Compare values of the same queries, metric by metric.

    Parameters
    ----------
    a, b
        By metric the value of each query, the queries of both in the same order; NaN leaves a query out.
    test
        A name in :data:`~ordino.experiment.compare.tests.TESTS`.
    samples
        What the test takes instead of the values of the queries: for Welch's test the means of repeated trials.

    Examples
    --------
    >>> [found] = compare_values({"mrr": [1, 1, 0.5, 1]}, {"mrr": [0.5, 0.5, 0.5, 0.5]}, test="fisher")
    >>> found.difference, found.p, (found.n_above, found.n_equal, found.n_below)
    (0.375, 0.25, (3, 1, 0))
    """
    function = find_test(test).function
    left, right = (a, b) if samples is None else samples
    measures = [name for name in a if name in b]
    p = holm([function(left[name], right[name]).p for name in measures])
    return [_compare(name, a[name], b[name], float(p[i])) for i, name in enumerate(measures)]


def compare_evaluations(a: Evaluation, b: Evaluation, *, test: str = "wilcoxon") -> list[Comparison]:
    """Compare what was measured of two rankers, by the queries that both have.

    Examples
    --------
    >>> from ordino.metrics import evaluate
    >>> first = evaluate([1, 0, 1, 0], [2, 1, 2, 1], qid=["x", "x", "y", "y"], metrics="mrr")
    >>> second = evaluate([1, 0, 1, 0], [1, 2, 2, 1], qid=["y", "y", "x", "x"], metrics="mrr")
    >>> compare_evaluations(first, second)[0].difference   # x: 1 and 1, y: 1 and 1/2
    0.25
    """
    place = {query: i for i, query in enumerate(b.query_ids.tolist())}
    common = [(i, place[query]) for i, query in enumerate(a.query_ids.tolist()) if query in place]
    left, right = [i for i, _ in common], [j for _, j in common]
    return compare_values(
        {name: values[left] for name, values in a.per_query.items()},
        {name: values[right] for name, values in b.per_query.items()},
        test=test,
    )


def _compare(measure: str, a: ArrayLike, b: ArrayLike, p: float) -> Comparison:
    d = differences(a, b)
    if not len(d):
        raise DataError(f"{measure}: the two have no query in common; compare rankers on the same data")
    both = ~np.isnan(np.asarray(a, np.float64) - np.asarray(b, np.float64))
    return Comparison(
        measure=measure,
        mean_a=float(np.asarray(a)[both].mean()),
        mean_b=float(np.asarray(b)[both].mean()),
        difference=float(d.mean()),
        interval=bootstrap_interval(d),
        p=p,
        effect=cohens_d_paired(a, b),
        n_queries=len(d),
        n_above=int(np.sum(d > 0)),
        n_equal=int(np.sum(d == 0)),
        n_below=int(np.sum(d < 0)),
    )
