"""Compiled: the first layer of a pair network, gathered from what was computed once for each document."""

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import OUTER, njit

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


@njit(**OUTER)
def gather(left: Floats, right: Floats, a: Rows, b: Rows, out: Floats) -> None:
    """Write left[a] + right[b] of every pair; left and right are (n_networks, n_docs, width).

    The rows of a and b are the pairs of one network each, or one row is those of all.
    """
    for m in range(left.shape[0]):
        first, second = a[m % len(a)], b[m % len(b)]
        for i in range(len(first)):
            for k in range(left.shape[2]):
                out[m, i, k] = left[m, first[i], k] + right[m, second[i], k]


@njit(**OUTER)
def scatter(gradient: Floats, a: Rows, b: Rows, left: Floats, right: Floats) -> None:
    """Add the gradient of every pair, (n_networks, n_pairs, width), to those of its two documents."""
    for m in range(gradient.shape[0]):
        first, second = a[m % len(a)], b[m % len(b)]
        for i in range(len(first)):
            for k in range(gradient.shape[2]):
                left[m, first[i], k] += gradient[m, i, k]
                right[m, second[i], k] += gradient[m, i, k]
