"""The compiled comparator: projections of documents, comparisons of pairs, tournaments over all pairs of a query.

A pair network is evaluated on sums and differences of dual neurons. With ``h`` a neuron's value for the pair (a, b) and
``h'`` its dual's, which is its value for (b, a),

    plus = h + h',  minus = h - h'        a layer later:  h = act(plus A + minus B + c),  h' = act(plus A - minus B + c)

which takes half the products of the plain layer, and swapping a and b changes nothing but the sign of ``minus``: the
comparison of (b, a) is the exact negative of that of (a, b), whatever is rounded on the way.

One ``table`` holds the weights and, below, two rows for each document of a query; its rows are padded with zeros to a
multiple of :data:`LANES`, so that the inner loops are vectorized. ``plan`` says which rows are what: activation and
first row of the documents, then size and padded width of half of each hidden layer. Arrays are handed on one by one:
references in a tuple are counted at every call, which takes longer than a comparison. Bounds are checked before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import njit

LANES = 16
SIGMOID, TANH, RELU, SOFTPLUS, IDENTITY = range(5)
COPELAND, BORDA, OUT_DEGREE = range(3)
UNIT = 2**40  # probabilities are added as whole numbers of this part: exact, in whatever order
ABOVE_HALF = 0.5 + 2.0**-53  # of a winner whose outputs are too close to 1, or to 0, to differ
TILE = 128  # documents against documents in a tournament: both sides stay in the cache

ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)
LIMIT = np.float32(7.9053111)  # from here on tanh is 1 in float32
# tanh(x) = x P(x^2) / Q(x^2), constants first; the minimax fit that several libraries use
P0, P1, P2, P3 = (np.float32(c) for c in (4.89352455e-3, 6.37261928e-4, 1.48572235e-5, 5.12229709e-8))
P4, P5, P6 = (np.float32(c) for c in (-8.60467152e-11, 2.00018790e-13, -2.76076847e-16))
Q0, Q1, Q2, Q3 = (np.float32(c) for c in (4.89352518e-3, 2.26843463e-3, 1.18534705e-4, 1.19825839e-6))

INNER: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
OUTER: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class Packed(NamedTuple):
    """A pair network as the kernels want it."""

    first: Floats  # (n_features, 2, widest): the weights of a document on the left, then of one on the right
    weights: Floats  # (n_rows, widest): bias; for each deeper layer bias, A, B; what the outputs take of minus, of plus
    plan: Ints  # (1 + n_layers, 2)
    bias: np.float32  # of the outputs
    output: int  # their activation


@njit(**INNER)
def _tanh(x: Any) -> Any:
    """The hyperbolic tangent as a quotient of polynomials: right to 4e-7, odd, quick to vectorize."""
    x = min(max(x, -LIMIT), LIMIT)
    q = x * x
    top = ((((((P6 * q + P5) * q + P4) * q + P3) * q + P2) * q + P1) * q + P0) * x
    return top / (((Q3 * q + Q2) * q + Q1) * q + Q0)


@njit(**INNER)
def _softplus(x: Any) -> Any:
    return max(x, ZERO) + np.log1p(np.exp(-abs(x)))


@njit(**INNER)
def _activate(activation: Any, width: Any, room: Any) -> Any:
    """From the inputs of neurons and of their duals (rows 0 and 1) to the sums and the differences of their values."""
    for side in range(2):
        if activation == SIGMOID:
            for i in range(width):
                room[side, i] = HALF * _tanh(HALF * room[side, i]) + HALF
        elif activation == TANH:
            for i in range(width):
                room[side, i] = _tanh(room[side, i])
        elif activation == RELU:
            for i in range(width):
                room[side, i] = max(room[side, i], ZERO)
        elif activation == SOFTPLUS:
            for i in range(width):
                room[side, i] = _softplus(room[side, i])
    for i in range(width):
        h, dual = room[0, i], room[1, i]
        room[0, i] = h + dual
        room[1, i] = h - dual


@njit(**INNER)
def margin_of(a: Any, b: Any, table: Any, plan: Any, room: Any) -> Any:
    """Half the difference of the two output logits of (a, b): more than 0 if a comes first."""
    left, right = plan[0, 1] + 2 * a, plan[0, 1] + 2 * b
    for i in range(plan[1, 1]):
        room[0, i] = (table[left, i] + table[right + 1, i]) + table[0, i]
        room[1, i] = (table[right, i] + table[left + 1, i]) + table[0, i]
    row = 1
    for layer in range(1, len(plan)):
        _activate(plan[0, 0], plan[layer, 1], room)
        if layer + 1 == len(plan):
            break
        size, width = plan[layer, 0], plan[layer + 1, 1]
        for j in range(width):
            room[2, j] = table[row, j]
            room[3, j] = ZERO
        for i in range(size):
            plus, minus = room[0, i], room[1, i]
            for j in range(width):
                room[2, j] += plus * table[row + 1 + i, j]
                room[3, j] += minus * table[row + 1 + size + i, j]
        for j in range(width):
            room[0, j] = room[2, j] + room[3, j]
            room[1, j] = room[2, j] - room[3, j]
        row += 1 + 2 * size
    margin = ZERO
    for i in range(plan[-1, 0]):
        margin += room[1, i] * table[row, i]
    return margin


@njit(**INNER)
def _winner(margin: Any, table: Any, plan: Any, room: Any, bias: Any, output: Any) -> Any:
    """The probability of the winner of the pair whose margin was taken last: 1/2 for a tie, more for all else."""
    middle, row = bias, plan[0, 1] - 1
    for i in range(plan[-1, 0]):
        middle += room[0, i] * table[row, i]
    high, low = middle + abs(margin), middle - abs(margin)
    if output == SIGMOID:
        p = 0.5 + 0.25 * np.float64(_tanh(HALF * high) - _tanh(HALF * low))
    elif output == TANH:
        p = 0.5 + 0.25 * np.float64(_tanh(high) - _tanh(low))
    else:
        gap = _softplus(high) - _softplus(low) if output == SOFTPLUS else high - low
        p = 1 / (1 + np.exp(-np.float64(gap)))
    return max(p, ABOVE_HALF) if margin != 0 else 0.5


@njit(**OUTER)
def lay_table(weights: Any, n_docs: int) -> Any:
    """A table with the weights, and below them rows for so many documents."""
    table = np.empty((len(weights) + 2 * n_docs, weights.shape[1]), np.float32)
    for i in range(len(weights)):
        for j in range(weights.shape[1]):
            table[i, j] = weights[i, j]
    return table


@njit(**OUTER)
def project_rows(X: Any, start: int, stop: int, first: Any, table: Any, at: int) -> None:
    """Write both projections of rows start to stop from row ``at`` of the table on; none depends on its neighbors."""
    for row in range(start, stop):
        for side in range(2):
            into = at + 2 * (row - start) + side
            for j in range(first.shape[2]):
                table[into, j] = ZERO
            for k in range(X.shape[1]):
                x = X[row, k]
                for j in range(first.shape[2]):
                    table[into, j] += x * first[k, side, j]


@njit(**OUTER)
def pair_probabilities(net: Any, table: Any, out: Any) -> None:
    """Write P(a before b) for documents 0 and 1 of the table, 2 and 3, 4 and 5 ..."""
    room = np.empty((4, table.shape[1]), np.float32)
    for i in range(len(out)):
        margin = margin_of(2 * i, 2 * i + 1, table, net.plan, room)
        p = _winner(margin, table, net.plan, room, net.bias, net.output)
        out[i] = p if margin >= 0 else 1 - p


@njit(**OUTER)
def tournament_rows(net: Any, table: Any, first: int, last: int, n_docs: int, rule: int, totals: Any) -> None:
    """Add what documents first to last win and lose against all later ones: whole numbers, see the rules.

    Copeland: 2 for a win, 1 each for a tie. Borda: the probability, in parts of ``1 / UNIT``. Out-degree: 1 for a win;
    the earlier row wins a tie, as in a stable sort.
    """
    plan, bias, output = net.plan, net.bias, net.output
    room = np.empty((4, table.shape[1]), np.float32)
    for tile in range(first, n_docs, TILE):
        for a in range(first, last):
            for b in range(max(a + 1, tile), min(tile + TILE, n_docs)):
                margin = margin_of(a, b, table, plan, room)
                if rule == OUT_DEGREE:
                    totals[b if margin < 0 else a] += 1
                elif rule == COPELAND:
                    totals[a] += 1 + (margin > 0) - (margin < 0)
                    totals[b] += 1 + (margin < 0) - (margin > 0)
                else:
                    won = np.int64(_winner(margin, table, plan, room, bias, output) * UNIT)
                    totals[a] += won if margin >= 0 else UNIT - won
                    totals[b] += UNIT - won if margin >= 0 else won


@njit(**OUTER)
def count_cycles(table: Any, plan: Any, triples: Any) -> int:
    """How many of the triples (rows in rising order) go around in a circle; the earlier row wins a tie."""
    room = np.empty((4, table.shape[1]), np.float32)
    cycles = 0
    for a, b, c in triples:
        ab = not margin_of(a, b, table, plan, room) < 0
        bc = not margin_of(b, c, table, plan, room) < 0
        ac = not margin_of(a, c, table, plan, room) < 0
        cycles += ab == bc and ab != ac
    return cycles
