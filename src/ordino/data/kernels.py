"""The compiled loops over rows: hashes, lines of LETOR text."""

import math

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.compiled import OUTER, njit

Bytes = NDArray[np.uint8]

_SPACE, _MINUS, _DOT, _ZERO, _COLON = 32, 45, 46, 48, 58
_POWERS = np.array([float(f"1e{e}") for e in range(23)])


def hash_rows(X: NDArray[np.float32], columns: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of a row of X and of columns; 0.0 and -0.0 count as equal."""
    hashes = np.empty(len(X), np.uint64)
    _hash_rows(frozen(X.view(np.uint32)), hashes)
    for column in columns.T:
        hashes ^= column
        hashes *= np.uint64(0xC2B2AE3D27D4EB4F)
        hashes ^= hashes >> np.uint64(29)
    return hashes


@njit(**OUTER)
def _hash_rows(bits, hashes):  # type: ignore[no-untyped-def]
    for i in range(len(hashes)):
        h = np.uint64(0x243F6A8885A308D3)
        for j in range(bits.shape[1]):
            word = np.uint64(bits[i, j])
            if word == np.uint64(0x80000000):
                word = np.uint64(0)
            h = (h ^ word) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(32)
        hashes[i] = h


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
