"""Coordinate ascent: a linear ranker that maximizes the metric itself, one weight at a time.

Each weight in turn is moved up and down by doubling steps, and to zero, and the best of these moves is kept. Sweeps
over all weights are repeated until one gains too little, and the whole search is repeated from other weights. Metzler
and Croft, "Linear feature-based models for information retrieval", Information Retrieval 2007.
"""

from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import row_blocks
from ordino.data.dataset import Dataset
from ordino.forms import linear_scores
from ordino.judge import Choice, Judge
from ordino.linear import LinearRanker
from ordino.parameters import learned, param
from ordino.progress import Steps
from ordino.recurring import metric_param, missing_param, profile_param, scaling_param, seed_param, verbose_param
from ordino.streams import stream

Vector = NDArray[np.float64]

MOVE_CELLS = 2**21  # scores of all moves of one weight that are in memory at a time


@final
class CoordinateAscent(LinearRanker):
    """Direct ascent of any metric by line searches along the features.

    Attributes
    ----------
    coef_
        Weights of the features.
    history_
        For each restart and each sweep (both start at 0; sweep 0 is the start): the metric on the training data,
        ``train``, which never falls within a restart.
    restart_
        The restart that was kept, starting at 0.

    Examples
    --------
    The label follows the second feature, not the first.

    >>> X, y = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]], [0, 1, 2]
    >>> CoordinateAscent(restarts=1).fit(X, y, qid=[1] * len(y)).score(X, y, qid=[1] * len(y))
    1.0
    """

    history_: list[dict[str, float]] = learned()

    metric: str = metric_param(
        text="The metric to maximize, also used to choose the best restart (on `valid` if given, otherwise on the "
        "training data)."
    )
    profile: str = profile_param()
    restarts: int = param(
        3, "Number of searches: the first starts from equal weights, the others from random ones.", low=1, brief=2
    )
    sweeps: int = param(25, "Maximum number of sweeps over all weights per restart.", low=1)
    step: float = param(
        0.05,
        "First step of a line search, with the weights scaled to a total size of 1 and the features to deviation 1.",
        above=0,
    )
    n_steps: int = param(10, "Number of steps in each direction; each is twice the one before.", low=1)
    tol: float = param(1e-3, "Stop after a sweep that gains no more than this.", low=0)
    scaling: str | None = scaling_param()
    missing: str | None = missing_param()
    seed: int = seed_param()
    verbose: bool = verbose_param()

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        steps_up = self.step * (np.exp2(np.arange(1, self.n_steps + 1, dtype=np.float64)) - 1)  # sums of doubling steps
        climb = _Climb(data, Judge(self.metric, self.profile), steps_up)
        choice = Choice(data if valid is None else valid, self.metric, self.profile)
        self.history_ = []
        with Steps("coordinate ascent", self.restarts, verbose=self.verbose) as steps:
            for restart in steps:
                rng = stream(self.seed, "restart", restart)
                climb.begin(np.ones(data.n_features) if restart == 0 else rng.normal(size=data.n_features))
                self.history_.append({"restart": restart, "sweep": 0, "train": climb.value})
                for sweep in range(1, self.sweeps + 1):
                    before = climb.value
                    climb.sweep(rng.permutation(data.n_features))
                    self.history_.append({"restart": restart, "sweep": sweep, "train": climb.value})
                    if not climb.value > before + self.tol:
                        break
                if choice.takes_weights(climb.coef):
                    self.coef_, self.restart_ = climb.coef, restart
                steps.show(train=climb.value, **choice.figures)


@final
class _Climb:
    """Weights, the scores that they give and the metric of those, moved one weight at a time."""

    def __init__(self, data: Dataset, judge: Judge, steps_up: Vector) -> None:
        self.data = data
        self.judge = judge
        self.moves = np.concatenate((steps_up, -steps_up))
        deviation = np.array([column.astype(np.float64).std() for column in data.X.T])
        self.per_unit = np.divide(1.0, deviation, out=np.zeros(len(deviation)), where=deviation > 0)

    @property
    def coef(self) -> Vector:
        """The weights of the features as they are, not in units of their deviation."""
        return np.asarray(self.weights * self.per_unit)

    def begin(self, weights: Vector) -> None:
        self.weights = np.where(self.per_unit > 0, weights, 0.0)
        self._settle()
        self.value = self.judge.mean(self.data, self.scores)

    def sweep(self, order: NDArray[np.intp]) -> None:
        """Search along each weight in turn and make the best move, if it gains."""
        for j in order:
            if self.per_unit[j] == 0:
                continue  # a constant feature
            moves = self.moves if self.weights[j] == 0 else np.append(self.moves, -self.weights[j])
            column = self.data.X[:, j].astype(np.float64) * self.per_unit[j]
            values = self._means(column, moves)
            best = int(np.argmax(values))
            if values[best] > self.value:
                self.weights[j] += moves[best]
                self.value = float(values[best])
                self._settle()

    def _settle(self) -> None:
        """Make the weights size 1 together, which changes no order, and compute the scores anew."""
        size = np.abs(self.weights).sum()
        if size > 0:
            self.weights = self.weights / size
        self.scores = linear_scores(self.data.X, self.coef)

    def _means(self, column: Vector, moves: Vector) -> Vector:
        """The metric after each move, several moves at a time as if they were more queries."""
        blocks = [moves[rows] for rows in row_blocks(len(moves), max(MOVE_CELLS // self.data.n_docs, 1))]
        means = [self.judge.means(self.data, self.scores + some[:, None] * column) for some in blocks]
        return np.concatenate(means)
