"""Compiled loops of the fitness: scores of a population, of linear rankers or of formulas.

Everything here gives a document the same score whatever stands beside it. Bounds are checked before.
"""

from typing import Any

import numpy as np

from ordino.compiled import OUTER, njit

CHUNK = 256  # documents whose features stand together, feature by feature

ADD, SUBTRACT, MULTIPLY, DIVIDE, LEAST, GREATEST, ROOT = range(-1, -8, -1)
CONSTANT = -8


@njit(**{**OUTER, "fastmath": {"contract"}})
def weigh_chunks(weights: Any, chunks: Any, scores: Any) -> None:
    """Scores of two individuals at a time: a running sum over the features, in their order.

    ``weights`` is (P, L), ``chunks`` (n, L, CHUNK), ``scores`` (P, n * CHUNK), with P even and L a multiple of four.
    """
    for c in range(chunks.shape[0]):
        for p in range(0, weights.shape[0], 2):
            one = scores[p, c * CHUNK : (c + 1) * CHUNK]
            two = scores[p + 1, c * CHUNK : (c + 1) * CHUNK]
            for d in range(CHUNK):
                one[d] = two[d] = 0
            for f in range(0, weights.shape[1], 4):
                x0, x1 = chunks[c, f], chunks[c, f + 1]
                x2, x3 = chunks[c, f + 2], chunks[c, f + 3]
                u0, u1 = weights[p, f], weights[p, f + 1]
                u2, u3 = weights[p, f + 2], weights[p, f + 3]
                v0, v1 = weights[p + 1, f], weights[p + 1, f + 1]
                v2, v3 = weights[p + 1, f + 2], weights[p + 1, f + 3]
                for d in range(CHUNK):
                    one[d] = (((one[d] + u0 * x0[d]) + u1 * x1[d]) + u2 * x2[d]) + u3 * x3[d]
                    two[d] = (((two[d] + v0 * x0[d]) + v1 * x1[d]) + v2 * x2[d]) + v3 * x3[d]


@njit(**OUTER)
def run_formula(codes: Any, constants: Any, chunks: Any, stack: Any, scores: Any) -> None:
    """Scores of one formula in prefix notation, read from its end; what is not finite becomes finite."""
    for c in range(chunks.shape[0]):
        top = 0
        for i in range(codes.shape[0] - 1, -1, -1):
            code = codes[i]
            if code >= 0 or code == CONSTANT:
                for d in range(CHUNK):
                    stack[top, d] = chunks[c, code, d] if code >= 0 else constants[i]
                top += 1
            elif code == ROOT:
                for d in range(CHUNK):
                    stack[top - 1, d] = np.sqrt(abs(stack[top - 1, d]))
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
