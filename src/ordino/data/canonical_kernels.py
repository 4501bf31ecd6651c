"""Compiled: a 64-bit hash of each row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import frozen
from ordino.compiled import OUTER, njit


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
