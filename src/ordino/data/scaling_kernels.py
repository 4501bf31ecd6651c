"""The compiled loops of scaling: passes over a query gather its figures, the last one writes the scaled rows.

Rows are named by ``rows`` (scattered queries need no copy) and columns are the inner loop, so that memory is read in
order. NaN fails every comparison, so it never becomes a minimum or a maximum, and it is not counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import INNER, OUTER, njit, specialize

QUERYMAX, MINMAX, ZSCORE = 0, 1, 2


IS_MINMAX: Any = None  # left open by the template
IS_ZSCORE: Any = None


def _scale_queries(
    X: NDArray[np.float32],
    rows: NDArray[np.intp],
    offsets: NDArray[np.int64],
    room: NDArray[np.float64],  # (6, n_features)
    out: NDArray[np.float32],
) -> None:
    """Template: write ``(x - center) / spread`` of every query."""
    n_features = X.shape[1]
    low, high, count, total = room[0], room[1], room[2], room[3]
    center, factor = room[4], room[5]  # 1 / spread: its rounding never shows in float32
    for q in range(len(offsets) - 1):
        for j in range(n_features):
            low[j], high[j] = np.inf, -np.inf
            count[j], total[j] = 0.0, 0.0
        for i in range(offsets[q], offsets[q + 1]):
            row = rows[i]
            for j in range(n_features):
                x = X[row, j]
                low[j] = x if x < low[j] else low[j]
                high[j] = x if x > high[j] else high[j]
                if not IS_MINMAX:
                    total[j] += x if x == x else np.float32(0.0)
                    count[j] += x == x
        for j in range(n_features):  # a constant is its own mean, whatever the sum was rounded to
            center[j] = low[j] if IS_MINMAX or not low[j] < high[j] else total[j] / count[j]
            total[j] = 0.0
        if IS_ZSCORE:
            for i in range(offsets[q], offsets[q + 1]):
                row = rows[i]
                for j in range(n_features):
                    x = X[row, j]
                    away = x - center[j]
                    total[j] += away * away if x == x else 0.0
        for j in range(n_features):
            if IS_MINMAX:
                spread = high[j] - low[j]
            elif IS_ZSCORE:
                spread = np.sqrt(total[j] / count[j])
            else:
                spread = max(-low[j], high[j])
            factor[j] = 1 / spread if low[j] < high[j] else 1.0
        for i in range(offsets[q], offsets[q + 1]):
            row = rows[i]
            for j in range(n_features):
                out[row, j] = (X[row, j] - center[j]) * factor[j]


_SCALES = {
    kind: specialize(_scale_queries, name, OUTER, IS_MINMAX=kind == MINMAX, IS_ZSCORE=kind == ZSCORE)
    for kind, name in ((QUERYMAX, "querymax"), (MINMAX, "minmax"), (ZSCORE, "zscore"))
}


def scale_queries(
    X: NDArray[np.float32], rows: NDArray[np.intp], offsets: NDArray[np.int64], kind: int, out: NDArray[np.float32]
) -> None:
    """Write ``(x - center) / spread`` of every query, center and spread being what ``kind`` says they are."""
    _SCALES[kind](X, rows, offsets, np.empty((6, X.shape[1])), out)


@njit(**OUTER)
def shares_below(
    X: NDArray[np.float32],
    quantiles: NDArray[np.float64],
    references: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write the share of the training values below each x: linear between quantiles, the middle of a run of equals.

    ``quantiles`` has one feature a row. Outside the training values, and at their ends, the share is 0 or 1.
    """
    last = quantiles.shape[1] - 1
    for j in range(out.shape[1]):
        known = quantiles[j]
        for i in range(out.shape[0]):
            x = X[i, j]
            if x != x:
                out[i, j] = np.nan
            elif not known[0] < known[last]:  # constant or unknown: only its two sides can be told apart
                out[i, j] = 0.0 if x < known[0] else 1.0 if x > known[0] else 0.5
            elif x <= known[0]:
                out[i, j] = 0.0
            elif x >= known[last]:
                out[i, j] = 1.0
            else:
                above = _first_above(known, x)  # known[above - 1] <= x < known[above]
                if known[above - 1] == x:
                    first = _first_at(known, x) if known[above - 2] == x else above - 1
                    out[i, j] = (references[first] + references[above - 1]) / 2
                else:
                    way = (x - known[above - 1]) / (known[above] - known[above - 1])
                    out[i, j] = references[above - 1] + way * (references[above] - references[above - 1])


@njit(**INNER)
def _first_above(known: NDArray[np.float64], x: float) -> int:
    """Where the first value above x stands in rising values; halving without a branch that could be guessed wrong."""
    at, left = 0, len(known)
    while left > 1:
        half = left >> 1
        at += half * (known[at + half - 1] <= x)
        left -= half
    return at + (known[at] <= x)  # type: ignore[no-any-return]


@njit(**INNER)
def _first_at(known: NDArray[np.float64], x: float) -> int:
    """Where the first value that is x or more stands in rising values."""
    at, stop = 0, len(known)
    while at < stop:
        half = (at + stop) >> 1
        if known[half] < x:
            at = half + 1
        else:
            stop = half
    return at
