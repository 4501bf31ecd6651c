r"""Baselines that a learned ranker has to beat: least squares, one feature, a random order.

Least squares learns the label itself, document by document, as a weighted sum of the features:

.. math:: \min_{w, b} \sum_i (w \cdot x_i + b - y_i)^2 + \alpha \, \|w\|^2

This is the simplest baseline (subset regression with squared loss: Cossock and Zhang, COLT 2006). The constant
:math:`b` shifts all scores equally, so it is left out of the score.
"""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import name_features, row_blocks
from ordino.backends.crew import Bench
from ordino.checks import check_choice, check_int
from ordino.data.dataset import Dataset
from ordino.data.kernels import hash_rows
from ordino.division import Divided
from ordino.errors import ParameterError
from ordino.forms import BLOCK
from ordino.judge import Choice, Judge
from ordino.linear import LinearRanker
from ordino.parameters import Range, learned, param
from ordino.ranker import Ranker
from ordino.recurring import metric_param, missing_param, profile_param, scaling_param, seed_param
from ordino.threads import products


@final
class LinearRegressionRanker(LinearRanker):
    r"""Ordinary least squares or ridge regression on the labels.

    Attributes
    ----------
    coef_
        Weights of the features.
    alpha_
        The penalty that was chosen.
    history_
        Every ``alpha`` that was tried, with the metric on ``valid``, if given.

    Examples
    --------
    Labels 1, 3, 5 rise by 2 for each unit of the only feature.

    >>> ranker = LinearRegressionRanker(alpha=0, scaling=None).fit([[0.0], [1.0], [2.0]], [1, 3, 5], qid=[1] * 3)
    >>> ranker.coef_.round(6).tolist()
    [2.0]
    """

    uses_weights = True

    history_: list[dict[str, float]] = learned()

    alpha: float | Sequence[float] = param(
        (0.0, 1.0, 10.0, 100.0, 1e3, 1e4),
        "The ridge penalty; 0 is ordinary least squares. Of several values, the best on `valid` is chosen; without "
        "`valid`, the first.",
        low=0,
        space=Range(0.1, 10_000.0, log=True),
    )
    metric: str = metric_param(text="The metric used to choose among several values of `alpha`.")
    profile: str = profile_param()
    scaling: str | None = scaling_param(
        "zscore",
        "How features are scaled first: a name in `SCALERS`, several joined by +, or None for no scaling. zscore ranks "
        "best on validation data, but it needs whole queries: an export to a search engine needs None.",
    )
    missing: str | None = missing_param()

    divides = True

    def _fit(self, data: Dataset | Divided, valid: Dataset | Divided | None) -> None:
        given = self.alpha if isinstance(self.alpha, Sequence | np.ndarray) else [self.alpha]
        alphas = [float(alpha) for alpha in given]
        scale, triangle = reduce_divided(data) if isinstance(data, Divided) else reduce_rows(data)
        choice = Choice(valid, self.metric, self.profile)
        self.history_ = []
        for alpha in alphas if valid is not None else alphas[:1]:
            coef = ridge(scale, triangle, alpha)
            if choice.takes_weights(coef):
                self.alpha_, self.coef_ = alpha, coef
            self.history_.append({"alpha": alpha} | choice.last)


