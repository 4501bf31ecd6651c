"""Compiled: an epoch of an auto-encoder, all its batches and the steps of Adam after them, in one call.

Small products in many calls would leave threads waiting for each other's Python. The pairs of a batch are taken
:data:`LANES` at a time; ``room`` has a row for each number of a pair and a column for each of these pairs, and every
inner loop runs over the columns. Of what has a dual there are a sum and a difference, side after side, as in
:mod:`ordino.networks.first_layer`.
"""

from functools import cache
from typing import Any

import numpy as np

from ordino.compiled import INNER, OPEN, OUTER, REORDERED, njit, specialize
from ordino.networks.first_kernels import LANES, sum_of_lanes
from ordino.networks.kernels import SLOPES
from ordino.order.kernels import ACTIVATIONS

ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)
KEEP_MEAN, KEEP_SQUARE, LEAST = np.float32(0.1), np.float32(0.001), np.float32(1e-8)  # of Adam
squash = slope = OPEN  # in the template below


@njit(**REORDERED)
def _mix(room: Any, to: int, start: int, n_rows: int, weights: Any, at: int, apart: int) -> None:
    """Row ``to`` becomes the sum of the rows from ``start`` on, each times its weight; weights lie ``apart``."""
    last = n_rows - 1
    for p in range(LANES):
        room[to, p] = ZERO
    for i in range(0, n_rows, 4):  # four rows at a time: what they add up to stays in registers
        place = at + i * apart
        w0, w1 = weights[place], weights[place + apart] if i < last else ZERO
        w2 = weights[place + 2 * apart] if i + 1 < last else ZERO
        w3 = weights[place + 3 * apart] if i + 2 < last else ZERO
        r0, r1 = room[start + i], room[start + (i + 1 if i < last else last)]
        r2, r3 = room[start + (i + 2 if i + 1 < last else last)], room[start + (i + 3 if i + 2 < last else last)]
        for p in range(LANES):
            room[to, p] += (w0 * r0[p] + w1 * r1[p]) + (w2 * r2[p] + w3 * r3[p])


@njit(**REORDERED)
def _meet(room: Any, one: int, start: int, n_rows: int, slopes: Any, at: int, apart: int) -> None:
    """Add the products of a row with each of some rows, summed over the pairs, to ``slopes``, which lie ``apart``."""
    last = n_rows - 1
    for i in range(0, n_rows, 4):
        r0, r1 = room[start + i], room[start + (i + 1 if i < last else last)]
        r2, r3 = room[start + (i + 2 if i + 1 < last else last)], room[start + (i + 3 if i + 2 < last else last)]
        t0, t1, t2, t3 = ZERO, ZERO, ZERO, ZERO
        for p in range(LANES):
            t0 += room[one, p] * r0[p]
            t1 += room[one, p] * r1[p]
            t2 += room[one, p] * r2[p]
            t3 += room[one, p] * r3[p]
        place = at + i * apart
        slopes[place] += t0
        if i < last:
            slopes[place + apart] += t1
        if i + 1 < last:
            slopes[place + 2 * apart] += t2
        if i + 2 < last:
            slopes[place + 3 * apart] += t3


@njit(**REORDERED)
def _miss(room: Any, to: int, bias: Any, part: Any, seen: int, count: int) -> Any:
    """Take a part of what was given from what is given back; the sum of what is missed, and of its squares."""
    total, squares = ZERO, ZERO
    for p in range(LANES):
        room[to, p] += bias - part * room[seen, p]
    for p in range(count, LANES):
        room[to, p] = ZERO
    for p in range(LANES):
        total += room[to, p]
        squares += room[to, p] * room[to, p]
    return total, squares


