"""The compiled loops over rows: hashes, scaling inside queries, shares below a value, lines of LETOR text."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.compiled import INNER, OUTER, njit, specialize

Bytes = NDArray[np.uint8]

_SPACE, _MINUS, _DOT, _ZERO, _COLON = 32, 45, 46, 48, 58
_POWERS = np.array([float(f"1e{e}") for e in range(23)])


def hash_rows(X: NDArray[np.float32], columns: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of a row of X and of columns; 0.0 and -0.0 count as equal."""
    hashes = np.empty(len(X), np.uint64)
    _hash_rows(frozen(X.view(np.uint32)), frozen(columns), hashes)
    return hashes


@njit(**OUTER)
def _hash_rows(bits, columns, hashes):  # type: ignore[no-untyped-def]
    for i in range(len(hashes)):
        h = np.uint64(0x243F6A8885A308D3)
        for j in range(bits.shape[1]):
            word = np.uint64(bits[i, j])
            if word == np.uint64(0x80000000):
                word = np.uint64(0)
            h = (h ^ word) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(32)
        for j in range(columns.shape[1]):
            h = (h ^ columns[i, j]) * np.uint64(0xC2B2AE3D27D4EB4F)
            h ^= h >> np.uint64(29)
        hashes[i] = h


IS_MINMAX: Any = None  # left open by the template
IS_ZSCORE: Any = None


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
def _rank_queries(X, rows, offsets, room, out):  # type: ignore[no-untyped-def]
    """Write the place of every value among those of its query, from -1 to 1; NaN stays and is not counted."""
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
} | {"rank": _rank_queries, "qlog": _log_queries}


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


@njit(cache=True, nogil=True)
def _put(out: Bytes, i: int, text: Bytes, start: int, stop: int) -> int:
    for j in range(start, stop):
        out[i] = text[j]
        i += 1
    return i


@njit(cache=True, nogil=True)
def _put_integer(out: Bytes, i: int, number: int, n_digits: int) -> int:
    """Write a number with at least ``n_digits`` digits."""
    rest, length = number, 1
    while rest >= 10:
        rest //= 10
        length += 1
    length = max(length, n_digits)
    for j in range(length):
        out[i + length - 1 - j] = _ZERO + number % 10
        number //= 10
    return i + length


@njit(cache=True, nogil=True)
def write_lines(
    X: NDArray[np.float32], is_sparse: bool, keep_last: bool, before: Bytes, before_at: NDArray[np.int64],
    after: Bytes, after_at: NDArray[np.int64], rare: Bytes, rare_at: NDArray[np.int64], is_rare: NDArray[np.bool_],
    out: Bytes,
) -> int:  # fmt: skip
    """Write a line for each row of X: what stands before the features, the features, what stands after; the bytes used.

    A value has the fewest decimals that read back to it. Rare values (NaN, tiny, huge) are given as text, in row order.
    Sparse lines leave zeros out, but for the very last feature of the first row where ``keep_last`` is set.
    """
    i, n_rare = 0, 0
    n_rows, n_features = X.shape
    for row in range(n_rows):
        i = _put(out, i, before, before_at[row], before_at[row + 1])
        for f in range(n_features):
            value = np.float64(X[row, f])
            negative = math.copysign(1.0, value) < 0
            if is_sparse and value == 0 and not negative and not (keep_last and row == 0 and f == n_features - 1):
                continue
            out[i] = _SPACE
            i = _put_integer(out, i + 1, f + 1, 1)
            out[i] = _COLON
            i += 1
            if is_rare[row, f]:
                i = _put(out, i, rare, rare_at[n_rare], rare_at[n_rare + 1])
                n_rare += 1
                continue
            if negative:
                out[i] = _MINUS
                i += 1
                value = -value
            n_decimals = 0
            while np.float32(np.rint(value * _POWERS[n_decimals]) / _POWERS[n_decimals]) != np.float32(value):
                n_decimals += 1
            number = int(np.rint(value * _POWERS[n_decimals]))
            unit = int(_POWERS[n_decimals])
            i = _put_integer(out, i, number // unit, 1)
            if n_decimals > 0:
                out[i] = _DOT
                i = _put_integer(out, i + 1, number % unit, n_decimals)
        i = _put(out, i, after, after_at[row], after_at[row + 1])
    return i
