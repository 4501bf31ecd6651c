"""Compiled: a step of a network that compares two documents, from the documents' projections to all gradients.

The pairs of a chunk are taken :data:`LANES` at a time. ``room`` has three tables with a row for each neuron, layer
after layer, and a column for each of these pairs: ``h`` holds what the neurons give, ``d`` the slopes of the loss in
it, ``kept`` by how much dropout multiplies it. They stay in the processor's cache, and every inner loop runs over the
columns. ``biases`` has a number for each row; ``weights`` has a matrix (n_in, n_out) for each layer above the first
hidden one, in which the duals of a CmpNN have columns of their own.

Compiled loops check whether arrays could overlap, and take another way through the loop where they lie close together:
sums in another order, which round otherwise. So sums of several numbers are taken inside ``room`` alone, whose rows
always lie alike; a loop that looks at another array makes one sum or product of each number, or none.

A place such as ``start + p`` is said to be no negative number, which would count from the end: loops that must look at
that are not vectorized.
"""

from functools import cache
from typing import Any

import numpy as np

from ordino.compiled import INNER, OPEN, OUTER, REORDERED, njit, specialize
from ordino.losses import LOSSES
from ordino.networks.first_kernels import LANES, sum_of_lanes, uint
from ordino.networks.kernels import SLOPES, is_dropped, lane_of
from ordino.order.kernels import ACTIVATIONS

ZERO, HALF, ONE, TWO, THREE = (np.float32(number) for number in (0, 0.5, 1, 2, 3))
C1, C2, C3, C4, C5 = (np.float32(1 / odd) for odd in (3, 5, 7, 9, 11))
tanh = ACTIVATIONS["tanh"]
squash = slope = pair_error = margin = bend_back = OPEN  # in the templates below


@njit(**INNER)
def _cross_entropy(m: Any, t: Any) -> Any:
    """-t m + log(1 + exp(m)), and its slope, in single precision and quick to vectorize.

    With T = tanh(|m| / 2) the rest log(1 + exp(-|m|)) is 2 artanh z, z = (1 - T) / (3 + T), of which six terms are
    enough: z is 1/3 at most.
    """
    half = tanh(HALF * abs(m))
    z = (ONE - half) / (THREE + half)
    q = z * z
    rest = TWO * z * (((((C5 * q + C4) * q + C3) * q + C2) * q + C1) * q + ONE)
    return (m if m > ZERO else ZERO) - t * m + rest, HALF + (HALF if m > ZERO else -HALF) * half - t


@njit(**INNER)
def _squared(m: Any, t: Any) -> Any:
    """(p - t)^2 with p = 1 / (1 + exp(-m)), and its slope, likewise."""
    half = HALF * tanh(HALF * m)  # p - 1/2
    missed = (half - t) + HALF
    return missed * missed, TWO * missed * (HALF - half) * (HALF + half)


QUICK = {"ranknet": _cross_entropy, "squared": _squared}


def _in_double(m: Any, t: Any) -> Any:
    """Template: the loss of a pair by ``margin``, in double precision."""
    return margin(np.float64(m), np.float64(t))


def _bend_back(h: Any, d: Any, kept: Any, i: int, wins: Any, loses: Any, shrink: Any) -> Any:
    """Template: turn what neuron i gives into the slopes in what it gets; its slopes in both weights and the bias."""
    of_wins, of_loses, total = ZERO, ZERO, ZERO
    for p in range(LANES):
        of_wins += d[0, p] * h[i, p]
        of_loses += d[1, p] * h[i, p]
        h[i, p] = (wins * d[0, p] + loses * d[1, p]) * (kept[p] * slope(h[i, p] * shrink))
        total += h[i, p]
    return of_wins, of_loses, total


