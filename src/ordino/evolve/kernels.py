"""Compiled loops of the fitness: scores of a population, measures from the ranks of relevant documents, formulas.

Everything here gives a document the same score whatever stands beside it, and a query the same value whatever thread
works on it. Bounds are checked before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ordino.compiled import njit

CHUNK = 256  # documents whose features stand together, feature by feature
MANY = 48  # relevant documents from which bisecting beats counting

ADD, SUBTRACT, MULTIPLY, DIVIDE, LEAST, GREATEST, ROOT = range(-1, -8, -1)
CONSTANT = -8


@njit(cache=True, nogil=True, fastmath={"contract"})
def weigh_chunks(weights: Any, chunks: Any, scores: Any) -> None:
    """Scores of two individuals at a time: a running sum over the features, in their order.

    ``weights`` is (P, L), ``chunks`` (n, L, CHUNK), ``scores`` (P, n * CHUNK), with P even and L a multiple of four.
    """
    for c in range(chunks.shape[0]):
        for p in range(0, weights.shape[0], 2):
            one = scores[p, c * CHUNK : (c + 1) * CHUNK]
            two = scores[p + 1, c * CHUNK : (c + 1) * CHUNK]
            one[:] = 0
            two[:] = 0
            for f in range(0, weights.shape[1], 4):
                x0, x1, x2, x3 = chunks[c, f], chunks[c, f + 1], chunks[c, f + 2], chunks[c, f + 3]
                u0, u1, u2, u3 = weights[p, f], weights[p, f + 1], weights[p, f + 2], weights[p, f + 3]
                v0, v1, v2, v3 = weights[p + 1, f], weights[p + 1, f + 1], weights[p + 1, f + 2], weights[p + 1, f + 3]
                for d in range(CHUNK):
                    one[d] = (((one[d] + u0 * x0[d]) + u1 * x1[d]) + u2 * x2[d]) + u3 * x3[d]
                    two[d] = (((two[d] + v0 * x0[d]) + v1 * x1[d]) + v2 * x2[d]) + v3 * x3[d]


@njit(cache=True, nogil=True)
def count_above(scores: Any, row: int) -> int:
    """How many documents stand above this one; equal scores keep the row order."""
    own = scores[row]
    before, after = scores[:row], scores[row + 1 :]  # loops from 0 compile to vector instructions
    above = np.int32(0)
    for d in range(before.shape[0]):
        above = np.int32(above + np.int32(before[d] >= own))
    for d in range(after.shape[0]):
        above = np.int32(above + np.int32(after[d] > own))
    return int(above)


@njit(cache=True, nogil=True)
def ranks_by_counting(scores: Any, relevant: Any, ranks: Any) -> None:
    """Ranks of the relevant documents, from 1, rising: for each, count the scores above its own."""
    for i in range(relevant.shape[0]):
        rank = count_above(scores, relevant[i]) + 1
        j = i
        while j > 0 and ranks[j - 1] > rank:
            ranks[j] = ranks[j - 1]
            j -= 1
        ranks[j] = rank


@njit(cache=True, nogil=True)
def ranks_by_bisection(scores: Any, is_relevant: Any, relevant: Any, ranks: Any) -> None:
    """The same for many relevant documents: sort them, then find for each other document which of them it is above."""
    n_relevant = relevant.shape[0]
    order = relevant[np.argsort(-scores[relevant], kind="mergesort")]  # stable: equal scores keep the row order
    ranks[:n_relevant] = 0
    for d in range(scores.shape[0]):
        if is_relevant[d]:
            continue
        low, high = 0, n_relevant  # the first relevant document below d
        while low < high:
            half = (low + high) // 2
            other = order[half]
            if scores[d] > scores[other] or (scores[d] == scores[other] and d < other):
                high = half
            else:
                low = half + 1
        if low < n_relevant:
            ranks[low] += 1
    above = 0
    for i in range(n_relevant):
        above += ranks[i]
        ranks[i] = above + i + 1


@njit(cache=True, nogil=True)
def measure_block(
    scores: Any, is_relevant: Any, relevant: Any, relevant_offsets: Any, offsets: Any, first: int, last: int,
    precision: bool, cutoff: int, empty: float, by_length: bool, zero_if_short: bool, top_k: bool, ranks: Any, out: Any,
) -> None:  # fmt: skip
    """P@k or average precision of queries ``first`` to ``last`` for every individual, into ``out[individual, query]``.

    ``scores`` is (P, documents of the block), ``relevant`` holds rows counted from the start of their query.
    The arithmetic is that of ``ordino.metrics``, in its order.
    """
    base = offsets[first]
    for p in range(out.shape[0]):
        for q in range(first, last):
            own = relevant[relevant_offsets[q] : relevant_offsets[q + 1]]
            n_relevant = own.shape[0]
            n = offsets[q + 1] - offsets[q]
            depth = min(n, cutoff) if cutoff > 0 else n
            if n_relevant == 0:
                out[p, q] = empty
                continue
            row = scores[p, offsets[q] - base : offsets[q + 1] - base]
            if n_relevant < MANY:
                ranks_by_counting(row, own, ranks)
            else:
                ranks_by_bisection(row, is_relevant[offsets[q] : offsets[q + 1]], own, ranks)
            hits, total = 0, 0.0
            while hits < n_relevant and ranks[hits] <= depth:
                hits += 1
                total += hits / ranks[hits - 1]
            if not precision:
                out[p, q] = total / (min(n_relevant, depth) if top_k else n_relevant)
            elif zero_if_short and cutoff > n:
                out[p, q] = 0.0
            else:
                out[p, q] = float(hits) / (depth if by_length else cutoff)


@njit(cache=True, nogil=True)
def run_formula(codes: Any, constants: Any, chunks: Any, stack: Any, scores: Any) -> None:
    """Scores of one formula in prefix notation, read from its end; what is not finite becomes finite."""
    for c in range(chunks.shape[0]):
        top = 0
        for i in range(codes.shape[0] - 1, -1, -1):
            code = codes[i]
            if code >= 0:
                stack[top] = chunks[c, code]
                top += 1
            elif code == CONSTANT:
                stack[top] = constants[i]
                top += 1
            elif code == ROOT:
                own = stack[top - 1]
                for d in range(CHUNK):
                    own[d] = np.sqrt(abs(own[d]))
            else:
                left, right = stack[top - 1], stack[top - 2]
                for d in range(CHUNK):
                    a, b = left[d], right[d]
                    if code == ADD:
                        right[d] = a + b
                    elif code == SUBTRACT:
                        right[d] = a - b
                    elif code == MULTIPLY:
                        right[d] = a * b
                    elif code == DIVIDE:
                        right[d] = a / b if abs(b) > 1e-9 else 1.0
                    elif code == LEAST:
                        right[d] = min(a, b)
                    else:
                        right[d] = max(a, b)
                top -= 1
        for d in range(CHUNK):
            value = stack[0, d]
            scores[c * CHUNK + d] = 0.0 if value != value else min(max(value, -1e300), 1e300)
