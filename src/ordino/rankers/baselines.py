r"""Least squares: the label itself, document by document, as a weighted sum of the features.

.. math:: \min_{w, b} \sum_i (w \cdot x_i + b - y_i)^2 + \alpha \, \|w\|^2

The simplest of all baselines (subset regression with squared loss: Cossock and Zhang, COLT 2006). The constant
:math:`b` moves every document alike, so that it is solved for and then left out of the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.checks import check_real
from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.judge import Choice
from ordino.linear import BLOCK, LinearRanker


@final
class LinearRegressionRanker(LinearRanker):
    r"""Ordinary least squares or ridge regression on the labels.

    Parameters
    ----------
    alpha
        The ridge penalty :math:`\alpha`; 0 is ordinary least squares. Of several, the best on ``valid`` is taken,
        or the first where there is no ``valid``.
    metric, profile
        The measure that chooses among several ``alpha``.
    scaling
        How features are scaled first, a name of ``SCALERS``.

    Attributes
    ----------
    coef_
        Weights of the features.
    alpha_
        The penalty that was taken.

    Examples
    --------
    Labels 1, 3, 5 rise by 2 for each unit of the only feature.

    >>> ranker = LinearRegressionRanker(alpha=0).fit([[0.0], [1.0], [2.0]], [1, 3, 5])
    >>> ranker.coef_.round(6).tolist()
    [2.0]
    """

    uses_weights = True

    def __init__(
        self,
        *,
        alpha: float | Sequence[float] = (0.0, 1.0, 10.0, 100.0, 1e3, 1e4),
        metric: str = "ndcg@10",
        profile: str = "standard",
        scaling: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.metric = metric
        self.profile = profile
        self.scaling = scaling

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        given = self.alpha if isinstance(self.alpha, Sequence | np.ndarray) else [self.alpha]
        alphas = [check_real("alpha", alpha, low=0) for alpha in given]
        if not alphas:
            raise ParameterError("alpha is empty; give at least one number, 0 or more")
        scale, triangle = reduce_rows(data)
        choice = Choice(valid, self.metric, self.profile)
        for alpha in alphas if valid is not None else alphas[:1]:
            coef = ridge(scale, triangle, alpha)
            if choice.takes_weights(coef):
                self.alpha_, self.coef_ = alpha, coef


def reduce_rows(data: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All that least squares needs to know of the rows: the features' scales and a triangle.

    The rows of [X, y], centered and with every feature in units of its deviation, become the triangle R of their QR
    decomposition, block after block: the same least squares problem in ``n_features + 1`` rows, without squaring its
    condition as the normal equations would.
    """
    weights = np.ones(data.n_docs) if data.weights is None else data.weights
    total = max(float(weights.sum()), np.finfo(float).tiny)
    means = sum(weights[rows] @ _table(data, rows) for rows in _blocks(data)) / total  # (n_features + 1,)
    spread = sum(weights[rows] @ (_table(data, rows) - means) ** 2 for rows in _blocks(data)) / total
    scale = np.sqrt(spread)
    scale[scale <= 1e-9 * np.abs(means)] = 0.0  # constant but for rounding
    per_unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    per_unit[-1] = 1.0  # labels stay in their own unit
    triangle = np.zeros((0, data.n_features + 1))
    for rows in _blocks(data):
        block = (_table(data, rows) - means) * per_unit * np.sqrt(weights[rows])[:, None]
        triangle = np.asarray(np.linalg.qr(np.vstack((triangle, block)), mode="r"))
    return scale[:-1], triangle


def ridge(scale: NDArray[np.float64], triangle: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Weights of the features: the penalty is as many rows more, each with the label 0."""
    used = scale > 0
    rows, labels = triangle[:, :-1][:, used], triangle[:, -1]
    penalty = np.diag(np.sqrt(alpha) / scale[used])
    solution = np.linalg.lstsq(
        np.vstack((rows, penalty)), np.concatenate((labels, np.zeros(len(penalty)))), rcond=1e-12
    )[0]
    coef = np.zeros(len(scale))
    coef[used] = solution / scale[used]
    return coef


def _blocks(data: Dataset) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, data.n_docs, BLOCK)]


def _table(data: Dataset, rows: slice) -> NDArray[np.float64]:
    """Features and label side by side, shape ``(n_rows, n_features + 1)``."""
    return np.column_stack((data.X[rows].astype(np.float64), data.y[rows]))
