r"""The first layer of networks that compare two documents: products of rows of features, forward and back.

A pair (x, y) is taken as two rows. In a dense net these are x and y. In a CmpNN they are x + y and x - y: with U and V
the weights that a neuron has for the two documents, and U', V' those of its dual, which are V and U,

.. math:: xU + yV = (x + y) \frac{U + V}{2} + (x - y) \frac{U - V}{2}, \qquad
          xU' + yV' = (x + y) \frac{U + V}{2} - (x - y) \frac{U - V}{2}

so two products serve a neuron and its dual. Where there are fewer documents than pairs, the products are made once for
each document and added up for the pairs; but not where features are dropped, for every pair then drops others.
"""

from math import prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from ordino.networks.pair_kernels import (
    LANES,
    drop_inputs,
    meet_documents,
    number_documents,
    part_documents,
)

Floats = NDArray[np.float32]

LINE = 16  # numbers in a line of the cache
PIECE = 512  # pairs of a product: small ones are made without packing, in half the time of one large one
FEW_PAIRS = 1.25  # a document: up to here, products for each pair take no longer than those for each document


def at_lines(room: Floats) -> Floats:
    """The room from the start of a line of the cache on: no vector then lies in two of them."""
    start = -room.ctypes.data % (4 * LINE) // 4
    return room[start : start + len(room) - LINE]


def with_difference(both: Floats) -> Floats:
    """The sum and the difference of two arrays, (2, ...); a single one, (1, ...), stays what it is."""
    if len(both) == 1:
        return both
    result = np.empty_like(both)
    np.add(both[0], both[1], out=result[0])
    np.subtract(both[0], both[1], out=result[1])
    return result


def crossed(both: Floats, sides: int) -> Floats:
    """Weights (2, n_features, n_own) for x and y as those for the two rows of a pair; slopes in these as in those."""
    if sides == 1:
        return both
    result = with_difference(both)
    result *= np.float32(0.5)
    return result


def gather_pairs(X: Floats, codes: NDArray[np.int64], sides: int, rows: Floats, second: Floats) -> Floats:
    """Write the two rows of each pair ``a * n_docs + b`` to ``rows``, (2, n_pairs, n_features), which is given back.

    ``second`` (n_pairs, n_features) is room for the second documents.
    """
    a, b = np.divmod(codes, len(X))
    np.take(X, a, axis=0, out=rows[0], mode="clip")
    if sides == 1:
        np.take(X, b, axis=0, out=rows[1], mode="clip")
        return rows
    np.take(X, b, axis=0, out=second, mode="clip")
    np.subtract(rows[0], second, out=rows[1])
    np.add(rows[0], second, out=rows[0])
    return rows


@final
class FirstLayer:
    """The arrays in which one thread computes it; they grow with what they are asked for."""

    def __init__(self, sides: int) -> None:
        self._sides = sides
        self._by_pair = True
        self._mark, self._stamp = np.zeros((2, 0), np.int32), 0
        self._arrays: dict[str, Floats] = {}

    def forward(
        self, X: Floats, codes: NDArray[np.int64], weights: Floats, dropout: NDArray[np.uint32], number: int,
        first_input: int, by_pair: bool, rows: Floats | None = None,
    ) -> Floats:  # fmt: skip
        """What the two rows of each pair give, (2, n_own, n_pairs), with zeros up to a multiple of ``LANES`` pairs.

        ``weights`` (2, n_features, n_own) are :func:`crossed`. Pairs are numbered from ``number`` on, and inputs from
        ``first_input`` on, for ``dropout``. ``rows`` are those of the pairs, if they are known.
        """
        n_pairs, n_own = len(codes), weights.shape[2]
        self._by_pair = by_pair
        # a line apart, or the rows of one pair would share few places in the cache
        self.result = self._array("result", 2, n_own, -(-n_pairs // LANES) * LANES + LINE)
        self.result[:, :, n_pairs:] = 0
        if by_pair:
            self.rows = self._rows_of_pairs(X, codes, rows, bool(dropout[2]))
            if dropout[2]:
                drop_inputs(self.rows, dropout, number, first_input, self._sides)
            across = weights.swapaxes(1, 2)
            for start in range(0, n_pairs, PIECE):
                piece = slice(start, min(start + PIECE, n_pairs))
                np.matmul(across, self.rows[:, piece].swapaxes(1, 2), out=self.result[:, :, piece])
            return self.result
        self.rows, self._pairs = self._gather(X, codes)  # (n_docs, n_features), (2, n_pairs)
        table = self._array("table", len(self.rows), 2 * n_own)
        np.matmul(self.rows, np.concatenate(tuple(weights), axis=1), out=table)
        meet_documents(table, self._pairs, self._sides, self.result)
        return self.result

    def backward(self) -> Floats:
        """The slopes in the weights, (2, n_features, n_own), from those in the result, which took its place."""
        if self._by_pair:
            slopes: Floats = self.result[:, :, : self.rows.shape[1]] @ self.rows  # (2, n_own, n_features)
            return slopes.swapaxes(1, 2)
        n_own = self.result.shape[1]
        back = self._array("table", len(self.rows), 2 * n_own)
        back.fill(0)
        part_documents(self.result, self._pairs, self._sides, back)
        return (self.rows.T @ back).reshape(-1, 2, n_own).swapaxes(0, 1)

    def _rows_of_pairs(self, X: Floats, codes: NDArray[np.int64], known: Floats | None, change: bool) -> Floats:
        """The two rows of each pair, (2, n_pairs, n_features): those that are known, or a copy of them to change."""
        if known is not None and not change:
            return known
        rows = self._array("rows", 2, len(codes), X.shape[1])
        if known is None:
            return gather_pairs(X, codes, self._sides, rows, self._array("second", len(codes), X.shape[1]))
        np.copyto(rows, known)
        return rows

    def _gather(self, X: Floats, codes: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int32]]:
        """The rows of the documents in these pairs, and the numbers of each pair's documents among them."""
        if self._mark.shape[1] < len(X):
            self._mark, self._stamp = np.zeros((2, len(X)), np.int32), 0
        self._stamp += 1
        docs, pairs = np.empty(2 * len(codes), np.int32), np.empty((2, len(codes)), np.int32)
        n_docs = number_documents(codes, len(X), self._mark, self._stamp, docs, pairs)
        rows = self._array("rows", n_docs, X.shape[1])
        return np.take(X, docs[:n_docs], axis=0, out=rows, mode="clip"), pairs

    def _array(self, name: str, *shape: int) -> Floats:
        """An array without gaps that is kept for later; it has what was left in it."""
        size = prod(shape)
        if len(self._arrays.get(name, ())) < size:
            self._arrays[name] = np.zeros(size, np.float32)
        return self._arrays[name][:size].reshape(shape)
