"""The weights of a linear ranker: as a table, as a picture, and what leaving out the small ones costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int, check_real
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError, import_extra
from ordino.evolve.fitness import LinearFitness
from ordino.ranker import FeatureWeight

if TYPE_CHECKING:
    import altair as alt


class PruningStep(NamedTuple):
    """A ranker with some of its weights left out."""

    kept: int
    """How many weights are left."""
    threshold: float
    """Weights below this size are left out."""
    value: float
    """The measure that is left."""
    loss: float
    """How much of the measure the left out weights cost; negative if leaving them out helps."""


def weights_text(weights: Sequence[FeatureWeight]) -> str:
    """A table of the weights in the order given.

    Examples
    --------
    >>> print(weights_text([FeatureWeight("bm25", 1.5), FeatureWeight("length", -0.25)]))
    feature   weight
    bm25      1.5000
    length   -0.2500
    """
    width = max(len("feature"), *(len(weight.feature) for weight in weights))
    numbers = [f"{weight.weight:.4f}" for weight in weights]
    room = max(len("weight"), *map(len, numbers))
    rows = [("feature", "weight"), *((weight.feature, text) for weight, text in zip(weights, numbers, strict=True))]
    return "\n".join(f"{name:<{width}}  {text:>{room}}" for name, text in rows)


def weights_chart(weights: Sequence[FeatureWeight], path: str | Path | None = None) -> alt.Chart:
    """Bars of the weights in the order given, positive and negative in two colors; written to a file if asked."""
    altair = import_extra("altair", extra="plots", purpose="a plot of weights")
    rows = [
        {"feature": w.feature, "weight": w.weight, "sign": "raises" if w.weight >= 0 else "lowers"} for w in weights
    ]
    chart: alt.Chart = (
        altair.Chart(altair.Data(values=rows), title="Feature weights")
        .mark_bar()
        .encode(
            x=altair.X("weight:Q", title="weight"),
            y=altair.Y("feature:N", sort=None, title=None),
            color=altair.Color(
                "sign:N",
                title="the score",
                scale=altair.Scale(domain=["raises", "lowers"], range=["#1b6ca8", "#c8553d"]),
            ),
            tooltip=["feature:N", altair.Tooltip("weight:Q", format=".4f")],
        )
        .properties(width=420, height=altair.Step(14))
    )
    if path is not None:
        if Path(path).suffix in (".png", ".pdf"):
            import_extra("vl_convert", extra="plots", purpose=f"a plot as {Path(path).suffix}")
        chart.save(str(path))
    return chart


def prune_weights(
    coef: NDArray[np.float64], *, threshold: float | None = None, keep: int | None = None
) -> NDArray[np.float64]:
    """Weights with the small ones set to 0.

    Examples
    --------
    >>> prune_weights(np.array([3.0, -0.1, 0.5]), threshold=0.2).tolist()
    [3.0, 0.0, 0.5]
    >>> prune_weights(np.array([3.0, -0.1, 0.5]), keep=1).tolist()
    [3.0, 0.0, 0.0]
    """
    if (threshold is None) == (keep is None):
        raise ParameterError("prune() takes a threshold or how many weights to keep; give one of the two")
    if threshold is not None:
        return np.where(np.abs(coef) < check_real("threshold", threshold, low=0), 0.0, coef)
    pruned = np.zeros_like(coef)
    largest = np.argsort(-np.abs(coef), kind="stable")[: check_int("keep", keep, low=0, high=len(coef))]
    pruned[largest] = coef[largest]
    return pruned


def pruning_steps(
    coef: NDArray[np.float64], data: Dataset, *, metric: str, profile: str = "standard"
) -> list[PruningStep]:
    """The measure with all weights, then with the smallest left out, then the two smallest, down to one weight.

    Examples
    --------
    The first weight alone ranks as well as both do.

    >>> data = Dataset([[2.0, 0.0], [1.0, 1.0]], [1, 0])
    >>> for step in pruning_steps(np.array([3.0, 0.5]), data, metric="map"):
    ...     print(step)
    PruningStep(kept=2, threshold=0.5, value=1.0, loss=0.0)
    PruningStep(kept=1, threshold=3.0, value=1.0, loss=0.0)
    """
    sizes = np.sort(np.abs(coef))[::-1]
    counts = range(len(coef), 0, -1)
    with LinearFitness(data, metric, profile=profile) as fitness:
        values = fitness([prune_weights(coef, keep=kept) for kept in counts])
        sign = 1 if fitness.objective.metric.greater_is_better else -1
    return [
        PruningStep(kept, float(sizes[kept - 1]), sign * float(value), float(values[0] - value))
        for kept, value in zip(counts, values, strict=True)
    ]
