"""The compiled comparator: projections of documents, and comparisons pair by pair, as a sort needs them.

A pair network is evaluated on sums and differences of dual neurons. With ``h`` a neuron's value for the pair (a, b) and
``h'`` its dual's, which is its value for (b, a),

    plus = h + h',  minus = h - h'        a layer later:  h = act(plus A + minus B + c),  h' = act(plus A - minus B + c)

which takes half the products of the plain layer, and swapping a and b changes nothing but the sign of ``minus``: the
comparison of (b, a) is the exact negative of that of (a, b), whatever is rounded on the way.

One ``table`` holds the weights and, below, two rows for each document of a query; its rows are padded with zeros to a
multiple of :data:`LANES`, so that the inner loops are vectorized. ``plan`` says which rows are what: the first row of
the documents (and 0; for a sort the number of its first document), then size and padded width of half of each hidden
layer. Arrays are handed on one by one: references in a tuple are counted at every call, which takes longer than a
comparison. Bounds are checked before.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordino.compiled import INNER, OPEN, OUTER, njit, specialize

LANES = 16
ABOVE_HALF = 0.5 + 2.0**-53  # of a winner whose outputs are too close to 1, or to 0, to differ

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


@njit(**{**INNER, "fastmath": {"contract"}})
def _tanh(x: Any) -> Any:
    """The hyperbolic tangent as a quotient of polynomials: right to 4e-7, odd, quick to vectorize.

    Its products and sums may be fused, which is the same in every kernel: none of them is what a caller goes on with.
    """
    x = -LIMIT if x < -LIMIT else x  # min and max would be compiled one by one
    x = LIMIT if x > LIMIT else x
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

squash = win = margin_of = winner_of = OPEN  # in the templates below


def _shallow_margin(a: Any, b: Any, table: Any, plan: Any, room: Any) -> Any:
    """Template: what :func:`_deep_margin` gives, to the last bit, where there is one hidden layer: quick to compile."""
    left, right, top = plan[0, 0] + 2 * a, plan[0, 0] + 2 * b, plan[0, 0] - 2
    for i in range(plan[1, 1]):
        h = squash((table[left, i] + table[right + 1, i]) + table[0, i])
        dual = squash((table[right, i] + table[left + 1, i]) + table[0, i])
        room[0, i] = h + dual
        room[1, i] = h - dual
    margin = ZERO
    for i in range(plan[1, 0]):
        margin += room[1, i] * table[top, i]
    return margin


def _deep_margin(a: Any, b: Any, table: Any, plan: Any, room: Any) -> Any:
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
def project_rows(X: Any, first: Any, table: Any, at: int) -> None:
    """Add both projections of every row to the table from row ``at`` on; none depends on its neighbors."""
    for row in range(len(X)):
        for side in range(2):
            into = at + 2 * row + side
            for k in range(X.shape[1]):
                x = X[row, k]
                for j in range(first.shape[2]):
                    table[into, j] += x * first[k, side, j]


def _pair_probabilities(bias: Any, plan: Any, table: Any, room: Any, out: Any) -> None:
    """Template: write P(a before b) for documents 0 and 1 of the table, 2 and 3, 4 and 5 ..."""
    for i in range(len(out)):
        margin = margin_of(2 * i, 2 * i + 1, table, plan, room)
        p = winner_of(margin, table, plan, room, bias)
        out[i] = p if margin >= 0 else 1 - p


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


def make_margin(activation: str, deep: bool, options: Mapping[str, Any]) -> Any:
    """The margin of two documents, for networks of this activation, with several hidden layers if ``deep``."""
    template, name = (_deep_margin, "deep") if deep else (_shallow_margin, "shallow")
    return specialize(template, f"margin_{name}_{activation}", options, squash=ACTIVATIONS[activation])


class Kernels(NamedTuple):
    """What is compiled for networks with the same activations, each on its first use."""

    pair_probabilities: Any
    count_cycles: Any


@cache
def make_kernels(activation: str, output: str, deep: bool) -> Kernels:
    """The kernels of networks with these activations, and with more than one hidden layer if ``deep``."""
    margin, suffix = make_margin(activation, deep, INNER), "_deep" if deep else ""
    winner = specialize(_probability, f"winner_{activation}_{output}", INNER, win=OUTPUTS[output])
    both = {"margin_of": margin, "winner_of": winner}
    return Kernels(
        specialize(_pair_probabilities, f"probabilities_{activation}_{output}{suffix}", OUTER, **both),
        specialize(_count_cycles, f"cycles_{activation}{suffix}", OUTER, margin_of=margin),
    )
