"""Compiled: a step of a network that compares two documents, from the documents' projections to all gradients.

The pairs of a chunk are taken :data:`LANES` at a time. ``room`` has three tables with a row for each neuron, layer
after layer, and a column for each of these pairs: ``h`` holds what the neurons give, ``d`` the slopes of the loss in
it, ``kept`` by how much dropout multiplies it. They stay in the processor's cache, and every inner loop runs over the
columns. ``biases`` has a number for each row; ``weights`` has a matrix (n_in, n_out) for each layer above the first
hidden one, in which the duals of a CmpNN have columns of their own.
"""

from functools import cache
from typing import Any

import numpy as np

from ordino.compiled import INNER, OPEN, OUTER, njit, specialize
from ordino.losses import LOSSES
from ordino.networks.kernels import SLOPES, is_dropped, lane_of
from ordino.order.kernels import ACTIVATIONS

LANES = 128
ZERO, HALF, ONE, TWO, THREE = (np.float32(number) for number in (0, 0.5, 1, 2, 3))
C1, C2, C3, C4, C5 = (np.float32(1 / odd) for odd in (3, 5, 7, 9, 11))
tanh = ACTIVATIONS["tanh"]
squash = slope = pair_error = margin = OPEN  # in the templates below


@njit(**OUTER)
def number_documents(codes: Any, n_docs: int, mark: Any, stamp: int, docs: Any, pairs: Any) -> int:
    """Number the documents of pairs ``a * n_docs + b`` as they come; give how many there are.

    ``docs[i]`` becomes the row of document i, ``pairs`` (2, n_pairs) the numbers of each pair's documents. ``mark`` has
    two rows: the last stamp that each document got, and its number; no earlier call had this stamp.
    """
    count = 0
    for p in range(codes.shape[0]):
        first = codes[p] // n_docs
        doc = first
        for side in range(2):
            if mark[0, doc] != stamp:
                mark[0, doc] = stamp
                mark[1, doc] = count
                docs[count] = doc
                count += 1
            pairs[side, p] = mark[1, doc]
            doc = codes[p] - first * n_docs
    return count


@njit(**OUTER)
def gather_inputs(X: Any, codes: Any, dropout: Any, number: int, first: int, step: int, rows: Any) -> None:
    """Write the documents of pairs to ``rows`` (2 n_pairs, n_features), the first of all pairs and then the second.

    Features are dropped, and the others scaled so that the mean stays; as inputs of a network they are numbered from
    ``first`` on, those of the second document ``step`` further. If ``step`` is 0, both lose the same features.
    """
    n_pairs, n_features = codes.shape[0], X.shape[1]
    scale = np.float32(2.0**32 / (2.0**32 - dropout[2]))
    for p in range(n_pairs):
        lane, doc = lane_of(number + p, dropout[0]), codes[p] // X.shape[0]
        for side in range(2):
            for k in range(n_features):
                dropped = is_dropped(lane, first + side * step + k, dropout[1], dropout[2])
                rows[side * n_pairs + p, k] = ZERO if dropped else X[doc, k] * scale
            doc = codes[p] % X.shape[0]


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
    return max(m, ZERO) - t * m + rest, HALF + (HALF if m > ZERO else -HALF) * half - t


def _in_double(m: Any, t: Any) -> Any:
    """Template: the loss of a pair by ``margin``, in double precision."""
    return margin(np.float64(m), np.float64(t))


