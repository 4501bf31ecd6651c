"""All pairs of a query, compiled: one document meets many others at a time.

Here the documents stand side by side, one row for each neuron, so that the innermost loops run over documents and are
vectorized without a sum across lanes. Every pair gets the same operations in the same order as in a sort's comparison
of it, so its margin has the same bits, and that of (b, a) is the exact negative of that of (a, b). Totals are whole
numbers, which makes them independent of the order of rows, of tiles and of the number of threads.
"""

from functools import cache
from typing import Any

import numpy as np

from ordino.compiled import INNER, OPEN, OUTER, specialize
from ordino.order.kernels import ABOVE_HALF, ACTIVATIONS, LANES, OUTPUTS, ZERO

TILE = 512  # documents that one document meets at a time: enough for long loops, few enough for the cache
UNIT = 2**40  # probabilities are added as whole numbers of this part
WINS, SUMS, OUT_DEGREES = range(3)
"""Rows of the totals: twice the wins, a tie as half of one; the sum of the probabilities to come first, in parts of
``1 / UNIT``; the wins where the earlier row wins a tie."""

squash = win = meet = OPEN  # in the templates below
uint = np.uint64  # of a place in an array: no negative one, which would count from the end


def _meet_shallow(a: Any, low: Any, n: Any, bias: Any, plan: Any, weights: Any, sides: Any, room: Any) -> None:
    """Template: the margins of ``a`` over the ``n`` documents from ``low`` on into row 2 of the room.

    The middle of the two outputs, which their probabilities need, goes into row 3. For one hidden layer.
    """
    for b in range(n):
        room[2, 0, b] = ZERO
        room[3, 0, b] = bias
    for i in range(plan[1, 0]):
        own_left, own_right = sides[0, i, a], sides[1, i, a]
        start, wins, rises = weights[0, i], weights[1, i], weights[2, i]
        for b in range(n):
            h = squash((own_left + sides[1, i, uint(low + b)]) + start)
            dual = squash((sides[0, i, uint(low + b)] + own_right) + start)
            room[2, 0, b] += (h - dual) * wins
            room[3, 0, b] += (h + dual) * rises


def _meet_deep(a: Any, low: Any, n: Any, bias: Any, plan: Any, weights: Any, sides: Any, room: Any) -> None:
    """Template: the same for any number of hidden layers."""
    for i in range(plan[1, 0]):
        left, right, own_left, own_right = sides[0, i, low:], sides[1, i, low:], sides[0, i, a], sides[1, i, a]
        plus, minus, start = room[0, i], room[1, i], weights[0, i]
        for b in range(n):
            plus[b] = (own_left + right[b]) + start
            minus[b] = (left[b] + own_right) + start
    row = 1
    for layer in range(1, len(plan)):
        size = plan[layer, 0]
        for i in range(size):  # neurons and their duals become the sums and differences of their values
            plus, minus = room[0, i], room[1, i]
            for b in range(n):
                h, dual = squash(plus[b]), squash(minus[b])
                plus[b] = h + dual
                minus[b] = h - dual
        for j in range(plan[layer + 1, 0] if layer + 1 < len(plan) else 0):
            even, odd, start = room[2, j], room[3, j], weights[row, j]
            for b in range(n):
                even[b] = start
                odd[b] = ZERO
            for i in range(size):
                plus, minus, A, B = room[0, i], room[1, i], weights[row + 1 + i, j], weights[row + 1 + size + i, j]
                for b in range(n):
                    even[b] += plus[b] * A
                    odd[b] += minus[b] * B
        if layer + 1 < len(plan):
            for j in range(plan[layer + 1, 0]):
                plus, minus, even, odd = room[0, j], room[1, j], room[2, j], room[3, j]
                for b in range(n):
                    plus[b] = even[b] + odd[b]
                    minus[b] = even[b] - odd[b]
            row += 1 + 2 * size
    margin, middle = room[2, 0], room[3, 0]
    for b in range(n):
        margin[b] = ZERO
        middle[b] = bias
    for i in range(plan[-1, 0]):
        plus, minus, wins, rises = room[0, i], room[1, i], weights[row, i], weights[row + 1, i]
        for b in range(n):
            margin[b] += minus[b] * wins
            middle[b] += plus[b] * rises


def _meet_rows(
    bias: Any, plan: Any, weights: Any, sides: Any, offsets: Any, first: int, last: int, room: Any, totals: Any
) -> None:
    """Template: documents first to last meet all later ones of their query; adds what both sides win.

    ``sides`` has the projections of a document on the left and on the right, shape ``(2, n_neurons, n_docs + LANES)``;
    ``totals`` starts at document ``first``.
    """
    for q in range(len(offsets) - 1):
        start, end = offsets[q], offsets[q + 1]
        start = start if start > first else first  # min and max would be compiled one by one
        stop = last if last < end else end
        for tile in range(start, end if start < stop else start, TILE):
            after = tile + TILE if tile + TILE < end else end
            for a in range(start, stop if stop < tile + TILE - 1 else tile + TILE - 1):
                low = a + 1 if a + 1 > tile else tile
                n = after - low
                meet(a, low, (n + LANES - 1) // LANES * LANES, bias, plan, weights, sides, room)
                wins, sums, ahead = np.int64(0), np.int64(0), np.int64(0)  # of a; kept here, the loop is vectorized
                for b in range(n):
                    margin, other = room[2, 0, b], uint(low - first + b)
                    apart = abs(margin)
                    p = win(room[3, 0, b] + apart, room[3, 0, b] - apart)
                    p = (p if p > ABOVE_HALF else ABOVE_HALF) if apart != 0 else 0.5
                    share = np.int64(p * UNIT)
                    share = share if margin >= 0 else UNIT - share
                    won, is_ahead = 1 + (margin > 0) - (margin < 0), np.int64(margin >= 0)
                    totals[WINS, other] += 2 - won
                    totals[SUMS, other] += UNIT - share
                    totals[OUT_DEGREES, other] += 1 - is_ahead
                    wins += won
                    sums += share
                    ahead += is_ahead
                totals[WINS, a - first] += wins
                totals[SUMS, a - first] += sums
                totals[OUT_DEGREES, a - first] += ahead


@cache
def make_meetings(activation: str, output: str, deep: bool) -> Any:
    """The kernel in which documents meet, for networks with these activations; ``deep``: several hidden layers."""
    template, name = (_meet_deep, "deep") if deep else (_meet_shallow, "shallow")
    inlined = {**INNER, "inline": "always"}
    inner = specialize(template, f"meet_{name}_{activation}", inlined, squash=ACTIVATIONS[activation])
    return specialize(
        _meet_rows, f"meetings_{name}_{activation}_{output}", OUTER, meet=inner, win=OUTPUTS[output]
    )  # fmt: skip
