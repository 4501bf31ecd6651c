r"""The primal solver of RankSVM: truncated Newton on sums over pairs, with a bound on what is left to gain.

With margins :math:`m_p` (score of the better document minus that of the worse) and pair weights :math:`c_p` it
minimizes :math:`P(w) = \tfrac12 |w|^2 + C \sum_p c_p\,\ell(m_p)`, for the squared hinge
:math:`\ell(m) = \max(0, 1 - m)^2` or the hinge :math:`\max(0, 1 - m)`.

The hinge has no second derivative, so it is rounded off in a band of width 2h around 1. The rounded hinge is a
difference of two squared hinges, :math:`[\max(0, 1+h-m)^2 - \max(0, 1-h-m)^2] / 4h`, so that one sum over pairs serves
both losses; h shrinks until the duality gap says that it no longer matters.

Every w gives pair multipliers :math:`\alpha_p = -C c_p\,\ell'(m_p)` that are feasible in the dual problem, so
:math:`P(w) - D(\alpha)` bounds the distance to the optimum; for a smooth loss it is :math:`\tfrac12 |\nabla P|^2`. The
solver stops by that bound, not by a small step.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from ordino.svm.pairs import Vector

FIRST_BAND, LAST_BAND = 1.0, 1e-6  # half widths of the rounded hinge's band; the first holds every pair at w = 0
LEAST_SHRINK, MOST_SHRINK = 2, 10  # of the band from stage to stage
STAGE_SHARE = 0.1  # of the last stage's gap to which the next one is solved: no more, since its band is still wide
MAX_CG = 400
CG_SHARE = 0.3  # of the gradient that may be left when a Newton step is good enough


class Solution(NamedTuple):
    """Weights with the proof of how good they are: the optimum is at least ``objective - gap``."""

    coef: Vector  # (n_features,)
    objective: float
    gap: float
    iterations: int


class Loss(NamedTuple):
    """``scale`` times the sum over pairs of max(0, high - margin)^2 - max(0, low - margin)^2."""

    scale: float
    low: float
    high: float


class Sums(Protocol):
    """Sums over all pairs at given scores; :class:`~ordino.svm.pairs.HingeSums` says of what."""

    @property
    def value(self) -> float:
        """The sum itself."""

    @property
    def shortfall(self) -> float:
        """What the duality gap needs."""


class Pairs(Protocol):
    """What the solver asks of the pairs; the scores of documents stay with them, wherever they are."""

    @property
    def n_features(self) -> int:
        """The number of features."""

    def scores(self, w: Vector) -> Any:
        """The scores that these weights give."""

    def moved(self, scores: Any, length: float, change: Any) -> Any:
        """Scores after a step of this length, which changes them by ``change``."""

    def sums(self, scores: Any, low: float, high: float) -> Sums:
        """Sums over all pairs."""

    def slopes(self, at: Any) -> Vector:
        """Minus half the derivative of ``at.value`` by the weights of features."""

    def curvature(self, scores: Any, at: Any, v: Vector) -> Vector:
        """Half the second derivative of ``at.value`` by the weights of features, times v."""


class Point(NamedTuple):
    """The smooth objective at given weights."""

    w: Vector
    scores: Any
    sums: Sums
    value: float


def minimize(pairs: Pairs, *, C: float, loss: str, tol: float, max_iter: int, start: Vector | None = None) -> Solution:
    """Weights whose objective is within ``tol`` times itself of the optimum, or the best after max_iter steps.

    Examples
    --------
    One pair whose features differ by 1: w^2/2 + (1 - w)^2 is least at w = 2/3, where it is 2/9 + 1/9.

    >>> from ordino.svm.pairs import PairSums
    >>> X, y = np.array([[1.0], [0.0]], np.float32), np.array([1.0, 0.0])
    >>> found = minimize(PairSums(X, y, np.array([0, 2])), C=1.0, loss="squared-hinge", tol=1e-9, max_iter=50)
    >>> round(float(found.coef[0]), 6), round(found.objective, 6)
    (0.666667, 0.333333)
    """
    w = np.zeros(pairs.n_features) if start is None else start
    if loss == "squared-hinge":
        at, gradient, steps = _descend(pairs, Loss(C, -np.inf, 1.0), w, tol, max_iter)
        return Solution(at.w, at.value, 0.5 * float(gradient @ gradient), steps)
    band, done, bound, rough = FIRST_BAND, 0, 0.0, 1.0
    while True:
        rounded = Loss(C / (4 * band), 1 - band, 1 + band)
        at, gradient, steps = _descend(pairs, rounded, w, max(0.25 * tol, STAGE_SHARE * rough), max_iter - done)
        w, done = at.w, done + steps
        pull = w - gradient  # the weights that the multipliers make: sum of multiplier times feature difference
        objective = 0.5 * float(w @ w) + C * pairs.sums(at.scores, -np.inf, 1.0).shortfall
        multipliers = 2 * rounded.scale * at.sums.shortfall
        bound = max(bound, multipliers - 0.5 * float(pull @ pull))  # no w is better than this
        gap = objective - bound
        if gap <= tol * objective or band <= LAST_BAND or done >= max_iter:
            return Solution(w, objective, gap, done)
        rough = gap / objective
        wanted = np.sqrt(2 * rough / tol)  # the gap falls with the square of the band; aim at half of tol
        band /= min(max(wanted, LEAST_SHRINK), MOST_SHRINK)


def _descend(pairs: Pairs, loss: Loss, w: Vector, tol: float, max_iter: int) -> tuple[Point, Vector, int]:
    """Newton steps, each solved by conjugate gradients, until half the squared gradient is below tol * value."""
    at = _point(pairs, loss, w, pairs.scores(w))
    for step in range(max_iter + 1):
        gradient = at.w - 2 * loss.scale * pairs.slopes(at.sums)
        if 0.5 * float(gradient @ gradient) <= tol * at.value or step == max_iter:
            break
        direction = _newton_direction(pairs, loss, at, gradient)
        rise, change = float(gradient @ direction), pairs.scores(direction)
        length = 1.0
        while length > 1e-10:
            trial = _point(pairs, loss, at.w + length * direction, pairs.moved(at.scores, length, change))
            if trial.value < at.value and trial.value <= at.value + 1e-4 * length * rise:
                break
            length /= 2
        else:
            break  # as low as double precision goes
        at = trial
    return at, gradient, step


def _point(pairs: Pairs, loss: Loss, w: Vector, scores: Any) -> Point:
    sums = pairs.sums(scores, loss.low, loss.high)
    return Point(w, scores, sums, 0.5 * float(w @ w) + loss.scale * sums.value)


def _newton_direction(pairs: Pairs, loss: Loss, at: Point, gradient: Vector) -> Vector:
    """Conjugate gradients on the second derivative, until the residual is small beside the gradient."""
    x = np.zeros_like(gradient)
    residual = -gradient
    search = residual.copy()
    norm = float(residual @ residual)
    enough = norm * CG_SHARE**2
    for _ in range(MAX_CG):
        curved = search + 2 * loss.scale * pairs.curvature(at.scores, at.sums, search)
        length = norm / float(search @ curved)
        x += length * search
        residual -= length * curved
        previous, norm = norm, float(residual @ residual)
        if norm <= enough:
            break
        search = residual + norm / previous * search
    return x