@njit(**INNER)
def _cross(given: Any, start: int, n: int, sides: int, share: Any, result: Any, to: int) -> None:
    """A share of the half sum and half difference of n numbers and the n after them; of themselves for one side."""
    if sides == 1:
        for i in range(n):
            result[to + i] = share * given[start + i]
        return
    for i in range(n // 2):
        a, b = given[start + i], given[start + n // 2 + i]
        result[to + i] = share * (HALF * (a + b))
        result[to + n // 2 + i] = share * (HALF * (a - b))


@njit(**INNER)
def _step(theta: Any, slopes: Any, mean: Any, square: Any, rate: Any, spread: Any) -> None:
    """A step of Adam, as in :mod:`ordino.networks.optimizers`."""
    for i in range(theta.shape[0]):
        mean[i] += (slopes[i] - mean[i]) * KEEP_MEAN
        square[i] += (slopes[i] * slopes[i] - square[i]) * KEEP_SQUARE
        theta[i] -= mean[i] / (np.sqrt(square[i]) * spread + LEAST) * rate


def _coder_epoch(
    given: Any, chosen: Any, size: int, theta: Any, slopes: Any, mean: Any, square: Any, paces: Any, n_own: int,
    crossed: Any, room: Any,
) -> float:  # fmt: skip
    """Template: the summed squared differences of an epoch; ``slopes`` are those of its last batch's mean of them.

    ``given`` (sides, n_pairs, n_in) is what is to be given back, of which the ``chosen`` pairs are taken, ``size`` at a
    time. ``theta`` has encoder (sides * n_in, n_own), its biases, decoder (sides * n_own, n_in), its biases. ``paces``
    (n_batches, 2) has the two numbers of Adam's steps that change; if it is empty, no step is taken. ``crossed`` is
    room for two such vectors without biases, and ``room``, with :func:`n_rows` rows, for the numbers of pairs.
    """
    sides, n_in = given.shape[0], given.shape[2]
    n_code = sides * n_in * n_own  # weights of the encoder, and of the decoder
    weights, found = crossed[0], crossed[1]
    x, r, h = 0, sides * n_in, 2 * sides * n_in  # rows of what is given, of what is missed, of what neurons give
    codes, d = h + sides * n_own, h + 2 * sides * n_own  # of its sums and differences, and of its slopes
    part = HALF if sides == 2 else ONE  # of the sums and differences, which are twice what is compared
    first_b, second_w, second_b = n_code, n_code + n_own, 2 * n_code + n_own
    error = 0.0
    for begin in range(0, chosen.shape[0], size):
        end = min(begin + size, chosen.shape[0])
        _cross(theta, 0, n_code, sides, ONE, weights, 0)
        _cross(theta, second_w, n_code, sides, ONE, weights, n_code)
        for i in range(2 * n_code):
            found[i] = ZERO
        for i in range(slopes.shape[0]):
            slopes[i] = ZERO
        scale = np.float32(2.0 / ((end - begin) * n_in))
        for start in range(begin, end, LANES):
            count = min(LANES, end - start)
            for side in range(sides):
                for p in range(count):
                    row = given[side, chosen[start + p]]
                    for i in range(n_in):
                        room[x + side * n_in + i, p] = row[i]
                for i in range(n_in):
                    for p in range(count, LANES):
                        room[x + side * n_in + i, p] = ZERO
                for j in range(n_own):
                    _mix(room, d + side * n_own + j, x + side * n_in, n_in, weights, side * n_in * n_own + j, n_own)
            for j in range(n_own):
                bias = theta[first_b + j]
                if sides == 2:
                    for p in range(LANES):
                        both, apart = room[d + j, p], room[d + n_own + j, p]
                        a, b = squash(both + apart + bias), squash(both - apart + bias)
                        room[h + j, p] = a
                        room[h + n_own + j, p] = b
                        room[codes + j, p] = a + b
                        room[codes + n_own + j, p] = a - b
                else:
                    for p in range(LANES):
                        a = squash(room[d + j, p] + bias)
                        room[h + j, p] = a
                        room[codes + j, p] = a
            for side in range(sides):
                here = n_code + side * n_own * n_in  # this side's decoder
                for i in range(n_in):
                    to = r + side * n_in + i
                    _mix(room, to, codes + side * n_own, n_own, weights, here + i, n_in)
                    bias = theta[second_b + i] if side == 0 else ZERO
                    total, squares = _miss(room, to, bias, part, x + side * n_in + i, count)
                    error += squares
                    if side == 0:
                        slopes[second_b + i] += scale * total
                    _meet(room, to, codes + side * n_own, n_own, found, here + i, n_in)
                for j in range(n_own):
                    _mix(room, d + side * n_own + j, r + side * n_in, n_in, weights, here + j * n_in, 1)
            for j in range(n_own):
                if sides == 2:
                    for p in range(LANES):
                        both, apart = room[d + j, p], room[d + n_own + j, p]
                        a = (both + apart) * slope(room[h + j, p])
                        b = (both - apart) * slope(room[h + n_own + j, p])
                        room[d + j, p] = a + b
                        room[d + n_own + j, p] = a - b
                else:
                    for p in range(LANES):
                        room[d + j, p] *= slope(room[h + j, p])
                slopes[first_b + j] += scale * sum_of_lanes(room, d + j)
            for side in range(sides):
                for i in range(n_in):
                    place = (side * n_in + i) * n_own
                    _meet(room, x + side * n_in + i, d + side * n_own, n_own, found, place, 1)
        _cross(found, 0, n_code, sides, scale, slopes, 0)
        _cross(found, n_code, n_code, sides, scale, slopes, second_w)
        if paces.shape[0]:
            _step(theta, slopes, mean, square, paces[begin // size, 0], paces[begin // size, 1])
    return error


def n_rows(sides: int, n_in: int, n_own: int) -> int:
    """How many rows the room of an epoch has."""
    return sides * (2 * n_in + 3 * n_own)


@cache
def make_epoch(activation: str) -> Any:
    """The epoch of auto-encoders with this activation of hidden neurons."""
    options = {**OUTER, "fastmath": {"reassoc", "nsz", "contract"}}
    named = {"squash": ACTIVATIONS[activation], "slope": SLOPES[activation]}
    return specialize(_coder_epoch, f"coder_epoch_{activation}", options, **named)
