r"""The first layer of networks that compare two documents: products of rows of features, forward and back.

A pair (x, y) is taken as two rows. In a dense net these are x and y. In a CmpNN they are x + y and x - y: with U and V
the weights that a neuron has for the two documents, and U', V' those of its dual, which are V and U,

.. math:: xU + yV = (x + y) \frac{U + V}{2} + (x - y) \frac{U - V}{2}, \qquad
          xU' + yV' = (x + y) \frac{U + V}{2} - (x - y) \frac{U - V}{2}

so two products serve a neuron and its dual. Where there are fewer documents than pairs, the products are made once for
each document and added up for the pairs; but not where features are dropped, for every pair then drops others.
"""

from math import prod
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.networks.first_kernels import (
    LANES,
    drop_inputs,
    gather_pairs,
    meet_documents,
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


def padded(n_pairs: int) -> int:
    """The length of rows with a number for each pair: full pieces, or lanes where there is one, and a line more.

    If rows lay whole pages apart, those of one pair would share few places in the cache.
    """
    whole = PIECE if n_pairs > PIECE else LANES
    return -(-n_pairs // whole) * whole + LINE


def in_pieces(rows: Floats) -> Floats:
    """Padded rows (2, n_rows, length) as pieces of ``PIECE`` pairs, (n_pieces, 2, n_rows, PIECE): nothing is copied.

    So one call makes the products of all pieces, and threads wait for each other once. Numpy's as_strided would take
    six times as long as this, which is a part of every step.
    """
    _, n_rows, length = rows.shape
    strides = PIECE * rows.itemsize, *rows.strides
    return np.ndarray((length // PIECE, 2, n_rows, PIECE), np.float32, rows, 0, strides)


class Gathered(NamedTuple):
    """The rows of some pairs: two for each pair, (2, n_features, n_pairs), or one for each document.

    Of more than ``PIECE`` pairs they are :func:`padded` with zeros. If there is one for each document, (n_docs,
    n_features), ``pairs`` (2, n_pairs) has their numbers; otherwise it is empty.
    """

    rows: Floats
    pairs: NDArray[np.int32]


@final
class FirstLayer:
    """The arrays in which one thread computes it; they grow with what they are asked for."""

    def __init__(self, sides: int, n_own: int) -> None:
        self._sides, self._n_own = sides, n_own
        self._signs = np.float32(sides - 1), np.float32(3 - 2 * sides)  # x + y and x - y, or x and y
        self._arrays: dict[str, Floats] = {}
        same, none = np.ones(n_own, np.float32), np.zeros(n_own, np.float32)
        roles = ((same, same), (same, -same)) if sides == 2 else ((same, none), (none, same))
        self._roles: Floats = np.array([np.concatenate(role) for role in roles])[:, None]
        """How much of its products the first and the second document of a pair gives to either row."""

    def gather(self, X: Floats, codes: NDArray[np.int64], by_pair: bool, to_keep: bool) -> Gathered:
        """The rows of pairs ``a * n_docs + b``; what is not ``to_keep`` lasts until more is gathered."""
        return self._pairs(X, codes, to_keep) if by_pair else self._documents(X, codes)

    def forward(
        self, gathered: Gathered, n_pairs: int, weights: Floats, dropout: NDArray[np.uint32], number: int,
        first_input: int,
    ) -> Floats:  # fmt: skip
        """What the two rows of each pair give, (2, n_own, n_pairs), with zeros up to a multiple of ``LANES`` pairs.

        ``weights`` (2, n_features, n_own) are :func:`crossed`. Pairs are numbered from ``number`` on, and inputs from
        ``first_input`` on, for ``dropout``.
        """
        (self.rows, self._numbers), self._n_pairs = gathered, n_pairs
        self.result = self._array("result", 2, self._n_own, padded(n_pairs))
        self.result[:, :, n_pairs:] = 0
        if self._numbers.size:
            return self._meet(np.concatenate((weights[0], weights[1]), axis=1))
        if dropout[2]:
            rows, self.rows = gathered.rows, self._array("changed", *gathered.rows.shape)
            room = self._array("lanes", rows.shape[2]).view(np.uint32), self._array("kept", rows.shape[2])
            if not rows.flags.c_contiguous:  # one kind of array, one kernel
                np.copyto(self.rows, rows)
                rows = self.rows
            drop_inputs(rows, dropout, number, first_input, self._sides, room, self.rows)
        across = weights.swapaxes(1, 2)
        if n_pairs > PIECE:
            np.matmul(across, in_pieces(self.rows), out=in_pieces(self.result))
        else:
            np.matmul(across, self.rows, out=self.result[:, :, :n_pairs])
        return self.result

    def backward(self) -> Floats:
        """The slopes in the weights, (2, n_features, n_own), from those in the result, which took its place."""
        if self._numbers.size:
            return self._part().reshape(-1, 2, self._n_own).swapaxes(0, 1)
        if self._n_pairs > PIECE:
            slopes: Floats = (in_pieces(self.rows) @ in_pieces(self.result).swapaxes(2, 3)).sum(axis=0)
        else:
            slopes = self.rows @ self.result[:, :, : self._n_pairs].swapaxes(1, 2)
        return slopes

    def _meet(self, beside: Floats) -> Floats:
        """The result, from weights (n_features, 2 n_own), by way of what each document gives."""
        shape = 2, len(self.rows), 2 * self._n_own
        tables = np.multiply(self.rows @ beside, self._roles, out=self._array("tables", *shape))
        meet_documents(tables, self._numbers, self.result, self._array("tile", LANES, 2 * self._n_own))
        return self.result

    def _part(self) -> Floats:
        """The slopes in weights (n_features, 2 n_own), by way of those in what each document gives."""
        back = self._array("tables", 2, len(self.rows), 2 * self._n_own)
        back.fill(0)
        part_documents(self.result, self._numbers, back, self._array("tile", LANES, 2 * self._n_own))
        back *= self._roles
        slopes: Floats = self.rows.T @ np.add(back[0], back[1], out=back[0])
        return slopes

    def _pairs(self, X: Floats, codes: NDArray[np.int64], to_keep: bool) -> Gathered:
        """The two rows of each pair, feature by feature where there are many: products of such rows are made sooner."""
        n_pairs, n_features = len(codes), X.shape[1]
        rows = self._array("rows", 2, n_pairs, n_features)
        first = codes // len(X)
        gather_pairs(X, first, codes - first * len(X), *self._signs, rows)
        across = rows.swapaxes(1, 2)
        if n_pairs > PIECE:
            shape = 2, n_features, padded(n_pairs)
            turned = np.empty(shape, np.float32) if to_keep else self._array("turned", *shape)
            np.copyto(turned[:, :, :n_pairs], across)
            turned[:, :, n_pairs:] = 0
            across = turned
        elif to_keep:
            across = rows.copy().swapaxes(1, 2)
        return Gathered(across, np.empty((2, 0), np.int32))

    def _documents(self, X: Floats, codes: NDArray[np.int64]) -> Gathered:
        """The rows of the documents in these pairs, and the numbers of each pair's documents among them."""
        docs = np.stack(np.divmod(codes, len(X)))
        if len(X) <= len(codes):  # all of them
            return Gathered(X, docs.astype(np.int32))
        own, numbers = np.unique(docs, return_inverse=True)
        return Gathered(X[own], numbers.reshape(docs.shape).astype(np.int32))

    def _array(self, name: str, *shape: int) -> Floats:
        """An array without gaps that is kept for later; it has what was left in it."""
        size = prod(shape)
        if len(self._arrays.get(name, ())) < size:
            self._arrays[name] = np.zeros(size, np.float32)
        return self._arrays[name][:size].reshape(shape)
