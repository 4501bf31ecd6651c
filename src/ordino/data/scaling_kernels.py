"""The compiled loops of scaling: inside queries, and shares of training values below a value."""

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import INNER, OPEN, OUTER, njit, specialize

IS_MINMAX = IS_ZSCORE = OPEN  # in the template below


def _scale_queries(X, rows, offsets, room, out):  # type: ignore[no-untyped-def]
    """Template: write ``(x - center) / spread`` of every query; ``rows`` names its rows, which saves a copy.

    NaN fails every comparison, so it never becomes a minimum or a maximum, and it is not counted.
    """
    n_features = X.shape[1]
    low, high = room[0], room[1]
    count, total = room[2], room[3]
    center, factor = room[4], room[5]  # 1 / spread: its rounding never shows in float32
    for q in range(len(offsets) - 1):
        for j in range(n_features):
            low[j], high[j] = np.inf, -np.inf
            count[j] = total[j] = 0.0
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


@njit(**INNER)
def _sort_values(values, room, n):  # type: ignore[no-untyped-def]
    """Sort the first n values in place: runs of 8 by insertion, then merged; room has the same size."""
    for start in range(0, n, 8):
        stop = start + 8 if start + 8 < n else n  # min would be compiled one by one
        for i in range(start + 1, stop):
            value, at = values[i], i
            while at > start and values[at - 1] > value:
                values[at] = values[at - 1]
                at -= 1
            values[at] = value
    width = 8
    while width < n:
        for start in range(0, n, 2 * width):
            middle = start + width if start + width < n else n
            stop = middle + width if middle + width < n else n
            a, b = start, middle
            for at in range(start, stop):
                if b >= stop or (a < middle and values[a] <= values[b]):
                    room[at] = values[a]
                    a += 1
                else:
                    room[at] = values[b]
                    b += 1
        for at in range(n):
            values[at] = room[at]
        width *= 2


@njit(**OUTER)
def rank_short(X, rows, offsets, room, out):  # type: ignore[no-untyped-def]
    """Write the place of every value among those of its query, from -1 to 1; NaN stays and is not counted.

    All documents meet all others, of all features at once: in short queries that takes a fraction of sorting's time.
    """
    n_features = X.shape[1]
    below, equal, known = room[0], room[1], room[2]
    for q in range(len(offsets) - 1):
        for i in range(offsets[q], offsets[q + 1]):
            row = rows[i]
            for j in range(n_features):
                below[j] = equal[j] = known[j] = 0
            for other in range(offsets[q], offsets[q + 1]):
                at = rows[other]
                for j in range(n_features):
                    x = X[at, j]
                    below[j] += x < X[row, j]
                    equal[j] += x == X[row, j]
                    known[j] += x == x
            for j in range(n_features):
                place = np.float64(2 * below[j] + equal[j] - 1) / np.float64(known[j] - 1) - 1.0
                out[row, j] = X[row, j] if equal[j] == 0 else place if equal[j] < known[j] else 0.0


@njit(**OUTER)
def rank_long(X, rows, offsets, room, out):  # type: ignore[no-untyped-def]
    """Write what :func:`rank_short` writes, by sorting the values of each feature."""
    values, spare = room[0], room[1]
    for q in range(len(offsets) - 1):
        for j in range(X.shape[1]):
            n = np.int64(0)  # a constant would be a type of its own, for which the sort is compiled too
            for i in range(offsets[q], offsets[q + 1]):
                x = X[rows[i], j]
                if x == x:
                    values[n] = x
                    n += 1
            _sort_values(values, spare, n)
            for i in range(offsets[q], offsets[q + 1]):
                x = X[rows[i], j]
                if x != x:
                    out[rows[i], j] = x
                elif n == 1 or values[0] == values[n - 1]:
                    out[rows[i], j] = 0.0
                else:
                    first, after = _first_above(values, n, x, x == x), _first_above(values, n, x, x != x)
                    out[rows[i], j] = (first + after - 1) / (n - 1) - 1.0


@njit(**OUTER)
def _log_queries(X, rows, offsets, room, out):  # type: ignore[no-untyped-def]
    """Write the z-score of log(1 + 100 x) of every value x between 0 and 1, the ends of its query."""
    low, high, count, total, squares = room[0], room[1], room[2], room[3], room[4]
    for q in range(len(offsets) - 1):
        for j in range(X.shape[1]):
            low[j], high[j] = np.inf, -np.inf
            count[j] = total[j] = squares[j] = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(X.shape[1]):
                x = X[rows[i], j]
                low[j] = x if x < low[j] else low[j]
                high[j] = x if x > high[j] else high[j]
                count[j] += x == x
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(X.shape[1]):
                x = X[rows[i], j]
                if low[j] < high[j] and x == x:
                    out[rows[i], j] = log = np.log1p(100 * ((x - low[j]) / (high[j] - low[j])))
                    total[j] += log
                else:
                    out[rows[i], j] = x - low[j]
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(X.shape[1]):
                away = out[rows[i], j] - total[j] / count[j]
                squares[j] += away * away if away == away else 0.0
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(X.shape[1]):
                if low[j] < high[j]:
                    out[rows[i], j] = (out[rows[i], j] - total[j] / count[j]) / np.sqrt(squares[j] / count[j])


SCALES = {
    name: specialize(_scale_queries, name, OUTER, IS_MINMAX=name == "minmax", IS_ZSCORE=name == "zscore")
    for name in ("querymax", "minmax", "zscore")
} | {"qlog": _log_queries}


@njit(**OUTER)
def shares_below(
    X: NDArray[np.float32], quantiles: NDArray[np.float64], references: NDArray[np.float64], out: NDArray[np.float64]
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
            else:  # no constants False and True: the search would be compiled for each of them
                above = _first_above(known, last + 1, x, x != x)  # known[above - 1] <= x < known[above]
                if known[above - 1] == x:
                    first = _first_above(known, last + 1, x, x == x) if known[above - 2] == x else above - 1
                    out[i, j] = (references[first] + references[above - 1]) / 2
                else:
                    way = (x - known[above - 1]) / (known[above] - known[above - 1])
                    out[i, j] = references[above - 1] + way * (references[above] - references[above - 1])


@njit(**INNER)
def _first_above(known: NDArray[np.float64], n: int, x: float, or_equal: bool) -> int:
    """Where the first value above x stands in n rising ones; halving without a branch that could be guessed wrong."""
    at, left = 0, n
    while left > 1:
        half = left >> 1
        value = known[at + half - 1]
        at += half * ((value < x) | ((value == x) & (not or_equal)))
        left -= half
    return at + ((known[at] < x) | ((known[at] == x) & (not or_equal)))  # type: ignore[no-any-return]
