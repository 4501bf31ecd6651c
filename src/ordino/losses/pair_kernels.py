"""Compiled: pairwise losses over all pairs of a query, none of which is ever stored; a kernel of its own for each loss.

Documents stand in the order of their labels, so that the partners of a document are one contiguous stretch. With
``e = exp(score)`` the probability of eq. 2 is ``e_a / (e_a + e_b)``: no exponential is left in the inner loop, and the
logarithms of eq. 3 are taken of products of probabilities, one for many pairs. Where scores lie too far apart for
that, every pair is computed by itself.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ordino.compiled import INNER, OPEN, OUTER, REORDERED, njit, specialize
from ordino.losses import kernels as margins

FAR = 60.0  # scores of a query that lie further apart are met pair by pair
ANYWHERE = np.finfo(np.float64).max  # for functions that need no exponentials
ALL, NEIGHBORS, EXACT = range(3)  # which labels are paired, by the place of the name in PAIRS
PAIRS = ("all", "neighbors", "exact")
margin = function = bend = row = rectangle = LEAST = LIMIT = BY_LABEL = PLAIN = OPEN  # in the templates below


# One document a above (or beside) a stretch of documents: g gets their share of the gradient; what is given back is
# the sum of the losses and document a's own share, both still to be multiplied by its weight.


def _margin_row(s_a, e_a, s, e, w, g, w_a, t):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Template: a row of ``margin(m, t)``."""
    value, own = 0.0, 0.0
    for b in range(len(s)):
        loss, slope = margin(s_a - s[b], t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


def _probability_row(s_a, e_a, s, e, w, g, w_a, t):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Template: a row of ``function(p, q, t)``."""
    value, own = 0.0, 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        loss, slope = function(e_a * share, e[b] * share, t)
        value += loss * w[b]
        own += slope * w[b]
        g[b] -= w_a * slope * w[b]
    return value, own


@njit(**REORDERED)
def _exponential_row(s_a, e_a, s, e, w, g, w_a, t):  # type: ignore[no-untyped-def]  # noqa: ARG001
    value = 0.0
    scale = 1.0 / e_a
    for b in range(len(e)):
        loss = e[b] * scale * w[b]
        value += loss
        g[b] += w_a * loss
    return value, -value


@njit(**REORDERED)
def _direct_row(s_a, e_a, s, e, w, g, w_a, t):  # type: ignore[no-untyped-def]  # noqa: ARG001
    value, own = 0.0, 0.0
    for b in range(len(s)):
        short = 1.0 - s_a + s[b]
        value += short * short * w[b]
        own -= 2.0 * short * w[b]
        g[b] += w_a * 2.0 * short * w[b]
    return value, own


def _rectangle(s, e, w, g, product, span, uniform, a0, a1, b0, b1, t, factor, triangle):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Template: documents a0..a1 against b0..b1 by ``row``; in a triangle (ties), each against those after it."""
    value = 0.0
    for a in range(a0, a1):
        low = a + 1 if triangle else b0
        w_a = w[a] * factor
        loss, own = row(s[a], e[a], s[low:b1], e[low:b1], w[low:b1], g[low:b1], w_a, t)
        value += w_a * loss
        g[a] += w_a * own
    return value


@njit(**REORDERED)
def _certain_row(e_a, e, g, product):  # type: ignore[no-untyped-def]
    own = 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        q = e[b] * share
        own -= q
        g[b] += q
        product[b] *= e_a * share
    return own


@njit(**INNER)
def _certain_rectangle(s, e, w, g, product, span, uniform, a0, a1, b0, b1, t, factor, triangle):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Cross entropy of pairs of weight 1 whose target is 1; ``span`` probabilities at most are multiplied."""
    value = 0.0
    for a in range(a0, a1):
        g[a] += _certain_row(e[a], e[b0:b1], g[b0:b1], product[b0:b1])
        if (a - a0 + 1) % span == 0 or a == a1 - 1:
            for b in range(b0, b1):
                value -= np.log(product[b])
                product[b] = 1.0
    return value


@njit(**REORDERED)
def _uncertain_row(s_a, e_a, s, e, w, g, product, w_a, t, uniform):  # type: ignore[no-untyped-def]
    linear, own = 0.0, 0.0
    for b in range(len(e)):
        share = 1.0 / (e_a + e[b])
        p = e_a * share
        slope = ((1.0 - t) * p - t * e[b] * share) * w[b]
        linear += (s_a - s[b]) * w[b]
        own += slope
        g[b] -= w_a * slope
        product[b] *= p
    value = (1.0 - t) * linear
    if not uniform:
        for b in range(len(e)):
            value -= w[b] * np.log(product[b])
            product[b] = 1.0
    return value, own


@njit(**INNER)
def _uncertain_rectangle(s, e, w, g, product, span, uniform, a0, a1, b0, b1, t, factor, triangle):  # type: ignore[no-untyped-def]
    """The same for any weights and targets."""
    value = 0.0
    for a in range(a0, a1):
        low = a + 1 if triangle else b0
        w_a = w[a] * factor
        loss, own = _uncertain_row(
            s[a], e[a], s[low:b1], e[low:b1], w[low:b1], g[low:b1], product[low:b1], w_a, t, uniform
        )
        value += w_a * loss
        g[a] += w_a * own
        if uniform and ((a - a0 + 1) % span == 0 or a == a1 - 1):
            for b in range(b0, b1):
                value -= np.log(product[b])
                product[b] = 1.0
    return value


@njit(**INNER)
def target_probability(target: float, by_step: bool, steps: float) -> float:
    """The target of a pair whose labels lie ``steps`` apart: the constant, or by the lemma odds to that power."""
    if not by_step or target == 1.0:
        return target
    return float(1.0 / (1.0 + ((1.0 - target) / target) ** steps))


@njit(**INNER)
def partners(y, bounds, first, a, which):  # type: ignore[no-untyped-def]
    """The lower levels of a query whose first is ``first``, from one up to another, that are paired with level a."""
    if which == ALL or a == first:
        return first, a
    if which == NEIGHBORS:
        return a - 1, a
    for b in range(first, a):
        if y[bounds[b]] == y[bounds[a]] - 1.0:
            return b, b + 1
    return a, a


@njit(**INNER)
def weigh_pairs(y, w, bounds, first, last, which, ties):  # type: ignore[no-untyped-def]
    """The weight of all pairs of a query, levels first to last - 1; a pair's is the product of its two."""
    total, below = 0.0, 0.0  # below: the weight of all that a document is paired with at lower labels
    for level in range(first, last):
        if which == EXACT:
            low, top = partners(y, bounds, first, level, which)
            below = 0.0
            for b in range(bounds[low], bounds[top]):
                below += w[b]
        inside, inside_squared = 0.0, 0.0
        for a in range(bounds[level], bounds[level + 1]):
            inside += w[a]
            inside_squared += w[a] * w[a]
        total += inside * below
        if ties:
            apart = inside * inside - inside_squared
            total += apart / 2.0 if apart > 0.0 else 0.0
        below = inside if which == NEIGHBORS else below + inside
    return total


def _pairs_of_queries(
    scores: Any, y: Any, w: Any, firsts: Any, bounds: Any, room: Any,
    which: int, ties: bool, target: float, by_step: bool, gradient: Any, values: Any, totals: Any,
) -> int:  # fmt: skip
    """Template: fill in the loss, gradient and weight of the pairs of each query by ``rectangle``.

    Only of queries whose scores are more than ``LEAST`` and no more than ``LIMIT`` apart; how many others there are is
    what this gives. If ``PLAIN``, as most are, weights and targets are 1, without ties, and ``which`` is ``ALL`` or
    ``NEIGHBORS``: that compiles in less time.
    """
    e, product = room[0], room[1]
    n_others = 0
    for q in range(len(totals)):
        first, last = firsts[q], firsts[q + 1]
        start, stop = bounds[first], bounds[last]
        n_even = 0
        for i in range(start, stop):
            product[i] = 1.0
            n_even += PLAIN or w[i] == 1.0
        if PLAIN:
            totals[q] = 0.0
            for a in range(first, last):
                b = a - 1 if which == NEIGHBORS and a > first else first
                totals[q] += (bounds[a + 1] - bounds[a]) * (bounds[a] - bounds[b])
        else:
            totals[q] = weigh_pairs(y, w, bounds, first, last, which, ties)
        for m in range(scores.shape[0] if totals[q] > 0.0 else 0):
            s, g = scores[m], gradient[m]
            low, high = np.inf, -np.inf
            for i in range(start, stop):
                low = s[i] if s[i] < low else low  # min and max would be compiled one by one
                high = s[i] if s[i] > high else high
            apart = high - low
            if not LEAST < apart <= LIMIT:
                n_others += 1
                continue
            for i in range(start, stop):
                e[i] = np.exp(s[i] - high) if LIMIT < ANYWHERE else 0.0
            span = int(690.0 / (apart + 1.0))
            value = 0.0
            for a in range(first, last):
                if PLAIN:
                    b, top = a - 1 if which == NEIGHBORS and a > first else first, a
                else:
                    b, top = partners(y, bounds, first, a, which)
                while b < top or (not PLAIN and ties and b <= a):
                    tie, end, t = b >= top, top, target
                    if not PLAIN:
                        b = a if tie else b
                        end = b + 1 if tie or by_step else top
                        t = 0.5 if tie else target_probability(target, by_step, y[bounds[a]] - y[bounds[b]])
                    factor = y[bounds[a]] if BY_LABEL and not tie else 1.0
                    value += rectangle(
                        s, e, w, g, product, span, n_even == stop - start,
                        bounds[a], bounds[a + 1], bounds[b], bounds[end], t, factor, tie,
                    )  # fmt: skip
                    b = end
            values[m, q] = value
    return n_others


def _curvature_of_queries(
    scores: Any, y: Any, w: Any, firsts: Any, bounds: Any, room: Any,  # noqa: ARG001
    which: int, ties: bool, curvature: Any, totals: Any,
) -> None:  # fmt: skip
    """Template: sums over the pairs of each document of how sharply the loss bends in its score, by ``bend``."""
    for q in range(len(totals)):
        first, last = firsts[q], firsts[q + 1]
        totals[q] = weigh_pairs(y, w, bounds, first, last, which, ties)
        for m in range(scores.shape[0]):
            for level in range(first, last):
                low, top = partners(y, bounds, first, level, which)
                for a in range(bounds[level], bounds[level + 1]):
                    factor = w[a] * (y[a] if BY_LABEL else 1.0)
                    for b in range(bounds[low], bounds[level + 1] if ties else bounds[top]):
                        if b < bounds[top] or b > a:
                            bent = factor * w[b] * bend(scores[m, a] - scores[m, b])
                            curvature[m, a] += bent
                            curvature[m, b] += bent


def _values_of_pairs(margins: Any, targets: Any, values: Any, slopes: Any) -> None:
    """Template: loss and slope of each of many pairs by ``margin``."""
    for i in range(len(margins)):
        values[i], slopes[i] = margin(margins[i], targets[i])


class PairKernels(NamedTuple):
    """What is compiled of one loss, each on its first use."""

    pairs: Any  # sums over the pairs of queries
    plain: Any  # the same for pairs of weight 1 whose target is 1, not "exact", without ties
    far: Any  # of queries with scores too far apart for the others; None if they take any
    curvature: Any
    values: Any  # of single pairs
    margin: Any  # the function of a pair's margin and target, for other kernels


def _make_kernels(
    name: str,
    margin: Any,
    bend: Any,
    near: Any,
    *,
    certain: Any = None,
    limit: float = ANYWHERE,
    by_label: bool = False,
) -> PairKernels:
    """The kernels of a function ``margin(m, t)`` with the curvature ``bend(m)``, a function or one number.

    ``near`` and, for plain pairs, ``certain`` are rectangles of documents whose scores are no further apart than
    ``limit``; ``by_label`` says whether a pair is weighed by the label of its better document.
    """

    def pairs(kind: str, rectangle: Any, least: float, limit: float, *, plain: bool = False) -> Any:
        names = {"rectangle": rectangle, "LEAST": least, "LIMIT": limit, "BY_LABEL": by_label, "PLAIN": plain}
        return specialize(_pairs_of_queries, f"{name}_{kind}", OUTER, **names)

    if isinstance(bend, float):
        bend = specialize(margins.even_bend, f"{name}_bend", INNER, BEND=bend)
    return PairKernels(
        pairs("pairs", near, -1.0, limit),
        pairs("plain_pairs", certain or near, -1.0, limit, plain=True),
        None if limit == ANYWHERE else pairs("far_pairs", _by_margin(name, margin), limit, ANYWHERE),
        specialize(_curvature_of_queries, f"{name}_curvature", OUTER, bend=bend, BY_LABEL=by_label),
        specialize(_values_of_pairs, f"{name}_values", OUTER, margin=margin),
        margin,
    )


def _by_row(name: str, row: Any) -> Any:
    return specialize(_rectangle, f"{name}_rectangle", INNER, row=row)


def _by_margin(name: str, margin: Any, options: Mapping[str, Any] = INNER) -> Any:
    return _by_row(name, specialize(_margin_row, f"{name}_row", options, margin=margin))


def _of_probability(name: str, function: Any) -> PairKernels:
    near = _by_row(name, specialize(_probability_row, f"{name}_row", REORDERED, function=function))
    margin = specialize(margins.of_probability, f"{name}_margin", INNER, function=function)
    return _make_kernels(name, margin, 0.25, near, limit=FAR)


def _of_hinge(name: str, margin: Any, bend: float) -> PairKernels:
    return _make_kernels(name, margin, bend, _by_margin(name, margin, REORDERED))


def _of_direct(name: str, tau: Any, row: Any = None) -> PairKernels:
    margin = specialize(margins.direct, f"{name}_margin", INNER, tau=tau)
    return _make_kernels(name, margin, 2.0, _by_row(name, row) if row else _by_margin(name, margin), by_label=True)


RANKNET = _make_kernels(
    "ranknet", margins.cross_entropy, margins.cross_entropy_bend, _uncertain_rectangle,
    certain=_certain_rectangle, limit=FAR,
)  # fmt: skip
FIDELITY = _of_probability("fidelity", margins.fidelity)
SQUARED = _of_probability("squared", margins.squared)
ABSOLUTE = _of_probability("absolute", margins.absolute)
HINGE = _of_hinge("hinge", margins.hinge, 1.0)
SQUARED_HINGE = _of_hinge("squared_hinge", margins.squared_hinge, 2.0)
EXPONENTIAL = _make_kernels(
    "exponential", margins.exponential, margins.exponential_bend, _by_row("exponential", _exponential_row),
    limit=margins.STEEP,
)  # fmt: skip
DIRECT: Mapping[str, PairKernels] = MappingProxyType(
    {
        "identity": _of_direct("direct", margins.identity, _direct_row),
        "tanh": _of_direct("direct_tanh", margins.tanh),
        "half-tanh": _of_direct("direct_half_tanh", margins.half_tanh),
        "softsign": _of_direct("direct_softsign", margins.softsign),
    }
)
"""DirectRanker's kernels by the odd, sign-preserving activation of its output neuron; half-tanh is tanh(x / 2)."""
