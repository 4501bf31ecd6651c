"""Rankers whose score is a weighted sum of the features, and their weights as a table, as a plot, and pruned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_int, check_real
from ordino.errors import ParameterError, import_extra
from ordino.forms import Form, Linear
from ordino.parameters import learned
from ordino.ranker import FeatureWeight, Ranker

if TYPE_CHECKING:
    import altair as alt


class LinearRanker(Ranker):
    """A ranker with ``coef_``, shape ``(n_features,)``: score = X @ coef_."""

    coef_: NDArray[np.float64] = learned()

    def form(self) -> Form:
        """Weights of the features."""
        self._check_fitted()
        return Linear(self.scaler_, self.n_inputs, self.coef_)

    def feature_weights(self) -> list[FeatureWeight]:
        """The weights by feature name, largest first; those of all that the scaling makes of a feature are added."""
        self._check_fitted()
        return name_weights(self.feature_names(), self.by_feature(self.coef_))


def name_weights(names: tuple[str, ...], weights: NDArray[np.float64]) -> list[FeatureWeight]:
    """Weights by name, largest first."""
    return [FeatureWeight(names[j], float(weights[j])) for j in np.argsort(-weights, kind="stable")]


def weights_text(weights: Sequence[FeatureWeight]) -> str:
    """Weights as a table.

    Examples
    --------
    >>> print(weights_text([FeatureWeight("bm25", 0.5), FeatureWeight("length", -2.0)]))
    feature   weight
    bm25      0.5000
    length   -2.0000
    """
    rows = [("feature", "weight"), *((name, f"{weight:.4f}") for name, weight in weights)]
    width, room = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join(f"{name:<{width}}  {text:>{room}}" for name, text in rows)


def plot_weights(weights: Sequence[FeatureWeight], path: str | Path | None) -> alt.Chart:
    """Weights as bars; written to a file (.png, .svg, .html, .json) if a path is given."""
    altair = import_extra("altair", extra="plots", purpose="a plot of weights")
    rows = [one._asdict() | {"sign": "raises" if one.weight >= 0 else "lowers"} for one in weights]
    colors = altair.Scale(domain=["raises", "lowers"], range=["#1b6ca8", "#c8553d"])
    chart: alt.Chart = (
        altair.Chart(altair.Data(values=rows), title="Feature weights")
        .mark_bar()
        .encode(
            x=altair.X("weight:Q", title="weight"),
            y=altair.Y("feature:N", sort=None, title=None),
            color=altair.Color("sign:N", title="the score", scale=colors),
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
    >>> coef = np.array([-3.0, -0.1, 0.5])
    >>> prune_weights(coef, threshold=0.2).tolist(), prune_weights(coef, keep=1).tolist()
    ([-3.0, 0.0, 0.5], [-3.0, 0.0, 0.0])
    """
    if (threshold is None) == (keep is None):
        raise ParameterError("prune() takes either threshold or keep; give one of the two")
    if threshold is not None:
        return np.where(np.abs(coef) < check_real("threshold", threshold, low=0), 0.0, coef)
    pruned = np.zeros_like(coef)
    largest = np.argsort(-np.abs(coef), kind="stable")[: check_int("keep", keep, low=0, high=len(coef))]
    pruned[largest] = coef[largest]
    return pruned