def _shallow_chunk(
    first: Any, target: Any, biases: Any, weights: Any, widths: Any, sides: int, dropout: Any, number: int, share: Any,
    room: Any, lanes: Any, slopes: Any,
) -> float:  # fmt: skip
    """Template: what :func:`_deep_chunk` gives where there is one hidden layer; quick to compile, and to run."""
    h, d, kept = room[0], room[1], room[2]
    n_pairs, n_hidden, own = target.shape[0], widths[0], first.shape[1]
    scale = np.float32(2.0**32 / (2.0**32 - dropout[2]))
    shrink, error = ONE / scale, 0.0
    for start in range(0, n_pairs, LANES):
        count = LANES if start + LANES <= n_pairs else n_pairs - start
        for p in range(LANES):
            h[n_hidden, p] = biases[n_hidden]
            h[n_hidden + 1, p] = biases[n_hidden + 1]
            lanes[p] = lane_of(number + start + p, dropout[0])
        for i in range(n_hidden):
            k, sign = i if i < own else i - own, ONE if i < own else -ONE
            if i < own and (dropout[2] or start == 0):
                for p in range(LANES):
                    kept[k, p] = ZERO if is_dropped(lanes[p], k, dropout[1], dropout[2]) else scale
            for p in range(LANES):
                h[i, p] = first[0, k, uint(start + p)] + sign * first[1, k, uint(start + p)]
            for p in range(LANES):
                h[i, p] = squash(h[i, p] + biases[i]) * kept[k, p]
                h[n_hidden, p] += weights[2 * i] * h[i, p]
                h[n_hidden + 1, p] += weights[2 * i + 1] * h[i, p]
        for p in range(count):
            d[0, p] = target[uint(start + p)]
        for p in range(LANES):
            d[1, p] = ONE - d[0, p]
        for j in range(2):
            for p in range(LANES):
                missed, above = pair_error(h[n_hidden + j, p], d[j, p])
                h[n_hidden + j, p] = missed
                d[j, p] = share * np.float32(above)
            for p in range(count):
                error += h[n_hidden + j, p]
            for p in range(count, LANES):
                d[j, p] = ZERO
            slopes[n_hidden + j] += sum_of_lanes(d, j)
        if share == ZERO:
            continue
        for i in range(n_hidden):
            of_wins, of_loses, total = bend_back(
                h, d, kept[i if i < own else i - own], i, weights[2 * i], weights[2 * i + 1], shrink
            )
            slopes[i] += total
            slopes[n_hidden + 2 + 2 * i] += of_wins
            slopes[n_hidden + 3 + 2 * i] += of_loses
        for k in range(own):
            dual, share_of_dual = own + k if sides == 2 else k, ONE if sides == 2 else ZERO
            for p in range(LANES):
                first[0, k, uint(start + p)] = h[k, p] + share_of_dual * h[dual, p]
                first[1, k, uint(start + p)] = h[k, p] - share_of_dual * h[dual, p]
    return error


