"""Compiled: a layer of documents, each with the same bits whatever stands beside it.

Libraries of linear algebra are half as fast again, but some round a row by its place among the others: OpenBLAS does on
many processors. Then the score of a document would depend on the list that it is sent with.
"""

from typing import Any

from ordino.compiled import OUTER, njit


@njit(**OUTER | {"fastmath": {"contract"}})
def affine(X: Any, W: Any, b: Any, result: Any) -> None:
    """``X @ W + b`` in the rows of ``result``, which has a row more than X: two documents go together.

    Four inputs are added at once, one after another, so that a neuron's sum is read and written once for them.
    """
    n_docs, n_in, n_out = X.shape[0], W.shape[0], W.shape[1]
    in_fours = n_in // 4 * 4
    for first in range(0, n_docs, 2):
        x, other = X[first], X[min(first + 1, n_docs - 1)]
        y, z = result[first], result[first + 1]
        for j in range(n_out):
            y[j] = b[j]
            z[j] = b[j]
        for i in range(0, in_fours, 4):
            w0, w1, w2, w3 = W[i], W[i + 1], W[i + 2], W[i + 3]
            x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
            o0, o1, o2, o3 = other[i], other[i + 1], other[i + 2], other[i + 3]
            for j in range(n_out):
                y[j] = y[j] + x0 * w0[j] + x1 * w1[j] + x2 * w2[j] + x3 * w3[j]
                z[j] = z[j] + o0 * w0[j] + o1 * w1[j] + o2 * w2[j] + o3 * w3[j]
        for i in range(in_fours, n_in):
            w0, x0, o0 = W[i], x[i], other[i]
            for j in range(n_out):
                y[j] += x0 * w0[j]
                z[j] += o0 * w0[j]
