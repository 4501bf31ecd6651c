"""The compiled comparator: projections of documents, comparisons of pairs, tournaments over all pairs of a query.

A pair network is evaluated on sums and differences of dual neurons. With ``h`` a neuron's value for the pair (a, b) and
``h'`` its dual's, which is its value for (b, a),

    plus = h + h',  minus = h - h'        a layer later:  h = act(plus A + minus B + c),  h' = act(plus A - minus B + c)

which takes half the products of the plain layer, and swapping a and b changes nothing but the sign of ``minus``: the
comparison of (b, a) is the exact negative of that of (a, b), whatever is rounded on the way.

One ``table`` holds the weights and, below, two rows for each document of a query; its rows are padded with zeros to a
multiple of :data:`LANES`, so that the inner loops are vectorized. ``plan`` says which rows are what: the first row of
the documents (and 0), then size and padded width of half of each hidden layer. Arrays are handed on one by one:
references in a tuple are counted at every call, which takes longer than a comparison. Bounds are checked before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import INNER, OPEN, OUTER, njit, specialize

LANES = 16
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

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class Packed(NamedTuple):
    """A pair network as the kernels want it."""

    first: Floats  # (n_features, 2, widest): the weights of a document on the left, then of one on the right
    weights: Floats  # (n_rows, widest): bias; for each deeper layer bias, A, B; what the outputs take of minus, of plus
    plan: Ints  # (1 + n_layers, 2)
    bias: np.float32  # of the outputs


@njit(**INNER)
def _tanh(x: Any) -> Any:
    """The hyperbolic tangent as a quotient of polynomials: right to 4e-7, odd, quick to vectorize."""
    x = min(max(x, -LIMIT), LIMIT)
    q = x * x
    top = ((((((P6 * q + P5) * q + P4) * q + P3) * q + P2) * q + P1) * q + P0) * x
    return top / (((Q3 * q + Q2) * q + Q1) * q + Q0)


@njit(**INNER)
def _sigmoid(x: Any) -> Any:
    return HALF * _tanh(HALF * x) + HALF


@njit(**INNER)
def _relu(x: Any) -> Any:
    return max(x, ZERO)


@njit(**INNER)
def _softplus(x: Any) -> Any:
    return max(x, ZERO) + np.log1p(np.exp(-abs(x)))


@njit(**INNER)
def _identity(x: Any) -> Any:
    return x


# The probability of the winner, from its output's input and that of the loser.


@njit(**INNER)
def _win_sigmoid(high: Any, low: Any) -> Any:
    return 0.5 + 0.25 * np.float64(_tanh(HALF * high) - _tanh(HALF * low))


@njit(**INNER)
def _win_tanh(high: Any, low: Any) -> Any:
    return 0.5 + 0.25 * np.float64(_tanh(high) - _tanh(low))


@njit(**INNER)
def _win_softplus(high: Any, low: Any) -> Any:
    return 1 / (1 + np.exp(-np.float64(_softplus(high) - _softplus(low))))


@njit(**INNER)
def _win_identity(high: Any, low: Any) -> Any:
    return 1 / (1 + np.exp(-np.float64(high - low)))


ACTIVATIONS: Mapping[str, Any] = MappingProxyType(
    {"sigmoid": _sigmoid, "tanh": _tanh, "relu": _relu, "softplus": _softplus, "identity": _identity}
)
"""What hidden neurons do, by name."""

OUTPUTS: Mapping[str, Any] = MappingProxyType(
    {"sigmoid": _win_sigmoid, "tanh": _win_tanh, "softplus": _win_softplus, "identity": _win_identity}
)
"""What the outputs do, by name: strictly increasing, so that their inputs decide as they would."""

squash = win = margin_of = _winner = OPEN  # in the templates below


def _margin(a: Any, b: Any, table: Any, plan: Any, room: Any) -> Any:
    """Template: half the difference of the two output logits of (a, b): more than 0 if a comes first."""
    left, right = plan[0, 0] + 2 * a, plan[0, 0] + 2 * b
    for i in range(plan[1, 1]):
        room[0, i] = (table[left, i] + table[right + 1, i]) + table[0, i]
        room[1, i] = (table[right, i] + table[left + 1, i]) + table[0, i]
    row = 1
    for layer in range(1, len(plan)):
        for i in range(plan[layer, 1]):  # neurons and their duals become the sums and differences of their values
            h, dual = squash(room[0, i]), squash(room[1, i])
            room[0, i] = h + dual
            room[1, i] = h - dual
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


def _probability(margin: Any, table: Any, plan: Any, room: Any, bias: Any) -> Any:
    """Template: the probability of the winner of the pair whose margin was taken last; only a tie has 1/2."""
    middle, row = bias, plan[0, 0] - 1
    for i in range(plan[-1, 0]):
        middle += room[0, i] * table[row, i]
    return max(win(middle + abs(margin), middle - abs(margin)), ABOVE_HALF) if margin != 0 else 0.5


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


def _pair_probabilities(bias: Any, plan: Any, table: Any, room: Any, out: Any) -> None:
    """Template: write P(a before b) for documents 0 and 1 of the table, 2 and 3, 4 and 5 ..."""
    for i in range(len(out)):
        margin = margin_of(2 * i, 2 * i + 1, table, plan, room)
        p = _winner(margin, table, plan, room, bias)
        out[i] = p if margin >= 0 else 1 - p


def _tournament_rows(
    bias: Any, plan: Any, table: Any, room: Any, first: int, last: int, n_docs: int, rule: int, totals: Any
) -> None:
    """Template: add what documents first to last win and lose against all later ones: whole numbers, see the rules.

    Copeland: 2 for a win, 1 each for a tie. Borda: the probability, in parts of ``1 / UNIT``. Out-degree: 1 for a win;
    the earlier row wins a tie, as in a stable sort.
    """
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
                    won = np.int64(_winner(margin, table, plan, room, bias) * UNIT)
                    totals[a] += won if margin >= 0 else UNIT - won
                    totals[b] += UNIT - won if margin >= 0 else won


def _count_cycles(plan: Any, table: Any, room: Any, triples: Any) -> int:
    """Template: how many of the triples (rows in rising order) go around in a circle; the earlier row wins a tie."""
    cycles = 0
    for i in range(len(triples)):
        a, b, c = triples[i, 0], triples[i, 1], triples[i, 2]
        ab = not margin_of(a, b, table, plan, room) < 0
        bc = not margin_of(b, c, table, plan, room) < 0
        ac = not margin_of(a, c, table, plan, room) < 0
        cycles += ab == bc and ab != ac
    return cycles


class Kernels(NamedTuple):
    """What is compiled for a pair of activations, each on its first use."""

    margin_of: Any
    pair_probabilities: Any
    tournament_rows: Any
    count_cycles: Any


@cache
def make_kernels(activation: str, output: str) -> Kernels:
    """The kernels of networks with these activations of hidden neurons and of outputs."""
    margin = specialize(_margin, f"margin_{activation}", INNER, squash=ACTIVATIONS[activation])
    winner = specialize(_probability, f"winner_{activation}_{output}", INNER, win=OUTPUTS[output])
    both = {"margin_of": margin, "_winner": winner}
    return Kernels(
        margin,
        specialize(_pair_probabilities, f"probabilities_{activation}_{output}", OUTER, **both),
        specialize(_tournament_rows, f"tournament_{activation}_{output}", OUTER, **both),
        specialize(_count_cycles, f"cycles_{activation}", OUTER, margin_of=margin),
    )