def _chunk(
    table: Any, pairs: Any, target: Any, biases: Any, weights: Any, widths: Any, sides: int, dropout: Any, number: int,
    share: Any, room: Any, lanes: Any, back: Any, slopes: Any,
) -> float:  # fmt: skip
    """Template: the summed error of a chunk of pairs; if ``share`` is not 0, also its gradients.

    ``table`` (n_docs, 2 n_own) has each document's projections as the first and as the second of a pair, ``target`` how
    likely the first comes first. ``dropout`` is two keys and the threshold of :func:`is_dropped`; the pairs are
    numbered from ``number`` on, and a neuron is dropped together with its dual. Gradients, ``share`` times those of
    the sum, are added to ``back``, in the places of ``table``, and to ``slopes``: the biases', then the weights'.
    """
    h, d, kept = room[0], room[1], room[2]
    n_neurons, n_pairs, n_layers = h.shape[0], pairs.shape[1], widths.shape[0]
    own = widths[0] // sides
    scale = np.float32(2.0**32 / (2.0**32 - dropout[2]))
    shrink = ONE / scale
    error = 0.0
    for start in range(0, n_pairs, LANES):
        count = min(LANES, n_pairs - start)
        for p in range(LANES):
            lanes[p] = lane_of(number + start + p, dropout[0])
            i = pairs[0, start + min(p, count - 1)]
            j = pairs[1, start + min(p, count - 1)]
            for k in range(widths[0]):
                h[k, p] = (table[i, k] + table[j, k + own if k < own else k - own]) + biases[k]
        below, at = 0, 0
        for layer in range(n_layers - 1):
            n_in, n_out = widths[layer], widths[layer + 1]
            above, half = below + n_in, n_in // sides
            for k in range(below, above):
                for p in range(LANES):
                    h[k, p] = squash(h[k, p])
                if dropout[2]:
                    neuron = k if k < below + half else k - half
                    for p in range(LANES):
                        dropped = is_dropped(lanes[p], neuron, dropout[1], dropout[2])
                        kept[k, p] = ZERO if dropped else scale
                        h[k, p] *= kept[k, p]
            for j in range(n_out):
                for p in range(LANES):
                    h[above + j, p] = biases[above + j]
                for i in range(n_in):
                    weight = weights[at + i * n_out + j]
                    for p in range(LANES):
                        h[above + j, p] += weight * h[below + i, p]
            below, at = above, at + n_in * n_out
        for k in range(n_neurons):
            for p in range(LANES):
                d[k, p] = ZERO
        for p in range(count):
            t = np.float32(target[start + p])
            first, wins = pair_error(h[below, p], t)
            second, loses = pair_error(h[below + 1, p], ONE - t)
            error += first + second
            d[below, p] = share * np.float32(wins)
            d[below + 1, p] = share * np.float32(loses)
        if share == ZERO:
            continue
        for layer in range(n_layers - 2, -1, -1):
            n_in, n_out = widths[layer], widths[layer + 1]
            above, below, at = below, below - n_in, at - n_in * n_out
            for j in range(n_out):
                for i in range(n_in):
                    weight, total = weights[at + i * n_out + j], ZERO
                    for p in range(LANES):
                        total += d[above + j, p] * h[below + i, p]
                        d[below + i, p] += weight * d[above + j, p]
                    slopes[n_neurons + at + i * n_out + j] += total
            for k in range(below, above):
                for p in range(LANES):
                    d[k, p] *= kept[k, p] * slope(h[k, p] * shrink)
        for k in range(n_neurons):
            total = ZERO
            for p in range(LANES):
                total += d[k, p]
            slopes[k] += total
        for p in range(count):
            i, j = pairs[0, start + p], pairs[1, start + p]
            for k in range(widths[0]):
                back[i, k] += d[k, p]
                back[j, k + own if k < own else k - own] += d[k, p]
    return error


@cache
def make_chunk(activation: str, loss: str) -> Any:
    """The step of networks with this activation of hidden neurons and this loss of a pair's two outputs."""
    options = {**OUTER, "fastmath": {"reassoc", "nsz", "contract"}}
    slow = specialize(_in_double, f"{loss}_in_double", INNER, margin=LOSSES[loss].kernel.margin)
    named = {"squash": ACTIVATIONS[activation], "slope": SLOPES[activation]}
    named["pair_error"] = _cross_entropy if loss == "ranknet" else slow
    return specialize(_chunk, f"pairs_{activation}_{loss}", options, **named)
