"""Compiled: a step of a network that compares two documents, from the documents' projections to all gradients.

The pairs of a chunk are taken :data:`LANES` at a time. ``h`` holds what every neuron gives to each of them, a row for a
neuron and a column for a pair, layer below layer; ``d`` holds the slopes of the loss in the same places. Both stay in
the processor's cache, and every inner loop runs over the columns.

A neuron of a CmpNN and its dual share their weights: the dual sees the pair the other way around. So if ``sides`` is 2,
``deep`` holds the weights of the first half of each layer, and the loops go over both halves. In a dense network
``sides`` is 1. ``deep`` has the biases of the first layer; then, for each layer above, the weights of its neurons
(n_in, n_out / sides) and their biases. ``widths`` has the neurons of each layer, duals included.
"""

from functools import cache
from typing import Any

import numpy as np

from ordino.compiled import OPEN, OUTER, njit, specialize
from ordino.losses import LOSSES
from ordino.networks.kernels import SLOPES, is_dropped
from ordino.order.kernels import ACTIVATIONS

LANES = 64
ZERO, ONE = np.float32(0), np.float32(1)
squash = slope = pair_error = OPEN  # in the template below


@njit(**OUTER)
def number_documents(codes: Any, n_docs: int, mark: Any, stamp: int, docs: Any, a: Any, b: Any) -> int:
    """Number the documents of pairs ``a * n_docs + b`` as they come; give how many there are.

    ``docs[i]`` becomes the row of document i, ``a`` and ``b`` the numbers of each pair's documents. ``mark`` has two
    rows: the last stamp that each document got, and its number; no earlier call had this stamp.
    """
    count = 0
    for p in range(len(codes)):
        first = codes[p] // n_docs
        for side in range(2):
            doc = codes[p] - first * n_docs if side else first
            if mark[0, doc] != stamp:
                mark[0, doc], mark[1, doc] = stamp, count
                docs[count] = doc
                count += 1
            (b if side else a)[p] = mark[1, doc]
    return count


def _chunk(
    table: Any, a: Any, b: Any, target: Any, deep: Any, widths: Any, sides: int, dropout: Any, number: int,
    share: Any, h: Any, d: Any, kept: Any, back: Any, slopes: Any,
) -> float:  # fmt: skip
    """Template: the summed error of a chunk of pairs; if ``share`` is not 0, also its gradients.

    ``table`` (n_docs, 2 n_own) has each document's projections as the first and as the second of a pair, ``target`` how
    likely the first comes first. ``dropout`` is two keys and the threshold of :func:`is_dropped`; the pairs are
    numbered from ``number`` on. Gradients, ``share`` times those of the sum, are written to ``back``, in the places of
    ``table``, and ``slopes``, in those of ``deep``.
    """
    own, last = widths[0] // sides, len(widths) - 1
    n_neurons = len(h)
    scale = np.float32(2.0**32 / (2.0**32 - dropout[2]))
    shrink = ONE / scale
    error = 0.0
    for start in range(0, len(a), LANES):
        count = min(LANES, len(a) - start)
        for p in range(count):
            i, j = a[start + p], b[start + p]
            for side in range(sides):
                here, there = side * own, own - side * own
                for k in range(own):
                    h[here + k, p] = (table[i, here + k] + table[j, there + k]) + deep[k]
        below, at = 0, own
        for layer in range(last):
            n_in, n_out = widths[layer], widths[layer + 1] // sides
            above = below + n_in
            for k in range(below, above):
                for p in range(LANES):
                    h[k, p] = squash(h[k, p])
                if dropout[2]:
                    for p in range(LANES):
                        dropped = is_dropped((number + start + p) * n_neurons + k, dropout[0], dropout[1], dropout[2])
                        kept[k, p] = ZERO if dropped else scale
                        h[k, p] *= kept[k, p]
            for side in range(sides):
                for j in range(n_out):
                    row = above + side * n_out + j
                    for p in range(LANES):
                        h[row, p] = deep[at + n_in * n_out + j]
                    for i in range(n_in):
                        seen, weight = below + (i + side * (n_in // 2)) % n_in, deep[at + i * n_out + j]
                        for p in range(LANES):
                            h[row, p] += weight * h[seen, p]
            below, at = above, at + (n_in + 1) * n_out
        for p in range(LANES):
            d[below, p] = d[below + 1, p] = ZERO
        for p in range(count):
            t = target[start + p]
            first, wins = pair_error(np.float64(h[below, p]), t)
            second, loses = pair_error(np.float64(h[below + 1, p]), 1.0 - t)
            error += first + second
            d[below, p], d[below + 1, p] = share * np.float32(wins), share * np.float32(loses)
        if share == ZERO:
            continue
        for layer in range(last - 1, -1, -1):
            n_in, n_out = widths[layer], widths[layer + 1] // sides
            above, below = below, below - n_in
            at -= (n_in + 1) * n_out
            for k in range(below, above):
                for p in range(LANES):
                    d[k, p] = ZERO
            for side in range(sides):
                for j in range(n_out):
                    row = above + side * n_out + j
                    total = ZERO
                    for p in range(LANES):
                        total += d[row, p]
                    slopes[at + n_in * n_out + j] += total
                    for i in range(n_in):
                        seen, weight = below + (i + side * (n_in // 2)) % n_in, deep[at + i * n_out + j]
                        total = ZERO
                        for p in range(LANES):
                            total += d[row, p] * h[seen, p]
                            d[seen, p] += weight * d[row, p]
                        slopes[at + i * n_out + j] += total
            for k in range(below, above):
                for p in range(LANES):
                    d[k, p] *= kept[k, p] * slope(h[k, p] * shrink)
        for k in range(widths[0]):
            total = ZERO
            for p in range(count):
                total += d[k, p]
            slopes[k % own] += total
        for p in range(count):
            i, j = a[start + p], b[start + p]
            for side in range(sides):
                here, there = side * own, own - side * own
                for k in range(own):
                    back[i, here + k] += d[here + k, p]
                    back[j, there + k] += d[here + k, p]
    return error


@cache
def make_chunk(activation: str, loss: str) -> Any:
    """The step of networks with this activation of hidden neurons and this loss of a pair's two outputs."""
    options = {**OUTER, "fastmath": {"reassoc", "nsz", "contract"}}
    named = {"squash": ACTIVATIONS[activation], "slope": SLOPES[activation], "pair_error": LOSSES[loss].kernel.margin}
    return specialize(_chunk, f"pairs_{activation}_{loss}", options, **named)
