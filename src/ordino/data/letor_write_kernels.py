"""Rows of features to LETOR text, compiled: what :mod:`ordino.data.letor_write` runs over blocks of rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import INNER, OUTER, njit

Bytes = NDArray[np.uint8]

_SPACE, _MINUS, _DOT, _ZERO, _COLON = 32, 45, 46, 48, 58
_POWERS = np.array([float(f"1e{e}") for e in range(23)])


@njit(**INNER)
def _put(out: Bytes, i: int, text: Bytes, start: int, stop: int) -> int:
    for j in range(start, stop):
        out[i] = text[j]
        i += 1
    return i


@njit(**INNER)
def _put_integer(out: Bytes, i: int, number: int, n_digits: int) -> int:
    """Write a number with at least so many digits."""
    rest, length = number, 1
    while rest >= 10:
        rest //= 10
        length += 1
    length = max(length, n_digits)
    for j in range(length):
        out[i + length - 1 - j] = _ZERO + number % 10
        number //= 10
    return i + length


@njit(**OUTER)
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