def reduce_rows(data: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reduce the rows to what least squares needs: the scale of each feature and a triangular matrix.

    The rows of [X, y], centered and with every feature in units of its deviation, become the triangle R of their QR
    decomposition, block after block: the same least squares problem in ``n_features + 1`` rows, without squaring its
    condition as the normal equations would.
    """
    total, sums = sums_of_rows(data)
    means = sums / total  # (n_features + 1,)
    scale, per_unit = units(means, squares_of_rows(data, means) / total)
    return scale, triangle_of_rows(data, means, per_unit)


def reduce_divided(data: Divided) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same where the rows lie on several machines: sums of their sums, and the triangle of their triangles."""
    totals, sums = zip(*data.each(in_part, sums_of_rows), strict=True)
    total = sum(totals)
    means = sum(sums) / total
    scale, per_unit = units(means, sum(data.each(in_part, squares_of_rows, means)) / total)
    triangles = data.each(in_part, triangle_of_rows, means, per_unit)
    return scale, np.asarray(np.linalg.qr(np.vstack(triangles), mode="r"))


def in_part(bench: Bench, name: str, function: Callable[..., Any], *given: Any) -> Any:
    """In a worker: what a function makes of its rows."""
    with products.on_one_thread():
        return function(bench.data[name], *given)


def sums_of_rows(data: Dataset) -> tuple[float, NDArray[np.float64]]:
    """The weight of all rows, and the sum of features and label, shape ``(n_features + 1,)``."""
    weights = data.doc_weights
    sums = sum(weights[rows] @ _table(data, rows) for rows in row_blocks(data.n_docs, BLOCK))
    return max(float(weights.sum()), np.finfo(float).tiny), np.asarray(sums)


def squares_of_rows(data: Dataset, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the squared distances from the means, shape ``(n_features + 1,)``."""
    weights = data.doc_weights
    blocks = row_blocks(data.n_docs, BLOCK)
    return np.asarray(sum(weights[rows] @ (_table(data, rows) - means) ** 2 for rows in blocks))


def units(
    means: NDArray[np.float64], variances: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The deviation of each feature, and what features and label are multiplied by; labels stay in their own unit."""
    scale = np.sqrt(variances)
    scale[scale <= 1e-9 * np.abs(means)] = 0.0  # constant but for rounding
    per_unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    per_unit[-1] = 1.0
    return scale[:-1], per_unit


def triangle_of_rows(data: Dataset, means: NDArray[np.float64], per_unit: NDArray[np.float64]) -> NDArray[np.float64]:
    """The triangle of the QR decomposition of the rows, made of one block of rows after another."""
    weights = data.doc_weights
    triangle = np.zeros((0, data.n_features + 1))
    for rows in row_blocks(data.n_docs, BLOCK):
        block = (_table(data, rows) - means) * per_unit * np.sqrt(weights[rows])[:, None]
        triangle = np.asarray(np.linalg.qr(np.vstack((triangle, block)), mode="r"))
    return triangle


def ridge(scale: NDArray[np.float64], triangle: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Weights of the features: the penalty is as many rows more, each with the label 0."""
    used = scale > 0
    rows, labels = triangle[:, :-1][:, used], triangle[:, -1]
    if len(rows) < rows.shape[1]:
        coef = np.zeros(len(scale))
        coef[used] = _ridge_of_few(rows, labels, scale[used], alpha) / scale[used]
        return coef
    penalty = np.diag(np.sqrt(alpha) / scale[used])
    targets = np.concatenate((labels, np.zeros(len(penalty))))
    solution = np.linalg.lstsq(np.vstack((rows, penalty)), targets, rcond=1e-12)[0]
    coef = np.zeros(len(scale))
    coef[used] = solution / scale[used]
    return coef


def _ridge_of_few(
    rows: NDArray[np.float64], labels: NDArray[np.float64], scale: NDArray[np.float64], alpha: float
) -> NDArray[np.float64]:
    """The same for fewer rows than features, by their singular values: a row for each penalty would take minutes."""
    if alpha == 0:
        return np.asarray(np.linalg.lstsq(rows, labels, rcond=1e-12)[0])
    left, values, right = np.linalg.svd(rows * scale, full_matrices=False)  # with the penalty in units of the feature
    return np.asarray(right.T @ (values / (values**2 + alpha) * (left.T @ labels)) * scale)


def _table(data: Dataset, rows: slice) -> NDArray[np.float64]:
    """Features and label side by side, shape ``(n_rows, n_features + 1)``."""
    return np.column_stack((data.X[rows].astype(np.float64), data.y[rows]))


def check_sign(given: object) -> None:
    """Refuse anything but 1 and -1."""
    if given not in (1, -1) or isinstance(given, bool):
        raise ParameterError(f"sign={given!r}; it must be 1, -1 or None")


@final
class SingleFeature(LinearRanker):
    """Rank by one feature; by default, the one that ranks the training data best.

    BM25 is such a feature (number 25 of LETOR 4.0, over the whole document). Of equally good features the first is
    chosen, and of both signs 1.

    Attributes
    ----------
    feature_, sign_
        The number of the feature, starting at 1, and its direction; ``coef_`` holds the sign at the feature's position.

    Examples
    --------
    The second feature falls as the label rises.

    >>> ranker = SingleFeature().fit([[1.0, 5.0], [3.0, 4.0], [2.0, 1.0]], [0, 1, 2], qid=[1] * 3)
    >>> ranker.feature_, ranker.sign_, ranker.coef_.tolist()
    (2, -1, [0.0, -1.0])
    """

    feature: int | str | None = param(
        None,
        "The feature's number, starting at 1 as in LETOR files, or its name (f1, f2, ... if the data has no names). "
        "None chooses the best on the training data; `valid` is not used.",
    )
    sign: int | None = param(
        None,
        "1 if larger is better, -1 if smaller is better; None decides on the training data.",
        check=check_sign,
    )
    metric: str = metric_param(text="The metric used to choose the feature.")
    profile: str = profile_param()

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:  # noqa: ARG002
        columns = range(data.n_features) if self.feature is None else [column_of(self.feature, data)]
        tries = [(column, sign) for column in columns for sign in ((1, -1) if self.sign is None else (self.sign,))]
        column, self.sign_ = tries[0]
        if len(tries) > 1:
            judge = Judge(self.metric, self.profile)
            reached = [judge.mean(data, sign * data.X[:, column].astype(np.float64)) for column, sign in tries]
            column, self.sign_ = tries[int(np.argmax(np.nan_to_num(reached, nan=-np.inf)))]
        self.feature_ = column + 1
        self.coef_ = np.zeros(data.n_features)
        self.coef_[column] = self.sign_


def column_of(feature: object, data: Dataset) -> int:
    """The column, from 0, of a feature given by number, from 1, or by name."""
    if isinstance(feature, Integral):
        return check_int("feature", feature, low=1, high=data.n_features) - 1
    names = name_features(data.feature_names, data.n_features)
    return names.index(check_choice("feature", feature, names))


@final
class RandomRanker(Ranker):
    """Random scores between 0 and 1: the lowest baseline of any comparison.

    A document's score is a hash of its features and the seed. It has nothing to do with relevance, but does not depend
    on the order of the rows or on other documents. Documents with equal features have the same score.

    Examples
    --------
    >>> ranker = RandomRanker(seed=1).fit([[1.0], [2.0]], [0, 1], qid=[1] * 2)
    >>> there, back = ranker.predict([[1.0], [2.0]]), ranker.predict([[2.0], [1.0]])
    >>> there.tolist() == back[::-1].tolist()
    True
    """

    allows_nan = True

    seed: int = seed_param("Random seed; a different seed gives a different order.", high=2**64 - 1)

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        """There is nothing to learn."""

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        seeds = np.full((data.n_docs, 1), self.seed, np.uint64)
        bits = hash_rows(np.ascontiguousarray(data.X), seeds)
        # two more rounds of mixing (splitmix64), so that near documents and near seeds share nothing
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
