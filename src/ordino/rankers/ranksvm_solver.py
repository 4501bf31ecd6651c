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

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, Self, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.scaler import frozen
from ordino.rankers.ranksvm_kernels import (
    dense_levels,
    pair_curvature,
    pair_slopes,
    rows_times,
    sort_scores,
    times_rows,
)

Vector = NDArray[np.float64]
T = TypeVar("T")

BLOCK = 16384  # documents that one thread works on at a time; fixed, so that sums do not depend on the thread count
FIRST_BAND, LAST_BAND, SHRINK = 0.5, 1e-6, 10  # half widths of the rounded hinge's band
STAGE_SHARE = 0.1  # of the last stage's gap to which the next one is solved: no more, since its band is still wide
MAX_CG = 400
CG_SHARE = 0.1  # of the gradient that may be left when a Newton step is good enough


class Solution(NamedTuple):
    """Weights with the proof of how good they are: the optimum is at least ``objective - gap``."""

    coef: Vector  # (n_features,)
    objective: float
    gap: float
    iterations: int


class HingeSums(NamedTuple):
    """Sums of max(0, threshold - margin)^2 over pairs at given scores, and what its derivatives need."""

    threshold: float
    value: float
    shortfall: float  # sum of max(0, threshold - margin)
    slope: Vector  # minus half the derivative by each score, (n_docs,)
    degree: Vector  # weight of each document's active pairs, (n_docs,)


@final
class PairSums:
    """The pairs of a data set, never listed: time n log n, memory linear in documents.

    Parameters
    ----------
    X, y, offsets
        Documents by query.
    weights
        A pair counts the product of its documents' weights.
    n_jobs
        Threads; None takes all cores. The sums do not depend on it.
    """

    def __init__(
        self,
        X: NDArray[np.float32],
        y: Vector,
        offsets: NDArray[np.int64],
        weights: Vector | None = None,
        n_jobs: int | None = 1,
    ) -> None:
        self.X = frozen(np.ascontiguousarray(X))
        self.offsets = frozen(np.ascontiguousarray(offsets))
        self.level, self.pairs_of_query = dense_levels(frozen(np.ascontiguousarray(y)), self.offsets)
        self.weights = np.ones(len(y)) if weights is None else np.array(weights, np.float64)
        self.blocks = _blocks(self.offsets)
        self.n_jobs = min(n_jobs or os.cpu_count() or 1, len(self.blocks))
        self._pool: ThreadPoolExecutor | None = None

    @property
    def n_pairs(self) -> float:
        """How many pairs there are."""
        return float(self.pairs_of_query.sum())

    def scores(self, w: Vector) -> Vector:
        """``X @ w`` in double precision, shape ``(n_docs,)``."""
        out = np.empty(len(self.X))
        self._run(lambda first, last: rows_times(self.X, w, self.offsets[first], self.offsets[last], out))
        return out

    def features(self, v: Vector) -> Vector:
        """``v @ X`` in double precision, shape ``(n_features,)``."""

        def part(first: int, last: int) -> Vector:
            out = np.zeros(self.X.shape[1])
            times_rows(self.X, v, self.offsets[first], self.offsets[last], out)
            return out

        return np.sum(self._run(part), axis=0)  # type: ignore[no-any-return]

    def order(self, scores: Vector) -> NDArray[np.int64]:
        """Rows by rising score inside each query."""
        order = np.empty(len(scores), np.int64)
        self._run(lambda first, last: sort_scores(scores, self.offsets, first, last, order))
        return order

    def sums(self, scores: Vector, order: NDArray[np.int64], threshold: float) -> HingeSums:
        """Sums over all pairs with a margin below the threshold."""
        slope, degree = np.empty(len(scores)), np.empty(len(scores))

        def part(first: int, last: int) -> tuple[float, float]:
            found: tuple[float, float] = pair_slopes(
                scores, self.level, self.weights, self.offsets, first, last, order, threshold, slope, degree
            )
            return found

        value, shortfall = np.sum(self._run(part), axis=0)
        return HingeSums(threshold, float(value), float(shortfall), slope, degree)

    def curvature(self, scores: Vector, order: NDArray[np.int64], at: HingeSums, v: Vector) -> Vector:
        """Half the second derivative of ``at.value`` by the scores, times v."""
        out = np.empty(len(v))
        self._run(
            lambda first, last: pair_curvature(
                scores, self.level, self.weights, self.offsets, first, last, order, at.threshold, at.degree, v, out
            )
        )
        return out

    def __enter__(self) -> Self:
        if self.n_jobs > 1:
            self._pool = ThreadPoolExecutor(self.n_jobs)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _run(self, part: Callable[[int, int], T]) -> list[T]:
        """Call part for every block of queries; results in the order of the blocks."""
        if self._pool is None:
            return [part(first, last) for first, last in self.blocks]
        return list(self._pool.map(lambda block: part(*block), self.blocks))