def _deep_chunk(
    first: Any, target: Any, biases: Any, weights: Any, widths: Any, sides: int, dropout: Any, number: int, share: Any,
    room: Any, lanes: Any, slopes: Any,
) -> float:  # fmt: skip
    """Template: the summed error of a chunk of pairs; if ``share`` is not 0, also its gradients.

    ``first`` (2, n_own, n_pairs and more) has what the two rows of each pair give: their sum is what a neuron gets,
    their difference what its dual gets. ``target`` says how likely the first document comes first. ``dropout`` is two
    keys and the threshold of :func:`is_dropped`; the pairs are numbered from ``number`` on, and a neuron is dropped
    together with its dual. Gradients, ``share`` times those of the sum, take the place of ``first``, and are added to
    ``slopes``: the biases', then the weights'.
    """
    h, d, kept = room[0], room[1], room[2]
    n_neurons, own = h.shape[0], first.shape[1]
    n_pairs, n_layers = target.shape[0], widths.shape[0]
    scale = np.float32(2.0**32 / (2.0**32 - dropout[2]))
    shrink = ONE / scale
    error = 0.0
    for start in range(0, n_pairs, LANES):
        count = LANES if start + LANES <= n_pairs else n_pairs - start
        for p in range(LANES):
            lanes[p] = lane_of(number + start + p, dropout[0])
        for i in range(widths[0]):
            k, sign = i if i < own else i - own, ONE if i < own else -ONE
            for p in range(LANES):
                h[i, p] = first[0, k, uint(start + p)] + sign * first[1, k, uint(start + p)]
        below, at = 0, 0
        for layer in range(n_layers - 1):
            n_in, n_out = widths[layer], widths[layer + 1]
            above, half = below + n_in, n_in // sides
            for k in range(below, above):
                for p in range(LANES):
                    h[k, p] = squash(h[k, p] + biases[k])
                if dropout[2]:
                    if k < below + half:
                        for p in range(LANES):
                            kept[k, p] = ZERO if is_dropped(lanes[p], k, dropout[1], dropout[2]) else scale
                    else:
                        for p in range(LANES):
                            kept[k, p] = kept[k - half, p]
                    for p in range(LANES):
                        h[k, p] *= kept[k, p]
            for j in range(above, above + n_out):
                for p in range(LANES):
                    h[j, p] = ZERO
                for i in range(below, above, 4):  # four neurons at a time: what they add up to stays in registers
                    place, last = at + (i - below) * n_out + j - above, above - 1
                    w0, w1 = weights[place], weights[place + n_out] if i < last else ZERO
                    w2 = weights[place + 2 * n_out] if i + 1 < last else ZERO
                    w3 = weights[place + 3 * n_out] if i + 2 < last else ZERO
                    h1, h2 = h[i + 1 if i < last else last], h[i + 2 if i + 1 < last else last]
                    h3 = h[i + 3 if i + 2 < last else last]
                    for p in range(LANES):
                        h[j, p] += (w0 * h[i, p] + w1 * h1[p]) + (w2 * h2[p] + w3 * h3[p])
            below, at = above, at + n_in * n_out
        for p in range(count):
            d[below, p] = target[uint(start + p)]
        for p in range(LANES):
            right, wins = pair_error(h[below, p] + biases[below], d[below, p])
            wrong, loses = pair_error(h[below + 1, p] + biases[below + 1], ONE - d[below, p])
            h[below, p] = right + wrong
            d[below, p] = share * np.float32(wins)
            d[below + 1, p] = share * np.float32(loses)
        for p in range(count):
            error += h[below, p]
        if share == ZERO:
            continue
        for j in range(below, below + 2):
            total = ZERO
            for p in range(LANES):
                d[j, p] = d[j, p] if p < count else ZERO
                total += d[j, p]
            slopes[j] += total
        for layer in range(n_layers - 2, -1, -1):
            n_in, n_out = widths[layer], widths[layer + 1]
            above, below, at = below, below - n_in, at - n_in * n_out
            for k in range(n_in):
                i = below + k
                for p in range(LANES):
                    d[i, p] = ZERO
                for j in range(0, n_out, 2):
                    place, is_pair = n_neurons + at + k * n_out + j, j + 1 < n_out
                    w0, w1 = weights[place - n_neurons], weights[place - n_neurons + 1] if is_pair else ZERO
                    d0, d1 = d[above + j], d[above + j + is_pair]
                    total0, total1 = ZERO, ZERO
                    for p in range(LANES):
                        total0 += d0[p] * h[i, p]
                        total1 += d1[p] * h[i, p]
                        d[i, p] += w0 * d0[p] + w1 * d1[p]
                    slopes[place] += total0
                    if is_pair:
                        slopes[place + 1] += total1
                total = ZERO
                for p in range(LANES):
                    d[i, p] *= kept[i, p] * slope(h[i, p] * shrink)
                    total += d[i, p]
                slopes[i] += total
        for k in range(own):
            dual, share_of_dual = own + k if sides == 2 else k, ONE if sides == 2 else ZERO
            for p in range(LANES):
                first[0, k, uint(start + p)] = d[k, p] + share_of_dual * d[dual, p]
                first[1, k, uint(start + p)] = d[k, p] - share_of_dual * d[dual, p]
    return error


@cache
def make_chunk(activation: str, loss: str, deep: bool) -> Any:
    """The step of networks with this activation of hidden neurons and this loss of a pair's two outputs.

    If ``deep``, there are several hidden layers.
    """
    named: dict[str, Any] = {"squash": ACTIVATIONS[activation], "slope": SLOPES[activation]}
    slow = specialize(_in_double, f"{loss}_in_double", INNER, margin=LOSSES[loss].kernel.margin)
    named["pair_error"] = QUICK.get(loss, slow)
    if deep:
        options = {**OUTER, "fastmath": {"reassoc", "nsz", "contract"}}
        return specialize(_deep_chunk, f"pairs_deep_{activation}_{loss}", options, **named)
    named["bend_back"] = specialize(_bend_back, f"bend_back_{activation}", REORDERED, slope=named["slope"])
    options = {**OUTER, "fastmath": {"contract"}}
    return specialize(_shallow_chunk, f"pairs_shallow_{activation}_{loss}", options, **named)