def _blocks(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Runs of whole queries with about BLOCK documents each."""
    heads = np.searchsorted(offsets[:-1], np.arange(0, offsets[-1], BLOCK))
    return list(pairwise(np.unique(np.append(heads, len(offsets) - 1)).tolist()))


class _Point(NamedTuple):
    """The smooth objective at given weights."""

    w: Vector
    scores: Vector
    order: NDArray[np.int64]
    terms: list[tuple[float, HingeSums]]  # coefficients and sums of squared hinges
    value: float


def minimize(
    pairs: PairSums, *, C: float, loss: str, tol: float, max_iter: int, start: Vector | None = None
) -> Solution:
    """Weights whose objective is within ``tol`` times itself of the optimum, or the best after max_iter steps.

    Examples
    --------
    One pair whose features differ by 1: w^2/2 + (1 - w)^2 is least at w = 2/3, where it is 2/9 + 1/9.

    >>> X, y = np.array([[1.0], [0.0]], np.float32), np.array([1.0, 0.0])
    >>> found = minimize(PairSums(X, y, np.array([0, 2])), C=1.0, loss="squared_hinge", tol=1e-9, max_iter=50)
    >>> round(float(found.coef[0]), 6), round(found.objective, 6)
    (0.666667, 0.333333)
    """
    w = np.zeros(pairs.X.shape[1]) if start is None else start
    if loss == "squared_hinge":
        at, gradient, steps = _descend(pairs, [(C, 1.0)], w, tol, max_iter)
        return Solution(at.w, at.value, 0.5 * float(gradient @ gradient), steps)
    band, done, bound, rough = FIRST_BAND, 0, 0.0, 1.0
    while True:
        rounded = [(C / (4 * band), 1 + band), (-C / (4 * band), 1 - band)]
        at, gradient, steps = _descend(pairs, rounded, w, max(0.25 * tol, STAGE_SHARE * rough), max_iter - done)
        w, done = at.w, done + steps
        pull = w - gradient  # the weights that the multipliers make: sum of multiplier times feature difference
        objective = 0.5 * float(w @ w) + C * pairs.sums(at.scores, at.order, 1.0).shortfall
        multipliers = sum(2 * coefficient * sums.shortfall for coefficient, sums in at.terms)
        bound = max(bound, multipliers - 0.5 * float(pull @ pull))  # no w is better than this
        gap = objective - bound
        if gap <= tol * objective or band <= LAST_BAND or done >= max_iter:
            return Solution(w, objective, gap, done)
        band /= SHRINK
        rough = gap / objective


def _descend(
    pairs: PairSums, loss: Sequence[tuple[float, float]], w: Vector, tol: float, max_iter: int
) -> tuple[_Point, Vector, int]:
    """Newton steps, each solved by conjugate gradients, until half the squared gradient is below tol * value."""
    at = _point(pairs, loss, w, pairs.scores(w))
    for step in range(max_iter + 1):
        gradient = _gradient(pairs, at)
        if 0.5 * float(gradient @ gradient) <= tol * at.value or step == max_iter:
            break
        direction = _newton_direction(pairs, at, gradient)
        rise, change = float(gradient @ direction), pairs.scores(direction)
        length = 1.0
        while length > 1e-10:
            trial = _point(pairs, loss, at.w + length * direction, at.scores + length * change)
            if trial.value < at.value and trial.value <= at.value + 1e-4 * length * rise:
                break
            length /= 2
        else:
            break  # as low as double precision goes
        at = trial
    return at, gradient, step


def _point(pairs: PairSums, loss: Sequence[tuple[float, float]], w: Vector, scores: Vector) -> _Point:
    order = pairs.order(scores)
    terms = [(coefficient, pairs.sums(scores, order, threshold)) for coefficient, threshold in loss]
    value = 0.5 * float(w @ w) + sum(coefficient * sums.value for coefficient, sums in terms)
    return _Point(w, scores, order, terms, value)


def _gradient(pairs: PairSums, at: _Point) -> Vector:
    slopes: Vector = np.zeros(len(at.scores))
    for coefficient, sums in at.terms:
        slopes -= 2 * coefficient * sums.slope
    return at.w + pairs.features(slopes)


def _newton_direction(pairs: PairSums, at: _Point, gradient: Vector) -> Vector:
    """Conjugate gradients on the second derivative, until the residual is small beside the gradient."""

    def times(v: Vector) -> Vector:
        change, curved = pairs.scores(v), np.zeros(len(at.scores))
        for coefficient, sums in at.terms:
            curved += 2 * coefficient * pairs.curvature(at.scores, at.order, sums, change)
        return v + pairs.features(curved)

    x = np.zeros_like(gradient)
    residual = -gradient
    search = residual.copy()
    norm = float(residual @ residual)
    enough = norm * CG_SHARE**2
    for _ in range(MAX_CG):
        curved = times(search)
        length = norm / float(search @ curved)
        x += length * search
        residual -= length * curved
        previous, norm = norm, float(residual @ residual)
        if norm <= enough:
            break
        search = residual + norm / previous * search
    return x
